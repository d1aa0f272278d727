"""Names and versions that several parts of the package share: constants only, no imports."""

PLUGIN_NAME = "dlprof"
"""TensorBoard plugin name, tag of our summary metadata and prefix of our flags."""

TAB_NAME = "GPU Summary"
"""Tab title; TensorBoard shows it in capitals."""

VERSION = "0.1.0"
"""Version of this distribution."""

DLPROF_VERSION = "1.8.0"
"""Version of DLProf's database layout that we read natively and write."""

EXTENSION_VERSION = 90
"""Version of our own ``ext_*`` tables. A database of another version may be all that is left of a profile, so its
DLProf tables are still read, and the page says so. ``dlprof import`` and caches replace it if its source exists."""

CLASSIFICATION_VERSION = 30
"""Version of the rules that classify kernels by name, compute work from shapes, and derive advice. Caches and
``dlprof import`` replace databases that were made with older rules."""

DATABASE_SUFFIX = ".dlprof_dldb.sqlite"
"""The name of a source's database is its stem and this suffix."""

JOB_VERSION = 39
"""Version of the tables in a job's database, and of the rules behind them. Older ones are made anew."""

RANK_SUFFIX = ".dlprof_rank.sqlite"
"""Name of a small database with only what jobs need of a profile (``dlprof import --depth job``): stem and this."""

JOB_SUFFIX = ".dlprof_job.sqlite"
"""The name of a job's database is that of its folder and this suffix."""

DATABASE_GLOB = "*dlprof_dldb*.sqlite"
"""Matches our databases and DLProf's own (``dlprof_dldb.sqlite``, ``dlprof_dldb_1.sqlite``)."""

DATABASE_TABLES = ("aggregations", "dictionary", "op_nodes", "read_only_ops")
"""Tables by which a file is known as a DLProf database, of whatever version."""

DEFAULT_DOMAIN = "default-domain"
"""The NVTX domain name that DLProf gives to the default domain."""

EVENT_FILE_NAME = "events.out.tfevents.0000000000.dlprof"
"""Prefix of our event files. It sorts before the event files of a training job: TensorBoard's slow reader never returns
to an earlier file, so with a name that sorts later the job's scalars would no longer be updated."""

KERNEL_RULES_VARIABLE = "DLPROF_KERNEL_RULES"
"""Environment variable with the path of a file of user-defined kernel rules."""
