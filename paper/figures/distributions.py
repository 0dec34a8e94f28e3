"""Whole distributions: the largest gap between them, and the area between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evenhand.benchmark.figures import Drawing, alt_text
from evenhand.benchmark.figures.drawing import caption, listed, over_seeds, provenance
from evenhand.benchmark.figures.panels import grid
from evenhand.benchmark.figures.theme import SOFT
from paper.design import OWN, SHOWN
from paper.families import ALL, PARITY
from paper.figures.tradeoffs import BEYOND, ROOT
from paper.findings.criteria import BASE_OF, problems_of
from paper.theme import THEME, panel
from paper.words import Kind, name_of

if TYPE_CHECKING:
    from evenhand.benchmark import Results

SUP, AREA, LABELS = "strong_parity", "wasserstein_parity", "statistical_parity"
# Methods whose probabilities are not those of their lot: of the others both sides are the same.
PROBABILISTIC = ("Base", "Reweight", "FairRR", "FairProj-KL", "FairProj-CE")
FIRST: dict[Kind, str] = {"regression": "communities", "classification": "adult"}
ABCC = (
    "For two groups the area by MPD is the Wasserstein-1 distance, also called ABCC. Lower left "
    "is better."
)


def distributions(results: Results) -> Drawing:
    """Regressions: the area between the groups' distributions over their largest gap."""
    return _drawing(
        results,
        "regression",
        SUP,
        "Largest gap and area between distributions of predictions",
        "SP (W), the area between the groups’ distribution functions, over SP, their largest gap",
    )


def probabilities(results: Results) -> Drawing:
    """Two classes: the area between distributions of the probability over parity of labels."""
    return _drawing(
        results,
        "classification",
        LABELS,
        "Even labels, even probabilities?",
        "SP (W), the area between the groups’ distributions of the predicted probability, over SP "
        "of the labels, of methods told to meet parity that give probabilities",
        "Where a line rises to the left, labels are made even at the cost of the probabilities "
        "behind them.",
    )


def _drawing(
    results: Results, kind: Kind, over: str, title: str, shows: str, says: str = ""
) -> Drawing:
    problems = _problems(results, kind)
    family = PARITY if kind == "classification" else ALL
    methods = (
        PROBABILISTIC if kind == "classification" else {*SHOWN, *OWN, "ParityConstrained, means"}
    )
    rows = [
        [
            panel(one, f"{over}.{measure}", f"{AREA}.{measure}", family, BASE_OF[kind], methods)
            for one in problems
        ]
        for measure in ("mpd", "pq")
    ]
    made = grid(results, rows, THEME)
    for axes in (one for one in made.figure.axes if one.lines):
        highest = min(axes.get_xlim()[1], axes.get_ylim()[1])
        even = np.linspace(0, highest, 50)
        axes.plot(even, even, color=SOFT, linestyle=":", linewidth=1.2, label="_equal", zorder=1)
    where = listed([name_of(problem) for problem in problems])
    return Drawing(
        title=title,
        caption=caption(
            f"{shows}, on {where}.",
            says,
            ABCC,
            "Dotted: both are equal.",
            over_seeds(made.data),
            ROOT,
            BEYOND if made.has_arrows else "",
            provenance(results, problems, THEME),
        ),
        alt=alt_text(made.data, f"SP (W) over SP by MPD and S-SP by PQ on {where}", THEME),
        figure=made.figure,
        data=made.data,
        missing=made.missing,
    )


def _problems(results: Results, kind: Kind) -> list[str]:
    """Those with an answer about areas; one of the paper's, to be named as missing, if none has."""
    asked = f"select distinct problem from results where question = '{AREA}.mpd'"
    answered = set(results.query(asked)["problem"])
    return [one for one in problems_of(results, kind) if one in answered] or [FIRST[kind]]
