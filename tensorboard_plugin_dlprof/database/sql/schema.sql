-- The tables of a DLProf 1.8 database: the names, columns and conventions of 1.8, our own text.
--
-- Times are nanoseconds since the start of the capture, durations nanoseconds, sizes bytes, *_pct and
-- *_utilization percent from 0 to 100 with six decimals, booleans 0 or 1. A column *_id without another
-- target in its comment refers to dictionary.id. Ids count from 1 in the order of the rows.
-- 1.8 declares every id UNIQUE AUTOINCREMENT as well, which only builds a second b-tree; we do not.

-- The profile ---------------------------------------------------------------------------------------------------

CREATE TABLE dictionary (
    id      INTEGER PRIMARY KEY,
    string  TEXT NOT NULL               -- each text once, in the order of first use
);

CREATE TABLE db_version (
    id                INTEGER PRIMARY KEY,
    current_version   TEXT NOT NULL,    -- version of the layout, 1.8.0
    original_version  TEXT NOT NULL     -- version of the layout when the file was made
);

CREATE TABLE read_only_domains (
    id              INTEGER PRIMARY KEY,
    domain_name_id  INTEGER NOT NULL    -- name of the NVTX domain
);

CREATE TABLE read_only_model_info (
    id            INTEGER PRIMARY KEY,
    domain_id     INTEGER NOT NULL,     -- read_only_domains.id
    domain_name   TEXT NOT NULL,
    profile_name  TEXT NOT NULL         -- given by the user, else empty
);

CREATE TABLE read_only_gpu_infos (
    id                        INTEGER PRIMARY KEY,
    device_id                 INTEGER NOT NULL UNIQUE,  -- number of the GPU, as in the device_id of kernels
    gpu_name                  TEXT NOT NULL,            -- empty where not recorded
    compute_capability_major  INTEGER NOT NULL,         -- 0 where not recorded
    compute_capability_minor  INTEGER NOT NULL,         -- 0 where not recorded
    sm_count                  INTEGER NOT NULL          -- multiprocessors; 0 where not recorded
);

CREATE TABLE gpu_memories (
    id     INTEGER PRIMARY KEY,
    total  INTEGER NOT NULL,            -- bytes; 0 where not measured
    used   INTEGER NOT NULL             -- bytes; 0 where not measured
);

CREATE TABLE read_only_system_config (
    id                INTEGER PRIMARY KEY,
    is_valid          INTEGER NOT NULL, -- boolean
    num_gpus          TEXT NOT NULL,    -- number of GPUs, as text
    cpu_model         TEXT NOT NULL,    -- this and the texts below are empty where not recorded
    driver_version    TEXT NOT NULL,
    framework         TEXT NOT NULL,
    cuda_version      TEXT NOT NULL,
    cudnn_version     TEXT NOT NULL,
    nsys_version      TEXT NOT NULL,
    dlprof_version    TEXT NOT NULL,
    dlprof_build      TEXT NOT NULL,
    profile_name      TEXT NOT NULL,
    mode_enum         INTEGER NOT NULL, -- 4 is pytorch
    mode_string       TEXT NOT NULL,
    original_command  TEXT NOT NULL     -- command line that made the file, secrets masked
);

CREATE TABLE read_only_model_config (
    id                           INTEGER PRIMARY KEY,
    num_workers                  INTEGER NOT NULL,  -- worker processes of the data loader
    pin_memory                   INTEGER NOT NULL,  -- boolean, as all that follow
    cudnn_benchmark_disabled     INTEGER NOT NULL,  -- boolean
    detect_anomaly               INTEGER NOT NULL,  -- boolean
    gradcheck                    INTEGER NOT NULL,  -- boolean
    gradgradcheck                INTEGER NOT NULL,  -- boolean
    autograd_profile             INTEGER NOT NULL,  -- boolean
    autograd_set_detect_anomaly  INTEGER NOT NULL,  -- boolean
    emit_nvtx                    INTEGER NOT NULL,  -- boolean
    amp_enabled                  INTEGER NOT NULL   -- boolean
);

