"""The content of the report as plain data: the interface between Python and JavaScript."""

import re
from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.knowledge.statement import places_of
from cosmodag.errors import DataError
from cosmodag.fit.dag.basis import BASES, contains_arcs
from cosmodag.fit.dag.by_kind import EquationsByKind
from cosmodag.fit.view.arcs import largest_first, standardised_weights
from cosmodag.io.kind_names import NOT_EXAMINED, ColumnKind
from cosmodag.report.answers import plain
from cosmodag.report.evidence_section import Evidence
from cosmodag.report.origin import code_for, now, versions
from cosmodag.report.sections import sections_of
from cosmodag.report.sentences import bases_in_order, choices_of, problems_of, story_of

if TYPE_CHECKING:
    from cosmodag.fit.view.fitted import FittedGraph
    from cosmodag.learners.structure_learner import StructureLearner

SCHEMA = 3
_MOST_RECORDS = 300
# Response curves: number of points, largest number of curves, number of rows that are sampled for
# the range of causes, and the share of them that is excluded at either end.
_POINTS, _MOST_CURVES, _SAMPLES, _TAIL = 33, 240, 1_000, 0.02
_SCORES = ("auc", "nhd", "tpr", "fdr")  # available if the true graph is known
_SERIES = {
    "loss": "Objective",
    "temperature": "Temperature",
    "log_acyclicity_bound": "Bound on cycles (logarithm)",
    "acyclicity": "Acyclicity h(W)",
    "multiplier": "Multiplier",
    "penalty": "Penalty",
}


