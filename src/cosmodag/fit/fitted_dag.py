"""The result of a fit: a DAG, its equations and its training data; frozen."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cosmodag.data.kinds import ColumnKind
from cosmodag.data.knowledge import Bounds, Knowledge, bounds_of
from cosmodag.data.time.window import Window
from cosmodag.errors import DataError
from cosmodag.fit.dag import fitted_rows as rows
from cosmodag.fit.dag.assertions import Assertions, Doubt
from cosmodag.fit.dag.basis import class_of_fit, mask_of, pag_of_fit
from cosmodag.fit.dag.known import NOTHING, Known
from cosmodag.fit.dag.linear_equations import FittedEquations, LinearEquations
from cosmodag.fit.dag.preparation import Preparation
from cosmodag.fit.dag.read_only import read_only, read_only_edges
from cosmodag.fit.dag.regime_equations import FittedRegimes
from cosmodag.graph.mixed.pag import PartialAncestralGraph

if TYPE_CHECKING:
    import os

    from cosmodag.search.moments import Moments

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FittedDAG:
    """Result of a fit. A learner holds it as ``fitted_``, and reads its attributes from it.

    Its arrays are read-only; a changed graph is another `FittedDAG` (`dataclasses.replace`).
    """

    order: NDArray[np.intp]  # (d,): column numbers in causal order, causes first
    # (d, d): weights of the arcs, u → v at [u, v]; dense, or sparse for very many variables.
    adjacency: Any
    # (d, d): weights before the threshold, acyclic; None for very many variables.
    weights: Floats | None
    preparation: Preparation  # how columns are centred and scaled
    # Predictions of variables from their parents in `adjacency`.
    equations: FittedEquations = LinearEquations()  # noqa: RUF009  (frozen, and without fields)
    # Bounds on the graph, interventions and missing values of the training data.
    known: Known = NOTHING
    columns: NDArray[Any] | None = None  # names of the columns; None if the table had none
    knowledge: Knowledge | None = None  # the user's background knowledge
    kinds: tuple[ColumnKind, ...] = ()  # kind of each column: number, count, or levels
    # (k, d) bool: the distinct sets of variables that were set; None without interventions.
    target_sets: NDArray[np.bool_] | None = None
    # Targets of regimes, evidence for them, and own equations; None without regimes, or if the
    # graph was not examined.
    regimes: FittedRegimes | None = None
    # Noise model that refinement assumed, and the reason; None without refinement.
    noise: str | None = None
    noise_reason: str | None = None
    follows_units: bool = False  # whether the order depends on the units of the columns
    # (n, d) float32: residuals of the training data, in prepared units; None if they were not
    # saved.
    residuals: NDArray[np.float32] | None = None
    # (d,): variances of the residuals, and standard deviations of the columns, in the table's own
    # units.
    noise_variances: Floats | None = None
    deviations: Floats | None = None
    # (d, d): loss of the Gaussian score when an arc is reversed, NaN where there is no arc; None if
    # another score decides, or it was not computed.
    turning_losses: Floats | None = None
    # Findings on the table and the fit that limit what may be said of directions.
    doubts: tuple[Doubt, ...] = ()
    # Variables and lags if the columns are those of a window in time; None otherwise.
    window: Window | None = None
    learner: str = "the model"  # class of the learner, for messages

    def __post_init__(self) -> None:
        for part in fields(self):
            object.__setattr__(self, part.name, read_only(getattr(self, part.name)))

    def __getstate__(self) -> dict[str, Any]:
        again = {"moments", "edges", "arcs"}  # computed again when they are needed
        return {name: value for name, value in vars(self).items() if name not in again}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Copies and unpickled arrays are writable.
        vars(self).update(state)
        self.__post_init__()

    @property
    def d(self) -> int:
        """Number of variables."""
        return len(self.order)

    @property
    def names(self) -> list[Any]:
        """Column names, or column numbers if the data had no names."""
        return list(range(self.d)) if self.columns is None else list(self.columns)

    @property
    def texts(self) -> list[str]:
        """Column names as text; ``x0``, ``x1``, … if the data had no names."""
        if self.columns is None:
            return [f"x{place}" for place in range(self.d)]
        return [str(name) for name in self.columns]

    @property
    def is_linear(self) -> bool:
        """Whether all equations are linear, with the weights as coefficients."""
        return isinstance(self.equations, LinearEquations)

    @property
    def knows_targets(self) -> bool:
        """Whether it is known in which rows variables were set; a file may not say."""
        return self.target_sets is None or self.known.targets is not None

    @property
    def is_stated(self) -> bool:
        """Whether knowledge states the whole graph, so that nothing in it was learnt."""
        return self.bounds is not None and self.bounds.is_whole_graph

    @cached_property
    def edges(self) -> sparse.coo_array:
        """Arcs with their weights, as a sparse matrix; a required arc may weigh zero."""
        required = self.known.required
        if required is None or sparse.issparse(self.adjacency):
            return read_only_edges(sparse.coo_array(self.adjacency))
        tails, heads = np.nonzero(required | (self.adjacency != 0))
        places, shape = (tails, heads), self.adjacency.shape
        weights = self.adjacency[places]
        return read_only_edges(sparse.coo_array((weights, places), shape=shape))

    @cached_property
    def arcs(self) -> sparse.csr_array:
        """Arcs as a sparse Boolean matrix, without their weights."""
        edges = self.edges
        arcs: sparse.csr_array = read_only(mask_of(edges.row, edges.col, self.d))
        return arcs

    @cached_property
    def bounds(self) -> Bounds | None:
        """Bounds on the graph that follow from knowledge alone, without interventions."""
        known = self.knowledge if self.window is None else self.window.knowledge(self.knowledge)
        return bounds_of(known, self.texts)

    @property
    def arrow_basis(self) -> tuple[str, ...]:
        """Basis of the direction of each arc of ``edges``; see `cosmodag.fit.dag.basis`."""
        return self.assertions.bases

    @cached_property
    def assertions(self) -> Assertions:
        """What may be said of the directions; see `cosmodag.fit.dag.assertions`."""
        return Assertions.of(self)

    @cached_property
    def moments(self) -> "Moments":
        """Second moments of the training data, in the table's own units; not saved."""
        return self.known.moments(self.training_data() * self.preparation.scales)

    def ask_for_targets(self, interventions: Any) -> None:
        """Refuse a training table without its interventions, if the DAG was fitted with some."""
        if interventions is None and self.target_sets is not None:
            raise DataError(
                "The model was fitted with interventions: give those of the table as interventions "
                "(--interventions), with an empty entry for each row in which nothing was set."
            )

    def examined(
        self, regimes: FittedRegimes | None, losses: Any, doubts: tuple[Doubt, ...]
    ) -> "FittedDAG":
        """Add the evidence about arrows and regimes; cached edges are kept."""
        found = replace(self, regimes=regimes, turning_losses=losses, doubts=doubts)
        for name in vars(self).keys() & {"edges", "arcs"}:
            vars(found)[name] = vars(self)[name]
        return found

    def equivalence_class(self) -> Any:
        """Class of the graph as a (d, d) matrix; see `FittedGraph.equivalence_class`."""
        return self._class.copy()

    @cached_property
    def _class(self) -> Any:
        return class_of_fit(self)

    @cached_property
    def pag(self) -> PartialAncestralGraph:
        """Partial ancestral graph, which allows hidden causes; see `cosmodag.fit.dag.basis`."""
        return pag_of_fit(self)

    def settled(self, data: NDArray[np.float32], *, recentre: bool) -> "FittedDAG":
        """Fit constants, residuals and variances to the prepared training data.

        With `recentre` and interventions, the means are moved to those that satisfy all equations:
        these are the means of observations without interventions, even if the table has none.
        """
        return rows.with_constants(self, data, recentre)

    def prepared(self, X: Any) -> Floats:
        """Check the columns of new data, and prepare the data like the training data."""
        return rows.prepared_rows(self, X)

    @property
    def has_noise(self) -> NDArray[np.bool_]:
        """(d,): whether each column varies and has an equation."""
        varying = ~self.preparation.constant
        return varying if self.known.given is None else varying & ~self.known.given

    def predict_prepared(self, data: NDArray[Any]) -> NDArray[Any]:
        """Predict every variable from its parents, all in prepared units."""
        fitted = self.equations.predict(data, self.adjacency)
        fitted[:, self.preparation.constant] = 0
        return fitted

    def predict_column(self, data: NDArray[Any], v: int) -> NDArray[Any]:
        """Predict variable v: one column of :meth:`predict_prepared`."""
        if self.preparation.constant[v]:
            return np.zeros(len(data))
        return self.equations.predict_column(data, self.adjacency, v)

    def predict(self, X: Any) -> Floats:
        """Predict every variable of a table from its parents."""
        return self.preparation.undo(self.predict_prepared(self.prepared(X)))

    def score(self, X: Any, interventions: Any = None, regimes: Any = None) -> float:
        """Compute the mean log-likelihood of the entries that were not set."""
        return rows.score_of(self, X, interventions, regimes)

    def log_likelihoods(self, X: Any, regimes: Any = None) -> Floats:
        """Compute the log-likelihood of every entry of the columns that have noise.

        It is Gaussian unless the equations define another one, as for counts and categories. If
        `regimes` gives the regime of each row, targets have their own equations.
        """
        return rows.likelihoods_of(self, self.prepared(X), regimes)

    def sample(
        self,
        n: int,
        random_state: int | None = None,
        held: Mapping[int, NDArray[Any]] = MappingProxyType({}),
    ) -> Floats:
        """Draw n new rows, with noise from the residuals, or normal noise if these were not saved.

        `held` has the values (n,), in the table's own units, of columns that are set by an
        intervention.
        """
        noise = self.drawn_noise(n, np.random.default_rng(random_state))
        drawn = self.preparation.undo(self.propagated(noise, self.prepared_values(held)))
        for v, values in held.items():
            drawn[:, v] = values  # exactly, without the rounding of the preparation
        return drawn

    def drawn_noise(self, n: int, random: np.random.Generator, *, normal: bool = False) -> Floats:
        """Draw n rows of noise, independent between variables, in prepared units.

        The noise is drawn from the residuals of the training data; from normal distributions if
        these were not saved, or if `normal` is true.
        """
        return rows.drawn_noise(self, n, random, normal=normal)

    def prepared_values(self, held: Mapping[int, NDArray[Any]]) -> dict[int, Floats]:
        """Convert values of some columns to prepared units."""
        means, scales = self.preparation.means, self.preparation.scales
        return {v: np.asarray((values - means[v]) / scales[v]) for v, values in held.items()}

    def propagated(
        self, noise: Floats, held: Mapping[int, Floats] = MappingProxyType({})
    ) -> Floats:
        """Compute rows from their noise, causes first, all in prepared units.

        The columns of `held` have the values given there, and no noise.
        """
        values = noise.copy()
        for v in self.order:
            if v in held:
                values[:, v] = held[v]
            elif not self.preparation.constant[v]:
                values[:, v] = self.equations.respond(values, self.adjacency, v, noise[:, v])
        return values

    def training_data(self) -> Floats:
        """Recover the prepared training data from the residuals: x_v = f_v + r_v, causes first."""
        if self.residuals is None:
            raise DataError(
                "The model was saved without the residuals from which its training data are "
                "recovered: save it with residuals=True, or fit again."
            )
        return self.propagated(self.residuals.astype(np.float64))

    def save(self, path: "str | os.PathLike[str]", *, residuals: bool = False) -> None:
        """Write the DAG to one file, without its learner; :meth:`load` reads it again.

        Parameters
        ----------
        path : path
        residuals : bool
            Also save the residuals of the training data, which can then be reconstructed.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> from cosmodag import FittedDAG, VarianceSort, simulate
        >>> X = simulate.load("n200_d5_ER1_gauss", seed=0).X
        >>> dag = VarianceSort().fit(X).fitted_
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "dag.safetensors"
        >>> dag.save(path)
        >>> FittedDAG.load(path).score(X) == dag.score(X)
        True
        """
        from cosmodag.fit.files.dag import save_dag

        save_dag(self, path, residuals=residuals)

    @classmethod
    def load(cls, path: "str | os.PathLike[str]") -> "FittedDAG":
        """Read a DAG from a file of :meth:`save`, or from the file or folder of a saved learner.

        Nothing in the file is run as code. See :meth:`save` for an example.
        """
        from cosmodag.fit.files.dag import load_dag

        return load_dag(path)
