-- Calls of ops and kernels: ours, ordered for our questions. *_ns are nanoseconds, *_bytes bytes; -1 means not recorded.

-- What calls of an op have in common: most are made by one thread with the same tensors. Numbered in the order of first use
-- by op_calls.id, so by op.
CREATE TABLE op_call_kinds (
    id                INTEGER PRIMARY KEY,
    read_only_ops_id  INTEGER NOT NULL,         -- read_only_ops.id
    process_id        INTEGER NOT NULL,
    thread_id         INTEGER NOT NULL,
    input_names_id    INTEGER NOT NULL,         -- dictionary.id of a JSON list of texts
    input_shapes_id   INTEGER NOT NULL,         -- dictionary.id of a JSON list of lists of dimensions
    output_names_id   INTEGER NOT NULL,         -- dictionary.id of a JSON list of texts
    output_shapes_id  INTEGER NOT NULL,         -- dictionary.id of a JSON list of lists of dimensions
    parameters_id     INTEGER NOT NULL,         -- dictionary.id of JSON
    sub_op_set_id     INTEGER NOT NULL,         -- sub_op_sets.id; 0 without recorded ops
    calls             INTEGER NOT NULL,         -- calls of this kind
    first_call_id     INTEGER NOT NULL,         -- op_calls.id of the first
    UNIQUE (read_only_ops_id, id)
);

-- Every call of an op, by op, then start: the order of read_only_op_instances in DLProf 1.8.
CREATE TABLE op_calls (
    id           INTEGER PRIMARY KEY,
    kind_id      INTEGER NOT NULL,              -- op_call_kinds.id
    start_ns     INTEGER NOT NULL,              -- ns, on the host
    duration_ns  INTEGER NOT NULL               -- ns, on the host
);

-- What kernels have in common: a loop may launch the same kernel in the same way a million times. Numbered in the order of
-- first use by kernels.id, so by op, then name.
CREATE TABLE launches (
    id                    INTEGER PRIMARY KEY,
    read_only_ops_id      INTEGER NOT NULL,     -- read_only_ops.id
    name_id               INTEGER NOT NULL,     -- dictionary.id of the short name
    long_name_id          INTEGER NOT NULL,     -- dictionary.id of the name with template arguments and parameters
    name_order            INTEGER NOT NULL,     -- number of the short name in the order of all of them as UTF-8 bytes, from 0
    uses_tc               INTEGER NOT NULL,     -- boolean: known to use Tensor Cores
    grid_id               INTEGER NOT NULL,     -- read_only_grid_block.id
    block_id              INTEGER NOT NULL,     -- read_only_grid_block.id
    device_id             INTEGER NOT NULL,     -- read_only_gpu_infos.device_id
    stream                INTEGER NOT NULL,     -- number of the CUDA stream
    process_id            INTEGER NOT NULL,
    thread_id             INTEGER NOT NULL,
    registers             INTEGER NOT NULL,     -- registers a thread
    static_shared_bytes   INTEGER NOT NULL,     -- bytes
    dynamic_shared_bytes  INTEGER NOT NULL,     -- bytes
    launched              INTEGER NOT NULL,     -- boolean: the launch call was recorded
    occupancy_percent     INTEGER NOT NULL,     -- achieved, as the profiler estimated it
    UNIQUE (read_only_ops_id, name_id, long_name_id, id)
);

-- Every kernel, by op, name as UTF-8 bytes, start of the launch call: the order of read_only_kernels in DLProf 1.8.
CREATE TABLE kernels (
    id               INTEGER PRIMARY KEY,
    launch_id        INTEGER NOT NULL,          -- launches.id
    op_instance      INTEGER NOT NULL,          -- number of the call of the op, from 0
    api_start_ns     INTEGER NOT NULL,          -- ns; gpu_start_ns where no launch call was recorded
    api_time_ns      INTEGER NOT NULL,          -- ns; 0 where no launch call was recorded
    gpu_start_ns     INTEGER NOT NULL,          -- ns, on the GPU
    gpu_time_ns      INTEGER NOT NULL           -- ns, how long it ran on the GPU
);

-- The kernels of each aggregated iteration, in the order of their launch calls: what its pages are sorted and filtered by.
CREATE TABLE iteration_kernels (
    aggr_id           INTEGER NOT NULL,         -- aggregations.id
    iteration         INTEGER NOT NULL,         -- number of the iteration
    position          INTEGER NOT NULL,         -- number within the iteration, from 0, by kernels.api_start_ns, then id
    kernel_id         INTEGER NOT NULL,         -- kernels.id
    launch_id         INTEGER NOT NULL,         -- launches.id, as the kernel has it
    read_only_ops_id  INTEGER NOT NULL,         -- read_only_ops.id, as the launch has it
    name_order        INTEGER NOT NULL,         -- as the launch has it
    gpu_start_ns      INTEGER NOT NULL,         -- ns, as the kernel has it
    gpu_time_ns       INTEGER NOT NULL,         -- ns, as the kernel has it
    PRIMARY KEY (aggr_id, iteration, position)
) WITHOUT ROWID;

-- Every op in every aggregated iteration in which it launches kernels, which are those of iteration_kernels.
CREATE TABLE iteration_ops (
    aggr_id           INTEGER NOT NULL,         -- aggregations.id
    iteration         INTEGER NOT NULL,         -- number of the iteration
    read_only_ops_id  INTEGER NOT NULL,         -- read_only_ops.id
    kernels           INTEGER NOT NULL,         -- kernels of its calls
    tc_kernels        INTEGER NOT NULL,         -- of these, kernels that use Tensor Cores
    kernel_ns         INTEGER NOT NULL,         -- ns, plain sum over the kernels
    tc_kernel_ns      INTEGER NOT NULL,         -- ns, plain sum over those that use Tensor Cores
    PRIMARY KEY (aggr_id, iteration, read_only_ops_id)
) WITHOUT ROWID;
