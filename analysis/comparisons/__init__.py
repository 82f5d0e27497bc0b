"""Many snapshots side by side: a row each, which of them are odd and by what, how each group is spread."""
