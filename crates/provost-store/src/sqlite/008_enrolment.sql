-- Whose identity a key is or was, by the SHA-256 of the public key. Times are milliseconds of Unix time.
CREATE TABLE identity (
    key     BLOB NOT NULL PRIMARY KEY,
    node    TEXT NOT NULL,
    since   INTEGER NOT NULL,
    until   INTEGER NOT NULL,
    revoked INTEGER
) STRICT;
CREATE UNIQUE INDEX identity_of_node ON identity (node) WHERE revoked IS NULL;
CREATE INDEX identity_revoked ON identity (node, revoked) WHERE revoked IS NOT NULL;

-- The SHA-256 of a node's join token, and when it was used.
CREATE TABLE enrolment_join (
    node   TEXT NOT NULL PRIMARY KEY,
    sha256 BLOB NOT NULL,
    until  INTEGER NOT NULL,
    origin TEXT,
    spent  INTEGER
) STRICT;

-- The nodes whose first key becomes their identity.
CREATE TABLE enrolment_window (
    node  TEXT NOT NULL PRIMARY KEY,
    until INTEGER NOT NULL
) STRICT;

-- The keys that wait for an admin, or that an admin has rejected.
CREATE TABLE enrolment_request (
    node     TEXT NOT NULL,
    key      BLOB NOT NULL,
    address  TEXT NOT NULL,
    since    INTEGER NOT NULL,
    last     INTEGER NOT NULL,
    second   INTEGER NOT NULL,
    rejected INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (node, key)
) STRICT, WITHOUT ROWID;
