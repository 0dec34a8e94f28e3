"""What to do next, from what was found: each step with its remedy, the call, and its cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import ceil, floor, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._audit.finding import Finding
from evenhand._audit.parts import AuditParts
from evenhand._audit.subgroups import MARGIN
from evenhand._audit.summary import first_told, missed, names_of
from evenhand._columns import Label
from evenhand._columns.bins import MOST_CLASSES
from evenhand._data.tallies import Tally
from evenhand._words import (
    capitalized,
    listing,
    name,
    number,
    people_changed,
    percent,
    percents,
    plural,
)
from evenhand.measures import resolve
from evenhand.statistics.arithmetic import ratio

Step = dict[str, str]
Summary = Mapping[str, Any]
Floats = NDArray[np.float64]

MOST = 3
NOTABLE = 0.05  # a difference of base rates that explains one of selection rates
MOST_NAMED = 3
ENOUGH = 30  # rows of a group that is not merged with others
SELECTION = ("statistical_parity", "selection_rate_ratio")
ERRORS = ("equalized_odds", "equal_opportunity", "predictive_equality")
ACCURACY = (*ERRORS, "average_odds", "accuracy_parity", "error_parity")
PREDICTIVE = {"predictive_parity": "Precision", "false_omission_rate_parity": "False omission"}
OF_ROWS = (*ERRORS, *PREDICTIVE)  # undefined without rows
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
    """The steps that the findings call for, the most urgent first."""
    differing = {f.criterion: f for f in audit.findings if f.verdict == "differs"}
    if all(f.sameness is not None or f.verdict == "undefined" for f in audit.findings):
        return [NOTHING]
    made = [step for find in FINDERS for step in find(audit, summary, differing)]
    if _has_one_truth(audit):  # nothing can be fitted to it
        made = [{**one, "call": ""} if "(y_true" in one["call"] else one for one in made]
    lacking = _lacking(audit, too_few)
    if not made and not lacking:
        return [_watching(audit)]
    # Where data are lacking, one of the steps says so.
    return [*made[: MOST - len(lacking[:1])], *lacking][:MOST]


def _has_one_truth(audit: AuditParts) -> bool:
    """Whether all true classes are one."""
    counts = audit.evidence.counted
    named = [axis.name for axis in counts.axes]
    return "y" in named and bool(np.count_nonzero(counts.table("y")) < 2)


def gate(audit: AuditParts) -> dict[str, str] | None:
    """The gate on what the summary speaks of, and what it would say now.

    Its bound is the one that was asked for, or the margin; of amounts without one, the upper end of
    the interval.
    """
    finding = first_told(audit)
    known = [one for one in finding.values.values() if resolve(one.measure).is_width]
    value = min(known, key=lambda one: one.tolerance is None, default=None)
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
    """Two digits, and no less.

    >>> _rounded_up(3412.0), _rounded_up(0.0), _rounded_up(0.25)
    (3500.0, 0.0, 0.25)
    """
    if value <= 0:
        return 0.0
    unit = 10.0 ** (floor(log10(value)) - 1)
    return float(f"{ceil(round(value / unit, 9)) * unit:.2g}")


def _step(found: str, remedy: str, call: str = "", cost: str = "", *, action: str) -> Step:
    """A step; `action` is what to do in half a line, for the first screen."""
    return {"found": found, "remedy": remedy, "call": call, "cost": cost, "action": action}


def _selection(
    audit: AuditParts, summary: Summary, differing: Mapping[str, Finding]
) -> Iterator[Step]:
    """Selection rates differ: because base rates do, or errors, or neither is known."""
    if not audit.evidence.is_of_labels or not set(SELECTION) & set(differing):
        return
    bases = _spread(summary, "base_rate")
    call, cost = _rule(audit, "statistical_parity")
    cost = cost or _equalized(audit, summary)
    if set(ERRORS) & set(differing):
        yield _step(
            "Selection rates and error rates differ.",
            "The model errs more in some groups than in others. Look for features that predict "
            "less well there; until then, a rule that uses the group can equalize the rates.",
            call,
            cost,
            action="look for features that predict less well for some groups",
        )
    elif bases is not None and bases >= NOTABLE:
        yield _step(
            "Selection rates differ; error rates are not shown to differ.",
            f"Base rates differ by {100 * bases:.0f} points, so the model passes on what the "
            "labels say. Ask first whether the labels are fair; if they are not, a rule with equal "
            "selection rates makes up for it.",
            call,
            cost,
            action="ask whether the labels are fair",
        )
    elif bases is None:
        yield _step(
            "Selection rates differ.",
            "See whether columns that the task justifies, such as a department, explain that. If "
            "they do not, use a rule that selects every group at the same rate.",
            'eh.explain("statistical_parity", y_pred=y_pred, sensitive_features=groups, '
            "by=columns)",
            cost,
            action="see which columns explain the gap, or select all groups at the same rate",
        )
    else:
        yield _step(
            "Selection rates differ.",
            "If the task does not justify the difference, use a rule that selects every group at "
            "the same rate.",
            call,
            cost,
            action="justify the difference, or select all groups at the same rate",
        )


def _equalized(audit: AuditParts, summary: Summary) -> str:
    """How many people change if all groups are selected at the overall rate, as a sentence."""
    selected = _selected_by_group(audit, summary)
    if selected is None or "weight" in audit.evidence.counted.sums:
        return ""
    rows = audit.evidence.rows
    changes = _changes(summary, rows * selected.sum() / rows.sum() - selected)
    return f"Equal rates, with the same number selected{changes}." if changes else ""


def _errors(
    audit: AuditParts, summary: Summary, differing: Mapping[str, Finding]
) -> Iterator[Step]:
    """Errors differ where selection is not shown to."""
    if not audit.evidence.is_of_labels or set(SELECTION) & set(differing):
        return
    if any(one.criterion in SELECTION and one.sameness for one in audit.findings):
        return  # all decisions are alike, and as often right as the base rate says
    if not set(ACCURACY) & set(differing):
        return
    call, cost = _rule(audit, "equalized_odds")
    yield _step(
        "The model works less well for some groups.",
        "Look for weaker features, worse labels or too few training rows there; until then, a rule "
        "that uses the group can even out the errors.",
        call,
        cost or _righted(audit, summary),
        action="look for weaker features, worse labels or too few training rows",
    )


def _precision(
    audit: AuditParts, summary: Summary, differing: Mapping[str, Finding]
) -> Iterator[Step]:
    """A decision is right less often in some groups, where errors are not shown to differ."""
    found = next((name for name in PREDICTIVE if name in differing), None)
    if found is None or not audit.evidence.is_of_labels:
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
    yield _step(
        f"{PREDICTIVE[found]} differs; error rates are not shown to differ.",
        remedy,
        f'audit.explain("{found}")',
        _selected_wrongly(audit, summary) if found == "predictive_parity" else "",
        action=action,
    )


def _selected_wrongly(audit: AuditParts, summary: Summary) -> str:
    """How many fewer of the selected would be selected wrongly, in words."""
    selected, share = _selected_by_group(audit, summary), _shares(summary, "precision")
    if selected is None or share is None:
        return ""
    overall, said = _lacking_of(audit, summary, selected, share)
    told = f"At the overall precision of {overall}, fewer would be selected wrongly: {said}."
    return told if said else ""


def _righted(audit: AuditParts, summary: Summary) -> str:
    """How many decisions more would be right in groups below the overall accuracy, in words."""
    share = _shares(summary, "accuracy")
    if share is None:
        return ""
    overall, said = _lacking_of(audit, summary, audit.evidence.rows, share)
    told = f"At the overall accuracy of {overall}, more decisions would be right: {said}."
    return told if said else ""


def _lacking_of(
    audit: AuditParts, summary: Summary, rows: Floats, share: Floats
) -> tuple[str, str]:
    """The share of all rows, and how many rows which groups lack to have it, unless weighted."""
    overall = float(rows @ share / rows.sum())
    names = [group["label"] for group in summary["table"]["groups"]]
    lack = rows * (overall - share)
    most = [at for at in np.argsort(-lack)[:MOST_NAMED] if lack[at] >= 0.5]
    if "weight" in audit.evidence.counted.sums:
        most = []
    return percent(overall), listing([f"{lack[at]:,.0f} in {name(names[at])}" for at in most])


def _threshold(
    audit: AuditParts, summary: Summary, differing: Mapping[str, Finding]
) -> Iterator[Step]:
    """Another threshold, the same for all, that would at least halve the first gap."""
    curves = audit.thresholds
    if curves is None or curves.used is None:
        return
    for curve in curves.curves:
        if curve.criterion not in differing or not resolve(curve.measure).is_width:
            continue
        shares, now = _shares_selected(audit, summary)
        # A threshold that selects hardly anyone, or nearly everyone, closes gaps and is no use.
        usable = (shares >= now / 2) & (1 - shares >= (1 - now) / 2) & np.isfinite(curve.values)
        if not usable.any():
            return
        values = np.where(usable, curve.values, np.inf)
        best, own = int(values.argmin()), differing[curve.criterion].values[curve.measure].value
        at = curves.at[best]
        if values[best] <= own / 2:
            criterion = curve.criterion.replace("_", " ")
            yield _step(
                f"The threshold matters for {criterion}.",
                f"At {at:.3g} instead of {curves.used:.2g} the gap would be "
                f"{100 * values[best]:.0f} instead of {100 * own:.0f} points, with the same "
                "threshold for all. “Other thresholds” has the whole curve.",
                f"eh.audit(y_true, y_score=y_score, threshold={at:.3g}, sensitive_features=groups)",
                _more_selected(audit, float(shares[best]), now),
                action=f"consider a threshold of {at:.3g}",
            )
        return


def _shares_selected(audit: AuditParts, summary: Summary) -> tuple[Floats, float]:
    """The share of people that each threshold selects, and that the decisions select."""
    counts, table = audit.evidence.thresholds, summary["table"]
    assert counts is not None
    bins = counts.table("bin")
    shares = np.cumsum(bins[::-1])[::-1][1:] / bins.sum()
    keys = [metric["key"] for metric in table["metrics"]]
    now = float(table["overall"]["values"][keys.index("selection_rate")])
    is_favorable = audit.evidence.score_of == audit.evidence.favorable
    return shares if is_favorable else 1 - shares, now


def _more_selected(audit: AuditParts, share: float, now: float) -> str:
    """How many people are selected at a threshold, compared with the decisions, as a sentence."""
    if audit.evidence.favorable is None:
        return ""
    texts = percents(share, now)
    said = f"It would select {texts[0]} of people instead of {texts[1]}"
    if "weight" in audit.evidence.counted.sums:
        return f"{said}."
    more = "more" if share > now else "fewer"
    people = round(abs(share - now) * audit.evidence.rows.sum())
    return f"{said}: {plural(people, f'{more} person', f'{more} people')}."


def _calibration(
    audit: AuditParts, summary: Summary, differing: Mapping[str, Finding]
) -> Iterator[Step]:
    """Equal scores that do not mean the same in every group."""
    if set(CALIBRATION) & set(differing):
        yield _step(
            "Scores mean different things in different groups.",
            "Recalibrate the scores within each group before comparing them with a threshold.",
            "eh.frontier(y_true, y_score, sensitive_features=groups, recalibrate=True)",
            _recalibrated(audit, summary),
            action="recalibrate the scores of each group",
        )


def _recalibrated(audit: AuditParts, summary: Summary) -> str:
    """How many people recalibrated scores select at the same threshold, as a sentence."""
    from scipy.optimize import isotonic_regression

    evidence, counts = audit.evidence, audit.evidence.thresholds
    selected = _selected_by_group(audit, summary)
    if counts is None or evidence.decided_at is None or "weight" in evidence.counted.sums:
        return ""
    if counts.groups != evidence.groups or selected is None or _has_one_truth(audit):
        return ""
    table = counts.table("bin", "y", "group")
    rows = table.sum(axis=1)
    share = ratio(table[:, counts.labels("y").index(evidence.score_of)], rows)
    chosen = np.zeros(len(selected))
    for at in range(len(selected)):
        known = rows[:, at] > 0
        rising = isotonic_regression(share[known, at], weights=rows[known, at]).x
        above = (rising >= evidence.decided_at) == (evidence.score_of == evidence.favorable)
        chosen[at] = rows[known, at][above].sum()
    changes = _changes(summary, chosen - selected)
    return f"On these rows, with the same threshold{changes}." if changes else ""


def _selected_by_group(audit: AuditParts, summary: Summary) -> Floats | None:
    """How many of each group the model selects; None where no outcome is favorable."""
    if audit.evidence.favorable is None:
        return None
    return _counted(summary, "selection_rate")


def _counted(summary: Summary, metric: str) -> Floats | None:
    """How many rows of each group a share is; None where it is not known of all."""
    share = _shares(summary, metric)
    if share is None:
        return None
    rows = [group["rows"] for group in summary["table"]["groups"]]
    return share * np.array(rows, dtype=np.float64)


def _shares(summary: Summary, metric: str) -> Floats | None:
    """A share in each group; None where it is not known of all."""
    table = summary["table"]
    keys = [one["key"] for one in table["metrics"]]
    if metric not in keys:
        return None
    shares = [group["values"][keys.index(metric)] for group in table["groups"]]
    return None if None in shares else np.array(shares, dtype=np.float64)


def _changes(summary: Summary, change: Floats) -> str:
    """Who is selected more often and who less, in people."""
    names = [group["label"] for group in summary["table"]["groups"]]
    return people_changed(names, change.tolist())


def _signed(audit: AuditParts, _: Summary, differing: Mapping[str, Finding]) -> Iterator[Step]:
    """Some groups are over-predicted compared with others."""
    if SIGNED not in differing:
        return
    yield _step(
        "Some groups are over- or under-predicted compared with others.",
        "Look for weaker features, worse labels or too few training rows there; until then, "
        "subtract each group's mean error, measured on rows that are not in the audit, from its "
        "predictions.",
        'audit.by_group["mean_error"]',
        _corrected(audit),
        action="find out why, or subtract each group's mean error",
    )


def _corrected(audit: AuditParts) -> str:
    """The RMSE before and after each group's mean error is subtracted, as a sentence."""
    sums = audit.evidence.sources["moments"]
    assert isinstance(sums, Tally)
    weight, error = sums.table("group"), sums.table("group", of="error")
    square = sums.table("group", of="squared_error").sum()
    rest = square - np.nansum(ratio(error**2, weight))
    before, after = (number(float(np.sqrt(max(s, 0.0) / weight.sum()))) for s in (square, rest))
    return f"On these rows that would bring the RMSE from {before} to {after}."


