-- Our own tables, for what DLProf 1.8 does not store. No table or view of 1.8 refers to them.
-- Same units as schema.sql; *_ns are nanoseconds, *_bytes bytes. -1 means not recorded, NULL unknown.

CREATE TABLE ext_devices (
    device_id     INTEGER PRIMARY KEY,  -- read_only_gpu_infos.device_id
    memory_bytes  INTEGER NOT NULL,     -- bytes; 0 where not recorded
    cuda_ordinal  INTEGER               -- its number in CUDA; NULL where not recorded beside device_id, or not one
);

-- The range of each op's rows among the calls of ops and among the kernels, in which they are adjacent. An index on each
-- of these two tables would take ten bytes a row.
CREATE TABLE ext_op_ranges (
    read_only_ops_id   INTEGER PRIMARY KEY,     -- read_only_ops.id
    first_instance_id  INTEGER NOT NULL,        -- op_calls.id
    instances          INTEGER NOT NULL,        -- rows
    first_kernel_id    INTEGER NOT NULL,        -- kernels.id
    kernels            INTEGER NOT NULL         -- rows
);

-- What the long name of a kernel reveals (classify/).
CREATE TABLE ext_kernel_names (
    name_id      INTEGER PRIMARY KEY,   -- dictionary.id of the long name
    matrix_unit  INTEGER NOT NULL,      -- uses Tensor Cores or matrix cores: 0 no, 1 yes, 2 no rule can tell
    family       TEXT NOT NULL,         -- gemm, convolution, ...
    library      TEXT NOT NULL,         -- cublas, cudnn, ...; empty where the name does not say
    precision    TEXT NOT NULL,         -- fp16, ...; empty where the name does not say
    rule         TEXT NOT NULL,         -- name of the rule that decided; "counter ..." where a counter proved it
    accumulator  TEXT NOT NULL,         -- type of the sums, fp32, ...; empty where the name does not say
    architecture TEXT NOT NULL          -- generation it was written for, sm_90, ...; empty where the name does not say
);

-- Kernels with measured hardware counters, from this recording or from another run of the same program.
CREATE TABLE ext_kernel_counters (
    kernel_id                    INTEGER PRIMARY KEY,   -- read_only_kernels.id
    achieved_occupancy_fraction  REAL,                  -- of the warps that a multiprocessor can hold; NULL unknown
    dram_bytes                   INTEGER                -- bytes read from and written to device memory; NULL unknown
);

-- What read_only_memcpys and read_only_memsets do not store.
CREATE TABLE ext_memory_ops (
    kind      INTEGER NOT NULL,         -- 1 memcpy, 2 memset
    row_id    INTEGER NOT NULL,         -- read_only_memcpys.id or read_only_memsets.id
    stream    INTEGER NOT NULL,         -- number of the CUDA stream
    launched  INTEGER NOT NULL,         -- boolean: the call was recorded
    pageable  INTEGER NOT NULL,         -- host memory of a copy: 1 pageable, 0 pinned, -1 not recorded
    PRIMARY KEY (kind, row_id)
) WITHOUT ROWID;

-- CUDA graphs recorded as a whole: GPU time whose kernels are not known. In times they count as kernels whose use of
-- Tensor Cores is unknown; in numbers of kernels they do not count.
CREATE TABLE ext_graph_launches (
    id                INTEGER PRIMARY KEY,
    read_only_ops_id  INTEGER NOT NULL, -- read_only_ops.id
    op_instance       INTEGER NOT NULL, -- number of the instance within its op, from 0
    gpu_start         INTEGER NOT NULL, -- ns
    gpu_stop          INTEGER NOT NULL, -- ns
    device_id         INTEGER NOT NULL, -- read_only_gpu_infos.device_id
    stream            INTEGER NOT NULL  -- number of the CUDA stream
);

-- The ways to divide the capture into iterations, best first.
CREATE TABLE ext_iteration_candidates (
    position    INTEGER PRIMARY KEY,    -- 0 is the preselected one
    source      TEXT NOT NULL,          -- profiler_step, numbered_range, repeated_range, optimizer_step, data_loader,
                                        -- whole_capture; key_op where the user chose one
    label       TEXT NOT NULL,          -- what is shown: ProfilerStep#N
    iterations  INTEGER NOT NULL        -- how many
);

