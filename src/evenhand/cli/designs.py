"""Shared by the commands about a benchmark: its design, its folder, and failures."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.cli import failures
from evenhand.cli.failures import FAILED as FAILED
from evenhand.cli.failures import RESUMABLE
from evenhand.cli.numbers import NumberRange, WholeRange

if TYPE_CHECKING:
    from evenhand.benchmark import Design, Results

out_option = click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), help="Folder of the results."
)
jobs_option = click.option(
    "--jobs", type=WholeRange(min=1), help="Processes; by default one for each core."
)
LOSS = 0.05
loss_option = click.option(
    "--loss",
    type=NumberRange(min=0, min_open=True),
    default=LOSS,
    show_default=True,
    help="The most that may be given up: points of accuracy, or a share of RMSE.",
)
design_argument = click.argument("design", type=click.Path(dir_okay=False, path_type=Path))


@contextmanager
def failures_in_one_line() -> Iterator[None]:
    """Turn failures of a benchmark, whose designs have no options, into one message."""
    with failures.interruptible(RESUMABLE), failures.failures_in_one_line(worded=str):
        yield


def design_in(path: Path) -> Design:
    """The design in a file, which may name modules next to it."""
    from evenhand.benchmark import read_design

    sys.path.insert(0, str(path.parent.absolute()))
    return read_design(path)


def read_by(design: Design, path: Path) -> list[Path]:
    """The files of a design and those it reads, which no output may replace."""
    problems = (problem for study in design.studies for problem in study.problems)
    return [path, *(Path(problem.source) for problem in problems if problem.is_file)]


def results_of(design: Design, folder: Path, jobs: int | None = None) -> Results:
    """The scores of a design's stored runs."""
    from evenhand.benchmark import results

    return results(folder, design, n_jobs=jobs)
