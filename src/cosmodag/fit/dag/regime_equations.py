"""Regimes of a fitted DAG: their targets, the evidence for them, and their own equations."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosmodag.data.diagnose.findings import Finding
from cosmodag.data.regime_table import CHANGES, OBSERVATIONAL
from cosmodag.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

    from cosmodag.fit.fitted_dag import FittedDAG
    from cosmodag.fit.prepare import Prepared

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Fields that are saved as arrays.
_SAVED = ("rows", "stated", "targets", "evidence", "price", "changes", "parameters")
_UNCHANGED = "stated_unchanged"
_OFF_TARGET = "off_target"
_SENTENCES = {
    _UNCHANGED: "{listed} {was} named as a target in the regime {regime!r}, whose rows show no "
    "change of the equation (evidence {evidence}): it was treated as a target nevertheless, so "
    "that arrows that rest on it are only as sure as that statement.",
    _OFF_TARGET: "{listed} changed in the regime {regime!r} without being named as a target "
    "(evidence {evidence}): the regime has its own equation for each.",
}


@dataclass(frozen=True)
class OwnEquation:
    """Equation of a variable in a regime in which it is a target, in the table's own units."""

    intercept: float
    weights: dict[int, float]  # of the causes, by column number
    deviation: float  # standard deviation of the noise


