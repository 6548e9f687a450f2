"""Regimes: which equations differ between parts of a table, found together with the graph."""

from cosmodag.refinement.regimes.equation import RankEvidence, RegimeMoments, RegimeScore
from cosmodag.refinement.regimes.finding import FoundTargets, find_targets, regime_score

__all__ = [
    "FoundTargets",
    "RankEvidence",
    "RegimeMoments",
    "RegimeScore",
    "find_targets",
    "regime_score",
]
