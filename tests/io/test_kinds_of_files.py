"""Every common kind of file or object is read, or the error names a remedy."""

import gzip
import sys
import types

import numpy as np
import pandas as pd
import pytest
import xarray

from cosmodag.errors import DataError, DataWarning
from cosmodag.io import as_table, read_table

FRAME = pd.DataFrame({"dose": [1.5, 2.5, 4.0], "größe": [0.25, -1.0, 3.0]})
NAMES = list(FRAME.columns)


def written(path, frame=FRAME):
    """Write the table in the format of the file's extension."""
    end = "".join(path.suffixes)
    if end in (".csv", ".txt", ".tsv"):
        frame.to_csv(path, index=False, sep="\t" if end == ".tsv" else ",")
    elif end == ".csv.gz":
        path.write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
    elif end == ".xlsx":
        frame.to_excel(path, index=False)
    else:
        getattr(frame, f"to_{end[1:]}")(path)
    return path


@pytest.mark.parametrize("end", ["csv", "csv.gz", "tsv", "txt", "parquet", "feather", "xlsx"])
def test_every_extension_gives_the_same_table(tmp_path, end):
    table = read_table(written(tmp_path / f"t.{end}"))
    assert table.names == NAMES
    np.testing.assert_array_equal(table.X, FRAME)


class LikeAnnData:
    """The part of AnnData that is used; anndata itself does not allow recent pandas."""

    var_names = NAMES

    def to_df(self):
        return FRAME


def test_anndata_files_and_objects(tmp_path, monkeypatch):
    reader = types.SimpleNamespace(read_h5ad=lambda path: LikeAnnData())
    monkeypatch.setitem(sys.modules, "anndata", reader)
    (tmp_path / "t.h5ad").write_bytes(b"content")
    for table in (read_table(tmp_path / "t.h5ad"), as_table(LikeAnnData())):
        assert table.names == NAMES
        np.testing.assert_array_equal(table.X, FRAME)


@pytest.mark.parametrize(("end", "package"), [("xlsx", "openpyxl"), ("h5ad", "anndata")])
def test_a_format_whose_package_is_absent_names_the_extra(tmp_path, monkeypatch, end, package):
    monkeypatch.setitem(sys.modules, package, None)
    (tmp_path / f"t.{end}").write_bytes(b"PK\x03\x04 anything")
    extra = "excel" if end == "xlsx" else "anndata"
    with pytest.raises(DataError, match=rf"needs {package} \(pip install 'cosmodag\[{extra}\]'\)"):
        read_table(tmp_path / f"t.{end}")


@pytest.mark.parametrize("end", ["xlsx", "h5ad", "feather"])
def test_a_damaged_file_is_refused_in_one_sentence(tmp_path, end):
    (tmp_path / f"t.{end}").write_bytes(b"[[[damaged")
    with pytest.raises(DataError, match=r"^'.*' (is not a readable|needs) [^\n]*\.$"):
        read_table(tmp_path / f"t.{end}")


def test_the_first_of_several_sheets_is_read_and_named(tmp_path):
    with pd.ExcelWriter(tmp_path / "t.xlsx") as book:
        FRAME.to_excel(book, sheet_name="trial", index=True)
        FRAME.to_excel(book, sheet_name="notes", index=False)
    with pytest.warns(DataWarning) as caught:
        table = read_table(tmp_path / "t.xlsx")
    assert table.names == NAMES
    sentences = " ".join(str(one.message) for one in caught)
    assert "2 sheets, and the first, 'trial'" in sentences
    assert "counts or names the rows" in sentences


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "cp1252"])
def test_encodings_of_spreadsheets(tmp_path, encoding):
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    (tmp_path / "t.csv").write_bytes(mark + FRAME.to_csv(index=False).encode(encoding))
    if encoding == "cp1252":
        with pytest.warns(DataWarning, match="read as Windows-1252"):
            table = read_table(tmp_path / "t.csv")
    else:
        table = read_table(tmp_path / "t.csv")
    assert table.names == NAMES
    np.testing.assert_array_equal(table.X, FRAME)


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_decimal_commas_are_recognised_and_said(tmp_path, separator):
    FRAME.to_csv(tmp_path / "t.csv", index=False, sep=separator, decimal=",")
    with pytest.warns(DataWarning, match="decimals with a comma, for example in column 'dose'"):
        table = read_table(tmp_path / "t.csv")
    np.testing.assert_array_equal(table.X, FRAME)
    np.testing.assert_array_equal(read_table(tmp_path / "t.csv", decimal=",").X, FRAME)
    with pytest.raises(DataError, match="write decimals with a point"):
        read_table(tmp_path / "t.csv", decimal=".")


def test_quoted_decimal_commas_are_read_on_request(tmp_path):
    (tmp_path / "t.csv").write_text('a,b\n"1,5",2\n"3,25",4\n')
    table = read_table(tmp_path / "t.csv", decimal=",")
    np.testing.assert_array_equal(table.X, [[1.5, 2], [3.25, 4]])


