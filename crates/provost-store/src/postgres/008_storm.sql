-- When the storm began that is under way; at most one.
CREATE TABLE storm (
    began bigint PRIMARY KEY
);
