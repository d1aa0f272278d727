"""Log directories in the cloud."""
