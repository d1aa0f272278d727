"""Compares two profiles: what changed, by how much, where, and is it more than noise?

``reading`` makes a ``Recording`` of one aggregation of a database, ``side`` merges the recordings of a side,
``matching`` pairs the ops of both sides, ``attribution`` divides the change into rows that add up to it, ``noise``
tells change from noise, and ``comparison`` puts it together. A is the baseline, B the candidate; a change is B minus A.
"""