CREATE TABLE ext_iterations (
    position    INTEGER NOT NULL,       -- ext_iteration_candidates.position
    iter_value  INTEGER NOT NULL,       -- number of the iteration
    start_ns    INTEGER NOT NULL,       -- ns
    stop_ns     INTEGER NOT NULL,       -- ns
    PRIMARY KEY (position, iter_value)
) WITHOUT ROWID;

-- Host time of the data loader and of I/O.
CREATE TABLE ext_time_spans (
    id        INTEGER PRIMARY KEY,
    kind      TEXT NOT NULL,            -- data_loader or io
    start_ns  INTEGER NOT NULL,         -- ns
    stop_ns   INTEGER NOT NULL          -- ns
);

-- The Python functions that the host was in during long gaps of the first GPU in use, if they were recorded: disjoint,
-- ordered by time. In a gap of a millisecond or more, the thread that launches what the GPU waits for counts. Times without
-- a row are unknown: that thread was in no function that took 10 microseconds or more, or the thread is not known.
CREATE TABLE ext_idle_frames (
    id            INTEGER PRIMARY KEY,
    start_ns      INTEGER NOT NULL,     -- ns
    stop_ns       INTEGER NOT NULL,     -- ns
    function_id   INTEGER NOT NULL,     -- dictionary.id of the innermost of the program's own files; 0: of none
    innermost_id  INTEGER NOT NULL      -- dictionary.id of the innermost of all
);

-- What is missing from the profile, was skipped or was repaired, as numbers and as sentences. Keys: no_gpu_work,
-- unrecorded_work, unlaunched_work, unlaunched_work_ns, migrations, migrations_ns, unassociated_work,
-- unassociated_work_ns, repaired_overlaps, "skipped: REASON" for each reason, and "broken: RULE" for each invariant that
-- the numbers violate.
CREATE TABLE ext_coverage (
    key      TEXT PRIMARY KEY,
    value    INTEGER NOT NULL,          -- pieces, or ns where the key ends in _ns; no_gpu_work is 1 or 0
    message  TEXT NOT NULL              -- sentence to show; empty where there is nothing to say
) WITHOUT ROWID;

-- What model_summary does not store: one row for each aggregation and domain. NULL is unknown.
CREATE TABLE ext_aggregations (
    aggr_id                   INTEGER NOT NULL,     -- aggregations.id
    domain_id                 INTEGER NOT NULL,     -- read_only_domains.id
    candidate_source          TEXT NOT NULL,        -- as ext_iteration_candidates.source
    candidate_label           TEXT NOT NULL,
    wall_ns                   INTEGER NOT NULL,     -- ns, sum of the aggregated iterations
    devices_in_use            INTEGER NOT NULL,     -- GPUs with any work in the profile
    gpu_busy_ns               INTEGER NOT NULL,     -- ns with a kernel running, mean over the GPUs in use
    tensor_core_ns            INTEGER NOT NULL,     -- the seven exclusive parts of wall_ns: this is the first,
    other_kernel_ns           INTEGER NOT NULL,     -- ns
    memory_ns                 INTEGER NOT NULL,     -- ns
    data_loader_ns            INTEGER NOT NULL,     -- ns
    io_ns                     INTEGER NOT NULL,     -- ns
    cpu_ns                    INTEGER NOT NULL,     -- ns
    other_ns                  INTEGER NOT NULL,     -- ns, and this the last; they add up to wall_ns
    unknown_part_ns           INTEGER NOT NULL,     -- ns of other_kernel_ns that may be on Tensor Cores: with kernels of
                                                    -- which no rule can tell, or graphs recorded as a whole, running
    kernel_launches           INTEGER NOT NULL,     -- kernels, whose time and names are in category_summary
    tensor_core_launches      INTEGER NOT NULL,     -- kernels
    memory_launches           INTEGER,              -- copies and sets
    unknown_launches          INTEGER NOT NULL,     -- kernels of which no rule can tell whether they use Tensor
    unknown_names             INTEGER NOT NULL,     -- Cores, distinct short names of them,
    unknown_ns                INTEGER NOT NULL,     -- and ns, plain sum; 1.8's tables have all three with the others
    other_names               INTEGER,              -- distinct short names of kernels that do not use Tensor Cores
    graph_launches            INTEGER,              -- CUDA graphs recorded as a whole
    graph_ns                  INTEGER,              -- ns, plain sum
    eligible_ops              INTEGER,              -- ops that could use Tensor Cores
    eligible_ops_using        INTEGER,              -- of these, ops that do
    eligible_ops_unknown      INTEGER NOT NULL,     -- of these, ops of which it cannot be told
    eligible_op_ns            INTEGER,              -- ns of GPU time of eligible ops
    eligible_kernel_ns        INTEGER NOT NULL,     -- ns, plain sum over the kernels of eligible ops: the denominator
    eligible_tensor_core_ns   INTEGER NOT NULL,     -- ns, the part of it on Tensor Cores: numerator of tc_utilization
    eligible_unknown_ns       INTEGER NOT NULL,     -- ns, the part of it of which no rule can tell
    outside_instances         INTEGER,              -- calls of ops that start in none of the aggregated iterations
    outside_kernels           INTEGER,              -- kernels of those calls
    outside_kernel_ns         INTEGER,              -- ns, plain sum
    outside_memory_ops        INTEGER,              -- copies and sets of those calls
    outside_memory_ns         INTEGER,              -- ns, plain sum
    proposal_start            INTEGER,              -- number of the first iteration proposed; NULL: none proposed
    proposal_stop             INTEGER,              -- number of the last, inclusive
    proposal_reason           TEXT,                 -- sentence
    PRIMARY KEY (aggr_id, domain_id)
);

