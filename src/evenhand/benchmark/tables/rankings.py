"""Tables of rankings: methods in order, by problem and by pair, and empty cells."""

from __future__ import annotations

import re
from math import isnan
from typing import TYPE_CHECKING

from evenhand._signatures import documented
from evenhand.benchmark.figures.theme import Theme, theme_of
from evenhand.benchmark.ranking.areas import PERFORMANCE
from evenhand.benchmark.ranking.tracks import REGRESSION
from evenhand.benchmark.scoring.empty import empty_cells
from evenhand.benchmark.tables.table import Table

if TYPE_CHECKING:
    from evenhand.benchmark.ranking.inference import Estimate
    from evenhand.benchmark.ranking.ranks import Ranking
    from evenhand.benchmark.scoring.results import Results


RANKED = """\
results : Results
    What was ranked.
ranking : Ranking
    Made by `rank`.
theme : Theme, optional
    Names of questions; by default the usual ones."""
EXAMPLE = """\
>>> from evenhand.benchmark import Question, Results, rank
>>> runs = [
...     {"key": name, "problem": "people", "base": "b", "method": name, "seed": 0}
...     for name in ("Base", "mine")
... ]
>>> gaps = {"Base": 0.2, "mine": 0.1}
>>> found = Results.from_rows(
...     runs=runs,
...     questions=[Question("accuracy"), Question("statistical_parity", "mpd")],
...     problems=[{"problem": "people", "kind": "classification"}],
...     scores=[
...         *((name, "accuracy", "expected", 0.8) for name in gaps),
...         *((name, "statistical_parity.mpd", "expected", gap) for name, gap in gaps.items()),
...     ],
... )
>>> (ranking,) = rank(found, "statistical_parity.mpd")"""


@documented(ranked=RANKED, example=EXAMPLE)
def ranking_table(results: Results, ranking: Ranking, theme: Theme | None = None) -> Table:
    """The methods of a ranking: mean rank, gap removed, performance lost, and which methods differ.

    Parameters
    ----------
    {ranked}

    Returns
    -------
    Table
        The best method first; methods that are not ranked are in the note.

    Examples
    --------
    {example}
    >>> ranking_table(found, ranking).rows[0][:3]
    ('mine', '1.00', '0.50')

    """
    theme = theme or theme_of(results)
    first = ranking.entrants[0].method
    differs = {pair.worse: pair.differs for pair in ranking.pairs if pair.better == first}
    is_regression = ranking.track.startswith(REGRESSION)
    performance = _performances(results, ranking, PERFORMANCE[_kind(is_regression)])
    rows = tuple(
        (
            entrant.method,
            f"{entrant.rank:.2f}",
            entrant.text,
            _fine(entrant.lost),
            performance.get(entrant.method, "–"),
            "–" if entrant.method == first else "yes" if differs[entrant.method] else "no",
        )
        for entrant in ranking.entrants
    )
    lost, best = ("RMSE added", "RMSE") if is_regression else ("Accuracy lost", "Accuracy")
    head = ("Method", "Mean rank", "Gap removed [95%]", f"{lost} [95%]", f"{best}, range")
    without = "; ".join(
        f"{method} has no result on {', '.join(problems)}"
        for method, problems in sorted(ranking.unranked.items())
    )
    note = f"{ranking.sentence}{f' Not ranked: {without}.' if without else ''}"
    return Table(
        _address("ranking", ranking),
        f"Ranking by {theme.question(ranking.question)}: {ranking.track}",
        (*head, f"Differs from {first}"),
        rows,
        note,
        frozenset({1, 2, 3, 4}),
    )


@documented(ranked=RANKED, example=EXAMPLE)
def area_table(results: Results, ranking: Ranking, theme: Theme | None = None) -> Table:
    """The share of the gap that every method removes, problem by problem.

    Parameters
    ----------
    {ranked}

    Returns
    -------
    Table
        A row for each problem and base model, a column for each method.

    Examples
    --------
    {example}
    >>> area_table(found, ranking).rows
    (('people', 'b', '0.2', '0.50', '0.00'),)

    """
    theme = theme or theme_of(results)
    names = [entrant.method for entrant in ranking.entrants] + sorted(ranking.unranked)
    places: dict[tuple[str, str], dict[str, str]] = {}
    gaps: dict[tuple[str, str], float] = {}
    for area in ranking.areas:
        places.setdefault((area.problem, area.base), {})[area.method] = area.estimate.text
        gaps[area.problem, area.base] = area.gap
    rows = tuple(
        (problem, base, f"{gaps[problem, base]:.3g}", *(estimates.get(name, "–") for name in names))
        for (problem, base), estimates in places.items()
    )
    return Table(
        _address("areas", ranking),
        f"Gap removed by problem: {theme.question(ranking.question)}, {ranking.track}",
        ("Problem", "Base model", "Its gap", *names),
        rows,
        "95% intervals over splits, corrected for shared rows (Nadeau and Bengio).",
        frozenset(range(2, 3 + len(names))),
    )


