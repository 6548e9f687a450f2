"""Default hyper-parameters, as rules in the number of variables."""

import math

_LARGE = 5_000

# The paper's settings that do not depend on the number of variables.
_PAPER = {
    "lambda2": 2.5e-3,
    "lambda_p": 1.5e-3,
    "shift": 6e-3,
    "temperature_start": 0.45,
    "temperature_end": 8.5e-4,
}


def paper_settings(d: int) -> dict[str, float | None]:
    """COSMO's hyper-parameters for d variables, as the paper's search chose them.

    A single rule close to the settings that were selected on the paper's 36 linear data sets. They
    are constant up to 100 variables; beyond that, the learning rate and λ₁ fall with d, since the
    loss is a mean over variables.

    Examples
    --------
    >>> paper_settings(30)["learning_rate"], paper_settings(500)["learning_rate"]
    (0.006, 0.004)
    """
    return {
        "learning_rate": _power(d, 100, 6e-3, 500, 4e-3),
        "priority_learning_rate": None,
        "lambda1": _power(d, 100, 2.5e-4, 500, 1.2e-4),
        **_PAPER,
    }


def default_settings(d: int) -> dict[str, float]:
    """Hyper-parameters of ``Cosmo()`` for d variables.

    They were found by random search on simulated graphs of several families, and evaluated on
    others (``benchmarks/paper/``). Unlike in the paper, priorities move more slowly than strengths
    and are not penalised, the shift is smaller and λ₂ is larger. λ₁ and both learning rates fall
    with d, since the loss is a mean over variables.

    For 5,000 variables and more, there is one learning rate and a penalty on p, as in the paper:
    the rule for smaller graphs, extrapolated, was no better at 5,000 variables and worse at 10,000
    (``benchmarks/gpu.md``).

    Examples
    --------
    >>> default_settings(30)["lambda1"]
    0.0006
    """
    if d >= _LARGE:
        return {
            "learning_rate": 1e-3,
            "priority_learning_rate": 1e-3,
            "lambda1": 5e-2 / d,
            **_PAPER,
        }
    return {
        "learning_rate": _power(d, 100, 1e-2, 1000, 4e-3),
        "priority_learning_rate": _power(d, 100, 3e-3, 1000, 1.5e-3),
        "lambda1": min(6e-4, 4.5e-4 * (100 / d) ** 0.9),
        "lambda2": 1.4e-2,
        "lambda_p": 0.0,
        "shift": 2.5e-3,
        "temperature_start": 0.37,
        "temperature_end": 1.2e-3,
    }


def default_steps(refinement: str | None) -> int:
    """Default number of training steps of COSMO, for any number of rows.

    A search over orders (``"order"``) needs only a rough starting order. An order that is only
    pruned (``"prune"``) needs more steps. Weights that are the final result, and networks (None),
    need the paper's schedule, 2,000 passes over 1,000 rows.
    """
    return {"order": 3_200, "prune": 9_600}.get(refinement or "", 32_000)


def paper_mlp_settings(d: int) -> dict[str, float | None]:
    """Non-linear COSMO's hyper-parameters, as the paper's search chose them.

    They are close to the settings selected on the paper's non-linear data sets, and the same for
    every d.
    """
    return {
        "learning_rate": 1.7e-3,
        "priority_learning_rate": None,
        "lambda1": 6.7e-4,
        "lambda2": 2.3e-3,
        "lambda_p": 2e-3,
        "shift": 1e-2,
        "temperature_start": 0.45,
        "temperature_end": 8e-4,
    }


def default_mlp_settings(
    d: int, mask: str = "weights", loss: str = "squared-error"
) -> dict[str, float]:
    """Hyper-parameters of ``CosmoMLP()`` for d variables.

    Up to 40 variables, they come from a random search on simulated graphs of 20 variables (36
    configurations, none far from the best), evaluated on other graphs of 20 and 40. For 100
    variables and more, they are close to the paper's, which did as well there as the other settings
    tried. Between these sizes they follow a power law (``benchmarks/nonlinear.md``).

    Parameters
    ----------
    d : int
    mask : {"weights", "inputs"}
        λ₁ is larger for masked inputs, since one gate replaces several weights.
    loss : {"squared-error", "likelihood"}
        With the likelihood, λ₂ has its value for 100 variables at every d: on standardised data of
        networks with eight tanh units (d = 20, four tables, other generators than the benchmarks')
        a smaller fraction of arcs contradicted the learnt order, .105 instead of .148.

    Examples
    --------
    >>> default_mlp_settings(20)["learning_rate"], default_mlp_settings(500)["learning_rate"]
    (0.005, 0.0025)
    """

    def between(small: float, large: float) -> float:
        return _power(min(d, 100), 40, small, 100, large)

    return {
        "learning_rate": between(5e-3, 2.5e-3),
        "priority_learning_rate": between(1e-3, 7e-4),
        "lambda1": between(7e-4, 5e-4) * (1.0 if mask == "weights" else 2.6),
        "lambda2": 3e-3 if loss == "likelihood" else between(1.5e-2, 3e-3),
        "lambda_p": between(1e-4, 2e-3),
        "shift": between(1.2e-2, 1e-2),
        "temperature_start": between(0.3, 0.45),
        "temperature_end": between(1e-3, 8e-4),
    }


def _power(d: int, low: float, at_low: float, high: float, at_high: float) -> float:
    """Power law through two points, constant below the first."""
    if d <= low:
        return at_low
    if d == high:
        return at_high
    exponent = math.log(at_high / at_low) / math.log(high / low)
    return float(at_low * (d / low) ** exponent)
