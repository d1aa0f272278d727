-- Indexes of dlprof_work.sql, created after the rows.

-- Calls of one op.
CREATE INDEX op_instances_of_op ON read_only_op_instances (read_only_ops_id);
-- Kernels of one op.
CREATE INDEX kernels_of_op ON read_only_kernels (read_only_ops_id);
-- Kernels of one iteration, and of one op in it.
CREATE INDEX kernels_of_iteration ON kernel_iteration_node (aggr_id, iter_value, read_only_ops_id);
