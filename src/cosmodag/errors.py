"""Errors and warnings of this package.

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


# Maximum length of a message, and of a name in it: a file may contain names of any length.
_LONGEST_MESSAGE = 4_000
_LONGEST_NAME = 120


class CosmodagError(Exception):
    """Base class of all errors that this package raises; a very long message is shortened."""

    def __str__(self) -> str:
        return _shortened(super().__str__(), _LONGEST_MESSAGE)


class DataError(CosmodagError, ValueError):
    """The input cannot be used as it is: a table, a graph, a name or an option."""


class KnowledgeError(DataError):
    """Background knowledge contradicts itself or names columns that the table does not have."""


class DivergenceError(CosmodagError, ArithmeticError):
    """Training reached a value that is not finite."""


class ResourceError(CosmodagError, MemoryError):
    """The work needs more memory than is available; nothing was allocated."""


class ForkError(CosmodagError, RuntimeError):
    """The process was forked after JAX was imported, and JAX may not work in it."""


class SettingsError(CosmodagError, TypeError):
    """The settings of a problem differ from those that its solver declares."""


class StoreError(DataError):
    """A store of results cannot be used: it is damaged or belongs to another program."""


class CosmodagWarning(UserWarning):
    """Base class of all warnings that this package issues."""


class DataWarning(CosmodagWarning):
    """The data can be used, but a property of it affects the result."""


class ModelWarning(DataWarning):
    """The table contradicts an assumption of the model, so arc probabilities are unreliable."""


class SharesWarning(ModelWarning):
    """Shares of resamples will not be probabilities, as is known before resampling."""


class ScaleWarning(DataWarning):
    """The scales of the columns determine directions, or standardisation has removed this cue."""


class InterruptedWarning(CosmodagWarning):
    """A fit was stopped early; its result is valid, but less converged or not fully examined."""


class AcyclicityWarning(CosmodagWarning):
    """The optimised matrix had cycles, and arcs were dropped to make it a DAG."""


class ConvergenceWarning(CosmodagWarning):
    """A method reached a limit before it converged; the result is valid but less converged."""


class FallbackWarning(CosmodagWarning):
    """A fast implementation could not be used, and a slower one replaced it."""


def name_list(names: Sequence[str], most: int = 5) -> str:
    """Format names for a message: quoted, long names shortened, only the first `most` listed.

    Examples
    --------
    >>> name_list(["a", "b"])
    "'a', 'b'"
    >>> name_list(list("abcdefg"), most=2)
    "'a', 'b' and 5 more"
    """
    shown = ", ".join(repr(_shortened(str(name), _LONGEST_NAME)) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def _shortened(text: str, limit: int) -> str:
    """Shorten a text to at most `limit` characters, with an ellipsis in its middle."""
    if len(text) <= limit:
        return text
    return f"{text[: limit - limit // 3 - 1]}…{text[-(limit // 3) :]}"
