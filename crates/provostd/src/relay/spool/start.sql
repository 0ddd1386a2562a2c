CREATE TABLE entry (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    node TEXT NOT NULL,
    run TEXT NOT NULL,
    -- The name of an uploaded log; NULL for records.
    log TEXT,
    -- User-Agent and Content-Encoding of the node's request.
    agent TEXT,
    encoding TEXT,
    records INTEGER NOT NULL,
    at INTEGER NOT NULL,
    body BLOB NOT NULL,
    -- Why the management node will never take it.
    refused TEXT
) STRICT;
CREATE INDEX entry_of_node ON entry (node, id) WHERE refused IS NULL;
-- The token by which the management node knew a node last, and what it told the node.
CREATE TABLE known (
    node TEXT PRIMARY KEY,
    token TEXT NOT NULL,
    directive TEXT NOT NULL
) STRICT, WITHOUT ROWID;
-- Plans and their signatures as they were given to who had the token.
CREATE TABLE plan (
    path TEXT PRIMARY KEY,
    token TEXT NOT NULL,
    headers TEXT NOT NULL,
    body BLOB NOT NULL
) STRICT;
