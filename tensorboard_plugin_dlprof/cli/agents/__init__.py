"""Answers questions of coding agents with what the commands print: ``dlprof mcp``."""
