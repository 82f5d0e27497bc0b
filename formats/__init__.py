"""Files in and out: our own `.mmp` codec, kernel text, and one reader per foreign format."""
