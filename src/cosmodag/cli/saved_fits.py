"""``cosmodag report`` and ``cosmodag validate``: a saved fit as a page, and tested on a table."""

from pathlib import Path
from typing import Annotated

import typer

from cosmodag.cli.options.common import JsonOption, TableArgument
from cosmodag.cli.options.saved_options import FitArgument, FittedTableOptions, is_table_of_fit
from cosmodag.cli.terminal.output import print_json, print_result, print_table


def report(
    folder: Annotated[
        Path, typer.Argument(help="The folder that 'cosmodag fit' wrote to, or a saved model.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write; by default report.html in the folder."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Write the report of a saved fit as one HTML file.

    The page opens in any browser. It shows the graph, the arcs with standard errors, the diagnosis
    of the data, the training history, and the choices with their reasons. It neither needs nor
    contains the data themselves.
    """
    from cosmodag.report.saved_report import report_folder

    home = folder if folder.is_dir() else folder.parent
    page = home / "report.html" if output is None else output
    model = report_folder(folder, page)
    if json:
        print_json({"report": page, "arcs": int(model.edges_.nnz)})
    else:
        print_result(f"written to {page}")


def validate(
    folder: FitArgument,
    table: TableArgument,
    *,
    reading: FittedTableOptions,
    level: Annotated[
        float, typer.Option(help="Probability with which a correct graph is rejected.")
    ] = 0.01,
    max_time: Annotated[
        float, typer.Option(min=0, help="Maximum seconds for the comparison with shuffled graphs.")
    ] = 60.0,
    top: Annotated[int, typer.Option(min=0, help="Number of failed independences to print.")] = 10,
    json: JsonOption = False,
) -> None:
    """Test whether a table has the independences that a graph implies.

    Use rows that the graph was not learnt from: with the table of the fit itself the test is
    lenient, and the result says so. The exit code is 0 whatever the verdict.
    """
    from dataclasses import replace

    from cosmodag.fit.input_checks import refuse_lags
    from cosmodag.learners import load

    model = load(folder)
    refuse_lags(model, "validate", "fit to early rows, and score later ones")
    rows, targets = reading.read(table, model, folder)
    found = model.validate(rows, interventions=targets, level=level, max_time=max_time)
    found = replace(found, same_rows=is_table_of_fit(folder, table))
    if json:
        print_json(found.facts())
        return
    print_result(str(found))
    failed = found.failed.head(top)
    if len(failed):
        print_table(
            ["first", "second", "given", "p", "p corrected"],
            [
                [
                    one["first"],
                    one["second"],
                    ", ".join(map(str, one["given"])),
                    f"{one['p']:.2g}",
                    f"{one['p_corrected']:.2g}",
                ]
                for one in failed.to_dict("records")
            ],
            title=f"failed independences: {len(found.failed)}, {len(failed)} shown",
        )
