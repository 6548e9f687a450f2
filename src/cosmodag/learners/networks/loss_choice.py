"""Choice of the loss of networks, and columns as networks see them when trained by likelihood.

The squared error finds the order from sizes of noise, so it needs one noise variance for all
variables. The likelihood has a variance for each, and is the same in all units; networks trained by
it see standardised columns, in which categories and counts have likelihoods of their own.
"""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.kinds.embedding import Embedding
from cosmodag.errors import DivergenceError
from cosmodag.fit.dag.preparation import deviations_of
from cosmodag.fit.prepare import Prepared
from cosmodag.fit.steps import FitTask, Learning, Learnt
from cosmodag.learners.networks.equations import (
    MixedNetworkEquations,
    NetworkEquations,
    levels_in,
    network_columns,
)
from cosmodag.model.mechanism import MLP, Mechanism, MixedMLP
from cosmodag.model.objective import Loss, MixedLikelihood, mean_squared_error
from cosmodag.refinement.variances import ON_ONE_SCALE, against_equal, spread_of
from cosmodag.solve.watch import Watch

if TYPE_CHECKING:
    from cosmodag.learners.cosmo_mlp import CosmoMLP

Floats = NDArray[np.float64]

_OWN_HEADS = ("binary", "categorical", "count")


AUTO, LIKELIHOOD, SQUARED_ERROR = "auto", "likelihood", "squared-error"
# Spread of the logarithms of noise variances up to which the squared error is kept if nothing
# refines the order: with noise deviations U(.5, 2), ER4, d = 20 and 40, spreads were .2 to .8 and
# the AUC .90 to .98, by likelihood .81 to .91; refinement makes up for more than that. Columns in
# arbitrary units have spreads several times as large.
SPREAD_WITHOUT_REFINEMENT = 1.5


@dataclass(frozen=True, eq=False)
class NumberColumns:
    """Numbers divided by `units`, (d,), with one input and one output for each.

    Units are standard deviations, on which starts and penalties of networks would depend otherwise;
    or ones, as the squared error needs the table's common unit.
    """

    units: Floats
    embedding: ClassVar[Embedding | None] = None
    levels: ClassVar[tuple[int, ...]] = ()

    def mechanism(self, hidden: tuple[int, ...], activation: str) -> Mechanism:
        """Networks of these columns."""
        return MLP(hidden, activation)

    @property
    def refit_loss(self) -> Loss:
        """Loss of networks whose parents are fixed, so that variances of noise do not matter."""
        return mean_squared_error

    def table(self, given: Prepared) -> Floats:
        """(n, d): the table from which evidence chooses arcs."""
        return given.X

    def data(self, given: Prepared) -> NDArray[np.float32]:
        """(n, d): the columns of a prepared table."""
        own = self.units * given.preparation.unit
        return np.ascontiguousarray(given.X / own, dtype=np.float32)

    def restored(self, networks: NetworkEquations, given: Prepared) -> NetworkEquations:
        """Equations in prepared units, from networks of these columns."""
        return networks.in_units(self.units)

    def seen(self, equations: NetworkEquations) -> NetworkEquations:
        """Networks of these columns, from equations in prepared units."""
        return equations.in_units(1 / self.units)


@dataclass(frozen=True, eq=False)
class MixedColumns:
    """Standardised numbers, standardised log(1 + x) of counts, and numbers of levels."""

    embedding: Embedding

    @property
    def levels(self) -> tuple[int, ...]:
        """Number of levels of each variable."""
        return levels_in(self.embedding)

    def mechanism(self, hidden: tuple[int, ...], activation: str) -> Mechanism:
        """Blocks of inputs, and heads by kind."""
        return MixedMLP(hidden, activation, "norm", self.levels)

    @property
    def refit_loss(self) -> Loss:
        """Likelihood, each variable by its own head."""
        return MixedLikelihood(self.levels)

    def table(self, given: Prepared) -> Floats:
        """(n, d): the table in its own units."""
        return given.in_own_units

    def data(self, given: Prepared) -> NDArray[np.float32]:
        """Columns as networks see them."""
        columns = network_columns(self.embedding, given.in_own_units)
        return np.ascontiguousarray(columns, dtype=np.float32)

    def restored(self, networks: NetworkEquations, given: Prepared) -> NetworkEquations:
        """Networks with what the kinds of variables need to predict and draw."""
        X = given.in_own_units
        numbers: dict[str, Any] = {
            "variances": np.ones(X.shape[1]),
            "means": given.preparation.means,
            "scales": given.preparation.scales,
            "typical": _typical(self.embedding, X),
        }
        equations = MixedNetworkEquations.of_networks(networks, self.embedding, numbers)
        return equations.with_variances(network_columns(self.embedding, X), given.known.counted)

    def seen(self, equations: NetworkEquations) -> NetworkEquations:
        """Return the same networks: they see these columns in any case."""
        return equations


