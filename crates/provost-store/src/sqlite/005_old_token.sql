-- The token before the present one, until it is used for the first time or the time comes, in
-- milliseconds of Unix time.
ALTER TABLE node ADD COLUMN old_token BLOB;
ALTER TABLE node ADD COLUMN old_until INTEGER;
CREATE UNIQUE INDEX node_old_token ON node (old_token) WHERE old_token IS NOT NULL;
