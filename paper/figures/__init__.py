"""All figures by name, in the order of the paper, and then ours."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from evenhand.benchmark.figures import Drawing
from paper.design import OUR_REGRESSORS
from paper.figures.ablations import (
    REGRESSIONS,
    aggregated,
    gini_against_pq,
    positivity,
    statistics_of_classifiers,
    statistics_of_regressors,
)
from paper.figures.agreement import rank_agreement, transform_changes
from paper.figures.distributions import distributions, probabilities
from paper.figures.group_sizes import every_setting, group_sizes
from paper.figures.orders import orders
from paper.figures.surfaces import surfaces
from paper.figures.tradeoffs import (
    classification,
    communities,
    headline,
    ours,
    ours_regression,
    published,
    ratios,
    regression,
    with_prediction,
)

if TYPE_CHECKING:
    from evenhand.benchmark import Results

ALL = ("adult", "compas", "hsls", "enem", "acs_income", "simulated")
REGRESSORS = (
    *("Base", "LinearPost_R", "WassBC", "ParityConstrained, means"),
    *(one.name for one in OUR_REGRESSORS),
)
REST = ("adult", "compas", "hsls", "acs_income", "simulated")

FIGURES: dict[str, Callable[[Results], Drawing]] = {
    "surfaces": surfaces,
    "tradeoffs-adult-acs": headline,
    "tradeoffs-communities": communities,
    "group-sizes": group_sizes,
    "positivity": positivity,
    "statistics-classification": statistics_of_classifiers,
    "statistics-regression": statistics_of_regressors,
    "pq-orders": orders,
    "gini-enem": partial(gini_against_pq, problems=("enem",)),
    "gini-others": partial(gini_against_pq, problems=REST),
    "mean-over-classes": partial(aggregated, aggregate="mean"),
    "sum-over-classes": partial(aggregated, aggregate="total"),
    "tradeoffs-others": partial(classification, problems=("compas", "enem", "hsls", "simulated")),
    "tradeoffs-regression": partial(regression, problems=REGRESSIONS),
    "rank-agreement": rank_agreement,
    "transform-changes": transform_changes,
    "group-sizes-every-setting": every_setting,
    "boosting": partial(classification, problems=ALL, base="boosting"),
    "boosting-regression": partial(regression, problems=REGRESSIONS, base="boosting"),
    "true-targets": partial(regression, problems=REGRESSIONS, base="targets"),
    "ratios": partial(ratios, problems=REGRESSIONS),
    "distributions": distributions,
    "probabilities": probabilities,
    "tradeoffs-ours": partial(ours, problems=ALL),
    "tradeoffs-ours-regression": partial(ours_regression, problems=REGRESSIONS, methods=REGRESSORS),
    "published-settings": published,
    "law-school-column": with_prediction,
}
IN_PAPER = tuple(FIGURES)[:14]
