"""Broken and malicious model files raise one error of the package each and run no code."""

import json
import pickle
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import cosmodag
from cosmodag.errors import DataError, DataWarning
from cosmodag.io.files import read_model, write_model
from learner_catalogue import CATALOGUE, chain_table

Change = Callable[[dict[str, Any], dict[str, Any]], object]


class Trap:
    """An object that leaves a trace when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (Path.touch, (self.path,))


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "model.safetensors"
    CATALOGUE["Cosmo"]().fit(chain_table()).save(path, residuals=True)
    return path


def cyclic(arrays: dict[str, Any], facts: dict[str, Any]) -> None:
    arrays["adjacency_"] = np.ones_like(arrays["adjacency_"])


CHANGES: dict[str, Change] = {
    "no learner": lambda a, f: f.pop("learner"),
    "learner is a list": lambda a, f: f.update(learner=["Cosmo"]),
    "learner is a path": lambda a, f: f.update(learner="../../os.system"),
    "unknown parameter": lambda a, f: f["parameters"].update(shell="rm"),
    "parameters are a list": lambda a, f: f.update(parameters=[1]),
    "no fitted attributes": lambda a, f: f.pop("fitted"),
    "names too few": lambda a, f: f.update(names=["a"]),
    "names twice": lambda a, f: f.update(names=["a"] * 5),
    "names are numbers": lambda a, f: f.update(names=[1, 2, 3, 4, 5]),
    "names are nested": lambda a, f: f.update(names=[["a"]] * 5),
    "no order": lambda a, f: a.pop("order"),
    "order with a repeat": lambda a, f: a.update(order=np.zeros(5, np.int64)),
    "order out of range": lambda a, f: a.update(order=np.arange(5) + 10**6),
    "order of floats": lambda a, f: a.update(order=np.arange(5.0)),
    "no graph": lambda a, f: a.pop("adjacency_"),
    "cyclic graph": cyclic,
    "graph of another size": lambda a, f: a.update(adjacency_=np.zeros((3, 3))),
    "graph of whole numbers": lambda a, f: a.update(adjacency_=np.zeros((5, 5), np.int64)),
    "graph with NaN": lambda a, f: a.update(adjacency_=np.full((5, 5), np.nan)),
    "weights flat": lambda a, f: a.update(weights_=np.zeros(25)),
    "means missing": lambda a, f: a.pop("means"),
    "factors zero": lambda a, f: a.update(factors=np.zeros(5)),
    "unit infinite": lambda a, f: a.update(unit=np.array([np.inf])),
    "constant of floats": lambda a, f: a.update(constant=np.zeros(5)),
    "variances negative": lambda a, f: a.update(noise_variances_=-np.ones(5)),
    "deviations negative": lambda a, f: a.update(deviations_=-np.ones(5)),
    "residuals of another width": lambda a, f: a.update(residuals_=np.zeros((3, 2), np.float32)),
    "residuals with NaN": lambda a, f: a.update(residuals_=np.full((120, 5), np.nan, np.float32)),
    "sets of targets of another width": lambda a, f: a.update(target_sets_=np.ones((2, 3), bool)),
    "targets of another width": lambda a, f: a.update(targets=np.zeros((120, 2), bool)),
    "imputed values of other rows": lambda a, f: a.update(absent=np.zeros((3, 5), bool)),
    "everything was set": lambda a, f: a.update(targets=np.ones((120, 5), bool)),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_changed_model_is_refused(saved: Path, tmp_path: Path, change: Change) -> None:
    arrays, facts = read_model(saved)
    change(arrays, facts)
    path = tmp_path / "changed.safetensors"
    write_model(path, arrays, facts)
    with pytest.raises(DataError, match=r"changed\.safetensors"):
        cosmodag.load(path)


def test_attributes_cannot_be_smuggled_in(saved: Path, tmp_path: Path) -> None:
    arrays, facts = read_model(saved)
    facts["fitted"] |= {"fit": "x", "__class__": "x", "predict": "x", "_order": [1]}
    write_model(tmp_path / "m.safetensors", arrays, facts)
    model = cosmodag.load(tmp_path / "m.safetensors")
    assert callable(model.fit)
    assert callable(model.predict)
    assert not set(vars(model)) & {"fit", "predict", "__class__"}


def containers(folder: Path) -> dict[str, bytes]:
    """Contents of files that are not what their name suggests."""
    trap = folder / "trap"
    header = json.dumps({"x": {"dtype": "F64", "shape": [10**12], "data_offsets": [0, 8 * 10**12]}})
    archive = folder / "archive.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("data.pkl", pickle.dumps(Trap(trap)))
    return {
        "pickle": pickle.dumps(Trap(trap)),
        "pickle, protocol 0": pickle.dumps(Trap(trap), 0),
        "archive with a pickle": archive.read_bytes(),
        "array with objects": b"\x93NUMPY\x01\x00v\x00{'descr': '|O', 'shape': (1,)}",
        "nothing but zeros": b"\0" * 4096,
        "header longer than the file": struct.pack("<Q", 2**62) + b"{}",
        "array larger than the file": struct.pack("<Q", len(header)) + header.encode(),
        "header that is no JSON": struct.pack("<Q", 4) + b"\xff\xfe{{",
        "deeply nested header": struct.pack("<Q", 100_000) + b"[" * 100_000,
        "text": b"import os",
    }


def test_other_files_are_refused_and_not_run(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    for content in containers(tmp_path).values():
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"model\.safetensors"):
            cosmodag.load(path)
    assert not (tmp_path / "trap").exists()


def test_facts_that_are_no_json(saved: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    for facts in ("{", "[" * 100_000, "null", "3"):
        save_file(load_file(saved), path, {"format": "cosmodag-model-1", "facts": facts})
        with pytest.raises(DataError, match="damaged"):
            cosmodag.load(path)


@pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
def test_cut_or_changed_anywhere_a_model_loads_or_is_refused(saved: Path, tmp_path: Path) -> None:
    content = saved.read_bytes()
    random = np.random.default_rng(0)
    path = tmp_path / "mutated.safetensors"
    refused = 0
    for _ in range(150):
        changed = bytearray(content)
        if random.random() < 0.3:
            del changed[int(random.integers(len(changed))) :]
        for place in random.integers(max(1, len(changed)), size=random.integers(1, 8)):
            if changed:
                changed[place] = int(random.integers(256))
        path.write_bytes(bytes(changed))
        try:
            cosmodag.load(path)
        except (DataError, DataWarning):
            refused += 1
    assert refused > 50
