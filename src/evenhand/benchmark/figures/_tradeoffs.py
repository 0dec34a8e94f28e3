"""Trade-offs of every method: performance over each criterion."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from evenhand.benchmark.design.questions import QUESTIONS, Question
from evenhand.benchmark.figures._roots import is_by_root
from evenhand.benchmark.figures.drawing import Drawing, caption, listed, over_seeds, provenance
from evenhand.benchmark.figures.panels import Panel, grid
from evenhand.benchmark.figures.theme import (
    BASES,
    Theme,
    criterion_name,
    question_in,
    theme_of,
    topic,
)
from evenhand.benchmark.ranking.areas import PERFORMANCE
from evenhand.benchmark.scoring.floors import HIGH
from evenhand.benchmark.store import plain
from evenhand.measures import MEASURES, resolve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from evenhand.benchmark.scoring.results import Results

BETTER = {"accuracy": "Upper left is better.", "rmse": "Lower left is better."}
ROOT = "Axes of PQ are spaced by the square root, as PQ grows with the square of differences."
RATIO = "Of ratios, 1 is equal: there, right is better."
FLOORS = (
    "Shaded: what a model that treats all groups alike would show by chance in 19 of 20 samples of "
    "this size; dotted, its mean. Differences inside the shade are not evidence."
)
BEYOND = "An arrow at the edge stands for the points of a method that lie further out."
ZOOM = "The last panel of a row enlarges the box in the first."
MOST_COLUMNS = 4


def usual_figures(
    results: Results, criteria: Collection[str] | None = None
) -> dict[str, Callable[[Results], Drawing]]:
    """A trade-off for each criterion and problem that the results have answers to, by name.

    Parameters
    ----------
    results : Results
        Whose questions and problems are drawn.
    criteria : collection of str, optional
        Draw these only, such as those of `main_criteria`; by default all.

    Returns
    -------
    dict of str to callable
        Functions from results to a `Drawing`; no panel of theirs is empty.

    Examples
    --------
    >>> from evenhand.benchmark import Results
    >>> usual_figures(Results.from_rows(runs=[], questions=[], problems=[], scores=[]))
    {}

    """
    pairs = dict.fromkeys(
        (criterion_name(answer.question), answer.problem)
        for answer in _answered(results)
        if answer.question.measure is not None
    )
    return {
        f"tradeoffs-{name}-{plain(problem)}": partial(tradeoffs, name=name, problem=problem)
        for name, problem in pairs
        if criteria is None or name in criteria
    }


def main_criteria(results: Results) -> list[str]:
    """The criteria a reader looks for first: the constraints of methods, and your own.

    Parameters
    ----------
    results : Results
        Whose runs and questions are looked at.

    Returns
    -------
    list of str
        Names as in `tradeoffs`; all that have answers where no method has a constraint.

    Examples
    --------
    >>> from evenhand.benchmark import Results
    >>> main_criteria(Results.from_rows(runs=[], questions=[], problems=[], scores=[]))
    []

    """
    constraints = set(results.runs["constraint"].to_pylist())
    usual = {question for questions in QUESTIONS.values() for question in questions}
    kinds: dict[str, dict[str, bool]] = {}
    for answer in _answered(results):
        question = answer.question
        if question.measure is not None:
            is_main = question.criterion in constraints or question not in usual
            names = kinds.setdefault(answer.performance, {})
            name = criterion_name(question)
            names[name] = names.get(name, False) or is_main
    chosen = (
        name
        for names in kinds.values()
        for name, is_main in names.items()
        if is_main or not any(names.values())
    )
    return list(dict.fromkeys(chosen))


def _falls(question: Question) -> bool:
    """Whether 1 means equality, of our own measures: others need not be installed here."""
    name = question.measure
    return name is not None and name in MEASURES and resolve(name).falls


def tradeoffs(
    results: Results, name: str, problem: str | None = None, theme: Theme | None = None
) -> Drawing:
    """Performance over one criterion: rows for each problem and base model, a panel a measure.

    Parameters
    ----------
    results : Results
        What is drawn; with noise floors (`with_floors`), these are shaded.
    name : str
        The criterion, with the statistic behind a hyphen where it has one:
        "statistical_parity", "performance_parity-f1".
    problem : str, optional
        Draw this problem only.
    theme : Theme, optional
        Names and styles; by default the usual ones.

    Returns
    -------
    Drawing
        A figure with its words and points.

    Examples
    --------
    >>> from evenhand.benchmark import Results
    >>> run = {"key": "a", "problem": "people", "base": "logistic", "method": "Base", "seed": 0}
    >>> found = Results.from_rows(
    ...     runs=[run],
    ...     questions=[Question("accuracy"), Question("statistical_parity", "mpd")],
    ...     problems=[{"problem": "people", "kind": "classification"}],
    ...     scores=[
    ...         ("a", "accuracy", "expected", 0.75),
    ...         ("a", "statistical_parity.mpd", "expected", 0.1),
    ...     ],
    ... )
    >>> tradeoffs(found, "statistical_parity").title
    'Statistical parity and accuracy on people'

    """
    theme = theme or theme_of(results)
    answers = [
        answer
        for answer in _answered(results)
        if criterion_name(answer.question) == name and problem in (None, answer.problem)
    ]
    panels = grid(results, _rows(answers), theme, zoom=True, floors=True)
    about = topic(answers[0].question)
    performances = list(dict.fromkeys(answer.performance for answer in answers))
    performance = listed([theme.question(item) for item in performances])
    problems = list(dict.fromkeys(answer.problem for answer in answers))
    where = listed([theme.problem(problem) for problem in problems])
    title = f"{about} and {performance} on {where}"
    performance = performance[0].upper() + performance[1:]
    questions = dict.fromkeys(answer.question.name for answer in answers)
    has_floors = HIGH in results.scores["lot"].unique().to_pylist()
    return Drawing(
        title=title[0].upper() + title[1:],
        caption=caption(
            *(BETTER[item] for item in performances),
            RATIO if any(_falls(answer.question) for answer in answers) else "",
            f"{performance} over {listed([theme.question(item) for item in questions])} on "
            f"{where}: a line is a method, a point one of its settings.",
            over_seeds(panels.data),
            FLOORS if has_floors else "",
            BEYOND if panels.has_arrows else "",
            ZOOM if _has_zoom(panels.figure) else "",
            ROOT if any(map(is_by_root, questions)) else "",
            provenance(results, problems, theme),
        ),
        alt=alt_text(panels.data, f"{performance} over {about} on {where}", theme),
        figure=panels.figure,
        data=panels.data,
        missing=panels.missing,
    )


def _has_zoom(figure: Figure) -> bool:
    return any(axes.get_title(loc="left").endswith("zoom") for axes in figure.axes)


def alt_text(data: Any, shows: str, theme: Theme) -> str:
    """A description of a trade-off for screen readers: what is drawn, and its lines."""
    lines = sorted(set(data["series"]), key=theme.place) if len(data) else []
    return f"{shows}: {f'{len(data)} points of {listed(lines)}' if lines else 'no points yet'}."


@dataclass(frozen=True)
class _Answer:
    """A question that has answers on a problem and base model, and their performance."""

    problem: str
    base: str
    question: Question
    performance: str
    several_bases: bool

    @property
    def panel(self) -> Panel:
        title = f"{self.problem}, {BASES.get(self.base, self.base)}" if self.several_bases else None
        return Panel(self.problem, self.base, self.question.name, self.performance, title=title)


def _answered(results: Results) -> list[_Answer]:
    """Every question with an answer, in order, where performance has one too."""
    questions = {row["name"]: question_in(row) for row in results.questions.to_pylist()}
    kinds = {row["problem"]: row["kind"] for row in results.problems.to_pylist()}
    rows = results.query(
        "select distinct problem, base, question from results "
        "where lot = 'expected' and isfinite(value)"
    )
    answered = set(zip(rows["problem"], rows["base"], rows["question"], strict=True))
    bases = {(problem, base) for problem, base, _ in answered}
    several = len({base for _, base in bases}) > 1
    return [
        _Answer(problem, base, question, performance, several)
        for name, question in questions.items()
        for problem, base in sorted(bases)
        if (performance := PERFORMANCE.get(kinds.get(problem, ""))) is not None
        and {(problem, base, name), (problem, base, performance)} <= answered
    ]


def _rows(answers: Iterable[_Answer]) -> Sequence[Sequence[Panel]]:
    """A row for each problem and base model, or several where there are many measures."""
    together: dict[tuple[str, str], list[Panel]] = {}
    for answer in answers:
        together.setdefault((answer.problem, answer.base), []).append(answer.panel)
    return [
        panels[start : start + MOST_COLUMNS]
        for panels in together.values()
        for start in range(0, len(panels), MOST_COLUMNS)
    ]