-- What device_gpu_utilizations does not store: the parts of the wall time for each GPU, which add up to wall_ns.
CREATE TABLE ext_device_times (
    aggr_id          INTEGER NOT NULL,  -- aggregations.id
    domain_id        INTEGER NOT NULL,  -- read_only_domains.id
    device_id        INTEGER NOT NULL,  -- read_only_gpu_infos.device_id
    in_use           INTEGER NOT NULL,  -- boolean: any work in the profile
    kernels          INTEGER NOT NULL,  -- kernels of the aggregation
    kernel_ns        INTEGER NOT NULL,  -- ns, plain sum
    busy_ns          INTEGER,           -- ns with a kernel running
    tensor_core_ns   INTEGER,           -- ns
    other_kernel_ns  INTEGER,           -- ns
    memory_ns        INTEGER,           -- ns
    data_loader_ns   INTEGER,           -- ns
    io_ns            INTEGER,           -- ns
    cpu_ns           INTEGER,           -- ns
    other_ns         INTEGER,           -- ns
    unknown_part_ns  INTEGER NOT NULL,  -- ns, the part of other_kernel_ns that may be on Tensor Cores
    PRIMARY KEY (aggr_id, domain_id, device_id)
) WITHOUT ROWID;

-- Sums over blocks of neighbouring iterations, if there are many (database/extension_rows.py).
CREATE TABLE ext_iteration_blocks (
    aggr_id          INTEGER NOT NULL,  -- aggregations.id
    position         INTEGER NOT NULL,  -- from 0, in order of the numbers
    width            INTEGER NOT NULL,  -- numbers of a block, the same in all of them
    block            INTEGER NOT NULL,  -- iter_value / width
    is_aggregated    INTEGER NOT NULL,  -- 1 where its iterations are aggregated: never some of them only
    iterations       INTEGER NOT NULL,  -- how many
    first_value      INTEGER NOT NULL,  -- number of the first
    last_value       INTEGER NOT NULL,  -- number of the last
    start_ns         INTEGER NOT NULL,  -- ns, start of the first
    duration_ns      INTEGER NOT NULL,  -- ns, sum of their lengths
    shortest_ns      INTEGER NOT NULL,  -- ns
    longest_ns       INTEGER NOT NULL,  -- ns
    tensor_core_ns   INTEGER NOT NULL,  -- ns; these seven add up to the duration, or are 0 where not aggregated
    other_kernel_ns  INTEGER NOT NULL,  -- ns
    memory_ns        INTEGER NOT NULL,  -- ns
    data_loader_ns   INTEGER NOT NULL,  -- ns
    io_ns            INTEGER NOT NULL,  -- ns
    cpu_ns           INTEGER NOT NULL,  -- ns
    other_ns         INTEGER NOT NULL,  -- ns
    unknown_part_ns  INTEGER NOT NULL,  -- ns, the part of other_kernel_ns that may be on Tensor Cores
    PRIMARY KEY (aggr_id, position)
) WITHOUT ROWID;

