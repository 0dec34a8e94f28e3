"""Less discriminatory alternatives: the audited model compared with the frontier.

The frontier is traced from the counts when a report is first written, without reading rows again;
an audit that only gates does not pay for it. Scores that were ordered exactly are used exactly; of
more than two million, the bins of the curves over thresholds are used.
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
MOST_GROUPS = 500  # with more, a frontier takes longer than seconds
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
FRONTIERS = ("binary", "multiclass", "regression")  # tasks that have one
COUNTED = "Rows whose scores were counted in one bin get the same decision."


class Alternatives(NamedTuple):
    """The model compared with the frontier, or why it cannot be, and notes for readers."""

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
    binned = () if exact else (COUNTED,)
    rules = () if evidence.task == "regression" else (RISING,)
    notes = (KNOWN_GROUP, *rules, *binned, HINDSIGHT)
    return Alternatives(traced, notes)


def _traced(evidence: Evidence, criterion: str, measure: str) -> tuple[Standing, bool]:
    """The model compared with the frontier, and whether this is based on single rows."""
    # Slow to import, and not always needed.
    from evenhand._frontier.standing import standing, standing_of_amounts

    if evidence.task == "regression":
        amounts, exact = _amounts(evidence)
        return standing_of_amounts(amounts, criterion=criterion, measure=measure), exact
    scores, exact = _scores(evidence)
    stated = not evidence.assumed
    return standing(*scores, criterion=criterion, measure=measure, stated=stated), exact


def _question(evidence: Evidence, findings: Sequence[Finding]) -> tuple[str, str] | None:
    """The first criterion in which groups differ and that has a frontier, and its measure.

    Distributions of scores are compared too, but a classifier's frontier is that of its decisions.
    """
    if evidence.task not in FRONTIERS:
        return None
    amounts = evidence.task == "regression"
    criteria = OF_AMOUNTS if amounts else CRITERIA
    differing = {finding.criterion: finding for finding in findings if finding.verdict == "differs"}
    for criterion in criteria:
        for measure in differing[criterion].values if criterion in differing else ():
            entry = resolve(measure)
            if entry.is_width or (entry.is_convex and not amounts):
                return criterion, measure
    return None


def _missing(evidence: Evidence) -> str:
    """Why no frontier can be traced and what to do about it; empty if it can."""
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
    """Why decisions have no frontier; empty if they have one."""
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
    """The scores of groups with rows, and whether they are of single rows."""
    ranks, labels = evidence.sources["ranks"], evidence.sources["labels"]
    assert isinstance(ranks, RankedScores)
    assert isinstance(labels, Tally)
    ordered = ranks.scores[ranks.classes.index(evidence.favorable)]
    is_whole = len(ordered) <= MOST_SCORES or evidence.thresholds is None
    population, present = once(
        ordered, "ROC curves", lambda: _curves(evidence, ordered if is_whole else None)
    )
    confusion = _confusion(labels, evidence)[positions(present, labels.groups)]
    names = Names.of([(evidence.columns, label) for label in evidence.groups])
    shown_names = [names(evidence.columns, label) for label in present]
    exact = is_whole and len(ordered) >= evidence.rows.sum()
    return _Scores(population, confusion, shown_names), exact


def _curves(evidence: Evidence, ordered: Distribution | None) -> tuple[Curves, list[Label]]:
    """ROC curves of the groups with rows, from ordered scores or from bins."""
    from evenhand.mitigation.optimal import Curves

    if ordered is not None:
        truth = ordered.truth
        assert truth is not None
        weight = ordered.row_weights
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
    present, code = np.unique(group[kept], return_inverse=True)
    curves = Curves.of(score[kept], is_good[kept], code, weight[kept], len(present), rising=True)
    return curves, [names[i] for i in present]


def _amounts(evidence: Evidence) -> tuple[Amounts, bool]:
    """The predictions, without the truth, and whether they are of single rows."""
    from evenhand._frontier.amounts import Amounts

    predictions = evidence.sources["steps"]
    assert isinstance(predictions, Distribution)
    groups = Groups(predictions.codes.astype(np.uint32), predictions.groups, evidence.columns, ())
    amounts = Amounts(None, predictions.values, groups, predictions.weights)
    return amounts, len(predictions) >= evidence.rows.sum()


def _confusion(counts: Tally, evidence: Evidence) -> Floats:
    """The decisions (groups, truth, decision), the favorable class second."""
    good = evidence.favorable
    order = sorted(evidence.classes, key=lambda label: label == good)
    table = counts.table("y", "yhat", "group")
    confusion = np.zeros((2, 2, len(counts.groups)))
    truth, decision = (positions(counts.labels(axis), order) for axis in ("y", "yhat"))
    confusion[np.ix_(truth, decision)] = table
    return np.moveaxis(confusion, 2, 0)


def alternatives_document(result: Alternatives | None) -> dict[str, Any] | None:
    """The alternatives as JSON values."""
    if result is None:
        return None
    traced = result.standing
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
    sentences = [] if traced is None else list(traced.summary)
    people = "" if traced is None else traced.people
    return {"curve": curve, "sentences": sentences, "people": people, "notes": list(result.notes)}
