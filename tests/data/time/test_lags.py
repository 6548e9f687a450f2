"""Lagged tables: a window never spans two series, and no arc points into the past."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cosmodag.data.knowledge import bounds_of
from cosmodag.data.time import lagged, window_graph
from cosmodag.errors import DataError


@given(st.integers(1, 3), st.lists(st.integers(0, 2), min_size=8, max_size=20), st.randoms())
def test_every_window_is_k_steps_of_one_series(lags, labels, shuffle):
    n = len(labels)
    times = [0] * n
    for label in set(labels):
        rows = [row for row in range(n) if labels[row] == label]
        for time, row in enumerate(shuffle.sample(rows, len(rows))):
            times[row] = time
    X = np.column_stack([labels, times]).astype(float)
    lengths = [labels.count(label) for label in set(labels)]
    if max(lengths) <= lags:
        with pytest.raises(DataError, match="take fewer lags"):
            lagged(X, lags, series=labels, time=times)
        return
    found = lagged(X, lags, series=labels, time=times)
    assert len(found.X) == sum(max(0, length - lags) for length in lengths)
    assert np.array_equal(found.X[:, :2], X[found.rows])
    for row in found.X.reshape(len(found.X), lags + 1, 2):
        assert len(set(row[:, 0])) == 1
        own = sorted(
            (t for t, label in zip(times, labels, strict=True) if label == row[0, 0]), reverse=True
        )
        at = own.index(row[0, 1])
        assert own[at : at + lags + 1] == row[:, 1].tolist()


@pytest.mark.parametrize("labels", [["a", None, None], pd.Series([1.0, None, None]), ["a", "", ""]])
def test_a_row_without_a_series_is_refused(labels):
    with pytest.raises(DataError, match="series of row 2 is missing"):
        lagged([[1.0], [2.0], [3.0]], 1, series=labels)


def test_arcs_lead_into_the_present_only():
    found = lagged(np.random.default_rng(0).normal(size=(9, 2)), 2, names=["a", "b"])
    support = bounds_of(found.knowledge, list(found.names)).support
    expected = np.zeros((6, 6), np.bool_)
    expected[:, :2] = True
    np.fill_diagonal(expected, False)
    assert found.names == ("a", "b", "a[t-1]", "b[t-1]", "a[t-2]", "b[t-2]")
    assert np.array_equal(support, expected)


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_a_learner_finds_the_arcs_of_an_autoregression():
    from cosmodag import OrderSearch

    random = np.random.default_rng(0)
    X = random.normal(size=(1500, 2))
    for t in range(1, len(X)):
        X[t, 0] += 0.6 * X[t - 1, 0]
        X[t, 1] += 0.7 * X[t - 1, 0] + 0.5 * X[t, 0]
    table = lagged(X, 2, names=["a", "b"])
    frame = pd.DataFrame(table.X, columns=list(table.names))
    model = OrderSearch(noise="gaussian", knowledge=table.knowledge, random_state=0).fit(frame)
    window = window_graph(model.adjacency_, 2)
    assert (window != 0).tolist() == [
        [[False, True], [False, False]],
        [[True, True], [False, False]],
        [[False, False], [False, False]],
    ]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lags": 0}, "at least 1"),
        ({"lags": 1.5}, "whole number"),
        ({"lags": 5}, "without a gap has 4 rows"),
        ({"lags": 10**30}, "without a gap has 4 rows"),
        ({"lags": 1, "series": "ab"}, "4 rows, but 2 series labels"),
        ({"lags": 1, "time": [1, 2]}, "4 rows, but 2 times"),
        ({"lags": 1, "time": [1, 1, 2, 3]}, "same time: name the series"),
        ({"lags": 1, "time": [1, 1, 2, 3], "series": "aaab"}, "series 'a'.*: correct their times"),
        ({"lags": 1, "names": ["a"]}, "2 columns, but 1 name:"),
        ({"lags": 1, "names": ["a", "a[t-1]"]}, "occurs twice"),
    ],
)
def test_what_cannot_be_used_is_named(settings, message):
    with pytest.raises(DataError, match=message):
        lagged(np.arange(8.0).reshape(4, 2), **settings)


def test_a_graph_of_another_size_is_refused():
    with pytest.raises(DataError, match="not one of lagged copies of 2 columns"):
        window_graph(np.zeros((5, 5)), 2)


def test_no_window_crosses_a_gap_in_time():
    times = pd.to_datetime(["2024-01-31", "2024-02-29", "2024-03-31", "2024-06-30", "2024-07-31"])
    found = lagged(np.arange(10.0).reshape(5, 2), 1, time=times)
    assert found.rows.tolist() == [1, 2, 4]
    assert found.gaps == 1


def test_a_window_keeps_missing_values_and_their_places():
    found = lagged([[1.0, 5.0], [np.nan, 6.0], [3.0, 7.0]], 1)
    assert np.isnan(found.X).tolist() == [[True, False, False, False], [False, False, True, False]]
