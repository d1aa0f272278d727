"""One question to a finished database, one function: a hardened connection in, typed rows out."""
