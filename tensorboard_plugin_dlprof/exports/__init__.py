"""A whole filtered table as a file: CSV, JSON, Excel, PDF. Rows come one by one and leave the same way."""