-- Rows by op_name, then op_id, as UTF-8 bytes.
CREATE TABLE read_only_ops (
    id                    INTEGER PRIMARY KEY,
    domain_id             INTEGER NOT NULL, -- read_only_domains.id
    op_id_id              INTEGER NOT NULL, -- the op id, for instance CONV2D_1
    op_id                 TEXT NOT NULL,    -- the same as text
    op_name               TEXT NOT NULL,    -- path
    op_type_id            INTEGER NOT NULL, -- kind of op: conv2d
    device_id             INTEGER NOT NULL, -- dictionary.id of the empty text, unlike every other device_id
    tc_support_status     INTEGER NOT NULL, -- 0 eligible for Tensor Cores, 2 unassociated, 3 not eligible
    data_type_id          INTEGER NOT NULL, -- float32, ...; empty without tensors
    data_format_id        INTEGER NOT NULL, -- letters of the input dimensions: N,C,H,W;K,C,R,S
    output_format_id      INTEGER NOT NULL, -- letters of the output dimensions
    parameters_format_id  INTEGER NOT NULL, -- letters of the parameters
    direction_id          INTEGER NOT NULL, -- fprop, bprop or empty
    stack_trace           TEXT              -- one frame a line, outermost first
);

-- Always empty, in DLProf's own databases too.
CREATE TABLE read_only_sub_ops (
    id          INTEGER PRIMARY KEY,
    op_id       INTEGER NOT NULL,       -- read_only_ops.id
    start_time  INTEGER NOT NULL,       -- ns
    stop_time   INTEGER NOT NULL        -- ns
);

CREATE TABLE read_only_grid_block (
    id  INTEGER PRIMARY KEY,            -- grids and blocks share the table; each triple once
    x   INTEGER NOT NULL,               -- blocks of a grid, threads of a block; 0 where not recorded
    y   INTEGER NOT NULL,               -- the same
    z   INTEGER NOT NULL                -- the same
);

-- Rows of this table and the three below it: by op, name as UTF-8 bytes, API start.
CREATE TABLE read_only_memcpys (
    id                INTEGER PRIMARY KEY,
    read_only_ops_id  INTEGER NOT NULL, -- read_only_ops.id
    op_instance       INTEGER NOT NULL, -- number of the instance within its op, from 0
    name_id           INTEGER NOT NULL, -- name of the API call
    api_start         INTEGER NOT NULL, -- ns
    api_stop          INTEGER NOT NULL, -- ns
    gpu_start         INTEGER NOT NULL, -- ns
    gpu_stop          INTEGER NOT NULL, -- ns
    num_bytes         INTEGER NOT NULL, -- bytes; -1 where not recorded, for DLProf's column takes no NULL: no sum may hold it
    copy_kind         INTEGER NOT NULL, -- CUPTI: 1 host to device, 2 device to host, 8 device to device, 10 peer
    device_id         INTEGER NOT NULL, -- read_only_gpu_infos.device_id
    process_id        INTEGER NOT NULL,
    thread_id         INTEGER NOT NULL
);

CREATE TABLE read_only_memsets (
    id                INTEGER PRIMARY KEY,
    read_only_ops_id  INTEGER NOT NULL, -- read_only_ops.id
    op_instance       INTEGER NOT NULL, -- number of the instance within its op, from 0
    name_id           INTEGER NOT NULL, -- name of the API call
    api_start         INTEGER NOT NULL, -- ns
    api_stop          INTEGER NOT NULL, -- ns
    gpu_start         INTEGER NOT NULL, -- ns
    gpu_stop          INTEGER NOT NULL, -- ns
    num_bytes         INTEGER NOT NULL, -- bytes; -1 where not recorded, for DLProf's column takes no NULL: no sum may hold it
    device_id         INTEGER NOT NULL, -- read_only_gpu_infos.device_id
    process_id        INTEGER NOT NULL,
    thread_id         INTEGER NOT NULL
);

