"""The parameters of learners: names, types, defaults and a line of meaning each.

They are parsed from the source of the learners, because importing a learner imports JAX, which
takes seconds: too long for shell completion.
"""

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from cosmodag.learners.registry import Described, LearnerEntry, described, filled_in

__all__ = ["Parameter", "option_of", "parameters_of"]

# Parameters with an option of ``cosmodag fit``; others are given by --set.
_WITH_OPTION = {
    "knowledge",
    "kinds",
    "refine",
    "noise",
    "threshold",
    "scale",
    "lags",
    "epochs",
    "trainings",
    "restarts",
    "device",
    "max_time",
    "random_state",
}


def option_of(name: str) -> str:
    """Return the spelling of a parameter's option."""
    return "--seed" if name == "random_state" else f"--{name.replace('_', '-')}"


@dataclass(frozen=True)
class Parameter:
    """One parameter of a learner: its type as in the docstring, its default as in the signature.

    ``meaning`` is the first sentence of its description, ``option`` its option of ``cosmodag fit``,
    or None if only ``--set`` sets it.
    """

    name: str
    type: str
    default: str
    meaning: str
    option: str | None


def parameters_of(entry: LearnerEntry) -> list[Parameter]:
    """List the parameters of a learner, in the order of its signature.

    Examples
    --------
    >>> from cosmodag.learners.registry import LEARNERS
    >>> [parameter.name for parameter in parameters_of(LEARNERS["EmptyGraph"])][:6]
    ['threshold', 'knowledge', 'kinds', 'missing', 'scale', 'lags']
    """
    lineage = list(_lineage(f"cosmodag.learners.{entry.module}", entry.name))
    fields = {name: value for node in reversed(lineage) for name, value in _own_fields(node)}
    texts: dict[str, Described] = {}
    automatic: dict[str, float] = {}
    for node in reversed(lineage):
        texts |= described(inspect.cleandoc(ast.get_docstring(node) or ""), "Parameters")
        automatic |= _automatic(node)
    meanings = {
        name: _first_sentence(filled_in(entry.text, automatic)) for name, entry in texts.items()
    }
    return [
        Parameter(
            name,
            texts[name].type,
            default,
            meanings[name],
            option_of(name) if name in _WITH_OPTION else None,
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
    """Yield the class of a learner, then its bases, as far as they are learners."""
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


def _own_fields(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """Yield names and defaults; of `choice` and `count` the default is the first argument."""
    for name, annotation, value in _declared(node):
        if "ClassVar" not in annotation and not name.startswith("_"):
            default = value.args[0] if isinstance(value, ast.Call) else value
            yield name, ast.unparse(default).replace("'", '"')


def _automatic(node: ast.ClassDef) -> dict[str, float]:
    """Values that ``"auto"`` stands for, as far as the class declares them."""
    found = {name: value for name, _, value in _declared(node)}
    return ast.literal_eval(found["automatic"]) if "automatic" in found else {}


def _declared(node: ast.ClassDef) -> Iterator[tuple[str, str, ast.expr]]:
    """Yield name, annotation and value of what a class declares."""
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
