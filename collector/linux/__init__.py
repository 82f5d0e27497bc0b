"""Linux: everything is read from a proc root, given as a parameter so that tests can build one."""