CREATE TABLE read_only_cuda_syncs (
    id                INTEGER PRIMARY KEY,
    read_only_ops_id  INTEGER NOT NULL, -- read_only_ops.id
    op_instance       INTEGER NOT NULL, -- number of the instance within its op, from 0
    name_id           INTEGER NOT NULL, -- name of the API call
    api_start         INTEGER NOT NULL, -- ns
    api_stop          INTEGER NOT NULL, -- ns
    gpu_start         INTEGER NOT NULL, -- ns; always 0, as DLProf stores it
    gpu_stop          INTEGER NOT NULL, -- ns; always 0, as DLProf stores it
    sync_type         INTEGER NOT NULL, -- CUPTI: 1 event, 2 stream wait, 3 stream, 4 context
    event_id          INTEGER NOT NULL, -- 4294967295: none
    device_id         INTEGER NOT NULL, -- read_only_gpu_infos.device_id
    process_id        INTEGER NOT NULL,
    thread_id         INTEGER NOT NULL
);

CREATE TABLE read_only_cuda_calls (
    id                INTEGER PRIMARY KEY,
    read_only_ops_id  INTEGER NOT NULL, -- read_only_ops.id
    op_instance       INTEGER NOT NULL, -- number of the instance within its op, from 0
    name_id           INTEGER NOT NULL, -- name of the API call
    api_start         INTEGER NOT NULL, -- ns
    api_stop          INTEGER NOT NULL, -- ns
    process_id        INTEGER NOT NULL,
    thread_id         INTEGER NOT NULL
);

-- Aggregations: one is a choice of iterations; all that follows belongs to one ------------------------------------

CREATE TABLE aggregations (
    id                INTEGER PRIMARY KEY,
    server_user_name  TEXT NOT NULL,    -- who aggregated
    server_host_name  TEXT NOT NULL,    -- where
    start_timestamp   TEXT NOT NULL,    -- local time, YYYY-MM-DD HH:MM:SS
    end_timestamp     INTEGER NOT NULL DEFAULT 0    -- always 0
);

CREATE TABLE metric (
    id     INTEGER PRIMARY KEY,         -- each distinct row once, shared
    count  INTEGER NOT NULL,            -- samples; 0 makes the others 0
    max    INTEGER NOT NULL,            -- ns
    min    INTEGER NOT NULL,            -- ns
    sum    INTEGER NOT NULL,            -- ns
    avg    REAL NOT NULL                -- ns, six decimals
);

CREATE TABLE node_time_metrics (
    id                           INTEGER PRIMARY KEY,
    cpu_time_metric_id           INTEGER NOT NULL,  -- metric.id: length of the range on the host
    gpu_time_metric_id           INTEGER NOT NULL,  -- metric.id: time with GPU work, overlap counted once
    api_time_metric_id           INTEGER NOT NULL,  -- metric.id: time in API calls
    cpu_overhead_time_metric_id  INTEGER NOT NULL,  -- metric.id: CPU time outside API calls
    gpu_idle_time_metric_id      INTEGER NOT NULL   -- metric.id: gaps between first and last GPU work
);

CREATE TABLE kernel_time_metrics (
    id                  INTEGER PRIMARY KEY,
    api_time_metric_id  INTEGER NOT NULL,           -- metric.id: launch calls
    gpu_time_metric_id  INTEGER NOT NULL            -- metric.id: kernel durations
);

CREATE TABLE category_summary (
    id            INTEGER PRIMARY KEY,
    cpu_time      INTEGER NOT NULL,     -- ns; API time for kernels and memory
    gpu_time      INTEGER NOT NULL,     -- ns; a plain sum for kernels and memory
    cpu_overhead  INTEGER NOT NULL,     -- ns
    gpu_idle      INTEGER NOT NULL,     -- ns
    count         INTEGER NOT NULL      -- ops; distinct names for kernels and memory
);

