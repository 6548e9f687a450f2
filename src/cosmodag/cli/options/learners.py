"""Learners by command-line name, their parameters as options, and completion of ``--set``."""

from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import typer

from cosmodag.errors import DataError
from cosmodag.learners.declarations import Parameter, declared
from cosmodag.learners.parameters import RefineParameter, TrainingParameters
from cosmodag.learners.registry import LEARNERS

if TYPE_CHECKING:
    from cosmodag.learners import StructureLearner

Method = StrEnum(  # type: ignore[misc]
    "Method",
    [(entry.command.replace("-", "_").upper(), entry.command) for entry in LEARNERS.values()],
)

ENTRIES = {entry.command: entry for entry in LEARNERS.values()}
"""Entries of the registry by command-line names."""

# Parameters with an option of ``cosmodag fit``, as the classes declare them in which they are first
# declared.
_DECLARED = {**declared(RefineParameter), **declared(TrainingParameters)}


def learner_option(name: str, metavar: str | None = None) -> Any:
    """Declare the option of a parameter of learners."""
    parameter = _DECLARED[name]
    return typer.Option(
        parameter.option, metavar=metavar, min=parameter.at_least, help=parameter.summary
    )


def option_of(name: str) -> str:
    """Return the spelling of a parameter's option."""
    return _DECLARED[name].option or "--set"


def make_learner(
    method: Method, options: dict[str, Any], settings: dict[str, Any]
) -> "StructureLearner":
    """Construct a learner from the given options; refuse options that it does not have.

    ``options`` are the parameters that have their own option (None: not given), and ``settings``
    those given by ``--set``. The word none means None, unless a parameter takes the word itself.
    """
    from cosmodag.io.columns.names import nearest

    learner = ENTRIES[method].load()
    known = learner.parameters
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        option = option_of(name)
        if name not in known:
            instead = ", or name a learner by --method" if method.value == "auto" else ""
            raise DataError(f"{option} is not an option of {method.value}: leave it out{instead}.")
        if name in settings:
            raise DataError(f"{name} is given twice, by {option} and by --set: give it once.")
    for name in settings:
        if name not in known:
            raise DataError(
                f"--set names '{name}', which is not a parameter of {method.value}: "
                f"{nearest(name, sorted(known))} ('cosmodag methods {method.value}' lists them)."
            )
    converted = {name: _converted(known[name], value) for name, value in (given | settings).items()}
    return learner(**{"random_state": 0, **converted})


def _converted(parameter: Parameter, value: Any) -> Any:
    """Convert a value as it was read to one that the parameter takes."""
    if value is None or value == "none":
        return "none" if "none" in parameter.words else None
    if parameter.kinds == (bool,) and not parameter.words and not isinstance(value, bool):
        raise DataError(f"--set {parameter.name} takes true or false, but got '{value}'.")
    return (value,) if parameter.is_sequence and isinstance(value, int) else value


def read_settings(assignments: list[str]) -> dict[str, Any]:
    """Parse NAME=VALUE pairs; a value is a number, a list of numbers, true, false, none or text."""
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
    asked = context.params.get("method") or "auto"
    if asked not in ENTRIES:
        return
    name, equals, begun = incomplete.partition("=")
    for parameter in ENTRIES[asked].load().parameters.values():
        if equals and parameter.name == name.replace("-", "_"):
            words = ("true", "false") if parameter.kinds == (bool,) else parameter.words
            for word in words:
                if word is not None and word.startswith(begun):
                    yield f"{name}={word}", ""
        elif not equals and parameter.option is None and parameter.name.startswith(incomplete):
            yield f"{parameter.name}=", parameter.summary
