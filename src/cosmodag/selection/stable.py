"""Stability selection: arcs that are found in many half-samples, at some penalty."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from cosmodag.errors import DataError
from cosmodag.graph.dags import drop_cycles
from cosmodag.learners.base import StructureLearner
from cosmodag.stability import bootstrap

__all__ = ["StabilitySelection", "stability_selection"]


@dataclass(frozen=True, eq=False)
class StabilitySelection:
    """Frequency of each arc, at each value of a parameter.

    Attributes
    ----------
    parameter, values
        The parameter, and its values.
    names
        Names of the variables.
    probabilities
        (values, d, d): share of the half-samples in which the arc u → v was found.
    """

    parameter: str
    values: list[Any]
    names: list[Any]
    probabilities: NDArray[np.float64]

    @property
    def highest(self) -> NDArray[np.float64]:
        """(d, d): the highest share over all values."""
        return np.asarray(self.probabilities.max(axis=0))

    def graph(self, threshold: float = 0.75) -> NDArray[np.bool_]:
        """Arcs with at least this share at some value, acyclic: the most frequent come first."""
        strengths = np.where(self.highest >= threshold, self.highest, 0.0)
        chosen: NDArray[np.bool_] = np.asarray(drop_cycles(strengths)[0]) != 0
        return chosen

    def expected_false(self, threshold: float = 0.75) -> float:
        """Upper bound on the expected number of false arcs above a threshold over a half.

        q² / ((2π − 1) p) for q arcs found on average among p that could be (Meinshausen and
        Bühlmann 2010), if false arcs are exchangeable; those of graphs are so only approximately.
        """
        if not 0.5 < threshold <= 1:
            raise DataError(f"threshold is {threshold!r}: the bound needs one above 0.5, up to 1.")
        d = len(self.names)
        found = float(self.probabilities.sum(axis=(1, 2)).max())
        return found**2 / ((2 * threshold - 1) * d * (d - 1))


def stability_selection(
    model: StructureLearner,
    X: Any,
    parameter: str,
    values: Sequence[Any],
    *,
    n: int = 50,
    interventions: Any = None,
    random_state: Any = None,
    verbose: bool = True,
) -> StabilitySelection:
    """Count in how many half-samples each arc is found, for several values of a parameter.

    Instead of one penalty, the arcs that are frequent at some penalty are chosen.

    Parameters
    ----------
    model : StructureLearner
        Not changed.
    X : table
    parameter : str
        A parameter of the model, such as ``"lambda1"`` or ``"threshold"``.
    values : sequence
    n : int
        Half-samples for each value, the same ones for all.
    interventions : optional
        As for ``fit``.
    random_state : int, Generator, RandomState or None
    verbose : bool

    Examples
    --------
    >>> from cosmodag import Dagma, simulate
    >>> data = simulate.load("n300_d6_ER2_gauss", seed=0)
    >>> found = stability_selection(Dagma(), data.X, "lambda1", [0.02, 0.2], n=4, random_state=0)
    >>> found.probabilities.shape
    (2, 6, 6)
    """
    if parameter not in model.get_params():
        raise DataError(
            f"parameter is {parameter!r}, which {type(model).__name__} does not have: it has "
            f"{', '.join(model.get_params())}."
        )
    if not len(values):
        raise DataError("values is empty: give the values that the parameter should have.")
    if random_state is None:
        random_state = int(np.random.SeedSequence().generate_state(1)[0])
    if not isinstance(random_state, int | np.integer):
        random_state = int(np.random.default_rng(random_state).integers(2**32))
    found = [
        bootstrap(
            clone(model).set_params(**{parameter: value}),
            X,
            n,
            interventions=interventions,
            sample="half",
            random_state=random_state,
            verbose=verbose,
        )
        for value in values
    ]
    shares = np.stack([result.arc_probabilities for result in found])
    return StabilitySelection(parameter, list(values), found[0].names, shares)
