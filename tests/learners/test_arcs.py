"""The table of arcs, their equivalence class, and the basis of their directions."""

import numpy as np
import pandas as pd
import pytest

from cosmodag import Knowledge, OrderSearch, VarianceSort, simulate
from cosmodag.fit.dag import basis
from cosmodag.fit.dag.basis import arrow_basis, mask_of
from cosmodag.graph.equivalence import compelled
from cosmodag.learners.registry import LEARNERS

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.ScaleWarning")

# With Gaussian noise, only knowledge and interventions can direct the arcs of a chain.
GAUSSIAN = {"noise": "gaussian", "random_state": 0, "verbose": False}


def chain(rows: int = 400) -> pd.DataFrame:
    """A table of a → b → c in different units."""
    noise = np.random.default_rng(0).normal(size=(rows, 3))
    X = noise @ np.linalg.inv(np.eye(3) - np.diag([0.9, 0.8], 1)) * [1, 100, 0.01]
    return pd.DataFrame(X, columns=list("abc"))


def basis_of(
    dag: list[tuple[int, int]],
    known: list[bool],
    experiments: list[bool],
    otherwise: str = "free choice",
) -> list[str]:
    tails, heads = np.array(dag).T
    masks = np.array(known, bool), np.array(experiments, bool)
    return arrow_basis(mask_of(tails, heads, 4), tails, heads, *masks, otherwise)


def test_the_class_is_found_once_for_each_set_of_fixed_arcs(monkeypatch):
    seen = []
    monkeypatch.setattr(basis, "compelled", lambda *given: seen.append(given) or compelled(*given))
    nothing = [False, False]
    assert basis_of([(0, 1), (1, 2)], nothing, nothing) == ["free choice"] * 2
    assert len(seen) == 1
    assert basis_of([(0, 1), (1, 2)], [True, False], nothing) == ["knowledge"] * 2
    assert len(seen) == 3


def test_a_chain_is_a_free_choice_until_something_is_known():
    free = OrderSearch(**GAUSSIAN).fit(chain())
    assert set(free.arrow_basis_) == {"free choice"}
    assert free.cpdag_.undirected == (("a", "b"), ("b", "c"))
    known = OrderSearch(**GAUSSIAN, knowledge=Knowledge(required_edges=[("a", "b")]))
    known.fit(chain())
    assert known.arrow_basis_ == ["knowledge", "knowledge"]
    assert known.cpdag_.directed == (("a", "b"), ("b", "c"))
    np.testing.assert_array_equal(known.equivalence_class(), np.diag([True, True], 1))


def test_interventions_direct_what_follows_from_them():
    table = chain()
    was_set = np.arange(400) % 2 == 1
    table.loc[was_set, "a"] = np.random.default_rng(1).normal(size=200) * 3
    noise = np.random.default_rng(2).normal(size=(400, 2))
    table["b"] = 100 * (0.9 * table["a"] + noise[:, 0])
    table["c"] = 0.01 * (0.8 * table["b"] / 100 + noise[:, 1])
    targets = ["a" if one else "" for one in was_set]
    model = OrderSearch(**GAUSSIAN).fit(table, interventions=targets)
    assert model.arcs_["basis"].tolist() == ["interventions", "interventions"]
    assert model.cpdag_.directed == (("a", "b"), ("b", "c"))


@pytest.mark.parametrize(
    ("known", "experiments", "expected"),
    [
        ([0, 0], [0, 0], ["free choice", "free choice"]),
        ([1, 0], [0, 0], ["knowledge", "knowledge"]),
        ([0, 0], [1, 0], ["interventions", "interventions"]),
        # Knowledge comes first, because it left the search no choice, whatever experiments show.
        ([1, 0], [1, 0], ["knowledge", "knowledge"]),
        ([1, 0], [1, 1], ["knowledge", "interventions"]),
        ([0, 1], [1, 0], ["interventions", "knowledge"]),
    ],
)
def test_the_order_of_precedence_in_a_chain(known, experiments, expected):
    assert basis_of([(0, 1), (1, 2)], known, experiments) == expected


def test_the_shape_of_the_graph_comes_after_what_excludes_the_reverse():
    collider = [(0, 2), (1, 2), (2, 3)]
    assert basis_of(collider, [0, 0, 0], [0, 0, 0]) == ["shape of the graph"] * 3
    told = basis_of(collider, [1, 0, 0], [1, 1, 0])
    assert told == ["knowledge", "interventions", "shape of the graph"]


def test_an_order_that_follows_the_units_makes_no_shape():
    collider = [(0, 2), (1, 2), (2, 3)]
    told = basis_of(collider, [0, 0, 1], [0, 0, 0], otherwise="scale of the columns")
    assert told == ["scale of the columns", "scale of the columns", "knowledge"]


