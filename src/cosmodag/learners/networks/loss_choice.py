"""Choice of the loss of networks, and the encoding of columns for training by likelihood.

The squared error infers the order from the sizes of the noise, which requires that all variables
have the same noise variance. The likelihood has one noise variance per variable, and does not
depend on units. Networks are trained by it on standardised columns, and categories and counts have
likelihoods of their own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.kinds.embedding import Embedding
from cosmodag.errors import DivergenceError
from cosmodag.fit.prepare import Prepared
from cosmodag.fit.steps import FitTask, Learning, Learnt
from cosmodag.learners.networks.network_equations import (
    MixedNetworkEquations,
    NetworkEquations,
    encoded_columns,
    levels_in,
)
from cosmodag.model.mechanism import MLP, Mechanism, MixedMLP
from cosmodag.model.objective import Loss, MixedLikelihood, mean_squared_error
from cosmodag.search.variances import ON_ONE_SCALE, against_equal, spread_of
from cosmodag.solve.watch import Watch

if TYPE_CHECKING:
    from cosmodag.learners.cosmo_mlp import CosmoMLP

Floats = NDArray[np.float64]

AUTO, LIKELIHOOD, SQUARED_ERROR = "auto", "likelihood", "squared-error"

# Kinds of columns that have likelihoods of their own.
_OWN_LIKELIHOODS = ("binary", "categorical", "count")
# Largest spread of the logarithms of noise variances at which the squared error is kept if the
# order is not refined: with noise deviations U(.5, 2), ER4, d = 20 and 40, spreads were .2 to .8
# and the AUC .90 to .98, by likelihood .81 to .91; refinement compensates for more than that.
# Columns in arbitrary units have spreads several times as large.
_MAX_UNREFINED_SPREAD = 1.5


@dataclass(frozen=True, eq=False)
class NumberEncoding:
    """Each column divided by its entry of `units` (d,), with one input and one output.

    The units are standard deviations, without which the starting points and penalties of networks
    would depend on units; or ones for the squared error, which needs the table's common unit.
    """

    units: Floats
    embedding: ClassVar[Embedding | None] = None
    levels: ClassVar[tuple[int, ...]] = ()

    def mechanism(self, hidden: tuple[int, ...], activation: str) -> Mechanism:
        """Return networks of the encoded columns."""
        return MLP(hidden, activation)

    @property
    def refit_loss(self) -> Loss:
        """Loss of networks with fixed parents, for which noise variances do not matter."""
        return mean_squared_error

    def table_of_evidence(self, given: Prepared) -> Floats:
        """(n, d): the table on which refinement chooses arcs by evidence."""
        return given.X

    def encoded(self, given: Prepared) -> NDArray[np.float32]:
        """(n, d): the encoded columns of a prepared table."""
        own = self.units * given.preparation.unit
        return np.ascontiguousarray(given.X / own, dtype=np.float32)

    def equations_of(self, networks: NetworkEquations, given: Prepared) -> NetworkEquations:
        """Convert networks of the encoded columns to equations in prepared units."""
        return networks.in_units(self.units)

    def networks_of(self, equations: NetworkEquations) -> NetworkEquations:
        """Convert equations in prepared units to networks of the encoded columns."""
        return equations.in_units(1 / self.units)


@dataclass(frozen=True, eq=False)
class MixedEncoding:
    """Standardised numbers, standardised log(1 + x) of counts, and level numbers."""

    embedding: Embedding

    @property
    def levels(self) -> tuple[int, ...]:
        """Number of levels of each variable."""
        return levels_in(self.embedding)

    def mechanism(self, hidden: tuple[int, ...], activation: str) -> Mechanism:
        """Return networks whose inputs and outputs suit the kind of each variable."""
        return MixedMLP(hidden, activation, "norm", self.levels)

    @property
    def refit_loss(self) -> Loss:
        """Loss of networks with fixed parents: the likelihood of each variable by its kind."""
        return MixedLikelihood(self.levels)

    def table_of_evidence(self, given: Prepared) -> Floats:
        """(n, d): the table on which refinement chooses arcs by evidence."""
        return given.in_own_units

    def encoded(self, given: Prepared) -> NDArray[np.float32]:
        """(n, d): the encoded columns of a prepared table."""
        columns = encoded_columns(self.embedding, given.in_own_units)
        return np.ascontiguousarray(columns, dtype=np.float32)

    def equations_of(self, networks: NetworkEquations, given: Prepared) -> NetworkEquations:
        """Add to networks what the kinds of variables need for predictions and samples."""
        X = given.in_own_units
        numbers: dict[str, Any] = {
            "variances": np.ones(X.shape[1]),
            "means": given.preparation.means,
            "scales": given.preparation.scales,
            "typical": _typical_values(self.embedding, X),
        }
        equations = MixedNetworkEquations.of_networks(networks, self.embedding, numbers)
        return equations.with_variances(encoded_columns(self.embedding, X), given.known.counted)

    def networks_of(self, equations: NetworkEquations) -> NetworkEquations:
        """Return the equations, which are networks of the encoded columns already."""
        return equations


Encoding = NumberEncoding | MixedEncoding


def _has_own_likelihoods(given: Prepared) -> bool:
    """Whether a table has columns whose kinds have likelihoods of their own."""
    return any(kind.kind in _OWN_LIKELIHOODS for kind in given.kinds)


def _encoding_for(given: Prepared) -> Encoding:
    """Choose the encoding of a table for training by likelihood."""
    if _has_own_likelihoods(given):
        return MixedEncoding(Embedding.of(given.in_own_units, given.kinds, columns=1))
    return NumberEncoding(given.deviations)


def encoding_of(equations: NetworkEquations, given: Prepared, in_units: bool) -> Encoding:
    """Return the encoding with which networks were trained, in the table's units or not."""
    if isinstance(equations, MixedNetworkEquations):
        return MixedEncoding(equations.embedding)
    if in_units:
        return NumberEncoding(np.ones(given.data.shape[1]))
    return NumberEncoding(given.deviations)


