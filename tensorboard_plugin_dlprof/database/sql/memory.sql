-- What holds the memory of the GPUs (memory/). Events are those of the framework's allocator, numbered from 0 for each GPU;
-- state n is what holds before event n. *_bytes are bytes, *_ns nanoseconds; NULL is unknown.

CREATE TABLE memory_devices (
    device_id       INTEGER PRIMARY KEY,    -- read_only_gpu_infos.device_id
    measure         TEXT NOT NULL,          -- allocated, or requested where the source tells only that
    relative        INTEGER NOT NULL,       -- boolean: values count from the start of the recording
    timed           INTEGER NOT NULL,       -- boolean: the events have times
    reserved        INTEGER NOT NULL,       -- boolean: the allocator's reserved memory was recorded
    states          INTEGER NOT NULL,       -- states: one more than events
    capacity_bytes  INTEGER,                -- bytes of the GPU
    settings        TEXT NOT NULL,          -- PYTORCH_CUDA_ALLOC_CONF; empty if not recorded
    lost_frees      INTEGER NOT NULL        -- allocations at an address in use, whose frees are missing
);

-- The states of a GPU's memory: columns of integers packed as packing.py says, up to 8,192 a part, each as the difference
-- from the row before in the part. Level 0: time_ns, bytes in use, bytes reserved. A row of a higher level is 32 of the
-- level below: time_ns of the first, least and most bytes in use, most bytes reserved; then the bytes of each category of
-- blocks (memory_tables.KINDS) when most is in use.
CREATE TABLE memory_states (
    device_id  INTEGER NOT NULL,    -- memory_devices.device_id
    level      INTEGER NOT NULL,    -- from 0
    part       INTEGER NOT NULL,    -- number from 0
    first      INTEGER NOT NULL,    -- time_ns of its first row; number of the event where no times were recorded
    packed     BLOB NOT NULL,
    PRIMARY KEY (device_id, level, part)
);

-- So that the parts of a window are found without reading between what is packed.
CREATE INDEX memory_states_first ON memory_states (device_id, level, part, first);

-- Blocks by allocation, packed likewise: event that allocates (difference from the block before in the part), events until
-- it is freed (-1: never), bytes, category (memory_tables.CATEGORIES), owner (memory_owners.number), stack
-- (memory_stacks.number).
CREATE TABLE memory_blocks (
    device_id  INTEGER NOT NULL,    -- memory_devices.device_id
    part       INTEGER NOT NULL,    -- number from 0
    first      INTEGER NOT NULL,    -- event that allocates its first block
    packed     BLOB NOT NULL,
    PRIMARY KEY (device_id, part)
);

CREATE INDEX memory_blocks_first ON memory_blocks (device_id, part, first);

-- The blocks that are allocated in some states, as in memory_blocks, so that any moment is found without reading all.
CREATE TABLE memory_open (
    device_id  INTEGER NOT NULL,    -- memory_devices.device_id
    state      INTEGER NOT NULL,    -- number of the state, a multiple of 65,536
    part       INTEGER NOT NULL,    -- number from 0
    packed     BLOB NOT NULL,
    PRIMARY KEY (device_id, state, part)
);

-- The largest blocks of each GPU: up to 500 of those in use at its peak, and up to 500 others.
CREATE TABLE memory_largest (
    id               INTEGER PRIMARY KEY,   -- from 1
    device_id        INTEGER NOT NULL,      -- memory_devices.device_id
    size_bytes       INTEGER NOT NULL,      -- bytes
    at_peak          INTEGER NOT NULL,      -- boolean: in use at the peak
    category         TEXT NOT NULL,         -- memory_tables.CATEGORIES
    owner            TEXT,                  -- path of the op, or place in the program, that allocated it; NULL: unknown
    stack            INTEGER NOT NULL,      -- memory_stacks.number
    read_only_ops_id INTEGER,               -- read_only_ops.id of the op that allocated it; NULL: unknown
    allocated_event  INTEGER,               -- number of the event; NULL: before the first
    freed_event      INTEGER,               -- number of the event; NULL: not freed
    allocated_ns     INTEGER,               -- ns since the start of the capture; NULL: unknown
    freed_ns         INTEGER,               -- ns likewise; NULL: unknown, or not freed
    lasts_ns         INTEGER                -- ns from one to the other; NULL: unknown, or not freed
);

-- Who allocates: the path of an op, or a place in the program.
CREATE TABLE memory_owners (
    device_id  INTEGER NOT NULL,    -- memory_devices.device_id
    number     INTEGER NOT NULL,    -- from 0, which is unknown
    path       TEXT NOT NULL,
    read_only_ops_id  INTEGER,      -- read_only_ops.id; NULL: no op, or unknown
    PRIMARY KEY (device_id, number)
) WITHOUT ROWID;

-- Lines of the program that allocate, with those that called them, innermost first (snapshots).
CREATE TABLE memory_stacks (
    device_id  INTEGER NOT NULL,    -- memory_devices.device_id
    number     INTEGER NOT NULL,    -- from 0, which is unknown
    stack      TEXT NOT NULL,       -- memory_tables.STACK_STEP between lines
    PRIMARY KEY (device_id, number)
) WITHOUT ROWID;

-- What the allocator has taken from the driver when the recording ends (snapshots).
CREATE TABLE memory_segments (
    device_id    INTEGER NOT NULL,  -- memory_devices.device_id
    number       INTEGER NOT NULL,  -- from 0
    address      INTEGER NOT NULL,  -- of its first byte on the device
    total_bytes  INTEGER NOT NULL,  -- bytes
    pool         TEXT NOT NULL,     -- large or small
    stream       INTEGER NOT NULL,  -- number of the stream
    blocks       TEXT NOT NULL,     -- JSON: [[bytes, state, row of the block in memory_blocks or -1], ...]
    PRIMARY KEY (device_id, number)
) WITHOUT ROWID;

-- Events that stand out: the allocator took memory from the driver (segment) or gave it back (segment_returned), or an
-- allocation failed (out_of_memory).
CREATE TABLE memory_marks (
    device_id   INTEGER NOT NULL,   -- memory_devices.device_id
    event       INTEGER NOT NULL,   -- number of the event
    kind        TEXT NOT NULL,      -- segment, segment_returned, out_of_memory
    num_bytes   INTEGER,            -- bytes asked for
    free_bytes  INTEGER,            -- bytes free on the GPU
    place       INTEGER NOT NULL,   -- time_ns of the event; its number where no times were recorded
    PRIMARY KEY (device_id, kind, event)
) WITHOUT ROWID;

CREATE INDEX memory_marks_place ON memory_marks (device_id, kind, place);

-- Parts of training steps, by the events that follow one another in them.
CREATE TABLE memory_phases (
    device_id  INTEGER NOT NULL,    -- memory_devices.device_id
    start      INTEGER NOT NULL,    -- time_ns of its first event; its number where no times were recorded
    stop       INTEGER NOT NULL,    -- time_ns of its last event; the number of the event after it
    phase      INTEGER NOT NULL     -- memory_tables.Phase
);

-- What dlprof memory answers about each GPU at its peak (memory/answer.py), as JSON.
CREATE TABLE memory_answers (
    device_id  INTEGER PRIMARY KEY, -- memory_devices.device_id
    headline   TEXT NOT NULL,       -- sentence about all GPUs
    answer     TEXT NOT NULL        -- JSON object
);