CREATE TABLE model_summary (
    id                       INTEGER PRIMARY KEY,
    aggr_id                  INTEGER NOT NULL,  -- aggregations.id
    domain_id                INTEGER NOT NULL,  -- read_only_domains.id
    is_custom_domain         INTEGER NOT NULL,  -- boolean; always 1, as DLProf stores it
    wall_time                INTEGER NOT NULL,  -- ns of the aggregated iterations
    nodes_total_id           INTEGER NOT NULL,  -- category_summary.id
    nodes_tc_eligible_id     INTEGER NOT NULL,  -- category_summary.id: eligible and not using Tensor Cores
    nodes_using_tc_id        INTEGER NOT NULL,  -- category_summary.id
    nodes_other_id           INTEGER NOT NULL,  -- category_summary.id
    gpu_utilization          REAL NOT NULL,     -- percent of the wall time with a kernel running
    tc_utilization           REAL NOT NULL,     -- percent of the kernel time of eligible ops on Tensor Cores
    tc_duration_pct          REAL NOT NULL,     -- percent of the wall time; the seven add up to 100
    non_tc_duration_pct      REAL NOT NULL,     -- percent
    memory_duration_pct      REAL NOT NULL,     -- percent
    dataloader_duration_pct  REAL NOT NULL,     -- percent
    io_duration_pct          REAL NOT NULL,     -- percent
    cpu_duration_pct         REAL NOT NULL,     -- percent
    other_duration_pct       REAL NOT NULL,     -- percent
    avg_iteration_time       REAL NOT NULL,     -- ns
    iteration_time_std_dev   REAL NOT NULL,     -- ns, of the population
    iter_total               INTEGER NOT NULL,  -- iterations of the profile
    iter_aggregated          INTEGER NOT NULL,  -- iterations of this aggregation
    iter_start               INTEGER NOT NULL,  -- number of the first
    iter_stop                INTEGER NOT NULL,  -- number of the last, inclusive
    key_node_id              INTEGER NOT NULL   -- name of the key op, else empty
);

CREATE TABLE device_gpu_utilizations (
    id               INTEGER PRIMARY KEY,
    aggr_id          INTEGER NOT NULL,  -- aggregations.id
    domain_id        INTEGER NOT NULL,  -- read_only_domains.id
    gpu_info_id      INTEGER NOT NULL,  -- read_only_gpu_infos.id
    gpu_utilization  REAL NOT NULL      -- percent of the wall time with a kernel running on this GPU
);

-- Rows by op id as bytes.
CREATE TABLE op_nodes (
    id                      INTEGER PRIMARY KEY,
    aggr_id                 INTEGER NOT NULL,   -- aggregations.id
    read_only_ops_id        INTEGER NOT NULL,   -- read_only_ops.id
    node_time_metrics_id    INTEGER NOT NULL,   -- node_time_metrics.id, samples: instances
    kernel_time_metrics_id  INTEGER NOT NULL,   -- kernel_time_metrics.id, samples: kernels
    num_calls               INTEGER NOT NULL,   -- instances
    kernel_calls            INTEGER NOT NULL,   -- kernels
    tc_eligible             INTEGER NOT NULL,   -- boolean
    using_tc                INTEGER NOT NULL,   -- boolean: some kernel uses Tensor Cores
    is_bad_data_type        INTEGER NOT NULL    -- boolean: eligible, of a type that Tensor Cores do not take
);

-- Groups by name, then ops by op id.
CREATE TABLE group_ops (
    id                        INTEGER PRIMARY KEY,
    aggr_id                   INTEGER NOT NULL, -- aggregations.id
    domain_id                 INTEGER NOT NULL, -- read_only_domains.id
    row_type                  INTEGER NOT NULL, -- 1 group, 2 op
    group_op_full_id_id       INTEGER NOT NULL, -- path of a group, id of an op
    group_op_full_name_id     INTEGER NOT NULL, -- path
    level                     INTEGER NOT NULL, -- depth; 1 is the root
    num_op_instances          INTEGER NOT NULL, -- instances below
    num_supported_leaf_ops    INTEGER NOT NULL, -- eligible ops below
    num_tc_leaf_ops           INTEGER NOT NULL, -- ops below that use Tensor Cores
    group_op_time_metrics_id  INTEGER NOT NULL  -- node_time_metrics.id, samples: iterations
);

CREATE TABLE op_type_metrics (
    id                  INTEGER PRIMARY KEY,
    aggr_id             INTEGER NOT NULL,   -- aggregations.id
    domain_id           INTEGER NOT NULL,   -- read_only_domains.id
    op_node_type_id     INTEGER NOT NULL, -- kind of op
    op_type_metrics_id  INTEGER NOT NULL,   -- node_time_metrics.id, samples: instances
    num_nodes           INTEGER NOT NULL,   -- ops
    num_calls           INTEGER NOT NULL    -- instances
);