def _typical_values(embedding: Embedding, X: Floats) -> Floats:
    """Means of numbers and counts, and most frequent levels of categories."""
    found = np.asarray(X.mean(axis=0), np.float64)
    for v in range(X.shape[1]):
        if embedding.is_levels(v):
            counts = np.bincount(embedding.levels_of(X[:, v], v))
            found[v] = embedding.value_of(np.array([counts.argmax()]), v)[0]
    return found


class _Choice(NamedTuple):
    """A loss, and the reason for it."""

    loss: str
    reason: str
    is_final: bool = True  # False if the residuals of training may change it


def learn_by_loss(tasks: Sequence[FitTask], watch: Watch) -> Iterator[Learning]:
    """Train networks on many tables, with a loss chosen for each.

    Tables whose columns do not rule out equal noise variances are first trained by the squared
    error. If the residual variances then differ, they are trained again, by likelihood; without
    refinement, only if the variances differ strongly.
    """
    choices = [_choice_before_training(*task) for task in tasks]
    again: dict[int, Learning] = {}
    for learning in _trained(tasks, choices, range(len(tasks)), watch):
        place = learning.place
        if not choices[place].is_final and learning.stopped is None:
            choices[place] = _choice_after_training(learning, tasks[place])
            if choices[place].loss == LIKELIHOOD:
                again[place] = learning
                continue
        yield learning
    for learning in _trained(tasks, choices, list(again), watch) if again else ():
        checkpoints = again[learning.place].checkpoints + learning.checkpoints
        yield learning._replace(checkpoints=checkpoints)


