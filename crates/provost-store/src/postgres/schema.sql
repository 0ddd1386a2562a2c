-- A node, and what follows from its records; when it is to be given up if it stays silent. Times are milliseconds of
-- Unix time, everywhere but where they are of another type. A node changes with each report: half of a page is left
-- for that.
CREATE TABLE node (
    name  text COLLATE "C" PRIMARY KEY,
    state text NOT NULL,
    due   bigint
) WITH (fillfactor = 50);
CREATE INDEX node_due ON node (due) WHERE due IS NOT NULL;

-- The SHA-256 of a node's token; and the token before it, until it is used for the first time or the time comes.
CREATE TABLE token (
    sha256     bytea PRIMARY KEY,
    node       text COLLATE "C" NOT NULL UNIQUE,
    old_sha256 bytea UNIQUE,
    old_until  bigint
);

-- The ids of a node's runs grow in the order in which they were first heard of. Where its records were removed
-- (pruned), the row stays for a while, so that a record that comes late isn't stored again.
CREATE TABLE run (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    node   text COLLATE "C" NOT NULL,
    run    text COLLATE "C" NOT NULL,
    began  bigint NOT NULL,
    pruned boolean NOT NULL DEFAULT false,
    UNIQUE (node, run)
);
CREATE INDEX run_of_any_node ON run (run, id);
CREATE INDEX run_of_node ON run (node, id) WHERE NOT pruned;
CREATE INDEX run_pruned ON run (began) WHERE pruned;

-- Records of a run that follow each other, as they came: their texts, a line each, compressed where that is shorter.
-- The seqs are of the first and of the last; bytes: of the texts. No foreign key: it would cost a look at the
-- run for each record.
CREATE TABLE record (
    run   bigint NOT NULL,
    seq   integer NOT NULL,
    last  integer NOT NULL,
    bytes bigint NOT NULL,
    body  bytea NOT NULL,
    PRIMARY KEY (run, seq)
);
-- It is compressed already.
ALTER TABLE record ALTER COLUMN body SET STORAGE EXTERNAL;

-- Those of steps that succeeded are the first to go where a node is over its quota.
CREATE TABLE log (
    node    text COLLATE "C" NOT NULL,
    run     text COLLATE "C" NOT NULL,
    name    text COLLATE "C" NOT NULL,
    at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    success boolean NOT NULL DEFAULT false,
    bytes   bytea NOT NULL,
    PRIMARY KEY (node, run, name)
);
CREATE INDEX log_at ON log (at);

-- How a script ended last on a node: its time in milliseconds, why it failed, and since which generation of the bundle
-- it has ended so, well or not; and what it took before, when it ended well (an average to which later times count
-- more). A node's rows are next to each other, because they change together; they go with the run in which they ended,
-- or with a newer one.
CREATE TABLE step (
    node   text COLLATE "C" NOT NULL,
    script text COLLATE "C" NOT NULL,
    ms     bigint NOT NULL,
    cause  text,
    since  bigint NOT NULL,
    run    bigint NOT NULL,
    usual  bigint,
    PRIMARY KEY (node, script)
) WITH (fillfactor = 50);

-- Who may use the admin API over TLS; the SHA-256 of the token.
CREATE TABLE admin (
    name    text COLLATE "C" PRIMARY KEY,
    role    text NOT NULL,
    token   bytea NOT NULL UNIQUE,
    created bigint NOT NULL,
    until   bigint NOT NULL
);

-- What was changed over the admin API. Nothing removes a row.
CREATE TABLE audit (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at      bigint NOT NULL,
    who     text NOT NULL,
    source  text NOT NULL,
    action  text NOT NULL,
    request text NOT NULL,
    result  text
);
CREATE INDEX audit_at ON audit (at);

