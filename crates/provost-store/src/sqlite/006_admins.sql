-- Who may use the admin API over TLS; the SHA-256 of the token. Times are in milliseconds of Unix time.
CREATE TABLE admin (
    name    TEXT NOT NULL PRIMARY KEY,
    role    TEXT NOT NULL,
    token   BLOB NOT NULL UNIQUE,
    created INTEGER NOT NULL,
    until   INTEGER NOT NULL
) STRICT;

-- What was changed over the admin API. Nothing removes a row.
CREATE TABLE audit (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    at      INTEGER NOT NULL,
    who     TEXT NOT NULL,
    source  TEXT NOT NULL,
    action  TEXT NOT NULL,
    request TEXT NOT NULL,
    result  TEXT
) STRICT;
CREATE INDEX audit_at ON audit (at);
