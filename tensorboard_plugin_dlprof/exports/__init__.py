"""A whole filtered table as a file: CSV, JSON, Excel. Rows come one by one and leave the same way."""
