-- What receivers are to be told. Of one node, a later notice has a greater id.
CREATE TABLE notice (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    receiver text COLLATE "C" NOT NULL,
    at       bigint NOT NULL,
    body     text NOT NULL
);
CREATE INDEX notice_of_receiver ON notice (receiver, id);
