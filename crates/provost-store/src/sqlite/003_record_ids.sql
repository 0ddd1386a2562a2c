-- A run's records are next to each other: their ids are RUN * 2^24 + SEQ. A row of a table without
-- rowid may take a quarter of a page before it needs pages of its own; here it may take all of it, so
-- that pages can be small, and with them what is written for a few records.
CREATE TABLE record_by_id (
    id   INTEGER PRIMARY KEY,
    json TEXT NOT NULL
) STRICT;
INSERT INTO record_by_id (id, json)
    SELECT run_id * 16777216 + seq, json FROM record WHERE seq < 16777216 ORDER BY run_id, seq;
DROP TABLE record;
ALTER TABLE record_by_id RENAME TO record;