def page_data(
    model: "StructureLearner", evidence: Evidence, run: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Collect the content of the report as JSON-compatible data.

    Variables and arcs are columns of equal length, and arcs refer to variables by number, which
    keeps graphs of thousands of variables small.

    Parameters
    ----------
    run : dict, optional
        Facts about the run: ``command``, ``table``, ``rows``, ``sha256``, ``date``,
        ``seconds``, ``versions``, ``choice``, ``warnings``, ``groups`` (of variables, by name).

    Returns
    -------
    dict
        - ``schema``: 3. ``title``, ``learner``, ``file`` (start of the names of saved files): text.
        - ``story``: see `story_of`.
        - ``variables``: ``name``, ``order`` (numbers, causes first), ``scale`` (of the table's unit
          to that of the weights), ``group`` (index into ``groups``, or None), ``lag`` (in rows).
        - ``linear``: whether effects are sums of products of weights. ``signed``: whether weights
          have signs.
        - ``arcs``: ``from``, ``to``, ``weight``, ``standardised``, ``category`` (whether an end has
          levels without an order: the weights have no meaning alone), ``basis`` (index into
          ``bases``), ``grade`` of the direction, ``fixed`` (whether the class has the arrow),
          ``error``, ``p_edge`` and ``p_direction`` (or None). ``bases``: ``name``, ``meaning``.
        - ``summary`` and ``reproduce.facts``: pairs of label and value. ``reproduce.code``: text.
        - ``findings``: ``severity``, ``sentence``. ``diagnosed``: whether the data was available.
        - ``choices``: ``title``, ``text``. ``starts``: records.
        - ``history``: ``clock``, ``at``, ``series`` (each ``label``, ``values``). ``curves``:
          ``arc``, ``x``, ``y``.
        - ``stability`` (or None): ``resamples``, ``missed``, ``doubts``, ``note``.
        - ``effects``, ``pag``, ``verdict``, ``effect_curves``: see
          :class:`cosmodag.report.answers.Answers`. ``sections``: see
          :class:`cosmodag.report.sections.Section`.
    """
    run = run or {}
    names = [str(name) for name in model.names_]
    arcs, bases = _arc_columns(model, evidence)
    findings = _findings(model, evidence, run)
    warned = sum(finding["severity"] == "warning" for finding in findings)
    groups, group = groups_of(model, run.get("groups"))
    rows = run.get("rows") or (len(model.residuals_) if hasattr(model, "residuals_") else None)
    title = str(run.get("table") or run.get("data") or "A learnt graph")
    # Saved pictures are named after the data file: the last part of its path, without suffixes.
    stem = title.replace("\\", "/").rstrip("/").rpartition("/")[2].partition(".")[0]
    facts = {
        "schema": SCHEMA,
        "title": title,
        "file": re.sub(r"[^\w-]+", "-", stem).strip("-") or "graph",
        "learner": type(model).__name__,
        "story": story_of(model, evidence, rows, warned),
        "variables": {
            "name": names,
            "order": model.order_,
            "scale": model.preparation_.scales,
            "group": group,
            "lag": _lags(model),
        },
        "groups": groups,
        "linear": model.fitted_.is_linear,
        "signed": not hasattr(model, "response") or bool((model.edges_.data < 0).any()),
        "arcs": arcs,
        "bases": bases,
        "summary": [(name.upper(), f"{run[name]:.3f}") for name in _SCORES if name in run],
        "findings": findings,
        "diagnosed": evidence.findings is not None,
        "choices": choices_of(model, run),
        "starts": getattr(model, "refine_report_", None) or [],
        "history": _history(getattr(model, "history_", None) or []),
        "curves": response_curves(model),
        "stability": None if evidence.edge_probabilities is None else evidence.stability,
        **evidence.answers.facts(),
        "sections": sections_of(model),
        "reproduce": _reproduction(model, run),
    }
    data: dict[str, Any] = plain(facts)
    return data


def _arc_columns(
    model: "StructureLearner", evidence: Evidence
) -> tuple[dict[str, Any], list[dict[str, str]]]:
    edges, basis = model.edges_, model.fitted_.arrow_basis
    order = bases_in_order(basis)
    kinds = model.fitted_.kinds or [NOT_EXAMINED] * model.n_features_in_
    is_category = np.array([_has_no_order(kind) for kind in kinds], bool)
    arcs = {
        "from": edges.row,
        "to": edges.col,
        "weight": edges.data,
        "standardised": standardised_weights(model),
        "category": is_category[edges.row] | is_category[edges.col],
        "fixed": ~contains_arcs(model.fitted_.equivalence_class(), edges.col, edges.row),
        "basis": [order.index(name) for name in basis],
        "grade": model.fitted_.assertions.grades,
        "error": evidence.errors,
        "p_edge": evidence.edge_probabilities,
        "p_direction": evidence.direction_probabilities,
    }
    return arcs, [{"name": name, "meaning": BASES.get(name, "")} for name in order]


def _has_no_order(kind: ColumnKind) -> bool:
    """Whether the levels of a column have no order, so that weights have no sign to be shown."""
    is_text = any(isinstance(level, str) for level in kind.levels)
    return kind.kind == "categorical" or (is_text and kind.kind != "ordinal")


def _lags(model: "FittedGraph") -> NDArray[np.intp]:
    """Return how many rows before the present one each variable is; 0 unless rows are in time."""
    window, d = model.fitted_.window, model.n_features_in_
    return np.zeros(d, np.intp) if window is None else np.arange(d) // window.d


def _findings(
    model: "StructureLearner", evidence: Evidence, run: dict[str, Any]
) -> list[dict[str, str]]:
    """List the warnings of the fit, then the findings about the data, without duplicates."""
    found = [(finding.severity, finding.sentence) for finding in evidence.findings or []]
    warned = run["warnings"] if "warnings" in run else problems_of(model)
    sentences = {sentence for _, sentence in found}
    found = [("warning", str(one)) for one in warned if one not in sentences] + found
    return [{"severity": severity, "sentence": sentence} for severity, sentence in found]


def _history(records: list[dict[str, float]]) -> dict[str, Any]:
    """Convert records to columns, thinned to the resolution of a plot."""
    if not records:
        return {"clock": "round", "at": [], "series": []}
    kept = np.unique(np.linspace(0, len(records) - 1, _MOST_RECORDS).round().astype(int))
    thinned = [records[place] for place in kept]
    clock = "epoch" if "epoch" in thinned[0] else "round"
    names = [name for name in thinned[0] if name not in ("epoch", "round")]
    return {
        "clock": clock,
        "at": [record.get(clock) for record in thinned],
        "series": [
            {
                "label": _SERIES.get(name, name.replace("_", " ")),
                "values": [record.get(name) for record in thinned],
            }
            for name in names
        ],
    }


def _reproduction(model: "StructureLearner", run: dict[str, Any]) -> dict[str, Any]:
    used = run.get("versions") or versions()
    parameters = model.get_params(deep=False)
    facts = [
        ("Data", run.get("table") or run.get("data")),
        ("SHA-256 of the data", run.get("sha256")),
        ("Seed", parameters.get("random_state")),
        ("Date", run.get("date") or now()),
        ("Time", f"{run['seconds']:.1f} s" if "seconds" in run else None),
        ("Versions", ", ".join(f"{name} {number}" for name, number in used.items())),
        ("Parameters", ", ".join(f"{name}={value!r}" for name, value in parameters.items())),
    ]
    return {
        "code": run.get("command") or code_for(model),
        "facts": [(label, str(value)) for label, value in facts if value is not None],
    }


def groups_of(
    model: "FittedGraph", groups: Mapping[Any, Any] | None = None
) -> tuple[list[str], list[int | None]]:
    """List the names of the groups, and the group number of each variable (None without one).

    `groups` maps variables to the names of their groups. By default, the groups are the tiers of
    the model's knowledge.

    >>> import numpy as np
    >>> from cosmodag import VarianceSort
    >>> X = np.random.default_rng(0).normal(size=(100, 3)) * [1, 2, 3]
    >>> model = VarianceSort(knowledge={"tiers": [[0], [2]]}).fit(X)
    >>> groups_of(model)
    (['tier 1', 'tier 2'], [0, None, 1])
    """
    names = [str(name) for name in model.names_]
    if groups is None:
        known = getattr(model, "knowledge_", None)
        tiers = () if known is None else known.tiers
        # A tier may state the number of a column instead of its name.
        places = places_of([*chain(*tiers)], names)
        groups = {
            names[places[name]]: f"tier {number}"
            for number, tier in enumerate(tiers, 1)
            for name in tier
        }
    given = {str(name): str(group) for name, group in groups.items()}
    unknown = sorted(given.keys() - set(names))
    if unknown:
        raise DataError(
            f"groups contains '{unknown[0]}', which is not a variable of the model: use its names."
        )
    found = list(dict.fromkeys(given.values()))
    places = {group: number for number, group in enumerate(found)}
    return found, [places[given[name]] if name in given else None for name in names]


def response_curves(model: "StructureLearner") -> list[dict[str, Any]]:
    """Compute the fitted response of the strongest arcs, with the other parents at their means.

    Causes vary over the middle 96% of values sampled from the fitted model. Each curve has ``arc``,
    its number in ``edges_``, and the points ``x`` and ``y``. Learners without ``response`` have no
    curves; nor have equations by kinds of columns, whose effects `block_section` shows.
    """
    response = getattr(model, "response", None)
    if response is None or isinstance(model.fitted_.equations, EquationsByKind):
        return []
    edges, names = model.edges_, model.names_
    samples = model.fitted_.sample(_SAMPLES, random_state=0)
    low, high = np.quantile(samples, [_TAIL, 1 - _TAIL], axis=0)
    strongest = largest_first(standardised_weights(model), edges.data)[:_MOST_CURVES]
    curves = []
    for arc in strongest.tolist():
        u, v = int(edges.row[arc]), int(edges.col[arc])
        grid = np.linspace(low[u], high[u], _POINTS)
        curves.append({"arc": arc, "x": grid, "y": response(names[u], names[v], grid)})
    return curves
