"""The next steps that findings suggest: each with its remedy, the call and its cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import ceil, floor, log10

import numpy as np

from evenhand._audit.changes import (
    corrected,
    equalized,
    has_one_truth,
    more_selected,
    recalibrated,
    righted,
    selected_wrongly,
    shares_selected,
)
from evenhand._audit.comparisons import MARGIN
from evenhand._audit.finding import Finding
from evenhand._audit.lacking import ERRORS, PREDICTIVE, lacking, planned
from evenhand._audit.parts import AuditParts
from evenhand._audit.step import Step, Summary, step
from evenhand._audit.summary import first_told
from evenhand._words import number
from evenhand.measures import resolve

MAX_STEPS = 3
NOTABLE = 0.05  # a difference of base rates that explains one of selection rates
SELECTION = ("statistical_parity", "selection_rate_ratio")
ACCURACY = (*ERRORS, "average_odds", "accuracy_parity", "error_parity")
CALIBRATION = ("calibration_parity", "calibration_within_groups")
FOR_RELEVANCE = ("pairwise_parity", "performance_parity(pairwise_across)")
RERANKED = ("top_k_parity", "exposure_parity", "exposure_per_relevance")
SIGNED = "performance_parity(mean_error)"
AMOUNTS = ("weak_parity", "strong_parity", "wasserstein_parity")
GATES = {
    "exceeds": "fails now",
    "within tolerance": "passes now",
    "inconclusive": "is inconclusive now",
}
NOTHING = {
    "found": "Some criteria have nothing to compare.",
    "remedy": "All rows share one decision, label or score: audit rows that have more than one.",
    "call": "",
    "cost": "",
    "action": "audit rows with more than one decision",
}


def steps(audit: AuditParts, summary: Summary, too_few: Summary) -> list[Step]:
    """The steps that the findings suggest, the most urgent first."""
    differing = {f.criterion: f for f in audit.findings if f.verdict == "differs"}
    if all(f.sameness is not None or f.verdict == "undefined" for f in audit.findings):
        return [NOTHING]
    suggested = [item for find in FINDERS for item in find(audit, summary, differing)]
    if has_one_truth(audit):  # nothing can be fitted to it
        suggested = [
            {**item, "call": ""} if "(y_true" in item["call"] else item for item in suggested
        ]
    scarce = lacking(audit, too_few)
    if not suggested and not scarce:
        return [_watching(audit)]
    # If data are lacking, one of the steps says so.
    return [*suggested[: MAX_STEPS - len(scarce[:1])], *scarce][:MAX_STEPS]


def gate(audit: AuditParts) -> dict[str, str] | None:
    """A gate on the headline finding, with its present outcome.

    Its bound is the tolerance, if one was set, or the margin; for amounts without one, the upper
    end of the interval.
    """
    finding = first_told(audit)
    widths = [
        measured for measured in finding.values.values() if resolve(measured.measure).is_width
    ]
    value = min(widths, key=lambda measured: measured.tolerance is None, default=None)
    if value is None or finding.sameness is not None or not np.isfinite(value.high):
        return None
    bound = value.tolerance or finding.margin
    if bound is None:
        bound = MARGIN if finding.is_rate else _rounded_up(value.high)
    judged = replace(value, tolerance=bound).judged
    return {
        "command": "evenhand audit FILE …",
        "option": f"--fail-if '{finding.criterion}.{value.measure} > {bound:g}'",
        "now": f"{GATES[judged or 'inconclusive']} ({number(value.value)})",
    }


def _rounded_up(value: float) -> float:
    """Round up to two digits.

    >>> _rounded_up(3412.0), _rounded_up(0.0), _rounded_up(0.25)
    (3500.0, 0.0, 0.25)
    """
    if value <= 0:
        return 0.0
    unit = 10.0 ** (floor(log10(value)) - 1)
    return float(f"{ceil(round(value / unit, 9)) * unit:.2g}")


def _selection(
    audit: AuditParts, summary: Summary, differing: Mapping[str, Finding]
) -> Iterator[Step]:
    """Steps for selection rates that differ because of base rates, errors or unknown causes."""
    if not audit.evidence.is_of_labels or not set(SELECTION) & set(differing):
        return
    bases = _spread(summary, "base_rate")
    call, cost = _rule(audit, "statistical_parity")
    cost = cost or equalized(audit, summary)
    if set(ERRORS) & set(differing):
        yield step(
            "Selection rates and error rates differ.",
            "The model errs more in some groups than in others. Look for features that predict "
            "less well there; until then, a rule that uses the group can equalize the rates.",
            call,
            cost,
            action="look for features that predict less well for some groups",
        )
    elif bases is not None and bases >= NOTABLE:
        yield step(
            "Selection rates differ; error rates are not shown to differ.",
            f"Base rates differ by {100 * bases:.0f} points, so the model passes on what the "
            "labels say. Ask first whether the labels are fair; if they are not, a rule with equal "
            "selection rates makes up for it.",
            call,
            cost,
            action="ask whether the labels are fair",
        )
    elif bases is None:
        yield step(
            "Selection rates differ.",
            "See whether columns that the task justifies, such as a department, explain that. If "
            "they do not, use a rule that selects every group at the same rate.",
            'eh.explain("statistical_parity", y_pred=y_pred, sensitive_features=groups, '
            "by=columns)",
            cost,
            action="see which columns explain the gap, or select all groups at the same rate",
        )
    else:
        yield step(
            "Selection rates differ.",
            "If the task does not justify the difference, use a rule that selects every group at "
            "the same rate.",
            call,
            cost,
            action="justify the difference, or select all groups at the same rate",
        )


def _errors(
    audit: AuditParts, summary: Summary, differing: Mapping[str, Finding]
) -> Iterator[Step]:
    """Steps for errors that differ, if selection rates do not significantly."""
    if not audit.evidence.is_of_labels or set(SELECTION) & set(differing):
        return
    if any(finding.criterion in SELECTION and finding.sameness for finding in audit.findings):
        return  # all decisions are equal, so accuracy follows from the base rates
    if not set(ACCURACY) & set(differing):
        return
    call, cost = _rule(audit, "equalized_odds")
    yield step(
        "The model works less well for some groups.",
        "Look for weaker features, worse labels or too few training rows there; until then, a rule "
        "that uses the group can even out the errors.",
        call,
        cost or righted(audit, summary),
        action="look for weaker features, worse labels or too few training rows",
    )


def _precision(
    audit: AuditParts, summary: Summary, differing: Mapping[str, Finding]
) -> Iterator[Step]:
    """Steps for precision that differs, if error rates do not significantly."""
    criterion = next((name for name in PREDICTIVE if name in differing), None)
    if criterion is None or not audit.evidence.is_of_labels:
        return
    if {*SELECTION, *ACCURACY} & set(differing):
        return
    bases = _spread(summary, "base_rate")
    if bases is not None and bases >= NOTABLE:
        remedy = (
            f"Base rates differ by {100 * bases:.0f} points; where error rates are alike, that "
            "alone makes it differ, and no rule evens out both. Ask first whether the labels are "
            "fair, then which of the two matters here."
        )
        action = "ask whether the labels are fair, and which error matters"
    else:
        remedy = "Look for weaker features, worse labels or too few training rows there."
        action = "look for weaker features, worse labels or too few training rows"
    yield step(
        f"{PREDICTIVE[criterion]} differs; error rates are not shown to differ.",
        remedy,
        f'audit.explain("{criterion}")',
        selected_wrongly(audit, summary) if criterion == "predictive_parity" else "",
        action=action,
    )


def _threshold(
    audit: AuditParts, summary: Summary, differing: Mapping[str, Finding]
) -> Iterator[Step]:
    """Step to another common threshold that would at least halve the first gap."""
    curves = audit.thresholds
    if curves is None or curves.used is None:
        return
    for curve in curves.curves:
        if curve.criterion not in differing or not resolve(curve.measure).is_width:
            continue
        shares, now = shares_selected(audit, summary)
        # A threshold that selects hardly anyone, or nearly everyone, closes gaps but is useless.
        usable = (shares >= now / 2) & (1 - shares >= (1 - now) / 2) & np.isfinite(curve.values)
        if not usable.any():
            return
        values = np.where(usable, curve.values, np.inf)
        best, current = int(values.argmin()), differing[curve.criterion].values[curve.measure].value
        at = curves.at[best]
        if values[best] <= current / 2:
            criterion = curve.criterion.replace("_", " ")
            yield step(
                f"The threshold matters for {criterion}.",
                f"At {at:.3g} instead of {curves.used:.2g} the gap would be "
                f"{100 * values[best]:.0f} instead of {100 * current:.0f} points, with the same "
                "threshold for all. “Other thresholds” has the whole curve.",
                f"eh.audit(y_true, y_score=y_score, threshold={at:.3g}, sensitive_features=groups)",
                more_selected(audit, float(shares[best]), now),
                action=f"consider a threshold of {at:.3g}",
            )
        return


def _calibration(
    audit: AuditParts, summary: Summary, differing: Mapping[str, Finding]
) -> Iterator[Step]:
    """Steps for scores that are calibrated differently between groups."""
    if set(CALIBRATION) & set(differing):
        yield step(
            "Scores mean different things in different groups.",
            "Recalibrate the scores within each group before comparing them with a threshold.",
            "eh.frontier(y_true, y_score, sensitive_features=groups, recalibrate=True)",
            recalibrated(audit, summary),
            action="recalibrate the scores of each group",
        )


def _signed(audit: AuditParts, _: Summary, differing: Mapping[str, Finding]) -> Iterator[Step]:
    """Steps for groups that are over-predicted compared with others."""
    if SIGNED not in differing:
        return
    yield step(
        "Some groups are over- or under-predicted compared with others.",
        "Look for weaker features, worse labels or too few training rows there; until then, "
        "subtract each group's mean error, measured on rows that are not in the audit, from its "
        "predictions.",
        'audit.by_group["mean_error"]',
        corrected(audit),
        action="find out why, or subtract each group's mean error",
    )


def _amounts(audit: AuditParts, _: Summary, differing: Mapping[str, Finding]) -> Iterator[Step]:
    """Steps for predicted amounts that differ between groups."""
    criteria = [name for name in AMOUNTS if name in differing]
    if audit.evidence.task != "regression" or not criteria:
        return
    called, cost = _rule(audit, criteria[0])
    yield step(
        "Predicted amounts differ between groups.",
        "If the true amounts do not, correct the predictions. This rule changes them least.",
        called,
        cost,
        action="ask whether the true amounts differ",
    )


def _places(audit: AuditParts, _: Summary, differing: Mapping[str, Finding]) -> Iterator[Step]:
    """Steps for groups that get more exposure in lists than others."""
    if audit.evidence.task != "ranking" or not differing:
        return
    call = ""
    if "relevance" not in audit.evidence.counted.sums:
        remedy = "Pass how relevant each row is (y_true) to see whether that explains the gap."
        action = "measure relevance"
    elif set(FOR_RELEVANCE) & set(differing):
        remedy = (
            "Rows of some groups are placed lower than others of the same relevance. Look for "
            "weaker features and too few training lists there; until then, a rule that uses the "
            "group can reorder the lists with the least loss."
        )
        action = "look for features that place some groups lower"
        call = _reranker(audit, differing)
    else:
        remedy = (
            "No difference is shown for the same relevance, so the gap may follow from it. Ask "
            "first whether the relevance itself is fair."
        )
        action = "ask whether the relevance is fair"
    yield step("Some groups get better places than others.", remedy, call, action=action)


def _reranker(audit: AuditParts, differing: Mapping[str, Finding]) -> str:
    """The call that fits a reranker; rows have columns of groups, scores and lists."""
    criterion = next((name for name in RERANKED if name in differing), "")
    are_places = "attention" in audit.evidence.counted.sums  # rather than clicks
    if (
        not criterion
        or not are_places
        or (criterion == "top_k_parity" and audit.evidence.top_k is None)
    ):
        return ""
    first = f", top_k={audit.evidence.top_k}" if criterion == "top_k_parity" else ""
    columns = audit.evidence.columns
    group = repr(columns[0] if len(columns) == 1 else [*columns])
    truth = ", relevance" if criterion == "exposure_per_relevance" else ""
    return (
        f"evenhand.mitigation.OffsetReranker(group={group}, query='query', score='score', "
        f"criterion={criterion!r}{first}, epsilon=0.02).fit(rows{truth})"
    )


def _watching(audit: AuditParts) -> Step:
    if any(f.verdict == "cannot tell" for f in audit.findings):
        return step(
            "No difference is shown.",
            "That is not evidence of fairness. Look at the upper ends of the intervals, and find "
            "out how large a gap these rows could have shown.",
            planned(audit),
            action="find out how large a gap these rows could have shown",
        )
    name = audit.findings[0].criterion
    return step(
        "The groups are alike in these respects.",
        "Keep it that way: watch the model after release.",
        f'eh.Watch("{name}", fail_if="{name}.mpd > 0.05")',
        action="watch the model after release",
    )


def _spread(summary: Summary, metric: str) -> float | None:
    keys = [entry["key"] for entry in summary["table"]["metrics"]]
    return summary["table"]["difference"][keys.index(metric)] if metric in keys else None


def _rule(audit: AuditParts, criterion: str) -> tuple[str, str]:
    """The call that gives a rule, and the cost of closing the gap if it was traced."""
    regression = audit.evidence.task == "regression"
    arguments = "y_true, y_pred" if regression else "y_true, y_score"
    held_out = "" if regression else ", held_out=0.3"
    alternatives = audit.alternatives
    traced = None if alternatives is None else alternatives.standing
    name = criterion if traced is None else traced.criterion
    call = (
        f'eh.frontier({arguments}, sensitive_features=groups, criterion="{name}"{held_out}).rule(0)'
    )
    return call, "" if traced is None else traced.summary[-1]


Finder = Callable[[AuditParts, Summary, Mapping[str, Finding]], Iterator[Step]]
FINDERS: Sequence[Finder] = (
    _selection,
    _errors,
    _precision,
    _signed,
    _amounts,
    _places,
    _threshold,
    _calibration,
)
