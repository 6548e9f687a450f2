import jax
import numpy as np
import pytest

from cosmodag import Cosmo, simulate
from cosmodag.errors import DataError
from cosmodag.graph.dags import is_dag
from cosmodag.runtime.devices import jax_device
from cosmodag.search import choose_parents, column_score
from cosmodag.search.best_graph import refine_linear
from cosmodag.search.moments import Moments
from cosmodag.search.search_run import Run
from cosmodag.search.tiles import tile_pruning as blocks
from cosmodag.search.tiles.tile_columns import Columns
from cosmodag.search.tiles.tile_pruning import prune_in_tiles
from linear_tables import linear_table


def assert_same(found, expected):
    np.testing.assert_array_equal(found.starts, expected.starts)
    np.testing.assert_array_equal(found.parents, expected.parents)
    np.testing.assert_allclose(found.weights, expected.weights, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found.residuals, expected.residuals, rtol=1e-6)
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-7, atol=1e-6)


@pytest.mark.parametrize("kind", ["ER4", "SF4"])
@pytest.mark.parametrize("seed", range(4))
def test_the_graph_is_that_of_prune(kind, seed):
    table = simulate.load(f"n300_d60_{kind}_gauss", seed=seed).X
    order = np.argsort(table.var(axis=0)) if seed % 2 else np.random.default_rng(0).permutation(60)
    found = prune_in_tiles(table, order)
    assert_same(found, choose_parents(Moments.of(table), order))
    tails, heads = found.matrix().nonzero()
    place = np.argsort(order)
    assert np.all(place[tails] < place[heads])


def test_more_variables_than_rows():
    # In double precision: if the residual variance is tiny, rounding decides the next step.
    table = simulate.load("n40_d60_ER4_gauss", seed=1).X
    order = np.argsort(table.var(axis=0))
    assert_same(prune_in_tiles(table, order, double=True), choose_parents(Moments.of(table), order))


def test_near_copies_are_told_from_copies():
    random = np.random.default_rng(0)
    base = simulate.load("n300_d15_ER4_gauss", seed=0).X
    near = [base + 5e-4 * base.std(axis=0) * random.normal(size=base.shape) for _ in range(2)]
    table = np.column_stack([base, *near, 2 * base])
    found = prune_in_tiles(table, np.arange(60))
    assert_same(found, choose_parents(Moments.of(table), np.arange(60)))
    assert np.all(found.residuals[45:] < 1e-9)


def test_units_do_not_matter():
    table = simulate.load("n300_d60_ER4_gauss", seed=0).X
    units = 2.0 ** np.random.default_rng(0).integers(-30, 30, 60)
    one, other = (prune_in_tiles(each, np.arange(60)) for each in (table, table * units))
    np.testing.assert_array_equal(one.parents, other.parents)
    np.testing.assert_array_equal(one.scores, other.scores)


@pytest.mark.parametrize("block", [7, pytest.param(1, marks=pytest.mark.nightly)])
def test_few_children_at_a_time_give_the_same(block):
    table, _ = linear_table(np.random.default_rng(0), 100, 20, density=0.1)
    order = np.arange(20)
    assert_same(prune_in_tiles(table, order, block=block), choose_parents(Moments.of(table), order))


def test_several_tiles_give_the_same(monkeypatch):
    monkeypatch.setitem(blocks.TILE, "cpu", 8)
    table = simulate.load("n300_d60_ER4_gauss", seed=2).X
    order = np.argsort(table.var(axis=0))
    assert_same(prune_in_tiles(table, order), choose_parents(Moments.of(table), order))


@pytest.mark.nightly  # the test of more variables than rows does the same with one program less
def test_double_precision_gives_the_same():
    table = simulate.load("n300_d60_ER4_gauss", seed=3).X
    order = np.argsort(table.var(axis=0))
    assert_same(prune_in_tiles(table, order, double=True), choose_parents(Moments.of(table), order))


def test_a_long_path_is_done_again_with_more_room(monkeypatch):
    monkeypatch.setattr(blocks, "FIRST_CAPACITY", 12)
    begin, capacities = blocks.begin, []

    def recorded(queue, lanes, capacity):
        capacities.append(capacity)
        return begin(queue, lanes, capacity)

    monkeypatch.setattr(blocks, "begin", recorded)
    random = np.random.default_rng(4)
    parents = random.normal(size=(1000, 20))
    table = np.column_stack([parents, parents.sum(axis=1) + random.normal(size=1000)])
    found = prune_in_tiles(table, np.arange(21))
    assert capacities == [12, 21]
    assert found.adjacency().toarray()[:20, 20].all()
    assert_same(found, choose_parents(Moments.of(table), np.arange(21)))


