-- Indexes of job.sql, created after the rows.

CREATE INDEX job_collectives_by_wait ON job_collectives (wait_ns DESC);
CREATE INDEX job_collectives_by_group ON job_collectives (group_id, wait_ns DESC);
CREATE INDEX job_collectives_by_iteration ON job_collectives (iteration, wait_ns DESC);
CREATE INDEX job_collectives_by_last_rank ON job_collectives (last_rank, wait_ns DESC);
