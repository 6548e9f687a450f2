"""Count mixed folders of writers at the same time, and damaged models that load wrongly.

    python benchmarks/reliability/files.py

Sixty processes write the files of sixty fits to one folder at the same time; afterwards, all files
must be of one fit. A saved model is then damaged 10,000 times: bytes changed, removed, inserted or
exchanged, and texts of its header replaced. Each must be refused, or predict the same.
"""

import multiprocessing
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from cosmodag import VarianceSort, load
from cosmodag.cli.fit_folder import facts_of, write_results
from cosmodag.errors import DataError
from cosmodag.io import as_table
from cosmodag.io.files.record import RUN, check_written, written_files

WRITERS, ROUNDS, DAMAGED = 60, 1, 10_000


def _table(seed: int) -> pd.DataFrame:
    return pd.DataFrame(np.random.default_rng(seed).normal(size=(60, 4)), columns=list("abcd"))


def _write(folder: Path, seed: int) -> None:
    table = _table(seed)
    model = VarianceSort(criterion="none", threshold=0.0, verbose=False).fit(table)
    write_results(folder, model, as_table(table), facts_of(model))


def mixed_folders(folder: Path) -> int:
    """Count the rounds after which files of several fits are in one folder."""
    found = 0
    for one in range(ROUNDS):
        with multiprocessing.get_context("fork").Pool(WRITERS) as pool:
            pool.starmap(_write, [(folder, one * WRITERS + seed) for seed in range(WRITERS)], 1)
        try:
            for name in written_files(folder).keys() - {RUN}:
                check_written(folder / name)
        except DataError:
            found += 1
    return found


def _damage(whole: bytes, random: np.random.Generator) -> bytes:
    content, size = bytearray(whole), len(whole)
    for _ in range(int(random.integers(1, 4))):
        place, other = random.integers(len(content), size=2).tolist()
        match int(random.integers(6)):
            case 0:
                content[place] ^= 1 << int(random.integers(8))
            case 1:
                content[place] = int(random.integers(256))
            case 2:
                del content[place : place + int(random.integers(1, 9))]
            case 3:
                content[place:place] = random.bytes(int(random.integers(1, 9)))
            case 4:
                content[place], content[other] = content[other], content[place]
            case _:
                digit = next((k for k in range(place, size) if content[k : k + 1].isdigit()), place)
                content[min(digit, len(content) - 1)] = ord(str(random.integers(10)))
    return bytes(content)


def damaged_models(folder: Path) -> tuple[int, int]:
    """Count the damaged models that load, and those of them that predict something else."""
    random, table, path = np.random.default_rng(0), _table(0), folder / "model.safetensors"
    model = VarianceSort(criterion="none", threshold=0.0, verbose=False).fit(table)
    model.save(path, residuals=True)
    whole, expected = path.read_bytes(), model.predict(table)
    loaded = wrong = 0
    for _ in range(DAMAGED):
        path.write_bytes(_damage(whole, random))
        try:
            again = load(path)
        except DataError:
            continue
        loaded += 1
        wrong += not again.predict(table).equals(expected)
    return loaded, wrong


def main() -> None:
    """Print the counts."""
    with tempfile.TemporaryDirectory() as name:
        loaded, wrong = damaged_models(Path(name))
        print(f"{DAMAGED:,} damaged models: {loaded} loaded, {wrong} with other predictions")
    with tempfile.TemporaryDirectory() as name:
        mixed = mixed_folders(Path(name))
        print(f"{ROUNDS} rounds of {WRITERS} writers: {mixed} folders with files of several fits")


if __name__ == "__main__":
    main()
