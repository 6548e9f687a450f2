"""``cosmodag diagnose``: what a table can and cannot tell."""

from collections import Counter
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from cosmodag.cli._output import JsonOption, print_json, print_result, print_table

__all__ = ["diagnose"]


class Missing(StrEnum):
    """What to do about missing values."""

    ERROR = "error"
    DROP = "drop"


def diagnose(
    table: Annotated[Path, typer.Argument(help="A .csv, .tsv, .parquet or .npy file.")],
    graph: Annotated[
        Path | None,
        typer.Option(help="A true or learnt graph, to see whether scale gives its order away."),
    ] = None,
    header: Annotated[
        bool, typer.Option("--header/--no-header", help="Whether the first line names the columns.")
    ] = True,
    missing: Annotated[
        Missing, typer.Option(help="Refuse missing values, or drop rows that have one.")
    ] = Missing.ERROR,
    json: JsonOption = False,
) -> None:
    """Say what in a table bears on a graph learnt from it.

    Looks for constant, repeated and collinear columns, differences of scale, too few rows,
    outliers and categories coded as numbers; with --graph also for sortability by variance and R².
    """
    from cosmodag.diagnose import diagnose as find
    from cosmodag.io import read_graph, read_table

    data = read_table(table, header=header, missing=missing.value)
    findings = find(data, graph=None if graph is None else read_graph(graph))
    rows, columns = data.X.shape
    if json:
        print_json(
            {
                "rows": rows,
                "columns": columns,
                "findings": [asdict(finding) for finding in findings],
            }
        )
        return
    print_table(
        ["finding", "severity", "value", "what it means"],
        [(item.name, item.severity, f"{item.value:.3g}", item.sentence) for item in findings],
        title=f"{table.name}: {rows} rows, {columns} columns",
    )
    counts = Counter(finding.severity for finding in findings)
    print_result(
        ", ".join(f"{counts[kind]} {kind}(s)" for kind in ("error", "warning", "notice")) + "."
    )
