"""What the data can and cannot tell, before anyone believes a graph learnt from it.

A squared-error learner prefers arcs that point from columns of small variance to columns of large
variance, so that units of measurement can decide the answer (Reisach, Seiler and Weichwald 2021,
*Beware of the simulated DAG!*). Some tables cannot tell for other reasons: too few rows, columns
that repeat each other, categories coded as numbers, single rows that outweigh the rest.

`diagnose` looks for all of it, `quick` for what costs little and is worth looking at in every fit.
"""

from cosmodag.data.diagnose.findings import Finding, heed
from cosmodag.data.diagnose.full import diagnose
from cosmodag.data.diagnose.one_pass import quick
from cosmodag.data.diagnose.sortability import r2_sortability, variance_inflation, varsortability

__all__ = [
    "Finding",
    "diagnose",
    "heed",
    "quick",
    "r2_sortability",
    "variance_inflation",
    "varsortability",
]
