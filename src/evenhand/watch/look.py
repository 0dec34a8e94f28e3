"""A look at a watch: findings, bounds and changes, from its memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from evenhand._audit.finding import Obstacle
from evenhand._audit.gate import judge
from evenhand._audit.obstacles import without_value
from evenhand._columns import Label
from evenhand._data.evidence import one_label
from evenhand._data.groups import show
from evenhand._data.tallies import Tally
from evenhand._errors import InputError
from evenhand._kinds import check_names
from evenhand._uncertainty import ConfidenceInterval
from evenhand._words import gap_points, number, plural
from evenhand.criteria.questions import Question
from evenhand.measures import resolve as resolve_measure
from evenhand.watch import change
from evenhand.watch.bands import band_of, rate_limits
from evenhand.watch.clusters import UNIT, log_clusters_differ, rates_of_means
from evenhand.watch.evalues import group_weights
from evenhand.watch.ledger import day_name
from evenhand.watch.memory import Memory
from evenhand.watch.parts import log_differ, slack_of
from evenhand.watch.rates import Rates, is_mean, rates_of, sources_of_cells
from evenhand.watch.status import (
    Against,
    Change,
    GateReading,
    GroupRate,
    LazyIntervals,
    Status,
    Verdict,
    WatchFinding,
)
from evenhand.watch.within import SCORES, Scores, Within, pairs_of, placed, read, scores_of, within

Floats = NDArray[np.float64]
ROUNDING = 1e-12  # of a variance
NOTABLE = 0.01  # of the range, by which a pooled gap differs from that within parts


def status_of(memory: Memory) -> Status:
    """Intervals, evidence, bounds and changes; the first day of each conclusion is recorded."""
    look = Look(memory)
    findings = [look.finding(question) for question in look.counted_questions()]
    changed = {}
    if memory.settings.gates:
        changes = _changes(look)
        changed = {each.criterion: each.sentence for each in changes if each.changed}
        later = partial(tuple, changes)
    else:
        later = partial(_changes, Look(replace(memory, ledger=memory.ledger.copy())))
    watched = [each for finding in findings for each in look.gate_readings(finding, changed)]
    judgements = judge(memory.settings.gates, [*watched, *look.unknown()])
    outcomes: dict[str, list[str]] = {}
    since: dict[str, str | None] = {}
    for judgement in judgements:
        since[str(judgement.gate)] = look.first(str(judgement.gate), judgement.outcome)
        outcomes.setdefault(judgement.gate.criterion, []).append(judgement.outcome)
    findings = [look.with_verdict(each, outcomes.get(each.criterion, ())) for each in findings]
    if memory.history:
        outcomes_now: dict[str, str] = {finding.criterion: finding.verdict for finding in findings}
        outcomes_now |= {str(judgement.gate): judgement.outcome for judgement in judgements}
        memory.history[-1] = [*memory.history[-1][:3], outcomes_now]
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
    """Reader of a watch's memory."""

    def __init__(self, memory: Memory) -> None:
        self.memory, self.settings, self.ledger = memory, memory.settings, memory.ledger
        self._weights: dict[tuple[Label, ...], Floats] = {}
        self._gaps: dict[str, Within] = {}  # of all parts

    @property
    def error(self) -> float:
        """The probability of ever making an error."""
        return 1 - self.settings.confidence

    def question(self, criterion: str) -> Question:
        """The question of a watched criterion, by its name."""
        check_names(criterion=criterion)
        for question in self.settings.questions:
            if question.name == criterion:
                return question
        names = [question.name for question in self.settings.questions]
        raise InputError(f"{criterion!r} is not watched; there are {names}.")

    def counted_questions(self) -> list[Question]:
        """The questions that have counts."""
        return [q for q in self.settings.questions if self.source(q) in self.ledger.totals]

    def source(self, question: Question) -> str:
        """The name of the sums that a criterion's rates are read from."""
        means = f"means {question.name}"
        return means if means in self.ledger.totals else question.criterion.statistic.needs

    def rates(self, source: Tally, question: Question) -> Rates:
        """A criterion's rates from some counts."""
        if "clusters" in source.sums:
            return rates_of_means(source, question, self.settings.limits)
        return rates_of(source, question, self.settings.favorable, self.settings.limits)

    def so_far(self, question: Question) -> Rates:
        """A criterion's rates from all counts."""
        return self.rates(self.ledger.totals[self.source(question)], question)

    def tables(self, question: Question) -> tuple[str, str, str]:
        """The names of the sums that gaps are computed from, those of the rates first."""
        name = question.name
        return self.source(question), f"apart {name}", f"within {name}"

    def gaps(self, question: Question, sums: Mapping[str, Tally] | None = None) -> Within:
        """Groups compared within parts: in all of them, or in those of the sums."""
        if sums is None:
            if question.name not in self._gaps:
                self._gaps[question.name] = self.gaps(question, self.ledger.totals)
            return self._gaps[question.name]
        source, score, information = self.tables(question)
        rates = self.rates(sums[source], question)
        cells = sources_of_cells(question.criterion.statistic, rates.cells)
        scores = read(rates, cells, sums.get(score), sums.get(information))
        pairs, joined = self._pairs(question, rates)
        scores = scores._replace(information=scores.information * joined)
        return within(rates, scores, pairs, self._slack)

    @property
    def _slack(self) -> float:
        """The rounding error of information, also for merged groups."""
        return slack_of(10 * self.ledger.counted)

    def _pairs(self, question: Question, rates: Rates) -> tuple[Floats | None, Floats]:
        """The information on each pair of groups, if it is known for all parts.

        With the share of each group's information that remains after removing comparisons between
        groups that were merged since.
        """
        ones = np.ones(rates.sizes.shape)
        cells = sources_of_cells(question.criterion.statistic, rates.cells)
        pairs = pairs_of(rates, cells, self.ledger.totals.get(f"pairs {question.name}"))
        if pairs is None:
            return None, ones
        totals = self.ledger.totals.get(f"within {question.name}")
        information = read(rates, cells, None, totals).information
        slack = self._slack * len(rates.groups)
        if (np.abs(pairs.sum(axis=-1) - information) > slack + 1e-9 * information).any():
            return None, ones
        joined = np.diagonal(pairs, axis1=1, axis2=2)
        return pairs, 1 - joined / np.maximum(information, slack + 1e-9)

    def weights(self, groups: tuple[Label, ...]) -> Floats:
        """The prior weights of groups."""
        if groups not in self._weights:
            ranks = self.ledger.ranks(groups, self.settings.groups)
            self._weights[groups] = group_weights(ranks)
        return self._weights[groups]

    def evidence(self, question: Question) -> float:
        """The log e-value against equality of all groups so far."""
        totals = self.ledger.totals
        if f"bets {question.name}" in totals:
            bets = totals[f"bets {question.name}"]
            return log_clusters_differ(bets, self.weights(bets.groups))
        if f"apart {question.name}" in totals:
            weights = self.weights(totals[f"apart {question.name}"].groups)
            return log_differ(totals, question, weights, self.ledger.counted)
        return 0.0

    def interval(self, rates: Rates, measure: str) -> ConfidenceInterval:
        """The anytime-valid interval of a measure."""
        resolved, weights = resolve_measure(measure), self.weights(rates.groups)
        band = band_of(rates, resolved.computed, self.error, self.settings.method, weights)
        low, high = resolved.ends(band.low, band.high)
        return replace(band, value=resolved.written(band.value), low=low, high=high)

    def finding(self, question: Question) -> WatchFinding:
        """The finding of a criterion; its verdict is set after the bounds are judged."""
        rates, evidence = self.so_far(question), self.memory.evidence.get(question.name)
        if evidence is None:
            evidence = self.memory.evidence[question.name] = self.evidence(question)
        self.weights(rates.groups)  # fix them now, for intervals that are computed later
        peak = max(self.memory.peaks.get(question.name, 0.0), evidence)
        return WatchFinding(
            question.name,
            "cannot tell",
            None,
            LazyIntervals(partial(self.interval, self.gaps(question).rates), question.measures),
            float(np.exp(min(evidence, 690.0))),
            float(np.exp(-max(peak, 0.0))),
            self._rows(question, rates),
            int((rates.sizes > 0).any(axis=0).sum()),
            partial(_group_rates, rates, self.error),
        )

    def _rows(self, question: Question, rates: Rates) -> int:
        """The number of rows; classes share the same rows."""
        rows = self.ledger.totals[self.source(question)]
        if rates.effective is None:
            return int(rows.table("group", of="rows").sum())
        first = np.unique(rates.strata, return_index=True)[1]
        return int(rows.table("cell", "group", of="rows")[first].sum())

    def gate_readings(
        self, finding: WatchFinding, changed: Mapping[str, str]
    ) -> Iterator[GateReading]:
        """A finding in the form that gates read; no bound passes while there is an obstacle."""
        question = self.question(finding.criterion)
        why = self._in_the_way(question, changed.get(question.name))
        obstacle = None if why is None else Obstacle(why, is_error=False)
        groups = finding.groups
        bounds = self.settings.limits.get(question.name, question.criterion.statistic.bounds)
        gated = [gate.measure for gate in self.settings.gates if gate.criterion == question.name]
        for measure in dict.fromkeys(gated):
            interval = finding.intervals[measure]
            greatest = resolve_measure(measure).greatest(bounds, None, max(groups, 2))
            yield GateReading(
                finding.criterion, measure, interval.low, interval.high, greatest, groups, obstacle
            )

    def _in_the_way(self, question: Question, changed: str | None) -> str | None:
        """The reason why no bound can pass, as in an audit, or because gaps have changed."""
        same = one_label(self.memory.counted_classes, question.criterion.statistic.needs)
        if same is None and is_mean(question):
            same = self._same_amount(question)
        if same is not None:
            return same
        absent = self._absent(question)
        if absent:
            return without_value(absent)
        unlinked = self.gaps(question).unlinked
        if unlinked:
            first, second = (show(group) for group in unlinked[0])
            return (
                f"as no part compares {first} with {second}, and a bound is about groups within "
                "the same parts; count parts that have both"
            )
        if changed is not None:
            return (
                f"as all rows so far are not about now. {changed.rstrip('.')}; start a new watch "
                "from then on"
            )
        return None

    def _same_amount(self, question: Question) -> str | None:
        """Why there is nothing to compare, if all rows have the same amount; else None."""
        sums, statistic = (
            self.ledger.totals[self.source(question)].sums,
            question.criterion.statistic,
        )
        amount = statistic.mean_of or ""
        if f"{amount}²" not in sums:
            return None
        rows, total, squares = (float(sums[name].sum()) for name in ("rows", amount, f"{amount}²"))
        if rows * squares - total**2 > ROUNDING * rows * squares:
            return None
        return f"every row has the amount {total / rows:g}, so there is nothing to compare"

    def _absent(self, question: Question) -> list[str]:
        """Groups with rows but without a rate, with their cells, as in an audit."""
        rates, source = self.so_far(question), self.ledger.totals[self.source(question)]
        source = self.ledger.totals.get("classes yhat", source)
        rows = dict(zip(source.groups, source.table("group", of="rows"), strict=True))
        with_rows = [i for i, group in enumerate(rates.groups) if rows.get(group, 0) > 0]
        sizes = rates.sizes[:, with_rows]
        if question.criterion.kind.is_sparse:
            none = np.flatnonzero(~(sizes > 0).any(axis=0))
            return [show(rates.groups[with_rows[i]]) for i in none]
        gaps = np.argwhere((sizes == 0) & (sizes > 0).any(axis=1, keepdims=True))
        return [f"{show(rates.groups[with_rows[j]])} at {show(rates.cells[i])}" for i, j in gaps]

    def unknown(self) -> Iterator[GateReading]:
        """Gate readings of criteria without counts, whose bounds cannot pass."""
        counted = {question.name for question in self.counted_questions()}
        why = "as nothing was counted that tells of it yet"
        for gate in self.settings.gates:
            if gate.criterion not in counted:
                farthest = 0.0 if resolve_measure(gate.measure).falls else np.inf
                obstacle = Obstacle(why, is_error=False)
                ends = (np.nan, np.nan, farthest)
                yield GateReading(gate.criterion, gate.measure, *ends, 0, obstacle)

    def with_verdict(self, finding: WatchFinding, outcomes: Sequence[str]) -> WatchFinding:
        """The finding with its verdict and the verdict's first day."""
        differs = self.memory.firsts.get(f"differs {finding.criterion}")
        if differs is not None:
            return replace(finding, verdict="differs", since=day_name(differs[1]))
        within = bool(outcomes) and all(outcome == "pass" for outcome in outcomes)
        verdict: Verdict = "alike" if within else "cannot tell"
        since = self.first(f"verdict {finding.criterion}", verdict)
        return replace(finding, verdict=verdict, since=since)

    def first(self, name: str, outcome: str) -> str | None:
        """The day since when an outcome has held at every look; None without parts."""
        previous = self.memory.firsts.get(name)
        if previous is None or previous[0] != outcome:
            if self.ledger.last is None:
                return None
            previous = self.memory.firsts[name] = (outcome, self.ledger.last)
        return day_name(previous[1])

    def changes(self) -> Iterator[Change]:
        """Changes against the baseline, the last window and any time."""
        for question in self.counted_questions():
            name = question.name
            if f"apart {name}" not in self.ledger.totals:
                continue
            rates = self.so_far(question)
            now = self._scores(question, rates)
            baseline = self.memory.baseline.get(self.source(question))
            if baseline is not None:
                before = self._at_release(self.rates(baseline, question), rates)
                yield self._compared(question, rates, before, now, "baseline", "since the baseline")
            starts, after = self._after(question, rates)
            recent = self._recent(starts)
            if recent is not None:
                days, place = recent
                window = after.each(itemgetter(place))
                earlier = now - window
                when = f"in the last {days} days"
                yield self._compared(question, rates, earlier, window, "window", when)
            shift = self._shift(question, rates, now - after, after)
            starts = [max(start, self.ledger.first or 1) for start in starts]
            yield change.since_unknown(
                name, starts, shift, rates.groups, self.weights(rates.groups),
                self.settings.quiet_days,
            )  # fmt: skip

    def _scores(self, question: Question, rates: Rates) -> Scores:
        """The sums over all parts that gaps are computed from."""
        totals, (_, score, information) = self.ledger.totals, self.tables(question)
        cells = sources_of_cells(question.criterion.statistic, rates.cells)
        scores = read(rates, cells, totals[score], totals[information])
        return scores._replace(information=scores.information * self._pairs(question, rates)[1])

    def _at_release(self, baseline: Rates, rates: Rates) -> Scores:
        """The same sums of the baseline, which is a part of its own."""
        labels = baseline.cells, baseline.groups
        return scores_of(baseline).each(
            lambda part: placed(part, labels, rates.cells, rates.groups)
        )

    def _after(self, question: Question, rates: Rates) -> tuple[list[int], Scores]:
        """The first day of each span, and the sums (spans, cells, groups) from it on."""
        cells = sources_of_cells(question.criterion.statistic, rates.cells)
        _, score, information = self.tables(question)
        starts, sums = self.ledger.after(information)
        joined = self._pairs(question, rates)[1]
        total = self.ledger.totals[information]
        information_sums = placed(
            sums["information"] / UNIT, (total.labels("cell"), total.groups), cells, rates.groups
        )
        total = self.ledger.totals[score]
        score_starts, sums = self.ledger.after(score)
        # A span in which nobody had a class has no sums of it: those of the next are the same.
        place = [sum(each >= start for each in score_starts) for start in starts]
        parts = []
        for name in SCORES:
            table = placed(
                sums[name] / UNIT, (total.labels("cell"), total.groups), rates.cells, rates.groups
            )
            parts.append(np.concatenate([np.zeros((1, *table.shape[1:])), table])[place])
        return starts, Scores(*[*parts, information_sums * joined])

    def _shift(self, question: Question, rates: Rates, before: Scores, after: Scores) -> Floats:
        """Log e-values (…, cells, groups) of a change of gaps."""
        pairs, _ = self._pairs(question, rates)
        spread = np.ones(rates.sizes.shape)
        if rates.effective is not None:
            spread = rates.sizes / np.maximum(rates.effective, 1e-9)
            spread = np.where(rates.sizes > 0, spread, 0.0)
            spread = np.maximum(spread, np.median(spread, axis=-1, keepdims=True))
        return change.log_shifted(rates, before, after, pairs, spread)

    def _compared(
        self,
        question: Question,
        rates: Rates,
        before: Scores,
        now: Scores,
        against: Against,
        when: str,
    ) -> Change:
        logs = self._shift(question, rates, before, now)
        return change.compare_gaps(
            question.name, rates, logs, before, now, self.weights(rates.groups), self.error,
            against, when,
        )  # fmt: skip

    def _recent(self, starts: Sequence[int]) -> tuple[int, int] | None:
        """The days of the last window in whole spans, and its first span; None if it is all."""
        last = self.ledger.last or 0
        recent = [
            place for place, start in enumerate(starts) if start >= last + 1 - self.settings.window
        ]
        if not recent or len(recent) == len(starts):
            return None
        return last - starts[recent[-1]] + 1, recent[-1]

    def notes(self) -> Iterator[str]:
        """Further notes for the reader."""
        ledger = self.ledger
        if ledger.width > 1:
            yield (
                f"Days are kept in spans of {ledger.width}, so that the state stays small: changes "
                "are dated to these, and single days can no longer be distinguished."
            )
        yield from filter(None, map(self._pooled_note, self.counted_questions()))
        late = [group for group, day in ledger.since.items() if day != ledger.first]
        if late and not self.settings.groups:
            yield (
                f"{plural(len(late), 'group')} came after the first day. Name all groups when the "
                "watch is made (groups=, or a baseline that has them): then late ones need no more "
                "evidence than others."
            )

    def _pooled_note(self, question: Question) -> str | None:
        """A note on pooled gaps that differ from those within parts, if they do."""
        if f"apart {question.name}" not in self.ledger.totals:
            return None
        pooled, compared = self.so_far(question), self.gaps(question).rates
        low, high = pooled.limits
        gaps = [(high - low) * _widest(rates) for rates in (pooled, compared)]
        if not abs(gaps[0] - gaps[1]) >= NOTABLE * (high - low):
            return None
        pooled_gap, within_gap = (
            gap_points(gap) if (low, high) == (0, 1) else number(gap) for gap in gaps
        )
        return (
            f"{question.name}: over all parts together the largest gap between groups is "
            f"{pooled_gap}; within parts it is {within_gap}. The mix of groups, or the overall "
            "rate, differs from part to part; values, intervals and bounds are about gaps within "
            "parts."
        )


def _widest(rates: Rates) -> float:
    """The largest gap of any cell, as a share of the range."""
    gaps = [
        float(np.ptp(hits[sizes > 0] / sizes[sizes > 0]))
        for hits, sizes in zip(rates.hits, rates.sizes, strict=True)
        if (sizes > 0).any()
    ]
    return max(gaps, default=0.0)


def _changes(look: Look) -> tuple[Change, ...]:
    return tuple(look.changes())


def _group_rates(rates: Rates, error: float) -> tuple[GroupRate, ...]:
    low, high = rates.limits
    values = rates.values
    ends = [low + (high - low) * end for end in rate_limits(rates.hits, rates.sizes, error)]
    parts = zip(*(part.ravel().tolist() for part in (values, *ends, rates.sizes)), strict=True)
    names = ((group, cell) for cell in rates.cells for group in rates.groups)
    return tuple(GroupRate(*name, *part) for name, part in zip(names, parts, strict=True))
