"""The commands `evenhand paper` and `evenhand bench run`, `status`, `figures`, `export`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.benchmark.design.example import EXAMPLE
from evenhand.benchmark.failures import FAILED, failures_in_one_line

if TYPE_CHECKING:
    from evenhand.benchmark.design.studies import Design
    from evenhand.benchmark.running.schedule import Status
    from evenhand.benchmark.scoring.results import Results

MOST_FAILURES = 10

out_option = click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), help="Folder of the results."
)
jobs_option = click.option(
    "--jobs", type=click.IntRange(min=1), help="Processes; by default one for each core."
)
design_argument = click.argument("design", type=click.Path(dir_okay=False, path_type=Path))
STATUSES = """\b
Exit status:
  0    every run has a result
  2    the command or the design cannot be used
  3    some runs failed; the others are kept
  130  interrupted; what was done is kept
"""
PAPER_EXAMPLES = f"""\b
Examples:
  evenhand paper --quick
  evenhand paper --out results --tasks adult,compas --jobs 8

{STATUSES}"""


@click.command(epilog=PAPER_EXAMPLES)
@click.option("--quick", "is_quick", is_flag=True, help="One seed, few grid points, few rows.")
@click.option("--tasks", help="Some tasks only, with commas between.")
@click.option("--report/--no-report", default=True, help="Draw the figures and write the page.")
@jobs_option
@out_option
def paper(
    is_quick: bool, tasks: str | None, report: bool, jobs: int | None, out: Path | None
) -> None:
    """Repeat the paper's experiments on the data at hand.

    Runs that are already in the folder are not repeated, so an interrupted command goes on where
    it stopped. Tasks whose rows are not on this computer are left out, unless named in --tasks.
    """
    with failures_in_one_line():
        from evenhand.benchmark.design.paper import PAPER, at_hand, only, quick

        design, absent = at_hand(PAPER) if tasks is None else (only(PAPER, tasks.split(",")), [])
        for name in absent:
            click.echo(f"Left out, not on this computer: evenhand datasets fetch {name}", err=True)
        design = quick(design) if is_quick else design
        folder = out or Path("evenhand-paper-quick" if is_quick else "evenhand-paper")
        state = _run(design, folder, jobs)
        if report:
            _report(_results(design, folder, jobs), folder / "report", folder)
    _finish(state, folder)


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
        from evenhand.benchmark.running.schedule import status

        state = status(_design(design), out or design.with_suffix(""))
    _say(state, out or design.with_suffix(""))


@bench.command("figures")
@design_argument
@click.option("--to", type=click.Path(file_okay=False, path_type=Path), help="Folder to write.")
@out_option
def figures_(design: Path, to: Path | None, out: Path | None) -> None:
    """Draw what every method gives up for what it gains, and write a page of it."""
    with failures_in_one_line():
        folder = out or design.with_suffix("")
        _report(_results(_design(design), folder), to or folder / "report", folder)


@bench.command("export", epilog="Example: evenhand bench export hiring.toml --to scores.csv")
@design_argument
@click.option("--to", required=True, help="A .parquet, .csv or .duckdb file, or a folder.")
@out_option
def export(design: Path, to: str, out: Path | None) -> None:
    """Write every score of every run as one table."""
    with failures_in_one_line():
        found = _results(_design(design), out or design.with_suffix(""))
        found.write(to)
    click.echo(f"{to}: {found.scores.num_rows:,} scores of {found.runs.num_rows:,} runs.")


def _design(path: Path) -> Design:
    """The design in a file, which may name modules beside it."""
    from evenhand.benchmark.design.from_file import read_design

    sys.path.insert(0, str(path.parent.absolute()))
    return read_design(path)


def _results(design: Design, folder: Path, jobs: int | None = None) -> Results:
    from evenhand.benchmark.running.memory import cores
    from evenhand.benchmark.scoring.results import results

    return results(folder, design, n_jobs=cores() if jobs is None else jobs)


def _run(design: Design, folder: Path, jobs: int | None) -> Status:
    from evenhand.benchmark.running.schedule import run, status

    before = status(design, folder)
    click.echo(f"{design.name}: {before.missing:,} of {before.runs:,} runs to do", err=True)
    return run(design, folder, n_jobs=jobs)


def _finish(state: Status, folder: Path) -> None:
    """Say how far it came, and leave with the status that goes with it."""
    _say(state, folder)
    click.get_current_context().exit(FAILED if state.missing else 0)


def _say(state: Status, folder: Path) -> None:
    click.echo(f"{folder}: {state.done:,} of {state.runs:,} runs have a result.")
    for one in list(state.failures.values())[:MOST_FAILURES]:
        value = (
            "" if one["hyperparameter"] is None else f" {one['parameter']}={one['hyperparameter']}"
        )
        name = f"{one['problem']}, seed {one['seed']}, {one['base']}, {one['method']}{value}"
        click.echo(f"  failed: {name}: {' '.join(one['error'].split())[:300]}", err=True)
    if len(state.failures) > MOST_FAILURES:
        click.echo(f"  and {len(state.failures) - MOST_FAILURES} more", err=True)


def _report(found: Results, folder: Path, store: Path) -> None:
    """Draw the figures and write the page that holds them."""
    from evenhand.benchmark.page import write_report

    click.echo(f"The report is {write_report(found, folder, store=store)}.")
