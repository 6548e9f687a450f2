import numpy as np
import pytest
from cosmodag.refinement.order_search import search_order
from cosmodag.refinement.search import searching, tree
from cosmodag.refinement.search.grow import new_scratch
from cosmodag.refinement.search.rules import local_score, rules_of
from cosmodag.refinement.search.searching import Searching
from cosmodag.refinement.search.tree import new_tree
from refine_reference import grow_shrink, linear_table, plain_prune

from cosmodag.graph.dags import is_dag
from cosmodag.refinement.moments import Moments
from cosmodag.solve.threads import mapper


def generator():
    return np.random.default_rng(0)


@pytest.fixture(params=[False, True], ids=["compiled loop", "threads"])
def threaded(request, monkeypatch):
    if request.param:
        monkeypatch.setattr(searching, "THREADED_FROM", 0)
    return request.param


def searching_from(moments, order, penalty, before=None, support=None, required=None):
    rules = rules_of(moments, penalty, support, required, before)
    run = lambda function, items: [function(item) for item in items]  # noqa: E731
    return Searching(rules, np.asarray(order), run, 1, generator(), lambda: False)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_kept_from_move_to_move_is_that_of_the_order_reached(seed, threaded):
    random = np.random.default_rng(seed)
    table, _ = linear_table(random, 300, 12)
    counted = np.ones(table.shape)
    counted[:30, :2] = 0
    moments = Moments.of(table, counted if seed % 2 else None)
    search = searching_from(moments, random.permutation(12), 3.0)
    before = search.state.score.sum()
    moves = search.improve(np.ones(12, bool), True)
    state = search.state
    assert moves > 0
    assert state.score.sum() > before
    for place, v in enumerate(state.order):
        path, parents, score = grow_shrink(moments, v, list(state.order[:place]), 3.0)
        at = state.path_at[v]
        recorded = state.pool.paths[at : at + state.length[v]]
        assert state.key[v] == place
        assert list(recorded) == path
        assert sorted(recorded[state.pool.kept[at : at + state.length[v]]]) == parents
        np.testing.assert_allclose(state.score[v], score, rtol=1e-6, atol=1e-6)
        for x in state.order[place + 1 :]:
            joined = grow_shrink(moments, v, [*state.order[:place], x], 3.0)[0]
            if joined != path:
                assert x in state.hears[v, : state.hears_count[v]]
                assert v in state.heard[x, : state.heard_count[x]]


@pytest.mark.parametrize("seed", range(4))
def test_no_single_move_of_one_variable_over_an_arc_improves_the_result(seed):
    """By the definition, from the order alone."""
    random = np.random.default_rng(seed)
    table, _ = linear_table(random, 200, 8)
    moments = Moments.of(table)
    found = search_order(moments, random.permutation(8), penalty=2.0, random=random, threads=1)
    order = list(found.order)
    for u, v in zip(*found.graph.matrix().nonzero(), strict=True):
        first, last = order.index(u), order.index(v)
        rest = [*order[:first], v, *order[first:last], *order[last + 1 :]]
        other = [*order[:first], *order[first + 1 : last + 1], u, *order[last + 1 :]]
        for moved in (rest, other):
            assert plain_prune(moments, moved, 2.0)[1].sum() <= found.score + 1e-5


@pytest.mark.parametrize("seed", range(4))
def test_constraints_hold_and_agree_with_the_definition(seed, threaded):
    random = np.random.default_rng(seed)
    d = 9
    table, _ = linear_table(random, 200, d)
    moments = Moments.of(table)
    order = random.permutation(d)
    place = np.argsort(order)
    forward = place[:, None] < place[None, :]
    required = forward & (random.random((d, d)) < 0.08)
    support = (random.random((d, d)) < 0.8) | required
    before = required.copy()
    for v in range(d):
        before |= np.outer(before[:, v], before[v])
    found = search_order(
        moments,
        order,
        penalty=1.5,
        support=support,
        required=required,
        before=before,
        random=random,
        threads=1,
    )
    adjacency = found.graph.adjacency().toarray()
    assert np.all(adjacency[required])
    assert not np.any(adjacency & ~support)
    reached = np.argsort(found.order)
    assert np.all((reached[:, None] < reached[None, :])[before])
    expected, scores = plain_prune(moments, found.order, 1.5, support, required)
    np.testing.assert_array_equal(adjacency, expected)
    np.testing.assert_allclose(found.score, scores.sum(), rtol=1e-8)


def test_units_that_are_powers_of_two_change_no_bit():
    random = np.random.default_rng(0)
    table, _ = linear_table(random, 200, 15)
    units = 2.0 ** random.integers(-20, 20, 15)
    order = random.permutation(15)
    one, other = (
        search_order(Moments.of(data), order, random=generator(), threads=1)
        for data in (table, table * units)
    )
    np.testing.assert_array_equal(one.order, other.order)
    np.testing.assert_array_equal(one.graph.parents, other.graph.parents)
    assert one.score == other.score
    there = other.graph.matrix().toarray() * units[:, None] / units
    np.testing.assert_array_equal(one.graph.matrix().toarray(), there)


