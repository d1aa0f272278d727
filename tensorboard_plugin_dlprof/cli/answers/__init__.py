"""What commands print as JSON, declared: one type for each command, from which ``dlprof schema`` makes its document.

Keys are stable: a key is added freely, and removed or changed only with a new ``SCHEMA_VERSION``. Units are in names,
and in the descriptions of numbers. ``null`` is unknown, never 0.
"""
