"""``cosmodag methods``: list the learners and the parameters that ``--set`` takes."""

from dataclasses import asdict
from typing import Annotated

import typer

from cosmodag.cli.options.common import JsonOption
from cosmodag.cli.options.learners import ENTRIES, Method
from cosmodag.cli.options.parameters import parameters_of
from cosmodag.cli.terminal.output import print_json, print_result, print_table

__all__ = ["methods"]


def methods(
    name: Annotated[Method | None, typer.Argument(help="Learner whose parameters to list.")] = None,
    json: JsonOption = False,
) -> None:
    """List the learners, or the parameters of one: type, default and meaning.

    Set a parameter by its own option if it has one, otherwise by --set NAME=VALUE, as in
    'cosmodag fit data.csv --set lambda1=1e-3 --set hidden=10,10'.
    """
    chosen = list(Method) if name is None else [name]
    if json:
        print_json([_facts(method) for method in chosen])
    elif name is None:
        summaries = [(method.value, ENTRIES[method].summary) for method in chosen]
        print_table(["method", "what it is"], summaries)
        print_result("'cosmodag methods NAME' lists the parameters of a learner.")
    else:
        _print_parameters(name)


def _print_parameters(method: Method) -> None:
    entry = ENTRIES[method]
    rows = [
        (each.name, each.type, each.default, each.option or "--set", each.meaning)
        for each in parameters_of(entry)
    ]
    title = f"{method.value} (cosmodag.{entry.name}): {entry.summary}"
    print_table(["parameter", "type", "default", "option", "meaning"], rows, title=title)


def _facts(method: Method) -> dict[str, object]:
    entry = ENTRIES[method]
    return {
        "method": method.value,
        "class": f"cosmodag.{entry.name}",
        "summary": entry.summary,
        "parameters": [asdict(parameter) for parameter in parameters_of(entry)],
    }
