"""Attributes of a learner that are read from its fitted DAG."""

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from cosmodag.fit.fitted_dag import FittedDAG

__all__ = ["HoldsDAG", "OfDAG"]


class HoldsDAG:
    """Base of the parts of a fitted learner, which read its DAG."""

    fitted_: "FittedDAG"

    @property
    def _dag(self) -> "FittedDAG":
        check_is_fitted(self, "fitted_")
        return self.fitted_

    @property
    def names_(self) -> list[Any]:
        """Column names, or column numbers where the data had no names."""
        return self._dag.names


class OfDAG:
    """Attribute of a learner that is read from its fitted DAG; absent if the DAG has none."""

    def __init__(self, path: str, *, may_be_none: bool = False) -> None:
        self._path, self._may_be_none = path, may_be_none

    def __get__(self, learner: Any, owner: Any = None) -> Any:
        if learner is None:
            return self
        dag = vars(learner).get("fitted_")
        value = None if dag is None else attrgetter(self._path)(dag)
        if dag is None or (value is None and not self._may_be_none):
            kind = type(learner).__name__
            raise AttributeError(f"This {kind} is not fitted, or it keeps no {self._path}.")
        return value

    def __set__(self, learner: Any, value: Any) -> None:
        # A value set on the learner would hide that of the fit.
        raise AttributeError(f"{self._path} is part of a fit, which cannot be changed in place.")
