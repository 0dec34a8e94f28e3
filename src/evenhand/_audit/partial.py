"""An audit where groups are probable, partly known or missing: every criterion by its bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

from evenhand._audit.api import HEADLINES, audit, today
from evenhand._audit.assertion import Inconclusive, assert_even, checked_gates, passed
from evenhand._audit.examination import MARGIN
from evenhand._audit.finding import Obstacle
from evenhand._audit.gate import FailIf, Gate, Judgement, gates_of, judge, with_gates
from evenhand._audit.obstacles import too_few, without_value
from evenhand._audit.questions import Control, answerable, check_margin, check_options
from evenhand._audit.summary import assumed_label
from evenhand._columns import Label
from evenhand._data.data import Data
from evenhand._data.doors import where_unknown
from evenhand._data.evidence import Evidence, design_notes
from evenhand._data.groups import show
from evenhand._data.summaries import Source
from evenhand._errors import InputError
from evenhand._kinds import check_kinds, check_names
from evenhand._result import Columns, Result, finite
from evenhand._unknown import Bounds, bounds_of, has_bounds, unknown
from evenhand._unknown.answers import ASSUMPTIONS, MISFIT, WITHOUT
from evenhand._words import did_you_mean, listing
from evenhand.criteria import Criterion
from evenhand.criteria.evaluation import named
from evenhand.criteria.questions import Criteria, Question
from evenhand.measures import resolve
from evenhand.report.formats import phrase

SCHEMA = "evenhand.partial-audit/1"
NAMED = 2  # criteria that are named even if all others are like them
SHARED = ("schema", "evenhand", "rows", "known", "groups", "confidence", "decisive")


class Limited(NamedTuple):
    """What a gate reads of a criterion: the ends of its decisive answer."""

    criterion: str
    measure: str
    low: float
    high: float
    greatest: float
    groups: int
    obstacle: Obstacle | None


# What an audit of known groups has beside.
OF_KNOWN_GROUPS = {
    "alternatives",
    "by_group",
    "by_group_frame",
    "explain",
    "explore",
    "measured",
    "model",
}
OF_KNOWN_GROUPS |= {"to_csv", "to_model_card", "too_few"}


@dataclass(frozen=True, eq=False, repr=False)
class PartialAudit(Result):
    """Bounds of every criterion where groups are probable, partly known or missing.

    Made by `audit`, where `sensitive_features` are what `probable` made, or with
    `missing="unknown"`.

    Attributes
    ----------
    findings : tuple of Bounds
        What was found of each criterion, by each measure.
    groups : tuple of labels
        The groups.
    shares : mapping of group to float
        The probable share of each group among all rows; NaN where it is not known.
    rows, known : int
        How many rows there are, and of how many the group is known.
    decisive : str
        The answer that verdicts are about: "bounds", unless an assumption was named.
    confidence : float
        Of every interval.
    notes : tuple of str
        What was left out or assumed.
    title : str or None
        The title of reports.
    date : str
        The day of the audit.
    judgements : tuple of Judgement
        The outcome of each bound in `fail_if`: its `outcome`, and a `sentence`.

    """

    findings: tuple[Bounds, ...]
    confidence: float
    notes: tuple[str, ...]
    title: str | None
    date: str
    judgements: tuple[Judgement, ...]
    frame_kind: str | None = None

    def __getattr__(self, name: str) -> Any:
        if name in OF_KNOWN_GROUPS:
            raise AttributeError(
                f"An audit of groups that are not known for everyone has no {name}. "
                "`summary`, `findings` and `to_frame` say what can be said of them."
            )
        raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")

    @property
    def kind(self) -> str | None:
        """The library of the caller's dataframes."""
        return self.frame_kind

    @property
    def groups(self) -> tuple[Label, ...]:
        """The groups."""
        return self.findings[0].groups

    @property
    def shares(self) -> Mapping[Label, float]:
        """The probable share of each group among all rows; NaN where it is not known."""
        return self.findings[0].shares

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.findings[0].rows

    @property
    def known(self) -> int:
        """The number of rows whose group is known."""
        return self.findings[0].known

    @property
    def decisive(self) -> str:
        """The answer that verdicts rest on."""
        return self.findings[0].decisive

    @property
    def summary(self) -> str:
        """The headline in a sentence or two, then where groups differ and what is inconclusive."""
        by_criterion: dict[str, Bounds] = {}
        for one in self.findings:
            by_criterion.setdefault(one.criterion, one)
        order = sorted(
            by_criterion.values(),
            key=lambda one: (one.verdict != "differs", one.criterion not in HEADLINES),
        )
        said = {
            verdict: [
                phrase(one.criterion)
                for one in order[1:]
                if verdict in (one.verdict, one.verdict.partition(" ")[0])
            ]
            for verdict in ("differs", "alike", "more")
        }
        heads = {"differs": "They differ in", "alike": "They are alike in", "more": "Inconclusive:"}
        if order[0].verdict != "alike":
            heads["differs"] = "They also differ in"
        if order[0].verdict not in ("differs", "alike"):
            heads["more"] = "Also inconclusive:"
        whole = {
            each: f"all {len(names)} other criteria"
            if len(names) == len(order) - 1 > NAMED
            else listing(names)
            for each, names in said.items()
        }
        rest = [f"{heads[each]} {names}." for each, names in whole.items() if names]
        return " ".join([order[0].summary, *rest])

    def to_html(self, path: str | Path | None = None, *, standard: str | None = None) -> str:
        """A page that opens offline, with charts; needs the extra "report".

        Parameters
        ----------
        path : str or Path, optional
            Where to write it.
        standard : str, optional
            The page of a standard needs groups that are known, and is refused.

        Returns
        -------
        str
            HTML.

        """
        if standard is not None:
            if not any(map(isnan, self.shares.values())):
                raise InputError(
                    f"The page of {standard!r} needs groups that are known, and these are "
                    "probable: audit the people whose group is known."
                )
            raise InputError(
                f'The page of {standard!r} needs groups that are known; pass missing="group", and '
                "those of New York's law and of adverse impact say what the others could change."
            )
        return super().to_html(path)

    def finding(self, criterion: str, measure: str | None = None) -> Bounds:
        """What was found of a criterion, by its first measure if none is named.

        Parameters
        ----------
        criterion : str
            The criterion's name, or another that the field has for it.
        measure : str, optional
            A measure that was asked for.

        Returns
        -------
        Bounds
            With all answers, and the verdict.

        Raises
        ------
        InputError
            If it was not asked.

        """
        check_names(criterion=criterion)
        known = [f"{one.criterion}.{one.measure}" for one in self.findings]
        name = criterion if criterion in {one.criterion for one in self.findings} else None
        name = name or named(criterion).name
        by = None if measure is None else resolve(measure).name
        for one in self.findings:
            if one.criterion == name and by in (None, one.measure):
                return one
        raise InputError(
            f"The audit has no finding {criterion!r}{'' if by is None else f' by {by}'}; it has "
            f"{known}.{did_you_mean(criterion, known)}"
        )

    def document(self) -> dict[str, Any]:
        """Everything as plain JSON values, by the schema "evenhand.partial-audit/1".

        Returns
        -------
        dict
            JSON values; what is undefined is None.

        """
        findings = [one.document() for one in self.findings]
        assumes = ASSUMPTIONS[self.decisive]
        if self.decisive == WITHOUT:
            assumes = self.findings[0].answers[WITHOUT].assumes
        return dict(
            finite(
                {
                    "schema": SCHEMA,
                    "evenhand": version("evenhand"),
                    "title": self.title,
                    "date": self.date,
                    "sentence": self.summary,
                    "rows": self.rows,
                    "known": self.known,
                    "groups": findings[0]["groups"],
                    "decisive": self.decisive,
                    "assumes": assumes,
                    "confidence": self.confidence,
                    "notes": list(self.notes),
                    "gates": [one.document() for one in self.judgements],
                    "findings": [
                        {key: value for key, value in one.items() if key not in SHARED}
                        for one in findings
                    ],
                }
            )
        )

    @property
    def _tables(self) -> Sequence[str]:
        return ("findings", "rates")

    def _table(self, name: str) -> Columns:
        found = self.document()["findings"]
        lines = [(one, answer) for one in found for answer in one["answers"]]
        if name == "rates":
            rows = [(one, answer, rate) for one, answer in lines for rate in answer["rates"]]
            return {
                "criterion": [one["criterion"] for one, _, _ in rows],
                "measure": [one["measure"] for one, _, _ in rows],
                "answer": [answer["name"] for _, answer, _ in rows],
                **{key: [rate[key] for _, _, rate in rows] for key in ("group", "low", "high")},
            }
        of = ("criterion", "measure", "verdict")
        return {
            **{key: [one[key] for one, _ in lines] for key in of},
            "answer": [answer["name"] for _, answer in lines],
            **{
                key: [answer[key] for _, answer in lines]
                for key in ("value", "least", "greatest", "low", "high")
            },
        }


