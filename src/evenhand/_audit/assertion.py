"""Gates in a test: an assertion about how evenly predictions treat groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypeVar

from evenhand._audit.api import audit_evidence
from evenhand._audit.gate import FailIf, Gate, Judgement, gates_of, judge
from evenhand._audit.result import Audit
from evenhand._data.data import Data
from evenhand._data.doors import about_data
from evenhand._errors import InputError
from evenhand._kinds import check_kinds
from evenhand._result import Result
from evenhand._words import visible

Inconclusive = Literal["fail", "pass"]


@about_data()
def assert_even(
    data: Data,
    *,
    fail_if: FailIf,
    inconclusive: Inconclusive = "fail",
    confidence: float = 0.95,
) -> Audit:
    """Raise AssertionError unless every gate passes.

    Each gate is judged by the interval of the true value. It passes only where the rows show that
    the bound is kept; if they are inconclusive, it fails, unless `inconclusive="pass"`.

    Parameters
    ----------
    {data}
    fail_if : str, sequence of str, or mapping of str to float
        Gates, as on the command line: "equalized_odds.mpd > 0.1", "demographic_parity > 0.1",
        "selection_rate_ratio < 0.8"; or bounds by name, {"equalized_odds.mpd": 0.1}.
    inconclusive : {"fail", "pass"}, default "fail"
        The outcome of a gate whose bound lies within the interval. A gate that has nothing to
        judge fails in either case.
    confidence : float, default 0.95
        Of the intervals by which gates are judged.

    Returns
    -------
    Audit
        The audit of the gates' criteria, where all gates passed.

    Raises
    ------
    AssertionError
        With the audit's summary and the outcome of each gate that did not pass.
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
    AssertionError: statistical_parity.mpd > 0.1: FAILED: the interval ...

    """
    __tracebackhide__ = True  # pytest shows the caller's line, not ours
    gates = checked_gates(fail_if, inconclusive, data.counted.task)
    result = audit_evidence(
        data.counted,
        criteria=list(dict.fromkeys(gate.criterion for gate in gates)),
        measures=list(dict.fromkeys(gate.measure for gate in gates)),
        fail_if=fail_if,
        confidence=confidence,
        depth=len(data.counted.columns),  # gates are about all groups
    )
    result = replace(result, kind=data.kind)
    return passed(result, judge(gates, result.measured), inconclusive)


def checked_gates(
    fail_if: FailIf, inconclusive: Inconclusive, task: str | None = None
) -> list[Gate]:
    """The gates, of which there must be at least one."""
    check_kinds(inconclusive=inconclusive)
    if inconclusive not in ("fail", "pass"):
        raise InputError(f"inconclusive is 'fail' or 'pass'; it is {inconclusive!r}.")
    gates = gates_of(fail_if, task)
    if not gates:
        raise InputError(
            'There is no gate, so nothing can fail: pass fail_if="demographic_parity > 0.1".'
        )
    return gates


AnyResult = TypeVar("AnyResult", bound=Result)


def passed(
    result: AnyResult, judgements: Sequence[Judgement], inconclusive: Inconclusive
) -> AnyResult:
    """The result if every gate passed; else raise with the gates that failed and the findings."""
    __tracebackhide__ = True
    tolerated = ("pass", "inconclusive") if inconclusive == "pass" else ("pass",)
    failed = [judgement.sentence for judgement in judgements if judgement.outcome not in tolerated]
    if failed:
        raise AssertionError(visible("\n".join([*failed, result.summary])))
    return result
