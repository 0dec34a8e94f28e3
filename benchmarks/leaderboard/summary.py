"""The leaderboard in one table and one picture, for the documentation.

    python benchmarks/leaderboard/summary.py leaderboard --to docs/leaderboard

Below the table it counts where our own method for classes leads, by each measure, and names where
it does not. Refuses a folder in which runs of the design are missing: a part of a run is no
leaderboard.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from evenhand.benchmark import Results, leaderboard, read_design, results, status
from evenhand.benchmark.boards.standings import Board
from evenhand.benchmark.figures import draw, ranking_figure
from evenhand.mitigation import METHODS

DESIGN = Path(__file__).parent / "full.toml"
LEADING = "Frontier"
MEASURES = {"mpd": "MPD", "gini": "Gini", "pq": "PQ"}
CLASSES = ("binary", "multi-class")
OWN = frozenset(name for name, one in METHODS.items() if one.citation.startswith("evenhand"))
HEAD = ("Track", "Criterion", "Problems", "First", "Not separable from it", "evenhand’s own")


def row(board: Board) -> tuple[str, ...]:
    """A track by a criterion: who leads, who may be as good, and where our methods are."""
    ranking = board.ranking
    first, *others = ranking.entrants
    pairs = [pair for pair in ranking.pairs if pair.better == first.method]
    alike = [pair.worse for pair in pairs if not pair.differs]
    own = [
        f"{one.method}: {place} of {len(ranking.entrants)} ({one.text})"
        for place, one in enumerate([first, *others], start=1)
        if one.method in OWN
    ]
    return (
        board.track,
        board.criterion,
        str(len(ranking.problems)),
        f"{first.method} ({first.text})",
        ", ".join(alike) or "–",
        "; ".join(own) or "–",
    )


def place(board: Board) -> str:
    """Our method's place: "first", "not separable from the first", "behind", or "" if unranked."""
    ranked = [one.method for one in board.ranking.entrants]
    if LEADING not in ranked or not board.track.startswith(CLASSES):
        return ""
    if ranked[0] == LEADING:
        return "first"
    pairs = {(pair.better, pair.worse): pair.differs for pair in board.ranking.pairs}
    return "behind" if pairs[ranked[0], LEADING] else "not separable from the first"


def standing(by_measure: Mapping[str, tuple[Board, ...]]) -> str:
    """In how many tables of classes our method leads, by each measure, and where it does not."""
    lines = []
    for measure, boards in by_measure.items():
        places = [(board, place(board)) for board in boards if place(board)]
        first = sum(where == "first" for _, where in places)
        near = sum(where == "not separable from the first" for _, where in places)
        behind = "; ".join(
            f"{board.track}, {board.criterion} (behind {board.ranking.entrants[0].method})"
            for board, where in places
            if where == "behind"
        )
        lines.append(
            f"- By {MEASURES[measure]} it is first in {first} and not separable from the first in "
            f"{near} of {len(places)} tables of classes that rank it."
            + (f" Behind: {behind}." if behind else "")
        )
    return "\n".join([f"Where {LEADING} stands:", "", *lines, ""])


def table(boards: tuple[Board, ...], found: Results, missing: int, planned: int) -> str:
    """The table in Markdown, under a sentence that says what it stands on."""
    counts = found.query(
        "select count(*) as runs, count(distinct problem) as problems, "
        "count(distinct method) as methods, count(distinct base) as bases, "
        "count(distinct seed) as splits from runs"
    ).iloc[0]
    stands = (
        f"{counts['runs']:,} runs: {counts['problems']} problems, {counts['methods']} methods (the "
        f"base model included), {counts['bases']} base models, {counts['splits']} splits. In "
        "brackets: the share of the base model’s gap removed, with its 95% interval."
    )
    if missing:
        stands = f"**Part of a run**: {missing:,} of {planned:,} runs are missing. {stands}"
    lines = [HEAD, ("---",) * len(HEAD), *map(row, boards)]
    return "\n".join([stands, "", *(f"| {' | '.join(cells)} |" for cells in lines), ""])


def main() -> None:
    """Write summary.md and summary.svg."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--design", type=Path, default=DESIGN)
    parser.add_argument("--to", type=Path, required=True)
    parser.add_argument("--partial", action="store_true", help="Take part of a run, and say so.")
    asked = parser.parse_args()
    state = status(read_design(asked.design), asked.folder)
    if state.missing and not asked.partial:
        parser.error(f"{state.missing:,} of {state.runs:,} runs are missing; --partial says so.")
    by_measure = {measure: leaderboard(asked.folder, measure=measure) for measure in MEASURES}
    boards = by_measure["mpd"]
    found = results(
        asked.folder, lots="expected", questions={"classification": (), "regression": ()}
    )
    asked.to.mkdir(parents=True, exist_ok=True)
    text = "\n".join([table(boards, found, state.missing, state.runs), standing(by_measure)])
    (asked.to / "summary.md").write_text(text, encoding="utf-8")
    if boards:
        first = boards[0].ranking
        draw(found, asked.to, {"summary": lambda some: ranking_figure(some, first)}, ["svg"])
    print(f"{asked.to}: {len(boards)} boards of {found.runs.num_rows:,} runs.")


if __name__ == "__main__":
    main()
