-- Whose identity a key is or was, by the SHA-256 of the public key. Times are milliseconds of Unix time.
CREATE TABLE identity (
    key     bytea PRIMARY KEY,
    node    text COLLATE "C" NOT NULL,
    since   bigint NOT NULL,
    until   bigint NOT NULL,
    revoked bigint
);
CREATE UNIQUE INDEX identity_of_node ON identity (node) WHERE revoked IS NULL;
CREATE INDEX identity_revoked ON identity (node, revoked) WHERE revoked IS NOT NULL;

-- The SHA-256 of a node's join token, and when it was used.
CREATE TABLE enrolment_join (
    node   text COLLATE "C" PRIMARY KEY,
    sha256 bytea NOT NULL,
    until  bigint NOT NULL,
    origin text,
    spent  bigint
);

-- The nodes whose first key becomes their identity.
CREATE TABLE enrolment_window (
    node  text COLLATE "C" PRIMARY KEY,
    until bigint NOT NULL
);

-- The keys that wait for an admin, or that an admin has rejected.
CREATE TABLE enrolment_request (
    node     text COLLATE "C" NOT NULL,
    key      bytea NOT NULL,
    address  text NOT NULL,
    since    bigint NOT NULL,
    last     bigint NOT NULL,
    second   boolean NOT NULL,
    rejected boolean NOT NULL DEFAULT false,
    PRIMARY KEY (node, key)
);
