"""Fourteen kinds of tables × diagnose, fit, report: each works, or the error names a remedy."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import xarray

from cosmodag import OrderSearch
from cosmodag.cli import main
from cosmodag.data.diagnose import diagnose
from cosmodag.errors import DataError
from learner_catalogue import chain_table

pytestmark = pytest.mark.filterwarnings("ignore::cosmodag.errors.CosmodagWarning")
TABLE = chain_table()
ARCS = {("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")}


def pairs(arcs) -> set[frozenset[str]]:
    return {frozenset(map(str, arc)) for arc in arcs}


def write_dates(path: Path) -> None:
    days = pd.date_range("2024-01-01", periods=len(TABLE)).strftime("%Y-%m-%d")
    TABLE.assign(day=days).to_csv(path, index=False)


FILES = {
    "csv": ("t.csv", lambda path: TABLE.to_csv(path, index=False)),
    "csv.gz": ("t.csv.gz", lambda path: TABLE.to_csv(path, index=False)),
    "tsv": ("t.tsv", lambda path: TABLE.to_csv(path, index=False, sep="\t")),
    "txt": ("t.txt", lambda path: path.write_text(TABLE.to_string(index=False))),
    "decimal commas": ("t.csv", lambda path: TABLE.to_csv(path, sep=";", decimal=",")),
    "utf-16": ("t.csv", lambda path: TABLE.to_csv(path, index=False, encoding="utf-16")),
    "xlsx": ("t.xlsx", lambda path: TABLE.to_excel(path, index=False)),
    "parquet": ("t.parquet", TABLE.to_parquet),
    "feather": ("t.feather", TABLE.to_feather),
}
OBJECTS = {
    "pandas": TABLE,
    "polars": pl.from_pandas(TABLE),
    "arrow": pa.Table.from_pandas(TABLE),
    "xarray": xarray.DataArray(
        TABLE.to_numpy(), dims=("row", "name"), coords={"name": list(TABLE)}
    ),
    "array": TABLE.to_numpy(),
}
REFUSED = {
    "dates": ("t.csv", write_dates, "--drop day"),
    "h5ad": ("t.h5ad", lambda path: path.write_bytes(b"no content"), "'t.h5ad'"),
    "another format": ("t.ods", lambda path: path.write_bytes(b"PK"), ".xlsx"),
}


def test_there_are_fourteen():
    assert len(FILES) + len(OBJECTS) == 14


@pytest.mark.parametrize("kind", FILES)
def test_files(kind, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    name, write = FILES[kind]
    write(Path(name))
    assert main(["diagnose", name]) == 0
    options = ["--method", "order-search", "--seed", "0", "--noise", "gaussian", "--json"]
    assert main(["fit", name, "-o", "out", "--quiet", *options]) == 0
    out = capsys.readouterr().out
    told = json.loads(out[out.index("\n{") :])
    assert told["variables"] == 5
    assert pairs((arc["cause"], arc["effect"]) for arc in told["arc_table"]) >= pairs(ARCS)
    assert main(["report", "out", "-o", "again.html"]) == 0
    assert Path("again.html").stat().st_size > 10_000


@pytest.mark.parametrize("kind", OBJECTS)
def test_objects(kind, tmp_path):
    thing = OBJECTS[kind]
    assert all(finding.sentence for finding in diagnose(thing))
    model = OrderSearch(random_state=0, noise="gaussian").fit(thing)
    names = dict(enumerate("abcde")) if kind == "array" else {name: name for name in "abcde"}
    found = [(names[u], names[v]) for u, v in model.graph_.edges]
    assert pairs(found) >= pairs(ARCS)
    model.report(tmp_path / "report.html", data=thing)
    assert (tmp_path / "report.html").stat().st_size > 10_000


@pytest.mark.parametrize("kind", REFUSED)
@pytest.mark.parametrize("command", ["diagnose", "fit"])
def test_what_cannot_be_read_is_one_sentence_with_the_remedy(
    kind, command, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    name, write, remedy = REFUSED[kind]
    write(Path(name))
    assert main([command, name]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("error: ")
    assert remedy in error


def test_what_no_table_is():
    with pytest.raises(DataError, match="table"):
        OrderSearch().fit(np.zeros(5))
