"""Base of the minimisers that solve one problem at a time, and the score as they compute it."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.model.structure import Parameters
from cosmodag.solve.machine.threads import blas_threads, threads_worth
from cosmodag.solve.minimisers.base import Mask, Minimised
from cosmodag.solve.problems import Batch
from cosmodag.solve.trees import lane_of, leaves, map_arrays
from cosmodag.solve.watch import Watch

# Number of variables from which one matrix product or inverse can delay the reply to Ctrl-C.
_LONG = 1000


class LaneResult(NamedTuple):
    """Result of the minimisation of one problem; the fields are those of `Minimised`."""

    parameters: Parameters
    loss: float
    iterations: int
    converged: bool
    refused: bool = False


class EachLane:
    """Base of minimisers that solve one problem at a time, in one precision, on the host."""

    trains: ClassVar[bool] = False
    needs: ClassVar[frozenset[str]] = frozenset({"rounds"})
    dtype: ClassVar[Any] = np.float64
    # Whether the work of a large problem spends seconds outside Python. It then runs on another
    # thread, so that the main thread can respond to Ctrl-C; abandoned work ends by itself.
    leaves_python: ClassVar[bool] = False

    def solve_one(self, batch: Batch, lane: int, start: Parameters, watch: Watch) -> LaneResult:
        """Solve one problem; it may change `start`, the parameters of its lane, in place."""
        raise NotImplementedError

    def minimise(
        self, batch: Batch, parameters: Parameters, active: Mask, first: int, watch: Watch
    ) -> Minimised:
        """Solve the active lanes one after another, until the watch stops the run."""
        found = map_arrays(lambda stacked: np.array(stacked, self.dtype), parameters)
        loss = np.full(batch.size, np.nan)
        refused, converged = np.zeros((2, batch.size), bool)
        longest = 0
        is_long = self.leaves_python and batch.variables >= _LONG
        with blas_threads(threads_worth(float(batch.variables) ** 3)):
            for lane in np.flatnonzero(active).tolist():
                if watch.stop is not None:
                    break
                solve = partial(self.solve_one, batch, lane, lane_of(found, lane), watch)
                ended = _on_other_thread(solve) if is_long else solve()
                for stacked, leaf in zip(leaves(found), leaves(ended.parameters), strict=True):
                    stacked[lane] = leaf
                loss[lane] = ended.loss
                refused[lane], converged[lane] = ended.refused, ended.converged
                longest = max(longest, ended.iterations)
        return Minimised(found, loss, longest, refused, converged, watch.stop)


def _on_other_thread(work: Callable[[], LaneResult]) -> LaneResult:
    """Do some work on another thread, which is abandoned if this one is interrupted."""
    future: Future[LaneResult] = Future()

    def do() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    # A pool would wait for the thread.
    threading.Thread(target=do, daemon=True).start()
    return future.result()


class Arcs(NamedTuple):
    """(d, d) each: G of W = arcs ∘ G, zero outside the support, and the price of each arc."""

    gain: NDArray[np.float64]
    price: NDArray[np.float64]


def arcs_of(batch: Batch, lane: int, gain: NDArray[np.float64], price: float) -> Arcs:
    """Restrict G to the support of a lane; its required arcs have no price, all others `price`."""
    support = np.asarray(batch.of_lane("support", lane, 1.0), np.float64)
    required = np.asarray(batch.of_lane("required", lane, 0.0), np.float64)
    return Arcs(gain * support, np.full_like(gain, price) * (1 - required))


Float64 = NDArray[np.float64]


class Covariances(NamedTuple):
    """Second moments of a table, one for each set of rows from which some variable is learnt.

    With c_iv the weight of entry (i, v) and N = Σ c / d, the equation of v depends on the table
    only through C_v = Σ_i c_iv x_i x_iᵀ / N. Variables learnt from the same rows share one matrix;
    if all rows count for all variables, there is only XᵀX / n.
    """

    matrices: Float64  # (g, d, d): one for each group of variables
    members: NDArray[np.intp]  # group k is members[bounds[k] : bounds[k + 1]]
    bounds: NDArray[np.intp]
    own: Float64  # (d, d): column v of C_v for each v, the covariances of v with all others


def covariances_of(batch: Batch, lane: int) -> Covariances:
    """Second moments of a lane's centred data, in float64."""
    data = np.asarray(batch.of_lane("data", lane), np.float64)
    n, d = data.shape
    counted = np.asarray(batch.of_lane("counted", lane, np.ones((n, 1))), np.float64)
    distinct, group = counted, np.zeros(d, np.intp)
    if counted.shape[1] > 1:
        distinct, group = np.unique(counted, axis=1, return_inverse=True)
        group = group.ravel()
    total = counted.sum() / counted.shape[1]
    # If no entry counts, the score is zero.
    scale = max(total, np.finfo(np.float64).tiny)
    matrices = np.stack([(data * column[:, None]).T @ data / scale for column in distinct.T])
    members = np.argsort(group, kind="stable")
    bounds = np.searchsorted(group[members], np.arange(len(matrices) + 1))
    own = np.ascontiguousarray(matrices[group, :, np.arange(d)].T)
    return Covariances(matrices, members, bounds, own)


def half_squared_error(covariances: Covariances, weights: Float64) -> tuple[float, Float64]:
    """ℓ(W) = ½ Σ_v (e_v − w_v)ᵀ C_v (e_v − w_v), and ∇ℓ, whose column v is −C_v (e_v − w_v).

    With one covariance this is ‖X − XW‖_F² / 2n = ½ tr (I − W)ᵀ C (I − W).

    >>> one = Covariances(np.eye(2)[None], np.arange(2), np.array([0, 2]), np.eye(2))
    >>> half_squared_error(one, np.zeros((2, 2)))[0]
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
