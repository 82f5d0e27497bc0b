"""The operating system in: raw facts about processes, read once and never interpreted."""
