"""A profile: the tables in the middle of the data's way."""
