"""What one snapshot is worth in small tables: all that is kept of it where there are too many to keep."""
