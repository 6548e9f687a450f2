"""Diagnosis of a table: properties that limit what a learnt graph can show.

A squared-error learner prefers arcs from columns of small variance to columns of large variance, so
units of measurement can determine the result (Reisach, Seiler and Weichwald 2021, *Beware of the
simulated DAG!*). Other limits are too few rows, dependent rows, columns that repeat one another,
non-linear relations, and causes that are not in the table.

Every fit runs `before_fit` on the table and `after_fit` on the residuals of the learnt graph;
`diagnose` runs all checks.
"""

from cosmodag.data.dependence import ArcTests
from cosmodag.data.diagnose.arc_findings import examine_arcs
from cosmodag.data.diagnose.findings import Finding, warn_about
from cosmodag.data.diagnose.full import diagnose
from cosmodag.data.diagnose.scale import r2_sortability, variance_inflation, varsortability
from cosmodag.data.diagnose.table_checks import after_fit, before_fit

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