def test_standardised_weights_are_the_same_in_all_units():
    data = simulate.load("n300_d6_ER2_gauss", seed=1)
    units = np.array([1, 10, 0.1, 1000, 2, 0.5])
    plain, scaled = (OrderSearch(**GAUSSIAN).fit(data.X * u).arcs_ for u in (1, units))
    for name in ("cause", "effect", "basis", "class"):
        assert plain[name].tolist() == scaled[name].tolist()
    for name in ("standardised", "t"):
        np.testing.assert_allclose(plain[name], scaled[name], rtol=1e-3)
    assert plain["standardised"].abs().is_monotonic_decreasing
    assert not np.allclose(plain["weight"], scaled["weight"])


def test_with_one_parent_the_standardised_weight_is_the_correlation():
    random = np.random.default_rng(0)
    a = random.normal(size=200)
    table = pd.DataFrame({"a": a, "b": 30 * a + 20 * random.normal(size=200)})
    arc = OrderSearch(**GAUSSIAN).fit(table).arcs_.iloc[0]
    assert arc["standardised"] == pytest.approx(table.corr().loc["a", "b"], rel=1e-4)
    assert arc["t"] == pytest.approx(arc["weight"] / arc["se"])
    in_deviations = OrderSearch(**GAUSSIAN, scale="standardize")
    arc = in_deviations.fit(table).arcs_.iloc[0]
    assert arc["weight"] == pytest.approx(arc["standardised"], rel=1e-4)


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
@pytest.mark.parametrize("lags", [0, 1])
def test_imputed_values_make_no_standard_error_smaller(lags):
    """Without further columns, incomplete rows say nothing about an equation."""
    random = np.random.default_rng(1)
    a = random.normal(size=401)
    cause = np.roll(a, lags)
    table = pd.DataFrame({"a": a, "b": cause + random.normal(size=401)})[1:]
    table[random.random(table.shape) < 0.3] = np.nan
    pairs = pd.DataFrame({"a": table["a"].shift(lags), "b": table["b"]}).dropna()
    arc = [("a[t-1]" if lags else "a", "b")]
    known = Knowledge(required_edges=arc, search_space=arc)
    model = OrderSearch(**GAUSSIAN, knowledge=known, missing="impute", lags=lags).fit(table)
    plain = OrderSearch(**GAUSSIAN, knowledge={"required_edges": [("a", "b")]}).fit(pairs)
    error = plain.arcs_["se"].item()
    assert model.arcs_["se"].item() == pytest.approx(error, rel=0.01)
    if lags:
        interval = model.response_intervals(1).loc[("a", "b", 1)]
        assert interval["high"] - interval["low"] == pytest.approx(2 * 1.96 * error, rel=0.1)


def test_the_index_is_the_place_among_the_edges():
    model = VarianceSort().fit(simulate.load("n300_d6_ER2_gauss", seed=1).X)
    arcs = model.arcs_.sort_index()
    assert arcs["cause"].tolist() == model.edges_.row.tolist()
    np.testing.assert_array_equal(arcs["weight"], model.edges_.data)
    assert arcs["basis"].tolist() == model.arrow_basis_


def test_residuals_that_are_rounding_errors_have_no_standard_error():
    """A copied column had t = 3·10¹⁶."""
    random = np.random.default_rng(0)
    a = random.normal(size=300)
    table = pd.DataFrame({"a": a, "b": a, "c": 0.5 * a + random.normal(size=300)})
    arcs = OrderSearch(random_state=0).fit(table).arcs_.set_index("effect")
    assert set(arcs.index) == {"b", "c"}
    assert np.isnan(arcs.loc["b", ["se", "t"]].astype(float)).all()
    assert 5 < arcs.loc["c", "t"] < 15


def test_bases_and_classes_have_the_order_and_the_names_of_the_arcs():
    random = np.random.default_rng(0)
    a, b = random.normal(size=(2, 400))
    table = pd.DataFrame({"a": a, "b": b, "c": a + 3 * b + random.normal(size=400)})
    known = Knowledge(required_edges=[("a", "b")])
    model = OrderSearch(noise="gaussian", knowledge=known, random_state=0).fit(table)
    assert model.arrow_basis_ == model.arcs_["basis"].tolist()
    assert model.arrow_basis_ != list(model.fitted_.arrow_basis)
    marks = model.equivalence_class()
    assert list(marks.index) == list(marks.columns) == ["a", "b", "c"]
    assert marks.loc["a", "b"]
    assert not marks.loc["b", "a"]


def test_python_and_the_command_line_have_one_seed():
    for entry in LEARNERS.values():
        assert entry.load()().random_state == 0
