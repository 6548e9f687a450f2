"""Questions to a fitted graph: effects of interventions, and tests of the graph."""

from cosmodag.assess.effects.effect import Effect
from cosmodag.assess.effects.model_effects import Effects
from cosmodag.assess.effects.resampled import ResampledFits, refit_resamples
from cosmodag.assess.validate import validate_graph
from cosmodag.assess.validation import Validation

__all__ = ["Effect", "Effects", "ResampledFits", "Validation", "refit_resamples", "validate_graph"]
