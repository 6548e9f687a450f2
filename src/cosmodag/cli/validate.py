"""``cosmodag validate``: test the graph of a saved fit against a table."""

from pathlib import Path
from typing import Annotated

import typer

from cosmodag.cli.fits.saved import is_table_of_fit, read_for
from cosmodag.cli.options.common import InterventionsOption, JsonOption, TableArgument, TopOption
from cosmodag.cli.terminal.output import print_json, print_result, print_table

__all__ = ["validate"]


def validate(
    folder: Annotated[Path, typer.Argument(help="The folder that 'cosmodag fit' wrote to.")],
    table: TableArgument,
    level: Annotated[
        float, typer.Option(help="Probability with which a right graph is rejected.")
    ] = 0.01,
    subsets: Annotated[
        int, typer.Option(min=0, help="Subsets of the columns to fit, for comparison.")
    ] = 5,
    max_time: Annotated[
        float, typer.Option("--max-time", min=0, help="Seconds for comparisons.")
    ] = 60.0,
    interventions: InterventionsOption = None,
    top: TopOption = 10,
    json: JsonOption = False,
) -> None:
    """Test whether a table has the independences that a graph implies.

    Use rows that the graph was not learnt from; with the table of the fit itself the test is
    lenient, which is said. The exit code is 0 whatever the verdict.
    """
    from dataclasses import replace

    from cosmodag.fit.checks import refuse_lags
    from cosmodag.learners import load

    model = load(folder)
    refuse_lags(model, "validate", "fit to early rows, and score later ones")
    rows, targets = read_for(model, table, interventions)
    found = model.validate(
        rows, interventions=targets, level=level, subsets=subsets, max_time=max_time
    )
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
