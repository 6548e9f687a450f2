"""Numbers with nouns in messages: the singular for 1."""

import numpy as np
import pytest

from cosmodag import OrderSearch, simulate
from cosmodag.assess.bootstrapping import BootstrapResult
from cosmodag.data.time.lags import lagged
from cosmodag.errors import DataError


def test_one_is_singular():
    with pytest.raises(DataError, match=r"has 1 row, but lags=1 \(--lags 1\) needs"):
        lagged([[1.0], [2.0]], 1, series="ab")
    with pytest.raises(DataError, match="has 3 rows, but 1 series label: give one"):
        lagged([[1.0], [2.0], [4.0]], 1, series="a")
    with pytest.raises(DataError, match="1 entry, but the table has 8 rows"):
        OrderSearch().fit(np.ones((8, 2)), interventions=["0"])
    with pytest.raises(DataError, match="of 1 node has room for 0 arcs"):
        simulate.erdos_renyi(1, 1, np.random.default_rng(0))
    assert "0 of 1 resample;" in repr(BootstrapResult(["a"], [0], "bootstrap"))
