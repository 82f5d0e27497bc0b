"""The questions: load snapshots into Arrow tables and ask what the memory is, what changed, what still fits."""
