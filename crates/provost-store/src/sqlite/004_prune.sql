-- When a run was first heard of, in milliseconds of Unix time; those of before count from now on.
ALTER TABLE run ADD COLUMN began INTEGER NOT NULL DEFAULT 0;
UPDATE run SET began = unixepoch() * 1000;
-- Whether its records were removed. The row stays for a while, so that a record that comes late isn't
-- stored again.
ALTER TABLE run ADD COLUMN pruned INTEGER NOT NULL DEFAULT 0;
CREATE INDEX run_of_node ON run (node, id) WHERE pruned = 0;
CREATE INDEX run_pruned ON run (began) WHERE pruned = 1;
