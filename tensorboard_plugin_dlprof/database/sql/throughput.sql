-- What the program works on (throughput/): a row for each batch, when its first layer is called.
CREATE TABLE throughput_batches (
    number   INTEGER PRIMARY KEY,   -- from 0, by time
    time_ns  INTEGER NOT NULL,      -- ns since the start of the capture
    samples  INTEGER,               -- samples of the batch; NULL: unknown
    tokens   INTEGER                -- tokens of the batch; NULL: unknown, or not a model of tokens
);

-- Where the numbers come from: one row.
CREATE TABLE throughput_source (
    layer                  TEXT NOT NULL,   -- type of the first layer and the shapes of its inputs; empty: none told
    samples_per_iteration  INTEGER,         -- given by the user; NULL: shapes decide
    tokens_per_iteration   INTEGER          -- given by the user; NULL: shapes decide
);
