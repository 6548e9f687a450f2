"""The bootstrap: probabilities of arcs from fits to resamples."""

from cosmodag.stability.bootstrap import bootstrap
from cosmodag.stability.fits import rows_of
from cosmodag.stability.result import BootstrapResult

__all__ = ["BootstrapResult", "bootstrap", "rows_of"]
