"""Whether a graph is believable: tests of what it implies, and comparisons with chance."""

from cosmodag.assess.validation.result import Validation
from cosmodag.assess.validation.validate import validate, validate_graph

__all__ = ["Validation", "validate", "validate_graph"]