-- Aggregated iterations with time whose use of Tensor Cores is unknown. Iterations without a row have none.
CREATE TABLE ext_iteration_unknown (
    part_id            INTEGER PRIMARY KEY,     -- iteration_aggregation_list.id
    aggr_id            INTEGER NOT NULL,        -- aggregations.id
    unknown_part_ns    INTEGER NOT NULL,        -- ns, the part of non_tc_duration that may be on Tensor Cores
    unknown_kernels    INTEGER NOT NULL,        -- kernels of which no rule can tell, among those of kernel_iteration_stats
    unknown_kernel_ns  INTEGER NOT NULL,        -- ns, plain sum of them
    graphs             INTEGER NOT NULL         -- CUDA graphs recorded as a whole that its ops launched
);

-- The kernels of each op over all aggregated iterations; ops without kernels have no row.
CREATE TABLE ext_op_kernels (
    aggr_id           INTEGER NOT NULL, -- aggregations.id
    read_only_ops_id  INTEGER NOT NULL, -- read_only_ops.id
    kernel_ns         INTEGER NOT NULL, -- ns, plain sum
    tc_kernel_ns      INTEGER NOT NULL, -- ns, plain sum
    unknown_kernels   INTEGER NOT NULL, -- kernels of which no rule can tell whether they use Tensor Cores
    unknown_ns        INTEGER NOT NULL, -- ns, plain sum of them
    PRIMARY KEY (aggr_id, read_only_ops_id)
) WITHOUT ROWID;

-- Ops of one pattern do the same in the repetitions of a model: their paths are equal but for numbers
-- (classify/path_pattern.py), and their directions and types. The first of them stands for the pattern.
CREATE TABLE op_patterns (
    read_only_ops_id  INTEGER PRIMARY KEY,  -- read_only_ops.id
    first_ops_id      INTEGER NOT NULL      -- read_only_ops.id
);

-- The aggregated ops of each pattern.
CREATE TABLE op_pattern_sums (
    aggr_id         INTEGER NOT NULL,       -- aggregations.id
    first_ops_id    INTEGER NOT NULL,       -- op_patterns.first_ops_id
    ops             INTEGER NOT NULL,       -- ops
    calls           INTEGER NOT NULL,       -- calls of them
    kernel_calls    INTEGER NOT NULL,       -- kernels that they launched
    gpu_ns          INTEGER NOT NULL,       -- ns, sum of the GPU times of the ops
    cpu_ns          INTEGER NOT NULL,       -- ns, sum of their times on the host
    kernel_ns       INTEGER,                -- ns, plain sum over their kernels; NULL where they have none, and so are
    tc_kernel_ns    INTEGER,                -- ns, the part of it on Tensor Cores, and
    unknown_ns      INTEGER,                -- ns, the part of it of which no rule can tell
    eligible_ops    INTEGER NOT NULL,       -- ops that could use Tensor Cores, or do
    graph_ops       INTEGER NOT NULL,       -- ops that launched CUDA graphs recorded as a whole
    gain_ns         REAL,                   -- ns above the time at the GPU's published rates; NULL unknown
    longest_ops_id  INTEGER NOT NULL,       -- read_only_ops.id of the op with the most GPU time
    longest_ns      INTEGER NOT NULL,       -- ns, that time
    PRIMARY KEY (aggr_id, first_ops_id)
) WITHOUT ROWID;

-- The distinct ops recorded inside the calls of ops that launched work (addmm inside linear), for counting FLOPs.
CREATE TABLE ext_sub_op_inputs (
    id          INTEGER PRIMARY KEY,
    name        TEXT NOT NULL,          -- bare name
    shapes      TEXT NOT NULL,          -- JSON list, one shape per argument, as the source wrote it
    dtypes      TEXT NOT NULL,          -- JSON list parallel to it; empty where not recorded
    parameters  TEXT NOT NULL           -- JSON list parallel to it: values of scalar arguments; empty where not recorded
);

-- The sets of these that calls contain (op_call_kinds.sub_op_set_id), in the order of time.
CREATE TABLE sub_op_sets (
    id        INTEGER NOT NULL,         -- from 1
    position  INTEGER NOT NULL,         -- number within the set, from 0
    input_id  INTEGER NOT NULL,         -- ext_sub_op_inputs.id
    PRIMARY KEY (id, position)
) WITHOUT ROWID;

