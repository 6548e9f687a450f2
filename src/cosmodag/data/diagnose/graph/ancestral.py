"""Findings about a partial ancestral graph: hidden common causes, and what stays open."""

from cosmodag.data.diagnose.findings import Finding, about, first_of
from cosmodag.graph.mixed.pag import PartialAncestralGraph

__all__ = ["of_pag"]

# Share of circles among the marks above which the graph says little about causes.
_MANY = 0.5


def of_pag(graph: PartialAncestralGraph) -> list[Finding]:
    """Report ↔ edges, and marks that the table leaves open.

    Returns
    -------
    list of Finding
        ``hidden_pairs``, a warning, where two variables seem to have a hidden common cause;
        ``open_marks``, a notice, where more than half of all marks are circles.

    Examples
    --------
    >>> graph = PartialAncestralGraph(("dose", "level"), [[0, 2], [2, 0]])
    >>> [finding.sentence for finding in of_pag(graph)]  # doctest: +NORMALIZE_WHITESPACE
    ['dose ↔ level: neither causes the other, a common cause is not in the table. Measure it if you
    can, and do not read an effect between them off the graph.']
    """
    pairs = [(str(u), str(v)) for u, symbol, v in graph.edges() if symbol == "↔"]
    listed = first_of([f"{u} ↔ {v}" for u, v in pairs], 3)
    sentence = (
        f"{listed}: neither causes the other, a common cause is not in the table. Measure it if "
        "you can, and do not read an effect between them off the graph."
    )
    columns = list(dict.fromkeys(name for pair in pairs for name in pair))
    found = about("hidden_pairs", columns, sentence, len(pairs))
    marks = int((graph.marks != 0).sum())
    share = graph.open_marks / marks if marks else 0.0
    if share <= _MANY:
        return found
    sentence = (
        f"{graph.open_marks} of {marks} marks of the partial ancestral graph are open: where "
        "causes may be hidden, the table does not tell causes from effects there. Interventions, "
        "or tiers in the knowledge, would."
    )
    return [*found, Finding("open_marks", (), share, "notice", sentence)]
