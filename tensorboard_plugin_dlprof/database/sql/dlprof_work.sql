-- The tables of DLProf 1.8 with a row for every kernel or call of an op. Our own databases have views of these names instead
-- (work_views.sql), over the tables of work.sql.

-- Rows by op, then start. The names, shapes and parameters are JSON texts with a newline at the end.
CREATE TABLE read_only_op_instances (
    id                INTEGER PRIMARY KEY,
    read_only_ops_id  INTEGER NOT NULL, -- read_only_ops.id
    cpu_start         INTEGER NOT NULL, -- ns
    cpu_stop          INTEGER NOT NULL, -- ns
    process_id        INTEGER NOT NULL,
    thread_id         INTEGER NOT NULL,
    input_names_id    INTEGER NOT NULL, -- JSON list of texts
    input_shapes_id   INTEGER NOT NULL, -- JSON list of lists of dimensions
    output_names_id   INTEGER NOT NULL, -- JSON list of texts
    output_shapes_id  INTEGER NOT NULL, -- JSON list of lists of dimensions
    parameters_id     INTEGER NOT NULL  -- JSON
);

-- Rows by op, name as UTF-8 bytes, API start.
CREATE TABLE read_only_kernels (
    id                INTEGER PRIMARY KEY,
    read_only_ops_id  INTEGER NOT NULL, -- read_only_ops.id
    op_instance       INTEGER NOT NULL, -- number of the instance within its op, from 0
    name_id           INTEGER NOT NULL, -- short name
    long_name_id      INTEGER NOT NULL, -- name with template arguments and parameters
    uses_tc           INTEGER NOT NULL, -- boolean: known to use Tensor Cores
    api_start         INTEGER NOT NULL, -- ns; gpu_start where no launch call was recorded
    api_stop          INTEGER NOT NULL, -- ns; gpu_start where no launch call was recorded
    gpu_start         INTEGER NOT NULL, -- ns
    gpu_stop          INTEGER NOT NULL, -- ns
    grid_id           INTEGER NOT NULL, -- read_only_grid_block.id
    block_id          INTEGER NOT NULL, -- read_only_grid_block.id
    device_id         INTEGER NOT NULL, -- read_only_gpu_infos.device_id
    process_id        INTEGER NOT NULL,
    thread_id         INTEGER NOT NULL
);

-- One row for each aggregated kernel, by kernel; the totals are those of its op in the iteration.
CREATE TABLE kernel_iteration_node (
    id                   INTEGER PRIMARY KEY,
    aggr_id              INTEGER NOT NULL,  -- aggregations.id
    domain_id            INTEGER NOT NULL,  -- read_only_domains.id
    read_only_ops_id     INTEGER NOT NULL,  -- read_only_ops.id
    read_only_kernel_id  INTEGER NOT NULL,  -- read_only_kernels.id
    iter_value           INTEGER NOT NULL,  -- number of the iteration
    total_count          INTEGER NOT NULL,  -- kernels
    uses_tc_count        INTEGER NOT NULL,  -- kernels
    total_gpu_time       INTEGER NOT NULL,  -- ns, plain sum
    tc_gpu_time          INTEGER NOT NULL   -- ns, plain sum
);
