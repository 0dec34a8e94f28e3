"""Methods in order over problems, and which of them can be separated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import isnan
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evenhand._errors import InputError
from evenhand._uncertainty.homogeneity import holm
from evenhand._words import did_you_mean
from evenhand.benchmark.design.treatments import BASE
from evenhand.benchmark.ranking.areas import LOSS, Area, areas
from evenhand.benchmark.ranking.inference import (
    Estimate,
    Friedman,
    average_ranks,
    critical_difference,
    friedman,
    inseparable_runs,
    paired_p_value,
    split_interval,
    wilcoxon_p_value,
)
from evenhand.benchmark.ranking.tracks import track_of, track_order

if TYPE_CHECKING:
    from evenhand.benchmark.scoring.results import Results

ALPHA = 0.05

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Entrant:
    """A ranked method: its number over all problems with an interval, and its mean rank.

    Parameters
    ----------
    method : str
        Its name.
    removed : Estimate
        The share of the base model's gap that it removes, mean over the problems.
    lost : Estimate
        The performance it gives up for that.
    rank : float
        Its mean rank over the problems; 1 is best.

    Examples
    --------
    >>> Entrant("mine", Estimate(0.5, 0.4, 0.6), Estimate(0.01), 1.5).removed.text
    '0.50 [0.40, 0.60]'

    """

    method: str
    removed: Estimate
    lost: Estimate
    rank: float

    @property
    def text(self) -> str:
        """The share removed with its interval; of the base model, that it is the yardstick."""
        return "0 by definition" if self.method == BASE else self.removed.text


@dataclass(frozen=True)
class Pair:
    """Two ranked methods side by side.

    Parameters
    ----------
    better, worse : str
        The methods, in the order of their mean ranks.
    wins, losses, undecided : int
        On how many problems and base models the first is better, worse, or inseparable from
        the second: the corrected t test over splits, by Holm over all pairs there.
    p_value : float
        Wilcoxon's signed-rank test over the problems, by Holm over all pairs; NaN for one problem.
    differs : bool
        Whether their mean ranks differ by more than the critical difference; with a single
        problem, whether the test over its splits separates them.

    Examples
    --------
    >>> Pair("mine", "Base", wins=3, losses=0, undecided=1, p_value=0.25, differs=False).wins
    3

    """

    better: str
    worse: str
    wins: int
    losses: int
    undecided: int
    p_value: float
    differs: bool


@dataclass(frozen=True, eq=False)
class Ranking:
    """The methods of a track by one question, best first. `rank` makes it.

    Parameters
    ----------
    track : str
        What its problems have in common.
    question : str
        The name of the question.
    loss : float
        The most that could be given up.
    problems : tuple of str
        Over which the methods are ranked, base models taken together.
    entrants : tuple of Entrant
        The methods that have a number on every one of them, in the order of their mean ranks.
    pairs : tuple of Pair
        Every two of them.
    areas : tuple of Area
        What the ranking rests on, problem by problem; of methods that are not ranked too.
    difference : float
        Nemenyi's critical difference of mean ranks; NaN with a single problem.
    friedman : Friedman
        Whether the methods differ at all.
    unranked : mapping of str to tuple of str
        Methods that are not ranked, with what they lack: problems, or base models on these.
    splits : int
        On how many splits, at least.

    """

    track: str
    question: str
    loss: float
    problems: tuple[str, ...]
    entrants: tuple[Entrant, ...]
    pairs: tuple[Pair, ...]
    areas: tuple[Area, ...]
    difference: float
    friedman: Friedman
    unranked: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    splits: int = 1

    @property
    def bars(self) -> list[tuple[int, int]]:
        """Runs of methods that cannot be separated, by first and last place."""
        if isnan(self.difference):
            return []
        return inseparable_runs([entrant.rank for entrant in self.entrants], self.difference)

    @property
    def sentence(self) -> str:
        """The leader, and the methods that cannot be separated from it."""
        if not self.entrants:
            return "No method has a result on every problem."
        first = self.entrants[0]
        if len(self.entrants) == 1:
            return f"{first.method} is the only method with a result on every problem."
        inseparable = [
            pair.worse for pair in self.pairs if pair.better == first.method and not pair.differs
        ]
        head = self._head(first)
        if not inseparable:
            return f"{head}, and differs significantly from all others."
        if len(inseparable) == len(self.entrants) - 1:
            return f"{head}, but no other method can be separated from it."
        names = " and ".join(filter(None, (", ".join(inseparable[:-1]), inseparable[-1])))
        return f"{head}; {names} cannot be separated from it."

    def _head(self, first: Entrant) -> str:
        """The lead; that it removes most of the gap only where it does: the order is by ranks."""
        largest = max(self.entrants, key=lambda entrant: entrant.removed.value)
        if first.method == BASE:
            return "No method ranks before the base model as it is"
        if round(largest.removed.value - first.removed.value, 2) <= 0:
            return f"{first.method} removes most of the gap, {first.text}"
        return (
            f"{first.method} ranks first over the problems with {first.text} of the gap removed "
            f"(on average {largest.method} removes more, {largest.text})"
        )


def rank(
    results: Results,
    question: str,
    *,
    loss: float = LOSS,
    tracks: Iterable[str] | None = None,
) -> tuple[Ranking, ...]:
    """Rank the methods of every track by how much of the gap they remove.

    Parameters
    ----------
    results : Results
        Scores of stored runs.
    question : str
        The name of a question, such as "equalized_odds.pq".
    loss : float, default 0.05
        The most that may be given up: points of accuracy, or a share of the base model's RMSE.
    tracks : iterable of str, optional
        Rank in these only, such as "binary, two groups"; by default in all.

    Returns
    -------
    tuple of Ranking
        One for each track that has two methods with results, the simplest first.

    Raises
    ------
    ValueError
        If the results have no answers to that question.

    Notes
    -----
    A method's number on a problem is its area (`evenhand.benchmark.areas`), mean over the
    base models. Methods are ranked on each problem; mean ranks are compared as Demšar (2006)
    proposes, by the tests of Friedman and Nemenyi. These take problems as independent: several
    problems from one data set are not quite that. On single problems, methods are compared over
    splits by the corrected t test of Nadeau and Bengio (2003).

    Examples
    --------
    >>> from evenhand.benchmark import Question, Results
    >>> nothing = Results.from_rows(
    ...     runs=[], questions=[Question("statistical_parity", "mpd")], problems=[], scores=[]
    ... )
    >>> rank(nothing, "statistical_parity.mpd")
    ()

    """
    questions = results.questions["name"].to_pylist()
    if question not in questions:
        raise InputError(
            f"Nobody asked {question!r}.{did_you_mean(question, questions)} "
            f"These results answer {', '.join(map(str, questions)) or 'nothing'}."
        )
    track = {row["problem"]: track_of(row) for row in results.problems.to_pylist()}
    by_track: dict[str, list[Area]] = {}
    for area in areas(results, question, loss=loss):
        by_track.setdefault(track[area.problem], []).append(area)
    names = sorted(by_track, key=track_order) if tracks is None else tracks
    rankings = (ranking_of(name, question, loss, by_track.get(name, [])) for name in names)
    return tuple(ranking for ranking in rankings if len(ranking.entrants) > 1)


def ranking_of(track: str, question: str, loss: float, areas: Sequence[Area]) -> Ranking:
    """The ranking of these areas.

    Examples
    --------
    >>> ranking_of("binary, two groups", "equalized_odds.mpd", 0.05, []).sentence
    'No method has a result on every problem.'

    """
    places = list(dict.fromkeys((area.problem, area.base) for area in areas))
    problems = tuple(dict.fromkeys(problem for problem, _ in places))
    by_method: dict[str, dict[tuple[str, str], Area]] = {}
    for area in areas:
        by_method.setdefault(area.method, {})[area.problem, area.base] = area
    complete = {name: own for name, own in by_method.items() if len(own) == len(places)}
    unranked = {
        name: tuple(dict.fromkeys(_lacking(own, *place) for place in places if place not in own))
        for name, own in by_method.items()
        if name not in complete
    }
    rows = [[_mean(own, problem) for own in complete.values()] for problem in problems]
    table = np.array(rows).reshape(len(problems), len(complete))
    ranks = average_ranks(table.round(5)).mean(axis=0) if complete else np.array([])
    names = list(complete)
    order = sorted(range(len(names)), key=lambda at: (ranks[at], -table[:, at].mean(), names[at]))
    several = len(problems) > 1 and len(names) > 1
    difference = critical_difference(len(problems), len(names)) if several else float("nan")
    entrants = tuple(_entrant(names[at], complete[names[at]], float(ranks[at])) for at in order)
    return Ranking(
        track=track,
        question=question,
        loss=loss,
        problems=problems,
        entrants=entrants,
        pairs=_pairs([names[at] for at in order], complete, table[:, order], difference, entrants),
        areas=tuple(areas),
        difference=difference,
        friedman=friedman(table.round(5)) if several else Friedman(float("nan"), float("nan")),
        unranked=unranked,
        splits=min((len(area.removed) for area in areas), default=0),
    )


def _lacking(own: Mapping[tuple[str, str], Area], problem: str, base: str) -> str:
    """A problem that a method has no result on, or a base model on a problem that it has."""
    return f"{problem} with {base}" if any(problem == name for name, _ in own) else problem


def _mean(own: Mapping[tuple[str, str], Area], problem: str) -> float:
    return float(np.mean([area.removed.mean() for key, area in own.items() if key[0] == problem]))


def _entrant(name: str, own: Mapping[tuple[str, str], Area], rank: float) -> Entrant:
    """The means of a method over problems and base models; a split of all of them is one draw."""
    ratio = float(np.mean([area.ratio for area in own.values()]))
    removed = _by_split([area.removed for area in own.values()])
    lost = _by_split([area.lost for area in own.values()])
    return Entrant(name, split_interval(removed, ratio), split_interval(lost, ratio), rank)


def _by_split(values: Sequence[Floats]) -> Floats:
    """Means by split; where some have more splits, these count for the mean, not for its variance.

    >>> _by_split([np.array([0.0, 1.0]), np.array([0.5])]).tolist()
    [0.5]
    """
    splits = min(map(len, values))
    shared = np.mean([sample[:splits] for sample in values], axis=0)
    return np.asarray(shared - shared.mean() + np.mean([sample.mean() for sample in values]))


def _pairs(
    names: Sequence[str],
    areas: Mapping[str, Mapping[tuple[str, str], Area]],
    table: Floats,
    difference: float,
    entrants: Sequence[Entrant],
) -> tuple[Pair, ...]:
    pairs = list(combinations(range(len(names)), 2))
    places = list(next(iter(areas.values()))) if areas else []
    signs = np.array([_signs(names, areas, place, pairs) for place in places])
    signs = signs.reshape(len(places), len(pairs))
    p_values = [wilcoxon_p_value(table[:, i] - table[:, j]) for i, j in pairs]
    corrected = holm(p_values) if len(table) > 1 else np.full(len(pairs), np.nan)
    results = []
    for at, (i, j) in enumerate(pairs):
        wins, losses = int((signs[:, at] > 0).sum()), int((signs[:, at] < 0).sum())
        if isnan(difference):
            differs = (wins > 0) != (losses > 0)
        else:
            differs = entrants[j].rank - entrants[i].rank > difference
        results.append(
            Pair(
                names[i],
                names[j],
                wins,
                losses,
                len(places) - wins - losses,
                float(corrected[at]),
                differs,
            )
        )
    return tuple(results)


def _signs(
    names: Sequence[str],
    areas: Mapping[str, Mapping[tuple[str, str], Area]],
    place: tuple[str, str],
    pairs: Sequence[tuple[int, int]],
) -> list[int]:
    """On one problem and base model: 1 if the first is better, −1 if worse, 0 if inconclusive."""
    own = [areas[name][place] for name in names]
    differences = [own[i].removed - own[j].removed for i, j in pairs]
    p_values = holm([paired_p_value(sample, own[0].ratio) for sample in differences])
    return [
        int(np.sign(sample.mean())) if p_value <= ALPHA else 0
        for sample, p_value in zip(differences, p_values, strict=True)
    ]
