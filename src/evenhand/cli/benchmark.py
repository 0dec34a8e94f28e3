"""The commands `evenhand bench run`, `status`, `verify`, `figures` and `export`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.cli.failures import INTERRUPTED, UNUSABLE, Unusable

if TYPE_CHECKING:
    from evenhand.benchmark import Design, Results, Status

FAILED = 3
MOST_FAILURES = 10
EXAMPLE = """\
name = "hiring"
seeds = 5
bases = ["logistic", "boosting"]

[problems.hiring]            # a file, with its columns
source = "hiring.parquet"
target = "hired"
sensitive = ["sex"]

[problems.adult]             # a task of `evenhand datasets list`

[methods.Reweight]

[methods.LinearPost]
constraints = ["statistical_parity", "equalized_odds"]
grid = [0.001, 0.01, 0.1]

[methods.mine]               # your own estimator
estimator = "mypackage.fair:MyClassifier"
stage = "post"
hyperparameter = "strength"
grid = [0.1, 1.0]

[[questions]]                # beside the usual ones
criterion = "equal_opportunity"
measure = "pq"
p = 0.5
"""

out_option = click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), help="Folder of the results."
)
jobs_option = click.option(
    "--jobs", type=click.IntRange(min=1), help="Processes; by default one for each core."
)
design_argument = click.argument("design", type=click.Path(dir_okay=False, path_type=Path))
STATUSES = f"""\b
Exit status:
  0    every run has a result
  {UNUSABLE}    the command or the design cannot be used
  {FAILED}    some runs failed; the others are kept
  {INTERRUPTED}  interrupted; what was done is kept
"""
VERIFIED = f"""\b
Exit status:
  0    every run that is there can be read
  {UNUSABLE}    the command or the design cannot be used
  {FAILED}    some are damaged; `evenhand bench run` does them again
"""


class Lost(click.ClickException):
    """Some runs have no result."""

    exit_code = FAILED


@contextmanager
def failures_in_one_line() -> Iterator[None]:
    """Turn what goes wrong with a benchmark into one message and its status."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo("Interrupted; what was done is kept. Run the same command to go on.", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    except BrokenExecutor as failure:
        raise Lost(
            "A worker process died, perhaps for want of memory; what was done is kept. "
            "Run the same command to go on, with fewer --jobs."
        ) from failure
    except (ValueError, TypeError, OSError, ImportError) as failure:
        raise Unusable(str(failure)) from failure


SHOWN = EXAMPLE.replace("\n\n", "\n\n\b\n")


@click.group(epilog=f"A design:\n\n\b\n{SHOWN}")
def bench() -> None:
    """Benchmark methods on your own data, by a design in a TOML file."""


@bench.command("run", epilog=STATUSES)
@design_argument
@jobs_option
@out_option
def run_(design: Path, jobs: int | None, out: Path | None) -> None:
    """Do every run of DESIGN that has no result yet, those that failed included."""
    with failures_in_one_line():
        folder = out or design.with_suffix("")
        state = _run(_design(design), folder, jobs)
    _finish(state, folder)


@bench.command("status")
@design_argument
@out_option
def status_(design: Path, out: Path | None) -> None:
    """Say how many runs of DESIGN have a result, and what failed."""
    with failures_in_one_line():
        from evenhand.benchmark import status

        state = status(_design(design), out or design.with_suffix(""))
    _say(state, out or design.with_suffix(""))


@bench.command("verify", epilog=VERIFIED)
@design_argument
@out_option
def verify(design: Path, out: Path | None) -> None:
    """Read every stored run of DESIGN, and set aside what is not what was written."""
    with failures_in_one_line():
        from evenhand.benchmark import Store

        store, wanted = Store(out or design.with_suffix("")), _design(design).runs()
        there = len(wanted.keys() & store.keys())
        damaged = store.set_aside_damaged(wanted)
    for path, fault in damaged.items():
        click.echo(f"  set aside: {path}: {fault}", err=True)
    runs = len([path for path in damaged if path.stem in wanted])
    click.echo(f"{store.folder}: {there:,} runs read, {runs:,} damaged.")
    click.get_current_context().exit(FAILED if damaged else 0)


@bench.command("figures")
@design_argument
@click.option("--to", type=click.Path(file_okay=False, path_type=Path), help="Folder to write.")
@out_option
def figures_(design: Path, to: Path | None, out: Path | None) -> None:
    """Draw what every method gives up for what it gains, and write a page of it."""
    with failures_in_one_line():
        folder = out or design.with_suffix("")
        wanted = _design(design)
        path = _report(_results(wanted, folder), to or folder / "report", folder, wanted.name)
    click.echo(f"The report is {path}.")


@bench.command("export", epilog="Example: evenhand bench export hiring.toml --to scores.csv")
@design_argument
@click.option("--to", required=True, help="A .parquet, .csv or .duckdb file, or a folder.")
@out_option
def export(design: Path, to: str, out: Path | None) -> None:
    """Write every score of every run as one table."""
    with failures_in_one_line():
        results = _results(_design(design), out or design.with_suffix(""))
        results.write(to)
    click.echo(f"{to}: {results.scores.num_rows:,} scores of {results.runs.num_rows:,} runs.")


def _design(path: Path) -> Design:
    """The design in a file, which may name modules beside it."""
    from evenhand.benchmark import read_design

    sys.path.insert(0, str(path.parent.absolute()))
    return read_design(path)


def _results(design: Design, folder: Path, jobs: int | None = None) -> Results:
    from evenhand.benchmark import results

    return results(folder, design, n_jobs=jobs)


def _run(design: Design, folder: Path, jobs: int | None) -> Status:
    from evenhand.benchmark import run, status

    before = status(design, folder)
    click.echo(f"{design.name}: {before.missing:,} of {before.runs:,} runs to do", err=True)
    return run(design, folder, n_jobs=jobs)


def _finish(state: Status, folder: Path) -> None:
    """Say how far it came, and leave with the status that goes with it."""
    _say(state, folder)
    click.get_current_context().exit(FAILED if state.missing else 0)


def _say(state: Status, folder: Path) -> None:
    click.echo(f"{folder}: {state.done:,} of {state.runs:,} runs have a result.")
    for run in list(state.failures.values())[:MOST_FAILURES]:
        value = run["hyperparameter"]
        setting = "" if value is None else f" {run['parameter']}={value}"
        name = f"{run['problem']}, seed {run['seed']}, {run['base']}, {run['method']}{setting}"
        click.echo(f"  failed: {name}: {' '.join(run['error'].split())[:300]}", err=True)
    if len(state.failures) > MOST_FAILURES:
        click.echo(f"  and {len(state.failures) - MOST_FAILURES} more", err=True)


def _report(found: Results, folder: Path, store: Path, name: str) -> Path:
    """Draw the figures and write the page that holds them."""
    from evenhand.benchmark import write_report

    return write_report(found, folder, title=name, store=store)
