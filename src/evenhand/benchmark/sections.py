"""Sections of a report: findings, figures and tables, and the usual ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from evenhand.benchmark.figures.theme import criterion_name, question_in, theme_of
from evenhand.benchmark.ranking.areas import LOSS
from evenhand.benchmark.ranking.ranks import rank
from evenhand.benchmark.tables.contents import data_sets, methods, run_times, score_table
from evenhand.benchmark.tables.rankings import (
    area_table,
    empty_cell_table,
    pair_table,
    ranking_table,
)

if TYPE_CHECKING:
    from evenhand.benchmark.figures import Drawing
    from evenhand.benchmark.ranking.ranks import Ranking
    from evenhand.benchmark.scoring.results import Results
    from evenhand.benchmark.tables.table import Table

Verdict = Literal["agrees", "differs", "cannot tell"]
__all__ = [
    "Finding",
    "Section",
    "Verdict",
    "count_verdicts",
    "usual_rankings",
    "usual_sections",
]

MARKS: dict[Verdict, str] = {"agrees": "✓", "differs": "✗", "cannot tell": "?"}
VERDICTS: dict[Verdict, str] = {
    "agrees": "agree",
    "differs": "differ",
    "cannot tell": "inconclusive",
}


@dataclass(frozen=True)
class Finding:
    """A claim, whether the results support it, and the number behind the verdict.

    Parameters
    ----------
    question : str
        What the claim is an answer to; findings are shown under their questions.
    claim : str
        What was claimed.
    where : str
        On which data.
    verdict : {"agrees", "differs", "cannot tell"}
        What the results say of it.
    number, low, high : float
        The number that decides and its interval; NaN where there is none.
    sentence : str
        The same in words.
    is_theorem : bool, default False
        Whether it could not have come out otherwise, whatever the data: such a verdict is no
        evidence, and is counted separately.
    source : str, default ""
        Whose claim it is, where that must be said.

    Examples
    --------
    >>> finding = Finding("Who wins?", "A", "people", "agrees", 0.81, 0.7, 0.9, "A wins.")
    >>> finding.mark, finding.interval
    ('✓', '0.70 to 0.90')

    """

    question: str
    claim: str
    where: str
    verdict: Verdict
    number: float
    low: float
    high: float
    sentence: str
    is_theorem: bool = False
    source: str = ""

    @property
    def mark(self) -> str:
        """The verdict as one character."""
        return MARKS[self.verdict]

    @property
    def value(self) -> str:
        """The number in words."""
        return _number(self.number)

    @property
    def interval(self) -> str:
        """Its interval in words; empty where there is none."""
        return "" if self.low != self.low else f"{_number(self.low)} to {_number(self.high)}"


def count_verdicts(findings: Iterable[Finding]) -> str:
    """The numbers of verdicts of each kind, in words; those by theorem come last.

    Parameters
    ----------
    findings : iterable of Finding
        What is counted.

    Returns
    -------
    str
        Such as "3 agree, 1 differ".

    Examples
    --------
    >>> finding = Finding("Who wins?", "A", "people", "agrees", 0.81, 0.7, 0.9, "A wins.")
    >>> count_verdicts([finding, finding])
    '2 agree'
    >>> count_verdicts([finding, replace(finding, is_theorem=True)])
    '1 agree, 1 by theorem'

    """
    rows = list(findings)
    counts = Counter(finding.verdict for finding in rows if not finding.is_theorem)
    theorems = sum(finding.is_theorem for finding in rows)
    texts = [f"{counts[verdict]} {word}" for verdict, word in VERDICTS.items() if counts[verdict]]
    return ", ".join([*texts, f"{theorems} by theorem"] if theorems else texts)


@dataclass(frozen=True, eq=False)
class Section:
    """A part of the page: text, findings, figures and tables, in this order.

    Parameters
    ----------
    name, title : str
        Its address on the page, and its heading.
    text : str, default ""
        The text above the rest.
    findings : tuple of Finding, default ()
        Shown under their questions, and these under their claims.
    opened : tuple of str, default ()
        Questions whose findings are shown at once; those of others are folded.
    figures : mapping of str to callable, default {}
        Functions from results to a `Drawing`, by name.
    tables : tuple of Table, default ()
        Shown one after another.

    Examples
    --------
    >>> Section("method", "Method", "Every method saw the same splits.").findings
    ()

    """

    name: str
    title: str
    text: str = ""
    findings: tuple[Finding, ...] = ()
    opened: tuple[str, ...] = ()
    figures: Mapping[str, Callable[[Results], Drawing]] | None = None
    tables: tuple[Table, ...] = ()


def usual_sections(
    results: Results, *, loss: float = LOSS, measure: str | None = None, all_criteria: bool = False
) -> tuple[Section, ...]:
    """The sections of a page on any results: who wins, trade-offs, empty cells, and what was run.

    Parameters
    ----------
    results : Results
        What the page is about; with noise floors (`with_floors`), figures shade them.
    loss : float, default 0.05
        The most that a method may give up: points of accuracy, or a share of the base model's RMSE.
    measure : str, optional
        Rank by this measure; by default the first that each criterion was asked with.
    all_criteria : bool, default False
        Draw every criterion, not only the constraints of methods and your own.

    Returns
    -------
    tuple of Section
        For `write_report`, alone or with sections of your own.

    Examples
    --------
    >>> from evenhand.benchmark import Results
    >>> nothing = Results.from_rows(runs=[], questions=[], problems=[], scores=[])
    >>> [section.title for section in usual_sections(nothing)]
    ['What was run']

    """
    from evenhand.benchmark.figures import main_criteria, usual_figures

    criteria = main_criteria(results)
    rankings = usual_rankings(results, loss=loss, measure=measure)
    figures = usual_figures(results, None if all_criteria else criteria)
    text = "What every method gives up for what it gains, setting by setting."
    tables = (data_sets(results), methods(results), run_times(results))
    nonempty = tuple(table for table in tables if table.rows) or tables[:1]
    questions = list(dict.fromkeys(ranking.question for ranking in rankings))
    return (
        *((_who_wins(results, rankings),) if rankings else ()),
        *((Section("figures", "Trade-offs", text, figures=figures),) if figures else ()),
        *((_details(results, rankings, questions),) if rankings else ()),
        Section("tables", "What was run", tables=nonempty),
    )


def usual_rankings(
    results: Results, *, loss: float = LOSS, measure: str | None = None
) -> tuple[Ranking, ...]:
    """Rankings by every criterion of `main_criteria`, in every track.

    Parameters
    ----------
    results : Results
        Scores of stored runs.
    loss : float, default 0.05
        The most that a method may give up: points of accuracy, or a share of the base model's RMSE.
    measure : str, optional
        Rank by this measure; by default the first that each criterion was asked with.

    Returns
    -------
    tuple of Ranking
        By criterion, then by track.

    Examples
    --------
    >>> from evenhand.benchmark import Results
    >>> usual_rankings(Results.from_rows(runs=[], questions=[], problems=[], scores=[]))
    ()

    """
    from evenhand.benchmark.figures import main_criteria

    return tuple(
        ranking
        for criterion in main_criteria(results)
        if (question := question_of(results, criterion, measure)) is not None
        for ranking in rank(results, question, loss=loss)
    )


def main_questions(results: Results) -> list[str]:
    """The names of all questions about the criteria of `main_criteria`.

    Examples
    --------
    >>> from evenhand.benchmark import Results
    >>> main_questions(Results.from_rows(runs=[], questions=[], problems=[], scores=[]))
    []

    """
    from evenhand.benchmark.figures import main_criteria

    return questions_about(results, main_criteria(results))


def questions_about(results: Results, criteria: Sequence[str]) -> list[str]:
    """The names of all questions about these criteria, by a measure."""
    questions = [question_in(row) for row in results.questions.to_pylist()]
    measured = (question for question in questions if question.measure)
    return [question.name for question in measured if criterion_name(question) in criteria]


def question_of(results: Results, criterion: str, measure: str | None = None) -> str | None:
    """The name of the first question about a criterion, by a measure if given.

    Examples
    --------
    >>> from evenhand.benchmark import Question, Results
    >>> asked = [Question("equalized_odds", "mpd"), Question("equalized_odds", "pq")]
    >>> found = Results.from_rows(runs=[], questions=asked, problems=[], scores=[])
    >>> question_of(found, "equalized_odds", "pq")
    'equalized_odds.pq'

    """
    questions = (question_in(row) for row in results.questions.to_pylist())
    fitting = (
        question.name
        for question in questions
        if question.measure is not None
        and criterion_name(question) == criterion
        and measure in (None, question.measure)
    )
    return next(fitting, None)


def _who_wins(results: Results, rankings: Sequence[Ranking]) -> Section:
    from evenhand.benchmark.figures import ranking_figure

    first = rankings[0]
    question = theme_of(results).question(first.question)
    share = f"{100 * first.loss:g} %"
    text = (
        f"By {question} ({first.track}): {first.sentence} The number of a method is the share of "
        "the base model’s gap that is gone, averaged over what may be given up for it: from "
        f"nothing to {share} of accuracy, or of RMSE. 0 is like the base model, 1 is no gap at no "
        "loss. "
        "A setting is chosen on other splits than it is judged on. Intervals and tests over splits "
        "know that splits share rows (Nadeau and Bengio); mean ranks over problems are compared as "
        "Demšar proposes."
    )
    figures = {
        ranking_table(results, ranking).name: partial(ranking_figure, ranking=ranking)
        for ranking in rankings
    }
    tables = tuple(
        replace(table, name=f"{table.name}-table")
        for table in (ranking_table(results, ranking) for ranking in rankings)
    )
    return Section("ranking", "Who removes most of the gap", text, figures=figures, tables=tables)


def _details(results: Results, rankings: Sequence[Ranking], questions: Sequence[str]) -> Section:
    tables = [make(results, ranking) for ranking in rankings for make in (area_table, pair_table)]
    text = "Problem by problem, pair by pair, setting by setting."
    tables += [empty_cell_table(results), score_table(results, questions)]
    return Section("details", "In detail", text, tables=tuple(tables))


def _number(value: float) -> str:
    """A number of a finding.

    >>> _number(0.8123), _number(0.00012), _number(float("nan"))
    ('0.81', '0.00012', '–')
    """
    if value != value:
        return "–"
    text = f"{value:.2f}" if value == 0 or abs(value) >= 0.01 else f"{value:.2g}"
    return text.replace("-", "−")
