-- When the storm began that is under way; at most one.
CREATE TABLE storm (
    began INTEGER PRIMARY KEY
) STRICT;
