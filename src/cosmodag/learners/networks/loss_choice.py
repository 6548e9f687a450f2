"""Choice of the loss of networks: the squared error if units reveal the order, else likelihood.

The squared error finds the order from sizes of noise, so it needs one noise variance for all
variables. The likelihood has a variance for each, and is the same in all units; networks trained by
it see other columns (`cosmodag.learners.networks.columns`), in which categories and counts have
likelihoods of their own.
"""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cosmodag.errors import DivergenceError
from cosmodag.fit.prepare import Prepared
from cosmodag.fit.steps import FitTask, Learning, Learnt
from cosmodag.learners.networks.columns import SeenColumns, has_heads, seen_columns
from cosmodag.learners.networks.equations import NetworkEquations
from cosmodag.refinement.variances import common_scale, few_valued
from cosmodag.solve.watch import Watch

if TYPE_CHECKING:
    from cosmodag.learners.cosmo_mlp import CosmoMLP

__all__ = ["AUTO", "LIKELIHOOD", "SQUARED_ERROR", "learn_by_loss"]

AUTO, LIKELIHOOD, SQUARED_ERROR = "auto", "likelihood", "squared-error"
# Spread of the logarithms of noise variances up to which the squared error is kept if nothing
# refines the order: with noise deviations U(.5, 2), ER4, d = 20 and 40, spreads were .2 to .8 and
# the AUC .90 to .98, by likelihood .81 to .91; refinement makes up for more than that. Columns in
# arbitrary units have spreads several times as large.
SPREAD_WITHOUT_REFINEMENT = 1.5


class _Choice(NamedTuple):
    """A loss, the reason for it, and whether the residuals of training cannot change it."""

    loss: str
    reason: str
    is_final: bool = True


def learn_by_loss(tasks: Sequence[FitTask], watch: Watch) -> Iterator[Learning]:
    """Train networks on many tables, each by the loss that suits it.

    Tables whose columns allow equal noise variances are first trained by the squared error. If the
    variances of the residuals then differ, the table is trained again, by likelihood; without
    refinement only if they differ much.
    """
    choices = [_first_choice(*task) for task in tasks]
    again: dict[int, Learning] = {}
    for learning in _trained(tasks, choices, range(len(tasks)), watch):
        place = learning.place
        if not choices[place].is_final and learning.stopped is None:
            choices[place] = _after_training(learning, tasks[place])
            if choices[place].loss == LIKELIHOOD:
                again[place] = learning
                continue
        yield learning
    for learning in _trained(tasks, choices, list(again), watch) if again else ():
        checkpoints = again[learning.place].checkpoints + learning.checkpoints
        yield learning._replace(checkpoints=checkpoints)


def _first_choice(learner: "CosmoMLP", given: Prepared) -> _Choice:
    """Choose from the columns alone."""
    if learner.loss != AUTO:
        return _Choice(learner.loss, "It was asked for.")
    if has_heads(given):
        return _Choice(
            LIKELIHOOD,
            "The table has categories or counts, which have likelihoods of their own.",
        )
    means = given.preparation.means / given.preparation.factors
    shared = common_scale(given.X + means)
    if learner.scale == "standardize":
        shared = "they were standardised"
    if shared is not None:
        return _Choice(
            LIKELIHOOD,
            f"The columns are on a common scale ({shared}), so that variances say nothing about "
            "the order.",
        )
    if few_valued(given.X).mean() >= 0.5:
        return _Choice(
            LIKELIHOOD,
            "Most columns have few distinct values, which noise of equal variance cannot give.",
        )
    return _Choice(SQUARED_ERROR, "Training stopped before noise variances were compared.", False)


def _after_training(learning: Learning, task: FitTask) -> _Choice:
    """Choose after training by the squared error, from the variances of the residuals."""
    from cosmodag.refinement.variances import spread_of

    given = task.given.drawn()
    try:
        learnt = learning.read(given)
    except DivergenceError:
        return _Choice(LIKELIHOOD, "Training by the squared error diverged.")
    residuals = given.data - learnt.predict(given.data)
    weights = np.ones_like(residuals) if given.known.counted is None else given.known.counted
    rows = weights.sum(axis=0)
    is_used = (rows > 0) & ~given.preparation.constant
    totals = np.sum(weights * residuals**2, axis=0)
    spread = spread_of(totals[is_used] / rows[is_used], float(rows.mean()))
    seen = f"spread of their logarithms {spread.found:.2f}, by chance up to {spread.limit:.2f}"
    if spread.is_small:
        return _Choice(SQUARED_ERROR, f"The noise variances of the networks are alike ({seen}).")
    is_refined = task.learner.refinement_for(residuals.shape[1]) is not None
    if not is_refined and spread.found < SPREAD_WITHOUT_REFINEMENT:
        return _Choice(
            SQUARED_ERROR,
            f"The noise variances of the networks differ ({seen}), but the squared error orders "
            "better than the likelihood if nothing refines the order.",
        )
    return _Choice(
        LIKELIHOOD, f"The noise variances of networks trained by squared error differ ({seen})."
    )


def _trained(
    tasks: Sequence[FitTask], choices: Sequence[_Choice], places: Sequence[int], watch: Watch
) -> Iterator[Learning]:
    """Train some of the tasks by the losses chosen; equations come back in the tables' units."""
    from cosmodag.learners.trained.training import train_many

    chosen: list[FitTask] = []
    seen: list[SeenColumns | None] = []
    for place in places:
        learner: Any = copy(tasks[place].learner)
        learner.loss, given = choices[place].loss, tasks[place].given
        columns = seen_columns(given) if learner.loss == LIKELIHOOD else None
        if columns is not None:
            given = replace(given, data=columns.data(given))
            learner._levels = columns.levels
        chosen.append(FitTask(learner, given))
        seen.append(columns)
    for learning in train_many(chosen, watch):
        place = places[learning.place]
        strength = tasks[place].learner.arc_strength
        read = partial(_read, learning.read, choices, place, seen[learning.place], strength)
        yield learning._replace(place=place, read=read)


def _read(
    read: Any,
    choices: Sequence[_Choice],
    place: int,
    columns: SeenColumns | None,
    arc_strength: str,
    given: Prepared,
) -> Learnt:
    """Read what was learnt, in the units of the table, and add the loss and the reason for it."""
    learnt: Learnt = read(given)
    if columns is not None:
        assert isinstance(learnt.equations, NetworkEquations)
        equations = columns.restored(learnt.equations, given)
        learnt = replace(learnt, equations=equations, raw_weights=equations.strengths(arc_strength))
    loss, reason, _ = choices[place]
    return replace(learnt, extra={**learnt.extra, "loss_": loss, "loss_reason_": reason})
