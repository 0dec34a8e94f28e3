"""The results of a benchmark: `evenhand bench rank`, `figures`, `tables` and `page`."""

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
    """The results a command is about, and how they are ranked."""

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


def with_request(*, has_criteria: bool = True, formats: str = "") -> Callable[[Command], Command]:
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
        def called(**arguments: Any) -> None:
            shared = {name: arguments.pop(name, None) for name in Request._fields}
            with failures_in_one_line():
                command(Request(**shared), **arguments)

        return reduce(lambda inner, option: option(inner), reversed(options), called)

    return wrap


@click.command("rank", epilog=WHERE)
@with_request()
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
@with_request(formats="svg,pdf,png")
def figures_(request: Request, to: Path | None, formats: str) -> None:
    """Draw what every method gives up for what it gains, and the ranking of methods."""
    from evenhand.benchmark import figures
    from evenhand.benchmark.scoring.floors import with_floors
    from evenhand.benchmark.tables import ranking_table

    opened = _opened(request)
    names = _criteria(opened.results, request.criteria)
    results = with_floors(opened.results, opened.folder, _questions_about(opened.results, names))
    drawings = figures.usual_figures(results, names)
    for ranking in _rankings(results, request):
        name = ranking_table(results, ranking).name
        drawings[name] = _drawing_by(figures.ranking_figure, ranking)
    folder = to or opened.folder / "figures"
    with click.progressbar(drawings.items(), label="Drawing", file=_terminal()) as bar:
        for name, figure in bar:
            figures.draw(results, folder, {name: figure}, formats.split(","))
    tell(f"{folder}: {len(drawings)} figures.")


@click.command("tables", epilog=WHERE)
@with_request(formats="tex,md,csv")
def tables_(request: Request, to: Path | None, formats: str) -> None:
    """Write rankings, pairs, gaps, scores, data, methods and failures as tables."""
    from evenhand.benchmark import write_tables

    opened = _opened(request)
    every = _tables(opened, request)
    folder = to or opened.folder / "tables"
    paths = write_tables(every, folder, formats.split(","))
    tell(f"{folder}: {len(every)} tables in {len(paths)} files.")


@click.command("page", epilog=WHERE)
@with_request(has_criteria=False, formats="svg,pdf,png")
def page(request: Request, to: Path | None, formats: str) -> None:
    """Write a page with the ranking, every figure and table, the design, and every failure."""
    from evenhand.benchmark import write_report
    from evenhand.benchmark.scoring.floors import with_floors
    from evenhand.benchmark.sections import usual_sections

    opened = _opened(request)
    names = _questions_about(opened.results, _criteria(opened.results, None))
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
    questions = QUESTIONS if design is None else design.questions
    measures = {question.measure for group in questions.values() for question in group}
    if is_quick or measure not in (None, *measures):
        questions = _by(questions, folder, request.criteria, measure)
        scored = results(folder, design, questions=questions, lots="expected", n_jobs=request.jobs)
    else:
        scored = results(folder, design, n_jobs=request.jobs)
    return Opened(scored, folder, name, text)


def _by(by_kind: Any, folder: Path, criteria: str | None, measure: str | None) -> Any:
    """Performances, and each criterion that is ranked by one measure."""
    from dataclasses import replace

    from evenhand.benchmark import QUESTIONS, Store
    from evenhand.benchmark.figures.theme import criterion_name

    constraints = {entry["constraint"] for entry in Store(folder).entries().values()}
    chosen: dict[Any, tuple[Any, ...]] = {}
    for kind, questions in by_kind.items():
        measured = [question for question in questions if question.measure is not None]
        usual = set(QUESTIONS[kind])
        main = [
            item for item in measured if item.criterion in constraints or item not in usual
        ] or measured
        if criteria is not None:
            names = {criterion_name(item) for item in measured}
            selected = names if criteria == "all" else set(criteria.split(","))
            main = [item for item in measured if criterion_name(item) in selected]
        by_criterion: dict[str, Any] = {}
        for question in main:
            adapted = (
                question if measure is None else replace(question, measure=measure, p=None, q=None)
            )
            by_criterion.setdefault(criterion_name(question), adapted)
        for question in by_criterion.values():
            question.check()
        plain = [question for question in questions if question.measure is None]
        chosen[kind] = (*plain, *by_criterion.values())
    return chosen


def _criteria(results: Results, criteria: str | None) -> list[str]:
    """The criteria requested on the command line; by default the main ones."""
    from evenhand._words import did_you_mean
    from evenhand.benchmark.figures import main_criteria
    from evenhand.benchmark.figures.theme import criterion_name, question_in

    questions = [question_in(row) for row in results.questions.to_pylist()]
    available = list(
        dict.fromkeys(criterion_name(question) for question in questions if question.measure)
    )
    if criteria is None:
        return main_criteria(results)
    if criteria == "all":
        return available
    for name in criteria.split(","):
        if name not in available:
            raise ValueError(
                f"No criterion {name!r} was asked.{did_you_mean(name, available)} "
                f"There are {', '.join(available)}."
            )
    return criteria.split(",")


def _questions_about(results: Results, names: Sequence[str]) -> list[str]:
    from evenhand.benchmark.sections import questions_about

    return questions_about(results, names)


def _rankings(results: Results, request: Request) -> list[Any]:
    from evenhand.benchmark import rank
    from evenhand.benchmark.sections import question_of

    criteria = _criteria(results, request.criteria)
    questions = (question_of(results, name, request.measure) for name in criteria)
    return [
        ranking
        for question in questions
        if question is not None
        for ranking in rank(results, question, loss=request.loss)
    ]


def _tables(opened: Opened, request: Request) -> list[Table]:
    from evenhand.benchmark import Store, tables

    results = opened.results
    rankings = _rankings(results, request)
    questions = list(dict.fromkeys(ranking.question for ranking in rankings))
    by_ranking = [
        make(results, ranking)
        for ranking in rankings
        for make in (tables.ranking_table, tables.area_table, tables.pair_table)
    ]
    store = Store(opened.folder)
    return [
        *by_ranking,
        tables.empty_cell_table(results),
        tables.score_table(results, questions),
        tables.data_sets(results),
        tables.methods(results),
        tables.run_times(results),
        tables.failure_table(store.failures().values()),
    ]


def _drawing_by(draw: Callable[..., Any], ranking: Any) -> Callable[[Results], Any]:
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
