"""The orders and regressions of the baselines agree with slow, independent computations."""

import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LassoLarsIC, LinearRegression

from cosmodag import (
    EmptyGraph,
    EqualVariance,
    R2Sort,
    RandomSort,
    VarianceSort,
    metrics,
    simulate,
)
from cosmodag.errors import CosmodagWarning, DataError
from cosmodag.graph.dags import is_dag
from cosmodag.learners.regression import regress_on_predecessors

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")

SORTERS = [VarianceSort, R2Sort, RandomSort, EqualVariance]
seeds = st.integers(0, 2**16)


@pytest.fixture(scope="module")
def data() -> simulate.Dataset:
    return simulate.load("n1000_d30_ER4_gauss", seed=11)


def centred(name: str, seed: int) -> np.ndarray:
    X = simulate.load(name, seed=seed).X
    return X - X.mean(axis=0)


# -- regression on predecessors


def adaptive_lasso_on_data(X: np.ndarray, order: np.ndarray, criterion: str) -> np.ndarray:
    """The regression of sortnregress as in its authors' code, on the rows themselves."""
    d = X.shape[1]
    weights = np.zeros((d, d))
    for k in range(1, d):
        before, target = order[:k], order[k]
        importance = np.abs(LinearRegression().fit(X[:, before], X[:, target]).coef_)
        lasso = LassoLarsIC(criterion=criterion).fit(X[:, before] * importance, X[:, target])
        weights[before, target] = lasso.coef_ * importance
    return weights


@pytest.mark.parametrize("criterion", ["bic", "aic"])
@pytest.mark.parametrize("name", ["n300_d20_ER4_gauss", "n300_d20_SF2_exp"])
def test_regression_equals_that_of_sortnregress(name, criterion):
    # Large units, because scikit-learn ends its path at an absolute tolerance.
    X = 1e3 * centred(name, seed=5)
    order = np.random.default_rng(0).permutation(X.shape[1])
    found = regress_on_predecessors(X, order, criterion)
    # Both are exact up to rounding, which the product XᵀX and the path amplify.
    np.testing.assert_allclose(found, adaptive_lasso_on_data(X, order, criterion), atol=1e-7)


def test_without_a_criterion_it_is_least_squares():
    X = centred("n200_d8_ER2_gauss", seed=0)
    order = np.random.default_rng(1).permutation(8)
    weights = regress_on_predecessors(X, order, "none")
    for k in range(1, 8):
        coefficients = np.linalg.lstsq(X[:, order[:k]], X[:, order[k]], rcond=None)[0]
        np.testing.assert_allclose(weights[order[:k], order[k]], coefficients, atol=1e-10)
    assert np.count_nonzero(weights) == 8 * 7 / 2


def test_a_milder_criterion_keeps_more():
    X = centred("n200_d15_ER2_gauss", seed=0)
    kept = [
        np.count_nonzero(regress_on_predecessors(X, np.arange(15), criterion))
        for criterion in ("bic", "aic", "none")
    ]
    assert kept[0] < kept[1] < kept[2]


@given(seed=seeds)
@settings(max_examples=15)
def test_regression_follows_the_units(seed):
    random = np.random.default_rng(seed)
    X = centred("n60_d8_ER2_gauss", seed=seed)
    units = np.exp(random.uniform(-8, 8, size=8))
    order = random.permutation(8)
    weights = regress_on_predecessors(X, order)
    rescaled = regress_on_predecessors(X * units, order)
    # Least-squares coefficients of standardised columns are either of order one or rounding errors.
    sizes = X.std(axis=0)
    in_sizes = weights * sizes[:, None] / sizes
    np.testing.assert_allclose(
        rescaled * (units * sizes)[:, None] / (units * sizes), in_sizes, atol=1e-8
    )


@given(seed=seeds, n=st.integers(2, 25), criterion=st.sampled_from(["bic", "aic", "none"]))
@settings(max_examples=30)
def test_regression_works_with_few_rows(seed, n, criterion):
    X = np.random.default_rng(seed).normal(size=(n, 12))
    X -= X.mean(axis=0)
    weights = regress_on_predecessors(X, np.arange(12), criterion)
    assert np.isfinite(weights).all()
    assert not np.tril(weights).any()
    if criterion != "none":
        predecessors = np.arange(12)
        crowded = 2 * predecessors > n - 1
        assert np.all(2 * np.count_nonzero(weights, axis=0)[crowded] <= n - 1)


def test_few_rows_still_find_arcs():
    data = simulate.load("n50_d60_ER2_gauss", seed=3)
    X = data.X - data.X.mean(axis=0)
    weights = regress_on_predecessors(X, np.argsort(X.var(axis=0)))
    # 0.89 to 0.96 over ten seeds; a random order gives 0.63.
    assert metrics.evaluate(data.graph, weights)["auc"] > 0.8


# -- orders


def test_variance_sort_sorts_by_variance(data):
    X = data.X * np.random.default_rng(0).uniform(0.1, 10, size=30)
    assert VarianceSort().fit(X).causal_order_ == np.argsort(X.var(axis=0)).tolist()


