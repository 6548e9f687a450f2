"""Linear COSMO in plain PyTorch, as the paper describes it: the loop compared with this package.

Autograd, `torch.optim.Adam`, and a shuffling `DataLoader` of 64 rows; nothing is tuned.
"""

import math

import torch
from torch.utils.data import DataLoader, TensorDataset


class PlainCosmo(torch.nn.Module):
    """W = H ∘ S_{t,ε}(p) with the diagonal masked, and x̂ = x W."""

    def __init__(self, d: int, shift: float) -> None:
        super().__init__()
        limit = math.sqrt(3 / d)
        self.strengths = torch.nn.Parameter(torch.empty(d, d).uniform_(-limit, limit))
        self.priorities = torch.nn.Parameter(torch.randn(d) * shift / math.sqrt(2))
        self.register_buffer("mask", 1 - torch.eye(d))
        self.shift = shift

    def weights(self, temperature: float) -> torch.Tensor:
        """Orient the strengths smoothly."""
        differences = self.priorities[None, :] - self.priorities[:, None]
        orientation = torch.sigmoid((differences - self.shift) / temperature)
        return self.strengths * orientation * self.mask

    def forward(self, x: torch.Tensor, temperature: float) -> torch.Tensor:
        """Predict every variable."""
        return x @ self.weights(temperature)


def fit(data: torch.Tensor, settings: dict[str, float], epochs: int) -> PlainCosmo:
    """Train for the first `epochs` of ``settings["epochs"]`` epochs."""
    model = PlainCosmo(data.shape[1], settings["shift"])
    optimiser = torch.optim.Adam(model.parameters(), lr=settings["learning_rate"])
    loader = DataLoader(TensorDataset(data), batch_size=64, shuffle=True, num_workers=0)
    start, end = settings["temperature_start"], settings["temperature_end"]
    for epoch in range(epochs):
        wave = 0.5 * (1 + math.cos(math.pi * epoch / settings["epochs"]))
        temperature = end + (start - end) * wave
        for (x,) in loader:
            loss = (
                torch.nn.functional.mse_loss(model(x, temperature), x)
                + settings["lambda1"] * model.strengths.abs().sum()
                + settings["lambda2"] * torch.linalg.norm(model.strengths)
                + settings["lambda_p"] * torch.linalg.norm(model.priorities)
            )
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    return model
