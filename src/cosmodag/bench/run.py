"""Runs of an experiment: an engine computes the cells that are not in the store."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from cosmodag.bench.bench_plan import TIMING, CellBatch, CellPlan, batch_key
from cosmodag.bench.protocol import METHODS, Experiment
from cosmodag.bench.store import Row, Store
from cosmodag.runtime.engines import Failure, each


@dataclass(frozen=True)
class Resources:
    """The engine, processes and device that run an experiment.

    On one machine, batches of problems are solved in this process, with all cores or the GPU.
    Single fits run in other processes with one thread each, if there are several cores. Timed fits
    run in processes with one thread each, while most cores are idle. The engine, its address,
    `jobs` and `gpus` are those of `cosmodag.runtime.engines.each`.
    """

    engine: str = "local"
    address: str | None = None
    jobs: int | None = None  # number of processes for everything except timing
    gpus: float = 0.0
    device: str = "auto"  # where problems are solved: "auto", "cpu" or "gpu"
    cores: int = 1  # number of cores that other processes may use

    def compute(
        self, limit: float | None, batches: list[CellBatch]
    ) -> Iterator[tuple[CellBatch, Any]]:
        """Compute batches, and yield each with its results as they come.

        `limit` is the number of seconds per cell.
        """
        from cosmodag.bench.work import carry_out

        groups: dict[tuple[str, int | None, int | None], list[CellBatch]] = {}
        for batch in batches:
            groups.setdefault(self._placement(batch), []).append(batch)
        for (device, jobs, threads), group in groups.items():
            outcomes = each(
                partial(carry_out, device=device, limit=limit),
                group,
                engine=self.engine,
                address=self.address,
                jobs=jobs,
                threads=threads,
                gpus=self.gpus,
                # Otherwise, JAX in each process would reserve memory of the GPU.
                variables={"JAX_PLATFORMS": "cpu"} if device == "cpu" else None,
            )
            for place, outcome in outcomes:
                yield group[place], outcome

    def _placement(self, batch: CellBatch) -> tuple[str, int | None, int | None]:
        """Choose the device, and the numbers of processes and of threads, for a batch."""
        first = batch[0]
        if self.engine == "local" and first.kind == "time":
            return "cpu", max(1, self.cores // 4), 1
        if self.engine != "local" or self.jobs is not None:
            return self.device, self.jobs, None
        if first.kind == "fit" and not METHODS[first.method].is_raw:
            return ("cpu", self.cores, 1) if self.cores > 1 else ("cpu", None, None)
        return self.device, None, None


class Run(NamedTuple):
    """Numbers of cells that a run computed, found in the store, and left without figures."""

    done: int
    found: int
    failed: int


def run(
    experiment: Experiment,
    store: Store,
    resources: Resources | None = None,
    on_progress: Callable[[str, int, int], None] = lambda stage, done, total: None,
    *,
    timing: bool = True,
) -> Run:
    """Compute the cells of an experiment that are not in the store.

    Each batch is stored in one transaction before the next result is received, so a run may be
    killed at any moment and resumed, with the same rows. `on_progress` is called with the name of
    the stage, its number of finished cells, and its total number of cells. If `timing` is false,
    single fits are not timed, which on a machine with a GPU takes most of the time.
    """
    resources = resources or Resources()
    store.remember(experiment.name, experiment.text)
    results = {row.key: row.result for row in store.rows()}
    done = found = failed = 0
    for stage, batches in CellPlan(experiment, resources.device).stages(results):
        if stage == TIMING and not timing:
            continue
        cells = [cell for batch in batches for cell in batch]
        missing = [b for b in batches if any(cell.key not in results for cell in b)]
        finished = len(cells) - sum(map(len, missing))
        found += finished
        on_progress(stage, finished, len(cells))
        for batch, outcome in resources.compute(experiment.time_limit, missing):
            rows = result_rows(batch, outcome)
            store.add(rows)
            for row in rows:
                results.setdefault(row.key, row.result)
            done += len(rows)
            finished += len(rows)
            on_progress(stage, finished, len(cells))
        failed += sum(results[cell.key].get("status") != "done" for cell in cells)
    return Run(done, found, failed)


def result_rows(batch: CellBatch, outcome: Any) -> list[Row]:
    """Make a row for each cell of a batch; if the batch failed as a whole, all have the failure."""
    results = [outcome._asdict()] * len(batch) if isinstance(outcome, Failure) else outcome
    pairs = zip(batch, results, strict=True)
    key = batch_key(batch)
    return [Row(cell.key, key, cell.description, result) for cell, result in pairs]
