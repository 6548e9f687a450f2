"""Engines: apply a function to many items in this process, in several, or on a cluster."""

from cosmodag.engines.each import ENGINES, each
from cosmodag.engines.outcomes import Done, Failure

__all__ = ["ENGINES", "Done", "Failure", "each"]
