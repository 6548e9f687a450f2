"""Kinds of columns in learners: support for categories, messages, and saved levels."""

import warnings

import numpy as np
import pandas as pd
import pytest

import cosmodag
from cosmodag import BlockSearch, Cosmo, EmptyGraph, OrderSearch
from cosmodag.assess.bootstrapping import bootstrap
from cosmodag.errors import CosmodagWarning, DataError, DataWarning
from cosmodag.fit.missing import complete
from cosmodag.fit.prepare import prepare
from cosmodag.selection import held_out


def frame(n=150):
    """A table of numbers, a binary column, a category that depends on x, and ordered levels."""
    random = np.random.default_rng(3)
    x = random.normal(size=n)
    level = np.digitize(x + 0.3 * random.normal(size=n), [-0.5, 0.5])
    return pd.DataFrame(
        {
            "x": x,
            "smoker": np.where(random.random(n) < 0.5, "yes", "no"),
            "region": np.array(["west", "east", "south"])[level],
            "size": pd.Categorical(
                random.choice(["s", "m", "l"], n), ["s", "m", "l"], ordered=True
            ),
        }
    )


@pytest.fixture(scope="module")
def searched():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CosmodagWarning)
        return OrderSearch(random_state=0).fit(frame())


def test_learners_of_numbers_refuse_categories_and_name_one_that_takes_them():
    with pytest.raises(DataError, match=r"EmptyGraph .*'region' \(3 levels\).*OrderSearch.*--drop"):
        EmptyGraph().fit(frame())


def test_training_alone_takes_numbers_only():
    with pytest.raises(DataError, match="Cosmo without refinement takes numbers only"):
        cosmodag.Cosmo(refine=None).fit(frame())


def test_text_is_said_once_and_not_if_the_user_said_it():
    table = frame().drop(columns=["region"])
    with pytest.warns(DataWarning) as noted:
        EmptyGraph().fit(table)
    texts = [str(one.message) for one in noted]
    assert sum("Text columns are treated as categories" in text for text in texts) == 1
    assert any("'smoker' (0 = no, 1 = yes)" in text for text in texts)
    assert any("'size' (0 = s, 1 = m, 2 = l) as the numbers" in text for text in texts)
    with pytest.warns(DataWarning) as noted:
        EmptyGraph(kinds={"smoker": "binary"}).fit(table)
    assert not any("Text columns are treated as categories" in str(one.message) for one in noted)


def test_levels_seen_once_are_kept_and_named():
    table = frame()
    table.loc[0, "region"] = "north"
    with pytest.warns(DataWarning, match="single row \\('region': 'north'\\)"):
        given = prepare(OrderSearch(), table)
    assert given.kinds[2].levels == ("east", "north", "south", "west")


@pytest.mark.parametrize("learner", [OrderSearch, BlockSearch, Cosmo])
def test_a_category_of_rare_levels_is_refused_before_the_fit(learner, monkeypatch):
    monkeypatch.setattr("cosmodag.learners.structure_learner.fit_prepared", pytest.fail)
    table = np.random.default_rng(0).normal(size=(100, 3))
    with pytest.raises(DataError, match=r"'x1' has 100 levels in 100 rows.*--drop x1"):
        learner(kinds=["auto", "categorical", "auto"]).fit(table)
    table[:, 1] = np.arange(100) % 50
    assert prepare(learner(kinds=["auto", "categorical", "auto"]), table).kinds[1].levels[49] == 49


def test_prepared_tables_hold_the_numbers_of_levels():
    table = frame()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CosmodagWarning)
        given = prepare(OrderSearch(), table)
        scaled = prepare(OrderSearch(scale="standardize"), table)
    for prepared in (given, scaled):
        numbers = prepared.preparation.undo(prepared.data)[:, 2].round().astype(int)
        levels = [prepared.kinds[2].levels[k] for k in numbers]
        assert levels == table["region"].tolist()


def test_the_unit_of_numbers_does_not_depend_on_categories():
    table = frame()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CosmodagWarning)
        whole = prepare(OrderSearch(), table).preparation
        part = prepare(OrderSearch(), table.drop(columns="region")).preparation
    assert whole.unit == part.unit
    assert whole.means[2] == 0


def test_new_rows_are_matched_by_label(searched):
    new = frame()[["x", "smoker", "region", "size"]].iloc[[3]]
    whole = searched.predict(frame()).iloc[[3]]
    alone = searched.predict(new)
    np.testing.assert_allclose(alone["x"], whole["x"])
    assert alone["region"].tolist() == whole["region"].tolist()
    assert set(searched.sample(30, random_state=0)["region"]) <= {"east", "south", "west"}
    with pytest.raises(DataError, match="'region' has no level 'north'"):
        searched.predict(new.assign(region="north"))


