"""Choice of learner, hyper-parameters and threshold without knowing the true graph."""

from cosmodag.selection.choosing import Choice, auto
from cosmodag.selection.comparing import compare
from cosmodag.selection.criteria import at_threshold, extended_bic, held_out
from cosmodag.selection.curvature import Curvature, curvature

__all__ = [
    "Choice",
    "Curvature",
    "at_threshold",
    "auto",
    "compare",
    "curvature",
    "extended_bic",
    "held_out",
]
