"""A drawn figure with all that must be said of it: title, caption, alt text, and its data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand.benchmark.findings.words import name_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from evenhand.benchmark.scoring.results import Results


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure and its words; `data` is the table of what is drawn, point by point.

    `missing` names what there was to draw and no results for.
    """

    title: str
    caption: str
    alt: str
    figure: Figure
    data: Any
    missing: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The caption, with what is missing."""
        if not self.missing:
            return self.caption
        return f"{self.caption} No results yet for {', '.join(self.missing)}."


def provenance(results: Results, problems: Iterable[str]) -> str:
    """A sentence on where the rows come from; stand-ins are named."""
    wanted = dict.fromkeys(problems)
    rows = results.problems.to_pylist()
    said = [_origin(row) for name in wanted for row in rows if row["problem"] == name]
    return f"Data: {'; '.join(dict.fromkeys(said))}." if said else ""


def _origin(row: dict[str, Any]) -> str:
    about = json.loads(row["about"] or "{}")
    mark = "†" if row["is_stand_in"] else ""
    rows = about.get("rows") or (row["train"] or 0) + (row["test"] or 0)
    if about.get("name", row["problem"]) != row["problem"]:  # one of many sizes
        return f"{name_of(about['name'])}{mark} ({row['provenance']})"
    return f"{name_of(row['problem'])}{mark} ({row['provenance']}; {rows:,} rows)"


def over_seeds(data: Any) -> str:
    """A sentence on what points and bars are."""
    counts = sorted({int(n) for n in data["seeds"]}) if len(data) else []
    if not counts:
        return ""
    if counts == [1]:
        return "One split; no error bars."
    many = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"Points are means over {many} splits, bars ± one standard error."


def caption(*sentences: str) -> str:
    """Sentences as one text; those that say nothing are left out."""
    return " ".join(sentence for sentence in sentences if sentence)


def listed(names: Sequence[str]) -> str:
    """Names as in a sentence.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
