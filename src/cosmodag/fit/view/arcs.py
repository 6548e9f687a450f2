"""Table of the arcs of a fitted graph: standardised weights, errors and bases of directions."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.fit.dag.basis import contains_arcs
from cosmodag.runtime.threads import blas_threads

if TYPE_CHECKING:
    import pandas as pd

    from cosmodag.assess.bootstrapping import BootstrapResult
    from cosmodag.fit.view.fitted import FittedGraph

Floats = NDArray[np.float64]

_REDUNDANT = 1e-10  # smallest eigenvalue of correlations that is not rounding error

# Largest share of unexplained variance that may be rounding error: the data are single precision.
_ROUNDING = 1e-12


def arc_table(model: "FittedGraph", errors: Floats | None = None) -> "pd.DataFrame":
    """Tabulate the arcs of a fitted graph, the largest first; ``model.arcs_`` has the columns.

    The index is the place of each arc in ``edges_``. Standard errors of the weights are given in
    that order, or computed from the training data if the model has it.
    """
    import pandas as pd

    edges, names = model.edges_, model.names_
    if errors is None and hasattr(model, "residuals_"):
        errors = standard_errors(model, model.training_data())
    errors = np.full(edges.nnz, np.nan) if errors is None else errors
    is_open = contains_arcs(model.fitted_.equivalence_class(), edges.col, edges.row)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = edges.data / errors
    table = pd.DataFrame(
        {
            "cause": [names[u] for u in edges.row],
            "effect": [names[v] for v in edges.col],
            "weight": np.asarray(edges.data, np.float64),
            "standardised": standardised_weights(model),
            "se": errors,
            "t": np.where(np.isfinite(t), t, np.nan),
            "basis": model.fitted_.arrow_basis,
            "grade": model.fitted_.assertions.grades,
            "class": np.where(is_open, "undirected", "directed"),
        }
    )
    return table.iloc[largest_first(table["standardised"].to_numpy(), table["weight"].to_numpy())]


def with_shares(
    table: "pd.DataFrame", edges: sparse.coo_array, resamples: "BootstrapResult | None"
) -> "pd.DataFrame":
    """Add ``p_edge`` and ``p_direction`` of a bootstrap to an `arc_table`; NaN without one."""
    if resamples is None:
        return table.assign(p_edge=np.nan, p_direction=np.nan)
    places = edges.row[table.index], edges.col[table.index]
    return table.assign(
        p_edge=resamples.edge_probabilities[places],
        p_direction=resamples.direction_probabilities[places],
    )


def largest_first(standardised: Floats, weights: Floats) -> NDArray[np.intp]:
    """Rank arcs by the size of their standardised weights; by raw weights if these are unknown.

    Examples
    --------
    >>> largest_first(np.array([0.1, -0.9, 0.5]), np.array([7.0, 8.0, 9.0])).tolist()
    [1, 2, 0]
    """
    sizes = np.where(np.isnan(standardised), -1.0, np.abs(standardised))
    return np.lexsort((-np.abs(weights), -sizes))


def standardised_weights(model: "FittedGraph") -> Floats:
    """Weights of the arcs of ``edges_`` for columns with a standard deviation of one.

    The weight times the deviation of the cause, divided by that of the effect. The strength of an
    arc of a network depends on the unit of the cause only, and is not divided.
    """
    edges = model.edges_
    sizes = model.deviations_ / model.preparation_.scales
    divisors = 1.0 if hasattr(model, "response") else sizes[edges.col]
    with np.errstate(divide="ignore", invalid="ignore"):
        found = edges.data * (sizes[edges.row] / divisors)
    return np.where(np.isfinite(found), found, np.nan)


def standard_errors(model: "FittedGraph", prepared: Floats) -> Floats | None:
    """Compute standard errors of the weights of arcs, by least squares on the parents.

    They treat the arcs as known, although the same data chose them. Rows in which the effect was
    set, or in which it or a parent is missing, say nothing about its equation.

    `prepared` is the training data, in the units of the weights. The errors are in the order of
    ``edges_``, NaN if parents are redundant, rows too few or residuals rounding errors; None for
    equations that are not linear, and for a model with interventions that was saved without its
    residuals, since the file then does not say in which rows they were.
    """
    dag, edges = model.fitted_, model.edges_
    if not dag.is_linear or not dag.knows_targets:
        return None
    errors = np.full(edges.nnz, np.nan)
    by_head = np.argsort(edges.col, kind="stable")
    starts = np.flatnonzero(np.diff(edges.col[by_head], prepend=-1))
    # Several threads would slow down thousands of small products.
    with blas_threads(1):
        for arcs in np.split(by_head, starts[1:]) if len(by_head) else []:
            parents, head = edges.row[arcs], edges.col[arcs[0]]
            used = prepared[dag.known.rows_of_equation(parents, head)]
            covariance, sizes = coefficient_covariance(used[:, parents], used[:, head])
            variances = np.diag(covariance)
            # They are at least the variance of the residuals, since the regressors have norm one.
            if variances.min() > _ROUNDING * used[:, head].var():
                errors[arcs] = np.sqrt(variances) / sizes
    return errors


def coefficient_covariance(regressors: Floats, response: Floats) -> tuple[Floats, Floats]:
    """Compute the covariance (k, k) of least-squares coefficients for regressors of norm one.

    The second result is the norms (k,) of the centred regressors, by which coefficients are to be
    divided. The covariance is NaN if regressors are redundant or rows too few.
    """
    n, k = regressors.shape
    regressors, response = regressors - regressors.mean(axis=0), response - response.mean()
    unknown = np.full((k, k), np.nan)
    sizes = np.linalg.norm(regressors, axis=0)
    if n - k - 1 < 1 or not (sizes > 0).all():
        return unknown, sizes
    unit = regressors / sizes
    products = unit.T @ unit
    if np.linalg.eigvalsh(products)[0] < _REDUNDANT:
        return unknown, sizes
    inverse = np.linalg.inv(products)
    residuals = response - unit @ (inverse @ (unit.T @ response))
    variance = float(residuals @ residuals) / (n - k - 1)
    return variance * inverse, sizes
