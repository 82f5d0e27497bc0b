"""Work over many files at once: which files, in what batches, on which executor. The work is handed in."""
