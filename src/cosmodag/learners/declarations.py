"""Parameters declared once, by a dataclass field.

The annotation of the field is the type of the parameter and lists its words; :func:`parameter` adds
the description, the bounds and the option on the command line. From these follow the docstrings of
learners, the checks when a fit begins, ``cosmodag methods`` and the options of ``cosmodag fit``.
This module imports nothing heavy, since help pages and shell completion read declarations.
"""

import inspect
import math
from collections.abc import Iterator
from dataclasses import Field, dataclass, field
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

__all__ = ["Auto", "Parameter", "Setting", "declared", "parameter"]

Auto = Literal["auto"]
Setting = float | Auto
"""A number, or ``"auto"`` for a value chosen by a rule."""

_KEY = "cosmodag"


def parameter(
    default: Any,
    text: str,
    *,
    type: str | None = None,
    above: float | None = None,
    at_least: float | None = None,
    option: str | None = None,
) -> Any:
    """Declare a parameter of a learner, as the value of a dataclass field.

    What a subclass does not declare again is inherited. A subclass that changes only the default
    needs no declaration.

    Parameters
    ----------
    default : object
    text : str
        Description, whose first sentence is also shown on the command line. ``{name}`` stands for
        the value in the ``automatic`` of a learner.
    type : str, optional
        Type in the documentation, if the annotation does not say it well. By default it follows
        from the annotation, such as ``float or "auto"``.
    above, at_least : float, optional
        Lower bound of numbers; whole numbers are at least 1 by default.
    option : str, optional
        Option of ``cosmodag fit``; without one, ``--set`` sets the parameter.
    """
    given = {"text": text, "type": type, "above": above, "at_least": at_least, "option": option}
    return field(
        default=default,
        metadata={_KEY: {name: value for name, value in given.items() if value is not None}},
    )


@dataclass(frozen=True)
class Parameter:
    """Declaration of a parameter: the types of its values, its words (or None), and its text."""

    name: str
    kinds: tuple[Any, ...]
    words: tuple[str | None, ...]
    text: str = ""
    type: str = ""
    above: float | None = None
    at_least: float | None = None
    option: str | None = None

    @property
    def is_sequence(self) -> bool:
        """Whether the values are tuples."""
        return any(get_origin(kind) is tuple for kind in self.kinds)

    @property
    def summary(self) -> str:
        """First sentence of the description, without markup."""
        plain = self.text.split(". ")[0].removesuffix(".").replace(":class:`cosmodag.", "`")
        return plain.replace("`", "").replace("\\", "") + "."

    def check(self, value: Any) -> None:
        """Raise a `DataError` unless the value is a word, or a number within the bounds.

        Values of other types, such as paths and texts, are not checked.
        """
        from cosmodag.fit.input_checks import check_choice, check_count, check_flag, check_number

        if not self.kinds:
            check_choice(self.name, value, self.words)
        elif self.kinds == (bool,):
            check_flag(self.name, value, also=self.words)
        elif self.kinds == (int,) and self.at_least is not None:  # declared
            check_count(self.name, value, low=int(self.at_least), also=self.words)
        elif self.kinds == (float,):
            includes_low = self.at_least is not None
            bounds = (bound for bound in (self.at_least, self.above) if bound is not None)
            low = next(bounds, -math.inf)
            check_number(self.name, value, low=low, low_allowed=includes_low, also=self.words)


def declared(kind: type) -> dict[str, Parameter]:
    """List the parameters that a class and its bases declare, in the order of the signature.

    The class may still be without its dataclass decorator, as in ``__init_subclass__``.
    """
    found: dict[str, tuple[Any, dict[str, Any]]] = {}
    for base in reversed(kind.__mro__):
        values = vars(base).get("__dataclass_fields__")
        if values is None and base is not kind:
            continue  # annotations of other classes are not parameters
        for name, annotation in inspect.get_annotations(base).items():
            if name.startswith("_") or "ClassVar" in str(annotation):
                continue
            value = (vars(base) if values is None else values).get(name)
            given = value.metadata.get(_KEY, {}) if isinstance(value, Field) else {}
            found[name] = annotation, found.get(name, (None, {}))[1] | given
    automatic: dict[str, float] = getattr(kind, "automatic", {})
    return {
        name: _parameter(name, annotation, automatic, **given)
        for name, (annotation, given) in found.items()
    }


def _parameter(
    name: str, annotation: Any, automatic: dict[str, float], *, text: str = "", **given: Any
) -> Parameter:
    parts = list(_alternatives(annotation))
    kinds = tuple(part for is_word, part in parts if not is_word)
    words = tuple(part for is_word, part in parts if is_word)
    for automatic_name, value in automatic.items():
        text = text.replace(f"{{{automatic_name}}}", f"{value:g}")
    bounds = {"at_least": 1} if text and kinds == (int,) else {}
    derived: dict[str, Any] = {"type": _type_text(kinds, words), **bounds}
    return Parameter(name, kinds, words, " ".join(text.split()), **(derived | given))


def _alternatives(annotation: Any) -> Iterator[tuple[bool, Any]]:
    """Yield the parts of a type, each with whether it is a word or None."""
    if get_origin(annotation) is Literal:
        for word in get_args(annotation):
            yield True, word
    elif get_origin(annotation) in (Union, UnionType):
        for part in get_args(annotation):
            yield from _alternatives(part)
    else:
        is_none = annotation is NoneType
        yield is_none, None if is_none else annotation


def _type_text(kinds: tuple[Any, ...], words: tuple[str | None, ...]) -> str:
    """Write a type as in a docstring: ``{"a", "b"}``, ``float or "auto"``, ``float, optional``."""
    quoted = [str(word) if word is None else f'"{word}"' for word in words]
    if not kinds or (kinds == (str,) and words):
        return f"{{{', '.join(quoted)}}}"
    names = [getattr(each, "__name__", str(each)) for each in kinds]
    if words == (None,):
        return f"{', '.join(names)}, optional"
    names += sorted(quoted, reverse=True)  # None before a word
    return " or ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
