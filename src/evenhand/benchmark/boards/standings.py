"""The leaders of each track, as a page that sorts and filters offline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from evenhand._errors import require
from evenhand._writing import write_whole
from evenhand.benchmark.adapters import ADAPTERS
from evenhand.benchmark.design.questions import MEASURES, QUESTIONS, Question, Questions
from evenhand.benchmark.design.treatments import BASE
from evenhand.benchmark.figures.theme import PALETTE, measure_symbol, question_in, topic
from evenhand.benchmark.page import environment, fitted_with, made_with, stand_ins, tiles
from evenhand.benchmark.ranking.areas import LOSS, Area, areas
from evenhand.benchmark.ranking.ranks import Ranking, ranking_of
from evenhand.benchmark.ranking.tracks import (
    DECISIONS,
    KNOWN,
    PROBABILITIES,
    UNKNOWN,
    track_of,
    track_order,
)
from evenhand.benchmark.running.schedule import status
from evenhand.benchmark.scoring.from_store import results
from evenhand.benchmark.store import Store
from evenhand.benchmark.tables.rankings import empty_cell_table
from evenhand.mitigation import METHODS

if TYPE_CHECKING:
    from evenhand.benchmark.design.studies import Design
    from evenhand.benchmark.figures import Drawing
    from evenhand.benchmark.scoring.results import Results

MEASURE = "mpd"
CRITERIA_OF = {
    DECISIONS: ("statistical_parity", "equalized_odds", "equal_opportunity", "average_odds"),
    PROBABILITIES: ("strong_parity", "performance_parity"),
}
REGRESSION_CRITERIA = ("strong_parity", "weak_parity")
OWN = frozenset(name for name, method in METHODS.items() if method.citation.startswith("evenhand"))
PUBLISHED = frozenset({**METHODS, **ADAPTERS}) - OWN


@dataclass(frozen=True, eq=False)
class Board:
    """A track of the leaderboard by one question.

    Parameters
    ----------
    track : str
        Task, groups, access to the group, and output, separated by commas.
    criterion : str
        The criterion, in words.
    ranking : Ranking
        The methods in order.
    ranks : mapping of str to mapping of str to float
        Mean ranks of the same methods on the same problems by other measures: by the measure's
        symbol, then by method.
    cpu_seconds : mapping of str to float
        What one setting of a method takes: the median of the processor time of its runs. Of a
        method whose predictions were submitted nobody knows it.

    Examples
    --------
    >>> from evenhand.benchmark.ranking.ranks import ranking_of
    >>> track = "binary, two groups"
    >>> ranking = ranking_of(track, "equalized_odds.mpd", 0.05, [])
    >>> Board(f"{track}, group known, decisions", "equalized odds", ranking).criterion
    'equalized odds'

    """

    track: str
    criterion: str
    ranking: Ranking
    ranks: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    cpu_seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        """The leader, and the leaders by other measures where they differ."""
        first = self.ranking.entrants[0].method if self.ranking.entrants else ""
        leaders: dict[str, list[str]] = {}
        for measure, ranks in self.ranks.items():
            best = min(ranks.values(), default=0.0)
            if ranks.get(first, best) > best:
                leads = " and ".join(method for method, rank in ranks.items() if rank == best)
                leaders.setdefault(leads, []).append(measure)
        by_leader = (f" By {' and '.join(by)} {name} ranks first." for name, by in leaders.items())
        return "".join((self.ranking.sentence, *by_leader))


def leaderboard(
    store: Store | str | Path,
    *,
    measure: str = MEASURE,
    loss: float = LOSS,
    n_jobs: int | None = 1,
) -> tuple[Board, ...]:
    """The methods of every track that a store has results for, those submitted included.

    Parameters
    ----------
    store : Store, str or Path
        Where predictions are.
    measure : str, default "mpd"
        By which gaps are measured: a name of `evenhand.MEASURES`, or package.module:function.
        Ranks by MPD, Gini and PQ are shown next to it.
    loss : float, default 0.05
        The most that may be given up: points of accuracy, or a share of the base model's RMSE.
    n_jobs : int, optional
        Processes that score side by side; None for one on each core.

    Returns
    -------
    tuple of Board
        One for each track and criterion with at least two methods, and one for each base model or
        problem alone where that ranks a method that lacks others.

    Notes
    -----
    A method is in "group known" if it needs the group at decision, or if the base model
    underneath sees the sensitive columns (`Base.is_blind` hides them). The base model is in the
    tracks of all methods on it, as what they are measured against.

    Examples
    --------
    >>> leaderboard("nowhere")
    ()

    """
    store = store if isinstance(store, Store) else Store(Path(store))
    return _boards(store, _scored(store, measure, n_jobs), measure, loss)


def _scored(store: Store, measure: str, n_jobs: int | None) -> Results:
    return results(store, questions=_questions(measure), lots="expected", n_jobs=n_jobs)


def _boards(store: Store, results: Results, measure: str, loss: float) -> tuple[Board, ...]:
    knows_group, spent = _group_access(store, results), _seconds(results)
    tracks = {row["problem"]: track_of(row) for row in results.problems.to_pylist()}
    kinds = {row["problem"]: row["kind"] for row in results.problems.to_pylist()}
    sides: dict[tuple[str, str], set[bool]] = {}
    for (problem, base, _), is_known in knows_group.items():
        sides.setdefault((tracks[problem], base), set()).add(is_known)
    rows = results.questions.to_pylist()
    questions = [question_in(row) for row in rows if row["measure"] is not None]
    boards = []
    for question in (question for question in questions if question.measure == measure):
        by_measure = {
            measure_symbol(str(other.measure)): areas(results, other.name, loss=loss)
            for other in questions
            if topic(other) == topic(question) and other != question
        }
        output = PROBABILITIES if question.criterion in CRITERIA_OF[PROBABILITIES] else DECISIONS
        by_track: dict[tuple[str, str], list[Any]] = {}
        for area in areas(results, question.name, loss=loss):
            track = tracks[area.problem]
            output_kind = DECISIONS if kinds[area.problem] == "regression" else output
            is_base = area.method == BASE
            for is_known in sides[track, area.base] if is_base else {knows_group[_place(area)]}:
                side = KNOWN if is_known else UNKNOWN
                by_track.setdefault((track, f"{side}, {output_kind}"), []).append(area)
        for (track, access), members in sorted(by_track.items(), key=_order):
            for part, ranking in _rankings(track, question.name, loss, members):
                ranks = {name: _ranks(ranking, same) for name, same in by_measure.items()}
                seconds = _medians(ranking, spent)
                title = f"{track}, {access}{part}"
                boards.append(Board(title, topic(question), ranking, ranks, seconds))
    return tuple(boards)


def _ranks(ranking: Ranking, areas: Sequence[Area]) -> dict[str, float]:
    """Mean ranks of the methods of a ranking, where it ranks them, by areas of another measure."""
    places = {_place(area) for area in ranking.areas}
    shared = [area for area in areas if _place(area) in places]
    reranked = ranking_of(ranking.track, ranking.question, ranking.loss, shared)
    return {area.method: area.rank for area in reranked.entrants}


def _place(area: Area) -> tuple[str, str, str]:
    return area.problem, area.base, area.method


def _seconds(results: Results) -> dict[tuple[str, str, str], list[float]]:
    """Processor time of every run, by problem, base model and method."""
    spent: dict[tuple[str, str, str], list[float]] = {}
    names = ["problem", "base", "method", "cpu_seconds"]
    for *place, seconds in zip(*(results.runs[name].to_pylist() for name in names), strict=True):
        if seconds is not None:
            spent.setdefault((place[0], place[1], place[2]), []).append(seconds)
    return spent


def _medians(
    ranking: Ranking, spent: Mapping[tuple[str, str, str], Sequence[float]]
) -> dict[str, float]:
    """Median processor time of each method of a ranking, over its runs."""
    together: dict[str, list[float]] = {}
    for area in ranking.areas:
        together.setdefault(area.method, []).extend(spent.get(_place(area), ()))
    return {method: median(seconds) for method, seconds in together.items() if seconds}


def _rankings(
    where: str, question: str, loss: float, areas: Sequence[Area]
) -> Iterator[tuple[str, Ranking]]:
    """All problems and base models together, then the parts in which further methods are ranked.

    A method that has results on one base model, or some of the problems, is ranked on these.
    """
    complete = ranking_of(where, question, loss, areas)
    if len(complete.entrants) > 1:
        yield "", complete
    ranked = {entrant.method for entrant in complete.entrants}
    for choices in (("base",), ("problem",), ("problem", "base")):
        parts: dict[str, list[Area]] = {}
        for area in areas:
            parts.setdefault(", ".join(getattr(area, choice) for choice in choices), []).append(
                area
            )
        added: set[str] = set()
        for name, members in parts.items():
            ranking = ranking_of(where, question, loss, members)
            methods = {entrant.method for entrant in ranking.entrants}
            if len(methods) > 1 and not methods <= ranked:
                yield f", {name} alone", ranking
                added |= methods
        ranked |= added


def write_leaderboard(
    store: Store | str | Path,
    path: str | Path,
    *,
    title: str = "Leaderboard",
    design: Design | None = None,
    measure: str = MEASURE,
    loss: float = LOSS,
    n_jobs: int | None = 1,
) -> Path:
    """Write the leaderboard as one HTML file, which needs nothing from elsewhere.

    Parameters
    ----------
    store : Store, str or Path
        Where predictions are.
    path : str or Path
        The file.
    title : str, default "Leaderboard"
        The page's heading.
    design : Design, optional
        The design that fills the store: where it is not done, the page says how much is missing.
    measure : str, default "mpd"
        By which gaps are measured.
    loss : float, default 0.05
        The most that may be given up.
    n_jobs : int, optional
        Processes that score side by side; None for one on each core.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_leaderboard("nowhere", Path(folder) / "board.html").name
    'board.html'

    """
    require("jinja2", "duckdb", "matplotlib")
    store = store if isinstance(store, Store) else Store(Path(store))
    results = _scored(store, measure, n_jobs)
    boards = _boards(store, results, measure, loss)
    state = None if design is None else status(design, store.folder)
    submitted = {
        entry["method"]: entry["submission"]
        for entry in store.current()[0].values()
        if "submission" in entry
    }
    text = (
        environment()
        .get_template("leaderboard.html")
        .render(
            title=title,
            boards=boards,
            tracks=list(dict.fromkeys(board.track for board in boards)),
            criteria=list(dict.fromkeys(board.criterion for board in boards)),
            pictures=[_picture(results, board, number) for number, board in enumerate(boards)],
            submitted=submitted,
            own=OWN,
            published=PUBLISHED,
            base=BASE,
            tiles=tiles(results),
            stand_ins=stand_ins(results),
            planned=0 if state is None else state.runs,
            missing=0 if state is None else state.missing,
            empty=empty_cell_table(results).note,
            palette=PALETTE,
            measure=measure_symbol(measure),
            loss=f"{100 * loss:g} %",
            failures=len(store.failures()),
            made=made_with(),
            fitted=fitted_with(results),
        )
    )
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text)
    return path


def _picture(scored: Results, board: Board, number: int) -> dict[str, Any]:
    """Mean ranks with bars over those that may be equal, areas and losses with intervals."""
    from markupsafe import Markup

    from evenhand.benchmark.figures import drawn, ranking_figure
    from evenhand.benchmark.figures.saving import inline

    def make(results: Results) -> Drawing:
        return ranking_figure(results, board.ranking)

    ((_, drawing),) = drawn(scored, {"ranking": make})
    return {"svg": Markup(inline(drawing, f"b{number}")), "told": drawing.text}


def _questions(measure: str) -> Questions:
    """Performances, and the criteria of every track by this measure and the usual ones."""
    measures = dict.fromkeys((measure, *MEASURES))
    classified = [
        Question(name, key, g="auroc" if name == "performance_parity" else None)
        for name in (*CRITERIA_OF[DECISIONS], *CRITERIA_OF[PROBABILITIES])
        for key in measures
    ]
    return {
        "classification": (Question("accuracy"), *classified),
        "regression": (
            *(question for question in QUESTIONS["regression"] if question.measure is None),
            *(Question(name, key) for name in REGRESSION_CRITERIA for key in measures),
        ),
    }


def _group_access(store: Store, results: Results) -> dict[tuple[str, str, str], bool]:
    """Whether methods have the group at prediction, by problem, base model and method."""
    knows: dict[tuple[str, str, str], bool] = {}
    entries = store.current()[0]
    for run in results.runs.select(["key", "problem", "base", "method"]).to_pylist():
        entry = entries[run["key"]]
        access = entry.get("submission", entry).get("group_known", True)
        knows[run["problem"], run["base"], run["method"]] = bool(access)
    return knows


def _order(track: tuple[tuple[str, str], Any]) -> tuple[Any, ...]:
    (name, access), _ = track
    return (*track_order(name), access)
