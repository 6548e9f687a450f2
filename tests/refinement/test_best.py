"""Number of restarts by the size of a table."""

import pytest

from cosmodag.refinement.best import restarts_for


@pytest.mark.parametrize(
    ("variables", "rows", "expected"),
    [(30, 1000, 200), (1000, 1000, 40), (2000, 1000, 0), (2000, 150, 20), (5000, 150, 0)],
)
def test_large_tables_are_searched_again_only_where_rows_are_few(variables, rows, expected):
    assert restarts_for(variables, rows) == expected
