"""Questions to a fitted graph: effects of interventions, tests of the graph, and the bootstrap."""

from cosmodag.assess.bootstrapping.bootstrap import bootstrap
from cosmodag.assess.bootstrapping.bootstrap_result import BootstrapResult
from cosmodag.assess.effects.effect import Effect
from cosmodag.assess.effects.model_effects import Effects
from cosmodag.assess.effects.resampled import ResampledFits, quick_resamples, refit_resamples
from cosmodag.assess.validate import validate_graph
from cosmodag.assess.validation import Validation

__all__ = [
    "BootstrapResult",
    "Effect",
    "Effects",
    "ResampledFits",
    "Validation",
    "bootstrap",
    "quick_resamples",
    "refit_resamples",
    "validate_graph",
]