@pytest.mark.parametrize("scale", ["center", "standardize"])
def test_standardised_columns_are_tied_and_keep_their_places(data, scale):
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    assert VarianceSort(scale=scale).fit(X).causal_order_ == list(range(30))


@given(seed=seeds)
@settings(max_examples=10)
def test_r2_sort_sorts_by_the_r2_of_regressions(seed):
    X = simulate.load("n200_d10_ER2_exp", seed=seed).X.astype(np.float32).astype(np.float64)
    scores = [
        LinearRegression().fit(others, X[:, v]).score(others, X[:, v])
        for v in range(10)
        for others in [np.delete(X, v, axis=1)]
    ]
    found = np.array(scores)[R2Sort().fit(X).causal_order_]
    # Centring rounds to float32, so scores that differ by less may be in either order.
    assert np.all(np.diff(found) > -1e-6)


def test_r2_sort_does_not_depend_on_units(data):
    units = np.random.default_rng(0).uniform(0.1, 10, size=30)
    first, second = (R2Sort(threshold=0).fit(X) for X in (data.X, data.X * units))
    assert first.causal_order_ == second.causal_order_
    assert np.array_equal(first.adjacency_ != 0, second.adjacency_ != 0)


def test_r2_sort_puts_columns_that_others_determine_last():
    random = np.random.default_rng(0)
    X = random.normal(size=(100, 6))
    X[:, 1] = X[:, 0]
    X[:, 3] = 5.0
    X[:, 4] += X[:, 5]
    order = R2Sort().fit(X).causal_order_
    assert order[0] == 3  # the constant column, with R² = 0
    assert set(order[-2:]) == {0, 1}


def test_r2_sort_with_fewer_rows_than_columns_beats_chance():
    shares = []
    for seed in range(5):
        data = simulate.load("n50_d100_ER4_gauss", seed=seed)
        order = R2Sort(criterion="none").fit(data.X).causal_order_
        shares.append(metrics.order_divergence(data.graph, order) / data.graph.sum())
    # 0.20 ± 0.05 over twelve seeds; 0.58 with the pseudo-inverse, and 0.5 by chance.
    assert np.mean(shares) < 0.35


def top_down_on_data(X: np.ndarray) -> list[int]:
    """Top-down order by least squares on the rows, for every candidate at every step."""
    order: list[int] = []
    while len(order) < X.shape[1]:
        errors = {}
        for v in set(range(X.shape[1])) - set(order):
            coefficients = np.linalg.lstsq(X[:, order], X[:, v], rcond=None)[0]
            errors[v] = np.mean((X[:, v] - X[:, order] @ coefficients) ** 2)
        order.append(min(errors, key=errors.__getitem__))
    return order


@given(seed=seeds)
@settings(max_examples=15)
def test_equal_variance_equals_a_search_on_the_rows(seed):
    X = centred("n100_d9_ER2_gumbel", seed=seed)
    assert EqualVariance().fit(X).causal_order_ == top_down_on_data(X)


@pytest.mark.parametrize("name", ["ninf_d20_ER4_gauss", "ninf_d50_SF4_gauss"])
def test_equal_variance_is_exact_in_the_population(name):
    data = simulate.load(name, seed=2)
    model = EqualVariance(criterion="none", refine=None, threshold=1e-2).fit(data.X)
    assert metrics.order_divergence(data.graph, model.causal_order_) == 0
    # Data are rounded to float32, and variances are up to 1e4.
    np.testing.assert_allclose(model.raw_weights_, data.weights, atol=1e-2)
    assert np.array_equal(model.adjacency_ != 0, data.graph)


def test_equal_variance_with_few_rows_is_still_an_order():
    X = np.random.default_rng(0).normal(size=(4, 9)) * np.arange(9, 0, -1)
    model = EqualVariance().fit(X)
    assert sorted(model.causal_order_) == list(range(9))
    assert model.causal_order_[0] == int(np.argmin(X.var(axis=0)))
    assert np.isfinite(model.weights_).all()


def test_random_sort_is_random_and_repeatable(data):
    orders = [
        RandomSort(random_state=seed, criterion="none").fit(data.X[:, :12]).causal_order_
        for seed in (0, 0, 1)
    ]
    assert orders[0] == orders[1] != orders[2]
    for state in (None, np.random.default_rng(0), np.random.RandomState(0)):
        assert sorted(RandomSort(random_state=state).fit(data.X[:, :4]).causal_order_) == [
            0,
            1,
            2,
            3,
        ]
    with pytest.raises(DataError, match="random_state"):
        RandomSort(random_state="zero").fit(data.X)


# -- learners


def test_what_they_find_on_simulated_data(data):
    auc = {
        learner.__name__: metrics.evaluate(data.graph, model.raw_weights_)["auc"]
        for learner in [*SORTERS, EmptyGraph]
        for model in [learner().set_params(**seeded(learner)).fit(data.X)]
    }
    # Means over ten graphs: 0.94, 0.83, 0.62, 1.00 and ½, with standard deviations up to 0.05.
    assert auc["VarianceSort"] > 0.85
    assert 0.65 < auc["R2Sort"] < auc["VarianceSort"]
    assert 0.4 < auc["RandomSort"] < 0.75
    assert auc["EqualVariance"] > 0.97
    assert auc["EmptyGraph"] == 0.5


