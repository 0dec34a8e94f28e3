"""A look at a watch: findings, bounds and changes, from what it remembers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce

import numpy as np
from numpy.typing import NDArray

from evenhand._audit.examination import without_value
from evenhand._audit.finding import Obstacle
from evenhand._audit.gate import judge
from evenhand._audit.questions import Question
from evenhand._columns import Label
from evenhand._data.evidence import one_label
from evenhand._data.groups import show
from evenhand._data.tallies import Tally
from evenhand._errors import InputError
from evenhand._kinds import check_names
from evenhand._uncertainty.interval import ConfidenceInterval
from evenhand._words import plural
from evenhand.measures import resolve as resolve_measure
from evenhand.statistics import E
from evenhand.watch import change
from evenhand.watch.bands import band_of, rate_limits
from evenhand.watch.clusters import log_bets, log_clusters_differ, rates_of_means
from evenhand.watch.evalues import group_weights, log_apart
from evenhand.watch.ledger import added, day_name
from evenhand.watch.memory import Memory
from evenhand.watch.parts import excess_of, log_differ, log_means_differ, slack_of
from evenhand.watch.rates import Rates, is_mean, rates_of
from evenhand.watch.status import (
    Against,
    Change,
    GroupRate,
    Later,
    Status,
    Verdict,
    Watched,
    WatchFinding,
)

Floats = NDArray[np.float64]
ROUNDING = 1e-12  # of a variance


def status_of(memory: Memory) -> Status:
    """Intervals, evidence, bounds and changes; what is said for the first time is remembered."""
    look = Look(memory)
    findings = [look.finding(question) for question in look.known_questions()]
    changed = {}
    if memory.settings.gates:
        changes = _changes(look)
        changed = {each.criterion: each.sentence for each in changes if each.changed}
        later = partial(tuple, changes)
    else:
        later = partial(_changes, Look(replace(memory, ledger=memory.ledger.copy())))
    watched = [each for finding in findings for each in look.watched(finding, changed)]
    judgements = judge(memory.settings.gates, [*watched, *look.unknown()])
    outcomes: dict[str, list[str]] = {}
    since: dict[str, str | None] = {}
    for judgement in judgements:
        since[str(judgement.gate)] = look.first(str(judgement.gate), judgement.outcome)
        outcomes.setdefault(judgement.gate.criterion, []).append(judgement.outcome)
    findings = [look.with_verdict(each, outcomes.get(each.criterion, ())) for each in findings]
    if memory.history:
        said: dict[str, str] = {finding.criterion: finding.verdict for finding in findings}
        said |= {str(judgement.gate): judgement.outcome for judgement in judgements}
        memory.history[-1] = [*memory.history[-1][:3], said]
    ledger = memory.ledger
    return Status(
        tuple(findings),
        judgements,
        since,
        None if ledger.first is None else day_name(ledger.first),
        None if ledger.last is None else day_name(ledger.last),
        ledger.counted,
        max((finding.rows for finding in findings), default=0),
        memory.settings.confidence,
        memory.settings.method,
        tuple(look.notes()),
        later,
    )


class Look:
    """How what is remembered is read."""

    def __init__(self, memory: Memory) -> None:
        self.memory, self.settings, self.ledger = memory, memory.settings, memory.ledger
        self._weights: dict[tuple[Label, ...], Floats] = {}

    @property
    def error(self) -> float:
        """How often one may err, ever."""
        return 1 - self.settings.confidence

    def question(self, criterion: str) -> Question:
        """A criterion that is watched, by its name."""
        check_names(criterion=criterion)
        for question in self.settings.questions:
            if question.name == criterion:
                return question
        names = [question.name for question in self.settings.questions]
        raise InputError(f"{criterion!r} is not watched; there are {names}.")

    def known_questions(self) -> list[Question]:
        """The questions that something was counted for."""
        return [q for q in self.settings.questions if self.source(q) in self.ledger.totals]

    def source(self, question: Question) -> str:
        """The name of the sums that a criterion's rates are read from."""
        means = f"means {question.name}"
        return means if means in self.ledger.totals else question.criterion.statistic.needs

    def rates(self, source: Tally, question: Question) -> Rates:
        """What some counts say of a criterion's rates."""
        if "clusters" in source.sums:
            return rates_of_means(source, question, self.settings.limits)
        return rates_of(source, question, self.settings.favorable, self.settings.limits)

    def so_far(self, question: Question) -> Rates:
        """What all counts say."""
        return self.rates(self.ledger.totals[self.source(question)], question)

    def weights(self, groups: tuple[Label, ...]) -> Floats:
        """The prior weights of groups."""
        if groups not in self._weights:
            ranks = self.ledger.ranks(groups, self.settings.groups)
            self._weights[groups] = group_weights(ranks)
        return self._weights[groups]

    def evidence(self, question: Question) -> float:
        """The log e-value against "all groups alike" so far."""
        totals = self.ledger.totals
        if f"bets {question.name}" in totals:
            bets = totals[f"bets {question.name}"]
            return log_clusters_differ(bets, self.weights(bets.groups))
        if f"apart {question.name}" in totals:
            weights = self.weights(totals[f"apart {question.name}"].groups)
            return log_differ(totals, question, weights, self.ledger.counted)
        rates = self.so_far(question)
        return log_means_differ(rates) if is_mean(question) else 0.0

    def interval(self, rates: Rates, measure: str) -> ConfidenceInterval:
        """The band of a measure."""
        known, weights = resolve_measure(measure), self.weights(rates.groups)
        band = band_of(rates, known.computed, self.error, self.settings.method, weights)
        low, high = known.ends(band.low, band.high)
        return replace(band, value=known.written(band.value), low=low, high=high)

    def finding(self, question: Question) -> WatchFinding:
        """What is known of a criterion; its verdict comes after the bounds."""
        rates, evidence = self.so_far(question), self.memory.evidence.get(question.name)
        if evidence is None:
            evidence = self.memory.evidence[question.name] = self.evidence(question)
        self.weights(rates.groups)  # as they are now, for intervals that are asked for later
        peak = max(self.memory.peaks.get(question.name, 0.0), evidence)
        return WatchFinding(
            question.name,
            "cannot tell",
            None,
            Later(partial(self.interval, rates), question.measures),
            float(np.exp(min(evidence, 690.0))),
            float(np.exp(-max(peak, 0.0))),
            self._rows(question, rates),
            int((rates.sizes > 0).any(axis=0).sum()),
            partial(_group_rates, rates, self.error),
        )

    def _rows(self, question: Question, rates: Rates) -> int:
        """How many rows were counted; classes are of the same rows."""
        rows = self.ledger.totals[self.source(question)]
        if rates.effective is None:
            return int(rows.table("group", of="rows").sum())
        first = np.unique(rates.strata, return_index=True)[1]
        return int(rows.table("cell", "group", of="rows")[first].sum())

    def watched(self, finding: WatchFinding, changed: Mapping[str, str]) -> Iterator[Watched]:
        """A finding as gates read it; while anything is in the way, a bound is not kept."""
        question = self.question(finding.criterion)
        why = self._in_the_way(question, changed.get(question.name))
        obstacle = None if why is None else Obstacle(why, is_error=False)
        groups = finding.groups
        bounds = self.settings.limits.get(question.name, question.criterion.statistic.bounds)
        asked = [gate.measure for gate in self.settings.gates if gate.criterion == question.name]
        for measure in dict.fromkeys(asked):
            found = finding.intervals[measure]
            greatest = resolve_measure(measure).greatest(bounds, None, max(groups, 2))
            yield Watched(
                finding.criterion, measure, found.low, found.high, greatest, groups, obstacle
            )

    def _in_the_way(self, question: Question, changed: str | None) -> str | None:
        """Why a bound cannot be kept, as in an audit; where rates have changed, too."""
        same = one_label(self.memory.counted_classes, question.criterion.statistic.needs)
        if same is None and is_mean(question):
            same = self._same_amount(question)
        if same is not None:
            return same
        absent = self._absent(question)
        if absent:
            return without_value(absent)
        if changed is not None:
            return (
                f"as all rows so far are not about now. {changed.rstrip('.')}; watch anew from "
                "then on"
            )
        return None

    def _same_amount(self, question: Question) -> str | None:
        """That all rows have one amount, in words, if they do."""
        sums, statistic = (
            self.ledger.totals[self.source(question)].sums,
            question.criterion.statistic,
        )
        of = statistic.of if isinstance(statistic, E) else ""
        if f"{of}²" not in sums:
            return None
        rows, total, squares = (float(sums[name].sum()) for name in ("rows", of, f"{of}²"))
        if rows * squares - total**2 > ROUNDING * rows * squares:
            return None
        return f"every row has the amount {total / rows:g}, so there is nothing to compare"

    def _absent(self, question: Question) -> list[str]:
        """The groups that have rows and no rate, and the cells where; as in an audit."""
        rates, source = self.so_far(question), self.ledger.totals[self.source(question)]
        source = self.ledger.totals.get("classes yhat", source)
        rows = dict(zip(source.groups, source.table("group", of="rows"), strict=True))
        known = [i for i, group in enumerate(rates.groups) if rows.get(group, 0) > 0]
        sizes = rates.sizes[:, known]
        if question.criterion.kind.is_sparse:
            none = np.flatnonzero(~(sizes > 0).any(axis=0))
            return [show(rates.groups[known[i]]) for i in none]
        gaps = np.argwhere((sizes == 0) & (sizes > 0).any(axis=1, keepdims=True))
        return [f"{show(rates.groups[known[j]])} at {show(rates.cells[i])}" for i, j in gaps]

    def unknown(self) -> Iterator[Watched]:
        """Criteria of gates that nothing was counted for yet: a bound on them is not kept."""
        known = {question.name for question in self.known_questions()}
        why = "as nothing was counted that tells of it yet"
        for gate in self.settings.gates:
            if gate.criterion not in known:
                farthest = 0.0 if resolve_measure(gate.measure).falls else np.inf
                obstacle = Obstacle(why, is_error=False)
                ends = (np.nan, np.nan, farthest)
                yield Watched(gate.criterion, gate.measure, *ends, 0, obstacle)

    def with_verdict(self, finding: WatchFinding, outcomes: Sequence[str]) -> WatchFinding:
        """The finding with what it comes to, and since when."""
        differs = self.memory.firsts.get(f"differs {finding.criterion}")
        if differs is not None:
            return replace(finding, verdict="differs", since=day_name(differs[1]))
        within = bool(outcomes) and all(outcome == "pass" for outcome in outcomes)
        verdict: Verdict = "alike" if within else "cannot tell"
        since = self.first(f"verdict {finding.criterion}", verdict)
        return replace(finding, verdict=verdict, since=since)

    def first(self, name: str, outcome: str) -> str | None:
        """The day of the first look from which on something has been so; none without parts."""
        known = self.memory.firsts.get(name)
        if known is None or known[0] != outcome:
            if self.ledger.last is None:
                return None
            known = self.memory.firsts[name] = (outcome, self.ledger.last)
        return day_name(known[1])

    def changes(self) -> Iterator[Change]:
        """What has changed, by each way of looking for it."""
        for question in self.known_questions():
            name, needs = question.name, self.source(question)
            if needs in self.memory.baseline:
                before = self.rates(self.memory.baseline[needs], question)
                yield self._beside(
                    name, before, self.so_far(question), "baseline", "since the baseline"
                )
            recent = self._recent(needs)
            if recent is not None:
                days, earlier, window = recent
                before, now = (self.rates(sums, question) for sums in (earlier, window))
                yield self._beside(name, before, now, "window", f"in the last {days} days")
            for kind in ("apart", "bets"):
                if f"{kind} {name}" in self.ledger.totals:
                    yield self._since_unknown(name, kind)

    def _beside(self, name: str, before: Rates, now: Rates, against: Against, when: str) -> Change:
        weights = self.weights(now.groups)
        return change.beside(name, before, now, weights, self.error, against, when)

    def _recent(self, needs: str) -> tuple[int, Tally, Tally] | None:
        """The days of the last window in whole spans, everything before it, and the window."""
        ledger, spans = self.ledger, sorted(self.ledger.spans.get(needs, {}).items())
        last = ledger.last or 0
        start = last + 1 - self.settings.window
        recent = [(at, sums) for at, sums in spans if at * ledger.width >= start]
        earlier = [sums for at, sums in spans if at * ledger.width < start]
        if not recent or not earlier:
            return None
        window = [sums for _, sums in recent]
        days = last - recent[0][0] * ledger.width + 1
        return days, reduce(added, earlier), reduce(added, window)

    def _since_unknown(self, name: str, kind: str) -> Change:
        """Whether groups have begun to differ: evidence from each span of days on."""
        starts, sums = self.ledger.after(f"{kind} {name}")
        logs = (
            log_bets(sums)
            if kind == "bets"
            else log_apart(excess_of(sums), slack_of(self.ledger.counted))
        )
        starts = [max(start, self.ledger.first or 1) for start in starts]
        groups = self.ledger.totals[f"{kind} {name}"].groups
        return change.since_unknown(
            name, starts, logs, groups, self.weights(groups), self.settings.quiet_days
        )

    def notes(self) -> Iterator[str]:
        """What else one should know."""
        ledger = self.ledger
        if ledger.width > 1:
            yield (
                f"Days are kept in spans of {ledger.width}, so that the state stays small: changes "
                "are dated to these, and single days can no longer be distinguished."
            )
        late = [group for group, day in ledger.since.items() if day != ledger.first]
        if late and not self.settings.groups:
            yield (
                f"{plural(len(late), 'group')} came after the first day. Name all groups when the "
                "watch is made (groups=, or a baseline that has them): then late ones need no more "
                "evidence than others."
            )


def _changes(look: Look) -> tuple[Change, ...]:
    return tuple(look.changes())


def _group_rates(rates: Rates, error: float) -> tuple[GroupRate, ...]:
    low, high = rates.limits
    values = rates.values
    ends = [low + (high - low) * end for end in rate_limits(rates.hits, rates.sizes, error)]
    parts = zip(*(part.ravel().tolist() for part in (values, *ends, rates.sizes)), strict=True)
    names = ((group, cell) for cell in rates.cells for group in rates.groups)
    return tuple(GroupRate(*name, *part) for name, part in zip(names, parts, strict=True))
