"""Sections of the page for regimes and for rows in time."""

import numpy as np
import pandas as pd
import pytest

from cosmodag import BlockSearch, OrderSearch
from cosmodag.report.sections import regime_section, sections_of, time_section

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    dose, noise = random.normal(size=(2, 300))
    return pd.DataFrame({"dose": dose, "level": dose + noise})


def test_regimes_are_listed_with_their_targets(table):
    shifted = table.assign(level=table["level"] + 5.0 * (np.arange(300) >= 200))
    labels = ["drug" if row >= 200 else "" for row in range(300)]
    model = OrderSearch(random_state=0, verbose=False).fit(shifted, regimes=labels)
    section = regime_section(model)
    ((regime, variable, target, evidence, _),) = section.rows
    assert (regime, variable, target) == ("drug", "level", "found")
    assert evidence > 10
    assert time_section(model) is None


def test_lags_are_listed_with_their_weights(table):
    late = table.assign(level=2 * table["dose"].shift(1, fill_value=0.0) + table["level"])
    model = OrderSearch(lags=1, random_state=0, verbose=False).fit(late)
    rows = time_section(model).rows
    found = {(cause, effect, lag): weight for cause, effect, lag, weight in rows}
    # The tolerance is four standard errors of a slope from 300 rows.
    assert found["dose", "level", 1] == pytest.approx(2.0, abs=0.25)
    assert regime_section(model) is None
    assert [one["title"] for one in sections_of(model)] == [time_section(model).title]


def test_plain_tables_have_no_further_sections(table):
    assert sections_of(OrderSearch(random_state=0, verbose=False).fit(table)) == []


def test_the_first_card_names_the_form_of_the_equations(table):
    from cosmodag.report import Evidence
    from cosmodag.report.facts import page_data

    bent = table.assign(level=table["dose"] ** 2 + 0.3 * table["level"])
    bent["group"] = np.where(bent["level"] > 1, "high", np.where(bent["dose"] > 0, "mid", "low"))
    model = BlockSearch(curves=True, random_state=0, verbose=False).fit(bent)
    told = str(page_data(model, Evidence.of(model))["story"])
    assert "a sum of curves and of effects of levels of its direct causes" in told
    late = OrderSearch(lags=1, random_state=0, verbose=False).fit(table)
    told = str(page_data(late, Evidence.of(late))["story"])
    assert "only through the lags of the graph" in told
    assert f"{table.shape[1]} variables at 2 times" in told
