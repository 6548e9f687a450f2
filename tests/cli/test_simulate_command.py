"""``cosmodag simulate`` writes the data of `simulate.load`; errors are a single line."""

import json
from pathlib import Path

import numpy as np
import pytest

from cosmodag.cli import main
from cosmodag.io import read_dataset, read_table
from cosmodag.simulate import load


def test_files_read_back_as_the_same_data_set(tmp_path: Path) -> None:
    assert (
        main(["simulate", "n40_d8_ER2_gauss", "-o", str(tmp_path / "a" / "b"), "--seed", "3"]) == 0
    )
    folder = tmp_path / "a" / "b"
    assert sorted(path.name for path in folder.iterdir()) == [
        "data.csv",
        "dataset.json",
        "truth.csv",
    ]
    written, expected = (
        read_dataset(folder / "data.csv", folder / "truth.csv"),
        load("n40_d8_ER2_gauss", seed=3),
    )
    assert np.array_equal(written.X, expected.X)
    assert np.array_equal(written.weights, expected.weights)
    assert written.names == expected.names
    origin = json.loads((folder / "dataset.json").read_text())
    assert (origin["name"], origin["seed"]) == ("n40_d8_ER2_gauss", 3)


def test_json_goes_to_stdout_and_names_the_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["simulate", "n40_d8_SF2_mlp", "-o", str(tmp_path), "--json", "--format", "parquet"]
    assert main(arguments) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    result = json.loads(printed.out)
    assert (result["samples"], result["variables"], result["arcs"]) == (40, 8, 13)
    table = read_table(result["files"]["table"])
    assert np.array_equal(table.X, load("n40_d8_SF2_mlp").X)


def test_the_default_folder_is_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["simulate", "n4_d3_ER1_exp"]) == 0
    assert (tmp_path / "n4_d3_ER1_exp" / "data.csv").is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["n4_d3_ER1"], "'n4_d3_ER1' does not parse"),
        (["n4_d3_ER9_gauss"], "room for 3"),
        (["n4_d3_ER1_gauss", "--seed", "-1"], "seed"),
        (["n4_d3_ER1_gauss", "--format", "xlsx"], "--format"),
        (["n4_d3_ER1_gauss", "-o", "taken"], "'taken' is not a folder"),
        (["n4_d3_ER1_gauss", "-o", "taken/below"], "not a folder"),
    ],
)
def test_bad_input_is_one_line_and_code_2_and_leaves_nothing_behind(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").write_text("a file")
    assert main(["simulate", *arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert printed.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_quiet_writes_and_says_nothing(tmp_path, capsys):
    assert main(["simulate", "n20_d3_ER1_gauss", "-o", str(tmp_path / "data"), "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert (tmp_path / "data" / "truth.csv").exists()
