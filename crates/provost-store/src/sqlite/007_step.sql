-- How a script ended last on a node: its time in milliseconds, why it failed, and since which
-- generation of the bundle it has ended so, well or not. A script's rows are next to each other.
CREATE TABLE step (
    script TEXT NOT NULL,
    node   TEXT NOT NULL,
    ms     INTEGER NOT NULL,
    cause  TEXT,
    since  INTEGER NOT NULL,
    PRIMARY KEY (script, node)
) STRICT, WITHOUT ROWID;