def seeded(learner: type) -> dict[str, int]:
    return {"random_state": 0} if learner is RandomSort else {}


@pytest.mark.parametrize("learner", [*SORTERS, EmptyGraph])
@pytest.mark.parametrize("scale", ["center", "standardize", "none"])
def test_awkward_columns_do_no_harm(learner, scale):
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 6)) * [1, 1e-3, 1e4, 1, 1, 1] + 100
    X[:, 3] = X[:, 0]
    X[:, 4] = X[:, 0] + X[:, 5]
    X[:, 5] = 7.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", CosmodagWarning)
        model = learner(threshold=0, scale=scale).fit(X)
    assert is_dag(model.adjacency_)
    assert not model.raw_weights_[5].any()
    assert not model.raw_weights_[:, 5].any()
    for found in (model.raw_weights_, model.predict(X), model.sample(10, random_state=0)):
        assert np.isfinite(found).all()


@pytest.mark.parametrize("learner", SORTERS)
def test_a_criterion_that_is_none_is_refused(learner, data):
    with pytest.raises(DataError, match=r"criterion is 'cv': it must be one of 'bic'"):
        learner(criterion="cv").fit(data.X)


def test_an_unscaled_fit_has_no_intercept():
    random = np.random.default_rng(0)
    X = random.normal(size=(500, 2)) + 50
    model = VarianceSort(scale="none", threshold=0, criterion="none").fit(X)
    u, v = model.causal_order_
    # In a regression through the origin, the mean of one column predicts that of the other.
    assert model.raw_weights_[u, v] == pytest.approx(1, abs=0.01)


def test_residuals_score_and_samples_of_the_right_graph(data):
    model = EqualVariance().fit(data.X)
    # The noise is N(0, 1): the score is −½ log 2πe = −1.419 per variable, up to 1/√(n·d).
    assert model.score(data.X) == pytest.approx(-1.419, abs=0.02)
    np.testing.assert_allclose(np.sqrt(model.noise_variances_), 1, atol=0.12)
    drawn = model.sample(20_000, random_state=0)
    # The standard error of a variance in the table is √(2/n) = 4.5%.
    np.testing.assert_allclose(drawn.var(axis=0) / data.X.var(axis=0), 1, atol=0.2)


def test_the_empty_graph_is_independent_normals(data):
    model = EmptyGraph().fit(data.X)
    expected = -0.5 * np.mean(np.log(2 * np.pi * data.X.var(axis=0)) + 1)
    assert model.score(data.X) == pytest.approx(expected, abs=1e-5)
    np.testing.assert_allclose(model.predict(data.X), np.tile(data.X.mean(axis=0), (1000, 1)))
    scores = metrics.evaluate(data.graph, model.raw_weights_)
    assert scores["nhd"] == 4
    assert np.isnan(scores["precision"])


@pytest.mark.parametrize("units", [1.0, 1e-3, 1e4])
@pytest.mark.parametrize(
    "learner",
    [
        VarianceSort,
        R2Sort,
        partial(RandomSort, random_state=0),
        partial(EqualVariance, refine=None),
    ],
)
def test_a_required_arc_without_effect_changes_no_other_weight(learner, units):
    random = np.random.default_rng(0)
    a, b = random.normal(size=(2, 400)) * [[1.0], [0.5]]
    c = 2 * a + random.normal(size=400)
    X = np.column_stack([a, b, c, c - a + 2 * random.normal(size=400)]) * units
    X[:, 0] /= units**2
    free = learner(threshold=0.0).fit(X)
    tail, head = (free.causal_order_.index(v) for v in (1, 2))
    arc = (1, 2) if tail < head else (2, 1)
    bound = learner(threshold=0.0, knowledge={"required_edges": [arc]}).fit(X)
    others = np.ones((4, 4), bool)
    others[arc] = False
    np.testing.assert_allclose(bound.weights_[others], free.weights_[others], rtol=1e-6)
    sizes = X.std(axis=0)
    assert abs(bound.weights_[arc]) * sizes[arc[0]] < 0.3 * sizes[arc[1]]


@pytest.mark.parametrize("learner", [VarianceSort, EqualVariance])
def test_a_required_arc_has_what_other_causes_leave(learner):
    """In a chain a → b → c, the arc a → c is required, but b explains all their dependence."""
    random = np.random.default_rng(0)
    a = random.normal(size=2000)
    b = 1.5 * a + random.normal(size=2000)
    c = 1.5 * b + random.normal(size=2000)
    known = {"required_edges": [(0, 2)]}
    model = learner(threshold=0.0, knowledge=known).fit(np.column_stack([a, b, c]))
    assert abs(model.weights_[0, 2]) < 0.1
    assert model.weights_[1, 2] == pytest.approx(1.5, abs=0.1)
