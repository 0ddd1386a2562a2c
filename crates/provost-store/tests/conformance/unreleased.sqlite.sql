-- As far as a provostd of 2026-11 made it.
CREATE TABLE node (
    name  TEXT NOT NULL PRIMARY KEY,
    token BLOB UNIQUE,
    state TEXT NOT NULL
) STRICT;
INSERT INTO node (name, state) VALUES ('cn001', '{}');
PRAGMA user_version = 11;
