"""Non-linear COSMO in plain PyTorch, as a first implementation would be: compared with `CosmoMLP`.

The model of the paper's appendix, autograd, `torch.optim.Adam`, a `DataLoader` with batches of 64
and no workers, and PyTorch's default number of threads.
"""

import math

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class PlainCosmoMLP(nn.Module):
    """One perceptron per variable, with the first layer masked by the smooth orientation."""

    def __init__(self, d: int, hidden: int = 10, shift: float = 1e-2) -> None:
        super().__init__()
        self.shift = shift
        limit, after = 1 / math.sqrt(d * hidden), 1 / math.sqrt(hidden)
        self.priorities = nn.Parameter(torch.randn(d) * shift / math.sqrt(2))
        self.arcs = nn.Parameter(torch.empty(d, d, hidden).uniform_(-limit, limit))
        self.biases = nn.Parameter(torch.empty(d, hidden).uniform_(-limit, limit))
        self.output = nn.Parameter(torch.empty(d, hidden).uniform_(-after, after))
        self.constants = nn.Parameter(torch.empty(d).uniform_(-after, after))
        self.register_buffer("off_diagonal", 1 - torch.eye(d))

    def weights(self, temperature: float) -> torch.Tensor:
        """W = H ∘ S."""
        differences = self.priorities[None, :] - self.priorities[:, None]
        orientation = torch.sigmoid((differences - self.shift) / temperature) * self.off_diagonal
        return self.arcs * orientation[..., None]

    def forward(self, x: torch.Tensor, temperature: float) -> torch.Tensor:
        """Predict every variable."""
        units = torch.einsum("bu,uvi->bvi", x, self.weights(temperature)) + self.biases
        return (torch.sigmoid(units) * self.output).sum(-1) + self.constants


def train(
    data: np.ndarray,
    epochs: int,
    *,
    first: int = 0,
    total: int = 2000,
    learning_rate: float = 1.7e-3,
    lambda1: float = 6.7e-4,
    lambda2: float = 2.3e-3,
    lambda_p: float = 2e-3,
    shift: float = 1e-2,
    temperature_start: float = 0.45,
    temperature_end: float = 8e-4,
) -> PlainCosmoMLP:
    """Run some epochs of the annealed problem and return the model."""
    model = PlainCosmoMLP(data.shape[1], shift=shift)
    adam = torch.optim.Adam(model.parameters(), lr=learning_rate)
    loader = DataLoader(TensorDataset(torch.from_numpy(data)), batch_size=64, shuffle=True)
    for epoch in range(first, first + epochs):
        wave = 0.5 * (1 + math.cos(math.pi * epoch / total))
        temperature = temperature_end + wave * (temperature_start - temperature_end)
        for (x,) in loader:
            adam.zero_grad()
            loss = nn.functional.mse_loss(model(x, temperature), x)
            loss = loss + lambda1 * model.arcs.abs().sum() + lambda2 * model.arcs.norm()
            loss = loss + lambda_p * model.priorities.norm()
            loss.backward()
            adam.step()
    return model
