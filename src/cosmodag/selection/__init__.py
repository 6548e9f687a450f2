"""Comparison of learners, hyper-parameters and thresholds without knowing the true graph."""

from cosmodag.selection.comparing import compare
from cosmodag.selection.criteria import at_threshold, extended_bic, held_out

__all__ = [
    "at_threshold",
    "compare",
    "extended_bic",
    "held_out",
]
