"""`BlockSearch` on a table with categories, counts and curves: everything that a fit offers."""

import warnings

import numpy as np
import pandas as pd
import pytest

from cosmodag import BlockSearch, Cosmo, Knowledge, OrderSearch, load
from cosmodag.assess.bootstrapping import bootstrap
from cosmodag.errors import DataError
from cosmodag.report.sections import sections_of

NAMES = ["dose", "site", "events", "answer", "size"]


def mixed_table(n=500, seed=0):
    """dose → site (three levels) → answer (two), dose → events (a count), dose → size (a curve)."""
    random = np.random.default_rng(seed)
    dose = random.normal(size=n)
    utilities = np.outer(dose, [2.0, 0.0, -1.5]) + random.gumbel(size=(n, 3))
    site = np.argmax(utilities, axis=1)
    answer = random.random(n) < np.array([0.1, 0.5, 0.9])[site]
    events = random.poisson(np.exp(1 + 0.8 * dose))
    size = np.sin(2 * dose) + 0.3 * random.normal(size=n)
    columns = [dose, np.array(["north", "south", "west"])[site], events]
    columns += [np.where(answer, "yes", "no"), size]
    return pd.DataFrame(dict(zip(NAMES, columns, strict=True)))


@pytest.fixture(scope="module", autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.fixture(scope="module")
def table():
    return mixed_table()


@pytest.fixture(scope="module")
def model(table):
    return BlockSearch(random_state=0).fit(table)


def skeleton(fitted):
    arcs = fitted.adjacency_ != 0
    names = fitted.names_
    return {frozenset((names[u], names[v])) for u, v in zip(*np.nonzero(arcs), strict=True)}


EXPECTED = {
    frozenset(pair)
    for pair in (("dose", "site"), ("site", "answer"), ("dose", "events"), ("dose", "size"))
}


def test_the_pairs_are_found_and_curves_said(model):
    assert skeleton(model) == EXPECTED
    assert "curves were kept" in model.curves_reason_
    assert model.noise_ == "gaussian"
    assert model.curves_reason_ in model.noise_reason_


def test_a_curve_directs_its_arc(model):
    arcs = model.arcs_.set_index(["cause", "effect"])
    assert arcs.loc[("dose", "size"), "basis"] == "curves"


@pytest.mark.parametrize(
    "learner", [OrderSearch(random_state=0), Cosmo(epochs=30, random_state=0)], ids=lambda x: str(x)
)
def test_other_learners_search_among_blocks_where_there_are_categories(table, learner):
    assert skeleton(learner.fit(table)) == EXPECTED


def test_predictions_are_numbers_and_most_probable_levels(model, table):
    predicted = pd.DataFrame(np.asarray(model.predict(table)), columns=NAMES)
    size = predicted["size"].astype(float)
    assert np.corrcoef(size, table["size"])[0, 1] > 0.8
    assert predicted["site"].nunique() <= 3


def test_training_data_follows_from_residuals(model, table):
    recovered = model.preparation_.undo(model.training_data())
    np.testing.assert_allclose(recovered[:, 0], table["dose"], atol=1e-5)
    np.testing.assert_allclose(recovered[:, 2], table["events"], atol=1e-4)
    levels = pd.Categorical(table["site"]).codes
    np.testing.assert_allclose(recovered[:, 1], levels, atol=1e-5)


def test_draws_look_like_the_table(model, table):
    drawn = pd.DataFrame(np.asarray(model.sample(2000, random_state=0)), columns=NAMES)
    events = drawn["events"].astype(float)
    assert (events == events.round()).all()
    assert events.min() >= 0
    assert events.mean() == pytest.approx(table["events"].mean(), rel=0.25)
    shares = drawn["site"].value_counts(normalize=True).sort_values().to_numpy()
    expected = table["site"].value_counts(normalize=True).sort_values().to_numpy()
    np.testing.assert_allclose(shares, expected, atol=0.08)


def test_held_out_rows_are_likelier_than_without_arcs(model, table):
    new = mixed_table(seed=1)
    forbidden = [(u, v) for u in NAMES for v in NAMES if u != v]
    empty = BlockSearch(random_state=0, knowledge=Knowledge(forbidden_edges=forbidden)).fit(table)
    assert empty.edges_.nnz == 0
    assert model.score(new) > empty.score(new) + 0.1
    assert model.log_likelihoods(new).shape == (len(new), 5)


def test_a_saved_model_predicts_the_same(model, table, tmp_path):
    model.save(tmp_path / "model", residuals=True)
    again = load(tmp_path / "model")
    assert np.array_equal(np.asarray(again.predict(table)), np.asarray(model.predict(table)))
    assert again.score(table) == pytest.approx(model.score(table))
    assert again.curves_reason_ == model.curves_reason_
    assert again.arrow_basis_ == model.arrow_basis_
    drawn, expected = again.sample(9, 0), model.sample(9, 0)
    assert pd.DataFrame(drawn).equals(pd.DataFrame(expected))


def test_knowledge_is_obeyed(table):
    known = Knowledge(tiers=[["size", "site"], ["dose"], ["events", "answer"]])
    found = BlockSearch(random_state=0, knowledge=known).fit(table)
    order = found.causal_order_
    assert order.index("size") < order.index("dose")
    assert not found.graph_.has_edge("dose", "site")
    required = Knowledge(required_edges=[("answer", "size")])
    assert (
        BlockSearch(random_state=0, knowledge=required).fit(table).graph_.has_edge("answer", "size")
    )


def test_values_that_were_set_do_not_decide_between_lines_and_curves():
    random = np.random.default_rng(0)
    x = random.exponential(size=400)
    y = x + random.exponential(size=400)
    y[:100] = 3 * (x[:100] - 1) ** 2
    entries = ["x1"] * 100 + [""] * 300
    model = BlockSearch(noise="non-gaussian", random_state=0)
    model.fit(np.column_stack([x, y]), interventions=entries)
    assert "lines were kept" in model.curves_reason_
    assert (model.adjacency_ != 0).tolist() == [[False, True], [False, False]]


def test_interventions_tell_directions(table):
    random = np.random.default_rng(3)
    changed = table.copy()
    entries = np.array([""] * len(table), object)
    entries[:200] = "site"
    changed.loc[:199, "site"] = random.choice(["north", "south", "west"], 200)
    # Values that were set carry no information about their causes.
    found = BlockSearch(random_state=0).fit(changed, interventions=list(entries))
    assert found.graph_.has_edge("dose", "site")
    bases = found.arcs_.set_index(["cause", "effect"])["basis"]
    assert bases[("dose", "site")] == "interventions"


@pytest.mark.parametrize("missing", ["drop", "impute"])
def test_missing_values(table, missing):
    gaps = table.copy()
    gaps.loc[::25, "size"] = np.nan
    gaps.loc[3::40, "site"] = None
    found = BlockSearch(random_state=0, missing=missing).fit(gaps)
    assert len(skeleton(found) ^ EXPECTED) <= 1


def test_the_bootstrap_counts_arcs(table):
    result = bootstrap(BlockSearch(random_state=0), table, 3, random_state=0)
    edges = result.edges().set_index(["cause", "effect"])
    assert edges.loc[("dose", "size"), "joined"] == 1


def test_the_report_is_written(model, tmp_path):
    model.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "curves were kept" in page
    (section,) = sections_of(model)
    assert {curve["title"] for curve in section["curves"]} >= {"dose → size"}
    changes = {row[1]: row[3] for row in section["rows"] if row[2] == "answer = yes"}
    assert 0 < changes["south"] < changes["west"]
    (size,) = (curve for curve in section["curves"] if curve["title"] == "dose → size")
    inner = np.abs(np.array(size["x"])) < 1.5
    expected = np.sin(2 * np.array(size["x"])[inner])
    assert np.corrcoef(np.array(size["y"])[inner], expected)[0, 1] > 0.95


def test_the_effect_of_a_number_passes_through_categories(model):
    effect = model.effect("dose", "events")
    assert effect.estimate > 0


def test_units_change_no_arc(model, table):
    scaled = table.assign(dose=table["dose"] * 1024, size=table["size"] / 64)
    other = BlockSearch(random_state=0).fit(scaled)
    assert np.array_equal(other.adjacency_ != 0, model.adjacency_ != 0)


def test_lines_are_kept_on_linear_tables():
    random = np.random.default_rng(0)
    x = random.normal(size=(400, 4))
    x[:, 1] += x[:, 0]
    x[:, 3] += x[:, 1] - x[:, 2]
    curved, lines = (
        BlockSearch(random_state=0, curves=curves).fit(x) for curves in ("auto", False)
    )
    assert "lines were kept" in curved.curves_reason_
    assert np.array_equal(curved.adjacency_, lines.adjacency_)


def test_weights_of_lines_are_slopes():
    random = np.random.default_rng(0)
    x = random.normal(size=800)
    table = np.column_stack([x, 3 * x + random.normal(size=800)])
    known = Knowledge(required_edges=[("x0", "x1")])
    found = BlockSearch(random_state=0, curves=True, knowledge=known).fit(table)
    assert found.weights_[0, 1] == pytest.approx(3, abs=0.15)


def test_curves_must_be_a_choice():
    with pytest.raises(DataError, match="curves"):
        BlockSearch(curves="perhaps").fit(np.random.default_rng(0).normal(size=(30, 3)))


def joint_table(n=500, seed=0):
    """A table in which two categorical causes have a joint effect on a third variable."""
    random = np.random.default_rng(seed)
    site, drug = random.integers(0, 3, n), random.integers(0, 2, n)
    shares = np.array([[0.1, 0.9], [0.85, 0.2], [0.5, 0.75]])
    answer = random.random(n) < shares[site, drug]
    labels = np.array(["north", "south", "west"]), np.array(["none", "full"])
    columns = {"site": labels[0][site], "drug": labels[1][drug]}
    return pd.DataFrame({**columns, "answer": np.where(answer, "yes", "no")}), shares


def test_levels_that_act_jointly(tmp_path):
    table, shares = joint_table()
    model = BlockSearch(random_state=0).fit(table)
    assert (model.adjacency_ != 0).astype(int).tolist() == [[0, 0, 1], [0, 0, 1], [0, 0, 0]]
    assert "On held-out rows joint effects of levels" in model.curves_reason_
    assert "effects that add up lose" in model.curves_reason_
    new = pd.DataFrame({"site": ["north", "south"], "drug": ["full"] * 2, "answer": ["no"] * 2})
    assert np.asarray(model.predict(new))[:, 2].tolist() == ["yes", "no"]
    drawn = pd.DataFrame(np.asarray(model.sample(4000, random_state=1)), columns=table.columns)
    rate = drawn[(drawn.site == "south") & (drawn.drug == "none")].answer.eq("yes").mean()
    assert abs(rate - shares[1, 0]) < 0.08
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.score(table) == pytest.approx(model.score(table))
    assert again.fitted_.equations.form == "a distribution for each combination of the levels"
    (section,) = sections_of(model)
    changes = {(row[0], row[1]): row[3] for row in section["rows"]}
    odds = np.log(shares / (1 - shares))
    assert changes["drug", "none"] == pytest.approx(odds.mean(axis=0) @ [1, -1], abs=0.5)


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
@pytest.mark.parametrize("learner", [OrderSearch, BlockSearch])
def test_a_few_rows_with_a_category_show_nothing(learner):
    kinds = {"group": "categorical"}
    pair = pd.DataFrame({"group": ["a", "b"], "x": [0.0, 1.0]})
    assert learner(random_state=0, kinds=kinds).fit(pair).edges_.nnz == 0
    for n in range(3, 9):
        random = np.random.default_rng(n)
        table = pd.DataFrame(random.normal(size=(n, 2)), columns=["x", "y"])
        table["group"] = [*"abc", *random.choice([*"abc"], n - 3)]
        assert learner(random_state=0, kinds=kinds).fit(table).edges_.nnz == 0
        known = {"required_edges": [["x", "group"]]}
        assert learner(random_state=0, kinds=kinds, knowledge=known).fit(table).edges_.nnz == 1


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_required_arcs_of_constant_columns_have_weight_zero():
    random = np.random.default_rng(0)
    table = pd.DataFrame({"a": random.normal(size=100), "still": np.ones(100)})
    table["site"] = random.choice(list("xyz"), 100)
    for arc in (("still", "a"), ("a", "still")):
        model = BlockSearch(knowledge={"required_edges": [arc]}, curves=False, random_state=0)
        model.fit(table)
        assert arc in model.graph_.edges
        assert np.abs(model.adjacency_).max() < 10
        assert model.graph_.edges[arc]["weight"] == 0


def gates_table(n=600):
    """Text columns of two values: c is an exclusive or of a and b, and d follows c."""
    random = np.random.default_rng(0)
    a, b = random.integers(0, 2, (2, n))
    c = np.where(random.random(n) < 0.05, 1 - (a ^ b), a ^ b)
    d = np.where(random.random(n) < 0.1, 1 - c, c)
    columns = {"c": c, "a": a, "d": d, "b": b}
    return pd.DataFrame({name: np.array(["no", "yes"])[x] for name, x in columns.items()})


def test_columns_of_two_values_are_searched_by_counting():
    table = gates_table()
    model = BlockSearch(random_state=0, restarts=2).fit(table)
    expected = {frozenset(pair) for pair in (("a", "c"), ("b", "c"), ("a", "b"), ("c", "d"))}
    assert skeleton(model) <= expected
    assert skeleton(model) >= {frozenset("ac"), frozenset("bc"), frozenset("cd")}
    assert any("2 times perturbed" in entry["start"] for entry in model.refine_report_)
    as_numbers = table.eq("yes").astype(int)
    numbers = BlockSearch(random_state=0, restarts=2).fit(as_numbers)
    assert np.array_equal(numbers.adjacency_ != 0, model.adjacency_ != 0)
    more = table.assign(chance=np.random.default_rng(1).choice(list("xyz"), len(table)))
    assert skeleton(BlockSearch(random_state=0, restarts=2).fit(more)) == skeleton(model)
    turned = BlockSearch(random_state=0, restarts=2).fit(table[["b", "d", "a", "c"]])
    assert skeleton(turned) == skeleton(model)


def test_time_ends_a_search_among_categories():
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.choice(list("uvwxyz"), (400, 30)))
    model = BlockSearch(random_state=0, max_time=1e-6, verbose=False).fit(table)
    assert model.stopped_ == "time"
    assert not any("perturbed" in entry["start"] for entry in model.refine_report_)
