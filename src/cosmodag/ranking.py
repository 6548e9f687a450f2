"""The old address of `cosmodag.metrics.ranking`."""

from cosmodag.metrics.ranking import ranking_scores

__all__ = ["ranking_scores"]
