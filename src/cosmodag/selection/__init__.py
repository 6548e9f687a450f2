"""Choices without the truth: learner, hyper-parameters, threshold."""

from cosmodag.selection.choosing import Choice, auto
from cosmodag.selection.comparing import agreement, compare
from cosmodag.selection.criteria import at_threshold, extended_bic, threshold_path
from cosmodag.selection.curvature import Curvature, curvature
from cosmodag.selection.held_out import held_out
from cosmodag.selection.stable import StabilitySelection, stability_selection

__all__ = [
    "Choice",
    "Curvature",
    "StabilitySelection",
    "agreement",
    "at_threshold",
    "auto",
    "compare",
    "curvature",
    "extended_bic",
    "held_out",
    "stability_selection",
    "threshold_path",
]
