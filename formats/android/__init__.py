"""Text of showmap and of dumpsys meminfo."""
