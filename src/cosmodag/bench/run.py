"""Running an experiment: what is not in the store is done, by an engine, and put there."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from cosmodag.bench.cell import Batch
from cosmodag.bench.plan import Plan, Stage
from cosmodag.bench.protocol import Experiment
from cosmodag.bench.store import Row, Store
from cosmodag.bench.work import Order, carry_out
from cosmodag.bench.work.results import as_result
from cosmodag.engines import Done, Failure, each

__all__ = ["Means", "Run", "run"]

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Means:
    """With what an experiment is run.

    Attributes
    ----------
    engine, address, jobs, gpus
        As in `cosmodag.engines.each`.
    device
        Where problems are solved: ``"auto"``, ``"cpu"`` or ``"gpu"``.
    makers
        Processes that simulate tables, where the fits themselves stay in this one.
    """

    engine: str = "local"
    address: str | None = None
    jobs: int | None = None
    gpus: float = 0.0
    device: str = "auto"
    makers: int | None = None

    def orders(self, experiment: Experiment, batches: list[Batch]) -> Iterator[Order]:
        """Say how each batch is to be done."""
        alone = self.engine == "local" and self.jobs is None
        makers = self.makers if alone else None
        for batch in batches:
            yield Order(batch, self.device, experiment.time_limit, makers)

    def do(self, orders: Iterator[Order], is_timed: bool) -> Iterator[Done]:
        """Have them done; what is timed on one thread has a process to itself."""
        if self.engine == "local":
            on_clock = is_timed and self.device == "cpu"
            jobs, threads = (1, 1) if on_clock else (self.jobs, None)
            return each(carry_out, orders, jobs=jobs, threads=threads)
        return each(
            carry_out, orders, engine=self.engine, address=self.address, jobs=self.jobs,
            gpus=self.gpus,
        )


@dataclass(frozen=True)
class Run:
    """What a run did.

    Attributes
    ----------
    done
        Cells that it did.
    found
        Cells that the store had already.
    failed
        Cells of the experiment that have no figures, now or from before.
    """

    done: int
    found: int
    failed: int


def run(
    experiment: Experiment,
    store: Store,
    means: Means | None = None,
    on_progress: Progress = lambda stage, done, total: None,
) -> Run:
    """Do what an experiment asks for and the store does not have.

    A batch is done whole or not at all, and the store has it before the next result is looked at:
    a run may be killed at any moment and resumed, and its rows are the same.

    Parameters
    ----------
    experiment : Experiment
    store : Store
    means : Means, optional
        With what.
    on_progress : callable
        Told the stage, and how many of its cells are done of how many.
    """
    means = means or Means()
    store.remember(experiment.name, experiment.text)
    results = {row.key: row.result for row in store.rows()}
    done = found = failed = 0
    for stage in Plan(experiment, means.device).stages(results):
        cells = [cell for batch in stage.batches for cell in batch.cells]
        open_batches = [b for b in stage.batches if any(c.key not in results for c in b.cells)]
        left = sum(len(batch.cells) for batch in open_batches)
        found += len(cells) - left
        on_progress(stage.name, len(cells) - left, len(cells))
        for rows in _carried_out(experiment, stage, open_batches, means):
            store.add(rows)
            for row in rows:
                results.setdefault(row.key, row.result)
            done += len(rows)
            left -= len(rows)
            on_progress(stage.name, len(cells) - left, len(cells))
        failed += sum(results[cell.key]["status"] != "done" for cell in cells)
    return Run(done, found, failed)


def _carried_out(
    experiment: Experiment, stage: Stage, batches: list[Batch], means: Means
) -> Iterator[list[Row]]:
    for index, outcome in means.do(means.orders(experiment, batches), stage.is_timed):
        batch = batches[index]
        failed = isinstance(outcome, Failure)
        values = [as_result(outcome)] * len(batch.cells) if failed else outcome
        yield [
            Row(cell.key, batch.key, cell.description, result)
            for cell, result in zip(batch.cells, values, strict=True)
        ]
