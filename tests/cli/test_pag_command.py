"""``cosmodag pag`` prints a partial ancestral graph and writes it to three files."""

import json

import numpy as np
import pandas as pd
import pytest

from cosmodag.cli import main


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A file with a table of a → b ↔ c ← d, without the hidden common cause of b and c."""
    random = np.random.default_rng(0)
    first, last, hidden, *noise = random.normal(size=(5, 1000))
    columns = [first, first + hidden + noise[0], last + hidden + noise[1], last]
    path = tmp_path_factory.mktemp("pag") / "table.csv"
    np.savetxt(path, np.column_stack(columns), delimiter=",", header="a,b,c,d", comments="")
    return path


def test_it_prints_edges_and_writes_files(table, tmp_path, capsys):
    assert main(["pag", str(table), "-o", str(tmp_path / "out"), "--seed", "0"]) == 0
    shown = capsys.readouterr()
    assert "b <-> c" in shown.out
    assert "warning: b ↔ c: neither causes the other" in shown.err
    assert "\nBasis: " in shown.out
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "pag.dot",
        "pag.graphml",
        "pag.txt",
    ]
    text = (tmp_path / "out" / "pag.txt").read_text(encoding="utf-8")
    assert text.rstrip("\n") in shown.out


def test_the_basis_of_a_graph_with_categories_is_a_sentence(table, tmp_path, capsys):
    data = pd.read_csv(table)
    data["d"] = np.array(["low", "middle", "high"])[np.digitize(data["d"], [-0.5, 0.5])]
    data.to_csv(tmp_path / "t.csv", index=False)
    assert main(["pag", str(tmp_path / "t.csv"), "-o", str(tmp_path / "out"), "--seed", "0"]) == 0
    assert "\nBasis: the graph alone, since its equations are not linear; files in" in (
        capsys.readouterr().out
    )


def test_the_graph_of_a_saved_fit_is_converted(table, tmp_path, capsys):
    fit = tmp_path / "fit"
    assert main(["pag", str(table), "-o", str(tmp_path), "--seed", "0", "--quiet"]) == 0
    assert main(["fit", str(table), "-o", str(fit), "--seed", "0", "--quiet"]) == 0
    assert main(["convert", str(fit), str(tmp_path / "again.pag.txt"), "--quiet"]) == 0
    again = (tmp_path / "again.pag.txt").read_text(encoding="utf-8")
    assert again == (tmp_path / "pag.txt").read_text(encoding="utf-8")
    assert "b <-> c" in again
    capsys.readouterr()
    assert main(["convert", str(fit), "-", "--to", "pag"]) == 0
    assert capsys.readouterr().out == again
    alone = (fit / "model.safetensors").rename(tmp_path / "model.safetensors")
    assert main(["convert", str(alone), "-", "--to", "pag"]) == 2
    assert "run 'cosmodag fit --format pag'" in capsys.readouterr().err


def test_quiet_prints_no_warnings(table, tmp_path, capsys):
    pd.read_csv(table).assign(e=1.0).to_csv(tmp_path / "t.csv", index=False)
    arguments = ["pag", str(tmp_path / "t.csv"), "-o", str(tmp_path / "out")]
    assert main(arguments) == 0
    assert "warning: A column with a single value" in capsys.readouterr().err
    assert main([*arguments, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_json_and_knowledge(table, tmp_path, capsys):
    known = tmp_path / "known.yaml"
    known.write_text("required_edges:\n- [a, b]\n", encoding="utf-8")
    options = ["--json", "--quiet", "--knowledge", str(known), "-o", str(tmp_path)]
    assert main(["pag", str(table), *options]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"first": "a", "edge": "→", "second": "b"} in found["edges"]
    assert [one["name"] for one in found["findings"]] == ["hidden_pairs"]
