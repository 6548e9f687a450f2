"""Malicious stores, experiments and models raise one error of the package each."""

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

import cosmodag
from cosmodag.bench.protocol import read_experiment
from cosmodag.bench.report import write_report
from cosmodag.bench.store import Row, Store
from cosmodag.errors import CosmodagError, DataError, StoreError
from cosmodag.io.files import read_model, write_model
from cosmodag.report.saved_report import read_run
from cosmodag.report.sentences import choices_of
from learner_catalogue import CATALOGUE, chain_table

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")

HUGE = 10**400
NASTY = [None, HUGE, "x", [[]], {"a": 1}, "\ud800"]

EXPERIMENT = 'name = "tiny"\n[[group]]\ndata = ["n100_d5_ER1_gauss"]\nfixed = ["empty-graph"]\n'


PASS = {"status": "done", "epoch_seconds": 0.1}
FIT = {"kind": "fit", "data": "n100_d5_ER1_gauss", "method": "empty-graph", "graph": 0}


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
    with pytest.raises(StoreError, match="other tables than cosmodag creates"):
        Store(store, create=False)


@pytest.mark.parametrize(
    ("description", "result"),
    [
        ({}, {}),
        ({"kind": "epoch"}, {"status": "done"}),
        ({"kind": "epoch", "data": "n1_dx_ER1", "method": "cosmo"}, {"status": "done"}),
        ({"kind": "epoch", "data": 3, "method": []}, {"status": "done", "machine": {}}),
        ({"kind": "fit", "method": {}, "data": "n"}, {"status": "failed"}),
        (FIT, {"status": "done", "auc": HUGE}),
        (FIT, {"status": "done", "auc": "x"}),
        (FIT, {"status": "done", "auc": [1]}),
        (FIT | {"graph": HUGE}, {"status": "done", "auc": 0.5}),
        (FIT, {"auc": 0.5}),
        (FIT | {"kind": "epoch", "method": "cosmo"}, PASS | {"machine": r"$\bad$"}),
    ],
)
def test_rows_that_nobody_wrote(store: Path, tmp_path: Path, description: Any, result: Any) -> None:
    with Store(store) as opened:
        opened.add([Row("good", "b", FIT, {"status": "failed", "message": ""})])
        opened.add([Row("k", "b", description, result)])
        with pytest.raises(StoreError, match="rows that cosmodag did not write"):
            write_report(opened, tmp_path / "pages")
    assert not (tmp_path / "pages").exists()


@pytest.mark.parametrize("change", ["text = x'ff00'", "name = NULL"])
def test_an_experiment_that_is_no_text(store: Path, change: str) -> None:
    with sqlite3.connect(store) as connection:
        connection.execute(f"UPDATE experiments SET {change}")
    connection.close()
    with Store(store) as opened, pytest.raises(StoreError, match="an experiment is not text"):
        opened.experiments()


@pytest.mark.parametrize("name", ["checkpoint", "knowledge"])
def test_an_experiment_names_no_place_on_the_disk(name: str) -> None:
    text = EXPERIMENT + f'[group.parameters.empty-graph]\n{name} = "/somewhere/else"\n'
    with pytest.raises(DataError, match=f"{name}.*names a file"):
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
    """Paths to all entries of nested data, with only the first entry of each list."""
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


def refusal(use: Callable[[], object]) -> str | None:
    """The message of a refusal; None if the use succeeds. Any other error fails the test."""
    try:
        use()
    except CosmodagError as error:
        return str(error)
    return None


def test_facts_of_any_type_are_refused_or_of_use(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda handle: None)  # the files are not needed after the test
    arrays, facts = read_model(saved)
    path = tmp_path / "model.safetensors"

    def use() -> None:
        model = cosmodag.load(path)
        model.predict(chain_table())
        _ = model.arrow_basis_, model.graph_, repr(model), model.summary()
        choices_of(model, {})

    write_model(path, arrays, facts)
    use()
    refused = []
    for place in places_in(facts):
        for entry in NASTY if place else ():
            write_model(path, arrays, changed(facts, place, entry))
            refused.append(refusal(use))
    messages = [message for message in refused if message is not None]
    assert len(messages) > len(refused) / 4
    assert len(messages) < len(refused)  # comments and the like may be anything
    for message in messages:
        assert message.endswith(".")
        assert len(message) < 600


@pytest.mark.parametrize("value", [HUGE, -HUGE, float("inf"), float("nan"), "1", []])
@pytest.mark.parametrize("name", ["rows", "seconds", "auc"])
def test_a_number_that_no_run_has(tmp_path: Path, name: str, value: Any) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps({name: value}))
    with pytest.raises(DataError, match="was changed or damaged after cosmodag wrote"):
        read_run(path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('name = "tiny"', ".".join(["a"] * 20_000) + " = 1"),
        ("n100_", f"n{'9' * 5000}_"),
        ("fixed", "validation = 99_999_999_999\nfixed"),
    ],
    ids=["parts of a key", "digits", "cells"],
)
def test_an_experiment_of_any_size_is_refused_at_once(old: str, new: str) -> None:
    with pytest.raises(DataError) as refused:
        read_experiment(EXPERIMENT.replace(old, new))
    assert len(str(refused.value)) < 400
