"""The command `python -m paper`: repeat the paper's experiments on the data at hand."""

from __future__ import annotations

from pathlib import Path

import click

from evenhand.benchmark import Status, results, run, status
from evenhand.benchmark.figures import draw
from paper import design as designs
from paper import report
from paper.figures import FIGURES

EXAMPLES = """\b
Examples:
  python -m paper --figure tradeoffs-adult-acs
  python -m paper --quick
  python -m paper --out results --tasks adult,compas --jobs 8
  python -m paper --tasks compas --add-to docs/paper/report

\b
Exit status:
  0    every run has a result
  2    the command cannot be used
  3    some runs failed; the others are kept
  130  interrupted; what was done is kept
"""
FAILED, INTERRUPTED = 3, 130


class Unusable(click.ClickException):
    """The command cannot be used."""

    exit_code = 2


@click.command("paper", epilog=EXAMPLES)
@click.option(
    "--figure",
    "figures",
    multiple=True,
    type=click.Choice(list(FIGURES)),
    help="Draw this figure from the stored results of the full run, and run nothing.",
)
@click.option("--quick", "is_quick", is_flag=True, help="One seed, few grid points, few rows.")
@click.option("--tasks", help="Some tasks only, with commas between.")
@click.option("--report/--no-report", "reports", default=True, help="Write figures and page.")
@click.option(
    "--add-to",
    "kept",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A report’s folder: write it anew, with the runs that it lacks.",
)
@click.option("--jobs", type=click.IntRange(min=1), help="Processes; by default one a core.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Results' folder.")
def main(
    figures: tuple[str, ...],
    is_quick: bool,
    tasks: str | None,
    reports: bool,
    kept: Path | None,
    jobs: int | None,
    out: Path | None,
) -> None:
    """Repeat the paper's experiments on the data at hand.

    Runs that are already in the folder are not repeated, so an interrupted command goes on where
    it stopped. Tasks whose rows are not on this computer are left out, unless named in --tasks.
    """
    if figures:
        wanted = {name: FIGURES[name] for name in figures}
        for path in draw(report.stored_results(), out or Path("figures"), wanted):
            click.echo(path)
        return
    folder = out or Path("evenhand-paper-quick" if is_quick else "evenhand-paper")
    try:
        state, page = _repeat(is_quick, tasks, reports, kept, jobs, folder)
    except KeyboardInterrupt:
        click.echo("Interrupted; what was done is kept. Run the same command to go on.", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None
    except (ValueError, OSError, ImportError) as failure:
        raise Unusable(str(failure)) from failure
    if page is not None:
        click.echo(f"The report is {page}.")
    click.echo(f"{folder}: {state.done:,} of {state.runs:,} runs have a result.")
    for failed in state.failures.values():
        click.echo(f"  failed: {failed['method']} on {failed['problem']}: {failed['error']}")
    raise click.exceptions.Exit(FAILED if state.missing else 0)


def _repeat(
    is_quick: bool,
    tasks: str | None,
    reports: bool,
    kept: Path | None,
    jobs: int | None,
    folder: Path,
) -> tuple[Status, Path | None]:
    """Do what is missing; how far it has come, and the page."""
    if tasks is None:
        design, absent = designs.at_hand(designs.PAPER)
    else:
        design, absent = designs.PAPER.only(*tasks.split(",")), []
    if absent:
        click.echo(
            f"Left out, since their rows are not on this computer: {', '.join(absent)}. "
            f"To take them in: evenhand datasets fetch {absent[0]}, and so on.",
            err=True,
        )
    design = designs.quick(design) if is_quick else design
    before = status(design, folder)
    click.echo(f"{design.name}: {before.missing:,} of {before.runs:,} runs to do", err=True)
    state = run(design, folder, n_jobs=jobs)
    if not reports:
        return state, None
    found = results(folder, design, n_jobs=jobs)
    if kept is not None:
        return state, report.add(found, kept, store=folder)
    formats = () if is_quick else report.FORMATS
    return state, report.write(found, folder / "report", store=folder, formats=formats)


if __name__ == "__main__":
    main()
