"""What different pages, reports and interfaces say of one quantity."""
