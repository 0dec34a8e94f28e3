"""What a benchmark says: `evenhand bench rank`, `figures`, `tables` and `page`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from evenhand.cli.designs import (
    design_in,
    failures_in_one_line,
    jobs_option,
    loss_option,
    out_option,
)
from evenhand.cli.terminal import tell

if TYPE_CHECKING:
    from evenhand.benchmark import Results, Table

Command = Callable[..., None]
WHERE = """\b
DESIGN is the TOML file, or the folder of stored predictions, whatever design filled it.
"""


class Request(NamedTuple):
    """Which results a command is about, and by what they are ranked."""

    design: Path
    criteria: str | None
    measure: str | None
    loss: float
    jobs: int | None
    out: Path | None


class Opened(NamedTuple):
    """Results, where their predictions are, and the design's name and text."""

    results: Results
    folder: Path
    name: str
    text: str | None


criteria_option = click.option(
    "--criteria",
    help="Criteria separated by commas, or 'all'; by default those that the methods aim at.",
)
measure_option = click.option(
    "--measure", help="A measure of `evenhand measures`, or package.module:function of your own."
)
to_option = click.option(
    "--to", type=click.Path(file_okay=False, path_type=Path), help="Folder to write."
)


def asks(*, has_criteria: bool = True, formats: str = "") -> Callable[[Command], Command]:
    """Gather the arguments that all commands share in a `Request`, the first of the command's own.

    Commands that write files, in `formats` by default, take a folder and formats too.
    """
    files = click.option(
        "--formats", default=formats, show_default=True, help="Formats, separated by commas."
    )
    options = (
        click.argument("design", type=click.Path(exists=True, path_type=Path)),
        *([to_option] if formats else ()),
        *([criteria_option] if has_criteria else ()),
        measure_option,
        loss_option,
        *([files] if formats else ()),
        jobs_option,
        out_option,
    )

    def wrap(command: Command) -> Command:
        @wraps(command)
        def called(**given: Any) -> None:
            shared = {name: given.pop(name, None) for name in Request._fields}
            with failures_in_one_line():
                command(Request(**shared), **given)

        return reduce(lambda inner, option: option(inner), reversed(options), called)

    return wrap


@click.command("rank", epilog=WHERE)
@asks()
def rank_(request: Request) -> None:
    """Say which method removes most of the gap, and which differences are significant.

    A method's number is the share of the base model's gap that it removes, on average over
    losses of accuracy from 0 to --loss. With --measure, stored predictions are scored
    again and nothing is fitted.
    """
    from evenhand.benchmark.tables import empty_cell_table, ranking_table

    opened = _opened(request, is_quick=True)
    rankings = _rankings(opened.results, request)
    tables = [ranking_table(opened.results, ranking) for ranking in rankings]
    note = empty_cell_table(opened.results).note
    for table in tables:
        _show(table)
    if not tables:
        tell(f"{opened.folder}: no two methods have results on the same problems.")
    tell(note)


@click.command("figures", epilog=WHERE)
@asks(formats="svg,pdf,png")
def figures_(request: Request, to: Path | None, formats: str) -> None:
    """Draw what every method gives up for what it gains, and the ranking of methods."""
    from evenhand.benchmark import figures
    from evenhand.benchmark.scoring.floors import with_floors
    from evenhand.benchmark.tables import ranking_table

    opened = _opened(request)
    names = _criteria(opened.results, request.criteria)
    results = with_floors(opened.results, opened.folder, _asked_of(opened.results, names))
    made = figures.usual_figures(results, names)
    for ranking in _rankings(results, request):
        name = ranking_table(results, ranking).name
        made[name] = _drawn_by(figures.ranking_figure, ranking)
    folder = to or opened.folder / "figures"
    with click.progressbar(made.items(), label="Drawing", file=_terminal()) as bar:
        for name, figure in bar:
            figures.draw(results, folder, {name: figure}, formats.split(","))
    tell(f"{folder}: {len(made)} figures.")


@click.command("tables", epilog=WHERE)
@asks(formats="tex,md,csv")
def tables_(request: Request, to: Path | None, formats: str) -> None:
    """Write rankings, pairs, gaps, scores, data, methods and failures as tables."""
    from evenhand.benchmark import write_tables

    opened = _opened(request)
    every = _tables(opened, request)
    folder = to or opened.folder / "tables"
    paths = write_tables(every, folder, formats.split(","))
    tell(f"{folder}: {len(every)} tables in {len(paths)} files.")


@click.command("page", epilog=WHERE)
@asks(has_criteria=False, formats="svg,pdf,png")
def page(request: Request, to: Path | None, formats: str) -> None:
    """Write a page with the ranking, every figure and table, the design, and every failure."""
    from evenhand.benchmark import write_report
    from evenhand.benchmark.scoring.floors import with_floors
    from evenhand.benchmark.sections import usual_sections

    opened = _opened(request)
    names = _asked_of(opened.results, _criteria(opened.results, None))
    results = with_floors(opened.results, opened.folder, names)
    path = write_report(
        results,
        to or opened.folder / "report",
        title=opened.name,
        sections=usual_sections(results, loss=request.loss, measure=request.measure),
        store=opened.folder,
        design=opened.text,
        formats=[kind for kind in formats.split(",") if kind],
    )
    tell(f"The page is {path}.")


