"""Shell completion of parameters for ``--set``."""

import re
from collections.abc import Iterator

import typer

from cosmodag.cli.options.learners import Method, entry_of
from cosmodag.cli.options.parameters import parameters_of

__all__ = ["complete_setting"]


def complete_setting(context: typer.Context, incomplete: str) -> Iterator[tuple[str, str]]:
    """Propose NAME= for the learner's parameters, and values for parameters with few choices."""
    asked = context.params.get("method") or "cosmo"
    if asked not in list(Method):
        return
    name, equals, begun = incomplete.partition("=")
    for parameter in parameters_of(entry_of(Method(asked))):
        if equals and parameter.name == name.replace("-", "_"):
            for word in _words(parameter.type):
                if word.startswith(begun):
                    yield f"{name}={word}", ""
        elif not equals and parameter.option is None and parameter.name.startswith(incomplete):
            yield f"{parameter.name}=", parameter.meaning


def _words(type_: str) -> list[str]:
    words = re.findall(r'"([^"]+)"', type_)
    return [*words, "true", "false"] if type_ == "bool" else words
