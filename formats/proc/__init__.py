"""The text that the Linux kernel prints under /proc: parsed without loss, and written again."""