def _choice_before_training(learner: "CosmoMLP", given: Prepared) -> _Choice:
    """Choose the loss from the columns alone."""
    if learner.loss != AUTO:
        return _Choice(learner.loss, f"The parameter loss is {learner.loss!r}.")
    if _has_own_likelihoods(given):
        return _Choice(
            LIKELIHOOD, "The table has categories or counts, which have likelihoods of their own."
        )
    if learner.scale == "standardize":
        return _Choice(LIKELIHOOD, f"{ON_ONE_SCALE.format('they were standardised')}.")
    means = given.preparation.means / given.preparation.factors
    reason = against_equal(given.X, means, given.known.counted)
    if reason is not None:
        return _Choice(LIKELIHOOD, f"{reason}.")
    return _Choice(SQUARED_ERROR, "Training stopped before noise variances were compared.", False)


def _choice_after_training(learning: Learning, task: FitTask) -> _Choice:
    """Choose the loss from the residual variances of networks trained by the squared error."""
    given = task.given.drawn()
    try:
        learnt = learning.read(given)
    except DivergenceError:
        return _Choice(LIKELIHOOD, "Training by the squared error diverged.")
    residuals = given.data - learnt.predict(given.data)
    weights = np.ones_like(residuals) if given.known.counted is None else given.known.counted
    rows = weights.sum(axis=0)
    is_used = (rows > 0) & ~given.preparation.constant
    if given.without_equation is not None:
        is_used &= ~given.without_equation
    totals = np.sum(weights * residuals**2, axis=0)
    spread = spread_of(totals[is_used] / rows[is_used], float(rows.mean()))
    measured = (
        f"the spread of their logarithms is {spread.found:.2f}, and up to {spread.limit:.2f} "
        "counts as equal"
    )
    if spread.is_small:
        return _Choice(SQUARED_ERROR, f"The networks' noise variances are similar ({measured}).")
    is_refined = task.learner.refinement_for(residuals.shape[1]) is not None
    if not is_refined and spread.found < _MAX_UNREFINED_SPREAD:
        return _Choice(
            SQUARED_ERROR,
            f"The networks' noise variances differ ({measured}), but without refinement the "
            "squared error finds better orders than the likelihood.",
        )
    return _Choice(
        LIKELIHOOD,
        f"The noise variances of networks trained by the squared error differ ({measured}).",
    )


def _trained(
    tasks: Sequence[FitTask], choices: Sequence[_Choice], places: Sequence[int], watch: Watch
) -> Iterator[Learning]:
    """Train the tasks at `places` by the losses chosen; equations are in prepared units."""
    from cosmodag.learners.trained.training import train_many

    chosen: list[FitTask] = []
    encodings: list[Encoding | None] = []
    for place in places:
        learner: Any = tasks[place].learner
        given, loss = tasks[place].given, choices[place].loss
        encoding = _encoding_for(given) if loss == LIKELIHOOD else None
        levels: tuple[int, ...] = ()
        if encoding is not None:
            given, levels = replace(given, data=encoding.encoded(given)), encoding.levels
        chosen.append(FitTask(learner.with_loss(loss, levels), given))
        encodings.append(encoding)
    for learning in train_many(chosen, watch):
        place, encoding = places[learning.place], encodings[learning.place]
        read = partial(_read, learning.read, choices, place, encoding, tasks[place].learner)
        yield learning._replace(place=place, read=read)


def _read(
    read: Any,
    choices: Sequence[_Choice],
    place: int,
    encoding: Encoding | None,
    learner: Any,
    given: Prepared,
) -> Learnt:
    """Read the result of training in prepared units, and add the loss and its reason."""
    learnt: Learnt = read(given)
    if encoding is not None:
        assert isinstance(learnt.equations, NetworkEquations)
        equations = encoding.equations_of(learnt.equations, given)
        strengths = equations.strengths(learner.arc_strength)
        learnt = replace(learnt, equations=equations, raw_weights=strengths)
    loss, reason, _ = choices[place]
    return replace(learnt, extra={**learnt.extra, "loss_": loss, "loss_reason_": reason})
