"""The bootstrap: probabilities of arcs from fits to resamples."""

from cosmodag.assess.bootstrapping.bootstrap import bootstrap
from cosmodag.assess.bootstrapping.bootstrap_result import BootstrapResult
from cosmodag.assess.bootstrapping.resample_fits import rows_of

__all__ = ["BootstrapResult", "bootstrap", "rows_of"]
