"""``cosmodag pag``: learn a graph from a table in which causes may be hidden."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from cosmodag.cli.fits.results import output_folder
from cosmodag.cli.fits.steps import fitted
from cosmodag.cli.options import common
from cosmodag.cli.options.inputs import AskedKinds, read_data
from cosmodag.cli.options.learners import Method, make_learner
from cosmodag.cli.terminal.cache import keep_compiled_programs
from cosmodag.cli.terminal.output import print_json, print_result, say

__all__ = ["pag"]

_SEARCH = Method("order-search")


def pag(
    table: common.TableArgument,
    output: common.OutputOption = Path("cosmodag-out"),
    method: common.MethodOption = _SEARCH,
    columns: common.ColumnsOption = None,
    drop: common.DropOption = None,
    header: common.HeaderOption = True,
    decimal: common.DecimalOption = "auto",
    transpose: common.TransposeOption = False,
    missing: common.FillingOption = "error",
    kinds: common.KindsOption = None,
    categorical: common.CategoricalOption = None,
    ordinal: common.OrdinalOption = None,
    count: common.CountOption = None,
    knowledge: common.KnowledgeOption = None,
    interventions: common.InterventionsOption = None,
    seed: common.SeedOption = None,
    json: common.JsonOption = False,
    quiet: common.QuietOption = False,
) -> None:
    """Learn a partial ancestral graph: what a table shows where causes may be hidden.

    Edges are u --> v (a cause), u <-> v (a hidden common cause), u o-> v (one or both of these) and
    u o-o v (open). Writes pag.txt (the graph text of Tetrad), pag.dot and pag.graphml to a folder,
    and prints the edges.
    """
    keep_compiled_programs()
    from cosmodag.data.diagnose.graph.ancestral import of_pag
    from cosmodag.data.knowledge import as_knowledge
    from cosmodag.io.graphs import write_graph

    gaps = "keep" if missing == "impute" else missing
    reading: dict[str, Any] = {"header": header, "missing": gaps, "columns": columns, "drop": drop}
    asked = AskedKinds(kinds, categorical=categorical, ordinal=ordinal, count=count)
    reading |= {"decimal": decimal, "transpose": transpose, "declared": asked.declared}
    data, targets = read_data(table, interventions, **reading)
    options = {
        "knowledge": as_knowledge(knowledge),
        "kinds": asked.among(data.names),
        "missing": "impute" if missing == "impute" else None,
        "random_state": seed,
    }
    model = make_learner(method, options, {})
    if quiet and "verbose" in model.get_params(deep=False):
        model.set_params(verbose=False)
    with output_folder(output, quiet):
        graph = fitted(model, data, {"interventions": targets}).pag_
        files = [output / f"pag{suffix}" for suffix in (".txt", ".dot", ".graphml")]
        for path in files:
            write_graph(graph, path)
    findings = of_pag(graph)
    if json:
        edges = [{"first": u, "edge": symbol, "second": v} for u, symbol, v in graph.edges()]
        found = [asdict(finding) for finding in findings]
        print_json({"edges": edges, "basis": graph.basis, "findings": found, "files": files})
        return
    if not quiet:
        print_result(graph.text())
        print_result(f"By the {graph.basis}; files in {output}/")
        for finding in findings:
            say(f"{finding.severity}: {finding.sentence}")