-- The peak rates of the devices as published by their makers, dense, without sparsity. Those of other devices are unknown.
CREATE TABLE ext_device_peaks (
    device_id   INTEGER NOT NULL,       -- read_only_gpu_infos.device_id
    unit        TEXT NOT NULL,          -- vector, matrix (Tensor Cores or matrix cores), memory
    precision   TEXT NOT NULL,          -- fp32, bf16, ...; empty for memory
    per_second  REAL NOT NULL,          -- floating-point operations, or bytes for memory
    product     TEXT NOT NULL,          -- name in the table of products
    source      TEXT NOT NULL,          -- address of the publication
    PRIMARY KEY (device_id, unit, precision)
) WITHOUT ROWID;

-- Every aggregated op that launched kernels or whose work is known. NULL is unknown.
CREATE TABLE ext_op_efficiency (
    aggr_id                INTEGER NOT NULL,    -- aggregations.id
    read_only_ops_id       INTEGER NOT NULL,    -- read_only_ops.id
    device_id              INTEGER,             -- read_only_gpu_infos.device_id of its first kernel
    family                 TEXT NOT NULL,       -- gemm, convolution, attention, elementwise, ...; empty: unknown
    kernel_ns              INTEGER NOT NULL,    -- ns, plain sum over its kernels
    measured_ns            INTEGER NOT NULL,    -- ns, the part of it in calls whose work is known: rates divide by it
    flops                  INTEGER,             -- operations; of other ops than products approximate
    product_flops          INTEGER,             -- operations that matrix units could do, as PyTorch's FlopCounterMode
    masked_flops           INTEGER NOT NULL,    -- counts them, but for those that causal attention leaves out
    min_bytes              INTEGER,             -- bytes: every input read once, every output written once
    precision              TEXT NOT NULL,       -- fp32, tf32, bf16, ...; empty: unknown
    matrix_unit            INTEGER NOT NULL,    -- most of its time on matrix units: 0 no, 1 yes, 2 no rule can tell
    peak_flops_per_second  REAL,                -- published rate for that precision and unit; of plain
                                                -- units for the type of the sums
    peak_bytes_per_second  REAL,                -- published rate of the memory
    ideal_ns               REAL,                -- ns that it would take at these rates; never more than measured_ns
    best_ns                REAL,                -- ns, of FP32 and TF32 products in 16 bits on matrix units; else ideal_ns
    bound                  TEXT NOT NULL,       -- compute, memory, caches, latency; empty: unknown
    eligibility            TEXT NOT NULL,       -- eligible, not_eligible, unknown
    cause                  TEXT NOT NULL,       -- why an eligible op does not use matrix units well: fp64, fp32_type,
                                                -- tf32_off, dimension, layout, too_small, no_unit, library_choice,
                                                -- no_name, no_device, no_shapes, unknown; or empty
    kept_off_ns            INTEGER NOT NULL,    -- ns that the cause costs: of its kernels that multiply, convolve or attend,
                                                -- but not on matrix units; for layout, also of those that change it;
                                                -- for no_name, of those that nothing tells of. At most its GPU time
    dimension              TEXT,                -- length that does not fit its type: M, N, K, input channels, ...
    length                 INTEGER,             -- of it
    padded_length          INTEGER,             -- the next that would
    padded_shape           TEXT,                -- all lengths of its largest product, each padded so
    size                   TEXT NOT NULL,       -- of its largest product: M 64, N 1000, K 2048; empty: unknown
    occupancy_fraction     REAL,                -- theoretical, mean by time over its kernels
    achieved_fraction      REAL,                -- occupancy that its kernels achieved, where recorded; mean by time
    waves                  REAL,                -- mean by time
    tail_fraction          REAL,                -- block slots that stay empty in the last wave; mean by time
    PRIMARY KEY (aggr_id, read_only_ops_id)
) WITHOUT ROWID;

-- What kernel_summaries does not store: means over the launches, weighted by time, if registers, shared memory and block
-- are recorded.
CREATE TABLE ext_kernel_efficiency (
    aggr_id             INTEGER NOT NULL,   -- aggregations.id
    read_only_ops_id    INTEGER NOT NULL,   -- read_only_ops.id
    kernel_name_id      INTEGER NOT NULL,   -- dictionary.id of the short name
    occupancy_fraction  REAL,               -- theoretical: warps that fit on a multiprocessor, of those it can hold
    achieved_fraction   REAL,               -- as recorded
    waves               REAL,               -- how often the launch fills the GPU
    tail_fraction       REAL,               -- block slots that stay empty in the last wave, of those of all waves
    limiter             TEXT NOT NULL,      -- what ends first: warps, blocks, registers, shared_memory
    PRIMARY KEY (aggr_id, read_only_ops_id, kernel_name_id)
) WITHOUT ROWID;

