"""Commands on tables other than ``fit``: ``diagnose`` and ``pag``."""

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cosmodag.cli.fit_folder import output_folder
from cosmodag.cli.fit_steps import fitted
from cosmodag.cli.options import common
from cosmodag.cli.options.input_options import KindOptions, ReadingOptions, TableOptions
from cosmodag.cli.options.learners import Method, make_learner
from cosmodag.cli.terminal.cache_folder import keep_compiled_programs
from cosmodag.cli.terminal.output import noted_warnings, print_json, print_result, print_table, say
from cosmodag.cli.terminal.signals import end_of_interrupt
from cosmodag.graph.texts import counted

_SEARCH = Method("order-search")


def diagnose(
    table: common.TableArgument,
    *,
    graph: Annotated[
        Path | None,
        typer.Option(help="True or learnt graph: also test whether scale reveals its order."),
    ] = None,
    reading: ReadingOptions,
    kinds: KindOptions,
    json: common.JsonOption = False,
) -> None:
    """Report properties of a table that affect a graph learnt from it.

    Checks for missing values; constant, repeated and collinear columns; differences of scale; too
    few rows; rows that depend on one another or form clusters; columns with few values, counts and
    running numbers; outliers. In the best-fitting graph, or in --graph, it checks for curved
    relations, noise that depends on a cause and signs of hidden common causes; with --graph also
    for sortability by variance and R². Columns that are not continuous are listed with the kind
    that was inferred or declared, and the reason.
    """
    from cosmodag.data.diagnose import diagnose as find
    from cosmodag.data.kinds import with_kinds
    from cosmodag.io import read_graph, read_table

    data = read_table(table, missing="keep", declared=kinds.declared, **vars(reading))
    data = with_kinds(data, kinds.among(data.names))
    findings = find(data, graph=None if graph is None else read_graph(graph))
    rows, variables = data.X.shape
    shown = {
        name: kind
        for name, kind in zip(data.names, data.kinds or (), strict=True)
        if kind.kind != "continuous"
    }
    if json:
        print_json(
            {
                "rows": rows,
                "columns": variables,
                "kinds": {name: kind.facts() for name, kind in shown.items()},
                "findings": [asdict(finding) for finding in findings],
            }
        )
        return
    if shown:
        print_table(
            ["column", "kind", "reason"],
            [(name, kind.kind, kind.reason) for name, kind in shown.items()],
            title=f"{len(shown)} of {counted(variables, 'column')} are not continuous",
        )
    source = "standard input" if str(table) == "-" else table.name
    print_table(
        ["finding", "severity", "value", "what it means"],
        [(item.name, item.severity, f"{item.value:.3g}", item.sentence) for item in findings],
        title=f"{source}: {counted(rows, 'row')}, {counted(variables, 'column')}",
    )
    numbers = Counter(finding.severity for finding in findings)
    shown_numbers = [counted(numbers[kind], kind) for kind in ("error", "warning", "notice")]
    print_result(f"{', '.join(shown_numbers)}.")


def pag(
    table: common.TableArgument,
    *,
    output: common.OutputOption = Path("cosmodag-out"),
    method: Annotated[
        Method, typer.Option(help="Learner; 'cosmodag methods' describes them.")
    ] = _SEARCH,
    given: TableOptions,
    seed: common.SeedOption = None,
    json: common.JsonOption = False,
    quiet: common.QuietOption = False,
) -> None:
    """Learn a partial ancestral graph, which allows for hidden causes.

    Edges are u --> v (a cause), u <-> v (a hidden common cause), u o-> v (one or both of these) and
    u o-o v (undecided). Writes pag.txt (the graph text of Tetrad), pag.dot and pag.graphml to a
    folder, and prints the edges.
    """
    keep_compiled_programs()
    from cosmodag.data.diagnose.arc_findings import of_pag
    from cosmodag.io.graphs import write_graph

    with noted_warnings([], quiet):
        data, fit_arguments, options = given.read(table)
    model = make_learner(method, {**options, "random_state": seed}, {})
    if quiet and "verbose" in model.get_params(deep=False):
        model.set_params(verbose=False)
    files = [output / f"pag{suffix}" for suffix in (".txt", ".dot", ".graphml")]
    names = [path.name for path in files]
    with output_folder(output, names, quiet), noted_warnings([], quiet):
        model = fitted(model, data, fit_arguments)
        graph = model.pag_
        for path in files:
            write_graph(graph, path)
    findings = of_pag(graph)
    if json:
        edges = [{"first": u, "edge": symbol, "second": v} for u, symbol, v in graph.edges()]
        found = [asdict(finding) for finding in findings]
        print_json({"edges": edges, "basis": graph.basis, "findings": found, "files": files})
    elif not quiet:
        print_result(graph.text())
        print_result(f"Basis: {graph.basis}; files in {output}/")
        for finding in findings:
            say(f"{finding.severity}: {finding.sentence}")
    if model.stopped_ == "interrupt":
        raise typer.Exit(end_of_interrupt().code)
