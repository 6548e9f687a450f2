"""Tables from files: what is read, and errors of one sentence that name the culprit."""

import csv
import gzip
import io
import os
import sys
import threading
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cosmodag.errors import DataError, DataWarning
from cosmodag.io import read_table
from cosmodag.io.tables.read_table import read_with_columns
from cosmodag.io.tables.text_records import find_separator, records_of


@pytest.fixture
def written(tmp_path):
    def write(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize(
    "content",
    [
        "a,b\n1,2\n3,4\n",
        "\ufeffa,b\r\n1,2\r\n3,4\r\n",
        "a;b\n1;2\n3;4\n",
        "a\tb\n1\t2\n3\t4\n",
        "a|b\n1|2\n3|4",
        "a, b\n1, 2\n\n3, 4\n\n",
        '"a","b"\n"1","2"\n"3","4"\n',
    ],
)
def test_dialects_of_csv_that_mean_the_same(written, content):
    table = read_table(written(content))
    assert table.names == ["a", "b"]
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])
    assert table.X.dtype == np.float64


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ('"a\nb",c', ["a\nb", "c"]),
        ('"a,b","say ""hi"""', ["a,b", 'say "hi"']),
        ("température °C,変数", ["température °C", "変数"]),
        ('"a;b",c', ["a;b", "c"]),
        ("0,1,2", ["0", "1", "2"]),
    ],
)
def test_names_are_kept(written, header, names):
    rows = "\n".join(",".join(["1.5"] * len(names)) for _ in range(2))
    assert read_table(written(f"{header}\n{rows}\n")).names == names


def test_booleans_are_zero_and_one(written):
    table = read_table(written("a,b\nTrue,1\nFalse,2\n"))
    np.testing.assert_array_equal(table.X, [[1, 1], [0, 2]])


def test_no_header(written):
    table = read_table(written("1,2.5\n3,4\n"), header=False)
    assert table.names == ["x0", "x1"]
    np.testing.assert_array_equal(table.X, [[1, 2.5], [3, 4]])


