"""The loss from reversing an arc, compared with a definition by brute force."""

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from order_reference import orders_with_arc_turned

from cosmodag import OrderSearch
from cosmodag.search import choose_parents
from cosmodag.search.column_score import ColumnScore
from cosmodag.search.constraints import Constraints
from cosmodag.search.gaussian_scores import default_penalty, gaussian_total
from cosmodag.search.moments import Moments
from cosmodag.search.turning import turning_losses
from linear_tables import linear_table


def collider(strength: float, n: int = 400, seed: int = 0) -> np.ndarray:
    a, b, noise = np.random.default_rng(seed).normal(size=(3, n))
    return np.column_stack([a, b, strength * (a + b) + noise])


def total(moments: Moments, order: Sequence[int]) -> float:
    penalty = default_penalty(float(moments.rows.max()), moments.variables)
    return gaussian_total(moments, choose_parents(moments, list(order)), penalty)


@pytest.mark.parametrize("seed", range(4))
def test_with_three_variables_it_is_the_best_order_with_the_arrow_turned(seed):
    moments = Moments.of(collider(1.0, seed=seed))
    losses = turning_losses(
        ColumnScore.of(moments), np.arange(3), np.array([0, 1]), np.array([2, 2])
    )
    now = total(moments, (0, 1, 2))
    orders = list(itertools.permutations(range(3)))
    for (u, v), loss in zip([(0, 2), (1, 2)], losses, strict=True):
        turned = [order for order in orders if order.index(v) < order.index(u)]
        assert loss == pytest.approx(now - max(total(moments, order) for order in turned))


@pytest.mark.parametrize("seed", range(4))
def test_an_arrow_is_turned_with_ancestors_or_descendants_where_that_loses_less(seed):
    table, _ = linear_table(np.random.default_rng(seed), 300, 8, density=0.5)
    moments = Moments.of(table)
    order = list(range(8))
    arcs = choose_parents(moments, order).adjacency().toarray()
    tails, heads = np.nonzero(arcs)
    losses = turning_losses(ColumnScore.of(moments), np.arange(8), tails, heads)
    for loss, tail, head in zip(losses, tails.tolist(), heads.tolist(), strict=True):
        for turned in orders_with_arc_turned(order, arcs, tail, head):
            assert loss <= max(total(moments, order) - total(moments, turned), 0.0) + 1e-6


def test_a_required_arc_cannot_be_turned():
    required = np.zeros((3, 3), bool)
    required[0, 2] = True
    tails, heads = np.array([0, 1]), np.array([2, 2])
    losses = turning_losses(
        ColumnScore.of(Moments.of(collider(1.0)), constraints=Constraints(required=required)),
        np.arange(3),
        tails,
        heads,
    )
    assert np.isinf(losses[0])
    assert np.isfinite(losses[1])


def test_orders_against_a_required_arc_are_not_tried():
    # With 1 before 0, the required arc 0 → 1 and an arc 1 → 0 would be a cycle.
    random = np.random.default_rng(3)
    weights = np.triu(random.normal(size=(4, 4)), 1)
    table = random.normal(size=(300, 4)) @ np.linalg.inv(np.eye(4) - weights)
    moments, required = Moments.of(table), np.zeros((4, 4), bool)
    required[0, 1] = True
    penalty = default_penalty(300, 4)
    best = {}
    for order in itertools.permutations(range(4)):
        if order.index(0) < order.index(1):
            graph = choose_parents(moments, list(order), constraints=Constraints(required=required))
            best[order] = gaussian_total(moments, graph, penalty)
    now = best[0, 1, 2, 3]
    graph = choose_parents(moments, [0, 1, 2, 3], constraints=Constraints(required=required))
    tails, heads = np.nonzero(graph.adjacency().toarray())
    losses = turning_losses(
        ColumnScore.of(moments, constraints=Constraints(required=required)),
        np.arange(4),
        tails,
        heads,
    )
    for u, v, loss in zip(tails.tolist(), heads.tolist(), losses, strict=True):
        turned = [best[order] for order in best if order.index(v) < order.index(u)]
        assert loss >= now - max(turned, default=-np.inf) - 1e-6


def test_a_stop_leaves_the_losses_that_are_known():
    tails, heads, asked = np.array([0, 1]), np.array([2, 2]), []

    def should_stop() -> bool:
        asked.append(None)
        return len(asked) > 1

    moments = Moments.of(collider(1.0))
    whole = turning_losses(ColumnScore.of(moments), np.arange(3), tails, heads)
    found = turning_losses(
        ColumnScore.of(moments), np.arange(3), tails, heads, should_stop=should_stop
    )
    np.testing.assert_array_equal(found, [whole[0], np.nan])


def weak_table(seed: int, n: int = 250, d: int = 7) -> np.ndarray:
    random = np.random.default_rng(seed)
    weights = np.triu(random.random((d, d)) < 0.4, 1) * random.uniform(0.15, 0.5, (d, d))
    return random.normal(size=(n, d)) @ np.linalg.inv(np.eye(d) - weights)


def test_a_search_never_raises_a_loss_and_finds_cheaper_graphs():
    cheaper = 0
    for seed in range(3):
        X = weak_table(seed)
        moments = Moments.of(X)
        order = np.asarray(OrderSearch(noise="gaussian", random_state=0).fit(X).order_)
        tails, heads = np.nonzero(choose_parents(moments, order).matrix().toarray())
        by_orders = turning_losses(ColumnScore.of(moments), order, tails, heads)
        searched = turning_losses(ColumnScore.of(moments), order, tails, heads, search_from=0.0)
        assert (searched <= by_orders + 1e-9).all()
        assert (searched >= 0).all()
        cheaper += np.count_nonzero(searched < by_orders - 0.5)
    assert cheaper > 0


def test_losses_below_the_limit_are_not_searched_for():
    moments = Moments.of(weak_table(0))
    order = np.arange(7)
    tails, heads = np.nonzero(choose_parents(moments, order).matrix().toarray())
    by_orders = turning_losses(ColumnScore.of(moments), order, tails, heads)
    searched = turning_losses(ColumnScore.of(moments), order, tails, heads, search_from=3.0)
    below = by_orders < 3.0
    assert (searched[below] == by_orders[below]).all()


def test_a_chain_costs_nothing_to_turn():
    noise = np.random.default_rng(0).normal(size=(400, 3))
    chain = noise @ np.linalg.inv(np.eye(3) - np.diag([0.9, 0.8], 1))
    losses = turning_losses(
        ColumnScore.of(Moments.of(chain)), np.arange(3), np.array([0, 1]), np.array([1, 2])
    )
    assert losses[0] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("strength", "basis"), [(1.0, "shape of the graph"), (0.4, "weak evidence")]
)
def test_the_basis_names_how_firm_a_shape_is(strength, basis, tmp_path):
    model = OrderSearch(noise="gaussian", random_state=0).fit(collider(strength, n=300))
    assert model.edges_.nnz == 2
    assert set(model.arrow_basis_) == {basis}
    model.save(tmp_path / "model.safetensors")
    import cosmodag

    assert cosmodag.load(tmp_path / "model.safetensors").arrow_basis_ == model.arrow_basis_
