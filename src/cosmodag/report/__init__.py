"""What was learnt, to look at: a page, plots, pictures, and a file for Cytoscape."""

from cosmodag.report.evidence import Evidence, standard_errors
from cosmodag.report.page import write_report

__all__ = ["Evidence", "standard_errors", "write_report"]
