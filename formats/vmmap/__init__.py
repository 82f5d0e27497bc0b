"""What Sysinternals VMMap saves: XML, CSV and text; read and written."""
