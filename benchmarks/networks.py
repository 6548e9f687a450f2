"""Published Bayesian networks: graphs learnt from tables of text labels, beside other packages.

    pip install -r benchmarks/requirements-peers.txt
    python benchmarks/networks.py --output benchmarks/networks.md

The networks are those that pgmpy's wheel carries as BIF files. Each sample has its columns in a
random order and its levels as text. The error is the structural Hamming distance between the
equivalence classes of the true and the learnt graph; an arrowhead is a directed arc of a class.
`--export DIR` writes the samples to files and ends; `--tables DIR` reads them, without pgmpy.
`--networks`, `--rows`, `--samples` and `--learners` choose a part; rows in the CSV file are kept
with `--resume`, and a fit that takes longer than `--limit` seconds is left out.
"""

import argparse
import gzip
import multiprocessing
import time
import warnings
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosmodag.graph.equivalence import essential_graph
from environment import Kept, header, table, with_error

NETWORKS = ("asia", "sachs", "child", "insurance", "hailfinder", "win95pts")
ROWS = {"asia": 5000, "sachs": 5000, "child": 5000, "insurance": 5000}
LAST_ROWS = 10_000
"""Largest number of rows, for networks that are not in `ROWS`."""
TARGETS = {"child": 1, "insurance": 13, "hailfinder": 38, "win95pts": 38}
"""Largest class distance aimed at with the most rows."""
COLUMNS = ("network", "rows", "sample", "learner", "distance", "precision", "recall", "arcs", "cpu")
Codes = NDArray[np.uint8]
Bools = NDArray[np.bool_]


class Sample(NamedTuple):
    """Level numbers (n, d), and the true arcs (d, d)."""

    levels: Codes
    arcs: Bools


def drawn(network: str, rows: int, number: int) -> Sample:
    """Draw a sample of a network with its columns in a random order."""
    import networkx
    from pgmpy.readwrite import BIFReader

    packed = files("pgmpy") / "utils" / "example_models" / f"{network}.bif.gz"
    model = BIFReader(string=gzip.decompress(packed.read_bytes()).decode()).get_model()
    random = np.random.default_rng([number, rows])
    columns: dict[str, NDArray[np.int64]] = {}
    for name in networkx.topological_sort(model):
        shares = model.get_cpds(name)
        state = np.zeros(rows, np.int64)
        for parent, count in zip(shares.variables[1:], shares.cardinality[1:], strict=True):
            state = state * count + columns[parent]
        reached = np.cumsum(shares.get_values(), axis=0)
        reached /= reached[-1]
        columns[name] = (random.random(rows)[:, None] > reached.T[state][:, :-1]).sum(axis=1)
    names = random.permutation(list(columns)).tolist()
    arcs = np.zeros((len(names), len(names)), bool)
    for tail, head in model.edges():
        arcs[names.index(tail), names.index(head)] = True
    return Sample(np.column_stack([columns[name] for name in names]).astype(np.uint8), arcs)


def file_of(folder: Path, network: str, rows: int, number: int) -> Path:
    """Return the file of a sample."""
    return folder / f"{network}_{rows}_{number}.npz"


def sampled(folder: Path | None, network: str, rows: int, number: int) -> Sample:
    """Read a sample from a folder, or draw it."""
    if folder is None:
        return drawn(network, rows, number)
    with np.load(file_of(folder, network, rows, number)) as read:
        return Sample(read["levels"], read["arcs"])


def gates(rows: int, number: int, d: int = 20) -> Sample:
    """Draw binary columns, most of them xor, and, or of two earlier ones with 5 % noise."""
    random = np.random.default_rng([number, rows, d])
    levels, arcs = np.zeros((rows, d), np.uint8), np.zeros((d, d), bool)
    for v in range(d):
        levels[:, v] = random.random(rows) < random.uniform(0.4, 0.6)
        if v >= 4 and random.random() > 0.2:
            a, b = random.choice(v, 2, replace=False)
            x, y = levels[:, a], levels[:, b]
            gate = (x ^ y, x & y, x | y)[random.integers(3)]
            levels[:, v] = np.where(random.random(rows) < 0.05, 1 - gate, gate)
            arcs[[a, b], v] = True
    order = random.permutation(d)
    return Sample(levels[:, order], arcs[np.ix_(order, order)])


def labelled(levels: Codes) -> Any:
    """Write levels as text, in a pandas table."""
    import pandas as pd

    text = {f"v{k}": np.char.add("s", column.astype(str)) for k, column in enumerate(levels.T)}
    return pd.DataFrame(text)


