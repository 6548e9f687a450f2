"""From a trained module to a DAG, by the same read-out as every learner of the package."""

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

    A DAG at any threshold and any temperature, in every mode of the orientation.

    Parameters
    ----------
    weights : PriorityLinear, PriorityMLP, or (d, d) matrix
        A layer, whose strengths at the temperature in force are read; or strengths of arcs, such as
        H ∘ S or H itself, beside `priorities`.
    priorities : (d,) array or tensor, optional
        p, where the first argument is a matrix.
    threshold : float
        Arcs with \|W\| at or below it are left out.

    Returns
    -------
    (d, d) array
        ``[u, v]`` is the weight of the arc u → v, 0 where there is none.

    Examples
    --------
    >>> read_out(torch.tensor([[9.0, 0.5], [0.9, 9.0]]), torch.tensor([0.0, 1.0])).tolist()
    [[0.0, 0.5], [0.0, 0.0]]
    """
    if isinstance(weights, PriorityLayer):
        order = weights.orientation.order()
        strengths = _array(weights.strength())
    elif priorities is None:
        raise DataError("read_out needs the priorities beside a matrix: read_out(W, p).")
    else:
        order, strengths = order_of(_array(priorities)), _array(weights)
    kept: NDArray[Any] = above(agreeing(strengths, order), threshold)
    return kept


def _array(values: ArrayLike | Tensor) -> NDArray[Any]:
    if isinstance(values, Tensor):
        values = values.detach().to("cpu")
        # NumPy has no bfloat16, and needs none here.
        return np.asarray(values.float() if values.dtype == torch.bfloat16 else values)
    return np.asarray(values)
