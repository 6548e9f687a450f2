"""Learn a directed acyclic graph from a table of data."""

from cosmodag._version import __version__

__all__ = ["__version__"]
