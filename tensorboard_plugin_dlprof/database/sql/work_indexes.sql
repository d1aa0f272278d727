-- Indexes of work.sql and of op_patterns, created after the rows.

-- Kernels of one iteration by op, by name and by duration; each index holds the position, and what filters for op and name
-- compare.
CREATE INDEX iteration_kernels_by_op ON iteration_kernels (aggr_id, iteration, read_only_ops_id, position, name_order);
CREATE INDEX iteration_kernels_by_name ON iteration_kernels (aggr_id, iteration, name_order, position, read_only_ops_id);
CREATE INDEX iteration_kernels_by_time
    ON iteration_kernels (aggr_id, iteration, gpu_time_ns, position, read_only_ops_id, name_order);

-- Ops of one pattern.
CREATE INDEX ops_of_patterns ON op_patterns (first_ops_id);
