"""An audit as input of standards: people by each column and pair, with decisions and scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._audit.document import document
from evenhand._audit.parts import AuditParts
from evenhand._columns import Label
from evenhand._data.distributions import Distribution
from evenhand._data.evidence import Evidence, are_probabilities
from evenhand._data.groups import show
from evenhand._data.tallies import Tally
from evenhand.standards.document import standard_document
from evenhand.standards.sample import Sample, Scores, Segments, Subject


def filled_in(
    audit: AuditParts, standard: str, stated: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The document of a standard, filled in from an audit."""
    return standard_document(standard, subject_of(audit), stated)


def subject_of(audit: AuditParts) -> Subject:
    """The columns of the audit, and the people by each of its views."""
    views = [view.evidence for view in audit.views] or [audit.evidence]
    favorable = audit.evidence.favorable
    return Subject(
        columns=tuple(view.columns[0] for view in views if len(view.columns) == 1),
        samples={view.columns: sample_of(view) for view in views},
        document=document(audit),
        favorable=None if favorable is None else show(favorable),
        confidence=audit.confidence,
        weighted="weight" in audit.evidence.counted.sums,
    )


def sample_of(evidence: Evidence) -> Sample:
    """The people of a view: those selected, or by class where no label is favorable."""
    predictions, within = evidence.sources.get("predictions"), evidence.sources.get("strata")
    steps = evidence.sources.get("steps")
    segments = None
    if isinstance(within, Tally) and evidence.favorable is not None:
        axes = ("stratum", "group")
        segments = Segments(
            within.labels("stratum"),
            _selected(within, evidence.favorable, *axes),
            _integers(within.table(*axes, of="rows")),
        )
    hits, classes = None, {}
    if isinstance(predictions, Tally):
        if evidence.favorable is not None:
            hits = _selected(predictions, evidence.favorable, "group")
        else:
            labels = predictions.labels("yhat")
            classes = {label: _selected(predictions, label, "group") for label in labels}
    return Sample(
        columns=evidence.columns,
        groups=evidence.groups,
        rows=_integers(evidence.rows),
        hits=hits,
        scores=_scores(steps, evidence) if isinstance(steps, Distribution) else None,
        segments=segments,
        classes=classes,
    )


def _selected(counts: Tally, label: Label, *axes: str) -> NDArray[np.int64]:
    """Numbers with this decision, along the axes."""
    labels = counts.labels("yhat")
    if label not in labels:
        return np.zeros([counts.axis(name).size for name in axes], dtype=np.int64)
    table = counts.table("yhat", *axes, of="rows")
    return _integers(table[labels.index(label)])


def _scores(steps: Distribution, evidence: Evidence) -> Scores:
    """Scores of the favorable label; one minus the scores, if they are of the other label."""
    if evidence.is_turned:
        is_share = are_probabilities(steps.values[0], steps.values[-1])
        steps = steps.turned
        steps = replace(steps, values=steps.values + 1) if is_share else steps
    counts = steps.row_weights
    return Scores(steps.values, steps.codes, _integers(counts), len(steps.groups))


def _integers(counts: NDArray[Any]) -> NDArray[np.int64]:
    return np.asarray(np.rint(counts), dtype=np.int64)
