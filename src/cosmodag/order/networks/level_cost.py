"""Likelihood of the levels of a category, from predictions of their indicators."""

import numpy as np
from numpy.typing import NDArray

from cosmodag.order.mixed.multinomial import fit_levels

__all__ = ["level_cost"]


def level_cost(levels: NDArray[np.int64], means: NDArray[np.float64]) -> float:
    """Compute minus the log-likelihood of levels, in nats.

    Means of indicators are no probabilities: a multinomial logistic regression on them gives
    these.

    Parameters
    ----------
    levels : (n,) array of int
    means : (n, m) array
        Predicted combinations of indicators, each row from other rows.

    Examples
    --------
    >>> levels = np.arange(90) % 3
    >>> round(level_cost(levels, np.zeros((90, 2))) / 90, 3)  # log 3
    1.099
    """
    present, numbers = np.unique(levels, return_inverse=True)
    if len(present) == 1:
        return 0.0
    design = np.column_stack([np.ones(len(levels)), means])
    return -fit_levels(design, numbers, len(present))[1]
