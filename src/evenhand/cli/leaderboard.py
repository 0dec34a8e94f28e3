"""A leaderboard: `evenhand bench splits`, `submit`, `leaderboard` and `pack`."""

from __future__ import annotations

from pathlib import Path

import click

from evenhand._files.files import check_outputs
from evenhand.cli.designs import (
    design_argument,
    design_in,
    failures_in_one_line,
    jobs_option,
    loss_option,
    out_option,
    read_by,
)
from evenhand.cli.failures import UNUSABLE
from evenhand.cli.ranking import WHERE
from evenhand.cli.terminal import tell

FORMAT = f"""\b
FOLDER holds the files of predictions and submission.toml, which says what they are:

\b
  method = "MyMethod"
  base = "logistic"        # the benchmark's base model that it uses
  group_known = false      # whether a decision may depend on the person's group
  authors = "A. Author"
  about = "where to read about it"

\b
  [[predictions]]
  file = "adult-0.csv"     # row, label; chance_CLASS, score_CLASS; of a regression row, value
  problem = "adult"
  seed = 0
  hyperparameter = 0.1     # where there are several settings

\b
Exit status:
  0    the submission is sound
  {UNUSABLE}    it is not, and cannot be taken; everything that is wrong is listed
"""


@click.command("submit", epilog=FORMAT)
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--to",
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The benchmark's folder of stored predictions.",
)
@click.option("--check", is_flag=True, help="Check only; store nothing.")
def submit(folder: Path, to: Path, check: bool) -> None:
    """Check the predictions in FOLDER and store them; scores are computed here, never taken."""
    with failures_in_one_line():
        from evenhand.benchmark import add_submission, check_submission

        submission = check_submission(folder, to)
        new = 0 if check else add_submission(submission, to)
    for note in submission.notes:
        tell(f"  note: {submission.method} {note}", err=True)
    runs = len(submission.runs)
    done = "sound; nothing was stored" if check else f"sound; {new:,} of them were stored"
    tell(f"{submission.method}: {runs:,} sets of predictions are {done}.")


@click.command("splits", epilog="Example: evenhand bench splits small.toml --to splits")
@design_argument
@click.option(
    "--to",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder to write to.",
)
def splits(design: Path, to: Path) -> None:
    """Write the rows of every split of DESIGN, to predict its test rows with a method of your own.

    There is a .csv file for each problem and seed, with the columns row, part (train or test),
    label or value, which test rows lack, and the features.
    """
    with failures_in_one_line():
        from evenhand.benchmark.boards.splits import write_splits

        paths = write_splits(design_in(design), to)
    tell(f"{to}: {len(paths):,} splits.")


@click.command("leaderboard", epilog=WHERE)
@click.argument("design", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--to", type=click.Path(dir_okay=False, path_type=Path), help="The .html file to write."
)
@click.option("--title", default="Leaderboard", show_default=True)
@click.option("--measure", default="mpd", show_default=True, help="Or package.module:function.")
@loss_option
@jobs_option
@out_option
def leaderboard_(
    design: Path,
    to: Path | None,
    title: str,
    measure: str,
    loss: float,
    jobs: int | None,
    out: Path | None,
) -> None:
    """Write who leads in every track, as a page that sorts offline.

    With the design, the page says how many of its runs are missing.
    """
    with failures_in_one_line():
        from evenhand.benchmark import write_leaderboard

        folder = design if design.is_dir() else out or design.with_suffix("")
        plan = None if design.is_dir() else design_in(design)
        if to is not None and plan is not None:
            check_outputs({"to": to}, read_by(plan, design))
        path = write_leaderboard(
            folder,
            to or folder / "leaderboard.html",
            title=title,
            design=plan,
            measure=measure,
            loss=loss,
            n_jobs=jobs,
        )
    tell(f"The leaderboard is {path}.")


@click.command("pack", epilog="Example: evenhand bench pack leaderboard --to leaderboard.tar.xz")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--to",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The .tar.xz file to write.",
)
def pack(folder: Path, to: Path) -> None:
    """Put the predictions in FOLDER into one small file, to publish; `tar xf` unpacks it."""
    with failures_in_one_line():
        from evenhand.benchmark import Store

        check_outputs({"to": to}, folder.rglob("*.parquet"))
        runs = Store(folder).pack(to)
    tell(f"{to}: {runs:,} runs, {to.stat().st_size / 2**20:.1f} MiB.")


COMMANDS: tuple[click.Command, ...] = (splits, submit, leaderboard_, pack)
