"""The search by entropy: its score by definition, its guarantees, and its results."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from cosmodag import simulate
from cosmodag.errors import DataError
from cosmodag.graph.dags import is_dag
from cosmodag.metrics import evaluate
from cosmodag.search.constraints import Constraints
from cosmodag.search.entropy.measure import GAUSSIAN_ENTROPY, entropy_parts, non_gaussianity
from cosmodag.search.gaussian_scores import growing_penalty
from cosmodag.search.graph_search import Decided
from cosmodag.search.non_gaussian import entropy_penalty, search_non_gaussian
from cosmodag.search.search_run import Run

Table = NDArray[np.float64]


def plain_entropy(residuals: Table) -> float:
    u = (residuals - residuals.mean()) / residuals.std()
    tails = np.mean(np.log(np.cosh(u))) - 0.37457
    skew = np.mean(u * np.exp(-(u**2) / 2))
    gaussian = np.log(residuals.std()) + 0.5 * np.log(2 * np.pi * np.e)
    return float(gaussian - 79.047 * tails**2 - 7.4129 * skew**2)


def entropy(column: Table) -> float:
    deviation, negentropy = entropy_parts(np.ascontiguousarray(column), np.ones(len(column)))
    return float(np.log(deviation)) + GAUSSIAN_ENTROPY - negentropy


def residuals_on(X: Table, child: int, parents: list[int]) -> Table:
    design = np.column_stack([X[:, parents], np.ones(len(X))])
    return X[:, child] - design @ np.linalg.lstsq(design, X[:, child], rcond=None)[0]


def plain_parents(X: Table, child: int, candidates: list[int], penalty: float) -> list[int]:
    """Grow while gains exceed the smaller penalty, shrink while losses are below the penalty."""

    def cost(parents: list[int]) -> float:
        return 0.5 * len(X) * float(np.log(residuals_on(X, child, parents).var()))

    parents: list[int] = []
    while rest := [u for u in candidates if u not in parents]:
        best = min(rest, key=lambda u: cost([*parents, u]))
        if cost(parents) - cost([*parents, best]) <= growing_penalty(penalty, X.shape[1]):
            break
        parents.append(best)
    while parents:
        worst = min(parents, key=lambda u: cost([p for p in parents if p != u]))
        fewer = [p for p in parents if p != worst]
        if cost(fewer) - cost(parents) > penalty:
            break
        parents = fewer
    return parents


def standardised(X: Table) -> Table:
    return np.asarray((X - X.mean(axis=0)) / X.std(axis=0))


def search(X: Table, seed: int = 0, **options: object) -> Decided:
    starts = options.pop("starts", {})
    arcs = {name: options.pop(name, None) for name in ("support", "required", "before")}
    names = {"restarts", "should_stop", "on_progress"} & options.keys()
    run = Run(np.random.default_rng(seed), **{name: options.pop(name) for name in names})
    return search_non_gaussian(X, starts, run, constraints=Constraints(**arcs), **options)


def exponential_chain(rows: int, length: int = 5, seed: int = 0) -> Table:
    X = np.random.default_rng(seed).exponential(size=(rows, length))
    for v in range(1, length):
        X[:, v] += X[:, v - 1]
    return standardised(X)


def linear_table(rows: int, variables: int, seed: int) -> Table:
    random = np.random.default_rng(seed)
    weights = np.triu(random.uniform(-1.5, 1.5, (variables, variables)), 1)
    weights *= random.random(weights.shape) < 0.5
    X = random.exponential(size=(rows, variables)) @ np.linalg.inv(np.eye(variables) - weights)
    return np.asarray(
        X[:, random.permutation(variables)] * 10.0 ** random.uniform(-2, 2, variables)
    )


@pytest.mark.parametrize("noise", ["normal", "exponential", "gumbel", "standard_cauchy"])
def test_entropy_is_the_formula(noise: str) -> None:
    table = 3.0 * getattr(np.random.default_rng(0), noise)(size=(257, 4)) - 5.0
    if noise == "standard_cauchy":
        table = np.clip(table, -300, 300)
    for column in table.T:
        assert entropy(column) == pytest.approx(plain_entropy(column), rel=1e-10, abs=1e-10)


def test_entropy_of_known_distributions() -> None:
    random = np.random.default_rng(0)
    gaussian = 0.5 * np.log(2 * np.pi * np.e)
    assert entropy(random.normal(size=200_000)) == pytest.approx(gaussian, abs=5e-3)
    assert entropy(10 * random.normal(size=200_000)) == pytest.approx(
        gaussian + np.log(10), abs=5e-3
    )
    uniform = random.uniform(-1, 1, 200_000)
    assert np.log(2) < entropy(uniform) < gaussian + np.log(uniform.std())
    assert entropy_parts(np.ones(5), np.ones(5)) == (0.0, 0.0)


def test_gain_is_the_entropy_below_the_gaussian_one() -> None:
    table = np.random.default_rng(1).exponential(size=(300, 3)) * [1.0, 10.0, 0.1]
    gaussian = np.log(table.std(axis=0)) + 0.5 * np.log(2 * np.pi * np.e)
    below = gaussian - [entropy(column) for column in table.T]
    assert non_gaussianity(table).gain == pytest.approx(300 * below.sum())


@settings(max_examples=15)
@given(variables=st.integers(1, 6), seed=st.integers(0, 10_000))
def test_score_graph_and_weights_are_those_of_the_definition(variables: int, seed: int) -> None:
    X = linear_table(120, variables, seed)
    found = search(X)
    scaled, weights = standardised(X), found.weights.toarray()
    score, penalty = 0.0, entropy_penalty(len(X), variables)
    for place, child in enumerate(found.order):
        parents = plain_parents(scaled, child, list(found.order[:place]), penalty)
        assert sorted(parents) == np.flatnonzero(weights[:, child]).tolist()
        score -= len(X) * plain_entropy(residuals_on(scaled, child, parents))
        score -= penalty * len(parents)
        noise = X[:, child] - X @ weights[:, child]
        np.testing.assert_allclose(
            noise - noise.mean(), residuals_on(X, child, parents), atol=1e-8 * X[:, child].std()
        )
    assert found.total == pytest.approx(score, rel=1e-9)


def test_recovers_a_standardised_exponential_chain() -> None:
    found = search(exponential_chain(1000))
    assert found.order.tolist() == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal(found.weights.toarray() != 0, np.eye(5, k=1) != 0)


@pytest.mark.parametrize("name", ["n1000_d20_ER2_gumbel", "n1000_d30_ER4_exp"])
def test_recovers_standardised_graphs(name: str) -> None:
    data = simulate.load(name, seed=7)
    found = search(standardised(np.asarray(data.X)))
    scores = evaluate(data.graph, found.weights.toarray(), threshold=0.0)
    assert scores["auc"] > 0.99
    assert scores["nhd"] < 0.1


def test_same_seed_same_answer_and_units_do_not_matter() -> None:
    X = linear_table(200, 8, 3)
    factors = 2.0 ** np.random.default_rng(0).integers(-20, 20, 8)
    first, again, scaled = search(X), search(X), search(X * factors)
    for other in (again, scaled):
        np.testing.assert_array_equal(first.order, other.order)
        assert first.total == other.total
    np.testing.assert_array_equal(first.weights.toarray(), again.weights.toarray())
    expected = first.weights.toarray() * factors / factors[:, None]
    np.testing.assert_array_equal(expected, scaled.weights.toarray())


def test_knowledge_is_respected() -> None:
    X = exponential_chain(500)
    before = np.zeros((5, 5), bool)
    before[4, :4] = True
    found = search(X, before=before, starts={"against it": np.arange(5)})
    assert found.order[0] == 4

    required = np.zeros((5, 5), bool)
    required[4, 0] = required[0, 2] = True
    found = search(X, required=required)
    stored = found.weights.tocoo()
    arcs = set(zip(*(axis.tolist() for axis in stored.coords), strict=True))
    assert {(4, 0), (0, 2)} <= arcs
    assert is_dag(found.weights.toarray())

    support = np.zeros((5, 5), bool)
    support[1, 0] = support[2, 1] = True
    found = search(X, support=support)
    assert set(zip(*np.nonzero(found.weights.toarray()), strict=True)) <= {(1, 0), (2, 1)}

    with pytest.raises(DataError, match="cycle"):
        search(X, before=before, required=before.T)
    with pytest.raises(DataError, match="shape"):
        search(X, support=np.ones((3, 3), bool))
    with pytest.raises(DataError, match="once"):
        search(X, starts={"short": [0, 1]})
    with pytest.raises(DataError, match="reserved for a start"):
        search(X, starts={"exogenous-first": np.arange(5)})


def test_rows_that_set_a_variable_do_not_count_in_its_equation() -> None:
    random = np.random.default_rng(0)
    X = random.exponential(size=(600, 3))
    counted = np.ones((600, 3))
    X[:, 1] += X[:, 0]
    X[400:, 1] = random.normal(size=200) * 3
    counted[400:, 1] = 0
    X[:, 2] += X[:, 1]
    found = search(X, counted=counted)
    assert found.order.tolist() == [0, 1, 2]
    expected = np.polyfit(X[:400, 0], X[:400, 1], 1)[0]
    assert found.weights.toarray()[0, 1] == pytest.approx(expected)

    half = search(X, counted=np.full((600, 3), 0.5), penalty=5.0)
    full = search(X, penalty=10.0)
    assert 2 * half.total == pytest.approx(full.total)
    with pytest.raises(DataError, match="weights"):
        search(X, counted=np.zeros((600, 3)))


def test_stops_when_asked_with_a_valid_result() -> None:
    X = linear_table(100, 12, 0)
    calls = iter([False] * 5)
    found = search(X, starts={"given": np.arange(12)}, should_stop=lambda: next(calls, True))
    assert found.ended_early
    assert found.total >= max(entry["before"] for entry in found.report)
    assert not search(X).ended_early


def test_progress_never_falls() -> None:
    seen: list[tuple[int, float]] = []
    found = search(linear_table(100, 8, 1), on_progress=lambda *made: seen.append(made))
    scores = [score for _, score in seen]
    np.testing.assert_array_less(scores[:-1], np.array(scores[1:]) + 1e-6)
    assert scores[-1] == pytest.approx(found.total)


@pytest.mark.parametrize("rows", [2, 6, 300])
def test_constant_and_duplicate_columns_and_few_rows(rows: int) -> None:
    X = linear_table(rows, 8, 5)
    X[:, 2] = 0.1
    X[:, 5] = X[:, 1]
    X[:, 6] = X[:, 0] + X[:, 3]
    found = search(X)
    weights = found.weights.toarray()
    assert np.isfinite(found.total)
    assert np.isfinite(weights).all()
    assert not weights[2].any()
    assert not weights[:, 2].any()
    required = np.zeros((8, 8), bool)
    required[2, 0] = required[1, 5] = True
    assert np.isfinite(search(X, required=required).weights.data).all()


def test_two_rows_show_no_arc() -> None:
    assert not search(linear_table(2, 8, 5), weak_parents=True).weights.nnz


@pytest.mark.parametrize("weak_parents", [False, True])
def test_few_rows_of_one_equation_do_not_limit_the_parents_of_others(weak_parents: bool) -> None:
    X = np.random.default_rng(0).exponential(size=(500, 8))
    X[:, 6] += X[:, :6].sum(axis=1)
    counted = np.ones_like(X)
    counted[9:, 7] = 0.0
    weights = search(X, counted=counted, weak_parents=weak_parents).weights.toarray()
    assert np.flatnonzero(weights[:, 6]).tolist() == [0, 1, 2, 3, 4, 5]


def test_gaussian_tables_are_called_gaussian() -> None:
    random = np.random.default_rng(0)
    taken = [
        non_gaussianity(random.normal(size=(rows, variables))).is_non_gaussian
        for rows, variables in [(200, 10), (1000, 10), (200, 100), (1000, 30)] * 25
    ]
    assert sum(taken) <= 3


@pytest.mark.parametrize("noise", ["exponential", "gumbel", "uniform"])
def test_other_noise_is_noticed(noise: str) -> None:
    table = getattr(np.random.default_rng(0), noise)(size=(200, 10))
    verdict = non_gaussianity(table * 10.0 ** np.arange(10))
    assert verdict.is_non_gaussian
    assert verdict.gain > verdict.threshold