def test_names_of_columns_do_not_matter(monkeypatch):
    """A search of relabelled variables, tried in the same turn, is the relabelled search."""
    random = np.random.default_rng(1)
    table, _ = linear_table(random, 300, 10)
    labels, order = random.permutation(10), random.permutation(10)
    one = searching_from(Moments.of(table), order, 2.0)
    other = searching_from(Moments.of(table[:, labels]), np.argsort(labels)[order], 2.0)

    class Relabelled:
        def __init__(self):
            self.inner = generator()

        def permutation(self, d):
            return np.argsort(labels)[self.inner.permutation(d)]

    other.random = Relabelled()
    for search in (one, other):
        search.improve(np.ones(10, bool), True)
    np.testing.assert_array_equal(one.state.order, labels[other.state.order])


@pytest.mark.parametrize("threads", [2, 3])
def test_same_seed_same_result_on_any_number_of_threads(threads, threaded):
    table, _ = linear_table(np.random.default_rng(2), 150, 30, density=0.15)
    moments = Moments.of(table)
    first, second = (
        search_order(moments, np.arange(30), random=generator(), threads=count)
        for count in (1, threads)
    )
    np.testing.assert_array_equal(first.order, second.order)
    assert first.score == second.score
    assert first.moves == second.moves > 0


def test_a_hub_is_found_from_the_reversed_order(monkeypatch):
    monkeypatch.setattr(searching, "FIRST_CAPACITY", 8)
    random = np.random.default_rng(4)
    parents = random.normal(size=(500, 70))
    table = np.column_stack([parents, parents.sum(axis=1) + random.normal(size=500)])
    found = search_order(Moments.of(table), np.arange(71)[::-1], random=random, threads=1)
    assert found.graph.adjacency().toarray()[:70, 70].all()
    assert found.graph.arcs == 70


def test_a_stopped_search_returns_what_it_has():
    table, _ = linear_table(np.random.default_rng(5), 200, 20)
    found = search_order(
        Moments.of(table), np.arange(20), random=generator(), should_stop=lambda: True
    )
    assert found.ended_early
    assert found.score >= found.start_score


def test_awkward_tables_are_searched():
    random = np.random.default_rng(6)
    base = random.normal(size=(12, 8))
    table = np.column_stack([base, base[:, 0], base @ random.normal(size=(8, 3)), np.ones(12)])
    for score in ("gaussian", "equal-variance"):
        found = search_order(Moments.of(table), random.permutation(13), score=score, random=random)
        weights = found.graph.matrix()
        assert is_dag(weights)
        assert np.all(np.isfinite(weights.toarray()))
        assert not weights.toarray()[12].any()
        assert not weights.toarray()[:, 12].any()


def test_every_worker_has_room_for_the_longest_path(monkeypatch):
    monkeypatch.setattr(searching, "FIRST_CAPACITY", 2)
    monkeypatch.setattr(searching, "THREADED_FROM", 0)
    table, _ = linear_table(np.random.default_rng(7), 300, 14, density=0.6)
    moments = Moments.of(table)
    with mapper(3) as run:
        rules = rules_of(moments, 1.0, None, None, None)
        search = Searching(rules, np.arange(14)[::-1].copy(), run, 3, generator(), lambda: False)
        search.improve(np.ones(14, bool), True)
    room = [len(search.workers.get().scratch.path) for _ in range(3)]
    assert min(room) >= search.state.length.max() > 2


@pytest.mark.parametrize("seed", range(3))
def test_a_search_that_remembers_paths_finds_what_one_without_memory_finds(seed, monkeypatch):
    random = np.random.default_rng(seed)
    table, _ = linear_table(random, 200, 14)
    moments, order = Moments.of(table), random.permutation(14)
    shared = new_tree(14)
    remembering = [
        search_order(moments, order, penalty=2.0, random=generator(), tree=shared) for _ in range(2)
    ]
    assert shared.used[0] > 14
    monkeypatch.setattr(tree, "MEMORY", 40_000)  # for some 60 paths: forgotten again and again
    forgetful = search_order(moments, order, penalty=2.0, random=generator())
    monkeypatch.setattr(tree, "TREE_UP_TO", 0)
    plain = search_order(moments, order, penalty=2.0, random=generator())
    for found in (*remembering, forgetful):
        np.testing.assert_array_equal(found.graph.parents, plain.graph.parents)
        assert found.score == plain.score


@pytest.mark.parametrize("seed", range(3))
def test_a_walk_ends_where_growing_does(seed):
    random = np.random.default_rng(seed)
    table, _ = linear_table(random, 150, 10)
    moments = Moments.of(table)
    rules = rules_of(moments, 2.0, None, None, None)
    memory, scratch = new_tree(10), new_scratch(10, 10)
    assert tree.plant(rules, memory, scratch)
    for _ in range(5):
        order = random.permutation(10)
        key = np.argsort(order).astype(float)
        for place, v in enumerate(order):
            node = tree.walk(rules, memory, key, v, scratch)
            _, parents, score = grow_shrink(moments, v, list(order[:place]), 2.0)
            assert memory.parents[node] == len(parents)
            found = local_score(rules, v, memory.parents[node], memory.residual[node])
            np.testing.assert_allclose(found, score, rtol=1e-8)
