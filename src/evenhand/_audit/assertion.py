"""Gates in a test: an assertion about how evenly predictions treat groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from evenhand._audit.api import GROUPS, TARGET, audit
from evenhand._audit.gate import Judgement, gates_of, judge, tolerances
from evenhand._audit.result import Audit
from evenhand._columns import Label
from evenhand._data.counted import names_of
from evenhand._data.groups import Bins, Groups, Missing, Rare, columns_of
from evenhand._data.tallies import Tally
from evenhand._data.tasks import Task
from evenhand._errors import InputError, InputTypeError
from evenhand._kinds import check_kinds
from evenhand._signatures import CLUSTER, SCORE_OF, documented, suggests_names
from evenhand._words import visible

Inconclusive = Literal["fail", "pass"]


@suggests_names
@documented(score_of=SCORE_OF, cluster=CLUSTER, target=TARGET, grouping=GROUPS)
def assert_even(
    y_true: Any,
    y_pred: Any = None,
    *,
    sensitive_features: Any = None,
    fail_if: str | Sequence[str],
    inconclusive: Inconclusive = "fail",
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
    confidence: float = 0.95,
) -> Audit:
    """Raise AssertionError unless groups are treated as evenly as the gates demand.

    Each gate is judged by the interval of the true value. It passes only where the rows show that
    the bound is kept: where they cannot tell, the assertion fails, unless `inconclusive="pass"`.

    Parameters
    ----------
    y_true : array-like, Tally or None
        True labels or values; None where no gate asks for them. Or counts made before, as `audit`
        reads them.
    y_pred : array-like, optional
        Predicted labels or values. Without them the score decides, at the threshold.
    sensitive_features : array-like or dataframe
        The columns that name the groups, or what `groups` made of them; the names of those of a
        tally.
    fail_if : str or sequence of str
        Gates, as on the command line: "equalized_odds.mpd > 0.1", "demographic_parity > 0.1",
        "selection_rate_ratio < 0.8".
    inconclusive : {"fail", "pass"}, default "fail"
        What becomes of a gate whose bound lies within the interval. A gate that has nothing to
        judge fails in either case.
    y_score : array-like, optional
        Scores or probabilities of one label, or a column for each label.
    {score_of}
    threshold : float, optional
        In place of `y_pred`: from this score on rows count as predicted `score_of`.
    sample_weight : array-like, optional
        Weights of the rows.
    strata : array-like or dataframe, optional
        Within which "conditional_statistical_parity" compares groups.
    {cluster}
    {grouping}
    {target}
    confidence : float, default 0.95
        Of the intervals by which gates are judged.

    Returns
    -------
    Audit
        The audit of the gates' criteria, where all gates passed.

    Raises
    ------
    AssertionError
        With the audit's summary and what became of each gate that did not pass.
    InputError
        If a gate cannot be read, there is none, or a column cannot be used.

    See Also
    --------
    audit : The whole audit.

    Examples
    --------
    >>> group = ["a"] * 500 + ["b"] * 500
    >>> decisions = [1, 0] * 250 + [1, 0, 0, 0] * 125
    >>> passed = assert_even(
    ...     None, decisions, sensitive_features=group, fail_if="demographic_parity > 0.5"
    ... )
    >>> gate = "demographic_parity > 0.1"
    >>> assert_even(None, decisions, sensitive_features=group, fail_if=gate)
    Traceback (most recent call last):
    AssertionError: statistical_parity.mpd > 0.1: violated, all of the interval ...

    """
    __tracebackhide__ = True  # pytest shows the caller's line, not ours
    check_kinds(inconclusive=inconclusive)
    if inconclusive not in ("fail", "pass"):
        raise InputError(f"inconclusive is 'fail' or 'pass'; it is {inconclusive!r}.")
    gates = gates_of(fail_if)
    if not gates:
        raise InputError(
            'There is no gate, so nothing can fail: pass fail_if="demographic_parity > 0.1".'
        )
    result = audit(
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
        favorable=favorable,
        pos_label=pos_label,
        criteria=list(dict.fromkeys(gate.criterion for gate in gates)),
        measures=list(dict.fromkeys(gate.measure for gate in gates)),
        tolerances=tolerances(gates),
        confidence=confidence,
        depth=len(_names(y_true, sensitive_features)),
    )
    tolerated = ("pass", "inconclusive") if inconclusive == "pass" else ("pass",)
    failed = [one for one in judge(gates, result.measured) if one.outcome not in tolerated]
    if failed:
        raise AssertionError(_message(failed, result))
    return result


def _names(y_true: Any, sensitive_features: Any) -> Sequence[str]:
    """The sensitive columns, all of which are crossed: a gate is about every group there is."""
    if isinstance(y_true, Tally):
        return names_of(y_true, sensitive_features)
    if sensitive_features is None:
        raise InputTypeError("Pass sensitive_features, the columns that name the groups.")
    if isinstance(sensitive_features, Groups):
        return sensitive_features.names
    return list(columns_of(sensitive_features))


def _message(failed: Sequence[Judgement], result: Audit) -> str:
    """What did not pass, then what was found."""
    return visible("\n".join([*(judgement.sentence for judgement in failed), result.summary]))
