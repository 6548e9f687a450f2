"""Mutated copies of valid files, and the outcome of reading each of them."""

import json
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import cosmodag
from cosmodag.bench.protocol import find_experiment
from cosmodag.bench.store import Row, Store
from cosmodag.data.knowledge.files import read_knowledge
from cosmodag.errors import CosmodagError, CosmodagWarning
from cosmodag.fit.files.saved import MODEL
from cosmodag.io import Graph, read_graph, read_table, write_graph
from cosmodag.report.answers import ANSWERS, Answers
from cosmodag.report.saved_report import EDGES, RUN, report_folder
from learner_catalogue import CATALOGUE, chain_table

__all__ = ["KINDS", "Tried", "try_mutations", "write_csv"]

KNOWLEDGE = """tiers:
  - [a, b]
  - [c]
forbidden_edges:
  - [c, d]
required_edges: [[a, e]]
exogenous: [a]
"""
EXPERIMENT = """name = "tiny"
title = "One group"
[[group]]
data = ["n100_d{5,6}_ER1_gauss"]
methods = ["cosmo"]
configurations = 2
graphs = 2
validation = 2
"""
KNOWLEDGE_TOML = """tiers = [["a", "b"], ["c"]]
forbidden_edges = [["c", "d"]]
exogenous = ["a"]
"""
KNOWLEDGE_CSV = """kind,cause,effect
forbidden,c,d
required,a,e
tier,a,1
"""
NODES = {"directed": True, "nodes": [{"id": "a"}, {"id": "b"}], "edges": []}
NODES["edges"] = [{"source": "a", "target": "b", "weight": 1.5}]
GML = """graph [ directed 1 node [ id 0 label "a" ] node [ id 1 label "b" ]
edge [ source 0 target 1 weight 1.5 ] ]
"""
GRAPH = 'digraph { a -> b [weight=1.5]; "c d" -> b; }'


def use_store(path: Path) -> None:
    with Store(path, create=False) as store:
        store.rows()
        store.experiments()


def write_csv(path: Path) -> None:
    chain_table(20).to_csv(path, index=False)


def write_parquet(path: Path) -> None:
    chain_table(20).to_parquet(path)


def write_model(path: Path) -> None:
    CATALOGUE["VarianceSort"]().fit(chain_table()).save(path)


def write_saved_fit(path: Path) -> None:
    """Write the files that ``cosmodag report`` reads, one of which is `path`."""
    model = CATALOGUE["VarianceSort"]().fit(chain_table())
    model.save(path.parent / MODEL)
    finding = {"name": "x", "columns": ["a"], "value": 1.5, "severity": "notice", "sentence": "s"}
    stability = {"resamples": 10, "missed": [[0, 2, 0.7]]}
    run = {"table": "t.csv", "rows": 120, "seconds": 1.5, "warnings": ["w"]}
    run |= {"versions": {"numpy": "2"}, "findings": [finding], "stability": stability}
    (path.parent / RUN).write_text(json.dumps(run))
    lines = ["cause,effect,weight,standard_error,probability"]
    names = model.names_
    for u, v in zip(model.edges_.row, model.edges_.col, strict=True):
        lines.append(f"{names[u]},{names[v]},1.5,0.1,0.9")
    (path.parent / EDGES).write_text("\n".join(lines) + "\n")
    (path.parent / ANSWERS).write_text(json.dumps(Answers.of(model).facts()))


def use_saved_fit(path: Path) -> None:
    report_folder(path.parent, path.parent / "page.html")


def write_store(path: Path) -> None:
    with Store(path) as store:
        store.add([Row(f"k{k}", "b", {"seed": k}, {"status": "done"}) for k in range(20)])
    # SQLite has moved the contents of its log to the file.
    for suffix in ("-wal", "-shm"):
        assert not Path(f"{path}{suffix}").exists()


def write_graphml(path: Path) -> None:
    write_graph(Graph(list("abcd"), np.triu(np.ones((4, 4)), 1)), path)


def texts(text: str) -> Callable[[Path], None]:
    return lambda path: path.write_text(text) and None


KINDS: dict[str, tuple[str, Callable[[Path], None], Callable[[Path], Any]]] = {
    "csv": ("t.csv", write_csv, read_table),
    "parquet": ("t.parquet", write_parquet, read_table),
    "dot": ("g.dot", texts(GRAPH), read_graph),
    "gml": ("g.gml", texts(GML), read_graph),
    "graph json": ("g.json", texts(json.dumps(NODES)), read_graph),
    "graphml": ("g.graphml", write_graphml, read_graph),
    "run.json": (RUN, write_saved_fit, use_saved_fit),
    "edges.csv": (EDGES, write_saved_fit, use_saved_fit),
    "answers.json": (ANSWERS, write_saved_fit, use_saved_fit),
    "knowledge toml": ("k.toml", texts(KNOWLEDGE_TOML), read_knowledge),
    "knowledge csv": ("k.csv", texts(KNOWLEDGE_CSV), read_knowledge),
    "knowledge json": ("k.json", texts(json.dumps({"tiers": [["a"], ["b"]]})), read_knowledge),
    "csv.gz": ("t.csv.gz", write_csv, read_table),
    "yaml": ("k.yaml", texts(KNOWLEDGE), read_knowledge),
    "toml": ("e.toml", texts(EXPERIMENT), find_experiment),
    "model": ("m.safetensors", write_model, cosmodag.load),
    "store": ("s.sqlite", write_store, use_store),
}


def mutations(content: bytes, count: int, seed: int) -> Iterator[bytes]:
    """Yield copies with changed bytes, a cut, a repeat, a swap or an odd insertion."""
    random = np.random.default_rng(seed)
    odd = [
        b"\0",
        b"\xff\xfe",
        b'"',
        b"[" * 500,
        b"9" * 400,
        b"&a [*a]",
        b"\n---\n",
        b"1e999",
        b"\r",
    ]
    for _ in range(count):
        changed = bytearray(content)
        for _ in range(int(random.integers(1, 4))):
            place, end = sorted(random.integers(len(changed) + 1, size=2).tolist())
            match int(random.integers(5)):
                case 0:
                    for _ in range(int(random.integers(1, 6))):
                        if changed:
                            changed[int(random.integers(len(changed)))] = int(random.integers(256))
                case 1:
                    del changed[place:]
                case 2:
                    changed[place:place] = changed[place:end]
                case 3:
                    del changed[place:end]
                case _:
                    changed[place:place] = odd[int(random.integers(len(odd)))]
        yield bytes(changed)


class Tried(NamedTuple):
    """Outcome of one mutated file: the error message or None, and the time and memory used."""

    sentence: str | None
    seconds: float
    peak_bytes: int


def try_mutations(kind: str, folder: Path, count: int, seed: int = 1) -> Iterator[Tried]:
    """Read mutated files of a kind; errors that are not of this package propagate."""
    name, write, read = KINDS[kind]
    path = folder / name
    write(path)
    read(path)
    content, others = path.read_bytes(), set(folder.iterdir())
    for changed in mutations(content, count, seed):
        for leftover in set(folder.iterdir()) - others:
            leftover.unlink()
        path.write_bytes(changed)
        begin = time.process_time()
        tracemalloc.start()
        try:
            sentence = refusal(read, path)
            taken, (_, peak) = time.process_time() - begin, tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        yield Tried(sentence, taken, peak)


def refusal(read: Callable[[Path], Any], path: Path) -> str | None:
    """Read a file and return the error message, if any; foreign warnings are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", CosmodagWarning)
        try:
            read(path)
        except CosmodagError as error:
            return str(error)
    return None