def test_tsv_and_parquet(tmp_path):
    frame = pd.DataFrame({"a": [1, 2], "b": [0.5, -1.0]})
    frame.to_csv(tmp_path / "t.tsv", sep="\t", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    for suffix in ("tsv", "parquet"):
        table = read_table(tmp_path / f"t.{suffix}")
        assert table.names == ["a", "b"]
        np.testing.assert_array_equal(table.X, frame.to_numpy())


BAD = {
    "folder": (None, "folder", "is a folder"),
    "missing file": (None, "none.csv", "none.csv' does not exist"),
    "missing file without an extension": (None, "none", "none' does not exist"),
    "suffix": ("a,b\n1,2\n", "data.xls", ".csv, .tsv, .txt, .xlsx, .* or save it as CSV"),
    "empty": ("", "data.csv", "data.csv' is empty"),
    "blank": ("\n \n", "data.csv", "data.csv' is empty"),
    "header only": ("a,b\n", "data.csv", "2 column.* and no rows"),
    "one row": ("a,b\n1,2\n", "data.csv", "has one row"),
    "one column": ("a\n1\n2\n", "data.csv", "has one column"),
    "short row": ("a,b\n1,2\n3\n", "data.csv", "line 3 of .* has 1 field.* 2 are expected"),
    "long row": ("a,b\n1,2\n3,4,5\n", "data.csv", "line 3 of .* has 3 field"),
    "long rows": ("a,b\n1,2,3\n3,4,5\n", "data.csv", "line 2 of .* has 3 field"),
    "long header": ("a,b,c\n1,2\n3,4\n", "data.csv", "line 2 of .* has 2 field"),
    "ragged after a quoted line end": (
        '"a\nb",c\n1,2\n3\n', "data.csv", "line 4 of .* has 1 field"),
    "open quote": ('a,b\n1,2\n"3,4\n', "data.csv", "line 3 of"),
    "lone quote in the header": ('"a,b\n' + "1,2\n" * 40_000, "data.csv", "never closed"),
    "text": ("a,b\n1,2\nlow,3\n", "data.csv", "column 'a' .*'low'.*--categorical a"),
    "date": ("a,b\n2020-01-02,2\n2020-01-03,3\n", "data.csv", "column 'a' .*'2020-01-02'"),
    "yes and no": ("a,b\nTrue,2\nno,3\n", "data.csv", "column 'a' .*'no'"),
    "decimal comma": ('a,b\n"1,5",2\n3,4\n', "data.csv", "column 'a' .*'1,5'.*point"),
    "commas and points": (
        "a;b\n1,5;2.5\n3;4\n", "data.csv", "commas in column 'a' and decimal points in column 'b'"),
    "missing value": ("a,b\n1,\n3,4\n", "data.csv", "missing .* in 'b'.*missing='drop'"),
    "NA": ("a,b\nNA,1\n3,4\n", "data.csv", "missing .* in 'a'"),
    "infinite": ("a,b\ninf,1\n1,-inf\n", "data.csv", "infinite values in 'a', 'b'"),
    "same name": ("a,b,a\n1,2,3\n4,5,6\n", "data.csv", "more than one column named 'a'"),
    "no name": (",a,b\n7,1,2\n1,3,4\n", "data.csv", "column 1 .* no name.*index=False"),
    "no header": ("1,2.5\n3,4\n5,6\n", "data.csv", "--no-header"),
    "bytes": (b"a,\x81\n1,2\n3,4\n", "data.csv", "not UTF-8 text"),
    "control characters": (b"a,\xe9\x00\n1,2\n3,4\n", "data.csv", "not UTF-8 text"),
    "not Parquet": ("junk", "data.parquet", "not a readable Parquet file"),
    "NumPy": ("junk", "data.npy", "no supported extension"),
    "JSON records": ('[{"a": 1}]', "data.json", "no supported extension"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_files(tmp_path, written, case):
    content, name, message = BAD[case]
    (tmp_path / "folder").mkdir()
    path = tmp_path / name if content is None else written(content, name)
    with pytest.raises(DataError, match=message) as caught:
        read_table(path)
    text = str(caught.value)
    assert text.endswith(".")
    assert "\n" not in text
    assert name in text


def test_ctrl_c_while_a_table_is_read_is_no_broken_file(written, monkeypatch):
    """Pandas drops exceptions without a value, such as an interrupt during a read."""

    def interrupted(*_, **__):
        raise pd.errors.ParserError(
            "Error tokenizing data. C error: Calling read(nbytes) on source failed."
        )

    path = written("a,b\n1,2\n3,4\n")
    monkeypatch.setattr(pd, "read_csv", interrupted)
    with pytest.raises(KeyboardInterrupt):
        read_table(path)


def test_a_lone_quote_is_given_up_on_before_the_file_ends():
    """The search for the closing quote ends at the maximum length of a field."""

    def lines():
        yield '"a,b\n'
        for _ in range(100_000):
            yield "1,2,3,4\n"
        pytest.fail("the whole file was read")

    with pytest.raises(csv.Error, match="never closed"):
        list(records_of(lines()))


@pytest.mark.parametrize(
    ("text", "records"),
    [
        ('a,"b\nc"\n\n1,2\n', ['a,"b\nc"\n', "1,2\n"]),
        ('"a\n","b\n"\n1,2', ['"a\n","b\n"\n', "1,2"]),
        ('"a""\nb"\n', ['"a""\nb"\n']),
        (" \n", []),
        ('"open\n', ['"open\n']),
    ],
)
def test_records_end_where_quotes_are_closed(text, records):
    assert list(records_of(text.splitlines(keepends=True))) == records


def test_wide_names_with_line_ends_are_no_open_quote():
    record = ",".join(f'"n{index}\n"' for index in range(50_000)) + "\n"
    assert list(records_of(record.splitlines(keepends=True))) == [record]


def test_a_header_read_as_data(written):
    with pytest.raises(DataError, match=r"'a'.*leave out --no-header"):
        read_table(written("a,b\n1,2\n3,4\n"), header=False)


def test_dropping_rows_says_how_many(written):
    path = written("a,b\n1,\n3,4\n5,6\n,7\n")
    with pytest.warns(DataWarning, match="2 of 4 rows .* in 'a', 'b'") as caught:
        table = read_table(path, missing="drop")
    np.testing.assert_array_equal(table.X, [[3, 4], [5, 6]])
    assert len(caught) == 1


def test_dropping_nearly_everything_is_refused(written):
    with pytest.raises(DataError, match="only 1 row"):
        read_table(written("a,b\n1,\n3,4\n"), missing="drop")


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
def test_any_file_is_read_or_refused_but_never_breaks(tmp_path, suffix, header):
    path = tmp_path / f"any.{suffix}"
    frame = pd.DataFrame({"a": [1.5, 2.5, 4.0], "b": [3.0, 1.0, 2.0]})
    if suffix == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, header=header, sep="," if suffix == "csv" else "\t")
    whole, reads = path.read_bytes(), []
    last = st.integers(-min(len(whole), 24), -1)  # cuts the values, and the metadata of Parquet

    @settings(max_examples=200, deadline=None)
    @given(
        content=st.one_of(
            st.text(st.sampled_from('ab1.5e-,;\t|"\n\r \0é#'), max_size=40).map(str.encode),
            st.binary(max_size=40),
            last.flatmap(lambda at: st.binary(max_size=2).map(lambda new: whole[:at] + new)),
            st.binary(max_size=2).map(lambda end: whole + end),
            st.just(whole),
        )
    )
    def any_file(content):
        path.write_bytes(content)
        try:
            table = read_table(path, header=header)
        except DataError:
            return
        reads.append(table)
        assert np.isfinite(table.X).all()
        assert table.X.shape[1] == len(set(table.names)) >= 2

    any_file()
    assert 0 < len(reads) < 150


def test_a_compressed_csv_is_read(written):
    content = gzip.compress(b"\xef\xbb\xbfa;b\n1;2\n3;4\n", mtime=0)
    for name in ("data.csv.gz", "DATA.CSV.GZ"):
        table = read_table(written(content, name))
        assert table.names == ["a", "b"]
        np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])
    tabs = gzip.compress(b"a\tb\n1\t2\n3\t4\n", mtime=0)
    assert read_table(written(tabs, "data.tsv.gz")).names == ["a", "b"]
    for broken in (content[:-9], b"a,b\n1,2\n", content[:12] + b"\0\0\0\0" + content[16:]):
        with pytest.raises(DataError, match="not a complete gzip file"):
            read_table(written(broken, "data.csv.gz"))


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet"])
def test_standard_input_is_told_by_its_first_bytes(written, monkeypatch, kind):
    frame = pd.DataFrame({"x0": [1.0, 3.0], "x1": [2.0, 4.0]})
    content = io.BytesIO()
    if kind == "parquet":
        frame.to_parquet(content)
    else:
        text = frame.to_csv(index=False).encode()
        content.write(gzip.compress(text) if kind == "csv.gz" else text)
    content.seek(0)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(content))
    table = read_table("-")
    assert table.names == ["x0", "x1"]
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4]])


