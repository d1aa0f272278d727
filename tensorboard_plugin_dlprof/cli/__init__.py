"""The command ``dlprof``: one thin module per command, which parses, calls one function and prints."""
