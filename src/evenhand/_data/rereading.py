"""Evidence of the same rows under other settings, without counting them again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from evenhand._columns.codes import Column, positions
from evenhand._data.areas import RankedScores
from evenhand._data.counting import tally_columns
from evenhand._data.evidence import Cut, Evidence
from evenhand._data.fingerprints import digest
from evenhand._data.groups import Groups


def cut_at(evidence: Evidence, threshold: float) -> Evidence | None:
    """The evidence of these rows at another threshold; None where the rows are needed.

    It follows from scores that were ordered row by row, where a given threshold decided. Sources
    that do not depend on decisions are the same objects, with all their cached results.
    """
    ranks, before = evidence.sources.get("ranks"), evidence.decided_at
    if before is None or not isinstance(ranks, RankedScores) or "strata" in evidence.sources:
        return None
    old_note = Cut(before, is_given=True).note(evidence.score_of, evidence.favorable)
    scores = ranks.scores[0]
    is_of_rows = scores.squares is None and len(scores) >= evidence.rows.sum()
    if old_note not in evidence.notes or scores.truth is None or not is_of_rows:
        return None
    labels, group = evidence.classes, Groups(scores.codes, scores.groups, evidence.columns, ())
    values = -scores.values if evidence.is_turned else scores.values
    above = labels.index(evidence.score_of)
    decision = Column(np.where(values >= threshold, above, 1 - above).astype(np.uint8), labels)
    places = positions(scores.truth.labels, labels).astype(np.uint8)
    truth = Column(places[scores.truth.codes], labels)
    counted = tally_columns(
        truth,
        decision,
        sensitive_features=group,
        sample_weight=scores.weights if scores.survey is None else scores.survey,
        cluster={str(at): column for at, column in enumerate(scores.clusters)} or None,
    )
    note = Cut(threshold, is_given=True).note(evidence.score_of, evidence.favorable)
    return replace(
        evidence,
        sources={**evidence.sources, "predictions": counted, "labels": counted},
        decided_at=threshold,
        notes=tuple(note if text == old_note else text for text in evidence.notes),
    )


def sharing(evidence: Evidence, earlier_evidence: Iterable[Evidence]) -> Evidence:
    """The same evidence, with equal sources taken from earlier evidence.

    These bring their cached results with them.
    """
    earlier = [former for former in earlier_evidence if former.groups == evidence.groups]
    before = {digest(source): source for former in earlier for source in former.sources.values()}
    if not before:
        return evidence
    sources = {
        name: before.get(digest(former), former) for name, former in evidence.sources.items()
    }
    return replace(evidence, sources=sources)