def by_cosmodag(levels: Codes) -> Bools:
    """Fit `BlockSearch` with default settings; returns (d, d) arcs of a DAG."""
    from cosmodag import BlockSearch

    model = BlockSearch(random_state=0, verbose=False).fit(labelled(levels))
    return np.asarray(essential_graph(model.adjacency_ != 0))


def by_pgmpy(score: str) -> Callable[[Codes], Bools]:
    """Hill climbing over arcs by pgmpy."""

    def fit(levels: Codes) -> Bools:
        from pgmpy.estimators import HillClimbSearch

        data = labelled(levels)
        found = HillClimbSearch(data).estimate(scoring_method=score, show_progress=False)
        arcs = np.zeros((levels.shape[1],) * 2, bool)
        for tail, head in found.edges():
            arcs[data.columns.get_loc(tail), data.columns.get_loc(head)] = True
        return np.asarray(essential_graph(arcs))

    return fit


def marks(graph: Any) -> Bools:
    """Convert the class that causal-learn returns: [u, v] for u → v, both for an open edge."""
    ends = graph.graph  # [u, v] = -1 and [v, u] = 1 for u → v; -1 and -1 for an open edge
    return np.asarray(ends == -1)


def by_boss(levels: Codes) -> Bools:
    """BOSS with BDeu by causal-learn."""
    from causallearn.search.PermutationBased.BOSS import boss

    return marks(boss(levels.astype(np.int64), "local_score_BDeu", verbose=False))


def by_ges(levels: Codes) -> Bools:
    """GES with BDeu by causal-learn."""
    from causallearn.search.ScoreBased.GES import ges

    return marks(ges(levels.astype(np.int64), "local_score_BDeu")["G"])


def by_pc(levels: Codes) -> Bools:
    """PC with the χ² test at level .05 by causal-learn."""
    from causallearn.search.ConstraintBased.PC import pc

    found = pc(levels.astype(np.int64), 0.05, "chisq", verbose=False, show_progress=False)
    return marks(found.G)


LEARNERS: dict[str, Callable[[Codes], Bools]] = {
    "cosmodag": by_cosmodag,
    "pgmpy HC BDeu": by_pgmpy("bdeu"),
    "pgmpy HC BIC": by_pgmpy("bic-d"),
    "causal-learn BOSS": by_boss,
    "causal-learn GES": by_ges,
    "causal-learn PC": by_pc,
}


def _fit(name: str, levels: Codes, answer: Any) -> None:
    warnings.simplefilter("ignore")
    if name == "cosmodag":  # so that compiled programs are read before time is taken
        LEARNERS[name](gates(200, 0).levels)
    begin = time.process_time()
    found = LEARNERS[name](levels)
    answer.send((found, time.process_time() - begin))


