"""Audits where groups are probable, partly known or missing, with bounds of every criterion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
from evenhand._result import Columns, Result, finite, version
from evenhand._unknown import Bounds, bounds_of, has_bounds, unknown
from evenhand._unknown.answers import ASSUMPTIONS, MISFIT, WITHOUT
from evenhand._words import did_you_mean, listing
from evenhand.criteria import Criterion
from evenhand.criteria.evaluation import named
from evenhand.criteria.questions import Criteria, Question
from evenhand.measures import resolve
from evenhand.report.formats import phrase

SCHEMA = "evenhand.partial-audit/1"
NAMED = 2  # up to this many criteria are named rather than counted
SHARED = ("schema", "evenhand", "rows", "known", "groups", "confidence", "decisive")


class Limited(NamedTuple):
    """The part of a criterion that a gate reads: the ends of its decisive answer."""

    criterion: str
    measure: str
    low: float
    high: float
    greatest: float
    groups: int
    obstacle: Obstacle | None


# Attributes that only an audit of known groups has.
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
        The bounds of each criterion, by each measure.
    groups : tuple of labels
        The groups.
    shares : mapping of group to float
        The probable share of each group among all rows; NaN where it is not known.
    rows, known : int
        The number of rows, and the number of those with a known group.
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
        """Number of rows."""
        return self.findings[0].rows

    @property
    def known(self) -> int:
        """The number of rows whose group is known."""
        return self.findings[0].known

    @property
    def decisive(self) -> str:
        """The answer that verdicts are based on."""
        return self.findings[0].decisive

    @property
    def summary(self) -> str:
        """The headline in a sentence or two, then criteria that differ and inconclusive ones."""
        by_criterion: dict[str, Bounds] = {}
        for finding in self.findings:
            by_criterion.setdefault(finding.criterion, finding)
        order = sorted(
            by_criterion.values(),
            key=lambda finding: (finding.verdict != "differs", finding.criterion not in HEADLINES),
        )
        names_by_verdict = {
            verdict: [
                phrase(finding.criterion)
                for finding in order[1:]
                if verdict in (finding.verdict, finding.verdict.partition(" ")[0])
            ]
            for verdict in ("differs", "alike", "more")
        }
        heads = {"differs": "They differ in", "alike": "They are alike in", "more": "Inconclusive:"}
        if order[0].verdict != "alike":
            heads["differs"] = "They also differ in"
        if order[0].verdict not in ("differs", "alike"):
            heads["more"] = "Also inconclusive:"
        shortened = {
            outcome: f"all {len(names)} other criteria"
            if len(names) == len(order) - 1 > NAMED
            else listing(names)
            for outcome, names in names_by_verdict.items()
        }
        sentences = [f"{heads[outcome]} {names}." for outcome, names in shortened.items() if names]
        return " ".join([order[0].summary, *sentences])

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
        """The finding on a criterion, by its first measure if none is named.

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
        available = [f"{finding.criterion}.{finding.measure}" for finding in self.findings]
        name = criterion if criterion in {finding.criterion for finding in self.findings} else None
        name = name or named(criterion).name
        by = None if measure is None else resolve(measure).name
        for finding in self.findings:
            if finding.criterion == name and by in (None, finding.measure):
                return finding
        raise InputError(
            f"The audit has no finding {criterion!r}{'' if by is None else f' by {by}'}; it has "
            f"{available}.{did_you_mean(criterion, available)}"
        )

    def document(self) -> dict[str, Any]:
        """Everything as plain JSON values, by the schema "evenhand.partial-audit/1".

        Returns
        -------
        dict
            JSON values; what is undefined is None.

        """
        findings = [item.document() for item in self.findings]
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
                    "gates": [item.document() for item in self.judgements],
                    "findings": [
                        {key: value for key, value in item.items() if key not in SHARED}
                        for item in findings
                    ],
                }
            )
        )

    @property
    def _tables(self) -> Sequence[str]:
        return ("findings", "rates")

    def _table(self, name: str) -> Columns:
        findings = self.document()["findings"]
        lines = [(finding, answer) for finding in findings for answer in finding["answers"]]
        if name == "rates":
            rows = [
                (finding, answer, rate) for finding, answer in lines for rate in answer["rates"]
            ]
            return {
                "criterion": [finding["criterion"] for finding, _, _ in rows],
                "measure": [finding["measure"] for finding, _, _ in rows],
                "answer": [answer["name"] for _, answer, _ in rows],
                **{key: [rate[key] for _, _, rate in rows] for key in ("group", "low", "high")},
            }
        keys = ("criterion", "measure", "verdict")
        return {
            **{key: [finding[key] for finding, _ in lines] for key in keys},
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
    """Bounds of all criteria of shares and means; lower ends are corrected for their number."""
    check_kinds(title=title)
    check_options(confidence, depth, margin, control)
    read = unknown(data)
    evidence = read.data.counted
    check_margin(margin, of_rates=evidence.task != "regression")
    gates = gates_of(fail_if, evidence.task)
    questions, unasked = answerable(evidence, criteria, "mpd" if measures is None else measures)
    shares = [single for single in questions if _has_bounds(single, evidence.sources[single.needs])]
    if criteria is not None and len(shares) < len(questions):
        unfit = next(single.name for single in questions if single not in shares)
        raise InputError(
            f"{unfit} has no bounds where groups are not known, as it is neither a share of rows "
            f"in its worst cell nor a mean. These have: {[single.name for single in shares]}."
        )
    gated = with_gates(shares, gates)
    if not gated:
        raise InputError(
            "No criterion of these rows is about shares of people or means, and nothing else has "
            "bounds where groups are not known."
        )
    findings, measured = [], []
    for question in gated:
        favorable = evidence.favorable_in(one_class=question.criterion.one_class)
        is_mean = question.criterion.statistic.mean_of is not None
        rows = read if is_mean else replace(read, favorable=favorable)  # rows are read only once
        usual = None if is_mean else MARGIN
        for by in question.measures:
            finding = bounds_of(
                rows,
                question.criterion,
                by,
                source=evidence.sources[question.needs],
                margin=usual if margin is None else margin,
                confidence=confidence,
                tests=len(gated),
            )
            findings.append(finding)
            sameness = evidence.sameness(question.needs)
            measured.append(_limited(finding, question.criterion, sameness, 1 - confidence))
    # Without probabilities, the notes of the counts say that missing values are a group.
    redundant = evidence.counted.notes if read.proxy is None else ()
    notes = [note for note in evidence.notes if note not in redundant]
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
    """Note on the favorable label, and whether it was assumed."""
    assumed = assumed_label(evidence).strip()
    has_favorable = evidence.is_of_labels and evidence.favorable is not None
    return [assumed or f"Favorable label: {show(evidence.favorable)}."] if has_favorable else []


def _has_bounds(question: Question, source: Source) -> bool:
    settings = question.criterion.settings(measure=question.measure)
    return has_bounds(question.criterion, source) and settings.aggregate == "worst"


def _limited(finding: Bounds, criterion: Criterion, sameness: str | None, level: float) -> Limited:
    """The decisive interval, with the obstacle to passing a gate, if any."""
    answer, groups = finding.answers[finding.decisive], len(finding.groups)
    obstacle = None
    if sameness is not None:
        obstacle = Obstacle(sameness, is_error=True)
    elif finding.lacking:
        absent = [f"{show(group)} at {show(cell)}" for cell, group in finding.lacking]
        obstacle = Obstacle(without_value(absent), is_error=False)
    elif finding.is_misfit:
        obstacle = Obstacle(MISFIT[:1].lower() + MISFIT[1:].rstrip("."), is_error=False)
    elif finding.decisive == "combined" and finding.is_doubtful:
        obstacle = Obstacle(
            "the people whose group is known do not look like a random sample", is_error=False
        )
    else:
        obstacle = too_few(finding.counted[None], level)
    measure = resolve(finding.measure)
    greatest = measure.greatest(criterion.statistic.bounds, None, groups)
    return Limited(
        finding.criterion, finding.measure, answer.low, answer.high, greatest, groups, obstacle
    )


def _judged(
    gates: Sequence[Gate], findings: Sequence[Bounds], measured: Sequence[Limited]
) -> tuple[Judgement, ...]:
    """Judge every gate by the decisive answers; if inconclusive, say what would decide."""
    by_name = {f"{finding.criterion}.{finding.measure}": finding for finding in findings}
    return tuple(
        _explained(finding, by_name[finding.gate.name]) for finding in judge(gates, measured)
    )


def _explained(judgement: Judgement, finding: Bounds) -> Judgement:
    answer, bound = finding.answers[WITHOUT], judgement.gate.bound
    is_open = judgement.outcome == "inconclusive" and judgement.obstacle is None
    if finding.decisive != WITHOUT or not is_open or not answer.least <= bound <= answer.greatest:
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
