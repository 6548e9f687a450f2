"""Marks between thousands, lines to leave out, spellings of missing values, sheets."""

import numpy as np
import pandas as pd
import pytest

from cosmodag.cli import main
from cosmodag.data.kinds import with_kinds
from cosmodag.errors import DataError
from cosmodag.io import as_table, read_table
from cosmodag.io.tables import Table


def read(tmp_path, text, **options):
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    return read_table(tmp_path / "t.csv", **options)


def test_marks_between_thousands(tmp_path):
    text = 'a,b\n"51,257.30",1\n"1,250",2\n"7.5",3\n'
    with pytest.raises(DataError, match=r"thousands=',', --thousands ,"):
        read(tmp_path, text)
    assert read(tmp_path, text, thousands=",").X[:, 0].tolist() == [51257.3, 1250.0, 7.5]
    text = "a;b\n51.257,30;1\n1.250,00;2\n7,5;3\n"
    with pytest.raises(DataError, match=r"thousands='.' and decimal=',', --thousands . --decimal"):
        read(tmp_path, text, decimal=",")
    assert read(tmp_path, text, thousands=".").X[:, 0].tolist() == [51257.3, 1250.0, 7.5]
    with pytest.raises(DataError, match="cannot separate thousands and decimals"):
        read(tmp_path, text, thousands=",", decimal=",")
    with pytest.raises(DataError, match="write the number alone, without a currency"):
        read(tmp_path, "a,b\n$12,1\n$13,2\n$14,5\n")


def test_lines_of_units_and_titles(tmp_path):
    text = "a,b\nkg,m\n1,2\n3,4.5\n5,6\n"
    with pytest.raises(DataError, match=r"'kg' above numbers, .*--skip-rows 2"):
        read(tmp_path, text)
    assert read(tmp_path, text, skip_rows=[2]).X.tolist() == [[1, 2], [3, 4.5], [5, 6]]
    table = read(tmp_path, "My table\n" + text, skip_rows=[1, 3])
    assert (table.names, len(table.X)) == (["a", "b"], 3)


def test_spellings_of_missing_values(tmp_path):
    text = "a,b,c\n1,?,1\n2,3,-999\nmissing,5,3\nn/a,?,4\n9,8,-5\n"
    with pytest.raises(DataError, match=r"'a', 'b' of .* --na missing --na '\?'"):
        read(tmp_path, text)
    found = read(tmp_path, text, na=["?", "missing", "-999"], missing="keep").X
    nan = np.nan
    expected = [[1, nan, 1], [2, 3, nan], [nan, 5, 3], [nan, nan, 4], [9, 8, -5]]
    np.testing.assert_array_equal(found, expected)
    frame = pd.DataFrame({"a": [-999, 2, 1], "b": [1, 3, 0]})
    frame.to_parquet(tmp_path / "t.parquet")
    other = read_table(tmp_path / "t.parquet", na=["-999"], missing="keep")
    np.testing.assert_array_equal(other.X, [[nan, 1], [2, 3], [1, 0]])


def test_a_sheet_by_its_name(tmp_path):
    pytest.importorskip("openpyxl")
    path = tmp_path / "t.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"a": [1, 2], "b": [3, 4]}).to_excel(book, sheet_name="first", index=False)
        rows = {"c": ["kg", 5, 6], "d": ["m", 7, 8]}
        pd.DataFrame(rows).to_excel(book, sheet_name="second", index=False)
    assert read_table(path, sheet="second", skip_rows=[2]).X.tolist() == [[5, 7], [6, 8]]
    with pytest.raises(DataError, match="no sheet 'third'"):
        read_table(path, sheet="third")


def test_the_command_line_passes_them_on(tmp_path, capsys):
    text = "a,b\nkg,m\n" + "\n".join(f'"1,{100 + i}",{i * i % 7 + 0.5}' for i in range(30))
    (tmp_path / "t.csv").write_text(text + '\n"9,999",-999\n')
    options = ["--thousands", ",", "--skip-rows", "2", "--na", "-999"]
    assert main(["diagnose", str(tmp_path / "t.csv"), *options, "--json"]) == 0
    assert '"rows": 31' in (shown := capsys.readouterr().out)
    assert '"name": "missing_values"' in shown
    assert main(["diagnose", str(tmp_path / "t.csv"), *options]) == 0
    assert "1 error," in capsys.readouterr().out  # fit refuses a missing value


def test_digits_as_text_are_levels_if_there_are_few():
    ward = np.array(["1", "2", "3"])[np.arange(60) % 3]
    table = as_table(pd.DataFrame({"ward": ward, "x": np.arange(60.0)}))
    assert table.kinds[0].levels == ("1", "2", "3")
    with pytest.raises(DataError, match="numbers written as text"):
        as_table(pd.DataFrame({"price": [str(i) for i in range(60)], "x": np.arange(60.0)}))


@pytest.mark.parametrize("share", [0.2, 0.4, 0.6, 0.8])
def test_amounts_with_zeros_are_of_one_kind(share):
    random = np.random.default_rng(0)
    amounts = np.round(np.exp(random.normal(8, 1, 600))) * (random.random(600) > share)
    counts = random.poisson(3, 600) * (random.random(600) > share)
    kinds = with_kinds(Table(np.column_stack([amounts, counts]), ["amount", "visits"])).kinds
    assert kinds[0].kind == "continuous"
    assert kinds[1].kind in ("count", "ordinal")