SeenColumns = NumberColumns | MixedColumns


def _has_heads(given: Prepared) -> bool:
    """Whether a table has categories or counts, whose likelihoods are their own."""
    return any(kind.kind in _OWN_HEADS for kind in given.kinds)


def _seen_columns(given: Prepared) -> SeenColumns:
    """Choose how networks see a table that they are trained on by likelihood."""
    if _has_heads(given):
        return MixedColumns(Embedding.of(given.in_own_units, given.kinds, columns=1))
    return NumberColumns(_units_of(given))


def columns_of(equations: NetworkEquations, given: Prepared, in_units: bool) -> SeenColumns:
    """Columns that fitted networks were trained on; in the table's units or not."""
    if isinstance(equations, MixedNetworkEquations):
        return MixedColumns(equations.embedding)
    if in_units:
        return NumberColumns(np.ones(given.data.shape[1]))
    return NumberColumns(_units_of(given))


def _typical(embedding: Embedding, X: Floats) -> Floats:
    """Means of numbers and counts, and the most frequent levels."""
    found = np.asarray(X.mean(axis=0), np.float64)
    for v in range(X.shape[1]):
        if embedding.is_levels(v):
            counts = np.bincount(embedding.levels_of(X[:, v], v))
            found[v] = embedding.value_of(np.array([counts.argmax()]), v)[0]
    return found


def _units_of(given: Prepared) -> Floats:
    """(d,): standard deviations of the columns, in prepared units; 1 where a column is constant."""
    # Of the table in its own units: multiplying a column by a power of two changes no other digit.
    deviations = deviations_of(given.X, given.known.counted)
    return np.where(deviations > 0, deviations, given.preparation.unit) / given.preparation.unit


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
    if _has_heads(given):
        return _Choice(
            LIKELIHOOD, "The table has categories or counts, which have likelihoods of their own."
        )
    if learner.scale == "standardize":
        return _Choice(LIKELIHOOD, f"{ON_ONE_SCALE.format('they were standardised')}.")
    reason = against_equal(given.X, given.preparation.means / given.preparation.factors)
    if reason is not None:
        return _Choice(LIKELIHOOD, f"{reason}.")
    return _Choice(SQUARED_ERROR, "Training stopped before noise variances were compared.", False)


def _after_training(learning: Learning, task: FitTask) -> _Choice:
    """Choose after training by the squared error, from the variances of the residuals."""
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
        columns = _seen_columns(given) if learner.loss == LIKELIHOOD else None
        if columns is not None:
            given = replace(given, data=columns.data(given))
            learner._levels = columns.levels
        chosen.append(FitTask(learner, given))
        seen.append(columns)
    for learning in train_many(chosen, watch):
        place, columns = places[learning.place], seen[learning.place]
        read = partial(_read, learning.read, choices, place, columns, tasks[place].learner)
        yield learning._replace(place=place, read=read)


def _read(
    read: Any,
    choices: Sequence[_Choice],
    place: int,
    columns: SeenColumns | None,
    learner: Any,
    given: Prepared,
) -> Learnt:
    """Read what was learnt, in the units of the table, and add the loss and the reason for it."""
    learnt: Learnt = read(given)
    if columns is not None:
        assert isinstance(learnt.equations, NetworkEquations)
        equations = columns.restored(learnt.equations, given)
        strengths = equations.strengths(learner.arc_strength)
        learnt = replace(learnt, equations=equations, raw_weights=strengths)
    loss, reason, _ = choices[place]
    return replace(learnt, extra={**learnt.extra, "loss_": loss, "loss_reason_": reason})
