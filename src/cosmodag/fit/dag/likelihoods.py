"""Log-likelihoods of rows under a fitted DAG."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.regimes import label_texts
from cosmodag.errors import DataError

if TYPE_CHECKING:
    from cosmodag.fit.fitted_dag import FittedDAG

__all__ = ["likelihoods_of"]


def likelihoods_of(
    dag: "FittedDAG", data: NDArray[np.float64], regimes: Any = None
) -> NDArray[np.float64]:
    """Compute the log-likelihood of every entry of the columns that have noise.

    Parameters
    ----------
    dag : FittedDAG
    data : (n, d) array
        Prepared like the training data.
    regimes : sequence, optional
        The regime of each row: targets then have the equations of their own.

    Returns
    -------
    (n, k) array
        In the units of the table. Gaussian, unless the equations have another likelihood, such as
        that of categories.
    """
    assert dag.noise_variances is not None
    varying = dag.has_noise
    squares = (data - dag.predict_prepared(data))[:, varying] ** 2
    variances = dag.noise_variances[varying] / dag.preparation.scales[varying] ** 2
    # A column that others determine exactly, such as a copy, has rounding errors only.
    variances = np.maximum(variances, float(np.finfo(np.float32).eps) ** 2)
    likelihood = -0.5 * (np.log(2 * np.pi * variances) + squares / variances)
    likelihood -= np.log(dag.preparation.scales[varying])
    for place, v in enumerate(np.flatnonzero(varying).tolist()):
        own = dag.equations.own_log_likelihoods(data, dag.adjacency, v)
        if own is not None:
            likelihood[:, place] = own
    if regimes is None:
        return np.asarray(likelihood)
    if dag.regimes is None:
        raise DataError("The model was fitted without regimes: leave regimes out.")
    texts = label_texts(regimes, len(likelihood))
    shared = np.zeros((len(likelihood), dag.d))
    shared[:, varying] = likelihood
    return dag.regimes.likelihoods(dag.preparation.undo(data), texts, shared)[:, varying]
