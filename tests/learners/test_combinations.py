"""Combinations of features: units, names, gaps, interventions, knowledge and saving."""

import numpy as np
import pandas as pd
import pytest

import cosmodag
from cosmodag import Cosmo, EmptyGraph, Knowledge, Notears, OrderSearch, VarianceSort, simulate
from cosmodag.assess.bootstrapping import bootstrap
from cosmodag.data.diagnose import after_fit
from cosmodag.data.diagnose.findings import Finding
from cosmodag.data.interventions import take_column, targets_of
from cosmodag.errors import DataError
from cosmodag.fit.dag.known import Known
from learner_catalogue import CATALOGUE, chain_table

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")

TABLE = chain_table()
TARGETS = ["b", "", "", "d;e"] * 30
TOLD = Knowledge(required_edges=[("a", "b")], forbidden_edges=[("a", "e")])


def with_gaps(share: float = 0.1) -> pd.DataFrame:
    return TABLE.mask(np.random.default_rng(1).random(TABLE.shape) < share)


# Units, names and the order of columns.


@pytest.mark.parametrize("learner", [VarianceSort(), OrderSearch(random_state=0)])
@pytest.mark.parametrize("told", [None, TARGETS])
def test_a_factor_and_an_offset_are_those_of_the_predictions(learner, told):
    factor, offset = 3.0, np.array([100.0, -50.0, 7.0, 0.0, 20.0])
    model = learner.fit(TABLE, interventions=told)
    before = model.predict(TABLE), model.score(TABLE), model.noise_variances_
    other = learner.fit(factor * TABLE + offset, interventions=told)
    np.testing.assert_allclose(
        other.predict(factor * TABLE + offset), factor * before[0] + offset, rtol=1e-4, atol=1e-3
    )
    assert other.score(factor * TABLE + offset) == pytest.approx(before[1] - np.log(factor))
    np.testing.assert_allclose(other.noise_variances_, factor**2 * before[2], rtol=1e-4)


def test_the_unit_is_that_of_the_small_columns():
    """Noise of one scale has scale one in training, whatever the units and effects are."""
    model = VarianceSort().fit(7 * TABLE)
    np.testing.assert_allclose(model.residuals_.std(axis=0), 1.0, atol=0.25)


@pytest.mark.parametrize("scale", ["center", "standardize"])
def test_a_constant_column_changes_nothing_else(scale):
    learner = VarianceSort(scale=scale)
    reference = learner.fit(TABLE).adjacency_
    model = learner.fit(TABLE.assign(f=4.5))
    np.testing.assert_allclose(model.adjacency_[:5, :5], reference, atol=1e-6)
    assert not model.adjacency_[5].any()
    assert np.all(model.predict(TABLE.assign(f=4.5))["f"] == 4.5)


def test_names_and_the_order_of_columns_change_nothing_else():
    learner = OrderSearch(noise="gaussian", knowledge=TOLD, random_state=0)
    learner.fit(TABLE, interventions=TARGETS)
    reference, weights = learner.fitted_.equivalence_class(), learner.adjacency_
    places = [3, 0, 4, 1, 2]
    learner.fit(TABLE.iloc[:, places], interventions=TARGETS)
    np.testing.assert_array_equal(
        learner.fitted_.equivalence_class(), reference[np.ix_(places, places)]
    )
    upper = Knowledge(required_edges=[("A", "B")], forbidden_edges=[("A", "E")])
    learner.set_params(knowledge=upper)
    learner.fit(TABLE.rename(columns=str.upper), interventions=list(map(str.upper, TARGETS)))
    np.testing.assert_array_equal(learner.adjacency_, weights)


@pytest.mark.parametrize(
    "options",
    [
        {"verbose": False},
        {"max_time": 1e6},
        {"device": "cpu"},
        {"knowledge": Knowledge()},
        {"missing": "drop"},
        {"missing": "impute"},
        {"threshold": 0.0},
        {"checkpoint": "folder"},
    ],
    ids=lambda options: "-".join(options),
)
def test_options_that_have_nothing_to_do_change_no_bit(options, tmp_path):
    if "checkpoint" in options:
        options = {"checkpoint": tmp_path}
    learner = Cosmo(epochs=10, random_state=0)
    reference = learner.fit(TABLE)
    found = (reference.adjacency_, reference.raw_weights_, reference.noise_variances_)
    other = Cosmo(epochs=10, random_state=0).set_params(**options).fit(TABLE)
    for one, two in zip(
        found, (other.adjacency_, other.raw_weights_, other.noise_variances_), strict=True
    ):
        np.testing.assert_array_equal(one, two)


def test_weights_are_read_out_at_the_last_temperature():
    """At the end of training, W is zero where the priorities place v before u."""
    model = Cosmo(epochs=30, refine=None, random_state=0).fit(TABLE)
    settings = model.settings_for(5)
    differences = model.priorities_ - model.priorities_[:, None]
    against = differences < settings["shift"] - 20 * settings["temperature_end"]
    assert against.any()
    assert np.abs(model.raw_weights_[against]).max() < 1e-6


