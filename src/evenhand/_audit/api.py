"""Audit predictions: from columns, from a dataframe, or from a fitted estimator."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from evenhand._audit.curves import levels_of, threshold_curves
from evenhand._audit.examination import Precision, Progress, examine, with_obstacles
from evenhand._audit.questions import (
    Criteria,
    answerable,
    check_margin,
    check_options,
    known_tolerances,
)
from evenhand._audit.result import Audit
from evenhand._audit.subgroups import Control, check_control, ranked
from evenhand._audit.views import examined, main_view, views_of
from evenhand._columns import Label
from evenhand._data.counted import from_tally, refuse_columns
from evenhand._data.counting import rows_in
from evenhand._data.dataframes import kind_of
from evenhand._data.evidence import Evidence, check_sizes, design_notes, sameness_notes
from evenhand._data.groups import Bins, Missing, Rare
from evenhand._data.rows import from_rows
from evenhand._data.tallies import Tally
from evenhand._data.tasks import Task, named_label
from evenhand._errors import InputTypeError
from evenhand._kinds import check_kinds
from evenhand._scoring import columns_from, is_names, scored_by, sensitive_names
from evenhand._signatures import (
    CLUSTER,
    CLUSTER_COLUMNS,
    SCORE_OF,
    documented,
    suggests_names,
)

MEASURES = ("mpd", "gini", "pq")
HEADLINES = ("statistical_parity", "equalized_odds", "strong_parity", "performance_parity(mse)")

TARGET = """\
task : {"binary", "multiclass", "regression"}, optional
    Found from the columns if it is not said: text, truth values and up to 20 different whole
    numbers are labels, fractions are numbers, and more whole numbers must be explained.
favorable : label, optional
    The label of the better outcome for people, by itself or as it is written. Of 0 and 1, −1 and 1,
    or False and True the second is assumed, and a note says so; of other labels none is, and
    criteria about one label are left out, which a note says too.
pos_label : label, optional
    Another name for `favorable`, as in scikit-learn."""

GROUPS = """\
bins : mapping of str to int or sequence of float, optional
    For a sensitive column of amounts, by name: into how many quantile bins it is cut, or at which
    edges.
missing : {"error", "group"}, default "error"
    Whether rows without a group are refused or are a group of their own.
min_count : int, default 0
    Groups of fewer rows are rare.
rare : {"keep", "merge", "drop"}, default "keep"
    What becomes of rare groups; a note of the audit says so."""

EXAMINATION = """\
criteria : str, Criterion or sequence of these, optional
    Such as "equalized_odds" or "performance_parity(f1)"; by default all that fit the task and
    the columns.
measures : str or sequence of str, default ("mpd", "gini", "pq")
    Names in `MEASURES`.
tolerances : mapping of str to float, optional
    From "criterion.measure" to the largest value that is tolerated, of a ratio the smallest; what
    the interval says of it is then `judged`: "exceeds" (a ratio "falls short"), "within
    tolerance" or "inconclusive".
confidence : float, default 0.95
    Of every interval; tests are at the level 1 − confidence.
margin : float, optional
    The largest difference between two groups that counts as alike, in units of the statistic.
    By default 0.05 for rates, five percentage points; for other statistics there is none, and no
    verdict is "alike" unless you state it. Groups that could not have shown such a difference are
    listed as `too_few`.
control : {"familywise", "false_discovery"}, default "familywise"
    What is kept below 1 − confidence in the scan of subgroups: the chance that any of its bounds is
    wrong, or the expected share of wrong ones among the subgroups that are flagged. The second
    flags more of them. Verdicts on criteria do not depend on it.
depth : int, default 2
    How many sensitive columns are combined at most.
