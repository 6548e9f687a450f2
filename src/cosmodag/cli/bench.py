"""``cosmodag bench``: run, resume and report the paper's evaluation."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cosmodag.cli.options.common import JsonOption
from cosmodag.cli.terminal.cache_folder import keep_compiled_programs
from cosmodag.cli.terminal.output import print_json, print_result
from cosmodag.cli.terminal.shell import register
from cosmodag.cli.terminal.signals import slow_end
from cosmodag.graph.texts import counted

if TYPE_CHECKING:
    from rich.progress import TaskID

    from cosmodag.bench import Experiment, Resources

StoreOption = Annotated[
    Path, typer.Option("--store", "-s", help="SQLite file that holds the results.")
]
_STORE = Path("results.sqlite")


@dataclass(frozen=True)
class ResourceOptions:
    """Options for where the cells of an experiment run."""

    engine: Annotated[
        Literal["local", "ray"], typer.Option(help="This machine, or a Ray cluster.")
    ] = "local"
    address: Annotated[
        str | None,
        typer.Option(
            help="Address of a Ray cluster ('auto': this machine's); by default Ray starts here."
        ),
    ] = None
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of processes, except for timing; by default, batches are solved in one "
            "process, and single fits in one per core.",
        ),
    ] = None
    gpus: Annotated[float, typer.Option(min=0, help="Share of a GPU per Ray task.")] = 0.0
    device: Annotated[Literal["auto", "cpu", "gpu"], typer.Option(help="Device to train on.")] = (
        "auto"
    )

    def resources(self) -> "Resources":
        """Choose the device and count the cores."""
        from cosmodag.bench import Resources
        from cosmodag.runtime.devices import device_named
        from cosmodag.runtime.threads import cores

        # Processes that share one GPU would compete for its memory.
        several = self.jobs is not None or self.engine == "ray"
        name: str = self.device
        if name == "auto":
            name = "gpu" if self.gpus else "cpu" if several else device_named("auto").platform
        return Resources(self.engine, self.address, self.jobs, self.gpus, name, cores())


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options of ``run`` and ``resume``."""

    store: StoreOption = _STORE
    where: ResourceOptions
    timing: Annotated[bool, typer.Option(help="Time single fits at the end.")] = True
    json: JsonOption = False


def run(
    experiment: Annotated[
        str, typer.Argument(help="Name of an experiment (see 'bench list'), or a .toml file.")
    ],
    *,
    data: Annotated[
        list[str] | None,
        typer.Option(help="Only this data set, or pattern such as 'n1000_d30_*'; repeatable."),
    ] = None,
    method: Annotated[
        list[str] | None, typer.Option(help="Only this method, such as cosmo; repeatable.")
    ] = None,
    options: RunOptions,
) -> None:
    """Run the cells of an experiment that are not in the store yet.

    You can stop it at any time: the store stays valid, and running the command again, or
    'bench resume', continues with the missing cells.
    """
    keep_compiled_programs()
    from cosmodag.bench import find_experiment

    chosen = find_experiment(experiment)
    if data or method:
        chosen = chosen.only(data or (), method or ())
    _run([chosen], options, create=True)


def resume(options: RunOptions) -> None:
    """Run the missing cells of all experiments in a store."""
    keep_compiled_programs()
    from cosmodag.bench import Store, read_experiment

    with Store(options.store, create=False) as opened:
        experiments = [read_experiment(t, name) for name, t in opened.experiments().items()]
    _run(experiments, options, create=False)


def report(
    store: StoreOption = _STORE,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder to write to; created if missing.")
    ] = Path("report"),
) -> None:
    """Write tables and figures of all experiments in a store.

    Writes one page of Markdown; each table as Markdown and CSV, with the figures of the paper
    beside the computed ones; and all rows as CSV and Parquet.
    """
    from cosmodag.bench import Store
    from cosmodag.bench.report import write_report

    with Store(store, create=False) as opened:
        page = write_report(opened, output)
    print_result(str(page))


def show() -> None:
    """List the experiments that come with the package."""
    from cosmodag.bench import find_experiment, names

    for name in names():
        print_result(f"{name:18} {find_experiment(name).title}")


app = typer.Typer(
    help="The paper's evaluation: run, resume and report experiments.",
    rich_markup_mode=None,
    no_args_is_help=True,
)
register(app, "run", run)
register(app, "resume", resume)
register(app, "report", report)
register(app, "list", show)


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function that shows the progress of a stage, as a bar if stderr is a terminal."""
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress

    with Progress(
        *Progress.get_default_columns(),
        MofNCompleteColumn(),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
    ) as bars:
        tasks: dict[str, TaskID] = {}

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks and total:
                tasks[stage] = bars.add_task(stage, total=total, completed=done)
            elif total:
                bars.update(tasks[stage], completed=done, total=total)

        yield show


def _run(experiments: "list[Experiment]", options: RunOptions, *, create: bool) -> None:
    from cosmodag.bench import Store, run

    facts, resources = [], options.where.resources()
    with slow_end(), Store(options.store, create=create) as store:
        for experiment in experiments:
            with _progress() as show:
                done = run(experiment, store, resources, show, timing=options.timing)
            facts.append(
                {
                    "experiment": experiment.name,
                    "done": done.done,
                    "found": done.found,
                    "failed": done.failed,
                    "store": options.store,
                }
            )
            if not options.json:
                print_result(
                    f"{experiment.name}: {counted(done.done, 'cell')} done, {done.found:,} found "
                    f"in '{options.store}', {done.failed:,} without figures."
                )
    if options.json:
        print_json(facts)
