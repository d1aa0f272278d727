-- Indexes of schema.sql, created after the rows. The comment on each says which question it answers.
-- 1.8's unique index over (api_start, gpu_start, thread_id, read_only_ops_id) of kernels would take 30 bytes a kernel, and
-- traces with times in whole microseconds violate it; so do kernels without a recorded launch.

-- Text to id, for searching by name.
CREATE UNIQUE INDEX unique_dictionary ON dictionary (string);
-- Op by its id.
CREATE UNIQUE INDEX unique_read_only_ops ON read_only_ops (domain_id, op_id_id);

-- Ops of one aggregation, and the aggregated row of one op.
CREATE UNIQUE INDEX unique_op_nodes ON op_nodes (aggr_id, read_only_ops_id);
-- Kernels by name of one op, or of one aggregation.
CREATE UNIQUE INDEX unique_kernel_summaries
    ON kernel_summaries (aggr_id, domain_id, read_only_ops_id, kernel_name_id);
-- Launches of one kernel name over all ops.
CREATE INDEX kernel_summaries_of_name ON kernel_summaries (aggr_id, kernel_name_id);
CREATE UNIQUE INDEX unique_group_ops
    ON group_ops (aggr_id, domain_id, group_op_full_id_id, group_op_full_name_id);
CREATE UNIQUE INDEX unique_op_type_metrics ON op_type_metrics (aggr_id, domain_id, op_node_type_id);
CREATE UNIQUE INDEX unique_model_summary ON model_summary (aggr_id, domain_id);
CREATE UNIQUE INDEX unique_device_gpu_utilizations
    ON device_gpu_utilizations (aggr_id, domain_id, gpu_info_id);
CREATE UNIQUE INDEX unique_kernel_summary_metrics ON kernel_summary_metrics (aggr_id, domain_id);
CREATE UNIQUE INDEX unique_memory_summary_metrics ON memory_summary_metrics (aggr_id, domain_id);
-- Iterations of one aggregation, in order.
CREATE UNIQUE INDEX unique_iteration_key ON iteration_key (aggr_id);
CREATE UNIQUE INDEX unique_iteration_list ON iteration_list (aggr_id, iter_value);
CREATE UNIQUE INDEX unique_iteration_aggregation_list ON iteration_aggregation_list (aggr_id, iter_value);
-- The longest and shortest iterations of one aggregation.
CREATE INDEX aggregated_iterations_by_length ON iteration_aggregation_list (
    aggr_id,
    tc_duration + non_tc_duration + memory_duration + dataloader_duration + io_duration + cpu_duration + other_duration
);
CREATE UNIQUE INDEX unique_kernel_iteration_stats
    ON kernel_iteration_stats (aggr_id, domain_id, iter_value);
