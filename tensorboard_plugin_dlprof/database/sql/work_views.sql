-- The tables of calls and kernels of DLProf 1.8 as views, for the views of 1.8 and for readers of these tables.

CREATE VIEW read_only_op_instances AS
SELECT
    op_calls.id AS id,
    kinds.read_only_ops_id AS read_only_ops_id,
    op_calls.start_ns AS cpu_start,
    op_calls.start_ns + op_calls.duration_ns AS cpu_stop,
    kinds.process_id AS process_id,
    kinds.thread_id AS thread_id,
    kinds.input_names_id AS input_names_id,
    kinds.input_shapes_id AS input_shapes_id,
    kinds.output_names_id AS output_names_id,
    kinds.output_shapes_id AS output_shapes_id,
    kinds.parameters_id AS parameters_id
FROM op_calls
JOIN op_call_kinds AS kinds ON kinds.id = op_calls.kind_id;

CREATE VIEW read_only_kernels AS
SELECT
    kernels.id AS id,
    launches.read_only_ops_id AS read_only_ops_id,
    kernels.op_instance AS op_instance,
    launches.name_id AS name_id,
    launches.long_name_id AS long_name_id,
    launches.uses_tc AS uses_tc,
    kernels.api_start_ns AS api_start,
    kernels.api_start_ns + kernels.api_time_ns AS api_stop,
    kernels.gpu_start_ns AS gpu_start,
    kernels.gpu_start_ns + kernels.gpu_time_ns AS gpu_stop,
    launches.grid_id AS grid_id,
    launches.block_id AS block_id,
    launches.device_id AS device_id,
    launches.process_id AS process_id,
    launches.thread_id AS thread_id
FROM kernels
JOIN launches ON launches.id = kernels.launch_id;

-- 1.8 numbers its rows from 1; here a row has the id of its kernel.
CREATE VIEW kernel_iteration_node AS
SELECT
    node.kernel_id AS id,
    node.aggr_id AS aggr_id,
    op.domain_id AS domain_id,
    node.read_only_ops_id AS read_only_ops_id,
    node.kernel_id AS read_only_kernel_id,
    node.iteration AS iter_value,
    total.kernels AS total_count,
    total.tc_kernels AS uses_tc_count,
    total.kernel_ns AS total_gpu_time,
    total.tc_kernel_ns AS tc_gpu_time
FROM iteration_kernels AS node
JOIN read_only_ops AS op ON op.id = node.read_only_ops_id
JOIN iteration_ops AS total ON total.aggr_id = node.aggr_id AND total.iteration = node.iteration
    AND total.read_only_ops_id = node.read_only_ops_id;
