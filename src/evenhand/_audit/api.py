"""Audit predictions: from columns, from a dataframe, or from a fitted estimator."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from evenhand._audit.curves import levels_of, threshold_curves
from evenhand._audit.examination import Precision, Progress, examine
from evenhand._audit.gate import FailIf, gates_of, tolerances, with_gates
from evenhand._audit.questions import Control, answerable, check_margin, check_options
from evenhand._audit.result import Audit
from evenhand._audit.subgroups import ranked
from evenhand._audit.views import examined, main_view, views_of
from evenhand._data.data import Data
from evenhand._data.doors import about_data
from evenhand._data.evidence import (
    Evidence,
    check_several,
    check_sizes,
    design_notes,
    sameness_notes,
)
from evenhand._errors import InputError
from evenhand._kinds import check_kinds
from evenhand._signatures import documented
from evenhand._unknown import Unknown, bounds_of, is_missing, is_share
from evenhand.criteria.questions import Criteria, Question

MEASURES = ("mpd", "gini", "pq")
HEADLINES = (
    *("statistical_parity", "equalized_odds", "strong_parity", "performance_parity(mse)"),
    "exposure_parity",
)

EXAMINATION = """\
criteria : str, Criterion or sequence of these, optional
    Such as "equalized_odds" or "performance_parity(f1)"; by default all that fit the task and
    the columns.
measures : str or sequence of str, default ("mpd", "gini", "pq")
    Names in `MEASURES`.
fail_if : str, sequence of str, or mapping of str to float, optional
    Bounds: "statistical_parity.mpd > 0.1", as on the command line, or {"statistical_parity.mpd":
    0.1}, the most that is tolerated, of a ratio the least. What the interval says of each is then
    `judged`: "exceeds" (a ratio "falls short"), "within tolerance" or "inconclusive".
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


@about_data()
@documented(examination=EXAMINATION)
def audit(
    data: Data,
    *,
    criteria: Criteria | None = None,
    measures: str | Sequence[str] = MEASURES,
    fail_if: FailIf | None = None,
    confidence: float = 0.95,
    margin: float | None = None,
    control: Control = "familywise",
    depth: int = 2,
    title: str | None = None,
) -> Audit:
    """Find out in which respects groups differ, by how much, and which groups.

    Parameters
    ----------
    {data}
    {examination}

    Returns
    -------
    Audit
        The findings, one for each criterion, with its verdict and its values by measure; the
        groups' own values; and the same as HTML, JSON, Markdown and a dataframe. Where groups are
        probable or missing (`missing="unknown"`), a `PartialAudit`: what holds whatever they are.

    Raises
    ------
    InputError
        If a column cannot be used, a name is unknown, or the task is unclear.

    Examples
    --------
    >>> import numpy as np
    >>> group = np.repeat(["a", "b"], 500)
    >>> y = np.tile([0, 1], 500)
    >>> p = np.where((group == "b") & (np.arange(1000) % 4 == 1), 0, y)
    >>> report = audit(y, p, sensitive_features=group)
    >>> report.finding("statistical_parity").verdict
    'differs'

    A table of any engine, whose columns are named, and a fitted estimator:

    >>> import pandas as pd
    >>> people = pd.DataFrame({"y": y, "p": p, "sex": group})
    >>> audit("y", "p", sensitive_features="sex", data=people).finding("statistical_parity").verdict
    'differs'
    >>> from sklearn.dummy import DummyClassifier
    >>> model = DummyClassifier().fit(people[["sex"]], y)
    >>> asked = {"criteria": "statistical_parity", "measures": "pq"}
    >>> report = audit("y", model, sensitive_features="sex", data=people, **asked)
    >>> report.finding("statistical_parity", "pq").value
    0.0

    """
    result = audit_evidence(
        data.counted,
        criteria=criteria,
        measures=measures,
        fail_if=fail_if,
        confidence=confidence,
        margin=margin,
        control=control,
        depth=depth,
        title=title,
    )
    return replace(result, kind=data.kind, model=data.model)


def audit_evidence(
    evidence: Evidence,
    *,
    criteria: Criteria | None = None,
    measures: str | Sequence[str] = MEASURES,
    fail_if: FailIf | None = None,
    confidence: float = 0.95,
    margin: float | None = None,
    control: Control = "familywise",
    depth: int = 2,
    title: str | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Audit counts."""
    check_kinds(title=title)
    check_options(confidence, depth, margin, control)
    check_several(evidence.groups)
    gates = gates_of(fail_if, evidence.task)
    questions, unasked = answerable(evidence, criteria, measures)
    questions = with_gates(questions, gates)
    bounds = [question.criterion.statistic.bounds for question in questions]
    check_margin(margin, of_rates=evidence.is_of_labels and (0.0, 1.0) in bounds)
    headlines = [question for question in questions if question.name in HEADLINES] or questions[:1]
    views = list(views_of(evidence, depth))
    check_sizes((view.evidence for view in views), evidence.columns)
    examined_views = examined(views, headlines, 1 - confidence) if len(views) > 1 else []
    main = main_view(evidence, examined_views, depth)
    precision = Precision(confidence, margin, tolerances(gates), main.choices)
    answers = examine(main.evidence, questions, precision, progress)
    has_gaps = any(map(is_missing, main.evidence.groups))
    return Audit(
        evidence=main.evidence,
        findings=answers.findings,
        group_values=answers.group_values,
        views=tuple(examined_views),
        subgroups=tuple(ranked(views, 1 - confidence, control, margin)),
        levels=levels_of(main.evidence),
        thresholds=threshold_curves(main.evidence, headlines),
        notes=(
            *evidence.notes,
            *design_notes(evidence.counted),
            *sameness_notes(evidence),
            *main.notes,
            *unasked,
            *(_if_recorded(main.evidence, headlines, confidence) if has_gaps else ()),
        ),
        title=title,
        confidence=confidence,
        margin=margin,
        control=control,
        choices=main.choices,
        date=today(),
    )


def _if_recorded(
    evidence: Evidence, questions: Sequence[Question], confidence: float
) -> Iterator[str]:
    """What the first gap could be if people without a group belonged to the other groups."""
    for question in questions[:1]:
        source = evidence.sources[question.needs]
        if not is_share(question.criterion, source):
            continue
        favorable = evidence.favorable_in(one_class=question.criterion.one_class)
        counted = Data(evidence)
        unknown = Unknown(counted, counted, favorable)
        with suppress(InputError):  # fewer than two groups are known
            result = bounds_of(unknown, question.criterion, source=source, confidence=confidence)
            yield result.condition


def today() -> str:
    """The date in UTC, or that of SOURCE_DATE_EPOCH for reproducible builds."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    now = datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now(UTC)
    return now.date().isoformat()
