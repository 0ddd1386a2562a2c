-- Records of a run that follow each other, as they came: their texts, a line each, compressed where that is
-- shorter. The ids are RUN * 2^24 + SEQ, of the first and of the last; the texts have so many bytes.
CREATE TABLE packed (
    id    INTEGER PRIMARY KEY,
    last  INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    body  BLOB NOT NULL
) STRICT;
INSERT INTO packed (id, last, bytes, body)
    SELECT id, id, octet_length(json), CAST(json AS BLOB) FROM record ORDER BY id;
DROP TABLE record;
ALTER TABLE packed RENAME TO record;

-- A node's steps are next to each other, because they change together; they go with the run in which they
-- ended, or with a newer one.
CREATE TABLE step_of_node (
    node   TEXT NOT NULL,
    script TEXT NOT NULL,
    ms     INTEGER NOT NULL,
    cause  TEXT,
    since  INTEGER NOT NULL,
    run    INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (node, script)
) STRICT, WITHOUT ROWID;
INSERT INTO step_of_node (node, script, ms, cause, since, run)
    SELECT node, script, ms, cause, since,
        coalesce((SELECT max(id) FROM run WHERE run.node = step.node AND pruned = 0), 0)
    FROM step ORDER BY node, script;
DROP TABLE step;
ALTER TABLE step_of_node RENAME TO step;
