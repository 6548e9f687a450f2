"""Docstrings of learners: a parameter is described once, in the class that defines it."""

import inspect
import re
from typing import NamedTuple

__all__ = ["Described", "described", "filled_in", "inherit_descriptions"]

_INHERITED = ("Parameters", "Attributes")


class Described(NamedTuple):
    """Type and text of one entry of a section, as written in the docstring."""

    type: str
    text: str


def described(docstring: str, title: str) -> dict[str, Described]:
    """Parse a section of a numpydoc docstring: name → type and text."""
    section = _section(title).search(docstring)
    found: dict[str, Described] = {}
    if section is None:
        return found
    for head, text in re.findall(r"^(\S.*)\n?((?:[ \t]+.*\n?|\n)*)", section.group(1), re.M):
        names, _, type_ = head.partition(" : ")
        for name in names.split(","):
            found[name.strip()] = Described(type_.strip(), text.rstrip())
    return found


def inherit_descriptions(kind: type) -> None:
    """Add the parameters and attributes of a class's bases to its docstring.

    An entry of the class itself replaces that of a base, and parameters that the class does not
    have are left out. ``{name}`` becomes the value that ``"auto"`` stands for, if ``automatic`` of
    the class has it. A class without a docstring is not changed.
    """
    own = kind.__dict__.get("__doc__")
    if not own:
        return
    fields = {name for base in kind.__mro__ for name in inspect.get_annotations(base)}
    docstring = inspect.cleandoc(own) + "\n"
    for title in _INHERITED:
        entries = described(docstring, title)
        for base in kind.__mro__[1:]:
            inherited = described(inspect.cleandoc(base.__dict__.get("__doc__") or ""), title)
            for name, entry in inherited.items():
                if name in fields or title == "Attributes":
                    entries.setdefault(name, entry)
        if entries:
            docstring = _with_section(docstring, title, entries)
    kind.__doc__ = filled_in(docstring, getattr(kind, "automatic", {})).rstrip("\n")


def filled_in(text: str, automatic: dict[str, float]) -> str:
    """Replace each ``{name}`` of a text by the value that ``"auto"`` stands for."""
    for name, value in automatic.items():
        text = text.replace(f"{{{name}}}", f"{value:g}")
    return text


def _section(title: str) -> re.Pattern[str]:
    return re.compile(rf"^{title}\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", re.M | re.S)


def _with_section(docstring: str, title: str, entries: dict[str, Described]) -> str:
    """Replace a section, or insert it before the sections that follow it."""
    heads: dict[Described, list[str]] = {}  # names that share a description share an entry
    for name, entry in entries.items():
        heads.setdefault(entry, []).append(name)
    lines = [title, "-" * len(title)]
    for entry, names in heads.items():
        lines.append(", ".join(names) + (f" : {entry.type}" if entry.type else ""))
        lines += [entry.text] if entry.text else []
    section = "\n".join(lines) + "\n\n"
    pattern = _section(title)
    if pattern.search(docstring):
        return pattern.sub(lambda _: section, docstring)
    later = re.search(r"^(Attributes|Examples)\n-+\n", docstring, re.M)
    place = later.start() if later else len(docstring)
    before = docstring[:place] if docstring[:place].endswith("\n\n") else f"{docstring[:place]}\n"
    return before + section + docstring[place:]
