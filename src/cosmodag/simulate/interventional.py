"""Simulated experiments: observational rows followed by rows with interventions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.errors import DataError
from cosmodag.io.datasets import Dataset
from cosmodag.simulate.mechanisms import Matrix, draw_noise, propagate, sample_nonlinear
from cosmodag.simulate.named import load, parse_name, streams_of
from cosmodag.simulate.random_graphs import random_weights


@dataclass(frozen=True, eq=False)
class Experiments(Dataset):
    """A data set with interventions.

    Attributes
    ----------
    targets : ndarray of bool, shape (n, d)
        Whether a variable was intervened on in a row. All other attributes are those of `Dataset`.
    """

    targets: NDArray[np.bool_]

    @property
    def interventions(self) -> list[str]:
        """Names of the targets of each row, separated by semicolons, as ``fit`` takes them."""
        return [
            ";".join(name for name, is_set in zip(self.names, row, strict=True) if is_set)
            for row in self.targets
        ]


def interventional(
    name: str,
    targets: int | str | Sequence[Any] = "all",
    rows: int = 100,
    *,
    kind: str = "perfect",
    strength: float = 1.0,
    shift: float = 0.0,
    seed: int = 0,
) -> Experiments:
    """Simulate a named data set, followed by rows of experiments on its variables.

    Parameters
    ----------
    name : str
        As for `load`. Its rows come first, as observations; with Gaussian processes, all rows are
        drawn together, and the first ones differ from those of `load`.
    targets : "all", int, or sequence of variables
        Variables to intervene on, one at a time: all, a number of variables drawn at random, or
        those given by number or name. The variables of a tuple or list within the sequence are
        intervened on together.
    rows : int
        Number of rows per target.
    kind : {"perfect", "imperfect"}
        *Perfect*: the variable no longer depends on its parents, and is drawn from a normal
        distribution with the mean and (times `strength`) the standard deviation of its
        observations. *Imperfect*: it keeps its parents, but has new weights, drawn like the old
        ones, and noise of twice the scale; only for linear mechanisms.
    strength : float
        Factor of the standard deviation of perfect interventions; larger values have clearer
        effects.
    shift : float
        Shift of the values of perfect interventions, in standard deviations of the variable's
        observations.
    seed : int
        As for `load`.

    Returns
    -------
    Experiments
        A `Dataset` with `targets`, of shape (n, d), and `interventions`, their names row by row.

    Examples
    --------
    >>> data = interventional("n1000_d20_ER2_gauss", targets=["x3", ("x4", "x5")], rows=50)
    >>> data.X.shape, data.interventions[999:1001], data.interventions[-1]
    ((1100, 20), ['', 'x3'], 'x4;x5')
    """
    parts = parse_name(name)
    if parts.samples is None:
        raise DataError(
            f"The data set {name!r} has no rows to add experiments to: give a number of samples."
        )
    if kind not in ("perfect", "imperfect"):
        raise DataError(f"kind is {kind!r}: it must be 'perfect' or 'imperfect'.")
    if not isinstance(rows, int | np.integer) or rows < 0:
        raise DataError(f"rows is {rows!r}: it must be a whole number, zero or more.")
    if not np.isfinite([strength, shift]).all():
        raise DataError(f"strength and shift must be finite, but are {strength} and {shift}.")
    data = load(name, seed=seed)
    if kind == "imperfect" and data.weights is None:
        raise DataError("Imperfect interventions need a linear mechanism: use kind='perfect'.")
    # This stream is independent of those of `load`, so that the observations are the same.
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(3,)))
    sets = _target_sets(targets, data.names, rng)
    mask = np.zeros((len(data.X) + rows * len(sets), len(data.names)), bool)
    for place, chosen in enumerate(sets):
        first = len(data.X) + rows * place
        mask[first : first + rows, list(chosen)] = True
    # Non-linear data are drawn again, with all rows, from the functions and the noise of `load`.
    drawn = mask if data.weights is None else mask[len(data.X) :]
    held = None
    if kind == "perfect":
        normal = rng.normal(size=drawn.shape)
        held = data.X.mean(axis=0) + data.X.std(axis=0) * (strength * normal + shift)
        held = np.where(drawn, held, np.nan)
    if data.weights is None:
        graph, stream = sparse.csr_array(data.graph), streams_of(seed)[2]
        X = sample_nonlinear(graph, len(mask), stream, mechanism=parts.mechanism, held=held)
    else:
        X = np.vstack([data.X, _linear(data, parts.mechanism, drawn, held, rng)])
    return Experiments(name, data.seed, X, data.names, data.weights, data.graph, mask)


def _target_sets(
    targets: int | str | Sequence[Any], names: tuple[str, ...], rng: np.random.Generator
) -> list[tuple[int, ...]]:
    """Variables, as numbers, of each experiment."""
    d = len(names)
    if isinstance(targets, str | bool | float):
        if targets != "all":
            raise DataError(
                f"targets is {targets!r}: give 'all', a number, or a list of variables."
            )
        return [(v,) for v in range(d)]
    if isinstance(targets, int | np.integer):
        if not 0 <= targets <= d:
            raise DataError(f"targets is {targets}: it must be a number from 0 to {d}.")
        return [(int(v),) for v in np.sort(rng.choice(d, targets, replace=False))]
    known: dict[Any, int] = dict(zip((*names, *range(d)), (*range(d), *range(d)), strict=True))
    found = []
    for entry in targets:
        together = entry if isinstance(entry, tuple | list) else (entry,)
        for target in together:
            if target not in known:
                raise DataError(f"targets names {target!r}: give names or numbers of variables.")
        found.append(tuple(known[target] for target in together))
    return found


def _linear(
    data: Dataset,
    noise: str,
    mask: NDArray[np.bool_],
    held: Matrix | None,
    rng: np.random.Generator,
) -> Matrix:
    """Draw rows of a linear model; variables in `mask` are held, or have changed equations."""
    d = len(data.names)
    found = np.empty(mask.shape)
    for chosen in np.unique(mask, axis=0):
        rows = np.flatnonzero((mask == chosen).all(axis=1))
        weights = sparse.csr_array(data.weights).tocsc(copy=True)
        changed = np.repeat(chosen, np.diff(weights.indptr))
        scales = np.where(chosen, 2.0, 1.0)
        if held is None:
            weights.data = np.where(
                changed, random_weights(weights, rng).tocsc().data, weights.data
            )
            drawn = draw_noise(noise, len(rows), scales, d, rng)
        else:
            weights.data = np.where(changed, 0.0, weights.data)
            drawn = np.where(chosen, held[rows], draw_noise(noise, len(rows), 1.0, d, rng))
        found[rows] = propagate(weights.tocsr(), drawn)
    return found