def test_messages_call_standard_input_so(monkeypatch):
    for content, words in ((b"", "is empty"), (b"a,b\n1,x\n2,3\n", "'b'"), (b"a\x81,b", "UTF-8")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        with pytest.raises(DataError, match="standard input") as caught:
            read_table("-")
        assert words in str(caught.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no pipes in folders")
def test_a_pipe_is_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(
        target=(tmp_path / "pipe").write_text, args=("a,b\n1,2\n3,4\n",), daemon=True
    )
    writer.start()
    assert read_table(tmp_path / "pipe").names == ["a", "b"]
    writer.join(5)


MIXED = 'id,dose_a,dose_b,when,"level, mg"\nJo,1,2,May,5\nAl,3,4,June,6\n'


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ({"drop": ["id", "when"]}, ["dose_a", "dose_b", "level, mg"]),
        ({"drop": ["id,when"]}, ["dose_a", "dose_b", "level, mg"]),
        ({"drop": ["id, when", "dose_?"], "columns": ["*"]}, ["level, mg"]),
        ({"columns": ["level, mg", "dose_a"]}, ["dose_a", "level, mg"]),
        ({"columns": ['dose_a,"level, mg"']}, ["dose_a", "level, mg"]),
        ({"columns": ["level, mg,dose_a,"]}, ["dose_a", "level, mg"]),
        ({"columns": ["dose_*"]}, ["dose_a", "dose_b"]),
    ],
)
def test_columns_are_chosen_by_name_before_their_values_are_looked_at(written, asked, names):
    if len(names) == 1:
        with pytest.raises(DataError, match="one column"):
            read_table(written(MIXED), **asked)
        return
    table = read_table(written(MIXED), **asked)
    assert table.names == names
    expected = {"dose_a": [1, 3], "dose_b": [2, 4], "level, mg": [5, 6]}
    np.testing.assert_array_equal(table.X.T, [expected[name] for name in names])


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"drop": ["Dose_A1"]}, "no column 'Dose_A1': the nearest are 'dose_a', 'dose_b'"),
        ({"columns": ["dose_a,wen"]}, "no column 'wen': the nearest is 'when'"),
        ({"columns": ["zzz"]}, "no column 'zzz': it has 'id', 'dose_a'"),
        ({"drop": ["x*"]}, "no column 'x\\*'"),
        ({"drop": ["*"]}, "every column of .* is left out"),
        ({}, "'id' .*'Jo'.*'when' .*'May'.* leave them out \\(--drop id,when\\)"),
    ],
)
def test_a_column_that_is_not_there_is_named_with_its_nearest(written, asked, message):
    with pytest.raises(DataError, match=message):
        read_table(written(MIXED), **asked)


