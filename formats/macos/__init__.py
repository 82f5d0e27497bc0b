"""Text of vmmap on macOS."""
