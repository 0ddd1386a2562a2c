-- When a run was first heard of, in milliseconds of Unix time; and whether its records were removed. The
-- row stays for a while, so that a record that comes late isn't stored again.
ALTER TABLE run ADD COLUMN began bigint NOT NULL DEFAULT extract(epoch FROM now()) * 1000;
ALTER TABLE run ALTER COLUMN began DROP DEFAULT;
ALTER TABLE run ADD COLUMN pruned boolean NOT NULL DEFAULT false;
CREATE INDEX run_of_node ON run (node, id) WHERE NOT pruned;
CREATE INDEX run_pruned ON run (began) WHERE pruned;
CREATE INDEX log_at ON log (at);