@dataclass(frozen=True, eq=False)
class FittedRegimes:
    """Targets of k regimes, the evidence for each target, and the own equations of targets."""

    names: tuple[str, ...]
    rows: NDArray[np.int64]  # (k,): number of rows of each regime
    stated: Bools  # (k, d): targets that the user named
    targets: Bools  # (k, d): all targets
    # (k, d): log-likelihood that an own equation of the variable gains in the regime, by ranks and
    # penalised (`RankEvidence` of `cosmodag.search.regimes`); above zero for a change.
    evidence: Floats
    price: float  # evidence above which a variable that was not named is a target
    changes: NDArray[np.int64]  # (k, d): indices into `cosmodag.data.regime_table.CHANGES`
    # (m, d + 2): intercept, weights and deviation of the own equations, one for each target in the
    # order of ``np.argwhere(targets)``.
    parameters: Floats

    def equation(self, regime: int, v: int) -> OwnEquation | None:
        """Return the own equation of variable v in a regime; None if v is not a target there."""
        if not self.targets[regime, v]:
            return None
        before = self.targets.ravel()[: regime * self.targets.shape[1] + v]
        own = self.parameters[np.count_nonzero(before)]
        weights = own[1:-1]
        causes = {int(u): float(weights[u]) for u in np.flatnonzero(weights)}
        return OwnEquation(float(own[0]), causes, float(own[-1]))

    def table(self, names: list[Any]) -> "pd.DataFrame":
        """List the targets, as ``targets_`` of a learner describes."""
        import pandas as pd

        places, variables = np.nonzero(self.targets)
        return pd.DataFrame(
            {
                "regime": [self.names[r] for r in places],
                "variable": [names[v] for v in variables],
                "stated": self.stated[places, variables],
                "evidence": self.evidence[places, variables],
                "change": [CHANGES[c] for c in self.changes[places, variables]],
                "deviation": self.parameters[:, -1],
                "rows": self.rows[places],
            }
        )

    def evidence_table(self, names: list[Any]) -> "pd.DataFrame":
        """Tabulate the evidence: a row for each non-observational regime, a column per variable."""
        import pandas as pd

        compared = [place for place, name in enumerate(self.names) if name != OBSERVATIONAL]
        regimes = [self.names[place] for place in compared]
        return pd.DataFrame(self.evidence[compared], index=regimes, columns=list(names))

    def separate(self, tails: NDArray[Any], heads: NDArray[Any], *, stated: bool) -> Bools:
        """Mark the arcs that have exactly one end among the targets of some regime.

        With `stated`, that end must be a target that the user named; otherwise, one that was found.
        """
        named = self.stated[:, tails] | self.stated[:, heads]
        differ = self.targets[:, tails] != self.targets[:, heads]
        found: Bools = (differ & (named == stated)).any(axis=0)
        return found

    def likelihoods(self, X: Floats, texts: list[str], shared: Floats) -> Floats:
        """Replace log-likelihoods (n, d) of targets in their regimes by those of own equations.

        `X` is (n, d), in the table's own units; `texts` has the name of the regime of each row;
        `shared` holds the log-likelihoods under the shared equations.
        """
        unknown = sorted(set(texts) - set(self.names))
        if unknown:
            raise DataError(
                f"regimes has the label {unknown[0]!r}, which the model was not fitted on: give "
                f"labels among {', '.join(self.names)}."
            )
        found, labels = shared.copy(), np.array([self.names.index(text) for text in texts])
        for (regime, v), own in zip(np.argwhere(self.targets), self.parameters, strict=True):
            rows, weights, deviation = labels == regime, own[1:-1], own[-1]
            fitted = np.full(np.count_nonzero(rows), own[0])
            for u in np.flatnonzero(weights):
                fitted += weights[u] * X[rows, u]
            scaled = (X[rows, v] - fitted) / deviation
            found[rows, v] = -0.5 * scaled**2 - np.log(deviation) - 0.5 * np.log(2 * np.pi)
        return found

    def findings(self, names: list[str]) -> list[Finding]:
        """Report targets that show no change, and changes of variables that were not named."""
        has_stated = self.stated.any(axis=1, keepdims=True)
        off_target = has_stated & self.targets & ~self.stated & (self.evidence > self.price)
        return [
            *_findings(self, names, _UNCHANGED, self.stated & (self.evidence <= 0)),
            *_findings(self, names, _OFF_TARGET, off_target),
        ]

    def facts(self, names: list[str]) -> dict[str, Any]:
        """Return regimes, targets and findings as plain values."""
        return {
            "rows": dict(zip(self.names, self.rows.tolist(), strict=True)),
            "targets": self.table(names).to_dict("records"),
            "price": self.price,
            "findings": [finding.sentence for finding in self.findings(names)],
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all fields but the names as named arrays, for saving."""
        return {f"regime_{name}": np.atleast_1d(getattr(self, name)) for name in _SAVED}

    @classmethod
    def from_arrays(
        cls, names: list[str] | None, arrays: dict[str, NDArray[Any]]
    ) -> "FittedRegimes | None":
        """Rebuild the regimes from their names and :meth:`arrays`; None without names."""
        if names is None:
            return None
        saved: dict[str, Any] = {name: arrays[f"regime_{name}"] for name in _SAVED}
        return cls(tuple(names), **{**saved, "price": float(saved["price"][0])})


def _findings(fitted: FittedRegimes, names: list[str], kind: str, marked: Bools) -> list[Finding]:
    """Report the marked variables (k, d), in one finding for each regime."""
    found = []
    for regime in np.flatnonzero(marked.any(axis=1)):
        variables = np.flatnonzero(marked[regime])
        columns = tuple(names[v] for v in variables)
        evidence = fitted.evidence[regime, variables]
        sentence = _SENTENCES[kind].format(
            listed=", ".join(columns),
            was="was" if len(columns) == 1 else "were",
            regime=fitted.names[regime],
            evidence=", ".join(f"{one:.1f}" for one in evidence),
        )
        found.append(Finding(kind, columns, float(evidence.max()), "notice", sentence))
    return found


def fitted_regimes(given: "Prepared", dag: "FittedDAG") -> FittedRegimes | None:
    """Compute evidence and own equations on the parents of a learnt graph; None without regimes."""
    if given.regimes is None or given.targets is None:
        return None
    from cosmodag.search.regimes.equation import RankEvidence, parents_of
    from cosmodag.search.regimes.finding import regime_score

    arcs = dag.arcs.toarray()
    regimes, targets = given.regimes, given.targets
    X = np.asarray(given.X, np.float64)
    score = regime_score(X, regimes.labels, regimes.stated, regimes.may_change)
    ranks = RankEvidence(X, regimes.labels)
    k, d = targets.shape
    evidence, changes = np.zeros((k, d)), np.zeros((k, d), np.int64)
    for v in range(d):
        parents = np.flatnonzero(arcs[:, v])
        evidence[:, v] = ranks.gains(v, parents, targets[:, v])
        changes[:, v] = score.changes(v, parents_of(arcs, v), targets[:, v])
    return FittedRegimes(
        regimes.names,
        np.bincount(regimes.labels, minlength=k).astype(np.int64),
        regimes.stated,
        targets,
        evidence,
        score.price,
        changes,
        _own_equations(given, arcs, targets, changes),
    )


def _own_equations(
    given: "Prepared", arcs: Bools, targets: Bools, changes: NDArray[np.int64]
) -> Floats:
    """Fit the own equations of all targets: rows of `FittedRegimes.parameters`."""
    assert given.regimes is not None
    X = given.in_own_units
    labels, d = given.regimes.labels, targets.shape[1]
    # The deviation of a variable that is set to one value is only rounding error.
    least = np.finfo(np.float32).eps * np.maximum(X.std(axis=0), np.finfo(np.float32).tiny)
    found = np.zeros((int(targets.sum()), d + 2))
    for place, (regime, v) in enumerate(np.argwhere(targets)):
        own = X[labels == regime]
        parents = np.flatnonzero(arcs[:, v])
        change = CHANGES[changes[regime, v]]
        if change == "noise":
            shared = ~targets[labels, v]
            weights = slopes(X[shared], parents, v)
        elif change == "cut":
            weights = np.zeros(len(parents))
        else:
            weights = slopes(own, parents, v)
        residuals = own[:, v] - own[:, parents] @ weights
        found[place, 1 + parents] = weights
        found[place, 0], found[place, -1] = residuals.mean(), max(float(residuals.std()), least[v])
    return found


def slopes(X: Floats, parents: NDArray[np.intp], v: int) -> Floats:
    """Regress variable v on its parents, with an intercept: the weights of the parents."""
    centred = X - X.mean(axis=0)
    found: Floats = np.linalg.lstsq(centred[:, parents], centred[:, v], rcond=None)[0]
    return found
