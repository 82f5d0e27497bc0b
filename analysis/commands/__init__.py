"""One module a command: each parses its options, calls one analysis function and one reporter."""
