-- The token before the present one, until it is used for the first time or the time comes, in
-- milliseconds of Unix time.
ALTER TABLE token ADD COLUMN old_sha256 bytea UNIQUE, ADD COLUMN old_until bigint;
