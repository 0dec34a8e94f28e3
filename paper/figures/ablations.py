"""The paper's ablations: other transforms, statistics, measures and aggregates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.benchmark.figures import Drawing, alt_text
from evenhand.benchmark.figures.drawing import caption, listed, over_seeds, provenance
from evenhand.benchmark.figures.panels import Panel, grid
from evenhand.benchmark.figures.theme import SOFT
from paper.families import ODDS, PARITY
from paper.figures.tradeoffs import AIMS, BEYOND, LOWER, REACH, ROOT, Rows, four
from paper.findings.statistics import EVEN
from paper.theme import THEME, panel
from paper.words import axis_of, name_of

if TYPE_CHECKING:
    from evenhand.benchmark import Results

BINARY = ("hsls", "adult", "compas", "simulated")
REGRESSIONS = ("communities", "law_school", "simulated_regression")


def positivity(results: Results) -> Drawing:
    """S-SP and S-EO as they are, and with the exponential transform before the measure.

    On LawSchool methods adjust the true targets, which is what the paper shows.
    """
    raw: list[Panel] = []
    exp: list[Panel] = []
    named = ("Base", "LinearPost", "Rejection")
    for question, family in (("statistical_parity.pq", PARITY), ("average_odds.pq", ODDS)):
        for row, asked in ((raw, question), (exp, f"{question} transform=exp")):
            row.append(panel("compas", asked, family=family, methods=named))
    for before, after in (
        ("strong_parity.pq transform=raw", "strong_parity.pq"),
        ("performance_parity.pq g=mse", "performance_parity.pq transform=exp g=mse"),
    ):
        for row, asked in ((raw, before), (exp, after)):
            row.append(
                replace(
                    panel("law_school", asked, "rmse", base="targets"),
                    title="LawSchool, true targets",
                )
            )
    return _drawing(
        results,
        [raw, exp],
        "The exponential transform",
        "Above the measure of the values as they are, below of their exponentials. On LawSchool "
        "methods adjust the true targets, as in the paper. S-SP of a regression without transform "
        "is the same for every continuous predictor.",
        reach=float("inf"),
    )


def statistics_of_classifiers(results: Results) -> Drawing:
    """S-EO with accuracy, F1, AUROC and cross-entropy in the place of average odds."""
    asked = [f"performance_parity.pq g={g}" for g in ("accuracy", "f1", "auroc", "cross_entropy")]
    rows = [[panel(one, question, family=ODDS) for question in asked] for one in BINARY]
    made = _drawing(
        results,
        rows,
        "Other statistics g in S-EO, classification",
        "AUROC and cross-entropy need probabilities, which methods that draw labels or decide "
        "by threshold do not give. Dotted: 10⁻⁴, up to which the paper calls a model even. A "
        "trade-off falls to the left; an upright line has nothing to trade.",
        reach=2 * REACH,
    )
    for axes in (one for one in made.figure.axes if one.lines):
        axes.axvline(EVEN, color=SOFT, linestyle=":", linewidth=1.2, label="_even", zorder=1)
    return made


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
    """Mean or sum over the classes, below the worst class."""
    rows = [
        list(four(problem, "logistic", which))
        for problem in ("adult", "enem")
        for which in ("", aggregate)
    ]
    word = {"mean": "mean", "total": "sum"}[aggregate]
    return _drawing(
        results,
        rows,
        f"{word.capitalize()} instead of maximum over classes",
        f"Of each data set the maximum over classes above, and the {word} below. {AIMS}",
    )


def _drawing(
    results: Results, rows: Rows, title: str, remark: str, *, reach: float = REACH
) -> Drawing:
    made = grid(results, rows, THEME, reach=reach)
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
            BEYOND if made.has_arrows else "",
            provenance(results, problems, THEME),
        ),
        alt=alt_text(made.data, f"{what} over {listed(asked)} on {where}", THEME),
        figure=made.figure,
        data=made.data,
        missing=made.missing,
    )
