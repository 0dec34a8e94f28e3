"""The parts of an audit, which `Audit` puts into different forms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from evenhand._audit.alternatives import Alternatives, alternatives
from evenhand._audit.curves import Levels, Thresholds
from evenhand._audit.finding import Finding, GroupValues
from evenhand._audit.questions import Control
from evenhand._audit.subgroups import Subgroup
from evenhand._audit.views import View
from evenhand._data.evidence import Evidence

ANSWERED_BY = {  # a statistic of the scan of subgroups, and the criteria that compare it
    "selection rate": ("statistical_parity",),
    "error rate": ("error_parity", "accuracy_parity"),
    "mean error": ("performance_parity(mean_error)",),
    "mean prediction": ("weak_parity",),
    "mean squared error": ("performance_parity(mse)",),
}


@dataclass(frozen=True, eq=False)
class AuditParts:
    """The parts of an audit; `Audit` documents each, and adds pages, tables and files."""

    evidence: Evidence
    findings: tuple[Finding, ...]
    group_values: tuple[GroupValues, ...]
    views: tuple[View, ...]
    subgroups: tuple[Subgroup, ...]
    thresholds: Thresholds | None
    levels: Levels | None
    notes: tuple[str, ...]
    title: str | None
    confidence: float
    margin: float | None
    control: Control
    choices: int
    date: str
    kind: str | None = None
    model: str | None = None

    @cached_property
    def alternatives(self) -> Alternatives | None:
        """The cost of less disparity, if groups differ: the frontier, compared with the model.

        It is traced on first use, which takes a second or two.
        """
        return alternatives(self.evidence, self.findings)

    @property
    def too_few(self) -> tuple[Subgroup, ...]:
        """The groups too small to judge, with the `rows_needed` to judge them; smallest first.

        Such a group has no significant difference in the scan of subgroups, and too few rows to
        show a difference of the margin (0.05 of a rate) from everybody else in the selection or
        error rate; in a regression, in the mean error, prediction or squared error. Statistics in
        which all groups were found to be alike do not count.
        """
        subgroups = [s for s in self.subgroups if s.columns == self.evidence.columns]
        flagged = {subgroup.label for subgroup in subgroups if subgroup.flagged}
        alike = {finding.criterion for finding in self.findings if finding.verdict == "alike"}
        answered = tuple(name for name, criteria in ANSWERED_BY.items() if alike & set(criteria))
        lacking = [
            subgroup
            for subgroup in subgroups
            if subgroup.too_few
            and subgroup.counted == subgroup.rows
            and subgroup.label not in flagged
            and not subgroup.statistic.startswith(answered)
        ]
        ordered = sorted(lacking, key=lambda s: s.rows_needed)
        return tuple(sorted({s.label: s for s in ordered}.values(), key=lambda s: s.rows))
