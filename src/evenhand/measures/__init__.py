"""Measures of inequality by name, aggregates over classes, and bounds between measures."""

from evenhand.measures.aggregates import (
    AGGREGATES,
    mean,
    resolve_aggregate,
    total,
    worst,
)
from evenhand.measures.aggregates import Aggregate as Aggregate
from evenhand.measures.bounds import (
    cv_of_pq,
    cv_range_of_gini,
    gini_bound_of_mpd,
    greatest_gini,
    greatest_pq,
    mpd_bound_of_pq,
    pq_bound_of_gini,
    pq_of_cv,
)
from evenhand.measures.catalogue import DEFAULT_MEASURE as DEFAULT_MEASURE
from evenhand.measures.catalogue import DEFAULT_MEASURES as DEFAULT_MEASURES
from evenhand.measures.catalogue import MEASURES, gini, mpd, pq, ratio, resolve, shortfall
from evenhand.measures.catalogue import measure_named as measure_named
from evenhand.measures.measure import (
    TRANSFORMS,
    Measure,
    exponential,
    transformed,
)
from evenhand.measures.measure import MeasureLike as MeasureLike
from evenhand.measures.measure import name_of as name_of

__all__ = [
    "AGGREGATES",
    "MEASURES",
    "TRANSFORMS",
    "Measure",
    "cv_of_pq",
    "cv_range_of_gini",
    "exponential",
    "gini",
    "gini_bound_of_mpd",
    "greatest_gini",
    "greatest_pq",
    "mean",
    "mpd",
    "mpd_bound_of_pq",
    "pq",
    "pq_bound_of_gini",
    "pq_of_cv",
    "ratio",
    "resolve",
    "resolve_aggregate",
    "shortfall",
    "total",
    "transformed",
    "worst",
]
