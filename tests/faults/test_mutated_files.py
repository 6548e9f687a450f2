"""Files with changed, missing or repeated bytes are read or raise an error of the package.

``COSMODAG_MUTATIONS=2000`` tries 2,000 files of each kind; the gate tries a few.
``benchmarks/reliability/mutations.py`` does so in one process per kind and records the results.
"""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from mutations_of_files import KINDS, try_mutations, write_csv

from cosmodag.bench.protocol import read_experiment
from cosmodag.data.knowledge.files import read_knowledge
from cosmodag.errors import CosmodagError
from cosmodag.io import read_table
from learner_catalogue import chain_table

MUTATIONS = int(os.environ.get("COSMODAG_MUTATIONS", "40"))
# The files have a few kilobytes at most, so reading one should not take much memory.
MOST_BYTES = 64 * 2**20
# CPU seconds of this process, which do not depend on how busy the machine is.
LONGEST = 5.0


@pytest.mark.parametrize("kind", KINDS)
def test_read_or_refused(kind: str, tmp_path: Path) -> None:
    sentences: list[str] = []
    for tried in try_mutations(kind, tmp_path, MUTATIONS):
        if tried.sentence is not None:
            sentences.append(tried.sentence)
        assert tried.peak_bytes < MOST_BYTES
        assert tried.seconds < LONGEST
    assert len(sentences) > MUTATIONS / 10
    assert not any("\n" in sentence for sentence in sentences)


@pytest.mark.parametrize(
    "text",
    [
        "name =" + "[" * 2000,
        "name = " + "9" * 5000,
        'name = "a"\ngroup = [1]',
        'name = "a"\n[[group]]\ndata = [5]',
        'name = "a"\n[[group]]\ndata = ["n9_d5_ER1_gauss"]\nmethods = [["cosmo"]]',
        'name = "a"\n[[group]]\ndata = ["n9_d5_ER1_gauss"]\nparameters = {cosmo = 5}',
        'name = "a"\n[[group]]\ndata = ["' + "{1,2,3,4,5,6,7,8,9}" * 12 + '"]',
    ],
)
def test_an_experiment_nobody_meant(text: str) -> None:
    with pytest.raises(CosmodagError, match=r"mine\.toml"):
        read_experiment(text, "mine.toml")


def test_aliases_that_multiply(tmp_path: Path) -> None:
    layers = ["x0: &x0 [a, a, a, a, a, a, a, a, a, a]"]
    layers += [f"x{k}: &x{k} [{', '.join([f'*x{k - 1}'] * 10)}]" for k in range(1, 12)]
    path = tmp_path / "k.yaml"
    for part in ("tiers", "exogenous", "required_edges", "search_space", "x12"):
        path.write_text("\n".join([*layers, f"{part}: *x11"]))
        with pytest.raises(CosmodagError, match=r"k\.yaml"):
            read_knowledge(path)


def test_a_table_is_what_it_was(tmp_path: Path) -> None:
    write_csv(tmp_path / "t.csv")
    assert isinstance(pd.read_csv(tmp_path / "t.csv"), pd.DataFrame)
    assert np.allclose(read_table(tmp_path / "t.csv").X, chain_table(20).to_numpy())
