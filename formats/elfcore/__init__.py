"""ELF core files."""
