-- Our tables as views over those of a DLProf database, so that every question asks one schema. What DLProf does not store is
-- NULL, -1 or a table without rows, which connection.py adds. Each kernel is a launch of its own, each call of its own kind.

CREATE VIEW ext_info AS SELECT 'format' AS key, 'dlprof' AS value;

CREATE VIEW op_call_kinds AS
SELECT
    id,
    read_only_ops_id,
    process_id,
    thread_id,
    input_names_id,
    input_shapes_id,
    output_names_id,
    output_shapes_id,
    parameters_id,
    0 AS sub_op_set_id,
    1 AS calls,
    id AS first_call_id
FROM read_only_op_instances;

CREATE VIEW op_calls AS
SELECT
    id,
    id AS kind_id,
    cpu_start AS start_ns,
    cpu_stop - cpu_start AS duration_ns
FROM read_only_op_instances;

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
    kernel.device_id AS device_id,
    -1 AS stream,
    kernel.process_id AS process_id,
    kernel.thread_id AS thread_id,
    -1 AS registers,
    -1 AS static_shared_bytes,
    -1 AS dynamic_shared_bytes,
    1 AS launched,
    -1 AS occupancy_percent
FROM read_only_kernels AS kernel
LEFT JOIN dictionary AS name ON name.id = kernel.name_id;

CREATE VIEW kernels AS
SELECT
    id,
    id AS launch_id,
    op_instance,
    api_start AS api_start_ns,
    api_stop - api_start AS api_time_ns,
    gpu_start AS gpu_start_ns,
    gpu_stop - gpu_start AS gpu_time_ns
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
    launch.name_order AS name_order,
    kernel.gpu_start AS gpu_start_ns,
    kernel.gpu_stop - kernel.gpu_start AS gpu_time_ns
FROM kernel_iteration_node AS node
JOIN read_only_kernels AS kernel ON kernel.id = node.read_only_kernel_id
JOIN launches AS launch ON launch.id = kernel.id;

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

CREATE VIEW ext_op_kernels AS
SELECT
    kernel.aggr_id AS aggr_id,
    kernel.read_only_ops_id AS read_only_ops_id,
    sum(time.sum) AS kernel_ns,
    sum((kernel.uses_tc <> 0) * time.sum) AS tc_kernel_ns,
    0 AS unknown_kernels,
    0 AS unknown_ns
FROM kernel_summaries AS kernel
JOIN metric AS time ON time.id = kernel.gpu_time_metric_id
GROUP BY kernel.aggr_id, kernel.read_only_ops_id;

CREATE VIEW ext_iterations AS
SELECT DISTINCT
    0 AS position,
    iter_value,
    start_time AS start_ns,
    stop_time AS stop_ns
FROM iteration_list
WHERE aggr_id = (SELECT min(aggr_id) FROM model_summary);

-- The rows of an op need not be adjacent: only the first of them is asked for where there are no counters.
CREATE VIEW ext_op_ranges AS
SELECT
    id AS read_only_ops_id,
    (SELECT min(call.id) FROM read_only_op_instances AS call WHERE call.read_only_ops_id = op.id) AS first_instance_id,
    (SELECT count(*) FROM read_only_op_instances AS call WHERE call.read_only_ops_id = op.id) AS instances,
    (SELECT min(kernel.id) FROM read_only_kernels AS kernel WHERE kernel.read_only_ops_id = op.id) AS first_kernel_id,
    (SELECT count(*) FROM read_only_kernels AS kernel WHERE kernel.read_only_ops_id = op.id) AS kernels
FROM read_only_ops AS op;

-- DLProf stores one number for all GPUs, which belongs to a GPU only if it is the only one.
CREATE VIEW ext_devices AS
SELECT
    device_id,
    CASE (SELECT count(*) FROM read_only_gpu_infos)
        WHEN 1 THEN coalesce((SELECT max(total) FROM gpu_memories), 0) ELSE 0 END AS memory_bytes,
    NULL AS cuda_ordinal
FROM read_only_gpu_infos;

-- Sums of the parts of the iterations are exact; DLProf's percentages have six decimals.
CREATE VIEW ext_aggregations AS
SELECT
    summary.aggr_id AS aggr_id,
    summary.domain_id AS domain_id,
    CASE WHEN key.string <> '' THEN 'key_op' WHEN summary.iter_total > 1 THEN '' ELSE 'whole_capture' END
        AS candidate_source,
    coalesce(key.string, '') AS candidate_label,
    summary.wall_time AS wall_ns,
    (SELECT count(*) FROM device_gpu_utilizations AS used WHERE used.aggr_id = summary.aggr_id
        AND used.domain_id = summary.domain_id AND used.gpu_utilization > 0) AS devices_in_use,
    coalesce(part.tc + part.non_tc, 0) AS gpu_busy_ns,
    coalesce(part.tc, 0) AS tensor_core_ns,
    coalesce(part.non_tc, 0) AS other_kernel_ns,
    coalesce(part.memory, 0) AS memory_ns,
    coalesce(part.dataloader, 0) AS data_loader_ns,
    coalesce(part.io, 0) AS io_ns,
    coalesce(part.cpu, 0) AS cpu_ns,
    coalesce(part.other, 0) AS other_ns,
    0 AS unknown_part_ns,
    coalesce(kernel.launches, 0) AS kernel_launches,
    coalesce(kernel.tc_launches, 0) AS tensor_core_launches,
    -- Known only if the aggregation covers the whole profile.
    CASE summary.iter_total WHEN 1 THEN
        (SELECT count(*) FROM read_only_memcpys) + (SELECT count(*) FROM read_only_memsets) END AS memory_launches,
    0 AS unknown_launches,
    0 AS unknown_names,
    0 AS unknown_ns,
    others.count AS other_names,
    NULL AS graph_launches,
    NULL AS graph_ns,
    eligible.count + using_tc.count AS eligible_ops,
    using_tc.count AS eligible_ops_using,
    0 AS eligible_ops_unknown,
    eligible.gpu_time + using_tc.gpu_time AS eligible_op_ns,
    coalesce(kernel.eligible_ns, 0) AS eligible_kernel_ns,
    coalesce(kernel.eligible_tc_ns, 0) AS eligible_tensor_core_ns,
    0 AS eligible_unknown_ns,
    NULL AS outside_instances,
    NULL AS outside_kernels,
    NULL AS outside_kernel_ns,
    NULL AS outside_memory_ops,
    NULL AS outside_memory_ns,
    NULL AS proposal_start,
    NULL AS proposal_stop,
    NULL AS proposal_reason
