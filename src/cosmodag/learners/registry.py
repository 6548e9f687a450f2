"""The list of learners, and the inheritance of parameter descriptions in their docstrings.

The package, `load`, the command line and tests use this list. It has no learners that are defined
elsewhere; `load` finds these among the classes of the program. Each parameter is described once, in
the class that defines it.
"""

import inspect
import re
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from cosmodag.learners.structure_learner import StructureLearner

_ROWS = (
    ("Cosmo", "cosmo", "cosmo", "linear COSMO, whose order is refined to a graph"),
    ("CosmoMLP", "cosmo_mlp", "cosmo-mlp", "COSMO with one network per variable"),
    ("OrderSearch", "order_search", "order-search", "search over orders by a score, no training"),
    (
        "BlockSearch",
        "order_search",
        "block-search",
        "search over orders for categories, counts and curves",
    ),
    ("Notears", "constrained.notears", "notears", "linear NOTEARS, with a choice of constraints"),
    ("NotearsMLP", "constrained.notears", "notears-mlp", "NOTEARS with networks"),
    ("Dagma", "constrained.dagma", "dagma", "linear DAGMA"),
    ("DagmaMLP", "constrained.dagma", "dagma-mlp", "DAGMA with networks"),
    ("NoCurl", "constrained.nocurl", "nocurl", "linear NOCURL"),
    (
        "StochasticNotears",
        "constrained.notears",
        "stochastic-notears",
        "NOTEARS as in the COSMO paper",
    ),
    ("StochasticDagma", "constrained.dagma", "stochastic-dagma", "DAGMA as in the COSMO paper"),
    ("StochasticNoCurl", "constrained.nocurl", "stochastic-nocurl", "NOCURL as in the COSMO paper"),
    ("NoCurlU", "constrained.nocurl", "nocurl-u", "NOCURL-U of the COSMO paper"),
    ("EqualVariance", "baselines", "equal-variance", "order by conditional variance"),
    ("VarianceSort", "baselines", "variance-sort", "order by variance"),
    ("R2Sort", "baselines", "r2-sort", "order by R² on all other variables"),
    ("RandomSort", "baselines", "random-sort", "random order"),
    ("EmptyGraph", "baselines", "empty-graph", "no arcs at all"),
    (
        "GivenGraph",
        "given_graph",
        "given-graph",
        "the graph that knowledge states",
    ),
)
_INHERITED = ("Parameters", "Attributes")
# Docstrings of classes as they were written, before descriptions were inherited.
_WRITTEN: WeakKeyDictionary[type, str] = WeakKeyDictionary()


@dataclass(frozen=True)
class LearnerEntry:
    """A learner: its class, the module below ``cosmodag.learners``, its command, and a summary."""

    name: str
    module: str
    command: str
    summary: str

    def load(self) -> "type[StructureLearner]":
        """Import the class."""
        learner: type[StructureLearner] = getattr(
            import_module(f"cosmodag.learners.{self.module}"), self.name
        )
        return learner


LEARNERS: dict[str, LearnerEntry] = {row[0]: LearnerEntry(*row) for row in _ROWS}


def learner_named(name: str) -> "type[StructureLearner] | None":
    """Find a learner by its class name, in the list or in the program; None if there is none.

    Only modules of the list are imported, since a name in a file must not run code. If the program
    has several classes of this name, as a notebook may, the one defined last is returned.
    """
    if name in LEARNERS:
        return LEARNERS[name].load()
    base = import_module("cosmodag.learners.structure_learner").StructureLearner
    found: type[StructureLearner] | None = subclass_named(base, name)
    return found


def subclass_named(base: Any, name: str) -> Any:
    """Find the subclass of `base` with this name, the one defined last; None if there is none."""
    queue, found = [base], None
    while queue:
        candidate = queue.pop(0)
        found = candidate if candidate.__name__ == name else found
        queue += candidate.__subclasses__()
    return found


class Described(NamedTuple):
    """Type and text of one entry in a section of a docstring."""

    type: str
    text: str


def described(docstring: str, title: str) -> dict[str, Described]:
    """Parse a section of a numpydoc docstring into the type and text of each name."""
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
    """Add the parameters and attributes of the base classes to the docstring of a class.

    Of several entries with one name, the one of the first class in the method resolution order is
    used. Parameters that the class does not have are left out. ``{name}`` is replaced by the value
    that ``"auto"`` stands for, if it is in the ``automatic`` of the class. A class without a
    docstring is not changed.
    """
    own = kind.__dict__.get("__doc__")
    if not own:
        return
    _WRITTEN[kind] = own
    fields = {name for base in kind.__mro__ for name in inspect.get_annotations(base)}
    docstring = inspect.cleandoc(own) + "\n"
    for title in _INHERITED:
        entries = described(docstring, title)
        for base in kind.__mro__[1:]:
            written = _WRITTEN.get(base) or base.__dict__.get("__doc__") or ""
            inherited = described(inspect.cleandoc(written), title)
            for name, entry in inherited.items():
                if name in fields or title == "Attributes":
                    entries.setdefault(name, entry)
        if entries:
            docstring = _with_section(docstring, title, entries)
    kind.__doc__ = filled_in(docstring, getattr(kind, "automatic", {})).rstrip("\n")


def filled_in(text: str, automatic: dict[str, float]) -> str:
    """Replace each ``{name}`` in a text by the value that ``"auto"`` stands for."""
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