@where_unknown(audit)
def audit_unknown(
    data: Data,
    criteria: Criteria | None = None,
    measures: str | Sequence[str] | None = None,
    fail_if: FailIf | None = None,
    confidence: float = 0.95,
    margin: float | None = None,
    control: Control = "familywise",
    depth: int = 2,
    title: str | None = None,
) -> PartialAudit:
    """Ask every criterion about shares and means; lower ends allow for all of them."""
    check_kinds(title=title)
    check_options(confidence, depth, margin, control)
    read = unknown(data)
    evidence = read.data.counted
    check_margin(margin, of_rates=evidence.task != "regression")
    gates = gates_of(fail_if, evidence.task)
    questions, unasked = answerable(evidence, criteria, "mpd" if measures is None else measures)
    shares = [one for one in questions if _has_bounds(one, evidence.sources[one.needs])]
    if criteria is not None and len(shares) < len(questions):
        other = next(one.name for one in questions if one not in shares)
        raise InputError(
            f"{other} has no bounds where groups are not known, as it is neither a share of rows "
            f"in its worst cell nor a mean. These have: {[one.name for one in shares]}."
        )
    asked = with_gates(shares, gates)
    if not asked:
        raise InputError(
            "No criterion of these rows is about shares of people or means, and nothing else has "
            "bounds where groups are not known."
        )
    findings, measured = [], []
    for question in asked:
        favorable = evidence.favorable_in(one_class=question.criterion.one_class)
        is_mean = question.criterion.statistic.mean_of is not None
        own = read if is_mean else replace(read, favorable=favorable)  # read by row but once
        usual = None if is_mean else MARGIN
        for by in question.measures:
            found = bounds_of(
                own,
                question.criterion,
                by,
                source=evidence.sources[question.needs],
                margin=usual if margin is None else margin,
                confidence=confidence,
                tests=len(asked),
            )
            findings.append(found)
            same = evidence.sameness(question.needs)
            measured.append(_limited(found, question.criterion, same, 1 - confidence))
    told = evidence.counted.notes if read.proxy is None else ()  # that gaps are a group
    notes = [note for note in evidence.notes if note not in told]
    return PartialAudit(
        tuple(findings),
        confidence,
        (*notes, *design_notes(evidence.counted), *unasked, *_labels(evidence)),
        title,
        today(),
        _judged(gates, findings, measured),
        data.kind,
    )


