"""Finished tables in, text or JSON out; nothing is computed here."""
