-- When a node is to be given up if it stays silent, in milliseconds of Unix time.
ALTER TABLE node ADD COLUMN due INTEGER;
CREATE INDEX node_due ON node (due) WHERE due IS NOT NULL;
