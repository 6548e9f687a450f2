"""Row times given as numbers, dates or date strings yield the same order and steps."""

import datetime

import numpy as np
import pandas as pd
import pytest

from cosmodag.data.time.lags import as_times
from cosmodag.errors import DataError

DAY = 86_400.0


@pytest.mark.parametrize(
    "values",
    [
        ["2024-02-28", "2024-02-29", "2024-03-01"],
        [datetime.date(2024, 2, 28), datetime.date(2024, 2, 29), datetime.date(2024, 3, 1)],
        pd.date_range("2024-02-28", periods=3),
        pd.date_range("2024-02-28", periods=3, tz="Europe/Rome"),
        np.array(["2024-02-28", "2024-02-29", "2024-03-01"], "datetime64[D]"),
    ],
)
def test_days_are_a_day_apart(values):
    assert np.diff(as_times(values)).tolist() == [DAY, DAY]


@pytest.mark.parametrize("values", [[3, 1, 2], ["3", "1", "2"], np.array([3.0, 1.0, 2.0])])
def test_numbers_stay_what_they_are(values):
    assert as_times(values).tolist() == [3.0, 1.0, 2.0]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, None, 2], "row 2 is missing"),
        (["2024-01-01", "yesterday"], "'yesterday' is not a time"),
        (pd.to_datetime(["2024-01-01", None]), "row 2 is missing"),
    ],
)
def test_what_is_no_time_is_refused_by_name(values, message):
    with pytest.raises(DataError, match=message):
        as_times(values)
