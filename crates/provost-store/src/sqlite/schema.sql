-- A node, and what follows from its records; when it is to be given up if it stays silent. Times are milliseconds of
-- Unix time, everywhere.
CREATE TABLE node (
    name  TEXT NOT NULL PRIMARY KEY,
    state TEXT NOT NULL,
    due   INTEGER
) STRICT;
CREATE INDEX node_due ON node (due) WHERE due IS NOT NULL;

-- The SHA-256 of a node's token; and the token before it, until it is used for the first time or the time comes.
CREATE TABLE token (
    sha256     BLOB NOT NULL PRIMARY KEY,
    node       TEXT NOT NULL UNIQUE,
    old_sha256 BLOB UNIQUE,
    old_until  INTEGER
) STRICT;

-- The ids grow in the order in which runs were first heard of. Where its records were removed (pruned), the row stays
-- for a while, so that a record that comes late isn't stored again.
CREATE TABLE run (
    id     INTEGER PRIMARY KEY,
    node   TEXT NOT NULL,
    run    TEXT NOT NULL,
    began  INTEGER NOT NULL,
    pruned INTEGER NOT NULL DEFAULT 0,
    UNIQUE (node, run)
) STRICT;
CREATE INDEX run_of_any_node ON run (run, id);
CREATE INDEX run_of_node ON run (node, id) WHERE NOT pruned;
CREATE INDEX run_pruned ON run (began) WHERE pruned;

-- Records of a run that follow each other, as they came: their texts, a line each, compressed where that is shorter.
-- The ids are RUN * 2^24 + SEQ, of the first and of the last, so that a run's are next to each other; bytes: of the
-- texts.
CREATE TABLE record (
    id    INTEGER PRIMARY KEY,
    last  INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    body  BLOB NOT NULL
) STRICT;

-- How a script ended last on a node: its time in milliseconds, why it failed, and since which generation of the bundle
-- it has ended so, well or not; and what it took before, when it ended well (an average to which later times count
-- more). A node's rows are next to each other, because they change together; they go with the run in which they ended,
-- or with a newer one.
CREATE TABLE step (
    node   TEXT NOT NULL,
    script TEXT NOT NULL,
    ms     INTEGER NOT NULL,
    cause  TEXT,
    since  INTEGER NOT NULL,
    run    INTEGER NOT NULL,
    usual  INTEGER,
    PRIMARY KEY (node, script)
) STRICT, WITHOUT ROWID;

-- Who may use the admin API over TLS; the SHA-256 of the token.
CREATE TABLE admin (
    name    TEXT NOT NULL PRIMARY KEY,
    role    TEXT NOT NULL,
    token   BLOB NOT NULL UNIQUE,
    created INTEGER NOT NULL,
    until   INTEGER NOT NULL
) STRICT;

-- What was changed over the admin API. Nothing removes a row.
CREATE TABLE audit (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    at      INTEGER NOT NULL,
    who     TEXT NOT NULL,
    source  TEXT NOT NULL,
    action  TEXT NOT NULL,
    request TEXT NOT NULL,
    result  TEXT
) STRICT;
CREATE INDEX audit_at ON audit (at);

-- Whose identity a key is or was, by the SHA-256 of the public key.
CREATE TABLE identity (
    key     BLOB NOT NULL PRIMARY KEY,
    node    TEXT NOT NULL,
    since   INTEGER NOT NULL,
    until   INTEGER NOT NULL,
    revoked INTEGER
) STRICT;
CREATE UNIQUE INDEX identity_of_node ON identity (node) WHERE revoked IS NULL;
CREATE INDEX identity_revoked ON identity (node, revoked) WHERE revoked IS NOT NULL;

-- The SHA-256 of a node's join token, when it was made, and when it was used.
CREATE TABLE enrolment_join (
    node   TEXT NOT NULL PRIMARY KEY,
    sha256 BLOB NOT NULL,
    since  INTEGER NOT NULL,
    until  INTEGER NOT NULL,
    origin TEXT,
    spent  INTEGER
) STRICT;

-- The nodes whose first key becomes their identity.
CREATE TABLE enrolment_window (
    node  TEXT NOT NULL PRIMARY KEY,
    until INTEGER NOT NULL
) STRICT;

-- The keys that wait for an admin, or that an admin has rejected. The client: the addresses that it can have.
CREATE TABLE enrolment_request (
    node     TEXT NOT NULL,
    key      BLOB NOT NULL,
    address  TEXT NOT NULL,
    client   TEXT NOT NULL DEFAULT '',
    since    INTEGER NOT NULL,
    last     INTEGER NOT NULL,
    second   INTEGER NOT NULL,
    rejected INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (node, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX enrolment_request_of_client ON enrolment_request (client) WHERE NOT rejected;

-- What receivers are to be told. Of one node, a later notice has a greater id.
CREATE TABLE notice (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    receiver TEXT NOT NULL,
    at       INTEGER NOT NULL,
    body     TEXT NOT NULL
) STRICT;
CREATE INDEX notice_of_receiver ON notice (receiver, id);

-- When the storm began that is under way; at most one.
CREATE TABLE storm (
    began INTEGER PRIMARY KEY
) STRICT;

-- What runs did within a minute or an hour: how many began, ended well and failed, and how long the boots took that
-- ended well (how many in each bucket of about the same time); and how many nodes had each status at its end, in JSON,
-- where that had changed. The step is in seconds.
CREATE TABLE history (
    step      INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    began     INTEGER NOT NULL,
    succeeded INTEGER NOT NULL,
    failed    INTEGER NOT NULL,
    boots     TEXT NOT NULL,
    nodes     TEXT,
    PRIMARY KEY (step, at)
) STRICT, WITHOUT ROWID;

-- What is still to be added to it: a row for each minute of each transaction.
CREATE TABLE history_part (
    id        INTEGER PRIMARY KEY,
    at        INTEGER NOT NULL,
    began     INTEGER NOT NULL,
    succeeded INTEGER NOT NULL,
    failed    INTEGER NOT NULL,
    boots     TEXT NOT NULL
) STRICT;

-- The storms that are done: how many nodes, and runs of them that ended well, failed, and nodes that were lost.
CREATE TABLE storm_result (
    began     INTEGER NOT NULL PRIMARY KEY,
    ended     INTEGER NOT NULL,
    nodes     INTEGER NOT NULL,
    succeeded INTEGER NOT NULL,
    failed    INTEGER NOT NULL,
    lost      INTEGER NOT NULL
) STRICT;

-- What admins had provostd do to many nodes, in JSON; how often the daemon that does it has said so, when it was done,
-- or when it was seen that the daemon is gone.
CREATE TABLE job (
    id          TEXT NOT NULL PRIMARY KEY,
    began       INTEGER NOT NULL,
    beat        INTEGER NOT NULL DEFAULT 0,
    ended       INTEGER,
    interrupted INTEGER,
    body        TEXT NOT NULL
) STRICT;
CREATE INDEX job_began ON job (began);
CREATE INDEX job_running ON job (id) WHERE ended IS NULL AND interrupted IS NULL;

-- The nodes for which a job is done; why that failed, if it did.
CREATE TABLE job_node (
    job     TEXT NOT NULL,
    node    TEXT NOT NULL,
    failure TEXT,
    PRIMARY KEY (job, node)
) STRICT, WITHOUT ROWID;
