"""Fit of the kernel of a Gaussian process to a target."""

import numpy as np
from scipy.optimize import minimize

from cosmodag.search.networks.process_evidence import (
    Floats,
    Numbers,
    ProcessKernel,
    cost_and_gradient,
)

_START_RELEVANCE, _START_AMPLITUDE, _START_BIAS = 4.0, 30.0, 1.0

# Bounds of the logarithms, so wide that only useless inputs reach one of them.
_RELEVANCE_BOUNDS, _AMPLITUDE_BOUNDS, _BIAS_BOUNDS = (-10.0, 6.0), (-3.0, 8.0), (-6.0, 4.0)


def fit_kernel(
    inputs: Floats, target: Floats, *, steps: int, start: ProcessKernel | None = None
) -> ProcessKernel:
    """Minimise the cost (`process_evidence.cost`) by a few steps of L-BFGS.

    By default all inputs are equally relevant at the start. Inputs are chosen as well with few
    steps as at convergence.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(80, 2))
    >>> y = np.sin(2 * x[:, 0]) + 0.1 * rng.normal(size=80)
    >>> used, unused = fit_kernel(x, y, steps=15).relevances
    >>> bool(used > 5 * unused)
    True
    """
    k = inputs.shape[1]
    if start is None:
        equal = np.full(k, _START_RELEVANCE / max(k, 1))
        start = ProcessKernel(equal, _START_AMPLITUDE, _START_BIAS)
    bounds = np.array([_RELEVANCE_BOUNDS] * k + [_AMPLITUDE_BOUNDS, _BIAS_BOUNDS])
    logarithms = np.log(np.r_[start.relevances, start.amplitude, start.bias])
    found = minimize(
        _objective,
        np.clip(logarithms, *bounds.T),
        args=(inputs, target),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"maxiter": steps, "maxfun": steps + 3},
    )
    return _kernel_at(found.x)


def _kernel_at(logarithms: Numbers) -> ProcessKernel:
    *relevances, amplitude, bias = np.exp(logarithms)
    return ProcessKernel(np.array(relevances), float(amplitude), float(bias))


def _objective(logarithms: Numbers, inputs: Floats, target: Floats) -> tuple[float, Numbers]:
    """Return the cost and its gradient in the logarithms of all parameters of the kernel."""
    kernel = _kernel_at(logarithms)
    gradient = cost_and_gradient(inputs, target, kernel)
    if not np.isfinite(gradient.cost):
        return 1e10, np.zeros_like(logarithms)
    return gradient.cost, np.r_[
        kernel.relevances * gradient.relevances, gradient.amplitude, gradient.bias
    ]
