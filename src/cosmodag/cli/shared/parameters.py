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

from cosmodag.learners.registry import LEARNERS, LearnerEntry

__all__ = ["Parameter", "parameters_of"]

_OPTIONS = {
    "knowledge": "--knowledge",
    "refine": "--refine",
    "noise": "--noise",
    "threshold": "--threshold",
    "scale": "--scale",
    "epochs": "--epochs",
    "restarts": "--restarts",
    "device": "--device",
    "max_time": "--max-time",
    "random_state": "--seed",
}


@dataclass(frozen=True)
class Parameter:
    """One parameter of a learner, from its docstring and its signature.

    Attributes
    ----------
    name
    type
        As in the docstring, such as ``float or "auto"``.
    default
        As in the signature, such as ``"auto"``.
    meaning
        The first sentence of its description.
    option
        Its option of ``cosmodag fit``, or None if only ``--set`` sets it.
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
    >>> [parameter.name for parameter in parameters_of(LEARNERS["EmptyGraph"])]
    ['threshold', 'knowledge', 'missing', 'scale']
    """
    fields = _fields(f"cosmodag.learners.{entry.module}", entry.name)
    return [
        Parameter(name, *_description(entry, name, default), _OPTIONS.get(name))
        for name, default in fields.items()
    ]


@cache
def _source(module: str) -> ast.Module:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"the source of {module} was not found")
    return ast.parse(Path(spec.origin).read_text(encoding="utf-8"))


def _class_in(module: str, name: str) -> ast.ClassDef | None:
    nodes = _source(module).body
    return next(
        (node for node in nodes if isinstance(node, ast.ClassDef) and node.name == name), None
    )


def _fields(module: str, name: str) -> dict[str, str]:
    """Return the defaults of a learner's dataclass fields by name, inherited ones first."""
    node = _class_in(module, name)
    if node is None:
        return {}
    homes = {
        alias.name: statement.module
        for statement in _source(module).body
        if isinstance(statement, ast.ImportFrom) and statement.module
        for alias in statement.names
    }
    fields: dict[str, str] = {}
    for base in reversed([base.id for base in node.bases if isinstance(base, ast.Name)]):
        home = homes.get(base, module)
        if home.startswith("cosmodag.learners"):
            fields |= _fields(home, base)
    return fields | dict(_own_fields(node))


def _own_fields(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for member in node.body:
        if not isinstance(member, ast.AnnAssign) or not isinstance(member.target, ast.Name):
            continue
        is_constant = "ClassVar" in ast.unparse(member.annotation)
        if member.value is not None and not is_constant and not member.target.id.startswith("_"):
            yield member.target.id, ast.unparse(member.value).replace("'", '"')


def _description(entry: LearnerEntry, name: str, default: str) -> tuple[str, str, str]:
    """Return type, default and meaning; "as for ..." is resolved in the learner it names."""
    type_, meaning = "", ""
    for place in _places(entry):
        there_type, there_meaning = _described(place).get(name, ("", ""))
        meaning = meaning or there_meaning
        type_ = type_ or there_type
        if type_ and meaning and not meaning.startswith("As for"):
            break
        if meaning.startswith("As for"):
            meaning = ""
    return type_, default, meaning


def _places(entry: LearnerEntry) -> Iterator[LearnerEntry]:
    """Yield the learner, then the learners that its docstring refers to, recursively."""
    waiting, seen = [entry], set()
    while waiting:
        place = waiting.pop(0)
        if place.name in seen:
            continue
        seen.add(place.name)
        yield place
        named = re.findall(r":class:`(?:cosmodag\.)?(\w+)`", _docstring(place))
        waiting += [LEARNERS[name] for name in named if name in LEARNERS]


def _docstring(entry: LearnerEntry) -> str:
    node = _class_in(f"cosmodag.learners.{entry.module}", entry.name)
    return "" if node is None else inspect.cleandoc(ast.get_docstring(node) or "")


@cache
def _described(entry: LearnerEntry) -> dict[str, tuple[str, str]]:
    """Parse the Parameters section: name → (type, first sentence)."""
    section = re.search(
        r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", _docstring(entry), re.M | re.S
    )
    described: dict[str, tuple[str, str]] = {}
    if section is None:
        return described
    for head, body in re.findall(r"^(\S.*)\n((?:[ \t]+.*\n?|\n)*)", section.group(1), re.M):
        names, _, type_ = head.partition(" : ")
        for name in names.split(","):
            described[name.strip()] = (type_.strip(), _first_sentence(body))
    return described


def _first_sentence(body: str) -> str:
    text = re.sub(r"\s*\(:func:[^)]*\)", "", " ".join(body.split()))
    text = re.sub(r":\w+:`~?(?:cosmodag\.)?([^`]+)`", r"\1", text)
    text = text.replace("``", "").replace("`", "").replace("\\|", "|")
    return re.split(r"(?<=[.:])\s+(?=[A-Z])|(?<=\.)\s+", text)[0].rstrip(":")
