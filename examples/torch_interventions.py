"""A model of interventions in the manner of DCDI, kept acyclic by a COSMO layer.

Each variable has a network that reads its predecessors, and a noise variance of its own. In rows in
which a variable was set by intervention, its term is left out of the loss. In all other rows, each
variable has variance one, so that scales reveal no directions and only the interventions can.
"""

import argparse

import numpy as np
import torch
from torch import Tensor, nn

from cosmodag import metrics, simulate
from cosmodag.torch import CosineTemperature, PriorityMLP, SmoothOrientation, read_out, regulariser

LAMBDA1, RATE, BATCH = 6e-4, 1e-2, 64


class InterventionalModel(nn.Module):
    """x_v ~ N(f_v(x), s_v²) in rows in which v was not set."""

    def __init__(self, d: int) -> None:
        super().__init__()
        self.networks = PriorityMLP(SmoothOrientation(d), hidden=(8,))
        self.log_scales = nn.Parameter(torch.zeros(d))

    def loss(self, x: Tensor, was_set: Tensor) -> Tensor:
        """Mean negative log-likelihood of the entries that were not set, plus penalties."""
        errors = (x - self.networks(x)) * torch.exp(-self.log_scales)
        terms = self.log_scales + 0.5 * errors**2
        likelihood = (terms * ~was_set).sum() / (~was_set).sum()
        return likelihood + regulariser(self.networks, lambda1=LAMBDA1)


def fit(x: Tensor, was_set: Tensor, epochs: int) -> InterventionalModel:
    """Train by Adam on mini-batches while the temperature falls."""
    model = InterventionalModel(x.shape[1]).to(x.device)
    optimiser = torch.optim.Adam(model.parameters(), lr=RATE)
    temperature = CosineTemperature(model, epochs)
    for _ in range(epochs):
        for rows in torch.randperm(len(x), device=x.device).split(BATCH):
            loss = model.loss(x[rows], was_set[rows])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        temperature.step()
    return model


def sample(weights: np.ndarray, was_set: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Scale x_v = Σ_u w_uv (x_u + sin 2x_u) / 2 + noise to variance one; N(0, 4) where set."""
    x = np.zeros(was_set.shape)
    for v in [v for layer in simulate.graphs.generations(weights) for v in layer]:
        caused = (x + np.sin(2 * x)) @ weights[:, v] / 2 + rng.normal(size=len(x))
        caused = (caused - caused.mean()) / caused.std()
        x[:, v] = np.where(was_set[:, v], 2 * rng.normal(size=len(x)), caused)
    return x


def main() -> None:
    """Learn a graph of eight variables with known and with unknown intervention targets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a run too short to learn much")
    epochs = 3 if parser.parse_args().quick else 150
    rng, d = np.random.default_rng(0), 8
    weights = simulate.random_weights(simulate.erdos_renyi(d, 2 * d, rng), rng).toarray()
    was_set = np.zeros((500 + 100 * d, d), bool)
    was_set[500:] = np.repeat(np.eye(d, dtype=bool), 100, axis=0)
    x = torch.as_tensor(sample(weights, was_set, rng), dtype=torch.float32)
    for known, what in ((was_set, "known"), (np.zeros_like(was_set), "unknown")):
        torch.manual_seed(0)
        layer = fit(x, torch.as_tensor(known), epochs).networks
        auc = metrics.evaluate(weights != 0, layer.strength().numpy(force=True))["auc"]
        arcs = np.count_nonzero(read_out(layer, threshold=0.1))
        print(f"targets {what}: AUC {auc:.3f}, {arcs} arcs, {np.count_nonzero(weights)} true ones")


if __name__ == "__main__":
    main()