def _labels(evidence: Evidence) -> list[str]:
    """Which label is the favorable one, and whether that was assumed."""
    assumed = assumed_label(evidence).strip()
    named = evidence.is_of_labels and evidence.favorable is not None
    return [assumed or f"Favorable label: {show(evidence.favorable)}."] if named else []


def _has_bounds(question: Question, source: Source) -> bool:
    settings = question.criterion.settings(measure=question.measure)
    return has_bounds(question.criterion, source) and settings.aggregate == "worst"


def _limited(found: Bounds, criterion: Criterion, sameness: str | None, level: float) -> Limited:
    """The decisive ends, and what is in the way of passing: what passes must be known."""
    answer, groups = found.answers[found.decisive], len(found.groups)
    obstacle = None
    if sameness is not None:
        obstacle = Obstacle(sameness, is_error=True)
    elif found.lacking:
        absent = [f"{show(group)} at {show(cell)}" for cell, group in found.lacking]
        obstacle = Obstacle(without_value(absent), is_error=False)
    elif found.is_misfit:
        obstacle = Obstacle(MISFIT[:1].lower() + MISFIT[1:].rstrip("."), is_error=False)
    elif found.decisive == "combined" and found.is_doubtful:
        obstacle = Obstacle(
            "the people whose group is known do not look like a random sample", is_error=False
        )
    else:
        obstacle = too_few(found.counted[None], level)
    measure = resolve(found.measure)
    greatest = measure.greatest(criterion.statistic.bounds, None, groups)
    return Limited(
        found.criterion, found.measure, answer.low, answer.high, greatest, groups, obstacle
    )


def _judged(
    gates: Sequence[Gate], findings: Sequence[Bounds], measured: Sequence[Limited]
) -> tuple[Judgement, ...]:
    """What the decisive answers say of every gate, and what would tell where they do not."""
    by_name = {f"{one.criterion}.{one.measure}": one for one in findings}
    return tuple(_explained(one, by_name[one.gate.name]) for one in judge(gates, measured))


def _explained(judgement: Judgement, found: Bounds) -> Judgement:
    answer, bound = found.answers[WITHOUT], judgement.gate.bound
    is_open = judgement.outcome == "inconclusive" and judgement.obstacle is None
    if found.decisive != WITHOUT or not is_open or not answer.least <= bound <= answer.greatest:
        return judgement
    ends = f"{answer.least:.4g} to {answer.greatest:.4g}"
    reason = (
        f"it is {ends}, depending on who is in which group; only knowing more groups would "
        "settle it"
    )
    return replace(judgement, obstacle=Obstacle(reason, is_error=False))


@where_unknown(assert_even)
def assert_even_unknown(
    data: Data,
    fail_if: FailIf,
    inconclusive: Inconclusive = "fail",
    confidence: float = 0.95,
) -> PartialAudit:
    """Raise AssertionError unless the decisive answers keep every bound."""
    __tracebackhide__ = True
    gates = checked_gates(fail_if, inconclusive)
    result = audit_unknown(
        data,
        criteria=list(dict.fromkeys(gate.criterion for gate in gates)),
        measures=list(dict.fromkeys(gate.measure for gate in gates)),
        fail_if=fail_if,
        confidence=confidence,
    )
    return passed(result, result.judgements, inconclusive)
