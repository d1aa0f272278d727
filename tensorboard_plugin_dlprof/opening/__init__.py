"""Opens the files that others wrote, safely: regular files, compressed streams, SQLite databases."""
