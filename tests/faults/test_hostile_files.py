"""Malicious files: one typed error each, in bounded time and memory."""

import json
import os
import resource
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cosmodag
from cosmodag.bench.pages import write_report
from cosmodag.bench.protocol import read_experiment
from cosmodag.bench.store import Row, Store
from cosmodag.data.knowledge import read_knowledge
from cosmodag.errors import CosmodagError, DataError, StoreError
from cosmodag.io.files import read_model, write_model
from cosmodag.io.graphs.write import read_graph
from cosmodag.io.tables.read import read_table
from cosmodag.report.choices import choices_of
from cosmodag.report.saved import _run
from learner_catalogue import CATALOGUE, chain_table
from processor_limits import processor_time_below

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")

HUGE = 10**400
NASTY = [None, HUGE, "x", [[]], {"a": 1}]

EXPERIMENT = 'name = "tiny"\n[[group]]\ndata = ["n100_d5_ER1_gauss"]\nfixed = ["empty-graph"]\n'


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "results.sqlite"
    with Store(path) as made:
        made.remember("tiny", EXPERIMENT)
    return path


RECURSIVE = (
    "CREATE VIEW cells AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) "
    "SELECT x AS key, '' AS batch, '{}' AS description, '{}' AS result FROM n"
)
COMPUTED = (
    "CREATE TABLE cells (key TEXT, batch TEXT, description TEXT, "
    "result TEXT GENERATED ALWAYS AS (hex(zeroblob(500000000))))"
)


@pytest.mark.parametrize("statement", [RECURSIVE, COMPUTED, "CREATE TABLE cells (key TEXT)"])
def test_a_store_whose_cells_are_not_the_table_that_was_made(store: Path, statement: str) -> None:
    with sqlite3.connect(store) as connection:
        connection.execute("DROP TABLE cells")
        connection.execute(statement)
    connection.close()
    with pytest.raises(StoreError, match="other tables than cosmodag makes"):
        Store(store, create=False)


@pytest.mark.parametrize(
    ("description", "result"),
    [
        ({}, {}),
        ({"kind": "epoch"}, {"status": "done"}),
        ({"kind": "epoch", "data": "n1_dx_ER1", "method": "cosmo"}, {"status": "done"}),
        ({"kind": "epoch", "data": 3, "method": []}, {"status": "done", "machine": {}}),
        ({"kind": "fit", "method": {}, "data": "n"}, {"status": "failed"}),
    ],
)
def test_rows_that_nobody_wrote(store: Path, tmp_path: Path, description: Any, result: Any) -> None:
    with Store(store) as opened:
        opened.add([Row("k", "b", description, result)])
        with pytest.raises(StoreError, match="rows that cosmodag did not write"):
            write_report(opened, tmp_path / "pages")
    assert not (tmp_path / "pages").exists()


@pytest.mark.parametrize("name", ["checkpoint", "knowledge"])
def test_an_experiment_names_no_place_on_the_disk(name: str) -> None:
    text = EXPERIMENT + f'[group.parameters.empty-graph]\n{name} = "/somewhere/else"\n'
    with pytest.raises(DataError, match=f"{name}.*names a place on a disk"):
        read_experiment(text)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "model.safetensors"
    CATALOGUE["Cosmo"]().fit(chain_table()).save(path)
    return path


def test_a_saved_model_names_no_place_on_the_disk(saved: Path, tmp_path: Path) -> None:
    arrays, facts = read_model(saved)
    facts["parameters"] |= {"checkpoint": str(tmp_path / "made"), "epochs": 2}
    write_model(tmp_path / "model.safetensors", arrays, facts)
    model = cosmodag.load(tmp_path / "model.safetensors")
    assert model.checkpoint is None
    model.checkpoint = tmp_path / "here"
    model.save(tmp_path / "again.safetensors")
    assert read_model(tmp_path / "again.safetensors")[1]["parameters"]["checkpoint"] is None