-- Whose identity a key is or was, by the SHA-256 of the public key.
CREATE TABLE identity (
    key     bytea PRIMARY KEY,
    node    text COLLATE "C" NOT NULL,
    since   bigint NOT NULL,
    until   bigint NOT NULL,
    revoked bigint
);
CREATE UNIQUE INDEX identity_of_node ON identity (node) WHERE revoked IS NULL;
CREATE INDEX identity_revoked ON identity (node, revoked) WHERE revoked IS NOT NULL;

-- The SHA-256 of a node's join token, when it was made, and when it was used.
CREATE TABLE enrolment_join (
    node   text COLLATE "C" PRIMARY KEY,
    sha256 bytea NOT NULL,
    since  bigint NOT NULL,
    until  bigint NOT NULL,
    origin text,
    spent  bigint
);

-- The nodes whose first key becomes their identity.
CREATE TABLE enrolment_window (
    node  text COLLATE "C" PRIMARY KEY,
    until bigint NOT NULL
);

-- The keys that wait for an admin, or that an admin has rejected. The client: the addresses that it can have.
CREATE TABLE enrolment_request (
    node     text COLLATE "C" NOT NULL,
    key      bytea NOT NULL,
    address  text NOT NULL,
    client   text NOT NULL DEFAULT '',
    since    bigint NOT NULL,
    last     bigint NOT NULL,
    second   boolean NOT NULL,
    rejected boolean NOT NULL DEFAULT false,
    PRIMARY KEY (node, key)
);
CREATE INDEX enrolment_request_of_client ON enrolment_request (client) WHERE NOT rejected;

-- What receivers are to be told. Of one node, a later notice has a greater id.
CREATE TABLE notice (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    receiver text COLLATE "C" NOT NULL,
    at       bigint NOT NULL,
    body     text NOT NULL
);
CREATE INDEX notice_of_receiver ON notice (receiver, id);

-- When the storm began that is under way; at most one.
CREATE TABLE storm (
    began bigint PRIMARY KEY
);

-- What runs did within a minute or an hour: how many began, ended well and failed, and how long the boots took that
-- ended well (how many in each bucket of about the same time); and how many nodes had each status at its end, in JSON,
-- where that had changed. The step is in seconds.
CREATE TABLE history (
    step      bigint NOT NULL,
    at        bigint NOT NULL,
    began     bigint NOT NULL,
    succeeded bigint NOT NULL,
    failed    bigint NOT NULL,
    boots     text NOT NULL,
    nodes     text,
    PRIMARY KEY (step, at)
);

-- What is still to be added to it: a row for each minute of each transaction.
CREATE TABLE history_part (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at        bigint NOT NULL,
    began     bigint NOT NULL,
    succeeded bigint NOT NULL,
    failed    bigint NOT NULL,
    boots     text NOT NULL
);

-- The storms that are done: how many nodes, and runs of them that ended well, failed, and nodes that were lost.
CREATE TABLE storm_result (
    began     bigint PRIMARY KEY,
    ended     bigint NOT NULL,
    nodes     bigint NOT NULL,
    succeeded bigint NOT NULL,
    failed    bigint NOT NULL,
    lost      bigint NOT NULL
);

-- What admins had provostd do to many nodes, in JSON; how often the daemon that does it has said so, when it was done,
-- or when it was seen that the daemon is gone.
CREATE TABLE job (
    id          text COLLATE "C" PRIMARY KEY,
    began       bigint NOT NULL,
    beat        bigint NOT NULL DEFAULT 0,
    ended       bigint,
    interrupted bigint,
    body        text NOT NULL
);
CREATE INDEX job_began ON job (began);
CREATE INDEX job_running ON job (id) WHERE ended IS NULL AND interrupted IS NULL;

-- The nodes for which a job is done; why that failed, if it did.
CREATE TABLE job_node (
    job     text COLLATE "C" NOT NULL,
    node    text COLLATE "C" NOT NULL,
    failure text,
    PRIMARY KEY (job, node)
);

-- When a daemon was last up.
CREATE TABLE watch (
    at timestamptz NOT NULL
);
INSERT INTO watch (at) VALUES ('epoch');
