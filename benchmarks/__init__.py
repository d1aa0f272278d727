"""Benchmarks of the whole product: ``python -m benchmarks``, or ``make bench``."""
