-- What each GPU did at every moment, and why it was idle (diagnosis/). Our own tables: see extensions.sql.

-- The distinct causes. Unknown texts are empty.
CREATE TABLE activity_causes (
    id       INTEGER PRIMARY KEY,
    part     INTEGER NOT NULL,  -- diagnosis.parts.Part: 0 to 2 compute, 3 communication, 4 copy, from 5 on idle
    detail   TEXT NOT NULL,     -- reason if queued, class of the call if blocked, graph if a graph recorded as a whole
    call     TEXT NOT NULL,     -- name of the API or system call
    path     TEXT NOT NULL,     -- path of the op, or name of the range or Python function, that the host was in
    kind     TEXT NOT NULL,     -- what path names: op, range, frame
    op_id    TEXT NOT NULL,     -- read_only_ops.op_id of that op
    thread   TEXT NOT NULL,     -- name of the host thread; main for the one that drives the program
    is_long  INTEGER NOT NULL,  -- boolean: the call took a millisecond or longer
    overlaps INTEGER NOT NULL   -- what else runs and does not count: 1 communication, 2 copies, 3 both
);

-- The time of each GPU from the first event to the last, divided into segments without gaps or overlaps; a row has up to
-- 8,192 of them, packed (packing.py): nanoseconds to the next one, activity_causes.id.
CREATE TABLE activity_segments (
    id         INTEGER PRIMARY KEY,
    device_id  INTEGER NOT NULL,    -- read_only_gpu_infos.device_id
    start_ns   INTEGER NOT NULL,    -- ns since the start of the capture
    stop_ns    INTEGER NOT NULL,    -- ns
    data       BLOB NOT NULL
);

-- Launches of the capture.
CREATE TABLE activity_totals (
    launch_calls               INTEGER NOT NULL,    -- calls that launch kernels or graphs
    launch_calls_without_work  INTEGER NOT NULL     -- those of which no device work is recorded
);

-- The diagnosis of the typical iterations (dlprof diagnose), where the first aggregation is of these; else no row.
CREATE TABLE ext_diagnosis (
    data                BLOB NOT NULL,  -- UTF-8 JSON, compressed with zlib; its "source" is the name of the source
    computing_fraction  REAL            -- 0 to 1: the share of an iteration that the sentence says is computing; NULL
                                        -- without GPU work. Lists of profiles read it
);
