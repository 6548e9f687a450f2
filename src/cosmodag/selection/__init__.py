"""Comparison of learners, hyper-parameters and thresholds without knowing the true graph."""

from cosmodag.selection.comparing import StabilitySelection, agreement, compare, stability_selection
from cosmodag.selection.criteria import at_threshold, extended_bic, held_out, threshold_path

__all__ = [
    "StabilitySelection",
    "agreement",
    "at_threshold",
    "compare",
    "extended_bic",
    "held_out",
    "stability_selection",
    "threshold_path",
]
