"""Database: the only place that creates or writes SQLite files, and the one that opens DLProf databases.

* ``sql/``: the tables, indexes and views of DLProf 1.8, and our own ``ext_*`` tables.
* ``writer.write_database``: profile and aggregations -> a new file, put in place at once.
* ``connection.open_database``: a database of ours or of NVIDIA's (1.3 to 1.8), hardened, with our views.
* ``reader.read_profile``: such a database -> profile, so that it can be aggregated anew.
"""
