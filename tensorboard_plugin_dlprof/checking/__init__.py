"""Looks a profile over from end to end: is the file whole, do its numbers agree, what does it hold, what is missing."""
