"""Kinds of columns on the command line."""

import json

import numpy as np
import pytest

from cosmodag.cli import main


@pytest.fixture
def table(tmp_path):
    random = np.random.default_rng(0)
    rows = [
        f"{random.normal():.3f},{random.integers(1, 5)},{random.choice(['a', 'b', 'c'])},p{k}"
        for k in range(60)
    ]
    path = tmp_path / "t.csv"
    path.write_text("x,ward,region,id\n" + "\n".join(rows) + "\n")
    return path


def diagnosed(capsys, *arguments):
    assert main(["diagnose", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_diagnose_lists_kinds_with_reasons(table, capsys):
    found = diagnosed(capsys, table, "--drop", "id")
    assert found["kinds"]["region"] == {
        "kind": "categorical",
        "levels": ["a", "b", "c"],
        "reason": "text, 3 levels",
    }
    assert found["kinds"]["ward"]["kind"] == "ordinal"
    assert "x" not in found["kinds"]
    assert main(["diagnose", str(table), "--drop", "id"]) == 0
    assert "4 different whole numbers" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "ward"),
    [
        (["--categorical", "ward,region"], "categorical"),
        (["--categorical", "ward", "--categorical", "region"], "categorical"),
        (["--count", "ward"], "count"),
    ],
)
def test_options_name_columns(table, capsys, arguments, ward):
    assert diagnosed(capsys, table, "--drop", "id", *arguments)["kinds"]["ward"]["kind"] == ward


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("k.yaml", "ward: categorical\nregion: [c, b, a]\n"),
        ("k.toml", 'ward = "categorical"\nregion = ["c", "b", "a"]\n'),
        ("k.json", '{"ward": "categorical", "region": ["c", "b", "a"]}'),
    ],
)
def test_a_file_says_kinds(table, tmp_path, capsys, name, text):
    (tmp_path / name).write_text(text)
    found = diagnosed(capsys, table, "--drop", "id", "--kinds", tmp_path / name)
    assert found["kinds"]["ward"]["levels"] == [1, 2, 3, 4]
    assert found["kinds"]["region"]["kind"] == "ordinal"
    assert found["kinds"]["region"]["levels"] == ["c", "b", "a"]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("k.csv", "", "no known format for kinds"),
        ("k.yaml", "[1, 2]", "holds no kinds by column name"),
        ("k.yaml", "ward: nominal", "'nominal': it must be one of"),
        ("k.yaml", "{", "is not valid YAML"),
        ("k.json", "{", "cannot be read"),
        ("k.yaml", "wards: count", "the nearest is 'ward'"),
    ],
)
def test_files_that_cannot_be_used(table, tmp_path, capsys, name, text, words):
    (tmp_path / name).write_text(text)
    arguments = ["diagnose", str(table), "--drop", "id", "--kinds", str(tmp_path / name)]
    assert main(arguments) == 2
    assert words in capsys.readouterr().err


def test_a_kind_is_given_once(table, capsys):
    arguments = ["--categorical", "ward", "--count", "ward", "--drop", "id"]
    assert main(["diagnose", str(table), *arguments]) == 2
    assert "The kind of column 'ward' is given twice" in capsys.readouterr().err


def test_identifiers_are_levels_if_named(table, capsys):
    assert main(["diagnose", str(table)]) == 2
    assert "--drop id" in capsys.readouterr().err
    assert len(diagnosed(capsys, table, "--categorical", "id")["kinds"]["id"]["levels"]) == 60


def test_fit_takes_kinds_and_writes_them(table, tmp_path, capsys):
    output = tmp_path / "out"
    arguments = ["--drop", "id", "--method", "order-search", "--categorical", "ward,region"]
    assert main(["fit", str(table), *arguments, "-o", str(output), "--quiet"]) == 0
    run = json.loads((output / "run.json").read_text())
    assert run["kinds"]["ward"]["levels"] == [1, 2, 3, 4]
    assert run["parameters"]["kinds"] == {"ward": "categorical", "region": "categorical"}
    assert (
        main(["effect", str(output), "--of", "region", "--on", "x", "--from", "a", "--to", "b"])
        == 0
    )
    assert "region" in capsys.readouterr().out
