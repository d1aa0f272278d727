-- The tracks of the timeline (timeline/): what ran when on each stream and each host thread. About six bytes an item.

CREATE TABLE ext_tracks (
    id          INTEGER PRIMARY KEY,    -- in the order of their items' numbers
    kind        TEXT NOT NULL,          -- call, op, range, stream, device, queue (timeline/tables.py)
    device_id   INTEGER NOT NULL,       -- read_only_gpu_infos.device_id; -1 of host threads
    stream      INTEGER NOT NULL,       -- number of the CUDA stream; -1 where not recorded, and of host threads
    process_id  INTEGER NOT NULL,       -- -1 of devices
    thread_id   INTEGER NOT NULL,       -- -1 of devices
    level       INTEGER NOT NULL,       -- of users' ranges: how many are around them
    first_item  INTEGER NOT NULL,       -- number of its first item; items are numbered through all tracks, calls first
    items       INTEGER NOT NULL,       -- how many
    launches    INTEGER NOT NULL,       -- of calls: how many of them launch work
    sum_ns      INTEGER NOT NULL,       -- ns, plain sum of the items' durations
    first_ns    INTEGER NOT NULL,       -- ns, start of the first item
    last_ns     INTEGER NOT NULL        -- ns, end of the last
);

-- The items of a track by start, packed (packing.py). Columns: ns since the start of the item before (of the first: 0),
-- duration (ns), number of the class (timeline/tables.py; 16 more where its call is not recorded), what it is, and, of
-- streams, the number of its call less that of the item before (of the first: first_call). What it is: of kernels
-- launches.id, or read_only_kernels.id if the database has no such table; of copies and sets read_only_memcpys.id and
-- read_only_memsets.id; of graphs ext_graph_launches.id; of ops read_only_ops.id; of calls and ranges dictionary.id of the
-- name, 0 where it is not recorded. Devices and queues have no items here: activity_segments and the streams tell them.
CREATE TABLE ext_track_items (
    id          INTEGER PRIMARY KEY,
    track_id    INTEGER NOT NULL,       -- ext_tracks.id
    first_item  INTEGER NOT NULL,       -- number of the first item
    items       INTEGER NOT NULL,       -- how many
    start_ns    INTEGER NOT NULL,       -- ns, start of the first item
    stop_ns     INTEGER NOT NULL,       -- ns, end of the last to end
    first_call  INTEGER NOT NULL,       -- number of the call that the first item's is counted from
    data        BLOB NOT NULL,
    UNIQUE (track_id, first_item, start_ns, stop_ns, items)
);

-- How much of bins of 2 ** level ns the items of a track cover, packed, 1024 bins in a part; parts without any are left
-- out. Columns: ns by class. Of queues: ns summed over the launches that wait.
CREATE TABLE ext_track_bins (
    id         INTEGER PRIMARY KEY,
    track_id   INTEGER NOT NULL,        -- ext_tracks.id
    level      INTEGER NOT NULL,        -- bins of 2 ** level ns
    first_bin  INTEGER NOT NULL,        -- number of the first bin, from 0 at time 0: a multiple of 1024
    data       BLOB NOT NULL,
    UNIQUE (track_id, level, first_bin)
);
