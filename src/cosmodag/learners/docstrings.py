"""Docstrings of learners, with all parameters and attributes, also those of base classes."""

import inspect
import textwrap
from collections.abc import Mapping

from cosmodag.learners.declarations import Parameter

_WIDTH = 96

# Type, and lines of text, of an entry in a section of a docstring.
_Entry = tuple[str, ...]


def complete_docstring(kind: type, parameters: Mapping[str, Parameter]) -> None:
    """Add sections on all parameters and attributes to the docstring of a class, if it has one.

    A parameter without a declared text is described by the docstring of the class, or of the first
    base, that does so; attributes likewise.
    """
    sections = _sections(kind)
    if not sections:
        return
    described = _entries(kind, "Parameters")
    entries = {
        name: (each.type, *_indented(each.text)) if each.text else described.get(name, (each.type,))
        for name, each in parameters.items()
    }
    lists = {"Parameters": _lines(entries), "Attributes": _lines(_entries(kind, "Attributes"))}
    # Kept for subclasses, which inherit what was written.
    kind._written_docstring = kind.__doc__  # type: ignore[attr-defined]
    kind.__doc__ = "\n\n".join(
        "\n".join([title, "-" * len(title), *body] if title else body)
        for title, body in {"": sections[""], **lists, **sections, **lists}.items()
        if body
    )


def _sections(kind: type) -> dict[str, list[str]]:
    """Split the docstring of a class, as it was written, into the lines of its sections."""
    written = vars(kind).get("_written_docstring") or vars(kind).get("__doc__")
    if not written:
        return {}
    sections: dict[str, list[str]] = {"": []}
    body = sections[""]
    for line in inspect.cleandoc(written).split("\n"):
        if body and body[-1] and line == "-" * len(body[-1]):
            body = sections.setdefault(body.pop(), [])
        else:
            body.append(line)
    return {title: "\n".join(body).strip("\n").split("\n") for title, body in sections.items()}


def _entries(kind: type, title: str) -> dict[str, _Entry]:
    """Return the entries in one section of the docstrings of a class and its bases, by name."""
    found: dict[str, _Entry] = {}
    for base in kind.__mro__:
        own: dict[str, list[str]] = {}
        for line in _sections(base).get(title, ()):
            if line and not line.startswith(" "):
                names, _, type = line.partition(" : ")
                entry = [type]
                own |= dict.fromkeys(names.split(", "), entry)
            elif own:
                entry.append(line)
        for name, lines in own.items():
            found.setdefault(name, tuple(lines))
    return found


def _lines(entries: Mapping[str, _Entry]) -> list[str]:
    """Write entries; names with the same description share one."""
    heads: dict[_Entry, list[str]] = {}
    for name, entry in entries.items():
        heads.setdefault(entry, []).append(name)
    return [
        line
        for (type, *text), names in heads.items()
        for line in (", ".join(names) + (f" : {type}" if type else ""), *text)
    ]


def _indented(text: str) -> list[str]:
    lines = textwrap.wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False)
    return [f"    {line}" for line in lines]
