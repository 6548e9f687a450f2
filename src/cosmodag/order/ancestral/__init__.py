"""Hidden common causes: from a found DAG and the score to a partial ancestral graph."""

from cosmodag.order.ancestral.pags import pag_by_score, pag_by_tests

__all__ = ["pag_by_score", "pag_by_tests"]
