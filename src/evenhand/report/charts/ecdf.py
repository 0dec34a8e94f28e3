"""The distribution of predictions or scores in each group, as steps from 0 to 1."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand._words import listing
from evenhand.report.charts.svg import UNIT, Markup, Scale, framed, line, path
from evenhand.report.formats import name

FEW = 6  # groups that all get a color of their own
EXTREMES = 4
STEPS = 60  # places up to which steps can be distinguished from a line


def ecdf(
    ident: str,
    title: str,
    at: Sequence[float],
    groups: Sequence[str],
    levels: Sequence[Sequence[float | None]],
    pooled: Sequence[float | None] | None = None,
) -> Markup:
    """A line for each group; with many of them, only those furthest from the pooled one stand out.

    >>> chart = ecdf("c", "Scores", [0, 1], ["a", "b"], [[0.5, 1], [0.2, 1]], [0.4, 1])
    >>> chart.count("<path")
    3
    """
    axis = Scale.around(at)
    marked = extremes(groups, levels, pooled)
    order = sorted(range(len(groups)), key=lambda i: (i in marked, i))
    lines = [
        line(
            _steps(at, levels[i], axis),
            f"s{marked.index(i)}" if i in marked else "thin",
            name(groups[i]),
            groups[i],
        )
        for i in order
    ]
    if pooled is not None:
        lines.append(line(_steps(at, pooled, axis), "pooled", "all rows"))
    names = listing([name(groups[i]) for i in marked]) if marked else "none"
    description = f"{len(groups)} groups; the lines that stand out: {names}."
    up = Scale(0.0, 1.0, (0.0, 0.25, 0.5, 0.75, 1.0))
    return framed(ident, title, description, lines, axis, up)


def extremes(
    groups: Sequence[str],
    levels: Sequence[Sequence[float | None]],
    pooled: Sequence[float | None] | None,
) -> list[int]:
    """Which groups to name: all if few, else those whose levels are furthest up and down."""
    if len(groups) <= FEW:
        return list(range(len(groups)))
    middle = pooled or [0.0] * len(levels[0])
    away = [_mean_gap(level, middle) for level in levels]
    order = sorted(range(len(groups)), key=away.__getitem__)
    return [*order[: EXTREMES // 2], *order[-(EXTREMES // 2) :]]


def _mean_gap(level: Sequence[float | None], middle: Sequence[float | None]) -> float:
    pairs = zip(level, middle, strict=True)
    gaps = [a - b for a, b in pairs if a is not None and b is not None]
    return sum(gaps) / max(len(gaps), 1)


def _steps(at: Sequence[float], level: Sequence[float | None], axis: Scale) -> str:
    points: list[tuple[float, float] | None] = []
    before: float | None = None
    for x, height in zip(at, level, strict=True):
        place = round(UNIT * axis(x))
        if before is not None and height is not None and len(at) <= STEPS:
            points.append((place, round(UNIT * (1 - before))))
        points.append(None if height is None else (place, round(UNIT * (1 - height))))
        before = height
    return path(points)
