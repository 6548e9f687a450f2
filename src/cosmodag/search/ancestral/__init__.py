"""Hidden common causes: partial ancestral graphs near the DAG that a search found."""

from cosmodag.search.ancestral.pags import pag_by_score, pag_by_tests

__all__ = ["pag_by_score", "pag_by_tests"]
