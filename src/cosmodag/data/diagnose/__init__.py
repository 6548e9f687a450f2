"""What the data can and cannot tell, before anyone believes a graph learnt from it.

A squared-error learner prefers arcs that point from columns of small variance to columns of large
variance, so that units of measurement can decide the answer (Reisach, Seiler and Weichwald 2021,
*Beware of the simulated DAG!*). Some tables cannot tell for other reasons: too few rows, rows that
are not independent, columns that repeat each other, relations that are no straight lines, causes
that are not in the table.

`before_fit` looks at the table in every fit, `after_fit` at what the learnt graph leaves
unexplained, and `diagnose` at everything.
"""

from cosmodag.data.dependence import ArcTests
from cosmodag.data.diagnose.after import after_fit
from cosmodag.data.diagnose.before import before_fit
from cosmodag.data.diagnose.findings import Finding, warn_about
from cosmodag.data.diagnose.full import diagnose
from cosmodag.data.diagnose.relations import examine_arcs
from cosmodag.data.diagnose.sortability import r2_sortability, variance_inflation, varsortability

__all__ = [
    "ArcTests",
    "Finding",
    "after_fit",
    "before_fit",
    "diagnose",
    "examine_arcs",
    "r2_sortability",
    "variance_inflation",
    "varsortability",
    "warn_about",
]
