"""Snapshots kept as Hive-partitioned Parquet: built as files arrive, asked in SQL and by our commands."""
