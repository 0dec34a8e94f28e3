"""The group `evenhand bench` with its commands `run`, `status`, `verify` and `export`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand._errors import require_package
from evenhand._files.files import check_outputs
from evenhand._words import plural
from evenhand.cli import leaderboard, ranking
from evenhand.cli.designs import (
    FAILED,
    design_argument,
    design_in,
    failures_in_one_line,
    jobs_option,
    out_option,
    read_by,
    results_of,
)
from evenhand.cli.failures import INTERRUPTED, UNUSABLE
from evenhand.cli.terminal import tell

if TYPE_CHECKING:
    from evenhand.benchmark import Design, Status

MOST_SKIPPED = 10
EXAMPLE = """\
name = "hiring"
seeds = 5
held_out = 0.3               # rows for post-processors; left out: training predictions

[bases.logistic]             # a base model of ours

[bases.forest]               # any estimator of scikit-learn's kind
estimator = "sklearn.ensemble:RandomForestClassifier"
settings = { n_estimators = 200, min_samples_leaf = 5 }

[problems.hiring]            # a file, with its columns
source = "hiring.parquet"
target = "hired"
sensitive = ["sex"]

[problems.adult]             # a task of `evenhand datasets list`

[methods.Reweight]

[methods.LinearPost]
constraints = ["statistical_parity", "equalized_odds"]
grid = [0.001, 0.01, 0.1]

[methods."fairlearn.ThresholdOptimizer"]

[methods.mine]               # your own estimator
estimator = "mypackage.fair:MyClassifier"
stage = "post"
hyperparameter = "strength"
grid = [0.1, 1.0]

[[questions]]                # in addition to the usual ones
criterion = "equal_opportunity"
measure = "pq"
p = 0.5
"""

STATUSES = f"""\b
Exit status:
  0    every run has a result
  {UNUSABLE}    the command or the design cannot be used
  {FAILED}    some runs failed; the others are kept
  {INTERRUPTED}  interrupted; what was done is kept
"""
VERIFIED = f"""\b
Exit status:
  0    every run that is there, and its truth, can be read
  {UNUSABLE}    the command or the design cannot be used
  {FAILED}    some are damaged; `evenhand bench run` repeats them
"""


EXAMPLE_LINES = EXAMPLE.replace("\n\n", "\n\n\b\n")


@click.group(epilog=f"A design:\n\n\b\n{EXAMPLE_LINES}")
def bench() -> None:
    """Benchmark methods on your own data, by a design in a TOML file."""


for _command in (*ranking.COMMANDS, *leaderboard.COMMANDS):
    bench.add_command(_command)


@bench.command("run", epilog=STATUSES)
@design_argument
@jobs_option
@click.option(
    "--dask",
    metavar="ADDRESS",
    help="Run on a Dask cluster, such as scheduler:8786, whose workers see the folder.",
)
@out_option
def run_(design: Path, jobs: int | None, dask: str | None, out: Path | None) -> None:
    """Do every run of DESIGN that has no result yet, including failed ones."""
    with failures_in_one_line():
        folder = out or design.with_suffix("")
        with _cluster(dask):
            state = _run(design_in(design), folder, jobs)
    _finish(state, folder)


@bench.command("status")
@design_argument
@out_option
def status_(design: Path, out: Path | None) -> None:
    """Say how many runs of DESIGN have a result, and what failed."""
    with failures_in_one_line():
        from evenhand.benchmark import status

        state = status(design_in(design), out or design.with_suffix(""))
    _say(state, out or design.with_suffix(""))


@bench.command("verify", epilog=VERIFIED)
@click.argument("design", type=click.Path(path_type=Path), metavar="DESIGN|FOLDER")
@out_option
def verify(design: Path, out: Path | None) -> None:
    """Read every stored run of a design, or of a folder, and set aside what is damaged."""
    with failures_in_one_line():
        from evenhand.benchmark import Store

        if design.is_dir():
            store = Store(design)
            keys = store.keys()
        else:
            store, keys = Store(out or design.with_suffix("")), set(design_in(design).runs())
        stored = len(keys & store.keys())
        damaged = store.set_aside_damaged(keys)
    for path, fault in damaged.items():
        tell(f"  set aside: {path}: {fault}", err=True)
    runs = len([path for path in damaged if path.stem in keys])
    tell(f"{store.folder}: {stored:,} runs read, {runs:,} damaged.")
    click.get_current_context().exit(FAILED if damaged else 0)


@bench.command("export", epilog="Example: evenhand bench export hiring.toml --to scores.csv")
@design_argument
@click.option("--to", required=True, help="A .parquet, .csv or .duckdb file, or a folder.")
@out_option
def export(design: Path, to: str, out: Path | None) -> None:
    """Write every score of every run as one table."""
    with failures_in_one_line():
        plan = design_in(design)
        check_outputs({"to": Path(to)}, read_by(plan, design))
        results = results_of(plan, out or design.with_suffix(""))
        results.write(to)
    tell(f"{to}: {results.scores.num_rows:,} scores of {results.runs.num_rows:,} runs.")


def _run(design: Design, folder: Path, jobs: int | None) -> Status:
    from evenhand.benchmark import run, status

    before = status(design, folder)
    tell(f"{design.name}: {before.missing:,} of {before.runs:,} runs to do", err=True)
    return run(design, folder, n_jobs=jobs)


@contextmanager
def _cluster(address: str | None) -> Iterator[None]:
    """Let joblib run on a Dask cluster, if one is named."""
    if address is None:
        yield
        return
    require_package("distributed", "--dask")
    from distributed import Client
    from joblib import parallel_config

    client: Any = Client
    with client(address), parallel_config(backend="dask"):
        yield


def _finish(state: Status, folder: Path) -> None:
    """Print the progress, and exit with its status."""
    _say(state, folder)
    click.get_current_context().exit(FAILED if state.missing else 0)


def _say(state: Status, folder: Path) -> None:
    tell(f"{folder}: {state.done:,} of {state.runs:,} runs have a result.")
    for line in _failed(state.failures.values()):
        tell(f"  failed: {line}", err=True)
    reasons = list(dict.fromkeys(f"{run.problem}: {run.reason}" for run in state.skipped))
    for reason in reasons[:MOST_SKIPPED]:
        tell(f"  skipped: {reason}", err=True)
    if len(reasons) > MOST_SKIPPED:
        tell(f"  and {len(reasons) - MOST_SKIPPED} more", err=True)


def _failed(failures: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """A line for each method that failed on a problem with some error: a run, and how many."""
    by_error: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for run in sorted(failures, key=_order):
        error = " ".join(run["error"].split())[:300]
        by_error.setdefault((run["problem"], run["base"], run["method"], error), []).append(run)
    for (problem, base, method, error), runs in by_error.items():
        value = runs[0]["hyperparameter"]
        setting = "" if value is None else f" {runs[0]['parameter']}={value}"
        remark = f" ({plural(len(runs) - 1, 'other run')} of it likewise)" if runs[1:] else ""
        yield f"{problem}, seed {runs[0]['seed']}, {base}, {method}{setting}: {error}{remark}"


def _order(run: Mapping[str, Any]) -> tuple[Any, ...]:
    value = run["hyperparameter"]
    return run["problem"], run["base"], run["method"], run["seed"], value is not None, value or 0
