"""Expert system: what the numbers of a profile advise.

* ``dlprof_detectors.detect``: the rows that DLProf's own detectors write into its database.
"""
