"""Questions to a fitted graph: effects of interventions, and whether the graph is believable."""

from cosmodag.assess.effects import Effect, Effects, ResampledFits, refit_resamples
from cosmodag.assess.validation import Validation, validate_graph

__all__ = [
    "Effect",
    "Effects",
    "ResampledFits",
    "Validation",
    "refit_resamples",
    "validate_graph",
]
