-- How a script ended last on a node: its time in milliseconds, why it failed, and since which
-- generation of the bundle it has ended so, well or not.
CREATE TABLE step (
    script text COLLATE "C" NOT NULL,
    node   text COLLATE "C" NOT NULL,
    ms     bigint NOT NULL,
    cause  text,
    since  bigint NOT NULL,
    PRIMARY KEY (script, node)
) WITH (fillfactor = 70);