@documented(ranked=RANKED, example=EXAMPLE)
def pair_table(results: Results, ranking: Ranking, theme: Theme | None = None) -> Table:
    """Every pair of methods: on how many problems one is better, and by which test.

    Parameters
    ----------
    {ranked}

    Returns
    -------
    Table
        A row for each pair.

    Examples
    --------
    {example}
    >>> pair_table(found, ranking).rows
    (('mine', 'Base', '0', '0', '1', '–', 'no'),)

    """
    theme = theme or theme_of(results)
    rows = tuple(
        (
            pair.better,
            pair.worse,
            str(pair.wins),
            str(pair.losses),
            str(pair.undecided),
            "–" if isnan(pair.p_value) else f"{pair.p_value:.2g}",
            "yes" if pair.differs else "no",
        )
        for pair in ranking.pairs
    )
    note = (
        "Better, worse, inconclusive: on how many problems and base models, by the t test over "
        "splits of Nadeau and Bengio with Holm’s correction. p: Wilcoxon’s signed-rank test over "
        "the problems, by Holm. Separated: mean ranks differ by more than Nemenyi’s critical "
        "difference; with a single problem, by the test over its splits."
    )
    head = ("Method", "Against", "Better", "Worse", "Inconclusive", "p", "Separated")
    return Table(
        _address("pairs", ranking),
        f"Pairs: {theme.question(ranking.question)}, {ranking.track}",
        head,
        rows,
        note,
        frozenset({2, 3, 4, 5}),
    )


def empty_cell_table(results: Results, theme: Theme | None = None) -> Table:
    """How many scores one empty cell would decide, if no rows counted as a rate of 0.

    Parameters
    ----------
    results : Results
        What the table is about.
    theme : Theme, optional
        Names of questions; by default the usual ones.

    Returns
    -------
    Table
        A row for each problem and question that has empty cells; none is a good sign.

    Examples
    --------
    >>> from evenhand.benchmark import Results
    >>> nothing = Results.from_rows(runs=[], questions=[], problems=[], scores=[])
    >>> empty_cell_table(nothing).note
    'No group lacks rows of a class that a criterion looks at: no score hangs on an empty cell.'

    """
    theme = theme or theme_of(results)
    cells = empty_cells(results)
    rows = tuple(
        (
            cell.problem,
            theme.question(cell.question),
            f"{cell.scores:,}",
            f"{cell.empty:,}",
            f"{cell.decided:,}",
            f"{cell.nearly_one:,}",
        )
        for cell in cells
    )
    note = (
        "No group lacks rows of a class that a criterion looks at: no score hangs on an empty cell."
    )
    if cells:
        decided, scores = sum(cell.decided for cell in cells), sum(cell.scores for cell in cells)
        note = (
            f"{decided:,} of these {scores:,} scores ({decided / scores:.0%}) would be decided by "
            "a group without any row of the class in question, if its rate, 0/0, counted as 0. "
            "Here such a group is left out of that comparison, so none is."
        )
    head = ("Problem", "Question", "Scores", "With an empty cell", "Decided by it", "Above 0.99")
    return Table("empty", "Empty cells", head, rows, note, frozenset({2, 3, 4, 5}))


def _kind(is_regression: bool) -> str:
    return "regression" if is_regression else "classification"


def _performances(results: Results, ranking: Ranking, performance: str) -> dict[str, str]:
    """From the lowest to the highest mean over problems of any setting, by method."""
    wide = results.wide([performance])
    wide = wide[wide["problem"].isin(ranking.problems)]
    setting = ["method", "constraint", "hyperparameter"]
    means = wide.groupby(setting, dropna=False, observed=True)[performance].mean()
    by_method = means.groupby("method", observed=True)
    return {
        str(method): f"{low:.3f}" if high - low < 5e-4 else f"{low:.3f} to {high:.3f}"
        for method, low, high in zip(
            by_method.min().index, by_method.min(), by_method.max(), strict=True
        )
    }


def _address(name: str, ranking: Ranking) -> str:
    """A table's name on a page and as a file.

    >>> from types import SimpleNamespace
    >>> ranking = SimpleNamespace(question="equalized_odds.mpd", track="binary, two groups")
    >>> _address("ranking", ranking)
    'ranking-equalized_odds.mpd-binary-two-groups'
    """
    words = f"{name}-{ranking.question}-{ranking.track}"
    return re.sub(r"[^\w.]+", "-", words.replace(":", "."))


def _fine(value: Estimate) -> str:
    """Three digits, for small differences."""
    if isnan(value.value):
        return "–"
    ends = "" if isnan(value.low) else f" [{value.low:.3f}, {value.high:.3f}]"
    return f"{value.value:.3f}{ends}".replace("-", "−")
