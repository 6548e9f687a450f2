"""Sequential solution of the problems of a batch, for minimisers that are not batched."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray

from cosmodag.model.structure import Parameters
from cosmodag.solve.machine.threads import blas_threads, threads_worth
from cosmodag.solve.minimisers.base import Mask, Minimised
from cosmodag.solve.problems import Batch
from cosmodag.solve.trees import lane_of
from cosmodag.solve.watch import Watch

__all__ = ["APART", "Arcs", "Ended", "arcs_of", "each_lane"]

APART = 1000
"""Number of variables from which one matrix product or inverse can delay the reply to Ctrl-C."""


class Ended(NamedTuple):
    """Result of the minimisation of one problem; the fields are those of `Minimised`."""

    parameters: Parameters
    loss: float
    iterations: int
    converged: bool
    refused: bool = False


def each_lane(
    batch: Batch,
    parameters: Parameters,
    active: Mask,
    watch: Watch,
    solve_one: Callable[[int, Parameters], Ended],
    dtype: Any = np.float64,
    apart: bool = False,
) -> Minimised:
    """Solve the active lanes one after another, in one precision, until the watch stops the run.

    `solve_one` may change the parameters of its lane in place. With `apart`, it runs on another
    thread, for work that spends seconds outside Python: the main thread can then respond to Ctrl-C,
    and the abandoned work ends by itself.
    """
    found = jax.tree.map(lambda stacked: np.array(stacked, dtype), parameters)
    loss = np.full(batch.size, np.nan)
    refused, converged = np.zeros((2, batch.size), bool)
    longest = 0
    with blas_threads(threads_worth(float(batch.variables) ** 3)):
        for lane in np.flatnonzero(active).tolist():
            if watch.stop is not None:
                break
            start = lane_of(found, lane)
            ended = _apart(partial(solve_one, lane, start)) if apart else solve_one(lane, start)
            leaves = jax.tree.leaves(found), jax.tree.leaves(ended.parameters)
            for stacked, leaf in zip(*leaves, strict=True):
                stacked[lane] = leaf
            loss[lane] = ended.loss
            refused[lane], converged[lane] = ended.refused, ended.converged
            longest = max(longest, ended.iterations)
    return Minimised(found, loss, longest, refused, converged, watch.stop)


def _apart(work: Callable[[], Ended]) -> Ended:
    """Do some work on another thread, which is abandoned if this one is interrupted."""
    future: Future[Ended] = Future()

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
