"""Choice of learner, hyper-parameters and threshold without knowing the true graph."""

from cosmodag.selection.choosing import Choice, auto
from cosmodag.selection.comparing import StabilitySelection, agreement, compare, stability_selection
from cosmodag.selection.criteria import at_threshold, extended_bic, held_out, threshold_path
from cosmodag.selection.curvature import Curvature, curvature

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