def test_fields_separated_by_spaces(tmp_path):
    (tmp_path / "t.txt").write_text("  a    b\n 1.5  2\n-3    4e1  \n")
    table = read_table(tmp_path / "t.txt")
    assert table.names == ["a", "b"]
    np.testing.assert_array_equal(table.X, [[1.5, 2], [-3, 40]])
    (tmp_path / "t.txt").write_text("a b\n1 2\n3 4 5\n")
    with pytest.raises(DataError, match=r"line 3 of .* has 3 field"):
        read_table(tmp_path / "t.txt")


@pytest.mark.parametrize("rows", [["0", "1", "2"], ["1", "2", "3"], ["Jo", "Al", "Li"]])
def test_an_index_without_a_name_is_left_out(tmp_path, rows):
    FRAME.set_axis(rows).to_csv(tmp_path / "t.csv")
    with pytest.warns(DataWarning, match=rf"\({rows[0]}, {rows[1]}, …\): it was left out"):
        table = read_table(tmp_path / "t.csv")
    assert table.names == NAMES


def test_genes_by_samples(tmp_path):
    turned = FRAME.T
    turned.columns = ["s1", "s2", "s3"]
    turned.to_csv(tmp_path / "t.csv", index_label="gene")
    turned.reset_index(names="gene").to_parquet(tmp_path / "t.parquet")
    for name in ("t.csv", "t.parquet"):
        table = read_table(tmp_path / name, transpose=True)
        assert table.names == NAMES
        np.testing.assert_array_equal(table.X, FRAME)
    turned.to_csv(tmp_path / "t.csv", header=False, index=False)
    table = read_table(tmp_path / "t.csv", header=False, transpose=True)
    assert table.names == ["x0", "x1"]
    np.testing.assert_array_equal(table.X, FRAME)


def test_all_bad_columns_are_named_with_one_command(tmp_path):
    (tmp_path / "t.csv").write_text(
        "id,day,a,b,note,empty\n"
        + "".join(f"p{i},2020-01-0{i + 1},{i},{i % 3},{'xy'[i % 2]},\n" for i in range(8))
    )
    with pytest.raises(DataError) as caught:
        read_table(tmp_path / "t.csv")
    text = str(caught.value)
    assert "3 columns" in text
    assert "'id' (text that differs in most rows, such as 'p0')" in text
    assert "'day' (dates such as '2020-01-01')" in text
    assert "'empty' (no values)" in text
    assert "(--drop id,day,empty)" in text
    table = read_table(tmp_path / "t.csv", drop=["id,day,empty"])
    assert table.names == ["a", "b", "note"]
    assert table.kinds[2].levels == ("x", "y")


def test_all_bad_columns_of_a_data_frame_are_named():
    frame = pd.DataFrame({"a": [1.0, 2.0], "sex": ["f", "m"], "day": pd.to_datetime(["2020"] * 2)})
    with pytest.raises(DataError, match=r"2 columns .*'sex' .*'f'.*'day' .*2020"):
        as_table(frame)


def test_objects_of_xarray():
    objects = [
        xarray.DataArray(FRAME.to_numpy(), dims=("row", "gene"), coords={"gene": NAMES}),
        xarray.Dataset({name: ("row", FRAME[name]) for name in NAMES}),
    ]
    for thing in objects:
        table = as_table(thing)
        assert table.names == NAMES
        np.testing.assert_allclose(table.X, FRAME)
    assert as_table(xarray.DataArray(FRAME.to_numpy())).names == ["x0", "x1"]
    with pytest.raises(DataError, match="DataArray of 3"):
        as_table(xarray.DataArray(np.zeros((2, 2, 2))))
    with pytest.raises(DataError, match="Dataset of 2 dimensions"):
        as_table(xarray.Dataset({"a": (("r", "c"), np.zeros((2, 2)))}))


def test_names_of_transposed_rows_are_words_and_never_missing(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("gene,s1,s2\nNA,1,2\ntp53,3,4\n")
    assert read_table(path, transpose=True).names == ["NA", "tp53"]
    path.write_text("gene,s1,s2\ntp53,1,2\n,3,4\n")
    with pytest.raises(DataError, match=r"column 2 of .* has no name"):
        read_table(path, transpose=True)


def test_a_name_that_ends_in_a_quotation_mark_can_be_selected(tmp_path):
    FRAME.set_axis(['pipe 2"', "flow"], axis=1).to_csv(tmp_path / "t.csv", index=False)
    table = read_table(tmp_path / "t.csv", columns=['pipe 2"', "flow"])
    assert table.names == ['pipe 2"', "flow"]


def test_numbers_in_the_column_of_names_of_a_transposed_table_are_reported(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("gene,s1,s2\n7157,1,2\n672,3,4\n")
    with pytest.warns(DataWarning, match=r"first column of .* holds numbers, so it was read as a"):
        assert read_table(path, transpose=True).names == ["x0", "x1"]
    path.write_text("7157,1.5,2\n672,3.5,4\n")
    with pytest.warns(DataWarning, match=r"first column of .* holds numbers, so it was read as a"):
        assert read_table(path, transpose=True, header=False).names == ["x0", "x1"]
