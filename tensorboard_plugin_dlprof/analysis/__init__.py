"""Expert system: what the numbers of a profile advise.

* ``dlprof_detectors.detect``: the rows that DLProf's own detectors write, for captures with its markers.
* ``engine.judge``: our rules on any profile. ``signals`` are the named measurements, ``thresholds`` every limit with
  its reason, ``rules`` one function a piece of advice; a ``Finding`` carries its numbers as data.
* ``engine.feedback``: findings as rows of DLProf's ``expert_systems_feedback``.
"""
