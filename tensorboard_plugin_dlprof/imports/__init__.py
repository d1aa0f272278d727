"""Imports on demand: a source becomes a database in a process of its own, and the database is kept in a cache."""
