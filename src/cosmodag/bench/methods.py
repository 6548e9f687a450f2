"""What is compared: learners with fixed parameters, and where their others are searched."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cosmodag.errors import DataError

__all__ = ["METHODS", "Method", "method_named"]


@dataclass(frozen=True)
class Method:
    """One row of a table.

    Attributes
    ----------
    name
        In experiments and tables; the paper's name where it has one.
    learner
        Class of the learner.
    parameters
        What is fixed.
    space
        Where the rest is searched (`cosmodag.bench.space`).
    like
        Method whose chosen configuration this one takes, in place of a search of its own.
    reads
        ``"raw"``: optimised weights, cut at 0.3, as in the paper. ``"graph"``: the graph that a
        user gets, its weights ranked.
    label
        For people.
    """

    name: str
    learner: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    space: str = "nothing"
    like: str | None = None
    reads: str = "raw"
    label: str = ""

    @property
    def is_solved_together(self) -> bool:
        """Whether cells are problems of one solver; others are fitted one by one, on a CPU."""
        return self.reads == "raw"


# As in the paper: one rate, 2,000 passes, nothing refined, tables centred but not scaled.
_PLAIN = {"refine": None, "threshold": 0.3, "scale": "none"}
_ANNEALED = {
    **_PLAIN,
    "epochs": 2000,
    "priority_learning_rate": None,
    "temperature_start": 0.45,
}
_PAPER = {**_PLAIN, "variant": "paper"}

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("cosmo", "Cosmo", _ANNEALED, "cosmo", label="COSMO"),
        Method(
            "cosmo-np",
            "Cosmo",
            {**_ANNEALED, "lambda_p": 0.0},
            like="cosmo",
            label="COSMO-NP",
        ),
        Method("dagma", "Dagma", _PAPER, "baseline", label="DAGMA"),
        Method("nocurl", "NoCurl", _PAPER, "baseline", label="NOCURL"),
        Method("nocurl-u", "NoCurl", {**_PAPER, "joint": True}, "baseline", label="NOCURL-U"),
        Method("notears", "Notears", _PAPER, "baseline", label="NOTEARS"),
        Method("dagma-original", "Dagma", _PLAIN, "original", label="DAGMA (authors' own)"),
        Method("nocurl-original", "NoCurl", _PLAIN, label="NOCURL (authors' own)"),
        Method("notears-original", "Notears", _PLAIN, "original", label="NOTEARS (authors' own)"),
        Method(
            "cosmo-mlp",
            "CosmoMLP",
            {**_ANNEALED, "arc_strength": "sum"},
            "cosmo",
            label="COSMO-MLP",
        ),
        Method(
            "cosmo-mlp-norm",
            "CosmoMLP",
            {**_ANNEALED, "arc_strength": "norm"},
            like="cosmo-mlp",
            label="COSMO-MLP, arcs by norm",
        ),
        Method("dagma-mlp", "DagmaMLP", _PLAIN, label="DAGMA-MLP (authors' own)"),
        Method("notears-mlp", "NotearsMLP", _PLAIN, label="NOTEARS-MLP (authors' own)"),
        Method(
            "cosmo-default",
            "Cosmo",
            {"refine": None, "epochs": 2000},
            label="`Cosmo(refine=None)`",
        ),
        Method(
            "cosmo-mlp-default",
            "CosmoMLP",
            {"refine": None, "epochs": 2000},
            label="`CosmoMLP(refine=None)`",
        ),
        Method("cosmo-refined", "Cosmo", reads="graph", label="`Cosmo()`, refined"),
        Method("cosmo-mlp-refined", "CosmoMLP", reads="graph", label="`CosmoMLP()`, refined"),
        Method("order-search", "OrderSearch", reads="graph", label="`OrderSearch()`"),
        Method("equal-variance", "EqualVariance", reads="graph", label="`EqualVariance()`"),
        Method("variance-sort", "VarianceSort", reads="graph", label="`VarianceSort()`"),
        Method("r2-sort", "R2Sort", reads="graph", label="`R2Sort()`"),
        Method("random-sort", "RandomSort", reads="graph", label="`RandomSort()`"),
        Method("empty-graph", "EmptyGraph", reads="graph", label="`EmptyGraph()`"),
    )
}


def method_named(name: str) -> Method:
    """Find a method; a name that there is not is refused with those that there are."""
    if name not in METHODS:
        raise DataError(f"The method {name!r} is unknown: use one of {', '.join(METHODS)}.")
    return METHODS[name]
