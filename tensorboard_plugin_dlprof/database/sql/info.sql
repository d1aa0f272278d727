-- What a database of ours says of itself.

-- Facts about the file, its source and its capture. Possible keys:
--   extension_version       version of these tables (metadata.EXTENSION_VERSION)
--   importer_version        version of the package that wrote the file
--   classification_version  version of the rules that classified kernels by name (metadata.CLASSIFICATION_VERSION)
--   source_name, source_size_bytes, source_mtime_ns, source_fingerprint    the imported file
--   format                  nsight_systems, pytorch
--   dlprof_markers          1 if the ops come from DLProf's own markers, so that its rules apply exactly; else 0
--   base_time_ns            start of the capture on the clock of the source
--   base_offset_ns          the part of it that the source says once for all of its times
--   end_ns                  end of the last event, since the start of the capture
--   utc_start_ns            wall-clock time of the start, ns since 1970, if known
--   tool_version, framework, cuda_version, driver_version, cudnn_version, nsys_version, cpu_model, host_name,
--   rank, world_size, profile_name    as in the source; absent if the source does not say
--   reported                what the recorder says of GPU work that it was to record and did not (CaptureInfo.reported)
--   recorded                what the capture contains, sorted, separated by commas (CaptureInfo.recorded)
--   file_sha256             SHA-256 of this file with 64 zeros in place of this value
CREATE TABLE ext_info (
    key    TEXT PRIMARY KEY,
    value  TEXT NOT NULL
) WITHOUT ROWID;

-- The number of rows of every table when the file was written, by which lost rows are noticed.
CREATE TABLE ext_row_counts (
    table_name  TEXT PRIMARY KEY,
    row_count   INTEGER NOT NULL        -- rows
) WITHOUT ROWID;
