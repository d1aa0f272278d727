"""Which profiles lie below the log directory. Nothing is parsed here: names, heads of files, and finished databases."""