# Interventions.


@pytest.mark.parametrize("shift", [0.0, 8.0])
def test_shifted_interventions_change_no_equation(shift):
    data = simulate.interventional("n400_d6_ER2_gauss", rows=60, shift=shift, seed=1)
    learner = OrderSearch(noise="gaussian", random_state=0)
    model = learner.fit(10 * data.X + 30, interventions=data.targets)
    np.testing.assert_allclose(model.adjacency_, data.weights, atol=0.15)
    np.testing.assert_allclose(model.noise_variances_, 100.0, rtol=0.25)
    np.testing.assert_allclose(model.predict(np.full((1, 6), 30.0)), 30.0, atol=1.5)


@pytest.mark.parametrize(
    "learner",
    [Notears(lambda1=0.0), OrderSearch(noise="gaussian", random_state=0)],
    ids=lambda learner: type(learner).__name__,
)
def test_values_that_were_set_far_off_move_no_weight(learner):
    random = np.random.default_rng(0)
    cause, targets = random.normal(size=300), np.zeros((300, 2), bool)
    targets[100:200, 0] = targets[200:, 1] = True
    cause[100:200] += 30
    effect = 1 + cause + random.normal(size=300)
    effect[200:] = 40 + random.normal(size=100)
    learner.set_params(knowledge=Knowledge(required_edges=[(0, 1)]))
    model = learner.fit(np.column_stack([cause, effect]), interventions=targets)
    assert model.adjacency_[0, 1] == pytest.approx(1.0, abs=0.02)
    assert model.noise_variances_[1] == pytest.approx(1.0, rel=0.2)
    assert model.predict([[0.0, 0.0]])[0, 1] == pytest.approx(1.0, abs=0.3)


def test_a_table_of_targets_is_matched_by_name():
    mask = pd.DataFrame(False, index=range(2), columns=["b", "a"])
    mask.loc[1, "a"] = True
    found = targets_of(mask, ["a", "b"], 2)
    assert found is not None
    assert found.tolist() == [[False, False], [True, False]]


def test_targets_are_found_in_numbers_with_gaps_and_in_arrays():
    expected = [[False, False], [False, True]]
    for entries in (pd.Series([None, 7157]), [None, np.array(["7157"])], [np.array([]), (1,)]):
        found = targets_of(entries, ["a", "7157"], 2)
        assert found is not None
        assert found.tolist() == expected


def test_repeated_names_beside_targets_are_refused():
    table = pd.DataFrame(np.eye(3), columns=["a", "a", "target"])
    with pytest.raises(DataError, match="the table has more than one column named 'a'"):
        take_column(table, "target")
    with pytest.raises(DataError, match="interventions has more than one column named 'a'"):
        targets_of(table, ["a", "b", "target"], 3)


def test_numbers_of_targets_may_be_floats():
    """A column of numbers with empty entries holds floats."""
    found = targets_of(pd.Series([2, None, 10]), ["10", "2"], 3)
    assert found.tolist() == [[False, True], [False, False], [True, False]]
    found = targets_of(np.array([1.0, np.nan, 0.0]), ["x0", "x1"], 3)
    assert found.tolist() == [[False, True], [False, False], [True, False]]


def test_targets_may_be_arrays_as_columns_of_lists_in_parquet_are():
    found = targets_of([np.array(["b", "a"]), np.array([]), np.array([1])], ["a", "b"], 3)
    assert found.tolist() == [[True, True], [False, False], [False, True]]


def test_a_table_of_targets_with_missing_entries_is_refused():
    mask = pd.DataFrame({"a": [True, pd.NA], "b": [False, False]}, dtype="boolean")
    with pytest.raises(DataError, match="other than true and false"):
        targets_of(mask, ["a", "b"], 2)


# Knowledge.

# Learners that are stopped early without refinement are left out, because any change of the problem
# may lead them to another minimum; networks and curves have weights of another kind.
SETTLED = (
    *("Cosmo", "Cosmo-searched", "OrderSearch", "BlockSearch", "Dagma", "EqualVariance"),
    *("VarianceSort", "VarianceSort-least-squares", "VarianceSort-pruned", "R2Sort", "RandomSort"),
)


@pytest.mark.parametrize(
    ("name", "options", "tolerance"),
    [
        *((name, {}, 1e-8) for name in SETTLED),
        ("VarianceSort", {"threshold": 0.0}, 1e-8),
        # It ends when the relative decrease of the loss is below 1e-8; weights err by its root.
        ("NoCurl", {}, 1e-3),
    ],
)
def test_a_required_arc_without_effect_changes_no_other_weight(name, options, tolerance):
    """The column is uncorrelated with all others in these rows, up to rounding."""
    others = np.column_stack([np.ones(len(TABLE)), TABLE])
    drawn = np.random.default_rng(5).normal(size=len(TABLE))
    column = drawn - others @ np.linalg.lstsq(others, drawn)[0]
    table = TABLE.assign(f=0.5 * column)
    plain = CATALOGUE[name]().set_params(**options).fit(table).adjacency_
    assert plain.any()
    known = Knowledge(required_edges=[("f", "c")])
    told = CATALOGUE[name]().set_params(knowledge=known, **options).fit(table)
    assert ("f", "c") in told.graph_.edges
    weights = told.adjacency_.copy()
    # Dagma ends at a small gradient, whereas the others solve equations.
    assert abs(weights[5, 2]) < max(1e-6, tolerance)
    weights[5, 2] = plain[5, 2]
    np.testing.assert_allclose(weights, plain, atol=tolerance)