def awkward_tables():
    random = np.random.default_rng(3)
    base = random.normal(size=(40, 6))
    # Tables of one shape, for which one program is compiled.
    yield np.column_stack([base, np.full((40, 3), 0.1)]), None
    yield np.column_stack([base, base[:, 0], 3 * base[:, 0], base[:, 1]]), [(0, 6), (0, 7), (1, 8)]
    yield np.column_stack([base, base @ random.normal(size=(6, 3))]), None
    yield np.ones((40, 9)), []
    # Tables of other shapes.
    yield pytest.param(random.normal(size=(1, 9)), [], marks=pytest.mark.nightly)
    yield pytest.param(random.normal(size=(40, 1)), [], marks=pytest.mark.nightly)


@pytest.mark.parametrize(("table", "arcs"), list(awkward_tables()))
def test_awkward_tables_give_finite_dags(table, arcs):
    found = prune_in_tiles(table, np.arange(table.shape[1]))
    weights = found.matrix().toarray()
    assert is_dag(weights)
    assert np.all(np.isfinite(weights))
    assert np.all(np.isfinite(found.scores))
    constant = table.std(axis=0) == 0
    assert not np.any(weights[constant])
    assert not np.any(weights[:, constant])
    if arcs is not None:
        assert [tuple(arc) for arc in np.argwhere(weights)] == arcs


def test_what_is_not_reached_in_time_has_no_parents(monkeypatch):
    monkeypatch.setattr(blocks, "STEPS", 1)
    table = simulate.load("n300_d60_ER4_gauss", seed=0).X
    order = np.argsort(table.var(axis=0))
    asked = []

    def should_stop():
        asked.append(True)
        return len(asked) > 20

    part = prune_in_tiles(table, order, block=8, should_stop=should_stop).adjacency().toarray()
    whole = prune_in_tiles(table, order).adjacency().toarray()
    assert 0 < part.sum() < whole.sum()
    reached = part.any(axis=0)
    np.testing.assert_array_equal(part[:, reached], whole[:, reached])


def test_large_tables_are_refined_without_correlations(monkeypatch):
    table = simulate.load("n300_d60_ER4_gauss", seed=0).X
    order = np.argsort(table.var(axis=0))
    # As for the large tables that are pruned in tiles, the parents are not polished.
    monkeypatch.setattr("cosmodag.search.column_score.POLISHED_UP_TO", 0)
    expected = refine_linear(table, {"variance": order}, method="prune")
    for platform in blocks.TILED_BEYOND:
        monkeypatch.setitem(blocks.TILED_BEYOND, platform, 50)
    monkeypatch.setattr(Moments, "of", None)
    found = refine_linear(table, {"variance": order}, method="prune")
    assert (found.noise, found.reason) == (expected.noise, expected.reason)
    np.testing.assert_allclose(found.total, expected.total)
    np.testing.assert_array_equal(found.weights.indices, expected.weights.indices)
    np.testing.assert_array_equal(found.weights.indptr, expected.weights.indptr)
    np.testing.assert_allclose(found.weights.data, expected.weights.data, rtol=1e-7, atol=1e-9)


def test_a_limit_on_time_ends_pruning_in_blocks(monkeypatch):
    table = simulate.load("n300_d60_ER4_gauss", seed=0).X
    order = np.argsort(table.var(axis=0))
    for platform in blocks.TILED_BEYOND:
        monkeypatch.setitem(blocks.TILED_BEYOND, platform, 50)
    monkeypatch.setattr(blocks, "STEPS", 1)
    found = refine_linear(table, {"variance": order}, Run(should_stop=lambda: True), method="prune")
    whole = refine_linear(table, {"variance": order}, method="prune")
    assert found.ended_early
    assert not whole.ended_early
    assert found.weights.nnz < whole.weights.nnz


def test_blocks_are_pruned_on_the_device_that_the_learner_names(monkeypatch):
    for platform in blocks.TILED_BEYOND:
        monkeypatch.setitem(blocks.TILED_BEYOND, platform, 50)
    asked = []

    def pruned(columns, order, *, device, **settings):
        asked.append(device)
        return prune_in_tiles(columns, order, device=device, **settings)

    monkeypatch.setattr(column_score, "prune_in_tiles", pruned)
    table = simulate.load("n300_d60_ER4_gauss", seed=0).X
    Cosmo(refine="prune", epochs=1, device="cpu", random_state=0).fit(table)
    assert asked
    assert all(jax_device(device) == jax.devices("cpu")[0] for device in asked)


def test_bad_input_is_refused():
    with pytest.raises(DataError, match="order lists each"):
        prune_in_tiles(np.eye(3), [0, 1])
    with pytest.raises(DataError, match="rows and columns"):
        Columns.of(np.ones(3))
    with pytest.raises(DataError, match="row weights"):
        Columns.of(np.ones((3, 2)), np.ones(3))
