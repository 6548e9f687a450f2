"""Presentation of a fitted graph: tables of arcs and targets, summary, report, drawing."""

import textwrap
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from sklearn.utils.validation import check_is_fitted

from cosmodag.errors import name_list
from cosmodag.fit.dag.basis import BASES
from cosmodag.fit.view.arcs import arc_table, with_shares
from cosmodag.graph.texts import counted

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    import networkx as nx
    import pandas as pd

    from cosmodag.assess.bootstrapping import BootstrapResult
    from cosmodag.fit.fitted_dag import FittedDAG
    from cosmodag.fit.view.fitted import FittedGraph

_WIDTH = 88
_ASSUMED = (
    "No common cause of two variables was left out, rows were not selected by their values, and "
    "there is no feedback: no table can show this."
)
_TREATMENTS = {
    "drop": "; rows with missing values were dropped",
    "impute": "; missing values were imputed",
}


class Summary(str):
    """Text that Python and notebooks display without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def summary_of(model: "FittedGraph", arcs: int) -> Summary:
    """Describe a fitted model; see `FittedGraph.summary`."""
    table = model.arcs_
    count = counted(len(table), "arc")
    title = f"{type(model).__name__}: {count} among {counted(model.n_features_in_, 'variable')}"
    lines = [title, "=" * len(title)]
    for label, text in _facts(model):
        lines += _labelled(label, text)
    lines += ["", *_arc_lines(table, arcs)]
    findings = getattr(model, "findings_", None)
    none = "findings: not kept in a saved model" if findings is None else "findings: none"
    lines += ["", "findings" if findings else none]
    for finding in findings or []:
        lines += _labelled(finding.severity, finding.sentence)
    return Summary("\n".join(lines))


def _labelled(label: str, text: str) -> list[str]:
    """Wrap a text beside its label."""
    return textwrap.wrap(
        text, _WIDTH, initial_indent=f"{label:<12}", subsequent_indent=" " * 12
    ) or [label]


def _facts(model: "FittedGraph") -> Iterator[tuple[str, str]]:
    rows = f"{counted(len(model.residuals_), 'row')}, " if hasattr(model, "residuals_") else ""
    method = str(getattr(model, "missing_report_", {}).get("method"))
    treated = _TREATMENTS.get(method, "")
    yield "data", f"{rows}{counted(model.n_features_in_, 'column')}{treated}"
    yield "learner", " ".join(repr(model).split())
    stopped = model.stopped_
    if stopped is not None:
        yield "stopped", "by max_time" if stopped == "time" else "by Ctrl-C"
    dag = model.fitted_
    form = f"Each variable is {dag.equations.form} of its causes."
    equations = "Linear equations." if dag.is_linear else form
    noise = getattr(model, "noise_reason_", None) or getattr(model, "noise_", None)
    yield "assumed", f"{equations} {noise or ''}"
    yield "", _ASSUMED
    if model.knowledge_ is not None:
        yield "knowledge", "every arc agrees with it"
    if hasattr(model, "target_sets_"):
        was_set = model.target_sets_.any(axis=0)
        names = [str(name) for name, one in zip(model.names_, was_set, strict=True) if one]
        if dag.regimes is None:
            yield "set", f"{name_list(names)} in some rows"
        else:
            yield "changes", f"{name_list(names) or 'no variable'} between the regimes"
    counts = Counter(model.arrow_basis_)
    named = [f"{basis} ({counts[basis]})" for basis in BASES if counts[basis]]
    yield "directions", f"rest on: {', '.join(named)}" if named else "none"
    yield "", dag.assertions.sentence


def _arc_lines(table: "pd.DataFrame", arcs: int) -> list[str]:
    if not len(table):
        return ["no arc found"]
    shown = table.head(arcs).drop(columns="class").dropna(axis=1, how="all")
    count = counted(len(table), "arc")
    part = f", {len(shown):,} shown" if len(shown) < len(table) else ""
    forms = {"weight": "{:.4g}", "standardised": "{:+.3f}", "se": "{:.2g}", "t": "{:.1f}"}
    forms |= {"p_edge": "{:.2f}", "p_direction": "{:.2f}"}
    text = shown.to_string(
        index=False,
        formatters={name: form.format for name, form in forms.items() if name in shown},
        na_rep="",
    )
    return [f"{count}{part}, the largest standardised weight first", *text.splitlines()]


class Shown:
    """Attributes and methods of fitted graphs that present the fit."""

    fitted_: "FittedDAG"
    bootstrap_: "BootstrapResult"
    regimes_: Any

    @property
    def _dag(self) -> "FittedDAG":
        check_is_fitted(self, "fitted_")
        return self.fitted_

    @property
    def names_(self) -> list[Any]:
        """Column names, or column numbers if the data had no names."""
        return self._dag.names

    @property
    def arcs_(self) -> "pd.DataFrame":
        """Table of the arcs, the largest standardised weight first.

        Columns: ``cause``, ``effect``, ``weight``; ``standardised``, the weight for columns with a
        standard deviation of one; ``se`` and ``t`` of the weight by least squares on the parents,
        as if the arcs were known (NaN without the training data, or if equations are not linear);
        ``basis`` of the direction (``arrow_basis_``) and its ``grade`` (``arrow_grades_``);
        ``class``, whether the arc is ``directed`` or ``undirected`` in the equivalence class
        (``cpdag_``); ``p_edge`` and ``p_direction``, the
        fractions of resamples that join the two variables and that have the arrow (NaN before
        :meth:`bootstrap`, whose ``note`` says whether they are probabilities). The index is the
        place of the arc in ``edges_``.
        """
        model, dag = cast("FittedGraph", self), self._dag
        resamples = getattr(self, "bootstrap_", None)
        done = vars(self).get("_arc_table_")
        if done is None or done[0] is not dag or done[1] is not resamples:
            table = with_shares(arc_table(model), dag.edges, resamples)
            done = self._arc_table_ = (dag, resamples, table)
        return done[2].copy()

    @property
    def targets_(self) -> "pd.DataFrame":
        """Table of the targets of regimes, for a fit with ``regimes``.

        Columns: ``regime``, ``variable``; ``stated``, whether the user named the target;
        ``evidence``, the penalised log-likelihood, by ranks, that an own equation gains in the
        regime: ranks make it independent of the shape of the noise, and a variable that was not
        named is a target if it exceeds log(2 (d − 1)); ``change``: ``noise`` (the shared weights
        with another intercept and variance), ``slopes`` (other weights and intercept, the same
        noise), ``cut`` (no parents) or ``weights`` (all parameters its own); ``deviation`` of the
        noise of the own equation; ``rows``, the number of rows of the regime.
        """
        table: pd.DataFrame = self.regimes_.table(self.names_)
        return table

    @property
    def regime_evidence_(self) -> "pd.DataFrame":
        """Evidence that each variable changed in each regime, for a fit with ``regimes``.

        One row for each regime and one column for each variable, as ``evidence`` in ``targets_``.
        """
        table: pd.DataFrame = self.regimes_.evidence_table(self.names_)
        return table

    def summary(self, arcs: int = 30) -> Summary:
        """Describe the fit in words: data, learner, assumptions, arcs and findings.

        Parameters
        ----------
        arcs : int
            Number of arcs to list, the largest standardised weights first.

        Returns
        -------
        str
            Displayed without quotes.

        Examples
        --------
        >>> import numpy as np, pandas as pd
        >>> from cosmodag import OrderSearch
        >>> rain, sun, noise = np.random.default_rng(0).normal(size=(3, 500))
        >>> table = pd.DataFrame({"rain": rain, "sun": sun, "growth": 2 * rain + sun + noise})
        >>> OrderSearch(random_state=0).fit(table).summary()
        OrderSearch: 2 arcs among 3 variables
        =====================================
        data        500 rows, 3 columns
        learner     OrderSearch()
        assumed     Linear equations. The best graph with one noise variance for all variables
                    scores higher than the best with a noise variance for each variable, by 4 in
                    units of log-likelihood.
                    No common cause of two variables was left out, rows were not selected by
                    their values, and there is no feedback: no table can show this.
        directions  rest on: shape of the graph (2)
                    Of 2 directions: 2 determined under the stated assumptions.
        <BLANKLINE>
        2 arcs, the largest standardised weight first
        cause effect weight standardised    se    t              basis      grade
         rain growth  2.025       +0.832 0.045 45.3 shape of the graph determined
          sun growth 0.9731       +0.370 0.048 20.2 shape of the graph determined
        <BLANKLINE>
        findings: none
        """
        return summary_of(cast("FittedGraph", self), arcs)

    @property
    def graph_(self) -> "nx.DiGraph[Any]":
        """The learnt graph: column names as nodes, the columns of ``arcs_`` as edge attributes.

        Unknown numbers, such as ``p_edge`` without resamples, are left out.
        """
        import networkx as nx

        graph: nx.DiGraph[Any] = nx.DiGraph()
        graph.add_nodes_from(self.names_)
        for arc in self.arcs_.sort_index().to_dict("records"):
            cause, effect = arc.pop("cause"), arc.pop("effect")
            known = {str(name): value for name, value in arc.items() if value == value}  # not NaN
            graph.add_edge(cause, effect, **known)
        return graph

    def report(
        self,
        path: "str | os.PathLike[str]",
        *,
        data: Any = None,
        bootstrap: Any = None,
        groups: "Mapping[Any, Any] | None" = None,
    ) -> None:
        """Write a report: one self-contained HTML file, see ``docs/report.md``.

        It shows the strongest associations and the bases of their directions, the graph, effects,
        arcs, weights, training, the diagnosis of the data, the choices with their reasons, and how
        to reproduce the fit. It contains no row of the data.

        Parameters
        ----------
        path : path
            The file to write.
        data : table, optional
            The training data, for the diagnosis and standard errors; needed only for a model that
            was loaded.
        bootstrap : object, optional
            A :class:`cosmodag.assess.BootstrapResult` of the same table; by default the result
            of :meth:`bootstrap`, if there is one.
        groups : mapping, optional
            Name of the group of each variable, shown as a colour; by default the tiers of the
            knowledge.
        """
        from cosmodag.report import Evidence, write_report

        check_is_fitted(self, "fitted_")
        resamples = getattr(self, "bootstrap_", None) if bootstrap is None else bootstrap
        model = cast("FittedGraph", self)
        run = None if groups is None else {"groups": groups}
        write_report(path, model, Evidence.of(model, data, resamples), run)

    def _repr_html_(self) -> str:
        """Draw the graph for a notebook; before the fit, show the learner as scikit-learn does."""
        from sklearn.utils import estimator_html_repr

        from cosmodag.report.plots import thumbnail

        if not hasattr(self, "fitted_"):
            return str(estimator_html_repr(self))
        return thumbnail(cast("FittedGraph", self))

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        # scikit-learn's own would come before _repr_html_.
        return {"text/plain": repr(self), "text/html": self._repr_html_()}