def _amounts(audit: AuditParts, _: Summary, differing: Mapping[str, Finding]) -> Iterator[Step]:
    """Predicted amounts that differ between groups."""
    found = [name for name in AMOUNTS if name in differing]
    if audit.evidence.task != "regression" or not found:
        return
    called, cost = _rule(audit, found[0])
    yield _step(
        "Predicted amounts differ between groups.",
        "If the true amounts do not, correct the predictions. This rule changes them least.",
        called,
        cost,
        action="ask whether the true amounts differ",
    )


def _places(audit: AuditParts, _: Summary, differing: Mapping[str, Finding]) -> Iterator[Step]:
    """Groups that come first in lists more often than others."""
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
    yield _step("Some groups get better places than others.", remedy, call, action=action)


def _reranker(audit: AuditParts, differing: Mapping[str, Finding]) -> str:
    """The call that fits what reorders lists; rows have columns of groups, scores and lists."""
    asked = next((name for name in RERANKED if name in differing), "")
    are_places = "attention" in audit.evidence.counted.sums  # and not clicks
    if not asked or not are_places or (asked == "top_k_parity" and audit.evidence.top_k is None):
        return ""
    first = f", top_k={audit.evidence.top_k}" if asked == "top_k_parity" else ""
    columns = audit.evidence.columns
    group = repr(columns[0] if len(columns) == 1 else [*columns])
    truth = ", relevance" if asked == "exposure_per_relevance" else ""
    return (
        f"evenhand.mitigation.OffsetReranker(group={group}, query='query', score='score', "
        f"criterion={asked!r}{first}, epsilon=0.02).fit(rows{truth})"
    )