def test_columns_left_out_may_have_no_name_or_a_double_one(written):
    content = ",a,a,b,c\n0,1,2,3,4\n1,5,6,7,9\n"
    assert read_table(written(content), columns=["b", "c"]).names == ["b", "c"]
    with pytest.raises(DataError, match="more than one column named 'a'"):
        read_table(written(content), columns=["a", "b"])


def test_columns_are_chosen_in_a_binary_format(tmp_path):
    frame = pd.DataFrame({"x0": ["u", "v"], "x1": [1.0, 2.0], "x2": [4.0, 3.0]})
    frame.to_parquet(tmp_path / "data.parquet")
    table = read_table(tmp_path / "data.parquet", drop=["x0"])
    assert table.names == ["x1", "x2"]
    np.testing.assert_array_equal(table.X, [[1, 4], [2, 3]])


def test_a_separator_at_the_end_of_every_line_makes_no_column(written):
    assert read_table(written("a,b,\n1,2,\n3,4,\n")).names == ["a", "b"]
    with pytest.raises(DataError, match="column 3 of"):
        read_table(written("a,b,\n1,2,\n3,4,5\n"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b,c\n1,2,\n3,4,\n", "no values in 'c': leave empty columns out \\(--drop c\\)"),
        ('a,b\n"1,304.5",2\n3,4\n', "'1,304.5': name the mark between thousands"),
        ("a;b\n1'304.5;2\n3;4\n", "without thousands separators"),
        ('a,b\n"1,304",2\n3,4\n', "'1,304': if the comma separates thousands, say so"),
        ("a;b\n1.304.000;2\n3;4\n", "thousands='.'"),
        ("a;b\n1.304,5;2\n3;4\n", "--thousands . --decimal ,"),
        ("a,b\n12%,2\n3,4\n", "without a percent sign"),
        ("a,b\n-,2\n3,4\n", "'-', which may stand for missing values: leave such cells empty"),
        ("a,b\n n.a. ,2\n3,4\n", "leave such cells empty, .* --na n.a."),
        ("My table\na,b\n1,2\n", "line 2 .*remove titles and comments above the names"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0), r"is compressed by gzip: rename it to end in \.gz"),
        (b"PK\x03\x04" + bytes(range(256)), "Excel workbook: rename it to end in .xlsx"),
    ],
)
def test_the_remedy_fits_what_is_wrong(written, content, message):
    with pytest.raises(DataError, match=message) as caught:
        read_table(written(content))
    assert "\n" not in str(caught.value)


