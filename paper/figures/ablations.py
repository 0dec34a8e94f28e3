"""The paper's ablations: other transforms, statistics, measures and aggregates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.benchmark.figures import (
    Drawing,
    alt_text,
    caption,
    grid,
    listed,
    over_seeds,
    provenance,
)
from paper.families import ODDS, PARITY
from paper.figures.tradeoffs import AIMS, LOWER, ROOT, Rows, classification
from paper.theme import THEME, panel
from paper.words import axis_of, name_of

if TYPE_CHECKING:
    from evenhand.benchmark import Results

BINARY = ("hsls", "adult", "compas", "simulated")
REGRESSIONS = ("communities", "law_school", "simulated_regression")


def positivity(results: Results) -> Drawing:
    """S-SP and S-EO as they are, and with the exponential transform before the measure."""
    raw, exp = [], []
    for question, family in (("statistical_parity.pq", PARITY), ("average_odds.pq", ODDS)):
        raw.append(panel("compas", question, family=family))
        exp.append(panel("compas", f"{question} transform=exp", family=family))
    for before, after in (
        ("strong_parity.pq transform=raw", "strong_parity.pq"),
        ("performance_parity.pq g=mse", "performance_parity.pq transform=exp g=mse"),
    ):
        raw.append(panel("law_school", before, "rmse", base="linear"))
        exp.append(panel("law_school", after, "rmse", base="linear"))
    return _drawing(
        results,
        [raw, exp],
        "The exponential transform",
        "Above the measure of the values as they are, below of their exponentials. "
        "S-SP of a regression without transform is the same for every continuous predictor.",
    )


def statistics_of_classifiers(results: Results) -> Drawing:
    """S-EO with accuracy, F1, AUROC and cross-entropy in the place of average odds."""
    asked = [f"performance_parity.pq g={g}" for g in ("accuracy", "f1", "auroc", "cross_entropy")]
    rows = [[panel(one, question, family=ODDS) for question in asked] for one in BINARY]
    return _drawing(
        results,
        rows,
        "Other statistics g in S-EO, classification",
        "AUROC and cross-entropy need probabilities, which methods that draw labels or decide "
        "by threshold do not give.",
    )


def statistics_of_regressors(results: Results) -> Drawing:
    """S-EO with MSE, MAE and R²."""
    asked = [f"performance_parity.pq transform=exp g={g}" for g in ("mse", "mae", "r2")]
    rows = [[panel(one, q, "rmse", base="linear") for q in asked] for one in REGRESSIONS]
    return _drawing(results, rows, "Other statistics g in S-EO, regression", LOWER)


def gini_against_pq(results: Results, problems: Sequence[str]) -> Drawing:
    """S-SP and S-EO by PQ beside the same by Gini."""
    rows = [
        [
            panel(problem, f"{criterion}.{measure}", family=family)
            for criterion, family in (("statistical_parity", PARITY), ("average_odds", ODDS))
            for measure in ("pq", "gini")
        ]
        for problem in problems
    ]
    where = listed([name_of(one) for one in problems])
    return _drawing(results, rows, f"Gini in the place of PQ on {where}", AIMS)


def aggregated(results: Results, aggregate: str) -> Drawing:
    """Mean or sum over the classes instead of the worst class."""
    made = classification(results, ("adult", "enem"), aggregate=aggregate)
    word = {"mean": "Mean", "total": "Sum"}[aggregate]
    return replace(made, title=f"{word} instead of maximum over classes")


def _drawing(results: Results, rows: Rows, title: str, remark: str) -> Drawing:
    made = grid(results, rows, THEME)
    panels = [panel for row in rows for panel in row]
    problems = list(dict.fromkeys(panel.problem for panel in panels))
    asked = list(dict.fromkeys(axis_of(panel.x) for panel in panels))
    where = listed([name_of(problem) for problem in problems])
    whats = listed(list(dict.fromkeys(axis_of(panel.y) for panel in panels)))
    what = whats[0].upper() + whats[1:]
    return Drawing(
        title=title,
        caption=caption(
            f"{what} over {listed(asked)} on {where}.",
            remark,
            over_seeds(made.data),
            ROOT,
            provenance(results, problems, THEME),
        ),
        alt=alt_text(made.data, f"{what} over {listed(asked)} on {where}", THEME),
        figure=made.figure,
        data=made.data,
        missing=made.missing,
    )
