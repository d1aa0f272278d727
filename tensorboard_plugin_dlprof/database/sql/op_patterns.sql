-- Ops by what they do in the repetitions of a model, as views; in databases of ours op_patterns.py stores their rows, in this
-- order, since a model may have many thousand ops. path_pattern is classify/path_pattern.py.

CREATE VIEW op_patterns AS
SELECT
    id AS read_only_ops_id,
    min(id) OVER (PARTITION BY domain_id, path_pattern(op_name, 0), direction_id, op_type_id) AS first_ops_id
FROM read_only_ops;

-- Columns without an aggregate are those of the op with the most GPU time, which SQLite promises for a query with a
-- single max.
CREATE VIEW op_pattern_sums AS
SELECT
    node.aggr_id AS aggr_id,
    pattern.first_ops_id AS first_ops_id,
    count(*) AS ops,
    sum(node.num_calls) AS calls,
    sum(node.kernel_calls) AS kernel_calls,
    sum(gpu.sum) AS gpu_ns,
    sum(cpu.sum) AS cpu_ns,
    sum(kernels.kernel_ns) AS kernel_ns,
    sum(kernels.tc_kernel_ns) AS tc_kernel_ns,
    sum(kernels.unknown_ns) AS unknown_ns,
    sum(node.tc_eligible <> 0 OR node.using_tc <> 0) AS eligible_ops,
    sum(node.read_only_ops_id IN (SELECT read_only_ops_id FROM ext_graph_launches)) AS graph_ops,
    sum(rate.measured_ns - rate.best_ns) AS gain_ns,
    node.read_only_ops_id AS longest_ops_id,
    max(gpu.sum) AS longest_ns
FROM op_nodes AS node
JOIN op_patterns AS pattern ON pattern.read_only_ops_id = node.read_only_ops_id
JOIN node_time_metrics AS times ON times.id = node.node_time_metrics_id
JOIN metric AS gpu ON gpu.id = times.gpu_time_metric_id
JOIN metric AS cpu ON cpu.id = times.cpu_time_metric_id
LEFT JOIN ext_op_kernels AS kernels
    ON kernels.aggr_id = node.aggr_id AND kernels.read_only_ops_id = node.read_only_ops_id
LEFT JOIN ext_op_efficiency AS rate ON rate.aggr_id = node.aggr_id AND rate.read_only_ops_id = node.read_only_ops_id
GROUP BY node.aggr_id, pattern.first_ops_id;
