"""Read-out of a trained module as a DAG, as for every learner of the package."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from cosmodag.errors import DataError
from cosmodag.graph.dags import above, agreeing, order_of
from cosmodag.torch.layers import PriorityLayer

__all__ = ["read_out"]


def read_out(
    weights: PriorityLayer | ArrayLike | Tensor,
    priorities: ArrayLike | Tensor | None = None,
    *,
    threshold: float = 0.3,
) -> NDArray[Any]:
    r"""Weights of a DAG: arcs above a threshold that agree with the order of the priorities.

    The result is a DAG at any threshold and temperature, in every mode of the orientation.

    Parameters
    ----------
    weights : PriorityLinear, PriorityMLP, or (d, d) matrix
        A layer, whose strengths at the current temperature are used; or strengths of arcs, such as
        H ∘ S or H itself, together with `priorities`.
    priorities : (d,) array or tensor, optional
        p, if the first argument is a matrix.
    threshold : float
        Arcs with \|W\| at or below it are left out.

    Returns
    -------
    (d, d) array
        ``[u, v]`` is the weight of the arc u → v, 0 if there is none.

    Examples
    --------
    >>> read_out(torch.tensor([[9.0, 0.5], [0.9, 9.0]]), torch.tensor([0.0, 1.0])).tolist()
    [[0.0, 0.5], [0.0, 0.0]]
    """
    if isinstance(weights, PriorityLayer):
        order = weights.orientation.order()
        strengths = _array(weights.strength())
    elif priorities is None:
        raise DataError("read_out of a matrix also needs the priorities: read_out(W, p).")
    else:
        order, strengths = order_of(_array(priorities)), _array(weights)
    kept: NDArray[Any] = above(agreeing(strengths, order), threshold)
    return kept


def _array(values: ArrayLike | Tensor) -> NDArray[Any]:
    if isinstance(values, Tensor):
        values = values.detach().to("cpu")
        # NumPy has no bfloat16.
        return np.asarray(values.float() if values.dtype == torch.bfloat16 else values)
    return np.asarray(values)
