"""Accounts of why groups differ, from the counts of an audit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evenhand._audit.finding import Finding, Pair
from evenhand._audit.naming import Names
from evenhand._columns import Label
from evenhand._data.evidence import Evidence
from evenhand._data.tallies import Tally
from evenhand._errors import InputError
from evenhand._why import Account, account_of, by_score
from evenhand.criteria import Criterion
from evenhand.criteria.evaluation import named
from evenhand.statistics import KINDS


def explained(
    evidence: Evidence,
    criterion: str | Criterion,
    names: Names,
    *,
    between: Sequence[Label] | None = None,
    confidence: float = 0.95,
    kind: str | None = None,
    pair: Pair | None = None,
) -> Account:
    """The account of a criterion, by the audit's strata if it has any, else by outcomes."""
    resolved = named(criterion, evidence.task)
    needs = resolved.statistic.needs
    is_label = KINDS[needs].about == "labels"
    need = "labels" if is_label and "labels" in evidence.sources else needs
    if needs == "predictions" and "strata" in evidence.sources:
        need = "strata"
    source = evidence.sources.get(need)
    if not isinstance(source, Tally):
        raise InputError(
            f"{resolved.name} is not explained by what the audit counted; evenhand.explain reads "
            "the rows, and takes explaining columns as by=."
        )
    favorable = evidence.favorable_in(one_class=resolved.one_class)
    scores = by_score(evidence) if need == "labels" else None
    account = account_of(
        resolved,
        source,
        favorable,
        between=between,
        confidence=confidence,
        kind=kind,
        scores=scores,
        found=None if pair is None else (pair.cell, (pair.high, pair.low)),
    )
    first, second = (names(evidence.columns, group) for group in account.groups)
    return replace(account, named=(first, second))


def first_account(
    evidence: Evidence, findings: Sequence[Finding], names: Names, confidence: float
) -> Account | None:
    """The first account of a finding by outcomes, or None.

    Rates given the truth, and scores, have no parts in the counts.
    """
    sources = {need: source for need, source in evidence.sources.items() if need != "strata"}
    if "labels" not in sources and "moments" not in sources:
        return None
    # If the headline has no parts, accuracy says more about the model than precision.
    later = {f.criterion for f in findings[1:]} & {"predictive_parity"}
    for finding in sorted(findings, key=lambda item: item.criterion in later):
        try:
            return explained(
                replace(evidence, sources=sources),
                finding.criterion,
                names,
                confidence=confidence,
                pair=finding.pair,
            )
        except InputError:
            continue
    return None
