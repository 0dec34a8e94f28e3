"""A drawn figure with its title, caption, alt text and data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from evenhand.benchmark.figures.theme import Theme
    from evenhand.benchmark.scoring.results import Results

__all__ = [
    "Drawing",
    "caption",
    "listed",
    "over_seeds",
    "provenance",
]

FORMATS = ("svg", "pdf", "png")


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure and its words.

    Parameters
    ----------
    title, caption : str
        What it shows, and how to read it.
    alt : str
        What a reader who cannot see it should know.
    figure : matplotlib.figure.Figure
        What is drawn.
    data : pandas.DataFrame
        What is drawn, point by point.
    missing : tuple of str, default ()
        What there was to draw and no results for.

    Examples
    --------
    >>> Drawing("A title", "A caption.", "Nothing.", None, None, missing=("people",)).text
    'A caption. No results yet for people.'

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


def provenance(results: Results, problems: Iterable[str], theme: Theme) -> str:
    """A sentence on where the rows come from; stand-ins are named."""
    rows = {row["problem"]: row for row in results.problems.to_pylist()}
    origins = [_origin(rows[name], theme) for name in dict.fromkeys(problems) if name in rows]
    return f"Data: {'; '.join(dict.fromkeys(origins))}." if origins else ""


def _origin(row: dict[str, Any], theme: Theme) -> str:
    about = json.loads(row["about"] or "{}")
    mark = "†" if row["is_stand_in"] else ""
    size = f"{about.get('rows') or (row['train'] or 0) + (row['test'] or 0):,} rows"
    parts = [row["provenance"] or "", size]
    return f"{theme.problem(row['problem'])}{mark} ({'; '.join(filter(None, parts))})"


def over_seeds(data: Any) -> str:
    """A sentence on the meaning of points and bars."""
    counts = sorted({int(n) for n in data["seeds"]}) if len(data) else []
    if not counts:
        return ""
    if counts == [1]:
        return "One split; no error bars."
    splits = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"Points are means over {splits} splits, bars ± one standard error."


def caption(*sentences: str) -> str:
    """Sentences as one text; those that say nothing are left out."""
    return " ".join(sentence for sentence in sentences if sentence)


def listed(names: Sequence[str]) -> str:
    """Names as in a sentence; with semicolons where names have commas.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    >>> listed(["a", "b, by c", "d"])
    'a; b, by c; and d'
    """
    *first, last = names
    if not first:
        return last
    if any("," in name for name in names):
        return f"{'; '.join(first)}; and {last}"
    return f"{', '.join(first)} and {last}"
