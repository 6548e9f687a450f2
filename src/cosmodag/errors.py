"""What can go wrong, as one small tree of errors and warnings.

Every message is one sentence that names the file, column or option and says what to do.
"""

from collections.abc import Sequence

__all__ = [
    "AcyclicityWarning",
    "ConvergenceWarning",
    "CosmodagError",
    "CosmodagWarning",
    "DataError",
    "DataWarning",
    "DivergenceError",
    "FallbackWarning",
    "ForkError",
    "InterruptedWarning",
    "KnowledgeError",
    "ModelWarning",
    "ResourceError",
    "ScaleWarning",
    "SettingsError",
    "StoreError",
    "name_list",
]


class CosmodagError(Exception):
    """Base of every error this package raises on purpose."""


class DataError(CosmodagError, ValueError):
    """The input cannot be used as it is: a table, a graph, a name or an option."""


class KnowledgeError(DataError):
    """What is said to be known contradicts itself, or names what the table does not have."""


class DivergenceError(CosmodagError, ArithmeticError):
    """Training reached a value that is not finite."""


class ResourceError(CosmodagError, MemoryError):
    """The work needs more memory than there is; nothing was allocated."""


class ForkError(CosmodagError, RuntimeError):
    """The process was forked from one that had used JAX, which cannot work in it."""


class SettingsError(CosmodagError, TypeError):
    """A problem's settings are not those that the parts of its solver declare."""


class StoreError(DataError):
    """A file of results cannot be used: it is damaged, or another program's."""


class CosmodagWarning(UserWarning):
    """Base of every warning this package issues."""


class DataWarning(CosmodagWarning):
    """The data can be used, but something about it bears on the answer."""


class ModelWarning(DataWarning):
    """The table contradicts what the answer assumes of it: how sure an arc is cannot be said."""


class ScaleWarning(DataWarning):
    """The scale of the columns decides, or has stopped deciding, the direction of arcs."""


class InterruptedWarning(CosmodagWarning):
    """Training was stopped before its last epoch; the result is valid but less converged."""


class AcyclicityWarning(CosmodagWarning):
    """An optimised matrix still held a cycle and arcs were dropped to make it a DAG."""


class ConvergenceWarning(CosmodagWarning):
    """A method ended at a limit, not where it should; the result is valid but less converged."""


class FallbackWarning(CosmodagWarning):
    """Something fast could not be used here, and something slower took its place."""


def name_list(names: Sequence[str], most: int = 5) -> str:
    """Names for a message, quoted; a long list is cut and counted.

    Examples
    --------
    >>> name_list(["a", "b"])
    "'a', 'b'"
    >>> name_list(list("abcdefg"), most=2)
    "'a', 'b' and 5 more"
    """
    shown = ", ".join(repr(str(name)) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
