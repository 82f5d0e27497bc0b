"""What holds other files: compressed streams, archives, folders."""
