-- A node, the SHA-256 of its token, and what follows from its records.
CREATE TABLE node (
    name  TEXT NOT NULL PRIMARY KEY,
    token BLOB UNIQUE,
    state TEXT NOT NULL
) STRICT;

-- The ids grow in the order in which runs were first heard of.
CREATE TABLE run (
    id   INTEGER PRIMARY KEY,
    node TEXT NOT NULL,
    run  TEXT NOT NULL,
    UNIQUE (node, run)
) STRICT;
CREATE INDEX run_of_any_node ON run (run, id);

CREATE TABLE record (
    run_id INTEGER NOT NULL REFERENCES run (id),
    seq    INTEGER NOT NULL,
    json   TEXT NOT NULL,
    PRIMARY KEY (run_id, seq)
) STRICT, WITHOUT ROWID;
