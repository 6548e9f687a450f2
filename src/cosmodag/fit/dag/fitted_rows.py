"""Rows of a fitted DAG: constants and residuals of training rows, new rows, drawn noise."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.interventions import take_columns, targets_of
from cosmodag.data.kinds import matched
from cosmodag.data.regime_table import label_texts
from cosmodag.errors import DataError
from cosmodag.fit.dag.preparation import deviations_of
from cosmodag.fit.time.unroll import as_windows
from cosmodag.io.tables.frames import as_table

if TYPE_CHECKING:
    from cosmodag.fit.fitted_dag import FittedDAG

Floats = NDArray[np.float64]


def with_constants(given: "FittedDAG", data: NDArray[np.float32], recentre: bool) -> "FittedDAG":
    """Fit constants, residuals and variances; see `FittedDAG.settled`."""
    counted = given.known.counted
    residuals = data - given.predict_prepared(data)
    unexplained = np.average(residuals, axis=0, weights=counted)
    unexplained[given.preparation.constant] = 0
    equations = given.equations.settled(unexplained)
    dag, preparation = replace(given, equations=equations), given.preparation
    if equations is not given.equations:
        residuals = data - dag.predict_prepared(data)
    if recentre and given.known.targets is not None and not equations.has_constants:
        shift = _shift_of_means(dag, np.average(residuals, axis=0, weights=counted))
        preparation = preparation.moved(shift)
        data = np.asarray(data - shift, np.float32)
        residuals = data - dag.predict_prepared(data)
    noise = equations.noise_of(data, dag.adjacency, residuals)
    residuals = np.asarray(noise, np.float32)
    scaled = residuals.astype(np.float64) * preparation.scales
    return replace(
        dag,
        preparation=preparation,
        residuals=residuals,
        noise_variances=np.average(scaled**2, axis=0, weights=counted),
        deviations=deviations_of(data, counted) * preparation.scales,
    )


def _shift_of_means(dag: "FittedDAG", unexplained: Floats) -> Floats:
    """Shift (d,) of the means with which the residuals have mean zero, causes first."""
    shift = np.asarray(unexplained, np.float64)
    shift[dag.preparation.constant] = 0.0
    for v in dag.order:
        shift[v] += dag.predict_column(shift[None], v)[0]
    return shift


def prepared_rows(dag: "FittedDAG", X: Any) -> Floats:
    """Check the columns of new data, and prepare it like the training data."""
    if dag.window is not None:
        X, _ = as_windows(dag.window, X)
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) == 2:  # before `as_table` refuses a table of one column
        _check_columns(dag, shape[1])
    table = as_table(X, fewest_rows=1, declared=dag.texts)
    _check_columns(dag, len(table.names))
    if dag.columns is not None and not isinstance(X, np.ndarray | list | tuple):
        for place, (given, name) in enumerate(zip(table.names, dag.columns, strict=True)):
            if given != name:
                raise DataError(
                    f"Column {place} is '{given}', but the model was fitted on '{name}' there: "
                    "give the columns in the same order."
                )
    return dag.preparation.apply(matched(table, dag.kinds)).astype(np.float64)


def _check_columns(dag: "FittedDAG", columns: int) -> None:
    if columns != dag.d:
        raise DataError(
            f"X has {columns} features, but {dag.learner} is expecting {dag.d} features as "
            "input: give the columns it was fitted on."
        )


def likelihoods_of(dag: "FittedDAG", data: Floats, regimes: Any) -> Floats:
    """Log-likelihoods (n, k) of prepared rows; see `FittedDAG.log_likelihoods`."""
    assert dag.noise_variances is not None
    varying = dag.has_noise
    squares = (data - dag.predict_prepared(data))[:, varying] ** 2
    variances = dag.noise_variances[varying] / dag.preparation.scales[varying] ** 2
    # The residuals of a column that others determine exactly, such as a copy, are rounding errors.
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


def score_of(dag: "FittedDAG", X: Any, interventions: Any, regimes: Any) -> float:
    """Compute the mean log-likelihood of entries that were not set; see `FittedDAG.score`."""
    X, entries, labels = take_columns(X, interventions, regimes)
    if dag.window is not None:
        X, entries = as_windows(dag.window, X, entries)
    likelihoods = dag.log_likelihoods(X, labels)
    targets = targets_of(entries, dag.texts, len(likelihoods))
    if targets is not None:
        likelihoods = likelihoods[~targets[:, dag.has_noise]]
    return float(np.mean(likelihoods)) if likelihoods.size else 0.0


def drawn_noise(dag: "FittedDAG", n: int, random: np.random.Generator, *, normal: bool) -> Floats:
    """Draw n rows of noise; see `FittedDAG.drawn_noise`."""
    counted = dag.known.counted
    if dag.residuals is None or normal:
        assert dag.noise_variances is not None
        deviations = np.sqrt(dag.noise_variances) / dag.preparation.scales
        return dag.equations.redrawn(random.normal(size=(n, dag.d)) * deviations, random)
    if counted is None:
        rows = random.integers(len(dag.residuals), size=(n, dag.d))
    else:  # for each variable, the rows in which it was measured and not set
        own = (np.flatnonzero(column) for column in counted.T)
        rows = np.stack([random.choice(places, size=n) for places in own], axis=1)
    drawn = dag.residuals[rows, np.arange(dag.d)].astype(np.float64)
    return dag.equations.redrawn(drawn, random)
