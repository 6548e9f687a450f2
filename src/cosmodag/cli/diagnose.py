"""``cosmodag diagnose``: check a table for what limits structure learning."""

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cosmodag.cli.options import common
from cosmodag.cli.options.inputs import AskedKinds
from cosmodag.cli.terminal.output import print_json, print_result, print_table

__all__ = ["diagnose"]


def diagnose(
    table: common.TableArgument,
    graph: Annotated[
        Path | None,
        typer.Option(help="True or learnt graph: also test whether scale reveals its order."),
    ] = None,
    columns: common.ColumnsOption = None,
    drop: common.DropOption = None,
    header: common.HeaderOption = True,
    decimal: common.DecimalOption = "auto",
    transpose: common.TransposeOption = False,
    kinds: common.KindsOption = None,
    categorical: common.CategoricalOption = None,
    ordinal: common.OrdinalOption = None,
    count: common.CountOption = None,
    json: common.JsonOption = False,
) -> None:
    """Report properties of a table that affect a graph learnt from it.

    Checks for missing values; constant, repeated and collinear columns; differences of scale; too
    few rows; rows that depend on one another or form clusters; columns with few values, counts and
    running numbers; outliers. In the best-fitting graph, or in --graph, it checks for curved
    relations, noise that depends on a cause and signs of hidden common causes; with --graph also
    for sortability by variance and R². Columns that are not continuous are listed with what they
    were taken for, and why.
    """
    from cosmodag.data.diagnose import diagnose as find
    from cosmodag.data.kinds import with_kinds
    from cosmodag.io import read_graph, read_table

    asked = AskedKinds(kinds, categorical=categorical, ordinal=ordinal, count=count)
    data = read_table(
        table,
        header=header,
        missing="keep",
        columns=columns,
        drop=drop,
        decimal=decimal,
        transpose=transpose,
        declared=asked.declared,
    )
    data = with_kinds(data, asked.among(data.names))
    findings = find(data, graph=None if graph is None else read_graph(graph))
    rows, variables = data.X.shape
    held = {
        name: kind
        for name, kind in zip(data.names, data.kinds or (), strict=True)
        if kind.kind != "continuous"
    }
    if json:
        print_json(
            {
                "rows": rows,
                "columns": variables,
                "kinds": {name: kind.facts() for name, kind in held.items()},
                "findings": [asdict(finding) for finding in findings],
            }
        )
        return
    if held:
        print_table(
            ["column", "kind", "because of"],
            [(name, kind.kind, kind.reason) for name, kind in held.items()],
            title=f"{len(held)} of {variables} columns are not continuous",
        )
    source = "standard input" if str(table) == "-" else table.name
    print_table(
        ["finding", "severity", "value", "what it means"],
        [(item.name, item.severity, f"{item.value:.3g}", item.sentence) for item in findings],
        title=f"{source}: {rows} rows, {variables} columns",
    )
    counts = Counter(finding.severity for finding in findings)
    print_result(
        ", ".join(f"{counts[kind]} {kind}(s)" for kind in ("error", "warning", "notice")) + "."
    )
