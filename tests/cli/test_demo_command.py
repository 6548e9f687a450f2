"""``cosmodag demo`` writes scores, a graph and a picture."""

import json

import cosmodag
from cosmodag.cli import main


def test_it_learns_and_draws(tmp_path, capsys):
    assert main(["demo", "-o", str(tmp_path / "demo"), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    # The paper's tuned COSMO has 0.984 ± 0.02 on such graphs.
    assert result["auc"] > 0.93
    picture = (tmp_path / "demo" / "demo.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 20_000


def test_the_table_explains_the_scores(tmp_path, capsys):
    assert main(["demo", "-o", str(tmp_path / "demo"), "--name", "n200_d10_ER2_gauss"]) == 0
    printed = capsys.readouterr()
    assert "AUC" in printed.out
    assert "0.5 is chance" in printed.out
    assert "simulated n200_d10_ER2_gauss: 200 rows, 20 arcs" in printed.err


def test_relations_that_are_not_linear_are_learnt_by_networks(tmp_path, capsys):
    arguments = ["demo", "-o", str(tmp_path / "demo"), "--name", "n60_d4_ER1_mlp", "--json"]
    assert main(arguments) == 0
    assert json.loads(capsys.readouterr().out)["data"] == "n60_d4_ER1_mlp"
    assert (tmp_path / "demo" / "demo.png").exists()
    assert type(cosmodag.load(tmp_path / "demo" / "model.safetensors")) is cosmodag.CosmoMLP