def fitted(name: str, levels: Codes, limit: float) -> tuple[Bools, float] | None:
    """Fit in a process of its own: class and CPU seconds; None after the limit or a failure."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_fit, args=(name, levels, theirs))
    process.start()
    theirs.close()
    try:
        return ours.recv() if ours.poll(limit) else None
    except EOFError:
        return None
    finally:
        process.kill()
        process.join()


def compared(truth: Bools, found: Bools) -> tuple[int, float, float]:
    """Distance between classes, and precision and recall of their arrowheads."""
    true = np.asarray(essential_graph(truth))
    pairs = (true != found) | (true != found).T
    heads, hits = found & ~found.T, true & ~true.T
    both = int((heads & hits).sum())
    distance = int(np.triu(pairs).sum())
    return distance, both / max(int(heads.sum()), 1), both / max(int(hits.sum()), 1)


def permuted_section(pairs: int, rows: int) -> str:
    """Compare fits of a table with those of permuted columns, and with a column of chance."""
    cells: list[list[object]] = []
    for name in ("gates", *NETWORKS[:4]):
        same = other = 0
        for number in range(pairs):
            sample = gates(rows, number) if name == "gates" else drawn(name, rows, number)
            random = np.random.default_rng(number)
            d = sample.arcs.shape[0]
            order = random.permutation(d)
            more = np.column_stack([sample.levels, random.integers(0, 3, rows).astype(np.uint8)])
            first = by_cosmodag(sample.levels)
            second = by_cosmodag(np.ascontiguousarray(sample.levels[:, order]))
            third = by_cosmodag(more)
            same += bool((second == first[np.ix_(order, order)]).all())
            other += bool((third[:d, :d] == first).all() and not third[d].any())
        cells.append([name, rows, pairs, same, other])
        print(cells[-1], flush=True)
    columns = ["tables", "rows", "pairs", "same class, columns permuted"]
    return "\n## The order of columns, and a column of chance\n\n" + table(
        [*columns, "same class, with a column of three random levels"], cells
    )


def network_section(rows: list[dict[str, str]]) -> str:
    """Tabulate the means of all fits."""
    text = "\n## Networks\n\nMeans over samples (± standard error of the distance).\n\n"
    keys = sorted({(row["network"], int(row["rows"])) for row in rows}, key=_place)
    cells: list[list[object]] = []
    for network, n in keys:
        of_table = [r for r in rows if r["network"] == network and int(r["rows"]) == n]
        for learner in LEARNERS:
            mine = [row for row in of_table if row["learner"] == learner]
            done = [row for row in mine if row["distance"]]
            start: list[object] = [network, n, learner, f"{len(done)} of {len(mine)}"]
            if done:
                means = {k: np.mean([float(row[k]) for row in done]) for k in COLUMNS[5:]}
                distance = with_error([float(row["distance"]) for row in done], 1)
                rates = [f"{means['precision']:.2f}", f"{means['recall']:.2f}"]
                cells.append(
                    [*start, distance, *rates, f"{means['arcs']:.0f}", f"{means['cpu']:.1f}"]
                )
            elif mine:
                cells.append([*start, "–", "–", "–", "–", "–"])
    columns = ["network", "rows", "learner", "finished", "class distance"]
    return text + table([*columns, "arrowhead precision", "recall", "arcs", "CPU s"], cells)


def _place(key: tuple[str, int]) -> tuple[int, str, int]:
    return (NETWORKS.index(key[0]) if key[0] in NETWORKS else len(NETWORKS), *key)


def verdicts(rows: list[dict[str, str]]) -> str:
    """Compare with the targets, in a sentence each."""
    lines = []
    for network, target in TARGETS.items():
        n = ROWS.get(network, LAST_ROWS)
        mine = [
            float(row["distance"])
            for row in rows
            if (row["network"], row["rows"], row["learner"]) == (network, str(n), "cosmodag")
        ]
        if mine:
            word = "met" if np.mean(mine) <= target else "**missed**"
            lines.append(f"- {network}, {n:,} rows: {np.mean(mine):.1f}, at most {target}: {word}")
    return "\n" + "\n".join(lines) + "\n" if lines else ""


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", nargs="+", default=["gates", *NETWORKS])
    parser.add_argument("--rows", nargs="+", type=int, help="default: 500, 2,000 and the most")
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--learners", nargs="+", default=list(LEARNERS), choices=list(LEARNERS))
    parser.add_argument("--limit", type=float, default=120.0)
    parser.add_argument("--pairs", type=int, default=5, help="pairs of permuted tables; 0 for none")
    parser.add_argument("--export", type=Path)
    parser.add_argument("--tables", type=Path)
    parser.add_argument("--csv", type=Path, default=Path(__file__).with_name("networks.csv"))
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--output", type=Path)
    asked = parser.parse_args()
    kept = None if asked.export else Kept(asked.csv, COLUMNS, 4, asked.resume)
    for network in asked.networks:
        for n in asked.rows or (500, 2000, ROWS.get(network, LAST_ROWS)):
            for number in range(asked.samples):
                if network == "gates":
                    sample = gates(n, number)
                elif kept is None:
                    sample = drawn(network, n, number)
                    asked.export.mkdir(parents=True, exist_ok=True)
                    path = file_of(asked.export, network, n, number)
                    np.savez_compressed(path, levels=sample.levels, arcs=sample.arcs)
                    continue
                else:
                    sample = sampled(asked.tables, network, n, number)
                for learner in asked.learners if kept else ():
                    if kept.is_done(network, n, number, learner):
                        continue
                    found = fitted(learner, sample.levels, asked.limit)
                    values: tuple[object, ...] = ("", "", "", "", "")
                    if found is not None:
                        distance, *rates = compared(sample.arcs, found[0])
                        arcs = int(np.triu(found[0] | found[0].T).sum())
                        values = (distance, *(f"{r:.3f}" for r in rates), arcs, f"{found[1]:.2f}")
                    keys = (network, n, number, learner)
                    kept.add(**dict(zip(COLUMNS, keys + values, strict=True)))
    if kept is None:
        return
    packages = ("numba", "numpy", "pgmpy", "causal-learn")
    text = header("Published networks of categories", packages) + verdicts(kept.rows)
    text += network_section(kept.rows)
    if asked.pairs:
        text += permuted_section(asked.pairs, 1000)
    if asked.output:
        asked.output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