def _lacking(audit: AuditParts, too_few: Summary) -> list[Step]:
    """Groups of which there are too few rows, or none with some label."""
    small = [_small(audit, too_few)] if too_few["groups"] else []
    if _numeric(audit)[1] > MOST_CLASSES:
        return [*small, *_without_data(audit)]  # ranges have rows
    return [*_without_data(audit), *small]


def _without_data(audit: AuditParts) -> Iterator[Step]:
    """Groups for which a rate is 0/0, so that a criterion says nothing about them."""
    gaps: dict[Label, None] = {}
    for finding in audit.findings:
        if finding.criterion not in OF_ROWS:
            continue
        for value in finding.values.values():
            lacking = dict.fromkeys(group for _, group in value.left_out)
            if len(lacking) < len(audit.evidence.groups):  # else no row of all has the label
                gaps |= lacking
    if gaps:
        names, columns = names_of(audit), audit.evidence.columns
        rows = dict(zip(audit.evidence.groups, audit.evidence.rows, strict=True))
        named = [name(names(columns, label)) for label in gaps]
        more = [f"{len(named) - MOST_NAMED} more"] if len(named) > MOST_NAMED else []
        who = listing([*named[:MOST_NAMED], *more])
        most = max(rows[label] for label in gaps)
        has = "It has" if len(gaps) == 1 else "They have up to"
        yield _step(
            f"Some criteria say nothing about {who}.",
            "No row there has the label or prediction that a rate is about (0/0). Collect labeled "
            "rows, or merge small groups that belong together.",
            _merged(audit),
            f"{has} {plural(most, 'row')}; a first estimate takes about {ENOUGH} of each label.",
            action="collect labeled rows for groups that have none",
        )


