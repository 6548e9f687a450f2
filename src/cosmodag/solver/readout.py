"""Reading out very large graphs: arcs above a threshold, without a dense matrix on the host."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy import sparse

from cosmodag.structure import Parameters, Priority, Settings

__all__ = ["strong_arcs"]

_TILE_ENTRIES = 2**26


def strong_arcs(
    structure: Priority, parameters: Parameters, settings: Settings, threshold: float
) -> sparse.csr_array:
    """Find the arcs of a linear model above a threshold in magnitude, as a sparse (d, d) matrix.

    The oriented weights are formed a few rows at a time where the parameters are, and only the
    arcs that pass are brought to the host.

    Parameters
    ----------
    structure : Priority
    parameters : Parameters
    settings : mapping
        Those of the last epoch.
    threshold : float
    """
    d = parameters["arcs"].shape[0]
    height = max(1, min(d, _TILE_ENTRIES // d))
    found = []
    for first in range(0, d, height):
        # The last tile begins earlier, so that all have one shape; rows seen before are dropped.
        begin = min(first, d - height)
        tile = _tile(structure, height, parameters["arcs"], parameters["order"], settings, begin)
        rows, columns = np.nonzero(np.asarray(jnp.abs(tile) > threshold))
        weights = np.asarray(tile[rows, columns])
        new = rows >= first - begin
        found.append((rows[new] + begin, columns[new], weights[new]))
    rows, columns, weights = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return sparse.csr_array((weights.astype(np.float64), (rows, columns)), shape=(d, d))


@partial(jax.jit, static_argnums=(0, 1))
def _tile(
    structure: Priority, height: int, arcs: Any, order: Any, settings: Settings, begin: Any
) -> jax.Array:
    rows = jax.lax.dynamic_slice_in_dim(arcs, begin, height)
    return structure.orient_rows(rows, order, begin, settings)