title : str, optional
    Of the report."""


@suggests_names
@documented(
    score_of=SCORE_OF, cluster=CLUSTER, target=TARGET, grouping=GROUPS, examination=EXAMINATION
)
def audit(
    y_true: Any,
    y_pred: Any = None,
    *,
    sensitive_features: Any = None,
    y_score: Any = None,
    score_of: Label = None,
    threshold: float | None = None,
    sample_weight: Any = None,
    strata: Any = None,
    cluster: Any = None,
    bins: Bins | None = None,
    missing: Missing = "error",
    min_count: int = 0,
    rare: Rare = "keep",
    task: Task | None = None,
    favorable: Label = None,
    pos_label: Label = None,
    criteria: Criteria | None = None,
    measures: str | Sequence[str] = MEASURES,
    tolerances: Mapping[str, float] | None = None,
    confidence: float = 0.95,
    margin: float | None = None,
    control: Control = "familywise",
    depth: int = 2,
    title: str | None = None,
) -> Audit:
    """Say in which respects groups differ, by how much, and which of them.

    Parameters
    ----------
    y_true : array-like, Tally or None
        True labels or values; None where they are not known. Or the counts that `tally`,
        `tally_counts`, `tally_frame` or `moments` made: then no other column follows.
    y_pred : array-like, optional
        Predicted labels or values. Without them the score decides, at the threshold.
    sensitive_features : array-like or dataframe
        The columns that name the groups, or what `groups` made of them. Beside a tally, the names
        of its columns: a str, or a sequence of str where they are crossed.
    y_score : array-like, optional
        Scores or probabilities of one label, or a column for each label: for thresholds,
        calibration, AUROC and distributions.
    {score_of}
    threshold : float, optional
        In place of `y_pred`: from this score on rows count as predicted `score_of`. Without either,
        probabilities are cut at 0.5, which a note says, and scores of another range are refused.
    sample_weight : array-like, optional
        Weights of the rows.
    strata : array-like or dataframe, optional
        Within which "conditional_statistical_parity" compares groups.
    {cluster}
    {grouping}
    {target}
    {examination}

    Returns
    -------
    Audit
        The findings, one for each criterion, with its verdict and its values by measure; the
        groups' own values; and the same as HTML, JSON, Markdown and a dataframe.

    Raises
    ------
    InputError
        If a column cannot be used, a name is unknown, or the task cannot be told.

    Examples
    --------
    >>> import numpy as np
    >>> group = np.repeat(["a", "b"], 500)
    >>> y = np.tile([0, 1], 500)
    >>> p = np.where((group == "b") & (np.arange(1000) % 4 == 1), 0, y)
    >>> report = audit(y, p, sensitive_features=group)
    >>> report.finding("statistical_parity").verdict
    'differs'

    """
    if isinstance(y_true, Tally):
        refuse_columns(
            y_pred=y_pred,
            y_score=y_score,
            score_of=score_of,
            threshold=threshold,
            sample_weight=sample_weight,
            strata=strata,
            cluster=cluster,
            bins=bins,
        )
        evidence = from_tally(
            y_true,
            sensitive_features,
            min_count=min_count,
            rare=rare,
            task=task,
            favorable=named_label(favorable, pos_label),
        )
    elif sensitive_features is None:
        raise InputTypeError("Pass sensitive_features, the columns that name the groups.")
    else:
        evidence = from_rows(
            y_true,
            y_pred,
            sensitive_features=sensitive_features,
            y_score=y_score,
            score_of=score_of,
            threshold=threshold,
            sample_weight=sample_weight,
            strata=strata,
            cluster=cluster,
            bins=bins,
            missing=missing,
            min_count=min_count,
            rare=rare,
            task=task,
            favorable=named_label(favorable, pos_label),
        )
    return audit_evidence(
        evidence,
        criteria=criteria,
        measures=measures,
        tolerances=tolerances,
        confidence=confidence,
        margin=margin,
        control=control,
        depth=depth,
        title=title,
        kind=kind_of(sensitive_features),
    )


@suggests_names
@documented(
    score_of=SCORE_OF, cluster=CLUSTER, target=TARGET, grouping=GROUPS, examination=EXAMINATION
)
def audit_model(
    model: Any,
    X: Any,
    y: Any,
    *,
    sensitive_features: Any = None,
    group: Any = None,
    y_score: Any = None,
    score_of: Label = None,
    threshold: float | None = None,
    sample_weight: Any = None,
    strata: Any = None,
    cluster: Any = None,
    bins: Bins | None = None,
    missing: Missing = "error",
    min_count: int = 0,
    rare: Rare = "keep",
    task: Task | None = None,
    favorable: Label = None,
    pos_label: Label = None,
    criteria: Criteria | None = None,
    measures: str | Sequence[str] = MEASURES,
    tolerances: Mapping[str, float] | None = None,
    confidence: float = 0.95,
    margin: float | None = None,
    control: Control = "familywise",
    depth: int = 2,
    title: str | None = None,
) -> Audit:
    """Audit a fitted estimator on rows that it has not seen.

    Parameters
    ----------
    model : estimator
        Fitted, with `predict`; what has `classes_` is a classifier, all else a regressor. A
        classifier's probabilities are audited too.
    X : array-like or dataframe
        Features of the rows, usually with the sensitive columns among them.
    y : array-like
        True labels or values.
    sensitive_features : str, int, sequence of these, array-like or dataframe
        The columns of X that name the groups, by name, or by position where X is an array; or, if X
        does not hold them, the columns themselves, as for `audit`.
    group : str, int or sequence of these, optional
        Another name for `sensitive_features`, as in our estimators.
    y_score : array-like, optional
        Scores, where those of the model's `predict_proba` are not meant.
    {score_of}
    threshold : float, optional
        In place of the model's `predict`: the least score of the favorable label, or of
        `score_of`, from which on it is predicted.
    sample_weight : array-like, optional
        Weights of the rows.
    strata : array-like or dataframe, optional
        Within which "conditional_statistical_parity" compares groups.
    {cluster}
    {grouping}
    {target}
    {examination}

    Returns
    -------
    Audit
        As of `audit`.

    Raises
    ------
    InputError
        If a column cannot be used, a name is unknown, or the task cannot be told.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.dummy import DummyClassifier
    >>> X = pd.DataFrame({"age": range(40), "sex": ["F", "M"] * 20})
    >>> y = [0, 1, 1, 1] * 10
    >>> model = DummyClassifier().fit(X, y)
    >>> asked = {"sensitive_features": "sex", "criteria": "statistical_parity"}
    >>> report = audit_model(model, X, y, **asked)
    >>> report.finding("statistical_parity", "pq").value
    0.0

    """
    features = sensitive_names("audit_model", sensitive_features, group)
    if not callable(getattr(model, "predict", None)):
        raise InputTypeError(
            f"audit_model asks a fitted estimator to predict, and a {type(model).__name__} cannot. "
            "For predictions that are there already, call audit."
        )
    if is_names(features, rows_in(y)):
        features = columns_from(X, features)
    labels = getattr(model, "classes_", None)
    if labels is not None and y_score is None and hasattr(model, "predict_proba"):
        of = named_label(favorable, pos_label) if score_of is None else score_of
        known = scored_by(model, X, of)
        y_score, score_of = known["y_score"], known.get("score_of")
    if task is None and labels is not None:
        task = "binary" if len(labels) <= 2 else "multiclass"
    result = audit(
        y,
        None if threshold is not None else model.predict(X),
        sensitive_features=features,
        y_score=y_score,
        score_of=score_of,
        threshold=threshold,
        sample_weight=sample_weight,
        strata=strata,
        cluster=cluster,
        bins=bins,
        missing=missing,
        min_count=min_count,
        rare=rare,
        task="regression" if task is None else task,
        favorable=favorable,
        pos_label=pos_label,
        criteria=criteria,
        measures=measures,
        tolerances=tolerances,
        confidence=confidence,
        margin=margin,
        control=control,
        depth=depth,
        title=title,
    )
    return replace(result, model=_model_name(model))


@suggests_names
@documented(
    score_of=SCORE_OF,
    cluster=CLUSTER_COLUMNS,
    target=TARGET,
    grouping=GROUPS,
    examination=EXAMINATION,
)
def audit_frame(
    frame: Any,
    *,
    y_true: str | None,
    y_pred: str | None = None,
    sensitive_features: str | Sequence[str],
    y_score: str | None = None,
    score_of: Label = None,
    threshold: float | None = None,
    sample_weight: str | None = None,
    strata: str | Sequence[str] | None = None,
    cluster: str | Sequence[str] | None = None,
    rows: str | None = None,
    rate: str | None = None,
    replicate_weights: str | Sequence[str] | None = None,
    replicate_method: str | float | None = None,
    bins: Bins | None = None,
    missing: Missing = "error",
    min_count: int = 0,
    rare: Rare = "keep",
    task: Task | None = None,
    favorable: Label = None,
    pos_label: Label = None,
    criteria: Criteria | None = None,
    measures: str | Sequence[str] = MEASURES,
    tolerances: Mapping[str, float] | None = None,
    confidence: float = 0.95,
    margin: float | None = None,
    control: Control = "familywise",
    depth: int = 2,
    title: str | None = None,
) -> Audit:
    """Audit a table in the engine that holds it; columns are named, and only counts come back.

    Parameters
    ----------
    frame : dataframe, lazy query or database table
        Of pandas, Polars (eager or lazy), Arrow, DuckDB, Dask, Ibis, Spark, or anything else that
        narwhals reads.
    y_true : str or None
        The column of the true labels or values; None where they are not known.
    y_pred : str, optional
        The column of the predictions. Without it the score decides, at the threshold.
    sensitive_features : str or sequence of str
        The columns that name the groups; several are crossed.
    y_score : str, optional
        The column of scores or probabilities of one label. Of more than a million rows
        it is counted in bins, and a note says how far off that can be. In a table of counts it may
        hold bins, such as "[0.4, 0.5)": criteria that need more than those are left out.
    {score_of}
    threshold : float, optional
        In place of `y_pred`: from this score on rows count as predicted `score_of`. Without either,
        probabilities are cut at 0.5, which a note says, and scores of another range are refused.
    sample_weight : str, optional
        The column of the rows' weights.
    strata : str or sequence of str, optional
        The columns within which "conditional_statistical_parity" compares groups.
    {cluster}
    rows : str, optional
        The column that says how many rows a line of the table stands for, where it holds counts.
        The audit is that of so many rows. With `task="regression"` and no `y_pred`, the columns
        are sums of values, under the names that `count_query` gives them.
    rate : str, optional
        In place of `y_pred`, where `rows` are given: the column of the share that was selected.
    replicate_weights : str or sequence of str, optional
        The columns of a survey's replicate weights, by name or as a range: "PWGTP1-80".
        Intervals and tests then allow for the survey's design.
    replicate_method : str or float, optional
        How they were made, as in `survey_weights`: "acs", "jackknife", "paired jackknife", "brr";
        or what squared deviations are multiplied by.
    {grouping}
    {target}
    {examination}

    Returns
    -------
    Audit
        As of `audit` for the columns.

    Raises
    ------
    InputError
        If a column is not there or cannot be used, a name is unknown, or the task cannot be told.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame(
    ...     {"y": [0, 1] * 40, "p": [1, 0] * 40, "sex": ["F", "F", "M", "M"] * 20}
    ... )
    >>> names = {"y_true": "y", "y_pred": "p", "sensitive_features": "sex"}
    >>> report = audit_frame(people, **names, criteria=["accuracy_parity"], measures=["gini"])
    >>> report.finding("accuracy_parity").verdict
    'cannot tell'

    """
    from evenhand._data.tables import evidence_from_frame

    evidence = evidence_from_frame(
        frame,
        y_true=y_true,
        y_pred=y_pred,
        sensitive_features=sensitive_features,
        y_score=y_score,
        score_of=score_of,
        threshold=threshold,
        sample_weight=sample_weight,
        strata=strata,
        cluster=cluster,
        bins=bins,
        missing=missing,
        min_count=min_count,
        rare=rare,
        task=task,
        favorable=named_label(favorable, pos_label),
        rows=rows,
        rate=rate,
        replicate_weights=replicate_weights,
        replicate_method=replicate_method,
    )
    return audit_evidence(
        evidence,
        criteria=criteria,
        measures=measures,
        tolerances=tolerances,
        confidence=confidence,
        margin=margin,
        control=control,
        depth=depth,
        title=title,
        kind=kind_of(frame),
    )


def audit_evidence(
    evidence: Evidence,
    *,
    criteria: Criteria | None = None,
    measures: str | Sequence[str] = MEASURES,
    tolerances: Mapping[str, float] | None = None,
    confidence: float = 0.95,
    margin: float | None = None,
    control: Control = "familywise",
    depth: int = 2,
    title: str | None = None,
    kind: str | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Audit what was counted; `kind` is the user's dataframe library."""
    check_kinds(control=control, tolerances=tolerances, title=title)
    check_options(confidence, depth, margin)
    check_control(control)
    questions, unasked = answerable(evidence, criteria, measures)
    bounds = [question.criterion.statistic.bounds for question in questions]
    check_margin(margin, of_rates=evidence.task != "regression" and (0.0, 1.0) in bounds)
    tolerated = known_tolerances(tolerances or {}, questions)
    headlines = [question for question in questions if question.name in HEADLINES] or questions[:1]
    views = list(views_of(evidence, depth))
    check_sizes((view.evidence for view in views), evidence.columns)
    seen = examined(views, headlines, 1 - confidence) if len(views) > 1 else []
    main = main_view(evidence, seen, depth)
    precision = Precision(confidence, margin, tolerated, main.choices)
    answers = examine(main.evidence, questions, precision, progress)
    ordered = "steps" in main.evidence.sources  # scores or predicted values, which have curves
    return Audit(
        evidence=main.evidence,
        findings=with_obstacles(main.evidence, questions, answers.findings, answers.group_values),
        group_values=answers.group_values,
        views=tuple(seen),
        subgroups=tuple(ranked(views, 1 - confidence, control, margin)),
        thresholds=threshold_curves(main.evidence, headlines) if ordered else None,
        levels=levels_of(main.evidence) if ordered else None,
        notes=(
            *evidence.notes,
            *design_notes(evidence.counted),
            *sameness_notes(evidence),
            *main.notes,
            *unasked,
        ),
        title=title,
        confidence=confidence,
        margin=margin,
        control=control,
        choices=main.choices,
        date=_today(),
        kind=kind,
    )


def _model_name(model: Any) -> str:
    """The class of an estimator; of a pipeline, those of its steps."""
    steps = [step for _, step in getattr(model, "steps", [])] or [model]
    return " → ".join(type(step).__name__ for step in steps)


def _today() -> str:
    """The day in Greenwich, or that of SOURCE_DATE_EPOCH where a build is to be reproducible."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    now = datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now(UTC)
    return now.date().isoformat()
