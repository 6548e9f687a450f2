"""Learners by command-line name, their parameters, and completion of ``--set``.

Parameters are parsed from the source of the learners, because importing a learner takes a second
or more: too long for shell completion.
"""

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from cosmodag.errors import DataError
from cosmodag.learners.registry import LEARNERS, Described, LearnerEntry, described, filled_in

if TYPE_CHECKING:
    from cosmodag.learners import StructureLearner

# Parameters that have an option of ``cosmodag fit``; others are set by --set.
_WITH_OPTION = (
    "knowledge kinds missing refine noise threshold scale lags epochs trainings restarts device "
    "max_time random_state"
)

Method = StrEnum(  # type: ignore[misc]
    "Method",
    [(entry.command.replace("-", "_").upper(), entry.command) for entry in LEARNERS.values()],
)

ENTRIES = {entry.command: entry for entry in LEARNERS.values()}
"""Entries of the registry by command-line names."""


def option_of(name: str) -> str:
    """Return the spelling of a parameter's option."""
    return "--seed" if name == "random_state" else f"--{name.replace('_', '-')}"


@dataclass(frozen=True)
class Parameter:
    """A parameter of a learner: its type as in the docstring, its default as in the signature.

    ``meaning`` is the first sentence of its description; ``option`` is its option of
    ``cosmodag fit``, or None if only ``--set`` sets it.
    """

    name: str
    type: str
    default: str
    meaning: str
    option: str | None


def learner_parameters(entry: LearnerEntry) -> list[Parameter]:
    """List the parameters of a learner, in the order of its signature.

    >>> from cosmodag.learners.registry import LEARNERS
    >>> [parameter.name for parameter in learner_parameters(LEARNERS["EmptyGraph"])][:6]
    ['threshold', 'knowledge', 'kinds', 'missing', 'scale', 'lags']
    """
    fields: dict[str, str] = {}
    texts: dict[str, Described] = {}
    automatic: dict[str, float] = {}
    for node in reversed(list(_lineage(f"cosmodag.learners.{entry.module}", entry.name))):
        texts |= described(inspect.cleandoc(ast.get_docstring(node) or ""), "Parameters")
        for name, annotation, value in _declared(node):
            if name == "automatic":  # the values of parameters that are "auto"
                automatic |= ast.literal_eval(value)
            if "ClassVar" not in annotation and not name.startswith("_"):
                # The first argument of `choice` and of `count` is the default.
                default = value.args[0] if isinstance(value, ast.Call) else value
                fields[name] = ast.unparse(default).replace("'", '"')
    return [
        Parameter(
            name,
            texts[name].type,
            default,
            _first_sentence(filled_in(texts[name].text, automatic)),
            option_of(name) if name in _WITH_OPTION.split() else None,
        )
        for name, default in fields.items()
    ]


@cache
def _source(module: str) -> ast.Module:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"the source of {module} was not found")
    return ast.parse(Path(spec.origin).read_text(encoding="utf-8"))


def _lineage(module: str, name: str) -> Iterator[ast.ClassDef]:
    """Yield the class of a learner, then those of its bases that are in ``cosmodag.learners``."""
    tree = _source(module)
    homes = {
        alias.name: statement.module
        for statement in tree.body
        if isinstance(statement, ast.ImportFrom) and statement.module
        for alias in statement.names
    }
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            yield node
            for base in (base.id for base in node.bases if isinstance(base, ast.Name)):
                if homes.get(base, module).startswith("cosmodag.learners"):
                    yield from _lineage(homes.get(base, module), base)


def _declared(node: ast.ClassDef) -> Iterator[tuple[str, str, ast.expr]]:
    """Yield name, annotation and value of each annotated attribute of a class."""
    for member in node.body:
        if (
            isinstance(member, ast.AnnAssign)
            and isinstance(member.target, ast.Name)
            and member.value is not None
        ):
            yield member.target.id, ast.unparse(member.annotation), member.value


def _first_sentence(body: str) -> str:
    text = re.sub(r"\s*\(:func:[^)]*\)", "", " ".join(body.split()))
    text = re.sub(r":\w+:`~?(?:cosmodag\.)?([^`]+)`", r"\1", text)
    text = text.replace("``", "").replace("`", "").replace("\\|", "|")
    return re.split(r"(?<=[.:])\s+(?=[A-Z])|(?<=\.)\s+", text)[0].rstrip(":")


def make_learner(
    method: Method, options: dict[str, Any], settings: dict[str, Any]
) -> "StructureLearner":
    """Construct a learner from the given options; refuse options that it does not have.

    ``options`` are the parameters that have their own option (None: not given), and ``settings``
    those given by ``--set``. The word none means None, unless a parameter takes the word itself.
    """
    from cosmodag.io.columns.names import nearest

    types = {parameter.name: parameter.type for parameter in learner_parameters(ENTRIES[method])}
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        option = option_of(name)
        if name not in types:
            instead = ", or name a learner by --method" if method.value == "auto" else ""
            raise DataError(f"{option} is not an option of {method.value}: leave it out{instead}.")
        if name in settings:
            raise DataError(f"{name} is given twice, by {option} and by --set: give it once.")
    for name in settings:
        if name not in types:
            raise DataError(
                f"--set names '{name}', which is not a parameter of {method.value}: "
                f"{nearest(name, sorted(types))} ('cosmodag methods {method.value}' lists them)."
            )
    given = {
        name: None if _means_none(value, types[name]) else value for name, value in given.items()
    }
    for name, value in settings.items():
        if types[name] == "bool" and not isinstance(value, bool):
            raise DataError(f"--set {name} takes true or false, but got '{value}'.")
        if types[name].startswith("tuple") and isinstance(value, int):
            given[name] = (value,)
        else:
            given[name] = "none" if value is None and '"none"' in types[name] else value
    return ENTRIES[method].load()(**{"random_state": 0, **given})


def _means_none(value: Any, type: str) -> bool:
    return isinstance(value, str) and value == "none" and '"none"' not in type


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
    for parameter in learner_parameters(ENTRIES[asked]):
        if equals and parameter.name == name.replace("-", "_"):
            words = re.findall(r'"([^"]+)"', parameter.type)
            for word in [*words, "true", "false"] if parameter.type == "bool" else words:
                if word.startswith(begun):
                    yield f"{name}={word}", ""
        elif not equals and parameter.option is None and parameter.name.startswith(incomplete):
            yield f"{parameter.name}=", parameter.meaning