def _merged(audit: AuditParts) -> str:
    """The call that merges small groups, where two or more would be left."""
    small = audit.evidence.rows < ENOUGH
    if (~small).sum() + small.any() < 2:
        return ""
    merged = f'eh.groups(groups, min_count={ENOUGH}, rare="merge")'
    return f"eh.audit(y_true, y_pred, sensitive_features={merged})"


def _small(audit: AuditParts, too_few: Summary) -> Step:
    many = len(too_few["groups"])
    needed = [group["rows_needed"] for group in too_few["groups"] if group["rows_needed"]]
    cost = ""
    if needed:
        each = f"{float(f'{max(needed):.2g}'):,.0f}"
        cost = f"{'It' if many == 1 else 'Each'} would need about {each} rows."
    it = "it" if many == 1 else "them"
    found = f"{capitalized(missed(audit))}."
    column, distinct = _numeric(audit)
    if audit.evidence.task == "ranking" and len(audit.evidence.groups) > MOST_CLASSES:
        return _step(
            found,
            f"There may never be enough rows for each of {len(audit.evidence.groups):,} groups. "
            "Compare kinds, such as genres or countries; the Gini index says how unequally "
            "exposure is spread over all groups.",
            action="compare kinds of groups",
        )
    if distinct > MOST_CLASSES:
        return _step(
            found,
            f"“{column}” has {distinct:,} different numbers, and each is a group of its own. Cut "
            "them into ranges: four of equal size, or at edges of your choice.",
            f"eh.audit(y_true, y_pred, sensitive_features=groups, bins={{{column!r}: 4}})",
            action=f"cut “{column}” into ranges",
        )
    return _step(
        found,
        f"Collect more rows for {it}, or say so in the report.",
        _planned(audit),
        cost,
        action="collect more rows for "
        + ("a small group" if many == 1 else f"{many:,} small groups"),
    )


