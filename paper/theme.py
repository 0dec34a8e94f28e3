"""The paper's look: its names on axes, its lines, and panels with its defaults."""

from __future__ import annotations

from evenhand.benchmark.figures import STYLES, Panel, Style, Theme
from paper.families import ALL, constraints_of
from paper.words import axis_of, task_name

VARIANTS = {
    ("RateConstrained", "average_odds"): "RateConstrained, average odds",
    ("ParityConstrained", "weak_parity"): "ParityConstrained, means",
}
OURS = {
    "RateConstrained, average odds": Style("purple", "p", hollow=True, size=5),
    "RateConstrained-Gini": Style("purple", "d", hollow=True, size=5),
    "WassBC-Geodesic": Style("green", "x", hollow=True, size=4.5),
    "ParityConstrained, means": Style("purple", "p", hollow=True, size=5),
}


def series(method: str, constraint: str) -> str:
    """The name of a line: the method, and what sets it apart from others of the same method.

    >>> series("RateConstrained", "average_odds")
    'RateConstrained, average odds'
    """
    return VARIANTS.get((method, constraint), method)


THEME = Theme(styles={**STYLES, **OURS}, series=series, problem=task_name, question=axis_of)


def panel(
    problem: str, x: str, y: str = "accuracy", family: str = ALL, base: str = "logistic"
) -> Panel:
    """Performance over a criterion, with the methods of a family."""
    return Panel(problem, base, x, y, constraints=constraints_of(family))
