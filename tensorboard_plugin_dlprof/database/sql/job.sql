-- The database of a job: what follows from all of its ranks (ranks/README.md). It is made from the databases of the ranks
-- alone. *_ns are nanoseconds; NULL is unknown. A rank's own delay is the time that it itself took longer than its peers.

-- Facts about the job. Possible keys:
--   job_version       version of these tables (metadata.JOB_VERSION)
--   name              of the job's folder
--   world_size        ranks of the job
--   knows_ranks       1 if the profiles say which rank each is, 0 if they are only numbered
--   fingerprint       of the databases of all ranks: the job is made anew when it changes
--   answer            the answer of dlprof distributed without its ranks and groups, as JSON
CREATE TABLE job_info (
    key    TEXT PRIMARY KEY,
    value  TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE job_ranks (
    rank                      INTEGER PRIMARY KEY,
    database                  TEXT NOT NULL,    -- path of its database, relative to the job's folder
    name                      TEXT NOT NULL,    -- of the imported file
    process_index             INTEGER NOT NULL, -- number of the process in that file, from 0
    host                      TEXT NOT NULL,    -- empty if unknown
    device_id                 INTEGER,          -- the GPU with most of its kernels
    gpu_name                  TEXT NOT NULL,    -- empty if unknown
    coordinates               TEXT NOT NULL,    -- place in each dimension, separated by commas; empty if unknown
    island                    INTEGER NOT NULL, -- ranks of one island can be compared by time
    clock_offset_ns           INTEGER NOT NULL, -- against the first rank of the island
    clock_drift               REAL NOT NULL,    -- ns a ns
    kernels                   INTEGER NOT NULL, -- how many
    window_ns                 INTEGER,          -- from its first to its last GPU work, as is all up to own_delay_ns
    compute_ns                INTEGER,
    compute_tensor_ns         INTEGER,          -- these three add up to compute_ns (diagnosis/parts.py)
    compute_other_ns          INTEGER,
    compute_unknown_ns        INTEGER,
    exposed_communication_ns  INTEGER,
    exposed_transfer_ns       INTEGER,          -- these three add up to exposed_communication_ns
    exposed_wait_ns           INTEGER,
    exposed_unmatched_ns      INTEGER,
    exposed_copy_ns           INTEGER,
    idle_ns                   INTEGER,
    data_loader_ns            INTEGER,          -- this and the next eight add up to idle_ns
    queued_ns                 INTEGER,
    blocked_ns                INTEGER,
    launching_ns              INTEGER,
    host_op_ns                INTEGER,
    host_code_ns              INTEGER,
    io_ns                     INTEGER,
    launch_unknown_ns         INTEGER,
    unrecorded_ns             INTEGER,
    overlapped_ns             INTEGER,          -- communication during compute
    own_delay_ns              INTEGER,          -- NULL where nothing could be matched
    last                      INTEGER NOT NULL  -- operations at which it arrived last, clearly later than the others
);

-- The iterations, matched between ranks by their numbers.
CREATE TABLE job_iterations (
    position        INTEGER PRIMARY KEY,    -- number from 0
    iteration       INTEGER NOT NULL,       -- its number
    ranks           INTEGER NOT NULL,       -- ranks that have it
    median_ns       INTEGER NOT NULL,       -- duration, as are the next two
    min_ns          INTEGER NOT NULL,
    max_ns          INTEGER NOT NULL,
    own_delay_ns    INTEGER,                -- largest of a rank
    own_delay_rank  INTEGER                 -- of which
);

-- One measure of all ranks in all iterations, as little-endian 32-bit numbers, rank after rank (in the order of
-- job_ranks), each with all iterations (job_iterations.position). 4294967295: the rank lacks the iteration, or unknown.
CREATE TABLE job_matrix (
    measure  TEXT PRIMARY KEY,  -- duration, compute, exposed_transfer, exposed_wait, exposed_unmatched, copy, idle,
                                -- overlapped, own_delay, cost, and the parts of compute and idle: compute_tensor, ...
    unit_ns  INTEGER NOT NULL,  -- what 1 stands for
    packed   BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE job_groups (
    id           INTEGER PRIMARY KEY,
    name         TEXT NOT NULL,     -- as the source has it; a stream where it has no groups
    description  TEXT NOT NULL,     -- mesh_tp, ...; empty if unknown
    kind         TEXT NOT NULL,     -- tp, pp, dp, ep, cp, world; empty if unknown
    inferred     INTEGER NOT NULL,  -- boolean: the kind follows from its operations only
    ranks        TEXT NOT NULL,     -- '0-7', '0,5', '0-24/8' (every eighth)
    size         INTEGER,           -- ranks
    believed     INTEGER NOT NULL,  -- boolean: its operations could be matched
    reason       TEXT NOT NULL,     -- why not
    matched      INTEGER NOT NULL,  -- operations
    transfer_ns  INTEGER NOT NULL,  -- their sum
    wait_ns      INTEGER NOT NULL,  -- the sum of all members
    spread_ns    INTEGER,           -- median distance of the aligned ends
    slow         INTEGER NOT NULL   -- boolean: transfers take much longer than in groups that do the same
);

-- Matched operations. Of more than a million, those with the largest waits.
CREATE TABLE job_collectives (
    id             INTEGER PRIMARY KEY,
    group_id       INTEGER NOT NULL,    -- job_groups.id
    iteration      INTEGER,             -- its number, on the rank that arrived last
    kind           TEXT NOT NULL,       -- all_reduce, ...
    bytes          INTEGER,             -- of the whole message, as bandwidth counts them
    ranks          INTEGER NOT NULL,    -- members
    start_ns       INTEGER NOT NULL,    -- first start, ns since the first GPU work of the job, clocks aligned
    transfer_ns    INTEGER NOT NULL,
    skew_ns        INTEGER NOT NULL,    -- longest wait
    wait_ns        INTEGER NOT NULL,    -- sum of the members
    last_rank      INTEGER NOT NULL,    -- arrived last
    own_delay_ns   INTEGER NOT NULL,    -- of that rank
    cause          TEXT NOT NULL,       -- of its own delay, see dlprof distributed; empty without
    packed         BLOB NOT NULL        -- packing.py: rank, wait_ns and start_ns of each member
);

-- Sums over operations of one dimension, kind, size and number of ranks.
CREATE TABLE job_collective_stats (
    id                  INTEGER PRIMARY KEY,
    group_kind          TEXT NOT NULL,      -- job_groups.kind
    kind                TEXT NOT NULL,
    bytes               INTEGER,
    ranks               INTEGER NOT NULL,   -- members of each
    operations          INTEGER NOT NULL,   -- how many
    transfer_ns         INTEGER NOT NULL,   -- sum
    transfer_median_ns  INTEGER NOT NULL,
    transfer_p95_ns     INTEGER NOT NULL,
    wait_ns             INTEGER NOT NULL,   -- sum of all members
    skew_p95_ns         INTEGER NOT NULL,
    bus_bandwidth       REAL,               -- median, bytes a second
    peak_bandwidth      REAL,               -- nominal, of the link that is certainly used, bytes a second
    bandwidth_reason    TEXT NOT NULL,      -- why one of the two is unknown
    imbalance           REAL,               -- all_to_all: largest share of a rank by the mean share, median
    last_rank           INTEGER,            -- most often last
    last_fraction       REAL                -- of the operations at which somebody was late
);

-- The communication matrix: sends between two ranks, where both are known.
CREATE TABLE job_pairs (
    id           INTEGER PRIMARY KEY,
    source       INTEGER NOT NULL,  -- rank that sends
    destination  INTEGER NOT NULL,  -- rank that receives
    directed     INTEGER NOT NULL,  -- boolean; 0: only that they exchange is known, not who sends
    operations   INTEGER NOT NULL,  -- how many
    bytes        INTEGER,           -- their sum
    transfer_ns  INTEGER,           -- sum of those whose ends agree
    bandwidth    REAL,              -- median, bytes a second
    slow         INTEGER NOT NULL   -- boolean: transfers take much longer than between pairs that do the same
);

CREATE TABLE job_findings (
    id        INTEGER PRIMARY KEY,
    rule      TEXT NOT NULL,        -- straggler, slow_link, stage_imbalance, imbalance, small_collectives,
                                    -- exposed_communication, expert_imbalance
    severity  INTEGER NOT NULL,     -- 3 high, 2 medium, 1 low
    title     TEXT NOT NULL,
    text      TEXT NOT NULL,
    action    TEXT NOT NULL,        -- what to do; empty: text says it
    ranks     TEXT NOT NULL,        -- concerned, as in job_groups
    gain_ns   INTEGER,              -- about, of an iteration
    evidence  TEXT NOT NULL         -- numbers, as JSON
);
