"""How figures move over a series of snapshots, and whether that is growth."""
