"""What every method gives up for what it gains: performance over each criterion asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any

from evenhand.benchmark.design.questions import Question
from evenhand.benchmark.figures.drawing import Drawing, caption, listed, over_seeds, provenance
from evenhand.benchmark.figures.panels import Panel, grid, is_by_root
from evenhand.benchmark.figures.theme import BASES, Theme, theme_of, topic

if TYPE_CHECKING:
    from evenhand.benchmark.scoring.results import Results

PERFORMANCE = {"classification": "accuracy", "regression": "rmse"}
BETTER = {"accuracy": "Upper left is better.", "rmse": "Lower left is better."}
ROOT = "Axes of PQ are spaced by the square root, as PQ grows with the square of differences."
MOST_COLUMNS = 4


def usual_figures(results: Results) -> dict[str, Callable[[Results], Drawing]]:
    """A trade-off for each criterion that the results have answers to, by name.

    Parameters
    ----------
    results : Results
        Whose questions and problems are drawn.

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
    drawn = (
        _name(answer.question)
        for answer in _answered(results)
        if answer.question.measure is not None
    )
    return {f"tradeoffs-{name}": partial(tradeoffs, name=name) for name in dict.fromkeys(drawn)}


def tradeoffs(results: Results, name: str, theme: Theme | None = None) -> Drawing:
    """Performance over one criterion: rows for each problem and base model, a panel a measure.

    Parameters
    ----------
    results : Results
        What is drawn.
    name : str
        The criterion, with the statistic behind a hyphen where it has one:
        "statistical_parity", "performance_parity-f1".
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
    'Statistical parity and accuracy'

    """
    theme = theme or theme_of(results)
    answers = [answer for answer in _answered(results) if _name(answer.question) == name]
    made = grid(results, _rows(answers), theme)
    about = topic(answers[0].question)
    performances = list(dict.fromkeys(answer.performance for answer in answers))
    what = listed([theme.question(one) for one in performances])
    title = f"{about} and {what}"
    what = what[0].upper() + what[1:]
    problems = list(dict.fromkeys(answer.problem for answer in answers))
    asked = dict.fromkeys(answer.question.name for answer in answers)
    where = listed([theme.problem(problem) for problem in problems])
    return Drawing(
        title=title[0].upper() + title[1:],
        caption=caption(
            f"{what} over {listed([theme.question(one) for one in asked])} on {where}.",
            *(BETTER[one] for one in performances),
            over_seeds(made.data),
            ROOT if any(map(is_by_root, asked)) else "",
            provenance(results, problems, theme),
        ),
        alt=alt_text(made.data, f"{what} over {about} on {where}", theme),
        figure=made.figure,
        data=made.data,
        missing=made.missing,
    )


def alt_text(data: Any, shows: str, theme: Theme) -> str:
    """What a reader who cannot see a trade-off should know: what is drawn, and its lines."""
    lines = sorted(set(data["series"]), key=theme.place) if len(data) else []
    return f"{shows}: {f'{len(data)} points of {listed(lines)}' if lines else 'no points yet'}."


@dataclass(frozen=True)
class _Answer:
    """A question that has answers on a problem and base model, beside their performance."""

    problem: str
    base: str
    question: Question
    performance: str
    several_bases: bool

    @property
    def panel(self) -> Panel:
        title = f"{self.problem}, {BASES.get(self.base, self.base)}" if self.several_bases else None
        return Panel(self.problem, self.base, self.question.name, self.performance, title=title)


def _name(question: Question) -> str:
    """The criterion and its statistic, as part of a file's name."""
    words = [question.criterion, *([question.g] if question.g else [])]
    return "-".join(word.rpartition(":")[2] for word in words)


def _answered(results: Results) -> list[_Answer]:
    """Every question with an answer, in the order asked, where performance has one too."""
    names = [field.name for field in fields(Question)]
    asked = {
        row["name"]: Question(**{name: row[name] for name in names})
        for row in results.questions.to_pylist()
    }
    kinds = {row["problem"]: row["kind"] for row in results.problems.to_pylist()}
    there = results.query(
        "select distinct problem, base, question from results "
        "where lot = 'expected' and isfinite(value)"
    )
    answered = set(zip(there["problem"], there["base"], there["question"], strict=True))
    bases = {(problem, base) for problem, base, _ in answered}
    several = len({base for _, base in bases}) > 1
    return [
        _Answer(problem, base, question, performance, several)
        for name, question in asked.items()
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
