-- A node, and what follows from its records; when it is to be given up if it stays silent, in
-- milliseconds of Unix time. It changes with each report: half of a page is left for that.
CREATE TABLE node (
    name  text COLLATE "C" PRIMARY KEY,
    state text NOT NULL,
    due   bigint
) WITH (fillfactor = 50);
CREATE INDEX node_due ON node (due) WHERE due IS NOT NULL;

-- The SHA-256 of a node's token.
CREATE TABLE token (
    sha256 bytea PRIMARY KEY,
    node   text COLLATE "C" NOT NULL UNIQUE
);

-- The ids of a node's runs grow in the order in which they were first heard of.
CREATE TABLE run (
    id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    node text COLLATE "C" NOT NULL,
    run  text COLLATE "C" NOT NULL,
    UNIQUE (node, run)
);
CREATE INDEX run_of_any_node ON run (run, id);

-- No foreign key: it would cost a look at the run for each record.
CREATE TABLE record (
    run  bigint NOT NULL,
    seq  integer NOT NULL,
    json text NOT NULL,
    PRIMARY KEY (run, seq)
);

CREATE TABLE log (
    node  text COLLATE "C" NOT NULL,
    run   text COLLATE "C" NOT NULL,
    name  text COLLATE "C" NOT NULL,
    at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    bytes bytea NOT NULL,
    PRIMARY KEY (node, run, name)
);

-- When a daemon was last up.
CREATE TABLE watch (
    at timestamptz NOT NULL
);
INSERT INTO watch (at) VALUES ('epoch');
