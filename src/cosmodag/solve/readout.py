"""Read-out of solutions, for all learners: strengths of arcs, order, networks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.graph.dags import DENSE_LIMIT
from cosmodag.model.mechanism import Linear
from cosmodag.model.structure import Parameters, Priority, Settings
from cosmodag.runtime.devices import Host, precision_of
from cosmodag.runtime.later import jax, jitted
from cosmodag.solve.problems import Problem, Solution
from cosmodag.solve.recipe import Recipe

# Number of entries of W that are formed at once.
_TILE_ENTRIES = 2**26


class ReadOut(NamedTuple):
    """What is read from a solution.

    For very many variables, the strengths are a sparse matrix of the arcs above the threshold, and
    the last two fields are None.
    """

    strengths: Any  # (d, d): of all arcs, as optimised
    order: NDArray[np.intp] | None  # causes first; None if the structure has no order
    first_layer: NDArray[Any] | None  # (d, d) or (d, d, h): as the mechanism's functions use it
    weights: NDArray[Any] | None = None  # W


def read_out(
    solution: Solution, problem: Problem, threshold: float, device: Host | jax.Device
) -> ReadOut:
    """Read out a solution at the final settings of its problem."""
    recipe, parameters = solution.recipe, solution.parameters
    settings = recipe.schedule(problem.settings.get("rounds", 1), problem.settings)
    support = 1.0 if problem.support is None else problem.support
    order = recipe.structure.order_of(parameters)
    d = parameters["arcs"].shape[0]
    is_large = d > DENSE_LIMIT and recipe.mechanism == Linear() and recipe.structure == Priority()
    if is_large:
        with precision_of(parameters, device):
            return ReadOut(strong_arcs(parameters, settings, threshold, support), order, None)
    # Not inherited: a class derived from one that takes NumPy arrays may need JAX.
    parts = (recipe.structure, recipe.mechanism)
    takes_numpy = all(vars(type(part)).get("takes_numpy", False) for part in parts)
    if device.platform == "cpu" and takes_numpy:
        found = _strengths_and_weights(recipe, parameters, settings, support)
    else:
        with precision_of(parameters, device):
            found = _compiled(recipe, parameters, settings, support)
    strengths, layer, weights = map(np.asarray, found)
    return ReadOut(strengths, order, layer, weights)


def _strengths_and_weights(
    recipe: Recipe, parameters: Parameters, settings: Settings, support: Any
) -> tuple[jax.Array, jax.Array, jax.Array]:
    weights = recipe.structure.orient(parameters, settings, support)
    functions = parameters["functions"]
    return (
        recipe.mechanism.strength(weights, functions),
        recipe.mechanism.first_layer(weights, functions),
        weights,
    )


# One program: separately, each of a dozen operations would be compiled for every new d.
_compiled = jitted(static_argnums=0)(_strengths_and_weights)


def strong_arcs(
    parameters: Parameters, settings: Settings, threshold: float, support: Any = 1.0
) -> sparse.csr_array:
    """Find the arcs of linear COSMO above a threshold in magnitude, as a sparse (d, d) matrix.

    The oriented weights are formed in tiles of rows on the device of the parameters, and only the
    arcs above the threshold are kept.
    """
    arcs, order = parameters["arcs"], parameters["order"]
    d = arcs.shape[0]
    height = max(1, min(d, _TILE_ENTRIES // d))
    found = []
    for first in range(0, d, height):
        # The last tile starts earlier, so that all have one shape; repeated rows are dropped.
        begin = min(first, d - height)
        allowed = support[begin : begin + height] if np.ndim(support) else support
        # On the host, because JAX would compile a program for every number of arcs found.
        tile = np.asarray(_tile(arcs[begin : begin + height], order, settings, begin, allowed))
        rows, columns = np.nonzero(np.abs(tile) > threshold)
        weights = tile[rows, columns]
        new = rows >= first - begin
        found.append((rows[new] + begin, columns[new], weights[new]))
    rows, columns, weights = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return sparse.csr_array((weights.astype(np.float64), (rows, columns)), shape=(d, d))


@jitted()
def _tile(rows: Any, order: Any, settings: Settings, begin: Any, support: Any) -> Any:
    return Priority().orient_rows(rows, order, begin, settings, support)
