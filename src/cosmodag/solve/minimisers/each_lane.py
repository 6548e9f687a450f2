"""Base class of the minimisers that solve one problem at a time, and their shared computations."""

import threading
from abc import abstractmethod
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.model.structure import Parameters
from cosmodag.runtime.threads import blas_threads, threads_worth
from cosmodag.solve.minimisers.minimiser import Mask, Minimised, Minimiser
from cosmodag.solve.problems import Batch
from cosmodag.solve.trees import lane_of, leaves, map_arrays
from cosmodag.solve.watch import Watch

Float64 = NDArray[np.float64]

# Number of variables from which one matrix product or inverse can delay the response to Ctrl-C.
_LARGE = 1000


class LaneResult(NamedTuple):
    """Result of the minimisation of one problem; the fields are those of `Minimised`."""

    parameters: Parameters
    loss: float
    iterations: int
    converged: bool
    refused: bool = False


class EachLane(Minimiser):
    """Base class of minimisers that solve one problem at a time, on the host."""

    trains: ClassVar[bool] = False
    needs: ClassVar[frozenset[str]] = frozenset({"rounds"})
    dtype: ClassVar[Any] = np.float64  # precision of the computation
    # Whether a large problem can spend seconds outside Python. It is then solved on another thread,
    # so that the main thread can respond to Ctrl-C; abandoned work ends by itself.
    leaves_python: ClassVar[bool] = False

    @abstractmethod
    def solve_one(self, batch: Batch, lane: int, start: Parameters, watch: Watch) -> LaneResult:
        """Solve problem `lane`, starting from `start`, which may be changed in place."""

    def minimise(
        self, batch: Batch, parameters: Parameters, active: Mask, first: int, watch: Watch
    ) -> Minimised:
        """Solve the active problems one after another, until the watch stops the run."""
        found = map_arrays(lambda stacked: np.array(stacked, self.dtype), parameters)
        loss = np.full(batch.size, np.nan)
        refused, converged = np.zeros((2, batch.size), bool)
        most_iterations = 0
        is_slow = self.leaves_python and batch.variables >= _LARGE
        with blas_threads(threads_worth(float(batch.variables) ** 3)):
            for lane in np.flatnonzero(active).tolist():
                if watch.stop is not None:
                    break
                solve = partial(self.solve_one, batch, lane, lane_of(found, lane), watch)
                ended = _run_on_thread(solve) if is_slow else solve()
                for stacked, leaf in zip(leaves(found), leaves(ended.parameters), strict=True):
                    stacked[lane] = leaf
                loss[lane] = ended.loss
                refused[lane], converged[lane] = ended.refused, ended.converged
                most_iterations = max(most_iterations, ended.iterations)
        return Minimised(found, loss, most_iterations, refused, converged, watch.stop)


def _run_on_thread(work: Callable[[], LaneResult]) -> LaneResult:
    """Call a function on another thread, which is abandoned if this thread is interrupted."""
    future: Future[LaneResult] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    # Not a pool: it would wait for the thread.
    threading.Thread(target=run, daemon=True).start()
    return future.result()


class Arcs(NamedTuple):
    """Constants of all arcs, (d, d) each."""

    gain: Float64  # G of W = arcs ∘ G, zero outside the support
    price: Float64  # factor of |W| in the objective


def lane_arcs(batch: Batch, lane: int, gain: Float64, price: float) -> Arcs:
    """Restrict the gain to the support of a problem, and set the price of required arcs to zero."""
    support = np.asarray(batch.of_lane("support", lane, 1.0), np.float64)
    required = np.asarray(batch.of_lane("required", lane, 0.0), np.float64)
    return Arcs(gain * support, np.full_like(gain, price) * (1 - required))


class Covariances(NamedTuple):
    """Second moments of a table, one matrix for each group of variables with the same row weights.

    With c_iv the weight of entry (i, v) and N = Σ c / d, the equation of v depends on the table
    only through C_v = Σ_i c_iv x_i x_iᵀ / N. If all rows count for all variables, the only matrix
    is XᵀX / n.
    """

    matrices: Float64  # (g, d, d): one for each of g groups
    members: NDArray[np.intp]  # group k is members[bounds[k] : bounds[k + 1]]
    bounds: NDArray[np.intp]
    own: Float64  # (d, d): column v of C_v for each v, the covariances of v with all others


def covariances_of(batch: Batch, lane: int) -> Covariances:
    """Second moments of the centred data of a problem, in float64."""
    data = np.asarray(batch.of_lane("data", lane), np.float64)
    n, d = data.shape
    counted = np.asarray(batch.of_lane("counted", lane, np.ones((n, 1))), np.float64)
    distinct, group = counted, np.zeros(d, np.intp)
    if counted.shape[1] > 1:
        distinct, group = np.unique(counted, axis=1, return_inverse=True)
        group = group.ravel()
    total = counted.sum() / counted.shape[1]
    # If all weights are zero, the score is zero.
    scale = max(total, np.finfo(np.float64).tiny)
    matrices = np.stack([(data * column[:, None]).T @ data / scale for column in distinct.T])
    members = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[members], np.arange(len(matrices) + 1))
    own = np.ascontiguousarray(matrices[group, :, np.arange(d)].T)
    return Covariances(matrices, members, bounds, own)


def half_squared_error_of_moments(
    covariances: Covariances, weights: Float64
) -> tuple[float, Float64]:
    """ℓ(W) = ½ Σ_v (e_v − w_v)ᵀ C_v (e_v − w_v), and ∇ℓ, whose column v is −C_v (e_v − w_v).

    With one covariance this is ‖X − XW‖_F² / 2n = ½ tr (I − W)ᵀ C (I − W).

    >>> one = Covariances(np.eye(2)[None], np.arange(2), np.array([0, 2]), np.eye(2))
    >>> half_squared_error_of_moments(one, np.zeros((2, 2)))[0]
    1.0
    """
    rest = np.eye(len(weights)) - weights
    if len(covariances.matrices) == 1:
        product = covariances.matrices[0] @ rest
    else:
        product = np.empty_like(rest)
        for k, matrix in enumerate(covariances.matrices):
            group = covariances.members[covariances.bounds[k] : covariances.bounds[k + 1]]
            product[:, group] = matrix @ rest[:, group]
    return float(0.5 * np.sum(rest * product)), -product
