"""The default learner: the referee chooses among the parts of the package."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from scipy import sparse

from cosmodag.errors import DataError
from cosmodag.fit.fitted_kinds import needs_blocks
from cosmodag.learners.declarations import parameter
from cosmodag.learners.structure_learner import Learnt, Prepared, RefinedFit, StructureLearner
from cosmodag.solve.watch import Watch

if TYPE_CHECKING:
    import pandas as pd


@dataclass(kw_only=True, eq=False, repr=False)
class Auto(StructureLearner):
    """Let a referee choose the equations and the graph: lines, curves, networks, kinds of noise.

    Families of equations are searched by the parts of the package, cheap ones first: lines with
    noise of several kinds (:class:`OrderSearch`), lines between normal scores, curves
    (:class:`BlockSearch`) and curves between normal scores, and networks (:class:`CosmoMLP`, up to
    20 variables). The dearer ones are searched only if the table refutes lines. Every graph is
    judged under every family by the log density of held-out rows, in units of the table, and the
    simplest family within two standard errors of the best is kept. It is then tested: its noise
    must be independent of the causes and of other noise.

    Tables with counts, or with categories of three or more levels, are searched by
    :class:`BlockSearch`. Rows with cells far outside their column take no part, if they are at most
    3 % of the rows; a finding lists these cells.

    Attributes
    ----------
    family_, family_reason_ : str
        The family that was kept, and the reason in a sentence.
    part_ : str
        The part that found the graph, one of the names for `families`.
    families_ : DataFrame
        One row per family: the part with the best graph, the held-out log density per row and its
        standard error, by how much it is behind the best (and the error of that difference), the
        seconds of the search, whether it was kept, and why.
    family_rows_ : list of dict
        The rows of `families_` as plain values.
    refuted_ : list of str
        What contradicts the kept family, in sentences; empty if nothing does. Directions that rest
        on a refuted family are not determined.

    Examples
    --------
    >>> import numpy as np
    >>> from cosmodag import Auto
    >>> random = np.random.default_rng(0)
    >>> x = random.normal(size=500)
    >>> table = np.column_stack([np.sin(2 * x) + 0.3 * random.normal(size=500), x])
    >>> model = Auto(random_state=0).fit(table)
    >>> model.family_, (model.adjacency_ != 0).astype(int).tolist()
    ('curves', [[0, 0], [1, 0]])
    """

    families: str | tuple[str, ...] = parameter(
        "auto",
        """The parts that are searched: ``"auto"``, or names among ``"lines"``,
        ``"Gaussian lines"``, ``"equal-variance lines"``, ``"non-Gaussian lines"``,
        ``"lines on scores"``, ``"curves"``, ``"curves on scores"``, ``"uneven lines"``,
        ``"uneven curves"``, ``"networks"``, and for tables of kinds ``"kinds"`` and
        ``"kinds with curves"``. A single one is fitted without a comparison.""",
        type='"auto", str or tuple of str',
    )
    restarts: int | Literal["auto"] = parameter(
        "auto",
        """Maximum number of searches from perturbed copies of the best order, as for
        :class:`cosmodag.OrderSearch`.""",
        at_least=0,
        option="--restarts",
    )

    takes_levels: ClassVar[bool] = True
    leaves_out_gross: ClassVar[bool] = True
    extra_facts = ("family_", "family_reason_", "part_", "family_rows_", "refuted_")
    _order_from_units: ClassVar[bool] = False

    @property
    def families_(self) -> "pd.DataFrame":
        """What the referee compared, the simplest family first."""
        import pandas as pd

        return pd.DataFrame(self.family_rows_)

    def check_settings(self) -> None:
        """Raise a `DataError` for a parameter value that cannot be used."""
        super().check_settings()
        from cosmodag.learners.referee.parts import PARTS

        unknown = [name for name in self.asked or () if name not in PARTS]
        if unknown or self.asked == ():
            listed = ", ".join(repr(name) for name in PARTS)
            raise DataError(f"families is {self.families!r}: it must be 'auto', or among {listed}.")

    @property
    def asked(self) -> tuple[str, ...] | None:
        """The parts that are searched; None if the referee chooses them."""
        if self.families == "auto":
            return None
        named = [self.families] if isinstance(self.families, str) else self.families
        return tuple(named) if isinstance(named, Sequence) else (repr(named),)

    def refinement_for(self, d: int) -> str:
        """Return the method of refinement, a search over orders."""
        return "order"

    def decides(self, d: int) -> bool:
        """Whether a fit chooses among families."""
        return True

    def decided(self) -> dict[str, Any]:
        """Return the parameters that fix the decisions of this fit when it is repeated."""
        return {**super().decided(), "families": (self.part_,)}

    def for_parts(self, part: str) -> dict[str, Any]:
        """Return the parameters of the learner of a part."""
        return {
            "threshold": self.threshold,
            "restarts": self.restarts,
            "random_state": self.random_state,
            "verbose": self.verbose,
        }

    def _learn(self, given: Prepared, watch: Watch) -> Learnt:
        """Learn nothing before the referee's searches."""
        return Learnt(None)

    def refined(self, given: Prepared, learnt: Learnt, watch: Watch) -> RefinedFit:
        """Search for graphs, compare them, and return the one of the kept family."""
        from cosmodag.learners.referee.ruling import ruled

        ruling = ruled(self, given, watch, by_kind=needs_blocks(given.kinds))
        dag, fit = ruling.dag, ruling.fit
        weights = dag.edges if dag.weights is None else dag.weights
        return RefinedFit(
            order=dag.order,
            weights=sparse.csr_array(weights),
            noise=str(dag.noise),
            reason=ruling.noise_reason,
            report=fit.attributes.get("refine_report_", []),
            stopped=fit.stopped or watch.stop,
            scores=fit.attributes.get("noise_scores_", {}),
            equations=dag.equations,
            doubt=ruling.doubt,
            turning_losses=dag.turning_losses,
            extra=ruling.attributes,
        )


def learn(X: Any, *, interventions: Any = None, **options: Any) -> Auto:
    """Learn a graph from a table: an `Auto` with these options, fitted.

    Parameters
    ----------
    X : table
        As for ``fit``.
    interventions : optional
        What was set in each row, as for ``fit``.
    **options
        Parameters of :class:`Auto`, such as ``random_state``, ``knowledge`` and ``max_time``; and
        those of ``fit``: ``series``, ``time``, ``regimes`` and ``find_targets``.

    Returns
    -------
    Auto

    Examples
    --------
    >>> from cosmodag import learn, simulate
    >>> data = simulate.load("n500_d8_ER2_gauss", seed=0)
    >>> model = learn(data.X, random_state=0)
    >>> model.family_, model.noise_
    ('lines', 'equal-variance')
    """
    of_fit = {name: options.pop(name) for name in _OF_FIT if name in options}
    return Auto(**options).fit(X, interventions=interventions, **of_fit)


_OF_FIT = ("series", "time", "regimes", "find_targets")
