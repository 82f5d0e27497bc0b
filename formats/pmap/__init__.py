"""Text of pmap."""
