"""Audit predictions: from columns, from a dataframe, or from a fitted estimator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand._audit.curves import levels_of, threshold_curves
from evenhand._audit.evidence import Evidence
from evenhand._audit.examination import FAIR_WORLDS, Precision, examine
from evenhand._audit.from_rows import from_rows
from evenhand._audit.questions import (
    answerable,
    check_precision,
    check_tolerances,
    main_view,
    settled,
)
from evenhand._audit.result import Audit
from evenhand._audit.subgroups import ranked
from evenhand._audit.views import examined, views_of
from evenhand._columns import Label
from evenhand._dataframes import kind_of
from evenhand._scoring import columns_from, scores_of
from evenhand._tasks import Task
from evenhand.criteria import Criterion

MEASURES = ("mpd", "gini", "pq")
HEADLINES = ("statistical_parity", "equalized_odds", "strong_parity", "performance_parity(mse)")


def audit(
    y_true: Any,
    y_pred: Any = None,
    *,
    sensitive_features: Any,
    y_score: Any = None,
    sample_weight: Any = None,
    strata: Any = None,
    task: Task | None = None,
    favorable: Label = None,
    **options: Any,
) -> Audit:
    """Say how evenly predictions treat groups, whether that is more than noise, and who carries it.

    Parameters
    ----------
    y_true, y_pred : array-like
        True and predicted labels or values; `y_true` may be None where it is not known.
    sensitive_features : array-like or dataframe
        The columns that name the groups, or what `groups` made of them.
    y_score : array-like
        Scores or probabilities, for thresholds, calibration, AUROC and distributions.
    sample_weight, strata : array-like
        Weights of the rows; and within what "conditional_statistical_parity" compares.
    task : {"binary", "multiclass", "regression"}
        Found from the labels if it is not said.
    favorable : label
        The favorable of two labels, where it is not 1.
    **options
        Those of `examined_evidence`: criteria, measures, tolerances, confidence, depth,
        random_state and title.

    Examples
    --------
    >>> import numpy as np
    >>> group = np.repeat(["a", "b"], 500)
    >>> y = np.tile([0, 1], 500)
    >>> p = np.where((group == "b") & (np.arange(1000) % 4 == 1), 0, y)
    >>> found = audit(y, p, sensitive_features=group, random_state=0)
    >>> found.finding("statistical_parity", "mpd").verdict
    'disparity'

    """
    evidence = from_rows(
        y_true,
        y_pred,
        sensitive_features=sensitive_features,
        y_score=y_score,
        sample_weight=sample_weight,
        strata=strata,
        task=task,
        favorable=favorable,
    )
    return audit_evidence(evidence, kind=kind_of(sensitive_features), **options)


def audit_model(model: Any, X: Any, y: Any, *, group: Any, **options: Any) -> Audit:
    """Audit a fitted estimator on X; `group` names the sensitive columns of X.

    Options are those of `audit`. A classifier's probabilities are audited too.
    """
    classifies = hasattr(model, "classes_")
    if classifies and hasattr(model, "predict_proba"):
        options.setdefault("y_score", scores_of(model, X))
    if classifies and "task" not in options:
        options["task"] = "binary" if len(model.classes_) == 2 else "multiclass"
    elif "task" not in options:
        options["task"] = "regression"
    return audit(y, model.predict(X), sensitive_features=columns_from(X, group), **options)


def audit_frame(frame: Any, *, criteria: Any = None, **options: Any) -> Audit:
    """Audit a table in the engine that holds it; columns are named, and only counts come back.

    `frame` is anything narwhals reads: pandas, Polars, Arrow, a lazy query, a DuckDB relation.
    The columns are `y_true`, `y_pred`, `sensitive_features`, `y_score`, `sample_weight` and
    `strata`, by name; the other options are those of `audit`.
    """
    from evenhand._audit.from_frame import evidence_from_frame

    asked = ("tolerances", "measures", "confidence", "depth", "random_state", "title")
    rest = {name: options.pop(name) for name in asked if name in options}
    evidence = evidence_from_frame(frame, **options)
    return audit_evidence(evidence, criteria=criteria, kind=kind_of(frame), **rest)


def audit_evidence(
    evidence: Evidence,
    *,
    criteria: Sequence[str | Criterion] | None = None,
    measures: Sequence[str] = MEASURES,
    tolerances: Mapping[str, float] | None = None,
    confidence: float = 0.95,
    depth: int = 2,
    random_state: int = 0,
    title: str | None = None,
    kind: str | None = None,
) -> Audit:
    """Audit what was counted.

    `tolerances` maps "criterion.measure" to the largest value that is tolerated; its verdict is
    that of the interval. `depth` is how many sensitive columns are combined at most.
    """
    check_precision(confidence, depth)
    asked, unasked = answerable(evidence, criteria, measures)
    check_tolerances(tolerances or {}, asked)
    views = list(views_of(evidence, depth))
    headlines = [ask for ask in asked if ask.name in HEADLINES] or asked[:1]
    seen = examined(views, headlines, random_state) if len(views) > 1 else []
    main = main_view(evidence, seen, depth)
    worlds = max(FAIR_WORLDS, 50 * main.choices * sum(len(ask.measures) for ask in asked))
    found = examine(main.evidence, asked, Precision(confidence, worlds, random_state))
    return Audit(
        evidence=main.evidence,
        findings=settled(found.findings, tolerances or {}, main.choices),
        by_group=found.by_group,
        views=tuple(seen),
        subgroups=tuple(ranked(views, 1 - confidence)),
        thresholds=threshold_curves(main.evidence, headlines),
        levels=levels_of(main.evidence),
        notes=(*evidence.notes, *main.notes, *unasked),
        title=title,
        confidence=confidence,
        fair_worlds=worlds,
        random_state=random_state,
        choices=main.choices,
        kind=kind,
    )
