"""Check that stored results, figures and tables still follow from today's code.

A sample of the stored runs is done again: one split and a few settings of every method and base
model, on the cheapest problem of each kind whose rows are on this computer. Where a score has
moved, every stored artifact that shows the method is named, and the exit status is 1. A change of
code that moves no number is no failure, nor are runs that `made.toml` beside the results names, as
their page does, as older than the code. Where NumPy, SciPy or scikit-learn has another version than
stored runs were made with, nothing is judged. Nor is a run whose scores hang on the last digits of
a number, which differ between processors: one that has moved is done again from features and
base scores that are changed by a part in 10¹². Where that gives a third score, it is named and
left out. `make paper` does all runs again.

    python tools/stale.py
"""

from __future__ import annotations

import math
import re
import sys
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from html import unescape
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

ROOT = Path(__file__).parents[1]
PAPER = ROOT / "docs" / "paper"
REPORT = PAPER / "report"
BOARD = ROOT / "docs" / "leaderboard"
SCORES = (REPORT / "results").relative_to(ROOT)
ALL = "*"
NUDGE, NUDGES = 1e-12, 3  # by how much, and how often
GROUND = frozenset(("clarabel", "numpy", "scikit-learn", "scipy"))


def report_parts(methods: Collection[str], text: str) -> Iterator[str]:
    """The figures of a report that show one of the methods, or sum up all of them."""
    for name, shown in re.findall(r'<figure id="([^"]+)" data-methods="([^"]*)"', text):
        if {ALL, *methods} & set(unescape(shown).split("; ")):
            yield name


def board_parts(methods: Collection[str], text: str) -> Iterator[str]:
    """The tables of a leaderboard's page that rank one of the methods."""
    for board in text.split('<section class="board"')[1:]:
        ranked = map(unescape, re.findall(r'<th scope="row">([^<]+)</th>', board))
        if not set(methods).isdisjoint(ranked):
            title = re.search(r"<h3>(.*?)</h3>", board)
            yield unescape(title.group(1)) if title else "a table"


def stale(methods: Collection[str]) -> Iterator[str]:
    """Every stored artifact that shows one of these methods, with the parts that do."""
    if not methods:
        return
    yield f"{SCORES}: {', '.join(sorted(methods))}"
    page = REPORT / "report.html"
    figures = ", ".join(report_parts(methods, page.read_text(encoding="utf-8")))
    yield f"{page.relative_to(ROOT)}{f': figures {figures}' if figures else ''}"
    known = made(BOARD)["moved"]
    page = BOARD / "page" / "leaderboard.html"
    tables = list(board_parts(set(methods) - set(known), page.read_text(encoding="utf-8")))
    if tables:
        yield f"{page.relative_to(ROOT)} and summary.md beside it: {'; '.join(tables)}"


def made(folder: Path) -> dict[str, Any]:
    """What is known of the age of stored runs."""
    return tomllib.loads((folder / "made.toml").read_text(encoding="utf-8"))


def without(design: Any, older: Mapping[str, Collection[str]]) -> Any:
    """A design less these methods, by problem."""
    parts = (
        replace(
            study,
            problems=(problem,),
            treatments=tuple(
                one for one in study.treatments if one.name not in older.get(problem.name, ())
            ),
        )
        for study in design.studies
        for problem in study.problems
    )
    return replace(design, studies=tuple(study for study in parts if study.treatments))


def only(design: Any, runs: Collection[Mapping[str, Any]]) -> Any:
    """The part of a design that has these runs, by problem, base model, method and constraint."""
    wanted = {(one["problem"], one["base"], one["method"], one["constraint"]) for one in runs}
    parts = (
        replace(
            study,
            problems=(problem,),
            bases=(base,),
            treatments=tuple(
                one
                for one in study.treatments
                if (problem.name, base.name, one.name, one.constraint or "") in wanted
            ),
        )
        for study in design.studies
        for problem in study.problems
        for base in study.bases
    )
    return replace(design, studies=tuple(study for study in parts if study.treatments))