FROM model_summary AS summary
LEFT JOIN iteration_key AS key_node ON key_node.aggr_id = summary.aggr_id
LEFT JOIN dictionary AS key ON key.id = key_node.key_node_id
LEFT JOIN category_summary AS eligible ON eligible.id = summary.nodes_tc_eligible_id
LEFT JOIN category_summary AS using_tc ON using_tc.id = summary.nodes_using_tc_id
LEFT JOIN kernel_summary_metrics AS names
    ON names.aggr_id = summary.aggr_id AND names.domain_id = summary.domain_id
LEFT JOIN category_summary AS others ON others.id = names.kernels_non_tc_id
LEFT JOIN (
    SELECT
        aggr_id,
        sum(tc_duration) AS tc,
        sum(non_tc_duration) AS non_tc,
        sum(memory_duration) AS memory,
        sum(dataloader_duration) AS dataloader,
        sum(io_duration) AS io,
        sum(cpu_duration) AS cpu,
        sum(other_duration) AS other
    FROM iteration_aggregation_list GROUP BY aggr_id
) AS part ON part.aggr_id = summary.aggr_id
LEFT JOIN (
    SELECT
        kernel.aggr_id AS aggr_id,
        kernel.domain_id AS domain_id,
        sum(time.count) AS launches,
        sum((kernel.uses_tc <> 0) * time.count) AS tc_launches,
        sum((node.tc_eligible <> 0 OR node.using_tc <> 0) * time.sum) AS eligible_ns,
        sum((node.tc_eligible <> 0 OR node.using_tc <> 0) * (kernel.uses_tc <> 0) * time.sum) AS eligible_tc_ns
    FROM kernel_summaries AS kernel
    JOIN metric AS time ON time.id = kernel.gpu_time_metric_id
    LEFT JOIN op_nodes AS node ON node.aggr_id = kernel.aggr_id AND node.read_only_ops_id = kernel.read_only_ops_id
    GROUP BY kernel.aggr_id, kernel.domain_id
) AS kernel ON kernel.aggr_id = summary.aggr_id AND kernel.domain_id = summary.domain_id;

-- The parts of the iterations are those of all GPUs: they are told of one if no other was used. Another version of this
-- package has kernels in tables that are not read: those of a busy GPU are not known then.
CREATE VIEW ext_device_times AS
SELECT
    used.aggr_id AS aggr_id,
    used.domain_id AS domain_id,
    used.device_id AS device_id,
    used.busy_ns > 0 AS in_use,
    coalesce(kernel.kernels, CASE WHEN used.busy_ns = 0 THEN 0 END) AS kernels,
    coalesce(kernel.kernel_ns, CASE WHEN used.busy_ns = 0 THEN 0 END) AS kernel_ns,
    used.busy_ns AS busy_ns,
    used.tensor_core_ns AS tensor_core_ns,
    used.busy_ns - used.tensor_core_ns AS other_kernel_ns,
    NULL AS memory_ns,
    NULL AS data_loader_ns,
    NULL AS io_ns,
    NULL AS cpu_ns,
    NULL AS other_ns,
    0 AS unknown_part_ns
FROM (
    SELECT
        aggr_id,
        domain_id,
        device_id,
        CASE WHEN is_only THEN whole.gpu_busy_ns
            ELSE CAST(round(gpu_utilization / 100.0 * whole.wall_ns) AS INTEGER) END AS busy_ns,
        CASE WHEN is_only THEN whole.tensor_core_ns END AS tensor_core_ns
    FROM (
        SELECT
            one.aggr_id AS aggr_id,
            one.domain_id AS domain_id,
            gpu.device_id AS device_id,
            one.gpu_utilization AS gpu_utilization,
            NOT EXISTS (
                SELECT 1 FROM device_gpu_utilizations AS other
                WHERE other.aggr_id = one.aggr_id AND other.domain_id = one.domain_id
                AND other.gpu_info_id <> one.gpu_info_id
                AND (other.gpu_utilization > 0 OR NOT one.gpu_utilization > 0)
            ) AS is_only
        FROM device_gpu_utilizations AS one
        JOIN read_only_gpu_infos AS gpu ON gpu.id = one.gpu_info_id
    ) AS share
    JOIN ext_aggregations AS whole USING (aggr_id, domain_id)
) AS used
LEFT JOIN (
    SELECT
        node.aggr_id AS aggr_id,
        node.domain_id AS domain_id,
        kernel.device_id AS device_id,
        count(*) AS kernels,
        sum(kernel.gpu_stop - kernel.gpu_start) AS kernel_ns
    FROM kernel_iteration_node AS node
    JOIN read_only_kernels AS kernel ON kernel.id = node.read_only_kernel_id
    GROUP BY node.aggr_id, node.domain_id, kernel.device_id
) AS kernel ON kernel.aggr_id = used.aggr_id AND kernel.domain_id = used.domain_id AND kernel.device_id = used.device_id;