-- One row for each op and short kernel name, by op id, then kernel name.
CREATE TABLE kernel_summaries (
    id                  INTEGER PRIMARY KEY,
    aggr_id             INTEGER NOT NULL,   -- aggregations.id
    domain_id           INTEGER NOT NULL,   -- read_only_domains.id
    read_only_ops_id    INTEGER NOT NULL,   -- read_only_ops.id
    kernel_name_id      INTEGER NOT NULL, -- short name
    api_time_metric_id  INTEGER NOT NULL,   -- metric.id: launch calls
    gpu_time_metric_id  INTEGER NOT NULL,   -- metric.id: kernel durations
    uses_tc             INTEGER NOT NULL    -- boolean: some of these launches use Tensor Cores
);

CREATE TABLE kernel_iteration_stats (
    id              INTEGER PRIMARY KEY,
    aggr_id         INTEGER NOT NULL,   -- aggregations.id
    domain_id       INTEGER NOT NULL,   -- read_only_domains.id
    iter_value      INTEGER NOT NULL,   -- number of the iteration
    total_count     INTEGER NOT NULL,   -- kernels
    uses_tc_count   INTEGER NOT NULL,   -- kernels
    total_gpu_time  INTEGER NOT NULL,   -- ns, plain sum
    tc_gpu_time     INTEGER NOT NULL    -- ns, plain sum
);

CREATE TABLE kernel_summary_metrics (
    id                   INTEGER PRIMARY KEY,
    aggr_id              INTEGER NOT NULL,  -- aggregations.id
    domain_id            INTEGER NOT NULL,  -- read_only_domains.id
    kernels_total_id     INTEGER NOT NULL,  -- category_summary.id
    kernels_using_tc_id  INTEGER NOT NULL,  -- category_summary.id
    kernels_non_tc_id    INTEGER NOT NULL   -- category_summary.id
);

CREATE TABLE memory_summary_metrics (
    id              INTEGER PRIMARY KEY,
    aggr_id         INTEGER NOT NULL,   -- aggregations.id
    domain_id       INTEGER NOT NULL,   -- read_only_domains.id
    memory_time_id  INTEGER NOT NULL    -- category_summary.id
);

CREATE TABLE iteration_key (
    id           INTEGER PRIMARY KEY,
    aggr_id      INTEGER NOT NULL,      -- aggregations.id
    key_node_id  INTEGER NOT NULL       -- name of the key op, else empty
);

-- All iterations of the profile.
CREATE TABLE iteration_list (
    id          INTEGER PRIMARY KEY,
    aggr_id     INTEGER NOT NULL,       -- aggregations.id
    iter_value  INTEGER NOT NULL,       -- number of the iteration
    start_time  INTEGER NOT NULL,       -- ns
    stop_time   INTEGER NOT NULL        -- ns
);

-- The aggregated iterations. The seven durations add up to the length of the iteration.
CREATE TABLE iteration_aggregation_list (
    id                   INTEGER PRIMARY KEY,
    aggr_id              INTEGER NOT NULL,  -- aggregations.id
    iter_value           INTEGER NOT NULL,  -- number of the iteration
    gpu_utilization      REAL NOT NULL,     -- percent with a kernel, copy or set running
    tc_duration          INTEGER NOT NULL,  -- ns
    non_tc_duration      INTEGER NOT NULL,  -- ns
    memory_duration      INTEGER NOT NULL,  -- ns
    dataloader_duration  INTEGER NOT NULL,  -- ns
    io_duration          INTEGER NOT NULL,  -- ns
    cpu_duration         INTEGER NOT NULL,  -- ns
    other_duration       INTEGER NOT NULL   -- ns
);

CREATE TABLE expert_systems_feedback (
    id                   INTEGER PRIMARY KEY,
    aggr_id              INTEGER NOT NULL,  -- aggregations.id
    exp_sys_id           TEXT NOT NULL,     -- detector
    problem              TEXT NOT NULL,
    recommendation       TEXT NOT NULL,
    javascript_function  TEXT NOT NULL,     -- action of DLProf's viewer, else empty
    javascript_args      TEXT NOT NULL      -- always empty
);
