-- Who may use the admin API over TLS; the SHA-256 of the token. Times are in milliseconds of Unix time.
CREATE TABLE admin (
    name    text COLLATE "C" PRIMARY KEY,
    role    text NOT NULL,
    token   bytea NOT NULL UNIQUE,
    created bigint NOT NULL,
    until   bigint NOT NULL
);

-- What was changed over the admin API. Nothing removes a row.
CREATE TABLE audit (
    id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at      bigint NOT NULL,
    who     text NOT NULL,
    source  text NOT NULL,
    action  text NOT NULL,
    request text NOT NULL,
    result  text
);
CREATE INDEX audit_at ON audit (at);
