"""The paper's look: its names on axes, its lines, and panels with its defaults."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from evenhand.benchmark.figures import Theme
from evenhand.benchmark.figures.panels import Panel
from evenhand.benchmark.figures.theme import STYLES, Style
from paper.design import OWN, SHOWN
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
MENDED = {
    f"{name}, published": replace(STYLES[name], marker=marker, hollow=True, size=6)
    for name, marker in {
        "FairProj-KL": "h",
        "FairRR": "v",
        "FairReg": "s",
        "WassBC": "X",
        "LinearPost_R": ">",
    }.items()
}


def label(name: str) -> str:
    """What a line is called in a legend, which names those that are not the paper's.

    >>> label("LinearPost"), label("RateConstrained")
    ('LinearPost', 'RateConstrained (evenhand)')
    """
    is_own = name in OWN or name in VARIANTS.values()
    return f"{name} (evenhand)" if is_own else name


def series(method: str, constraint: str) -> str:
    """The name of a line: the method, and what sets it apart from others of the same method.

    >>> series("RateConstrained", "average_odds")
    'RateConstrained, average odds'
    """
    return VARIANTS.get((method, constraint), method)


THEME = Theme(
    styles={**STYLES, **OURS, **MENDED},
    series=series,
    problem=task_name,
    question=axis_of,
    label=label,
)


def panel(
    problem: str,
    x: str,
    y: str = "accuracy",
    family: str = ALL,
    base: str = "logistic",
    methods: Collection[str] = SHOWN,
) -> Panel:
    """Performance over a criterion: of a family, by default the paper's methods and one of ours."""
    shown = frozenset(methods)
    return Panel(problem, base, x, y, constraints=constraints_of(family), series=shown)
