"""``cosmodag demo``: scores, a graph and a picture."""

import json

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
    assert "10" in printed.err or "200 rows" in printed.err
