-- Records of a run that follow each other, as they came: their texts, a line each, compressed where that is
-- shorter. The seqs are of the first and of the last; the texts have so many bytes.
CREATE TABLE packed (
    run   bigint NOT NULL,
    seq   integer NOT NULL,
    last  integer NOT NULL,
    bytes bigint NOT NULL,
    body  bytea NOT NULL,
    PRIMARY KEY (run, seq)
);
-- It is compressed already.
ALTER TABLE packed ALTER COLUMN body SET STORAGE EXTERNAL;
INSERT INTO packed (run, seq, last, bytes, body)
    SELECT run, seq, seq, octet_length(json), convert_to(json, 'UTF8') FROM record ORDER BY run, seq;
DROP TABLE record;
ALTER TABLE packed RENAME TO record;
ALTER INDEX packed_pkey RENAME TO record_pkey;

-- A node's steps are next to each other, because they change together; they go with the run in which they
-- ended, or with a newer one.
CREATE TABLE step_of_node (
    node   text COLLATE "C" NOT NULL,
    script text COLLATE "C" NOT NULL,
    ms     bigint NOT NULL,
    cause  text,
    since  bigint NOT NULL,
    run    bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (node, script)
) WITH (fillfactor = 50);
INSERT INTO step_of_node (node, script, ms, cause, since, run)
    SELECT node, script, ms, cause, since,
        coalesce((SELECT max(id) FROM run WHERE run.node = step.node AND NOT pruned), 0)
    FROM step ORDER BY node, script;
DROP TABLE step;
ALTER TABLE step_of_node RENAME TO step;
ALTER INDEX step_of_node_pkey RENAME TO step_pkey;
