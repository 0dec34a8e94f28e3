"""Less discriminatory alternatives: where the audited model stands on the frontier.

Traced when a report is first written, from what was counted, and no row is read again: an audit
that only gates pays nothing for it. Scores that were ordered exactly are read exactly; of more than
two million, those bins are read which the curves over thresholds are drawn from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._audit.finding import Finding
from evenhand._audit.naming import Names
from evenhand._columns import Label
from evenhand._columns.codes import positions
from evenhand._data.areas import RankedScores
from evenhand._data.distributions import Distribution
from evenhand._data.evidence import Evidence
from evenhand._data.groups import Groups
from evenhand._data.once import once
from evenhand._data.tallies import Tally
from evenhand._errors import MissingExtraError
from evenhand.measures import resolve

if TYPE_CHECKING:
    from evenhand._frontier.amounts import Amounts
    from evenhand._frontier.standing import Standing
    from evenhand.mitigation.optimal import Curves

Floats = NDArray[np.float64]

CRITERIA = (
    "statistical_parity",
    "equalized_odds",
    "equal_opportunity",
    "predictive_equality",
    "average_odds",
)
OF_AMOUNTS = ("strong_parity", "weak_parity", "wasserstein_parity")
MOST_SCORES = 2_000_000
MOST_GROUPS = 500  # beyond which a frontier takes more than seconds
COMMAND = "evenhand frontier FILE --target … --score … --group … --criterion … --held-out 0.3"
KNOWN_GROUP = (
    "These rules use the group to decide, which can be unlawful disparate treatment even when it "
    "helps those who fare worse."
)
HINDSIGHT = (
    "They are judged on the rows they were fitted to, and will do somewhat worse on new ones. To "
    f"see by how much, and to get a rule, call eh.frontier with held_out=0.3, or run {COMMAND}."
)
RISING = (
    "All of these rules select the same number as the model, and within a group none prefers a "
    "lower score to a higher one."
)
FRONTIERS = ("binary", "multiclass", "regression")  # tasks of which one is known
COUNTED = "Rows whose scores were counted in one bin get the same decision."


class Alternatives(NamedTuple):
    """Where the model stands on the frontier, if that is known, and what a reader must know."""

    standing: Standing | None
    notes: tuple[str, ...]


def alternatives(evidence: Evidence, findings: Sequence[Finding]) -> Alternatives | None:
    """The frontier of the first criterion in which groups differ; None where there is none."""
    question = _question(evidence, findings)
    if question is None:
        return None
    missing = _missing(evidence)
    if missing:
        return Alternatives(None, (missing,))
    try:
        key = "frontier", *question
        traced, exact = once(evidence, key, lambda: _traced(evidence, *question))
    except MissingExtraError as lacking:
        return Alternatives(None, (f"The frontier is not traced. {lacking}",))
    more = () if exact else (COUNTED,)
    rules = () if evidence.task == "regression" else (RISING,)
    notes = (KNOWN_GROUP, *rules, *more, HINDSIGHT)
    return Alternatives(traced, notes)


def _traced(evidence: Evidence, criterion: str, measure: str) -> tuple[Standing, bool]:
    """Where the model stands, and whether that is known of single rows."""
    # Slow to import, and not always needed.
    from evenhand._frontier.standing import standing, standing_of_amounts

    if evidence.task == "regression":
        amounts, exact = _amounts(evidence)
        return standing_of_amounts(amounts, criterion=criterion, measure=measure), exact
    scores, exact = _scores(evidence)
    stated = not evidence.assumed
    return standing(*scores, criterion=criterion, measure=measure, stated=stated), exact


def _question(evidence: Evidence, findings: Sequence[Finding]) -> tuple[str, str] | None:
    """The criterion, in which groups differ, and the first measure of which there is a frontier.

    Distributions are compared of scores, too; but a classifier's frontier is that of its decisions.
    """
    if evidence.task not in FRONTIERS:
        return None
    amounts = evidence.task == "regression"
    asked = OF_AMOUNTS if amounts else CRITERIA
    differing = {each.criterion: each for each in findings if each.verdict == "differs"}
    for criterion in asked:
        for measure in differing[criterion].values if criterion in differing else ():
            known = resolve(measure)
            if known.is_width or (known.is_convex and not amounts):
                return criterion, measure
    return None


def _missing(evidence: Evidence) -> str:
    """Why no frontier can be traced, and what to do about it; nothing where it can."""
    if evidence.task == "regression" and "steps" not in evidence.sources:
        return "To see what closing the gap would cost, audit the predictions row by row."
    if evidence.task != "regression" and (reason := _unscored(evidence)):
        return reason
    if len(evidence.groups) > MOST_GROUPS:
        return (
            f"With {len(evidence.groups):,} groups a frontier takes minutes, so it is left out: "
            f"call eh.frontier, or run {COMMAND}."
        )
    return ""


def _unscored(evidence: Evidence) -> str:
    """Why decisions have no frontier; nothing where they have."""
    if len(evidence.classes) != 2 or evidence.favorable is None:
        return (
            "This report works out the cost for two classes, one of them named as favorable. For "
            "more classes, call eh.frontier with the probability of each."
        )
    if "labels" not in evidence.sources or "ranks" not in evidence.sources:
        return (
            "To see what closing the gap would cost, pass scores and true labels (y_score=, or "
            "--score and --target)."
        )
    return ""


class _Scores(NamedTuple):
    """The groups' ROC curves, their decisions and their names, in one order."""

    population: Curves
    confusion: Floats
    names: Sequence[str]


