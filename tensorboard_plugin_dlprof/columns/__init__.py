"""Columns of numbers, on which every stage stands: stored, grouped, and inserted into SQLite."""