def repeatable(one: Mapping[str, Any], others: Iterable[Mapping[str, Any]]) -> bool:
    """Whether a run that has moved was moved to the same score where numbers were nudged.

    >>> run = {"method": "Reduction", "question": "accuracy", "stored": 0.7, "now": 0.8}
    >>> repeatable(run, [run]), repeatable(run, [{**run, "now": 0.75}]), repeatable(run, [])
    (True, False, False)
    """
    same = [two for two in others if all(two[key] == one[key] for key in one if key != "now")]
    return any(
        str(two["now"]) == str(one["now"])  # none of either, too
        or math.isclose(two["now"], one["now"], rel_tol=1e-3, abs_tol=2e-4)
        for two in same
    )


def nudged(numbers: Any, seed: int) -> Any:
    """Numbers, less a part in 10¹² of each at random; whole ones may be categories and stay.

    >>> nudged(np.array([1.0, 2.5]), 0) < np.array([1.0, 2.5])
    array([False,  True])
    """
    if hasattr(numbers, "columns"):  # categories are among them
        return numbers
    if not isinstance(numbers, np.ndarray):  # a sparse array
        numbers.data = nudged(numbers.data, seed)
        return numbers
    less = numbers * (1 - NUDGE * np.random.default_rng(seed).random(numbers.shape))
    return np.where(numbers == np.round(numbers), numbers, less)


def otherwise_rounded(design: Any, stored: Any, seed: int) -> list[dict[str, Any]]:
    """What has moved where features and base scores are nudged."""
    from evenhand.benchmark.reruns import moved
    from evenhand.benchmark.running import preparation
    from evenhand.benchmark.running.preparation import Prepared

    encoded, scored = preparation.encoded, Prepared._scored

    def features(*args: Any) -> tuple[Any, Any]:
        matrix, model = encoded(*args)
        return nudged(matrix, seed), model

    def scores(self: Prepared, rest: Any) -> Any:
        return nudged(scored(self, rest), seed)

    with patch.object(preparation, "encoded", features), patch.object(Prepared, "_scored", scores):
        return [asdict(one) for one in moved(stored, design)]


def other_versions(stored: Iterable[str], now: Callable[[str], str] = version) -> list[str]:
    """Packages that stored runs were made with in other versions than those here.

    >>> other_versions(["numpy 2.4.6, scipy 1.17.1"], {"numpy": "2.4.6", "scipy": "2.0"}.get)
    ['scipy 2.0, stored with 1.17.1']
    """
    kept: dict[str, set[str]] = {}
    for part in {part for text in stored for part in text.split(", ") if part}:
        name, _, number = part.partition(" ")
        kept.setdefault(name, set()).add(number)
    here = {name: now(name) for name in sorted(kept.keys() & GROUND)}
    return [
        f"{name} {number}, stored with {' and '.join(sorted(kept[name]))}"
        for name, number in here.items()
        if number not in kept[name]
    ]


def main() -> int:
    """Do a sample again, and name what no longer follows."""
    sys.path.insert(0, str(ROOT))
    from evenhand.benchmark.reruns import moved, sample
    from paper.design import PAPER as DESIGN
    from paper.report import stored_results

    stored = stored_results()
    versions = other_versions(set(stored.runs["versions"].to_pylist()))
    if versions:  # which may move a score too
        print(f"Stored results cannot be judged here: {'; '.join(versions)}.")
        return 0
    older = made(PAPER)["older"]
    chosen = without(sample(DESIGN), older)
    found = moved(stored, chosen)
    again = only(chosen, [asdict(one) for one in found])
    tries = [otherwise_rounded(again, stored, seed) for seed in range(NUDGES) if found]
    sound = [one for one in found if all(repeatable(asdict(one), some) for some in tries)]
    shaky = [one for one in found if one not in sound]
    found = sound
    if shaky:
        names = ", ".join(sorted({f"{one.method} on {one.problem}" for one in shaky}))
        print(f"Not judged, since their scores hang on how a processor rounds: {names}.")
    for one in found:
        print(f"  {one}")
    named = list(stale({one.method for one in found}))
    for line in named:
        print(line)
    if named:
        print("These no longer follow from the code. `make paper` does their runs again.")
    else:
        left = f" Left out as older than the code: some on {', '.join(older)}." if older else ""
        print(f"{len(chosen.runs())} runs were done again, and scores are as stored.{left}")
    return 1 if named else 0


if __name__ == "__main__":
    raise SystemExit(main())
