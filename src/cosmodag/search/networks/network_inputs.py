"""Choice of the inputs of one child, by the evidence of a Gaussian process."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.search.networks.kernel_fit import fit_kernel
from cosmodag.search.networks.network_columns import centred_squares
from cosmodag.search.networks.process_evidence import (
    NO_INPUTS,
    Floats,
    Numbers,
    ProcessKernel,
    cost,
    cost_and_gradient,
)


@dataclass(frozen=True)
class Effort:
    """Thresholds of evidence, and amount of work, of pruning."""

    # Candidates are predecessors whose contribution exceeds this fraction of the child's strongest.
    candidate: float = 0.05
    # An input is kept if the evidence falls by more than this without it.
    nats: float = 3.0
    # An input with a loss above this on few rows is kept without a test on more rows.
    sure_nats: float = 8.0
    # A further input is added if the evidence rises by more than this.
    new_nats: float = 6.0
    # An arc may be reversed if its child loses less than this without it.
    weak_nats: float = 20.0
    # Steps of L-BFGS that fit a kernel.
    steps: int = 6
    # A kernel is fitted on `rows_per_input` rows per candidate, but within these bounds.
    rows: int = 250
    rows_per_input: int = 40
    most_rows: int = 600
    # Maximum number of rows on which inputs are left out one by one, to find the doubtful ones.
    screen_rows: int = 400
    # Maximum number of rows on which the doubtful inputs are decided.
    final_rows: int = 1000
    # Number of rows on which further inputs are tried, and number of tries per child.
    mend_rows: int = 500
    mend_tries: int = 4


class ChildData(NamedTuple):
    """All variables as inputs, and one as the target, in the rows that count for it."""

    columns: Floats
    target: Floats
    levels: NDArray[np.int64] | None = None

    def inputs(self, chosen: NDArray[np.intp]) -> Floats:
        """Select inputs."""
        return np.ascontiguousarray(self.columns[:, chosen])

    def first(self, rows: int) -> "ChildData":
        """Select the first rows, with the target centred on them."""
        target = self.target[:rows]
        levels = None if self.levels is None else self.levels[:rows]
        return ChildData(self.columns[:rows], target - target.mean(axis=0), levels)


class NeededInputs(NamedTuple):
    """The inputs of a child, their kernel, and the evidence in nats lost without each of them."""

    inputs: NDArray[np.intp]
    kernel: ProcessKernel
    gains: Numbers

    @classmethod
    def without_evidence(cls, inputs: NDArray[np.intp]) -> "NeededInputs":
        """Record inputs whose evidence was not computed: none, or only required ones."""
        return cls(inputs, NO_INPUTS, np.zeros(len(inputs)))


# Inputs with a loss below this on few rows are first left out together, to save evaluations.
_USELESS = 0.5

# An input is tried only if its gain, to first order, exceeds this number of nats.
_LEAST_PROMISE = 1.0


def needed_inputs(
    data: ChildData, candidates: NDArray[np.intp], required: NDArray[np.bool_], effort: Effort
) -> NeededInputs:
    """Choose the inputs of one child among its candidates, by backward elimination.

    A kernel is fitted to all candidates on few rows. Leaving out each of them on these rows gives
    the order of elimination, and the inputs that are certainly needed. The others are left out one
    after another on up to ``final_rows`` rows, with the same kernel, if the evidence falls by
    little. Required candidates are always kept. The gain of an input is the evidence lost without
    it, on the rows on which it was decided.
    """
    if not len(candidates):
        return NeededInputs.without_evidence(candidates)
    fitting = min(effort.most_rows, max(effort.rows, effort.rows_per_input * len(candidates)))
    few = data.first(fitting)
    kernel = fit_kernel(few.columns[:, candidates], few.target, steps=effort.steps)
    cost_with = _costs(data.first(min(fitting, effort.screen_rows)), candidates, kernel)
    kept: NDArray[np.bool_] = np.ones(len(candidates), dtype=bool)
    whole = cost_with(kept)
    gains = np.array(
        [cost_with(np.arange(len(kept)) != index) - whole for index in range(len(kept))]
    )
    in_doubt = [
        index
        for index in np.argsort(gains, kind="stable").tolist()
        if gains[index] <= effort.sure_nats and not required[index]
    ]
    if in_doubt:
        cost_with = _costs(data.first(effort.final_rows), candidates, kernel)
        kept = _eliminate(in_doubt, cost_with, gains, effort.nats)
    return NeededInputs(candidates[kept], kernel.only(kept), gains[kept])


def _costs(
    data: ChildData, candidates: NDArray[np.intp], kernel: ProcessKernel
) -> Callable[[NDArray[np.bool_]], float]:
    """Return the cost, with this kernel, as a function of the candidates that are kept."""
    inputs = data.inputs(candidates)
    return lambda kept: cost(inputs[:, kept], data.target, kernel.only(kept))


def _eliminate(
    indices: list[int], cost_with: Callable[[NDArray[np.bool_]], float], gains: Numbers, nats: float
) -> NDArray[np.bool_]:
    """Leave out, in this order, inputs with a small loss; return which candidates are kept.

    The losses of doubtful inputs that are kept are written to `gains`.
    """
    kept: NDArray[np.bool_] = np.ones(len(gains), dtype=bool)
    now = cost_with(kept)
    useless = [index for index in indices if gains[index] < _USELESS]
    steps = [[index] for index in indices]
    if len(useless) > 1:
        steps.insert(0, useless)
    for some in steps:
        if not kept[some].any():
            continue
        without = kept.copy()
        without[some] = False
        loss = cost_with(without) - now
        if loss <= nats:
            kept, now = without, now + loss
        elif len(some) == 1:
            gains[some] = loss
    return kept


def offered_inputs(
    data: ChildData,
    inputs: NDArray[np.intp],
    kernel: ProcessKernel,
    allowed: NDArray[np.bool_],
    most: int,
    shares: Sequence[float] = (1.0,),
) -> tuple[float, list[tuple[float, int]]]:
    """Return the present cost of a child, and the cost with each of a few further inputs.

    The kernel is not refitted. Derivatives of the cost at relevance zero select at most `most`
    inputs. Each of them is tried at the median relevance of the present inputs times each of
    `shares`, and its lowest cost counts.
    """
    # At relevance zero a column acts linearly only; its square represents curvature.
    shapes = np.hstack([data.columns, centred_squares(data.columns)])
    usual = kernel.usual_relevance
    now = cost_and_gradient(data.columns[:, inputs], data.target, kernel, shapes)
    promised = -now.relevances.reshape(2, -1).min(axis=0) * usual
    promised = np.where(allowed, promised, 0.0)
    promised[inputs] = 0.0
    joined = [kernel.joined_by(usual * share) for share in shares]
    offers = []
    for u in np.argsort(-promised, kind="stable")[:most].tolist():
        if promised[u] > _LEAST_PROMISE:
            columns = data.columns[:, [*inputs, u]]
            offers.append((min(cost(columns, data.target, one) for one in joined), u))
    return now.cost, offers
