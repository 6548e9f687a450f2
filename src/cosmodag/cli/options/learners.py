"""Learners by their command-line names, constructed from options; completion of ``--set``."""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import typer

from cosmodag.cli.options.parameters import option_of, parameters_of
from cosmodag.errors import DataError
from cosmodag.learners.registry import LEARNERS

if TYPE_CHECKING:
    from cosmodag.learners import StructureLearner

__all__ = ["ENTRIES", "Method", "complete_setting", "make_learner", "read_settings"]

# Built from the registry, which stays the only list of learners.
Method = StrEnum(  # type: ignore[misc]
    "Method",
    [(entry.command.replace("-", "_").upper(), entry.command) for entry in LEARNERS.values()],
)
ENTRIES = {entry.command: entry for entry in LEARNERS.values()}
"""Entries of the registry by command-line names."""


def make_learner(
    method: Method, options: dict[str, Any], settings: dict[str, Any]
) -> "StructureLearner":
    """Construct a learner from the given options; refuse options that it does not have.

    ``options`` are the parameters that have their own option, None for one that was not given,
    ``settings`` those given by ``--set``.
    """
    from cosmodag.io.columns.names import nearest

    learner = ENTRIES[method].load()
    known = learner._get_param_names()
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        option = option_of(name)
        if name not in known:
            raise DataError(f"{option} is not an option of {method.value}: leave it out.")
        if name in settings:
            raise DataError(f"{name} is given twice, by {option} and by --set: give it once.")
    for name in settings:
        if name not in known:
            raise DataError(
                f"--set names '{name}', which is not a parameter of {method.value}: "
                f"{nearest(name, known)} ('cosmodag methods {method.value}' lists them)."
            )
    types = {parameter.name: parameter.type for parameter in parameters_of(ENTRIES[method])}
    settings = {name: _as_type(value, types[name]) for name, value in settings.items()}
    return learner(**{"random_state": 0, **given, **settings})


def _as_type(value: Any, type_: str) -> Any:
    """Turn a single number into a tuple, and None into ``"none"``, if the type requires it."""
    if type_.startswith("tuple") and isinstance(value, int):
        return (value,)
    return "none" if value is None and '"none"' in type_ else value


def read_settings(assignments: list[str]) -> dict[str, Any]:
    """Parse NAME=VALUE pairs; values may be numbers, lists of numbers, true, false or none."""
    settings: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals or not name:
            raise DataError(
                f"--set takes NAME=VALUE, such as lambda1=1e-3, but got '{assignment}'."
            )
        name = name.strip().replace("-", "_")
        if name in settings:
            raise DataError(f"{name} is given twice by --set: give it once.")
        settings[name] = _value(text.strip())
    return settings


def _value(text: str) -> Any:
    words = {"none": None, "true": True, "false": False}
    if "," in text:
        parts = tuple(
            _value(part.strip()) for part in text.strip("()[]").split(",") if part.strip()
        )
        return parts if all(isinstance(part, int | float) for part in parts) else text
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def complete_setting(context: typer.Context, incomplete: str) -> Iterator[tuple[str, str]]:
    """Propose NAME= for the learner's parameters, and values for parameters with few choices."""
    asked = context.params.get("method") or "cosmo"
    if asked not in ENTRIES:
        return
    name, equals, begun = incomplete.partition("=")
    for parameter in parameters_of(ENTRIES[asked]):
        if equals and parameter.name == name.replace("-", "_"):
            for word in _words(parameter.type):
                if word.startswith(begun):
                    yield f"{name}={word}", ""
        elif not equals and parameter.option is None and parameter.name.startswith(incomplete):
            yield f"{parameter.name}=", parameter.meaning


def _words(type_: str) -> list[str]:
    words = re.findall(r'"([^"]+)"', type_)
    return [*words, "true", "false"] if type_ == "bool" else words
