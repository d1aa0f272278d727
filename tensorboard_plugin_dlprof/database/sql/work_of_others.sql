-- Our tables of calls and kernels as views over those of DLProf 1.8, for databases that DLProf wrote. Each kernel is a launch
-- of its own.

CREATE VIEW op_call_kinds AS
SELECT
    min(id) AS id,
    read_only_ops_id,
    input_names_id,
    input_shapes_id,
    output_names_id,
    output_shapes_id,
    parameters_id,
    count(*) AS calls,
    min(id) AS first_call_id
FROM read_only_op_instances
GROUP BY read_only_ops_id, input_names_id, input_shapes_id, output_names_id, output_shapes_id, parameters_id;

CREATE VIEW launches AS
SELECT
    kernel.id AS id,
    kernel.read_only_ops_id AS read_only_ops_id,
    kernel.name_id AS name_id,
    kernel.long_name_id AS long_name_id,
    dense_rank() OVER (ORDER BY name.string) - 1 AS name_order,
    kernel.uses_tc AS uses_tc,
    kernel.grid_id AS grid_id,
    kernel.block_id AS block_id,
    kernel.device_id AS device_id
FROM read_only_kernels AS kernel
LEFT JOIN dictionary AS name ON name.id = kernel.name_id;

CREATE VIEW kernels AS
SELECT
    id,
    id AS launch_id,
    op_instance,
    api_start AS api_start_ns,
    api_stop - api_start AS api_duration_ns,
    gpu_start AS start_ns,
    gpu_stop - gpu_start AS duration_ns
FROM read_only_kernels;

CREATE VIEW iteration_kernels AS
SELECT
    node.aggr_id AS aggr_id,
    node.iter_value AS iteration,
    dense_rank() OVER (
        PARTITION BY node.aggr_id, node.iter_value ORDER BY kernel.api_start, kernel.id
    ) - 1 AS position,
    kernel.id AS kernel_id,
    kernel.id AS launch_id,
    node.read_only_ops_id AS read_only_ops_id,
    dense_rank() OVER (ORDER BY name.string) - 1 AS name_order,
    kernel.gpu_start AS start_ns,
    kernel.gpu_stop - kernel.gpu_start AS duration_ns
FROM kernel_iteration_node AS node
JOIN read_only_kernels AS kernel ON kernel.id = node.read_only_kernel_id
LEFT JOIN dictionary AS name ON name.id = kernel.name_id;

-- DLProf repeats the totals of an op in an iteration in the row of each of its kernels.
CREATE VIEW iteration_ops AS
SELECT
    aggr_id,
    iter_value AS iteration,
    read_only_ops_id,
    total_count AS kernels,
    uses_tc_count AS tc_kernels,
    total_gpu_time AS kernel_ns,
    tc_gpu_time AS tc_kernel_ns
FROM kernel_iteration_node
GROUP BY aggr_id, iter_value, read_only_ops_id;
