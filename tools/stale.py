"""Check that stored results, figures and tables still follow from today's code.

A sample of the stored runs is done again: one split and two settings of every method and base
model, on the cheapest problem of each kind whose rows are on this computer. Where a score has
moved, every stored artifact that shows the method is named, and the exit status is 1. A change of
code that moves no number is no failure. `make paper` does all runs again.

    python tools/stale.py
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Collection, Iterator
from html import unescape
from pathlib import Path

ROOT = Path(__file__).parents[1]
REPORT = ROOT / "docs" / "paper" / "report"
BOARD = ROOT / "docs" / "leaderboard"
SCORES = (REPORT / "results").relative_to(ROOT)
ALL = "*"


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
    known = tomllib.loads((BOARD / "made.toml").read_text(encoding="utf-8"))["moved"]
    page = BOARD / "page" / "leaderboard.html"
    tables = list(board_parts(set(methods) - set(known), page.read_text(encoding="utf-8")))
    if tables:
        yield f"{page.relative_to(ROOT)} and summary.md beside it: {'; '.join(tables)}"


def main() -> int:
    """Do a sample again, and name what no longer follows."""
    sys.path.insert(0, str(ROOT))
    from evenhand.benchmark.reruns import moved, sample
    from paper.design import PAPER
    from paper.report import stored_results

    chosen = sample(PAPER)
    found = moved(stored_results(), chosen)
    for one in found:
        print(f"  {one}")
    named = list(stale({one.method for one in found}))
    for line in named:
        print(line)
    if named:
        print("These no longer follow from the code. `make paper` does their runs again.")
    else:
        print(f"{len(chosen.runs())} stored runs were done again, and every score is the same.")
    return 1 if named else 0


if __name__ == "__main__":
    raise SystemExit(main())
