"""Files with bytes changed, cut or repeated: read, or refused by a typed error; never a crash.

``COSMODAG_MUTATIONS=2000`` tries so many of each kind; the gate tries a few.
"""

import os
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import cosmodag
from cosmodag.bench.protocol import find_experiment
from cosmodag.bench.store import Row, Store
from cosmodag.errors import CosmodagError, CosmodagWarning
from cosmodag.io import read_graph, read_table
from cosmodag.knowledge.files import read_knowledge
from learner_catalogue import CATALOGUE, chain_table

MUTATIONS = int(os.environ.get("COSMODAG_MUTATIONS", "40"))
# No file here holds more than a few kilobytes: what reads one may not take much more than that.
MOST_BYTES = 64 * 2**20
LONGEST = 5.0

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
GRAPH = 'digraph { a -> b [weight=1.5]; "c d" -> b; }'


def use_store(path: Path) -> None:
    with Store(path, create=False) as store:
        store.rows()
        store.experiments()


def write_csv(path: Path) -> None:
    chain_table(20).to_csv(path, index=False)


def write_parquet(path: Path) -> None:
    chain_table(20).to_parquet(path)


def write_npy(path: Path) -> None:
    np.save(path, chain_table(20).to_numpy())


def write_model(path: Path) -> None:
    CATALOGUE["VarianceSort"]().fit(chain_table()).save(path)


def write_store(path: Path) -> None:
    with Store(path) as store:
        store.add([Row(f"k{k}", "b", {"seed": k}, {"status": "done"}) for k in range(20)])
    # What is in the log goes to the file.
    for suffix in ("-wal", "-shm"):
        assert not Path(f"{path}{suffix}").exists()


def texts(text: str) -> Callable[[Path], None]:
    return lambda path: path.write_text(text) and None


KINDS: dict[str, tuple[str, Callable[[Path], None], Callable[[Path], Any]]] = {
    "csv": ("t.csv", write_csv, read_table),
    "parquet": ("t.parquet", write_parquet, read_table),
    "npy": ("t.npy", write_npy, read_table),
    "dot": ("g.dot", texts(GRAPH), read_graph),
    "yaml": ("k.yaml", texts(KNOWLEDGE), read_knowledge),
    "toml": ("e.toml", texts(EXPERIMENT), find_experiment),
    "model": ("m.safetensors", write_model, cosmodag.load),
    "store": ("s.sqlite", write_store, use_store),
}


def mutations(content: bytes, count: int, seed: int) -> Iterator[bytes]:
    """Yield copies with something changed: bytes, a cut, a repeat, a swap, an odd insertion."""
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


@pytest.mark.parametrize("kind", KINDS)
def test_read_or_refused(kind: str, tmp_path: Path) -> None:
    name, write, read = KINDS[kind]
    path = tmp_path / name
    write(path)
    read(path)
    sentences: list[str] = []
    for content in mutations(path.read_bytes(), MUTATIONS, seed=1):
        for leftover in tmp_path.iterdir():
            leftover.unlink()
        path.write_bytes(content)
        begin = time.perf_counter()
        tracemalloc.start()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", CosmodagWarning)
            try:
                read(path)
            except CosmodagError as error:
                sentences.append(str(error))
        taken, (_, peak) = time.perf_counter() - begin, tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < MOST_BYTES
        assert taken < LONGEST or MUTATIONS < 100  # a busy machine is no hang
    assert len(sentences) > MUTATIONS / 10
    assert not any("\n" in sentence for sentence in sentences)


def test_aliases_that_multiply(tmp_path: Path) -> None:
    layers = ["x0: &x0 [a, a, a, a, a, a, a, a, a, a]"]
    layers += [f"x{k}: &x{k} [{', '.join([f'*x{k - 1}'] * 10)}]" for k in range(1, 12)]
    path = tmp_path / "k.yaml"
    for part in ("tiers", "exogenous", "required_edges", "search_space", "x12"):
        path.write_text("\n".join([*layers, f"{part}: *x11"]))
        with pytest.raises(CosmodagError, match=r"k\.yaml"):
            read_knowledge(path)


def test_a_table_is_what_it_was(tmp_path: Path) -> None:
    write_csv(tmp_path / "t.csv")
    assert isinstance(pd.read_csv(tmp_path / "t.csv"), pd.DataFrame)
    assert np.allclose(read_table(tmp_path / "t.csv").X, chain_table(20).to_numpy())