COMMANDS: tuple[click.Command, ...] = (rank_, figures_, tables_, page)


def _opened(request: Request, *, is_quick: bool = False) -> Opened:
    """The scores of a design's runs, or of all that a folder holds; by another measure if asked.

    What is quick answers no more than is needed for a ranking.
    """
    from evenhand.benchmark import QUESTIONS, results

    path, measure = request.design, request.measure
    if path.is_dir():
        folder, name, text, design = path, path.name, None, None
    else:
        design = design_in(path)
        folder, name = request.out or path.with_suffix(""), design.name
        text = path.read_text(encoding="utf-8")
    if not folder.is_dir():
        raise ValueError(f"{folder} is not there: run `evenhand bench run {path}` first.")
    asked = QUESTIONS if design is None else design.questions
    measures = {question.measure for some in asked.values() for question in some}
    if is_quick or measure not in (None, *measures):
        asked = _by(asked, folder, request.criteria, measure)
        found = results(folder, design, questions=asked, lots="expected", n_jobs=request.jobs)
    else:
        found = results(folder, design, n_jobs=request.jobs)
    return Opened(found, folder, name, text)


def _by(asked: Any, folder: Path, criteria: str | None, measure: str | None) -> Any:
    """Performances, and each criterion that is ranked by one measure."""
    from dataclasses import replace

    from evenhand.benchmark import QUESTIONS, Store
    from evenhand.benchmark.figures.theme import criterion_name

    told = {entry["constraint"] for entry in Store(folder).entries().values()}
    chosen: dict[Any, tuple[Any, ...]] = {}
    for kind, questions in asked.items():
        measured = [question for question in questions if question.measure is not None]
        usual = set(QUESTIONS[kind])
        main = [one for one in measured if one.criterion in told or one not in usual] or measured
        if criteria is not None:
            names = {criterion_name(one) for one in measured}
            wanted = names if criteria == "all" else set(criteria.split(","))
            main = [one for one in measured if criterion_name(one) in wanted]
        by_criterion: dict[str, Any] = {}
        for question in main:
            own = (
                question if measure is None else replace(question, measure=measure, p=None, q=None)
            )
            by_criterion.setdefault(criterion_name(question), own)
        for question in by_criterion.values():
            question.check()
        plain = [question for question in questions if question.measure is None]
        chosen[kind] = (*plain, *by_criterion.values())
    return chosen


def _criteria(found: Results, criteria: str | None) -> list[str]:
    """The criteria asked for on the command line; by default the main ones."""
    from evenhand._words import did_you_mean
    from evenhand.benchmark.figures import main_criteria
    from evenhand.benchmark.figures.theme import criterion_name, question_in

    questions = [question_in(row) for row in found.questions.to_pylist()]
    known = list(dict.fromkeys(criterion_name(one) for one in questions if one.measure))
    if criteria is None:
        return main_criteria(found)
    if criteria == "all":
        return known
    for name in criteria.split(","):
        if name not in known:
            raise ValueError(
                f"No criterion {name!r} was asked.{did_you_mean(name, known)} "
                f"There are {', '.join(known)}."
            )
    return criteria.split(",")


def _asked_of(found: Results, names: Sequence[str]) -> list[str]:
    from evenhand.benchmark.sections import questions_about

    return questions_about(found, names)


def _rankings(found: Results, request: Request) -> list[Any]:
    from evenhand.benchmark import rank
    from evenhand.benchmark.sections import question_of

    criteria = _criteria(found, request.criteria)
    questions = (question_of(found, name, request.measure) for name in criteria)
    return [
        ranking
        for question in questions
        if question is not None
        for ranking in rank(found, question, loss=request.loss)
    ]


def _tables(opened: Opened, request: Request) -> list[Table]:
    from evenhand.benchmark import Store, tables

    found = opened.results
    rankings = _rankings(found, request)
    asked = list(dict.fromkeys(ranking.question for ranking in rankings))
    made = [
        make(found, ranking)
        for ranking in rankings
        for make in (tables.ranking_table, tables.area_table, tables.pair_table)
    ]
    store = Store(opened.folder)
    return [
        *made,
        tables.empty_cell_table(found),
        tables.score_table(found, asked),
        tables.data_sets(found),
        tables.methods(found),
        tables.run_times(found),
        tables.failure_table(store.failures().values()),
    ]


def _drawn_by(draw: Callable[..., Any], ranking: Any) -> Callable[[Results], Any]:
    return lambda results: draw(results, ranking)


def _show(table: Table) -> None:
    """A table on the terminal, its note first: the plain sentence, then the numbers."""
    tell(table.title, bold=True)
    tell(table.note)
    rows = [table.head, *table.rows]
    widths = [max(len(row[at]) for row in rows) for at in range(len(table.head))]
    for row in rows:
        cells = (
            cell.rjust(width) if at in table.numeric else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        tell("  " + "  ".join(cells).rstrip())
    tell()


def _terminal() -> Any:
    """Progress is shown on stderr, and only where that is a terminal."""
    import sys

    return sys.stderr
