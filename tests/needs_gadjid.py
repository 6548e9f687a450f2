"""A mark for tests of intervention distances, which gadjid computes."""

from importlib.util import find_spec
from typing import Any

import pytest


def needs_gadjid(test: Any) -> Any:
    """Mark a test as optional, and skip it where gadjid has no wheel, as on Linux for ARM."""
    skip = pytest.mark.skipif(find_spec("gadjid") is None, reason="gadjid is not installed")
    return pytest.mark.optional(skip(test))
