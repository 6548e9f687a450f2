"""Saved models are plain data, written completely or not at all; other files are refused."""

import numpy as np
import pytest

import cosmodag
from cosmodag.errors import DataError
from cosmodag.io.files import read_model, write_model


def test_round_trip(tmp_path):
    arrays = {"a": np.arange(6, dtype=np.float32).reshape(2, 3).T, "b": np.array([True, False])}
    facts = {"learner": "Cosmo", "nothing": None, "names": ["ü", 'q"'], "x": 0.1}
    write_model(tmp_path / "m.safetensors", arrays, facts)
    read_arrays, read_facts = read_model(tmp_path / "m.safetensors")
    assert read_facts == facts
    for name, array in arrays.items():
        assert np.array_equal(read_arrays[name], array)
        assert read_arrays[name].dtype == array.dtype


def test_numpy_scalars_are_plain_data(tmp_path):
    facts = {"epochs": np.int64(3), "rate": np.float32(0.5), "flag": np.bool_(True)}
    write_model(tmp_path / "m.safetensors", {}, facts)
    assert read_model(tmp_path / "m.safetensors")[1] == {"epochs": 3, "rate": 0.5, "flag": True}
    with pytest.raises(TypeError, match="Generator"):
        write_model(tmp_path / "m.safetensors", {}, {"random_state": np.random.default_rng(0)})


def test_other_files_are_refused(tmp_path):
    from safetensors.numpy import save_file

    (tmp_path / "text.safetensors").write_text("hello")
    save_file({"a": np.zeros(2)}, tmp_path / "other.safetensors")
    for name in ("text.safetensors", "other.safetensors", "missing.safetensors"):
        with pytest.raises(DataError, match=name):
            cosmodag.load(tmp_path / name)


def test_an_unknown_learner_is_refused(tmp_path):
    facts = {"learner": "Oracle", "parameters": {}, "fitted": {}}
    write_model(tmp_path / "m.safetensors", {}, facts)
    with pytest.raises(DataError, match="Oracle"):
        cosmodag.load(tmp_path / "m.safetensors")


def test_a_truncated_file_is_refused(tmp_path):
    path = tmp_path / "m.safetensors"
    write_model(path, {"a": np.zeros(100)}, {"learner": "Cosmo"})
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(DataError, match="damaged"):
        read_model(path)


def test_models_of_other_versions_are_refused(tmp_path):
    from safetensors.numpy import save_file

    path = tmp_path / "model.safetensors"
    save_file({"a": np.zeros(2)}, path, {"format": "cosmodag-model-99", "facts": "{}"})
    with pytest.raises(DataError, match="version"):
        read_model(path)


def test_no_changed_byte_is_loaded(tmp_path):
    """Flips one bit at each of many places: the file is refused, or holds the same content."""
    path, random = tmp_path / "model.safetensors", np.random.default_rng(0)
    arrays = {"weights": random.normal(size=(3, 3)), "order": np.arange(3)}
    write_model(path, arrays, {"learner": "Cosmo", "values": [1.5, "a"]})
    whole = path.read_bytes()
    loaded = 0
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(random.integers(8))
        path.write_bytes(damaged)
        try:
            again, facts = read_model(path)
        except DataError:
            continue
        loaded += 1
        assert facts == {"learner": "Cosmo", "values": [1.5, "a"]}
        assert all(np.array_equal(again[name], arrays[name]) for name in arrays)
    assert loaded <= 8  # the padding of the header
