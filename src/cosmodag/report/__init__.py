"""Presentation of a fitted graph: HTML report, plots, pictures, and a file for Cytoscape."""

from cosmodag.fit.view.arcs import standard_errors
from cosmodag.report.drawings import write_cytoscape
from cosmodag.report.evidence_section import Evidence
from cosmodag.report.page import write_report
from cosmodag.report.plots import plot_graph, plot_history, plot_matrix, plot_stability

__all__ = [
    "Evidence",
    "plot_graph",
    "plot_history",
    "plot_matrix",
    "plot_stability",
    "standard_errors",
    "write_cytoscape",
    "write_report",
]