def places_in(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every entry of nested data, of long lists the first."""
    yield place
    entries = (
        value
        if isinstance(value, dict)
        else range(min(len(value), 1))
        if isinstance(value, list)
        else ()
    )
    for entry in entries:
        yield from places_in(value[entry], (*place, entry))


def changed(value: Any, place: tuple[Any, ...], entry: Any) -> Any:
    whole = deepcopy(value)
    inner = whole
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = entry
    return whole


def refused_or(use: Callable[[], object]) -> None:
    with suppress(CosmodagError):
        use()


def test_facts_of_any_type_are_refused_or_of_use(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda handle: None)  # nothing here outlives the test
    arrays, facts = read_model(saved)
    path = tmp_path / "model.safetensors"

    def use() -> None:
        model = cosmodag.load(path)
        model.predict(chain_table())
        _ = model.arrow_basis_, model.graph_, repr(model)
        choices_of(model, {})

    for place in places_in(facts):
        for entry in NASTY if place else ():
            write_model(path, arrays, changed(facts, place, entry))
            refused_or(use)


@pytest.mark.parametrize("value", [HUGE, -HUGE, float("inf"), float("nan"), "1", []])
@pytest.mark.parametrize("name", ["rows", "seconds", "auc"])
def test_a_number_that_no_run_has(tmp_path: Path, name: str, value: Any) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps({name: value}))
    with pytest.raises(DataError, match="does not hold what cosmodag wrote"):
        _run(path)


def test_a_short_file_that_promises_a_large_array(tmp_path: Path) -> None:
    path = tmp_path / "table.npy"
    np.save(path, np.zeros((2, 3)))
    whole = path.read_bytes()
    np.testing.assert_array_equal(read_table(path).X, np.zeros((2, 3)))
    for shape in ("(9999999999, 999)", "(99999999999999999999, 3)", "(-1, 3)"):
        header = whole[:128].replace(b"(2, 3)", shape.encode())
        start, _, rest = header.partition(b", }")
        path.write_bytes(
            (start + b", }" + rest.lstrip(b"\x00"))[:128].ljust(127) + b"\n" + b"0" * 8
        )
        with pytest.raises(DataError, match="not a NumPy file of plain numbers"):
            read_table(path)


def test_thousands_of_tiers_are_read_in_seconds(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    path.write_text(json.dumps({"tiers": [[f"x{k}"] for k in range(3_000)]}))
    with processor_time_below(5):
        known = read_knowledge(path)
    assert len(known.tiers) == 3_000


DIGITS = "9" * 100_000
DOCUMENT = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="directed">'
ENTITIES = "".join(f'<!ENTITY e{k + 1} "{f"&e{k};" * 10}">' for k in range(9))
CHAIN = "->".join("{" + " ".join(f"a{k}_{i}" for i in range(300)) + "}" for k in range(40))
HOSTILE: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "dot: comments": (read_graph, "graph.dot", "/*!" * 20_000),
    "dot: lists of nodes": (read_graph, "graph.dot", f"digraph {{{CHAIN}}}"),
    "dot: braces": (read_graph, "graph.dot", "digraph " + "{" * 50_000),
    "dot: quotes": (read_graph, "graph.dot", 'digraph {"' + '\\"' * 50_000),
    "dot: attributes": (read_graph, "graph.dot", "digraph { a -> b [" + "x=1," * 50_000),
    "graphml: entities": (
        read_graph,
        "graph.graphml",
        f'<!DOCTYPE x [<!ENTITY e0 "ha">{ENTITIES}]>{DOCUMENT}<node id="&e9;"/></graph></graphml>',
    ),
    "graphml: depth": (
        read_graph,
        "graph.graphml",
        DOCUMENT + '<node id="a"><graph edgedefault="directed">' * 20_000,
    ),
    "gml: depth": (read_graph, "graph.gml", "graph [" * 30_000),
    "gml: digits": (
        read_graph,
        "graph.gml",
        f'graph [ directed 1 node [ id {DIGITS} label "a" ] ]',
    ),
    "json: depth": (read_graph, "graph.json", "[" * 200_000),
    "json: a name that is a list": (
        read_graph,
        "graph.json",
        f'{{"directed": true, "nodes": [{{"id": {"[" * 500}{"]" * 500}}}], "links": []}}',
    ),
    "arcs: digits": (read_graph, "graph.csv", f"source,target,weight\na,b,{DIGITS}\n"),
    "table: digits": (read_table, "table.csv", f"a,b\n{DIGITS},1\n2,3\n4,5\n"),
    "table: 400 digits": (read_table, "table.csv", f"a,b\n{DIGITS[:400]},1\n2,3\n4,5\n"),
    "table: an open quote": (read_table, "table.csv", 'a,b\n"' + "1\n" * 100_000),
    "yaml: depth": (read_knowledge, "known.yaml", "[" * 3_000),
    "yaml: references": (
        read_knowledge,
        "known.yaml",
        "a0: &a0 [x]\n"
        + "".join(f"a{k + 1}: &a{k + 1} [{', '.join([f'*a{k}'] * 9)}]\n" for k in range(9)),
    ),
    "yaml: hours, minutes, seconds": (
        read_knowledge,
        "known.yaml",
        f"tiers: [[{':'.join(['59'] * 20_000)}]]",
    ),
    "toml: parts of a key": (read_knowledge, "known.toml", ".".join(["a"] * 20_000) + " = 1"),
    "toml: depth": (read_knowledge, "known.toml", "tiers = " + "[" * 50_000),
}


@pytest.mark.parametrize(("read", "name", "text"), HOSTILE.values(), ids=HOSTILE.keys())
def test_a_short_hostile_file_is_one_sentence_in_a_moment(
    tmp_path: Path, read: Callable[[Path], object], name: str, text: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with processor_time_below(5), pytest.raises(CosmodagError) as refused:
        read(path)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 300 * 1024  # kibibytes, where Linux counts
    sentence = str(refused.value)
    assert len(sentence) < 400 + len(str(path))
    assert "\n" not in sentence


def test_a_wide_table_is_read_in_seconds(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    row = ",".join(["1"] * 8_000)
    path.write_text(f"{','.join(f'x{k}' for k in range(8_000))}\n{row}\n{row}\n")
    with processor_time_below(5):
        assert read_table(path).X.shape == (2, 8_000)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('name = "tiny"', ".".join(["a"] * 20_000) + " = 1"),
        ("n100_", f"n{DIGITS[:5000]}_"),
        ("fixed", "validation = 99_999_999_999\nfixed"),
    ],
    ids=["parts of a key", "digits", "cells"],
)
def test_an_experiment_of_any_size_is_refused_at_once(old: str, new: str) -> None:
    with pytest.raises(DataError) as refused:
        read_experiment(EXPERIMENT.replace(old, new))
    assert len(str(refused.value)) < 400