@pytest.mark.filterwarnings("ignore::cosmodag.errors.DataWarning")
@pytest.mark.parametrize(
    "content",
    ["9,5;2\n1,304;3", "987;2\n1,304;3", "9;2\n0.304;3", "987;2\n1.304;3"],
)
def test_three_decimals_are_decimals(written, content):
    content = f"a;b\n{content}\n"
    assert (read_table(written(content)).X[:, 0] % 1 != 0).any()


@pytest.mark.parametrize(
    ("entries", "found"),
    [
        ("u None None", ["u", None, None]),  # one way to write a missing value
        ("None None None", [None, None, None]),
        ("u None NA", ["u", "None", "NA"]),  # two ways: they mean different things
        ('u None ""', ["u", "None", None]),
        ("null u u", ["null", "u", "u"]),  # the name of a column
        ("1 NA 2", [1.0, None, 2.0]),
    ],
)
def test_words_for_missing_values_are_labels_if_they_differ(written, entries, found):
    rows = "".join(f"{n},{n % 2},{entry}\n" for n, entry in enumerate(entries.split()))
    table, apart = read_with_columns(written("a,null,set\n" + rows), ["set"])
    assert table.names == ["a", "null"]
    assert apart == {"set": found}


def test_none_as_a_level_is_warned_about(written):
    path = written("a,g,h\n1,None,x\n2,low,NA\n3,low,x\n4,None,y\n5,x,y\n6,x,y\n")
    with pytest.warns(DataWarning, match="the word 'None' in 'g' of .* was read as a missing"):
        assert np.isnan(read_table(path, missing="keep").X[:, 1]).sum() == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_table(path, missing="keep", drop=["g"])


def test_blank_text_is_missing_in_the_columns_kept_apart_too(tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2, 3, 4], "g": ["u", " ", "v", "u"], "set": list("wxyz")})
    frame.to_parquet(tmp_path / "data.parquet")
    with pytest.warns(DataWarning, match="1 of 4 rows"):
        table, apart = read_with_columns(tmp_path / "data.parquet", ["set"], missing="drop")
    assert len(table.X) == 3
    assert apart == {"set": ["w", "y", "z"]}


def test_columns_of_parquet_may_hold_decimals_but_not_lists(tmp_path):
    frame = pd.DataFrame({"a": [Decimal("1.5"), None, Decimal(2)], "b": [1, 2, 3]})
    frame.to_parquet(tmp_path / "data.parquet")
    np.testing.assert_array_equal(
        read_table(tmp_path / "data.parquet", missing="keep").X[:, 0], [1.5, np.nan, 2]
    )
    frame.assign(a=[[1, 2], [3], []]).to_parquet(tmp_path / "data.parquet")
    with pytest.raises(DataError, match=r"column 'a' of .* neither numbers nor levels"):
        read_table(tmp_path / "data.parquet")


def test_commas_between_semicolons_are_decimal_marks_or_parts_of_names():
    assert find_separator(["width, mm;height, mm", "1,5;2,5"]) == ";"
    assert find_separator(["width;height", "1,5;2,5"]) == ";"
    assert find_separator(["width,height", "1.5,2.5"]) == ","


@pytest.mark.parametrize(
    "content",
    [b"a;b\n1,5;2\n2,5;1\n", "größe,b\n1,2\n3,5\n".encode("cp1252"), b",a,b\n0,1,2\n1,3,5\n"],
)
def test_a_warning_names_the_line_that_reads_the_table(written, content):
    with pytest.warns(DataWarning) as warned:
        read_table(written(content))
    assert [one.filename for one in warned] == [__file__]
