"""Contexts that ignore warnings remove only their own filters, in whatever order they exit."""

import warnings

import pytest

from cosmodag.warning_filters import ignoring


def test_the_one_that_began_first_may_end_first():
    before = list(warnings.filters)
    one, other = ignoring(UserWarning), ignoring(UserWarning)
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.warn("ignored still", UserWarning, stacklevel=1)
    assert not caught
    other.__exit__(None, None, None)
    assert warnings.filters == before


def test_other_categories_are_shown():
    with ignoring(UserWarning), pytest.warns(FutureWarning):
        warnings.warn("shown", FutureWarning, stacklevel=1)
