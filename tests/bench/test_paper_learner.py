"""`paper_learner` makes the runs of the paper: a plain loop, with the published settings."""

import math

import numpy as np
import pytest

from cosmodag import paper_learner, simulate
from cosmodag.bench.paper_learner import PAPER_METHODS, published_runs
from cosmodag.errors import DataError
from cosmodag.fit.dag.preparation import Preparation
from cosmodag.model.draws import HostKey
from cosmodag.solve.plan import plan_many
from cosmodag.solve.training.batch_rows import rows_at
from cosmodag.solve.training.train import train
from cosmodag.solve.watch import Watch

EPOCHS = 80


def plain_losses(torch, X, settings, start, orders):
    """Mean loss of every epoch of a loop written after the paper, from a given start."""
    data = torch.as_tensor((X - X.mean(axis=0, dtype=np.float64)).astype(np.float32))
    strengths, priorities = (
        torch.nn.Parameter(torch.as_tensor(np.array(start[name]))) for name in ("arcs", "order")
    )
    optimiser = torch.optim.Adam([strengths, priorities], lr=settings["learning_rate"])
    hot, cold = settings["temperature_start"], settings["temperature_end"]
    means = []
    for epoch, order in enumerate(orders):
        temperature = cold + (hot - cold) * 0.5 * (1 + math.cos(math.pi * epoch / 2000))
        losses = []
        for x in data[torch.as_tensor(order, dtype=torch.long)].split(64):
            gaps = priorities[None, :] - priorities[:, None] - settings["shift"]
            weights = strengths * torch.sigmoid(gaps / temperature) * (1 - torch.eye(X.shape[1]))
            loss = torch.nn.functional.mse_loss(x @ weights, x)
            loss = loss + settings["lambda1"] * strengths.abs().sum()
            loss = loss + settings["lambda2"] * torch.linalg.norm(strengths)
            loss = loss + settings["lambda_p"] * torch.linalg.norm(priorities)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
        means.append(float(np.mean(losses)))
    return means


@pytest.mark.parametrize("noise", ["gumbel", pytest.param("gauss", marks=pytest.mark.nightly)])
def test_the_loss_is_that_of_a_plain_loop(noise: str) -> None:
    """The unit of a table of Gumbel noise is not one; the paper does not divide by it."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    torch.set_num_threads(1)
    name = f"n1000_d30_ER4_{noise}"
    X = simulate.load(name, seed=3).X
    learner = paper_learner(published=name, random_state=5)
    (problem,) = learner.problems_for(Preparation.of(X, learner.scale).apply(X))
    solver = learner.solver_for(*X.shape)
    (plan,) = plan_many(solver, [problem], "cpu")
    batch = plan.batch(solver.recipe, [problem], [0])
    with Watch(1, "", None, show=False) as watch:
        found = train(batch, batch.backend.start(batch), EPOCHS, watch).losses
    start = solver.recipe.start_from(HostKey.of(problem.seed), X.shape[1], problem.settings)
    orders = [np.array(rows_at(problem.seed, e, np.arange(1000), 1000)) for e in range(EPOCHS)]
    expected = plain_losses(torch, X, problem.settings, start, orders)
    np.testing.assert_allclose(np.ravel(found), expected, rtol=1e-5)  # rounding over 1,280 steps


@pytest.mark.parametrize("method", PAPER_METHODS)
def test_no_system_is_refined(method: str) -> None:
    learner = paper_learner(30, method)
    assert (learner.scale, learner.refine, learner.threshold) == ("mean", None, 0.3)


def test_tables_are_centred_only() -> None:
    X = simulate.load("n200_d5_ER1_gumbel", seed=0).X + 7.0
    preparation = paper_learner(5).set_params(epochs=1).fit(X).preparation_
    np.testing.assert_allclose(preparation.means, X.mean(axis=0), rtol=1e-6)
    assert preparation.scales.tolist() == [1.0] * 5


def test_settings_are_those_of_the_authors() -> None:
    cosmo = paper_learner(published="n1000_d100_SF4_exp")
    row = published_runs()["n1000_d100_SF4_exp", "cosmo"]
    assert cosmo.lambda1 == row["lambda1"]
    assert cosmo.epochs == 2000
    assert paper_learner(published="n1000_d100_SF4_exp", method="cosmo-np").lambda_p == 0
    dagma = paper_learner(published="n1000_d30_ER6_gumbel", method="dagma")
    assert (dagma.learning_rate, dagma.lambda1, dagma.epochs) == (0.0006588, 0.000264, 5000)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({}, "number of variables"),
        ({"d": 5, "method": "lingam"}, "lingam.*cosmo-np"),
        ({"published": "n1000_d31_ER4_gauss"}, "n1000_d31_ER4_gauss.*n1000_d30_ER4_gauss"),
        ({"published": "n1000_d30_ER4_gauss", "method": "dagma-mlp"}, "none are published"),
        ({"published": "nonsense"}, "nonsense"),
    ],
)
def test_a_wrong_request_is_named(given: dict, named: str) -> None:
    with pytest.raises(DataError, match=named):
        paper_learner(**given)
