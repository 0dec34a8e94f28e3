"""Sentences on what a step would change, in people and amounts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenhand._audit.parts import AuditParts
from evenhand._audit.step import Summary
from evenhand._data.tallies import Tally
from evenhand._words import listing, name, number, people_changed, percent, percents, plural
from evenhand.statistics.arithmetic import ratio

Floats = NDArray[np.float64]
MOST_NAMED = 3


def has_one_truth(audit: AuditParts) -> bool:
    """Whether all rows have one true class."""
    counts = audit.evidence.counted
    axes = [axis.name for axis in counts.axes]
    return "y" in axes and bool(np.count_nonzero(counts.table("y")) < 2)


def equalized(audit: AuditParts, summary: Summary) -> str:
    """Sentence on how many decisions change if all groups are selected at the overall rate."""
    selected = _selected_by_group(audit, summary)
    if selected is None or "weight" in audit.evidence.counted.sums:
        return ""
    rows = audit.evidence.rows
    changes = _changes(summary, rows * selected.sum() / rows.sum() - selected)
    return f"Equal rates, with the same number selected{changes}." if changes else ""


def selected_wrongly(audit: AuditParts, summary: Summary) -> str:
    """Sentence on how many fewer would be selected wrongly at the overall precision."""
    selected, share = _selected_by_group(audit, summary), _shares(summary, "precision")
    if selected is None or share is None:
        return ""
    overall, listed = _lacking_of(audit, summary, selected, share)
    sentence = f"At the overall precision of {overall}, fewer would be selected wrongly: {listed}."
    return sentence if listed else ""


def righted(audit: AuditParts, summary: Summary) -> str:
    """Sentence on how many more decisions would be right at the overall accuracy."""
    share = _shares(summary, "accuracy")
    if share is None:
        return ""
    overall, listed = _lacking_of(audit, summary, audit.evidence.rows, share)
    sentence = f"At the overall accuracy of {overall}, more decisions would be right: {listed}."
    return sentence if listed else ""


def _lacking_of(
    audit: AuditParts, summary: Summary, rows: Floats, share: Floats
) -> tuple[str, str]:
    """The overall share, and how many rows groups fall short of it (empty if weighted)."""
    overall = float(rows @ share / rows.sum())
    names = [group["label"] for group in summary["table"]["groups"]]
    lack = rows * (overall - share)
    largest = [at for at in np.argsort(-lack)[:MOST_NAMED] if lack[at] >= 0.5]
    if "weight" in audit.evidence.counted.sums:
        largest = []
    return percent(overall), listing([f"{lack[at]:,.0f} in {name(names[at])}" for at in largest])


def shares_selected(audit: AuditParts, summary: Summary) -> tuple[Floats, float]:
    """The share of people that each threshold selects, and the share that is selected now."""
    counts, table = audit.evidence.thresholds, summary["table"]
    assert counts is not None
    bins = counts.table("bin")
    shares = np.cumsum(bins[::-1])[::-1][1:] / bins.sum()
    keys = [metric["key"] for metric in table["metrics"]]
    now = float(table["overall"]["values"][keys.index("selection_rate")])
    is_favorable = audit.evidence.score_of == audit.evidence.favorable
    return shares if is_favorable else 1 - shares, now


def more_selected(audit: AuditParts, share: float, now: float) -> str:
    """Sentence on how many people a threshold selects, compared with now."""
    if audit.evidence.favorable is None:
        return ""
    texts = percents(share, now)
    sentence = f"It would select {texts[0]} of people instead of {texts[1]}"
    if "weight" in audit.evidence.counted.sums:
        return f"{sentence}."
    direction = "more" if share > now else "fewer"
    people = round(abs(share - now) * audit.evidence.rows.sum())
    return f"{sentence}: {plural(people, f'{direction} person', f'{direction} people')}."


def recalibrated(audit: AuditParts, summary: Summary) -> str:
    """Sentence on how many people recalibrated scores select at the same threshold."""
    from scipy.optimize import isotonic_regression

    evidence, counts = audit.evidence, audit.evidence.thresholds
    selected = _selected_by_group(audit, summary)
    if counts is None or evidence.decided_at is None or "weight" in evidence.counted.sums:
        return ""
    if counts.groups != evidence.groups or selected is None or has_one_truth(audit):
        return ""
    table = counts.table("bin", "y", "group")
    rows = table.sum(axis=1)
    share = ratio(table[:, counts.labels("y").index(evidence.score_of)], rows)
    recalibrated_count = np.zeros(len(selected))
    for at in range(len(selected)):
        occupied = rows[:, at] > 0
        rising = isotonic_regression(share[occupied, at], weights=rows[occupied, at]).x
        above = (rising >= evidence.decided_at) == (evidence.score_of == evidence.favorable)
        recalibrated_count[at] = rows[occupied, at][above].sum()
    changes = _changes(summary, recalibrated_count - selected)
    return f"On these rows, with the same threshold{changes}." if changes else ""


def _selected_by_group(audit: AuditParts, summary: Summary) -> Floats | None:
    """Number selected in each group; None if no outcome is favorable."""
    if audit.evidence.favorable is None:
        return None
    return _counted(summary, "selection_rate")


def _counted(summary: Summary, metric: str) -> Floats | None:
    """Number of rows of each group that a share amounts to; None if a group lacks it."""
    share = _shares(summary, metric)
    if share is None:
        return None
    rows = [group["rows"] for group in summary["table"]["groups"]]
    return share * np.array(rows, dtype=np.float64)


def _shares(summary: Summary, metric: str) -> Floats | None:
    """A share in each group; None if a group lacks it."""
    table = summary["table"]
    keys = [metric_entry["key"] for metric_entry in table["metrics"]]
    if metric not in keys:
        return None
    shares = [group["values"][keys.index(metric)] for group in table["groups"]]
    return None if None in shares else np.array(shares, dtype=np.float64)


def _changes(summary: Summary, change: Floats) -> str:
    """Sentence on how many more or fewer people of which groups are selected."""
    names = [group["label"] for group in summary["table"]["groups"]]
    return people_changed(names, change.tolist())


def corrected(audit: AuditParts) -> str:
    """Sentence on the RMSE before and after subtracting each group's mean error."""
    sums = audit.evidence.sources["moments"]
    assert isinstance(sums, Tally)
    weight, error = sums.table("group"), sums.table("group", of="error")
    square = sums.table("group", of="squared_error").sum()
    remaining = square - np.nansum(ratio(error**2, weight))
    before, after = (
        number(float(np.sqrt(max(s, 0.0) / weight.sum()))) for s in (square, remaining)
    )
    return f"On these rows that would bring the RMSE from {before} to {after}."