def _numeric(audit: AuditParts) -> tuple[str, int]:
    """The column of groups that takes the most different numbers, and how many it takes."""
    columns, groups = audit.evidence.columns, audit.evidence.groups
    parts = [
        label if len(columns) > 1 and isinstance(label, tuple) else (label,) for label in groups
    ]
    if any(len(part) != len(columns) for part in parts):
        return "", 0
    numbers = {
        column: {one for one in values if isinstance(one, int | float | np.number)}
        for column, values in zip(columns, zip(*parts, strict=True), strict=True)
    }
    most = max(numbers, key=lambda column: len(numbers[column]))
    return most, len(numbers[most])


def _planned(audit: AuditParts) -> str:
    """The call that says how many rows would show a margin; of rates alone."""
    if not audit.evidence.is_of_labels:
        return ""
    good = audit.evidence.favorable
    named = "" if good is None else f", favorable={good!r}"
    counts = "eh.tally(y_true, y_pred, sensitive_features=groups)"
    return f'eh.power({counts}, margin=0.05, criterion="statistical_parity"{named})'


def _watching(audit: AuditParts) -> Step:
    if any(f.verdict == "cannot tell" for f in audit.findings):
        return _step(
            "No difference is shown.",
            "That is not evidence of fairness. Look at the upper ends of the intervals, and find "
            "out how large a gap these rows could have shown.",
            _planned(audit),
            action="find out how large a gap these rows could have shown",
        )
    name = audit.findings[0].criterion
    return _step(
        "The groups are alike in these respects.",
        "Keep it that way: watch the model after release.",
        f'eh.Watch("{name}", fail_if="{name}.mpd > 0.05")',
        action="watch the model after release",
    )


def _spread(summary: Summary, metric: str) -> float | None:
    keys = [one["key"] for one in summary["table"]["metrics"]]
    return summary["table"]["difference"][keys.index(metric)] if metric in keys else None


def _rule(audit: AuditParts, criterion: str) -> tuple[str, str]:
    """The call that gives a rule, and what closing the gap costs, where that was traced."""
    regression = audit.evidence.task == "regression"
    given = "y_true, y_pred" if regression else "y_true, y_score"
    held = "" if regression else ", held_out=0.3"
    known = audit.alternatives
    traced = None if known is None else known.standing
    named = criterion if traced is None else traced.criterion
    call = f'eh.frontier({given}, sensitive_features=groups, criterion="{named}"{held}).rule(0)'
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
