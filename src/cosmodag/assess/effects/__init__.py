"""Effects of interventions, from a fitted graph, its equivalence class and its equations."""

from cosmodag.assess.effects.adjustment import adjustment_set
from cosmodag.assess.effects.effect import Effect
from cosmodag.assess.effects.model_effects import Effects
from cosmodag.assess.effects.resampled import ResampledFits, refit_resamples

__all__ = ["Effect", "Effects", "ResampledFits", "adjustment_set", "refit_resamples"]
