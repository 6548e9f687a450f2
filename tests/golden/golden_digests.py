"""What is recorded of a result: small, readable, and exact to the last bit."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from golden_tables import Sample
from scipy import sparse

LISTED = 40  # names of arcs, bases and variables that a record lists
# Fitted matrices that are recorded where a learner has them.
MATRICES = ("adjacency_", "weights_", "raw_weights_", "priorities_", "noise_variances_")
FACTS = (
    "refinement_",
    "noise_",
    "noise_reason_",
    "curves_reason_",
    "was_cyclic_",
    "dropped_arcs_",
    "stopped_",
)

_SECONDS = re.compile(r"\b\d[\d.,]* ?(?:s|ms|seconds?|minutes?|min|h)\b")
_DATE = re.compile(r"\b20\d\d-\d\d-\d\d(?:[T ][\d:.+]+)?\b|\b\d\d:\d\d(?::\d\d)?\b")
_JSON_SECONDS = re.compile(r'("(?:\w+_)?seconds": )[\d.e-]+')
_FREE_MEMORY = re.compile(r" of [\d.,]+ available")
_VERSION = re.compile(r"\b(cosmodag|python|numpy|scipy|scikit-learn|jax|jaxlib|numba) \d[\w.]*")
_FOLDER = re.compile(r"(?:/[\w.-]+)*/golden-[\w-]+")


def hashed(data: bytes) -> str:
    """First 16 hexadecimal digits of the SHA-256 hash."""
    return hashlib.sha256(data).hexdigest()[:16]


def shortened(values: Iterable[Any]) -> list[str]:
    """The first entries as text, and a hash of all of them if there are more."""
    texts = [str(value) for value in values]
    if len(texts) <= LISTED:
        return texts
    everything = hashed("\n".join(texts).encode())
    return [*texts[:LISTED], f"and {len(texts) - LISTED} more, all {everything}"]


def timeless(text: str) -> str:
    """Text without durations, dates, versions, free memory, and names of temporary folders."""
    text = _FREE_MEMORY.sub("", text)
    text = _VERSION.sub(r"\1", _JSON_SECONDS.sub(r"\1<time>", text))
    return _DATE.sub("<date>", _SECONDS.sub("<time>", _FOLDER.sub("<folder>", text)))


def of_warning(category: str, message: str) -> str:
    """The beginning of a warning; most are also findings, which are recorded in full."""
    return _shown(timeless(f"{category}: {message}"))


def of_matrix(matrix: Any) -> dict[str, Any]:
    """Digest of an array, in which ``exact`` changes if any bit of a value does.

    ``rounded`` changes if a value changes in its first six digits. A negative zero counts as zero.
    """
    shape = " × ".join(map(str, matrix.shape))
    if sparse.issparse(matrix):
        entries = matrix.tocoo()
        ranks = np.lexsort((entries.col, entries.row))
        places = np.stack([entries.row, entries.col])[:, ranks].astype(np.int64).tobytes()
        values = entries.data[ranks]
    else:
        places, values = b"", np.asarray(matrix)
    if values.dtype.kind not in "fiub":
        return {"shape": shape, "exact": hashed(repr(values.tolist()).encode())}
    values = np.ascontiguousarray(values) + 0  # turns -0.0 into 0.0
    finite = values[np.isfinite(values)].astype(float)
    digits = ",".join(f"{value:.6g}" for value in np.ravel(values))
    return {
        "shape": shape,
        "entries": int(np.count_nonzero(values)),
        "sum of sizes": f"{np.abs(finite).sum():.9g}",
        "rounded": hashed(places + digits.encode()),
        "exact": hashed(places + values.tobytes()),
    }


def of_number(value: float) -> str:
    """A number to ten digits; its last bits are in the matrices that it comes from."""
    return f"{value:.10g}"


def of_graph(model: Any) -> dict[str, Any]:
    """Digest of a fitted graph: order, arcs with their bases, matrices, reasons, findings."""
    names = [str(name) for name in model.names_]
    edges = model.edges_
    arcs = [f"{names[u]} > {names[v]}" for u, v in zip(edges.row, edges.col, strict=True)]
    bases = list(model.fitted_.arrow_basis)  # in the order of the edges
    found: dict[str, Any] = {
        "order": shortened(model.causal_order_),
        "number of arcs": len(arcs),
        "arcs": shortened(
            sorted(f"{arc}: {basis}" for arc, basis in zip(arcs, bases, strict=True))
        ),
    }
    for name in MATRICES:
        matrix = getattr(model, name, None)
        if matrix is not None:
            digest = of_matrix(matrix)
            found[name] = "as adjacency_" if digest == found.get("adjacency_") else digest
    for name in FACTS:
        if hasattr(model, name):
            value = getattr(model, name)
            found[name] = timeless(value) if isinstance(value, str) else value
    found["findings"] = [
        f"{finding.severity} {finding.name} ({', '.join(shortened(finding.columns)[:8])}): "
        f"{timeless(finding.sentence)}"
        for finding in getattr(model, "findings_", ())
    ]
    if hasattr(model, "targets_") and hasattr(model, "regimes_"):
        found["targets_"] = of_table(model.targets_)
    if hasattr(model, "missing_report_"):
        found["missing_report_"] = sorted(model.missing_report_)
    return found


def of_fit(model: Any, sample: Sample) -> dict[str, Any]:
    """Digest of a fit: its graph, kinds of columns, score, predictions and draws."""
    found = of_graph(model)
    found["kinds_"] = _shown(", ".join(kind.kind for kind in model.kinds_))
    if len(found["order"]) <= LISTED:
        found["drawn rows"] = of_matrix(model.sample(5, random_state=1))
    if not sample.options and not sample.settings.get("missing"):
        found["score"] = of_number(model.score(sample.table))
        found["predictions"] = of_matrix(model.predict(sample.table))
    return found


def of_table(table: Any) -> list[str]:
    """Rows of a data frame as text, numbers to eight digits."""
    text = table.reset_index(drop=True).to_csv(index=False, float_format="%.8g")
    return shortened(timeless(line) for line in text.splitlines())


def of_text(text: str) -> list[str]:
    """Lines of a text without durations and dates."""
    return shortened(timeless(line.strip()) for line in text.splitlines() if line.strip())


def of_output(text: str) -> Any:
    """What a command printed: lines, or the beginning and a hash of each value of a JSON object."""
    if not text.startswith("{"):
        return of_text(text)
    parts = json.loads(text).items()
    unstable = ("seconds", "seconds_per_round", "available")
    return {
        name: _shown(timeless(json.dumps(part))) for name, part in parts if name not in unstable
    }


def _shown(text: str) -> str:
    return text if len(text) <= 100 else f"{text[:80]}… {hashed(text.encode())}"


_DATA = re.compile(r'<script type="application/json"[^>]*>(.*?)</script>', re.DOTALL)


def of_page(html: str) -> list[str]:
    """Texts of four words or more in the data that a report shows, in their order."""
    return [timeless(text) for data in _DATA.findall(html) for text in _texts(json.loads(data))]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if value.count(" ") >= 3:
            yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)
