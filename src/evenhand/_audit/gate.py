"""The gate: a bound on a finding, judged by its interval and not by its value alone."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from evenhand._audit.finding import Obstacle
from evenhand._errors import InputError, InputTypeError
from evenhand._words import did_you_mean, finite_number, plural
from evenhand.criteria.evaluation import named
from evenhand.criteria.questions import Question, questions_of
from evenhand.measures import resolve

Outcome = Literal["pass", "violation", "inconclusive", "error"]
Sign = Literal[">", ">=", "<", "<="]
FailIf = str | Sequence[str] | Mapping[str, float]

FORM = re.compile(
    r"\s*([\w-]+(?:\s*\(\w+\))?)\s*(?:\.\s*(\w+(?:\([^()]*\))?))?\s*(>=|>|<=|<)\s*([^\s<>=]+)\s*"
)
BEYOND: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
PHRASES: dict[Sign, tuple[str, str]] = {  # for intervals beyond the bound, and within it
    ">": ("exceeds", "does not exceed"),
    ">=": ("reaches", "does not reach"),
    "<": ("is below", "is not below"),
    "<=": ("does not exceed", "exceeds"),
}
TURNED: dict[Sign, Sign] = {">": "<", ">=": "<=", "<": ">", "<=": ">="}


class Bounded(Protocol):
    """The part of a finding that a gate reads."""

    @property
    def criterion(self) -> str:
        """The name of the criterion."""

    @property
    def measure(self) -> str:
        """The name of the measure."""

    @property
    def low(self) -> float:
        """The lower end of the interval."""

    @property
    def high(self) -> float:
        """The upper end of the interval."""

    @property
    def greatest(self) -> float:
        """The largest possible value with this number of groups; of a ratio, the smallest."""

    @property
    def groups(self) -> int:
        """Number of groups."""

    @property
    def obstacle(self) -> Obstacle | None:
        """Why no bound can be passed, or None."""


@dataclass(frozen=True)
class Gate:
    """Condition on which an audit fails: a criterion above a bound; a ratio, below it."""

    criterion: str
    measure: str
    sign: Sign
    bound: float

    @property
    def name(self) -> str:
        """Criterion and measure, as in the names of findings."""
        return f"{self.criterion}.{self.measure}"

    def __str__(self) -> str:
        return f"{self.name} {self.sign} {self.bound:g}"

    def can_fail(self, greatest: float) -> bool:
        """Whether values up to this, or ratios down to this, can violate the bound.

        >>> gate_of("statistical_parity.gini > 0.5").can_fail(0.5)
        False
        >>> gate_of("selection_rate_ratio < 0.8").can_fail(0.0)
        True
        """
        return BEYOND[self.sign](greatest, self.bound)

    def outcome(self, low: float, high: float) -> Outcome:
        """Outcome of comparing an interval with the bound.

        >>> gate = gate_of("statistical_parity.pq > 0.05")
        >>> gate.outcome(0.06, 0.09), gate.outcome(0.01, 0.05), gate.outcome(0.04, 0.09)
        ('violation', 'pass', 'inconclusive')
        >>> gate_of("selection_rate_ratio < 0.8").outcome(0.5, 0.7)
        'violation'
        """
        beyond_low, beyond_high = (BEYOND[self.sign](end, self.bound) for end in (low, high))
        if math.isnan(low) or math.isnan(high) or beyond_low != beyond_high:
            return "inconclusive"
        return "violation" if beyond_low else "pass"


@dataclass(frozen=True)
class Judgement:
    """The outcome of a gate, and why.

    A gate passes only where it could have failed: never while an `obstacle` is in the way.
    """

    gate: Gate
    outcome: Outcome
    low: float
    high: float
    obstacle: Obstacle | None = None

    @property
    def sentence(self) -> str:
        """The outcome in plain words."""
        if self.obstacle is not None and self.outcome != "violation":
            start = "cannot be judged" if self.outcome == "error" else "inconclusive"
            return f"{self.gate}: {start}: {self.obstacle.reason}"
        if math.isnan(self.low) or math.isnan(self.high):
            return f"{self.gate}: inconclusive: there is no interval to judge by"
        interval, bound = f"the interval {self.low:.4g} to {self.high:.4g}", f"{self.gate.bound:g}"
        beyond, within = PHRASES[self.gate.sign]
        sentences = {
            "violation": f"FAILED: {interval} {beyond} {bound}",
            "pass": f"passed: {interval} {within} {bound}",
            "inconclusive": f"inconclusive: {bound} lies in {interval}; more rows would settle it",
        }
        return f"{self.gate}: {sentences[self.outcome]}"

    def document(self) -> dict[str, Any]:
        """The same as plain JSON values."""
        ends = {"low": self.low, "high": self.high}
        return {
            "gate": str(self.gate),
            "outcome": self.outcome,
            **{name: end if math.isfinite(end) else None for name, end in ends.items()},
            "sentence": self.sentence,
        }


def gate_of(text: str, task: str | None = None) -> Gate:
    """Read a gate such as "statistical_parity.pq > 0.05", and check its names.

    Without a measure it uses the criterion's own.

    >>> print(gate_of("demographic_parity >= 0.1"), gate_of("four_fifths < 0.8"), sep="; ")
    statistical_parity.mpd >= 0.1; selection_rate_ratio.ratio < 0.8
    """
    form = FORM.fullmatch(text) if isinstance(text, str) else None
    bound = finite_number(form[4]) if form else None
    if form is None or bound is None or bound < 0:
        raise InputError(
            "A gate has the form CRITERION.MEASURE > BOUND, such as 'statistical_parity.pq > "
            "0.05', or CRITERION < BOUND of a ratio, such as 'selection_rate_ratio < 0.8', with "
            f">, >=, < or <= and a bound of at least 0; {text!r} does not."
        )
    measure = None if form[2] is None else resolve(form[2]).name
    question = questions_of([form[1]], measure or (), task)[0]
    measure = measure or question.criterion.measure
    if measure not in question.measures and form[2] is not None:
        raise InputError(
            f"{question.name} is measured by ratio or shortfall only: "
            f"write '{question.name}.ratio < 0.8'."
        )
    gate = Gate(question.name, measure, _sign(form[3]), bound)
    _check_direction(gate)
    _check_can_fail(gate, question)
    return gate


def gates_of(fail_if: FailIf | None, task: str | None = None) -> list[Gate]:
    """Read gates: one, a list, or bounds by name (the largest tolerated; of a ratio the least).

    >>> [str(gate) for gate in gates_of({"SP": 0.1, "four_fifths": 0.8})]
    ['statistical_parity.mpd > 0.1', 'selection_rate_ratio.ratio < 0.8']
    """
    if fail_if is None:
        return []
    if isinstance(fail_if, str):
        fail_if = [fail_if]
    elif isinstance(fail_if, Mapping):
        fail_if = [f"{name} {_sign_of(name)} {bound}" for name, bound in fail_if.items()]
    elif not isinstance(fail_if, list | tuple):
        raise InputTypeError(f"A gate is text, such as 'equalized_odds > 0.1', not {fail_if!r}.")
    return [gate_of(text, task) for text in fail_if]


def _sign_of(name: str) -> Sign:
    """The sign of a gate on a criterion and measure: "<" for ratios."""
    return "<" if resolve(named(str(name)).measure).falls else ">"


def with_gates(questions: Sequence[Question], gates: Sequence[Gate]) -> list[Question]:
    """The questions, with the measures of gates; a gate on another criterion is an error."""
    by_criterion: dict[str, Question] = {}
    for requested in questions:  # "statistical_parity.gini" and "statistical_parity.pq" are one
        merged = by_criterion.setdefault(requested.name, requested)
        measures = tuple(dict.fromkeys((*merged.measures, *requested.measures)))
        by_criterion[requested.name] = replace(merged, measures=measures)
    for gate in gates:
        question = by_criterion.get(gate.criterion)
        if question is None:
            raise InputError(
                f"The bound '{gate}' is on no criterion that is asked about; there are "
                f"{list(by_criterion)}.{did_you_mean(gate.criterion, by_criterion)}"
            )
        if gate.measure not in question.measures:
            by_criterion[gate.criterion] = replace(
                question, measures=(*question.measures, gate.measure)
            )
    return list(by_criterion.values())


def judge(gates: Sequence[Gate], findings: Iterable[Bounded]) -> tuple[Judgement, ...]:
    """Judge every gate by the intervals of the findings."""
    by_name = {f"{value.criterion}.{value.measure}": value for value in findings}
    absent = [gate.name for gate in gates if gate.name not in by_name]
    if absent:
        raise InputError(f"The audit has no finding {absent[0]!r}; it has {list(by_name)}.")
    return tuple(_judgement(gate, by_name[gate.name]) for gate in gates)


def _judgement(gate: Gate, value: Bounded) -> Judgement:
    outcome, obstacle = gate.outcome(value.low, value.high), value.obstacle
    if not gate.can_fail(value.greatest):
        end = "least" if resolve(gate.measure).falls else "most"
        limit = f"{value.greatest:.4g} is the {end} that {plural(value.groups, 'group')} can show"
        obstacle = Obstacle(f"as it cannot fail: {limit}", is_error=True)
    if obstacle is not None and outcome != "violation":
        outcome = "error" if obstacle.is_error else "inconclusive"
    return Judgement(gate, outcome, value.low, value.high, obstacle)


def tolerances(gates: Iterable[Gate]) -> dict[str, float]:
    """The strictest bound on every criterion and measure."""
    strictest: dict[str, float] = {}
    for gate in gates:
        stricter = max if resolve(gate.measure).falls else min
        strictest[gate.name] = stricter(gate.bound, strictest.get(gate.name, gate.bound))
    return strictest


def _check_direction(gate: Gate) -> None:
    """Refuse a gate that would fail on less unequal values."""
    ratio = resolve(gate.measure).falls
    if (gate.sign in ("<", "<=")) != ratio:
        scale = "1 is equal and smaller is worse" if ratio else "0 is equal and larger is worse"
        meant = replace(gate, sign=TURNED[gate.sign])
        raise InputError(
            f"The gate '{gate}' would fail where groups are treated alike: by {gate.measure} "
            f"{scale}. A gate says when an audit fails; write '{meant}'."
        )
    if ratio and gate.bound > 1:
        raise InputError(
            f"The gate '{gate}' would always fail: a ratio is at most 1. A bound is not a "
            "percentage: four-fifths are 0.8."
        )


def _check_can_fail(gate: Gate, question: Question) -> None:
    """Refuse a bound that no value can exceed with any number of groups, such as a percentage."""
    criterion = question.criterion
    if criterion.across not in ("worst", "mean"):
        return
    transform = criterion.settings(gate.measure).applied
    greatest = resolve(gate.measure).greatest(criterion.statistic.bounds, transform)
    if not gate.can_fail(greatest):
        if resolve(gate.measure).falls:
            why = f"{gate.name} is at least {greatest:g}. Four-fifths are 0.8."
        else:
            why = f"{gate.name} is at most {greatest:g}. A bound is not a percentage: "
            why += "five percentage points are 0.05."
        raise InputError(f"The gate '{gate}' could never fail: {why}")


def _sign(text: str) -> Sign:
    return next(sign for sign in TURNED if sign == text)