def test_variables_are_set_to_labels(searched):
    drawn = searched.sample(20, random_state=0, do={"region": "east", "smoker": "yes"})
    assert set(drawn["region"]) == {"east"}
    assert set(drawn["smoker"]) == {"yes"}
    for wrong in ("north", 7):
        with pytest.raises(DataError, match=r"'region' has (no level 'north'|the number 7)"):
            searched.sample(2, do={"region": wrong})


def test_effects_of_categories_compare_two_levels():
    known = {"exogenous": ["region"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CosmodagWarning)
        model = OrderSearch(random_state=0, knowledge=known).fit(frame())
    found = model.effect("region", "x", values=("west", "south"))
    means = frame().groupby("region")["x"].mean()
    assert found.estimate == pytest.approx(means["south"] - means["west"], abs=0.05)
    assert "from west to south" in str(found)
    with pytest.raises(DataError, match="two of its levels"):
        model.effect("region", "x")
    with pytest.raises(DataError, match="has no mean"):
        model.effect("x", "region")
    with pytest.raises(DataError, match="numbers only, but 'region'"):
        model.validate()


@pytest.mark.parametrize("learner", [OrderSearch, cosmodag.Cosmo])
def test_kinds_are_saved(learner, tmp_path):
    asked = {"size": ["s", "m", "l"], "region": "categorical"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CosmodagWarning)
        model = learner(random_state=0, kinds=asked).fit(frame())
    model.save(tmp_path / "model.safetensors")
    again = cosmodag.load(tmp_path / "model.safetensors")
    assert again.kinds_ == model.kinds_
    assert again.kinds == asked
    pd.testing.assert_frame_equal(again.predict(frame()), model.predict(frame()))


def test_missing_levels_are_imputed_as_levels():
    table, full = frame(), frame()
    table.loc[::6, "region"] = None
    table.loc[1::6, "size"] = None
    table.loc[2::6, "x"] = np.nan
    model = OrderSearch(missing="impute", random_state=0)
    done = complete(model, table, None)
    kinds, X = done.table.kinds, done.table.X
    assert [kind.kind for kind in kinds] == ["continuous", "binary", "categorical", "ordinal"]
    assert set(X[:, 2]) == {0, 1, 2}
    assert set(X[:, 3]) == {0, 1, 2}
    drawn = np.array(kinds[2].levels)[X[::6, 2].astype(int)]
    # x, on which the region depends, is not missing; by chance, two in three would be wrong.
    assert np.mean(drawn == full.loc[::6, "region"]) > 0.5
    assert done.absent.sum() == table.isna().sum().sum()
    with pytest.raises(DataError, match="with interventions takes numbers only, but 'region'"):
        complete(model, table, ["x"] + [None] * (len(table) - 1))


def test_folds_and_resamples_keep_all_levels():
    table = frame(60)
    table.loc[:2, "region"] = "north"  # a level that some folds and resamples lack
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CosmodagWarning)
        assert np.isfinite(held_out(OrderSearch(random_state=0), table, folds=4)).all()
        found = bootstrap(OrderSearch(random_state=0), table, n=6, random_state=0, verbose=False)
    assert len(found.done) == 6


def test_numbers_that_name_categories():
    random = np.random.default_rng(0)
    ward = random.integers(1, 5, 120)
    X = np.column_stack([np.array([0, 4, -4, 1])[ward - 1] + random.normal(size=120), ward])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CosmodagWarning)
        plain = OrderSearch(noise="gaussian", random_state=0).fit(X)
        model = OrderSearch(noise="gaussian", random_state=0, kinds=[None, "categorical"]).fit(X)
    assert plain.kinds_[1].kind == "ordinal"
    assert model.kinds_[1].levels == (1, 2, 3, 4)
    assert model.edges_.nnz == 1
    assert model.score(X) > plain.score(X)
    with pytest.raises(DataError, match="has no level 9"):
        model.predict(np.array([[0.5, 9.0], [1.0, 1.0]]))


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_declared_counts_and_binary_columns_may_have_missing_values():
    random = np.random.default_rng(0)
    x = random.normal(size=(120, 2))
    table = pd.DataFrame({"x": x[:, 0], "visits": random.poisson(np.exp(1 + x[:, 0]))}, dtype=float)
    table["smoker"] = (x[:, 1] > 0).astype(float)
    table.iloc[::7, 1] = table.iloc[1::7, 2] = np.nan
    declared = {"visits": "count", "smoker": "binary"}
    model = OrderSearch(missing="impute", random_state=0).fit(table)
    again = OrderSearch(missing="impute", kinds=declared, random_state=0).fit(table)
    assert [kind.kind for kind in again.kinds_] == ["continuous", "count", "binary"]
    np.testing.assert_array_equal(again.adjacency_, model.adjacency_)
