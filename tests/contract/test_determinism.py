"""The same seed, machine and versions give the same bits; global generators stay unchanged.

The package only guarantees bit-identical results for one shape of program on one machine. Other
tests check that results on other devices and for other batch sizes agree up to rounding.
"""

import ast
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from determinism_work import WORK, done

import cosmodag
from cosmodag import OrderSearch, VarianceSort, simulate
from cosmodag.search import Moments, choose_parents, local, search
from cosmodag.search.column_score import ColumnScore
from cosmodag.search.search_run import Run
from learner_catalogue import CATALOGUE, marks_of

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "cosmodag"
every_piece = pytest.mark.parametrize(
    "name", [*(pytest.param(name, marks=marks_of(name)) for name in CATALOGUE), *WORK]
)


def global_state() -> tuple[Any, ...]:
    """Global state that a library must not change: two generators, NumPy errors, a JAX flag."""
    numpys = np.random.get_state(legacy=False)  # noqa: NPY002
    words = numpys["state"]["key"].tobytes(), numpys["state"]["pos"], numpys["gauss"]
    return random.getstate(), words, np.geterr(), jax.config.jax_enable_x64


@every_piece
def test_twice_the_same_bits_and_global_generators_neither_read_nor_moved(name: str) -> None:
    before = global_state()
    first = done(name)
    assert global_state() == before
    # Fits of other shapes come in between, and the global generators change their states.
    OrderSearch(random_state=1, verbose=False).fit(simulate.load("n50_d4_ER1_exp", seed=1).X)
    random.random()
    np.random.random()  # noqa: NPY002
    assert done(name) == first


def test_another_process_gives_the_same_bits() -> None:
    names = [
        "Cosmo-unrefined", "OrderSearch", "Notears", "VarianceSort",
        "non-Gaussian search", "imputation", "simulators",
    ]  # fmt: skip
    # The subprocess imports the same package and shares its compiled programs.
    package = str(Path(cosmodag.__file__).parents[1])
    places = [package, str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")]
    asked = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("determinism_work.py")), *names],
        # Another hash seed changes the order of sets of strings.
        env=os.environ | {"PYTHONHASHSEED": "12345", "PYTHONPATH": os.pathsep.join(places)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert asked.returncode == 0, asked.stderr
    theirs = json.loads(asked.stdout)
    assert theirs == {name: done(name) for name in names}


def test_another_seed_gives_other_bits() -> None:
    """Otherwise, the tests above could not fail."""
    table = simulate.load("n50_d6_ER2_exp", seed=0).X
    one, other = (
        VarianceSort().fit(table).sample(5, random_state=seed) for seed in (0, 1)
    )  # fmt: skip
    assert not np.array_equal(one, other)
    assert len({done(name) for name in ("Cosmo", "Cosmo-unrefined", "OrderSearch")}) == 3


@pytest.mark.parametrize("threads", [2, 5])
def test_pruning_and_order_search_do_not_depend_on_the_number_of_threads(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = simulate.load("n200_d260_ER1_gauss", seed=0)
    moments, order = Moments.of(data.X), np.random.default_rng(0).permutation(260)
    one, many = (choose_parents(moments, order, threads=count) for count in (1, threads))
    assert one.matrix().data.tobytes() == many.matrix().data.tobytes()
    assert one.matrix().indices.tobytes() == many.matrix().indices.tobytes()
    small, random = Moments.of(data.X[:, :40]), np.random.default_rng
    for batched_from in (1000, 0):
        monkeypatch.setattr(local, "BATCHED_FROM", batched_from)
        found = [
            search(ColumnScore.of(small), np.arange(40), Run(random(0), restarts=6, threads=count))
            for count in (1, threads)
        ]
        assert found[0].order.tobytes() == found[1].order.tobytes()
        assert found[0].graph.matrix().data.tobytes() == found[1].graph.matrix().data.tobytes()


COMPILING = {"compiled", "inlined", "part", "njit", "jit", "vectorize", "guvectorize"}


def drawing_inside_compiled_code(tree: ast.AST) -> list[int]:
    """Lines on which a function for Numba uses a module of random numbers."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef):
            continue
        marks = {
            part.attr if isinstance(part, ast.Attribute) else getattr(part, "id", "")
            for mark in node.decorator_list
            for part in ast.walk(mark)
        }
        if marks & COMPILING and "jax" not in marks:
            found += [
                part.lineno
                for part in ast.walk(node)
                if isinstance(part, ast.Attribute)
                and part.attr == "random"
                and isinstance(part.value, ast.Name)
                and part.value.id in ("np", "numpy")
            ]
    return found


def test_compiled_code_draws_nothing() -> None:
    """Numba has its own generator in each thread, which the seeds of callers do not affect."""
    compiled = 0
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        compiled += "cosmodag.runtime.compiled import" in text
        assert drawing_inside_compiled_code(ast.parse(text)) == [], path
    assert compiled > 10
    bad = "@compiled\ndef f():\n    np.random.seed(0)\n    return np.random.rand()\n"
    assert drawing_inside_compiled_code(ast.parse(bad)) == [3, 4]