# Gaps.


@pytest.mark.parametrize("learner", [OrderSearch(random_state=0), VarianceSort()])
def test_filling_in_and_dropping_agree_where_gaps_are_random(learner):
    """One entry in seven is missing completely at random, so 46% of the rows are complete.

    Both methods estimate the same weights. Imputation also uses the dropped rows, so the difference
    varies by less than the standard error of the estimate from complete rows, √(noise variance /
    (rows × variance of the cause)). One in 16,000 weights exceeds four standard errors by chance,
    and eight weights are compared.
    """
    table = chain_table(2000, seed=4)
    gaps = np.random.default_rng(4).random(table.shape) < 1 / 7
    complete = np.count_nonzero(~gaps.any(axis=1))
    dropped, filled = (
        learner.set_params(missing=missing).fit(table.mask(gaps)).adjacency_.copy()
        for missing in ("drop", "impute")
    )
    np.testing.assert_array_equal(filled != 0, np.eye(5, k=1, dtype=bool))
    np.testing.assert_array_equal(dropped != 0, filled != 0)
    errors = 1 / np.sqrt(complete * table.var().to_numpy()[:, None])  # the noise variance is 1
    assert np.all(np.abs(filled - dropped) < 4 * errors)


def test_entries_that_were_filled_in_do_not_count():
    table = with_gaps(0.3)
    model = EmptyGraph(missing="impute").fit(table)
    errors = (table - model.predict(TABLE)) ** 2
    np.testing.assert_allclose(model.noise_variances_, errors.mean(), rtol=1e-4)


def test_gaps_beside_interventions_are_less_evidence():
    table = with_gaps()
    absent = table.isna().to_numpy()
    targets = targets_of(TARGETS, list("abcde"), len(table))
    filled = table.fillna(0.0).to_numpy()
    whole = Known(targets=targets).moments(filled)
    holed = Known(targets=targets, absent=absent).moments(filled)
    counted = (~targets & ~absent).sum(axis=0)
    np.testing.assert_allclose(holed.own_rows, counted * (1 - absent.mean()))
    assert np.all(holed.own_rows < whole.own_rows)


# Resamples.


def test_a_repeated_table_is_surer():
    """Resamples of forty copies of the rows have as many rows, so they hardly differ."""
    random = np.random.default_rng(3)
    cause = random.normal(size=60)
    X = np.column_stack([cause, 0.45 * cause + random.normal(size=60)])
    learner = OrderSearch(noise="gaussian", random_state=0)
    once, often = (
        bootstrap(learner, rows, n=20, random_state=0).edge_shares[0, 1]
        for rows in (X, np.tile(X, (40, 1)))
    )
    assert 0.2 < once < 1.0
    assert often == 1.0


# Saving.


@pytest.mark.parametrize(
    "learner",
    [Cosmo(epochs=10, random_state=0), OrderSearch(random_state=0), VarianceSort()],
    ids=lambda learner: type(learner).__name__,
)
@pytest.mark.parametrize("residuals", [False, True])
def test_a_loaded_model_answers_as_the_one_that_was_saved(learner, residuals, tmp_path):
    learner.set_params(knowledge=TOLD, missing="impute")
    model = learner.fit(with_gaps().assign(f=1.0), interventions=TARGETS)
    model.save(tmp_path / "model", residuals=residuals)
    again = cosmodag.load(tmp_path / "model")
    table = TABLE.assign(f=1.0)
    np.testing.assert_array_equal(again.predict(table), model.predict(table))
    assert again.score(table) == model.score(table)
    assert again.causal_order_ == model.causal_order_
    assert again.arrow_basis_ == model.arrow_basis_
    assert again.cpdag_ == model.cpdag_
    for name in ("weight", "standardised", "basis", "class"):
        assert list(again.graph_.edges(data=name)) == list(model.graph_.edges(data=name))
    if residuals:
        np.testing.assert_array_equal(again.sample(5, 0), model.sample(5, 0))


# Findings.


def test_curves_are_not_taken_for_hidden_causes():
    random = np.random.default_rng(0)
    X = random.normal(size=(1000, 6))
    X[:, :5] += random.normal(size=(1000, 1)) * [1, -1, 1.2, 0.8, 1]
    arcs = np.triu(np.ones((6, 6), bool), 1)
    arcs[:, 5] = False
    names = list("abcdef")
    curved = Finding("curved", ("a", "b"), 1.0, "warning", "The relation is curved.")
    assert [one.name for one in after_fit(X, names, arcs, range(6))] == ["hidden_causes"]
    assert not after_fit(X, names, arcs, range(6), known=[curved])