-- The kernels of the aggregated iterations by precision and unit; the rows add up to all kernels.
CREATE TABLE ext_precision_times (
    aggr_id      INTEGER NOT NULL,      -- aggregations.id
    precision    TEXT NOT NULL,         -- of the kernel, else of its op: fp32, bf16, ...; communication of collectives;
                                        -- empty: unknown
    matrix_unit  INTEGER NOT NULL,      -- on matrix units: 0 no, 1 yes, 2 no rule can tell
    kernel_ns    INTEGER NOT NULL,      -- ns, plain sum
    kernels      INTEGER NOT NULL,      -- kernels
    PRIMARY KEY (aggr_id, precision, matrix_unit)
) WITHOUT ROWID;

CREATE TABLE ext_iteration_efficiency (
    aggr_id            INTEGER NOT NULL,    -- aggregations.id
    iter_value         INTEGER NOT NULL,    -- number of the iteration
    product_flops      INTEGER NOT NULL,    -- operations of the products launched in it whose shapes are known
    masked_flops       INTEGER NOT NULL,    -- operations that causal attention left out of them
    ideal_ns           REAL,                -- ns that they would take at the peak of the precision they ran in
    measured_fraction  REAL,                -- share of the time of the product kernels that ran in it whose operations
                                            -- are known
    mfu_fraction       REAL,                -- model FLOPs utilisation: as ideal_ns, of what ran in it, whichever iteration
                                            -- launched it, over wall time times GPUs in use
    PRIMARY KEY (aggr_id, iter_value)
) WITHOUT ROWID;

-- The expert system. Times are means per aggregated iteration, except in the evidence.
CREATE TABLE ext_verdicts (
    aggr_id        INTEGER PRIMARY KEY,     -- aggregations.id
    iteration_ns   INTEGER NOT NULL,        -- ns, mean length: what gains are a share of
    total_low_ns   INTEGER NOT NULL,        -- ns, overlapping gains not added
    total_high_ns  INTEGER NOT NULL         -- ns
);

CREATE TABLE ext_findings (
    aggr_id         INTEGER NOT NULL,       -- aggregations.id
    position        INTEGER NOT NULL,       -- 0 is the one with the most gain
    detector        TEXT NOT NULL,          -- as expert_systems_feedback.exp_sys_id
    severity        TEXT NOT NULL,          -- info, advice, warning
    confidence      TEXT NOT NULL,          -- low, medium, high
    area            TEXT NOT NULL,          -- findings of one area gain the same time: their gains are not added
    problem         TEXT NOT NULL,          -- sentence
    recommendation  TEXT NOT NULL,          -- sentence
    numbers         TEXT NOT NULL,          -- JSON object: the numbers in the sentences, unit at the end of each name
    gain_low_ns     INTEGER,                -- ns; NULL where no time can be named
    gain_high_ns    INTEGER,                -- ns
    reasoning       TEXT NOT NULL,          -- how the range was found
    link            TEXT NOT NULL,          -- address to read on
    PRIMARY KEY (aggr_id, position)
) WITHOUT ROWID;

CREATE TABLE ext_finding_evidence (
    aggr_id   INTEGER NOT NULL,             -- aggregations.id
    position  INTEGER NOT NULL,             -- ext_findings.position
    row       INTEGER NOT NULL,             -- number within the finding, from 0
    kind      TEXT NOT NULL,                -- op, kernel, line, function, call, iteration, device
    key       TEXT NOT NULL,                -- op id, kernel name, frame, frame, API call, number
    time_ns   INTEGER,                      -- ns in all aggregated iterations
    fraction  REAL,                         -- 0 to 1 of the time that the finding is about; NULL where not told
    count     INTEGER,                      -- calls or launches in them
    detail    TEXT NOT NULL,
    PRIMARY KEY (aggr_id, position, row)
) WITHOUT ROWID;

-- Rules that could not decide for want of data.
CREATE TABLE ext_undecided_rules (
    aggr_id   INTEGER NOT NULL,             -- aggregations.id
    position  INTEGER NOT NULL,             -- number, from 0
    detector  TEXT NOT NULL,
    missing   TEXT NOT NULL,                -- what the profile has not
    hint      TEXT NOT NULL,                -- recording option that would bring it
    PRIMARY KEY (aggr_id, position)
) WITHOUT ROWID;
