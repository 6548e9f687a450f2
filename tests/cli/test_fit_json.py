"""The output of ``fit --json`` conforms to ``docs/schemas/fit.schema.json``."""

import json
from pathlib import Path

import numpy as np
import pytest
from schema import faults

from cosmodag.cli import main

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs" / "schemas" / "fit.schema.json").read_text(encoding="utf-8")
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    random = np.random.default_rng(0)
    cause = random.normal(size=100)
    rows = np.column_stack([cause, 2 * cause + random.normal(size=100)])
    np.savetxt(tmp_path / "t.csv", rows, delimiter=",", header="dose,level", comments="")
    return tmp_path / "t.csv"


@pytest.mark.parametrize(
    "options",
    [
        ["--method", "cosmo", "--epochs", "5"],
        ["--method", "order-search", "--format", "dot", "--format", "edges"],
        ["--method", "notears", "--top", "0"],
        ["--method", "empty-graph"],
    ],
    ids=lambda options: options[1],
)
def test_the_result_is_as_described(table, tmp_path, capsys, options):
    assert main(["fit", str(table), "-o", str(tmp_path / "out"), "--json", *options]) == 0
    result = json.loads(capsys.readouterr().out)
    assert faults(result, SCHEMA) == []
    assert set(SCHEMA["properties"]) <= set(result)
    assert len(result["arc_table"]) == result["arcs"]
    assert all(Path(path).is_file() for path in result["files"].values())
    written = json.loads((tmp_path / "out" / "run.json").read_text(encoding="utf-8"))
    assert {key: result[key] for key in written if key in result} == {
        key: written[key] for key in written if key in result
    }


def test_the_check_can_fail(table, tmp_path, capsys):
    main(["fit", str(table), "-o", str(tmp_path / "out"), "--json", "--method", "variance-sort"])
    result = json.loads(capsys.readouterr().out)
    assert faults({**result, "rows": "many"}, SCHEMA) == ["$.rows is a str, not ['integer']"]
    assert faults({**result, "stopped": "early"}, SCHEMA) == ["$.stopped is 'early'"]
    (arc,) = result["strongest"]
    assert faults({**result, "strongest": [{**arc, "class": "open"}]}, SCHEMA) == [
        "$.strongest[0].class is 'open'"
    ]
    del result["files"]["graph"], result["arcs"]
    assert faults(result, SCHEMA) == ["$ has no arcs", "$.files has no graph"]
