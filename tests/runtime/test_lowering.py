"""Plain loops compiled by the faster compilers give the same results as in Python."""

import gc
from typing import NamedTuple

import numba
import numpy as np
import pytest
from numba.core.errors import TypingError

from cosmodag.runtime.compiled import borrowing, part


class Pair(NamedTuple):
    """A named tuple, as passed to compiled functions."""

    table: np.ndarray
    line: np.ndarray


@part
def _row_total(row, factor):
    total = 0.0
    for j in range(len(row)):
        total += factor * row[j]
    return total


@borrowing
def _mix(pair, cube, places, marks, small):
    """Read and write entries, rows and tuple fields of several types."""
    table, line = pair.table, pair.line
    for i in range(table.shape[0]):
        row = table[i]
        row[0] += line[places[i]] ** 2
        for j in range(table.shape[1]):
            marks[i, j] = table[i, j] > 0.5
            table[i, j] -= cube[1, i][j] * cube[0, i, j] if marks[i, j] else -1.5
        line[places[i]] = _row_total(table[i], 2.0)
        small[i] = i // 2 - places[i] % 3
        small[0] += small[i]
    return line[0]


@borrowing
def _ends(line, table):
    for i in range(2):
        line[-2] += table[-1, 0] + table[i, -1]
    return line[-1]


@borrowing
def _entry(line, i):
    return line[i]


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    """Use an empty cache, so that every program is compiled."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))


def arguments(seed: int, is_strided: bool):
    random = np.random.default_rng(seed)
    table, line, cube = random.random((4, 6)), random.random(8), random.random((2, 4, 6))
    if is_strided:
        table, line, cube = table[:, ::2], line[::-1], np.asfortranarray(cube)[:, :, :3]
    places = random.permutation(4).astype(np.int32)
    return Pair(table, line), cube, places, np.zeros(table.shape, bool), np.zeros(4, np.int16)


@pytest.mark.parametrize("is_strided", [False, True])
def test_a_compiled_function_does_what_its_python_does(is_strided, monkeypatch):
    compiled, plain = arguments(0, is_strided), arguments(0, is_strided)
    found = _mix(*compiled)
    monkeypatch.setitem(_mix.py_func.__globals__, "_row_total", _row_total.py_func)
    assert found == pytest.approx(_mix.py_func(*plain), rel=1e-12)
    for one, other in zip((*compiled[0], *compiled[1:]), (*plain[0], *plain[1:]), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("place", [-1, 3])
def test_numbas_check_reveals_places_outside_of_an_array(place, monkeypatch):
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", 1)
    entry = borrowing(_entry.py_func)
    with pytest.raises(IndexError, match="out of bounds"):
        entry(np.arange(3.0), place)
    assert entry(np.arange(3.0), 2) == 2.0


@pytest.mark.parametrize("is_on", [False, True])
def test_garbage_is_collected_again_after_a_compilation(is_on):
    was_on = gc.isenabled()
    try:
        (gc.enable if is_on else gc.disable)()
        function = borrowing(_entry.py_func)
        function(np.arange(3), 1)
        assert gc.isenabled() == is_on
        with pytest.raises(TypingError):
            function(None, 1)
        assert gc.isenabled() == is_on
    finally:
        (gc.enable if was_on else gc.disable)()


def test_a_constant_place_is_counted_from_the_end():
    line, table = np.arange(4.0), np.arange(6.0).reshape(3, 2)
    assert _ends(line, table) == 3
    assert line.tolist() == [0, 1, 14, 3]
