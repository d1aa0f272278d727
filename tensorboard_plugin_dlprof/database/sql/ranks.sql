-- What is needed of a profile to compare the ranks of its job without reading the trace again (ranks/README.md).
-- *_ns are nanoseconds since the start of the capture, or durations. NULL is unknown.

-- The ranks in the profile: one for every process that ran kernels.
CREATE TABLE ranks (
    process_index  INTEGER PRIMARY KEY, -- number from 0
    process_id     INTEGER NOT NULL,    -- of the operating system; 0 where the source has one process only
    rank           INTEGER,             -- number in the job
    world_size     INTEGER,             -- ranks of the job, at least
    host_name      TEXT NOT NULL,       -- empty if unknown
    device_id      INTEGER,             -- the GPU with most of its kernels
    gpu_name       TEXT NOT NULL,       -- empty if unknown
    kernels        INTEGER NOT NULL,    -- how many
    graphs         INTEGER NOT NULL,    -- CUDA graphs recorded as a whole, which count as compute
    fused          INTEGER NOT NULL     -- kernels that communicate while they multiply matrices, which count as compute
);

-- How the time of each iteration is spent, and (iteration NULL) that from the first to the last GPU work. compute_ns +
-- exposed_communication_ns + exposed_copy_ns + idle_ns = stop_ns - start_ns.
CREATE TABLE rank_parts (
    process_index             INTEGER NOT NULL, -- ranks.process_index
    iteration                 INTEGER,          -- number of the iteration; NULL: the whole capture
    start_ns                  INTEGER NOT NULL, -- ns
    stop_ns                   INTEGER NOT NULL, -- ns
    compute_ns                INTEGER NOT NULL, -- ns in which a compute kernel runs
    exposed_communication_ns  INTEGER NOT NULL, -- ns in which a communication kernel runs and no compute kernel
    exposed_copy_ns           INTEGER NOT NULL, -- ns in which a copy or set runs and no kernel
    idle_ns                   INTEGER NOT NULL, -- ns in which none of these runs
    communication_ns          INTEGER NOT NULL, -- ns in which a communication kernel runs, whatever else does
    compute_tensor_ns         INTEGER NOT NULL, -- ns; these three add up to compute_ns (diagnosis/parts.py)
    compute_other_ns          INTEGER NOT NULL, -- ns
    compute_unknown_ns        INTEGER NOT NULL, -- ns
    data_loader_ns            INTEGER NOT NULL, -- ns; this and all that follow add up to idle_ns
    queued_ns                 INTEGER NOT NULL, -- ns
    blocked_ns                INTEGER NOT NULL, -- ns
    launching_ns              INTEGER NOT NULL, -- ns
    host_op_ns                INTEGER NOT NULL, -- ns
    host_code_ns              INTEGER NOT NULL, -- ns
    io_ns                     INTEGER NOT NULL, -- ns
    launch_unknown_ns         INTEGER NOT NULL, -- ns
    unrecorded_ns             INTEGER NOT NULL  -- ns
);

-- The process groups that the profile lists.
CREATE TABLE rank_groups (
    process_index  INTEGER NOT NULL,    -- ranks.process_index
    group_index    INTEGER NOT NULL,    -- number from 0
    name           TEXT NOT NULL,       -- unique within a process only
    description    TEXT NOT NULL,       -- default_pg, mesh_tp, ...; empty if unknown
    ranks          TEXT NOT NULL,       -- '0-7', '0,5', '0-24/8' (every eighth); empty if unknown
    size           INTEGER,             -- ranks
    ranks_text     TEXT NOT NULL,       -- the ranks as the source wrote them, if it cut the list
    PRIMARY KEY (process_index, group_index)
) WITHOUT ROWID;

-- Communication kernels, by start: columns of integers packed as packing.py says, up to 8,192 kernels a row. The columns
-- are, in this order (profile/rank_tables.py, CommunicationRows): start_ns, end_ns, iteration (-1: none), kind (0 other,
-- 1 all_reduce, 2 all_gather, 3 reduce_scatter, 4 all_to_all, 5 barrier, 6 broadcast, 7 reduce, 8 gather, 9 scatter,
-- 10 send_recv), group (rank_groups.group_index), sequence, comms_id, in_elements, out_elements, element_bytes (0:
-- unknown type), split (1: parts of different sizes), source, destination, stream, and running totals up to the start of
-- the kernel: compute_ns, exposed_communication_ns, exposed_copy_ns, input_ns, held_ns, kernels, kernel_ns, work (a checksum of
-- the names and grids of these kernels). -1 is unknown. start_ns and the totals are differences from the row before.
CREATE TABLE collectives (
    process_index  INTEGER NOT NULL,    -- ranks.process_index
    part           INTEGER NOT NULL,    -- number from 0
    kernels        INTEGER NOT NULL,    -- rows
    packed         BLOB NOT NULL,
    PRIMARY KEY (process_index, part)
);

-- Compute during communication: disjoint intervals, packed like collectives, of two columns: start_ns (the difference
-- from the row before) and length in ns.
CREATE TABLE rank_overlaps (
    process_index  INTEGER NOT NULL,    -- ranks.process_index
    part           INTEGER NOT NULL,    -- number from 0
    intervals      INTEGER NOT NULL,    -- rows
    packed         BLOB NOT NULL,
    PRIMARY KEY (process_index, part)
);
