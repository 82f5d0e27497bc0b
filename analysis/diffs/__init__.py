"""What changed between snapshots: `mmpscope.analysis.diff` and what its answer is made of."""