def _scores(evidence: Evidence) -> tuple[_Scores, bool]:
    """The scores of groups that have some, and whether they are those of single rows."""
    ranks, labels = evidence.sources["ranks"], evidence.sources["labels"]
    assert isinstance(ranks, RankedScores)
    assert isinstance(labels, Tally)
    ordered = ranks.scores[ranks.classes.index(evidence.favorable)]
    is_whole = len(ordered) <= MOST_SCORES or evidence.thresholds is None
    population, known = once(
        ordered, "ROC curves", lambda: _curves(evidence, ordered if is_whole else None)
    )
    confusion = _confusion(labels, evidence)[positions(known, labels.groups)]
    said = Names.of([(evidence.columns, label) for label in evidence.groups])
    shown = [said(evidence.columns, label) for label in known]
    exact = is_whole and len(ordered) >= evidence.rows.sum()
    return _Scores(population, confusion, shown), exact


def _curves(evidence: Evidence, ordered: Distribution | None) -> tuple[Curves, list[Label]]:
    """ROC curves of the groups that have rows, from ordered scores or else from bins of them."""
    from evenhand.mitigation.optimal import Curves

    if ordered is not None:
        truth = ordered.truth
        assert truth is not None
        weight = np.ones(len(ordered)) if ordered.weights is None else ordered.weights
        labels, place = truth.labels, truth.codes.astype(np.intp)
        score, group, names = ordered.values, ordered.codes.astype(np.intp), ordered.groups
    else:
        counts = evidence.thresholds
        assert counts is not None
        table, labels, names = counts.table("bin", "y", "group"), counts.labels("y"), counts.groups
        bins, place, group = np.nonzero(table)
        score = (-bins if evidence.is_turned else bins).astype(np.float64)
        weight = table[bins, place, group]
    is_good = np.array([label == evidence.favorable for label in labels], np.float64)[place]
    kept = weight > 0
    seen, code = np.unique(group[kept], return_inverse=True)
    curves = Curves.of(score[kept], is_good[kept], code, weight[kept], len(seen), rising=True)
    return curves, [names[i] for i in seen]


def _amounts(evidence: Evidence) -> tuple[Amounts, bool]:
    """The predictions, without the truth, and whether they are those of single rows."""
    from evenhand._frontier.amounts import Amounts

    known = evidence.sources["steps"]
    assert isinstance(known, Distribution)
    whom = Groups(known.codes.astype(np.uint32), known.groups, evidence.columns, ())
    amounts = Amounts(None, known.values, whom, known.weights)
    return amounts, len(known) >= evidence.rows.sum()


def _confusion(counts: Tally, evidence: Evidence) -> Floats:
    """The decisions (groups, truth, decision), the favorable class second."""
    good = evidence.favorable
    order = sorted(evidence.classes, key=lambda label: label == good)
    table = counts.table("y", "yhat", "group")
    whole = np.zeros((2, 2, len(counts.groups)))
    truth, decision = (positions(counts.labels(axis), order) for axis in ("y", "yhat"))
    whole[np.ix_(truth, decision)] = table
    return np.moveaxis(whole, 2, 0)


def alternatives_document(found: Alternatives | None) -> dict[str, Any] | None:
    """As JSON values."""
    if found is None:
        return None
    traced = found.standing
    curve: dict[str, Any] | None = None
    if traced is not None:
        curve = {
            "criterion": traced.criterion,
            "measure": traced.measure,
            "bound": list(traced.bound),
            "cost": list(traced.cost),
            "model": {"value": traced.value, "cost": traced.model_cost},
            "least": traced.least,
            "gap": traced.gap,
            "unit": traced.unit,
        }
    told = [] if traced is None else list(traced.summary)
    people = "" if traced is None else traced.people
    return {"curve": curve, "sentences": told, "people": people, "notes": list(found.notes)}
