"""The slow, obvious way to every aggregated number: plain Python over rows, no NumPy, nothing shared with the package.

``expected`` computes from a profile, ``computed_tables`` lays out what ``aggregate`` returned in the same shape; both
are plain dictionaries, so a test compares them with ``==``.
"""

from tests.aggregation.oracle.as_returned import computed_tables
from tests.aggregation.oracle.computed import expected
from tests.aggregation.oracle.time_line import union_length, walk

__all__ = ["computed_tables", "expected", "union_length", "walk"]
