"""The version of the distribution, written once."""

__version__ = "0.1.0"
