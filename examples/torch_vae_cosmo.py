"""A graph autoencoder in the manner of DAG-GNN, kept acyclic by a COSMO layer.

The encoder extracts the noise, z = f(x) (I − W); the decoder reconstructs the data,
x̂ = g(z (I − W)⁻¹). f and g act on each variable separately, and W[u, v] is the arc u → v.
"""

import argparse

import numpy as np
import torch
from torch import Tensor, nn

from cosmodag import metrics, simulate
from cosmodag.torch import CosineTemperature, PriorityLinear, SmoothOrientation, read_out

LAMBDA1, NOISE, BATCH = 1e-3, 0.1, 100


class Pointwise(nn.Module):
    """The same small network for every variable, initially the identity."""

    def __init__(self, hidden: int = 16) -> None:
        super().__init__()
        self.change = nn.Sequential(nn.Linear(1, hidden), nn.Tanh(), nn.Linear(hidden, 1))
        nn.init.zeros_(self.change[2].weight)
        nn.init.zeros_(self.change[2].bias)

    def forward(self, x: Tensor) -> Tensor:
        """Transform (B, d) values."""
        return x + self.change(x[..., None])[..., 0]


class GraphAutoencoder(nn.Module):
    """z = f(x) (I − W), x̂ = g(z (I − W)⁻¹)."""

    def __init__(self, d: int) -> None:
        super().__init__()
        self.arcs = PriorityLinear(SmoothOrientation(d))
        self.encoder, self.decoder = Pointwise(), Pointwise()
        self.register_buffer("identity", torch.eye(d))

    def weights(self) -> Tensor:
        """W, with a zero diagonal."""
        return self.arcs.weights()

    def loss(self, x: Tensor) -> Tensor:
        """Negative evidence lower bound: reconstruction of x, and prior N(0, 1) of z."""
        weights = self.weights()
        mean = self.encoder(x) @ (self.identity - weights)
        z = mean + NOISE * torch.randn_like(mean)
        decoded = self.decoder(torch.linalg.solve(self.identity - weights, z, left=False))
        bound = 0.5 * ((x - decoded) ** 2 + mean**2).mean()
        return bound + LAMBDA1 * weights.abs().sum()


def train(model: GraphAutoencoder, x: Tensor, epochs: int, rate: float) -> None:
    """Minimise the loss by Adam on mini-batches."""
    optimiser = torch.optim.Adam(model.parameters(), lr=rate)
    temperature = CosineTemperature(model, epochs)
    for _ in range(epochs):
        for rows in torch.randperm(len(x), device=x.device).split(BATCH):
            loss = model.loss(x[rows])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        temperature.step()


def fit(x: Tensor, epochs: int, rate: float = 2e-2) -> GraphAutoencoder:
    """Train a model on the (n, d) table x."""
    model = GraphAutoencoder(x.shape[1]).to(x.device)
    train(model, x, epochs, rate)
    return model


def graph_of(model: GraphAutoencoder) -> np.ndarray:
    """Weights of the learnt acyclic graph."""
    return read_out(model.arcs, threshold=0.3)


def main() -> None:
    """Learn a graph of ten variables, and compare it with the true one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a run too short to learn much")
    epochs = 4 if parser.parse_args().quick else 300
    torch.manual_seed(0)
    data = simulate.load("n500_d10_ER2_gauss", seed=0)
    model = fit(torch.as_tensor(data.X - data.X.mean(0), dtype=torch.float32), epochs)
    scores = metrics.evaluate(data.graph, model.weights().numpy(force=True))
    print(f"AUC {scores['auc']:.3f}; {np.count_nonzero(graph_of(model))} arcs in the graph")


if __name__ == "__main__":
    main()
