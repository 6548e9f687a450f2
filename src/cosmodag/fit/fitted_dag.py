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
from cosmodag.fit.dag import rows
from cosmodag.fit.dag.basis import basis_of_fit, class_of_fit, mask_of, pag_of_fit
from cosmodag.fit.dag.equations import FittedEquations, LinearEquations
from cosmodag.fit.dag.read_only import read_only
from cosmodag.fit.known import NOTHING, Known
from cosmodag.fit.preparation import Preparation
from cosmodag.fit.regimes import FittedRegimes
from cosmodag.graph.mixed.pag import PartialAncestralGraph

if TYPE_CHECKING:
    import os

    from cosmodag.order.moments import Moments

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FittedDAG:
    """Result of a fit. A learner holds it as ``fitted_``, and reads its attributes from it.

    Its arrays refuse writing; a changed graph is another fit (`dataclasses.replace`).
    """

    order: NDArray[np.intp]  # (d,): column numbers in causal order, causes first
    # (d, d): weights of the arcs, u → v at [u, v]; dense, or sparse for very many variables.
    adjacency: Any
    # (d, d): weights before the threshold, acyclic; None for very many variables.
    weights: Floats | None
    preparation: Preparation  # how columns are centred and scaled
    # How variables are predicted from their parents in `adjacency`.
    equations: FittedEquations = LinearEquations()  # noqa: RUF009  (frozen, and without fields)
    # Bounds on the graph, interventions and missing values of the training data.
    known: Known = NOTHING
    columns: NDArray[Any] | None = None  # names of the columns; None where the table had none
    knowledge: Knowledge | None = None  # what the user knows of the graph
    kinds: tuple[ColumnKind, ...] = ()  # what the numbers of each column mean
    # (k, d) bool: the distinct sets of variables that were set; None without interventions.
    target_sets: NDArray[np.bool_] | None = None
    # Targets of regimes, evidence for them, and own equations; None without regimes, or where the
    # graph was not examined.
    regimes: FittedRegimes | None = None
    # What refinement assumed of the noise, and why; None without refinement.
    noise: str | None = None
    noise_reason: str | None = None
    follows_units: bool = False  # whether the order is one that depends on the units of columns
    # (n, d) float32: residuals of the training data, in prepared units; None if they were not
    # saved.
    residuals: NDArray[np.float32] | None = None
    # (d,): variances of the residuals, and deviations of the columns, in the table's own units.
    noise_variances: Floats | None = None
    deviations: Floats | None = None
    # (d, d): loss of the Gaussian score when an arc is reversed, NaN where there is no arc; None if
    # another score decides, or it was not computed.
    turning_losses: Floats | None = None
    # Variables and lags where the columns are those of a window in time; None otherwise.
    window: Window | None = None
    learner: str = "the model"  # class of the learner, for messages

    def __post_init__(self) -> None:
        for part in fields(self):
            object.__setattr__(self, part.name, read_only(getattr(self, part.name)))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "moments"}

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
        """Column names, or column numbers where the data had no names."""
        return list(range(self.d)) if self.columns is None else list(self.columns)

    @property
    def texts(self) -> list[str]:
        """Names for messages, made up where the data had none."""
        if self.columns is None:
            return [f"x{place}" for place in range(self.d)]
        return [str(name) for name in self.columns]

    @property
    def is_linear(self) -> bool:
        """Whether all equations are lines, whose coefficients are the weights."""
        return isinstance(self.equations, LinearEquations)

    @cached_property
    def edges(self) -> sparse.coo_array:
        """Arcs with their weights, as a sparse matrix; a required arc may weigh zero."""
        required = self.known.required
        if required is None or sparse.issparse(self.adjacency):
            return sparse.coo_array(self.adjacency)
        tails, heads = np.nonzero(required | (self.adjacency != 0))
        places, shape = (tails, heads), self.adjacency.shape
        return sparse.coo_array((self.adjacency[places], places), shape=shape)

    @cached_property
    def arcs(self) -> sparse.csr_array:
        """Arcs as a Boolean matrix; their weights do not matter."""
        edges = self.edges
        return mask_of(edges.row, edges.col, self.d)

    @cached_property
    def bounds(self) -> Bounds | None:
        """Bounds that knowledge alone sets on the columns."""
        known = self.knowledge if self.window is None else self.window.knowledge(self.knowledge)
        return bounds_of(known, self.texts)

    @cached_property
    def arrow_basis(self) -> list[str]:
        """What the direction of each arc of ``edges`` rests on; see `cosmodag.fit.dag.basis`."""
        return basis_of_fit(self)

    @cached_property
    def moments(self) -> "Moments":
        """Second moments of the training data, in the table's own units; not saved."""
        return self.known.moments(self.training_data() * self.preparation.scales)

    def examined(self, regimes: FittedRegimes | None, losses: Any) -> "FittedDAG":
        """Add the evidence about arrows and regimes; edges that were computed stay."""
        found = replace(self, regimes=regimes, turning_losses=losses)
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
        """What the graph shows where causes may be hidden; see `cosmodag.fit.dag.basis`."""
        return pag_of_fit(self)

    def settled(self, data: NDArray[np.float32], *, recentre: bool) -> "FittedDAG":
        """Fit constants, residuals and variances to the training data, prepared.

        With `recentre`, means may be moved if variables were set: those that satisfy all equations
        are the means of observations without interventions, even if the table has none.
        """
        return rows.with_constants(self, data, recentre)

    def prepared(self, X: Any) -> Floats:
        """Check the columns of new data, and prepare it like the training data."""
        return rows.prepared_rows(self, X)

    @property
    def has_noise(self) -> NDArray[np.bool_]:
        """(d,): columns that are not constant, and have an equation."""
        varying = ~self.preparation.constant
        return varying if self.known.given is None else varying & ~self.known.given

    def predict_prepared(self, data: NDArray[Any]) -> NDArray[Any]:
        """Predict every variable from its parents, all in prepared units."""
        fitted = self.equations.predict(data, self.adjacency)
        fitted[:, self.preparation.constant] = 0
        return fitted

    def predict_column(self, data: NDArray[Any], v: int) -> NDArray[Any]:
        """One column of :meth:`predict_prepared`."""
        if self.preparation.constant[v]:
            return np.zeros(len(data))
        return self.equations.predict_column(data, self.adjacency, v)

    def predict(self, X: Any) -> Floats:
        """Predict every variable of a table from its parents."""
        return self.preparation.undo(self.predict_prepared(self.prepared(X)))

    def score(self, X: Any, interventions: Any = None, regimes: Any = None) -> float:
        """Mean Gaussian log-likelihood, per row and variable, of entries that were not set."""
        return rows.score_of(self, X, interventions, regimes)

    def log_likelihoods(self, X: Any, regimes: Any = None) -> Floats:
        """Log-likelihood of every entry of the columns that have noise.

        Gaussian, unless the equations have another one, such as that of categories. If `regimes`
        gives the regime of each row, targets have their own equations.
        """
        return rows.likelihoods_of(self, self.prepared(X), regimes)

    def sample(
        self,
        n: int,
        random_state: int | None = None,
        held: Mapping[int, NDArray[Any]] = MappingProxyType({}),
    ) -> Floats:
        """Draw n new rows: noise from the residuals, or normal noise where these were not saved.

        `held` gives the values, in the table's own units, of columns that are set from outside.
        """
        noise = self.drawn_noise(n, np.random.default_rng(random_state))
        drawn = self.preparation.undo(self.propagated(noise, self.prepared_values(held)))
        for v, values in held.items():
            drawn[:, v] = values  # to the last digit
        return drawn

    def drawn_noise(self, n: int, random: np.random.Generator, *, normal: bool = False) -> Floats:
        """Draw n rows of noise, independent between variables, in prepared units.

        It comes from the residuals of the training data, or from normal distributions: if these
        were not saved, or if `normal` is true.
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

        Columns that are `held` have the values given, and no noise.
        """
        values = noise.copy()
        for v in self.order:
            if v in held:
                values[:, v] = held[v]
            elif not self.preparation.constant[v]:
                values[:, v] = self.equations.respond(values, self.adjacency, v, noise[:, v])
        return values

    def training_data(self) -> Floats:
        """Recover the training data from residuals: parents first, each x_v = f_v + r_v."""
        if self.residuals is None:
            raise DataError(
                "The model was saved without the residuals of its training data, which this needs: "
                "save it with residuals=True, or fit again."
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
        """Read a DAG from a file of :meth:`save`, or that of a saved learner, or from its folder.

        Nothing that is read can run code. The example is that of :meth:`save`.
        """
        from cosmodag.fit.files.dag import load_dag

        return load_dag(path)
