"""The order search for thousands of variables, with parents chosen from lists of candidates."""

from cosmodag.search.wide.wide_search import LARGE, search_large, unexplained

__all__ = ["LARGE", "search_large", "unexplained"]
