-- What receivers are to be told. Of one node, a later notice has a greater id.
CREATE TABLE notice (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    receiver TEXT NOT NULL,
    at       INTEGER NOT NULL,
    body     TEXT NOT NULL
) STRICT;
CREATE INDEX notice_of_receiver ON notice (receiver, id);
