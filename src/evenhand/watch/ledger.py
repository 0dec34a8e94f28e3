"""The counts of a watch by day, in ever wider spans, and the parts that were counted.

All sums are additive, and the rest (which days share a span) is a function of the days and labels.
So it does not depend on the order of the parts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._data.groups import show
from evenhand._data.tallies import Tally, gathered
from evenhand._errors import InputError

NUMBERS = 18_000  # the most numbers in the spans of all days together
MOST_SPANS, FEWEST_SPANS = 120, 2
MOST_NUMBERS = 1 << 22  # in all tables of a watch, whatever its labels
MOST_PAIRS = 1 << 12  # numbers of a table of pairs of groups: those of 64 groups
MOST_ROWS = 10**13  # sums of these in hundred-thousandths still fit into 64 bits
DIGITS = 8  # of a hash
ALL_DAYS = -1  # the span of sums that are stored for all days together


@dataclass
class Ledger:
    """Tallies by name and span of days, and the parts that they consist of."""

    width: int = 1
    first: int | None = None
    last: int | None = None
    parts: dict[str, tuple[int, str]] = field(default_factory=dict)
    closed: int | None = None
    counted: int = 0
    since: dict[Label, int] = field(default_factory=dict)
    spans: dict[str, dict[int, Tally]] = field(default_factory=dict)
    totals: dict[str, Tally] = field(default_factory=dict)

    def copy(self) -> Ledger:
        """A copy that later additions do not change."""
        spans = {name: dict(sums) for name, sums in self.spans.items()}
        totals, since, parts = dict(self.totals), dict(self.since), dict(self.parts)
        return replace(self, spans=spans, totals=totals, since=since, parts=parts)

    def new_name(self) -> str:
        """An unused name for a part."""
        number = self.counted + 1
        while _short(f"part {number}") in self.parts:
            number += 1
        return f"part {number}"

    def knows(self, part: str, day: int, counts: Tally, late: bool) -> bool:
        """Whether a part was counted; refuse the same name with other counts."""
        counted = self.parts.get(_short(part))
        if counted is not None and not late and counted[1] == fingerprint(counts, late=True):
            raise InputError(
                f"The part {part!r} was counted as late: its decisions are of a part that came "
                "before. If they were never counted, give them a name of their own."
            )
        if counted is not None and counted[1] not in {
            fingerprint(counts),
            fingerprint(counts, late=late),
        }:
            raise InputError(
                f"The part {part!r} was counted before with other numbers. To replace it, pass "
                "both: watch.correct(part, old, new), or evenhand watch append NEW --part PART "
                "--correct OLD."
            )
        if counted is None and self.closed is not None and day <= self.closed:
            raise InputError(
                f"The part {part!r} is of {day_name(day)}, and parts up to "
                f"{day_name(self.closed)} are closed: whether it was counted is no longer known. "
                "Make the watch with a greater remember=."
            )
        return counted is not None

    def note(self, part: str, day: int, counts: Tally, late: bool, remember: int) -> None:
        """Record a part, and forget the parts of the oldest days if there are too many."""
        self.parts[_short(part)] = (day, fingerprint(counts, late=late))
        self.counted += 1
        self.first = day if self.first is None else min(self.first, day)
        self.last = day if self.last is None else max(self.last, day)
        while len(self.parts) > remember:
            self.closed = min(when for when, _ in self.parts.values())
            self.parts = {k: v for k, v in self.parts.items() if v[0] > self.closed}

    def meet(self, counts: Tally, day: int) -> None:
        """Record the first day of each group."""
        for place in np.flatnonzero(counts.table("group", of="rows")):
            group = counts.groups[place]
            self.since[group] = min(self.since.get(group, day), day)

    def replace(self, part: str, old: Tally, new: Tally, late: bool) -> int:
        """Record corrected counts of a part, and return its day."""
        counted = self.parts.get(_short(part))
        if counted is None:
            raise InputError(
                f"The part {part!r} was not counted, or so long ago that it is closed."
            )
        if counted[1] == fingerprint(old, late=not late):
            raise InputError(
                f"The part {part!r} was {'not ' if late else ''}counted as late; correct it as it "
                f"was counted, {'without' if late else 'with'} late=True."
            )
        if counted[1] != fingerprint(old, late=late):
            raise InputError(
                f"These are not the numbers that part {part!r} was counted with, so they cannot be "
                "taken out. Pass the counts that were appended then as old."
            )
        self.parts[_short(part)] = (counted[0], fingerprint(new, late=late))
        return counted[0]

    def add(self, name: str, day: int, sums: Tally) -> None:
        """Add sums to the span of a day, or to those of all days."""
        spans = self.spans.setdefault(name, {})
        span = day if day == ALL_DAYS else day // self.width
        sums = dense(sums)
        spans[span] = added(spans[span], sums) if span in spans else sums
        self.totals[name] = added(self.totals[name], sums) if name in self.totals else sums

    def fit(self) -> None:
        """Double the width of spans until they are few enough."""
        for name in [name for name in self.totals if name.startswith("pairs ")]:
            if _numbers(self.totals[name]) > MOST_PAIRS:
                del self.totals[name], self.spans[name]
        while self.first is not None and self.last is not None:
            if self.last // self.width - self.first // self.width < self.most_spans:
                check_size(
                    len(self.spans[name]) * _numbers(sums) for name, sums in self.totals.items()
                )
                for sums in self.totals.values():
                    check_total(sums)
                return
            self.width *= 2
            for name, spans in self.spans.items():
                merged: dict[int, Tally] = {}
                for span, sums in sorted(spans.items()):
                    to = span if span == ALL_DAYS else span // 2
                    merged[to] = added(merged[to], sums) if to in merged else sums
                self.spans[name] = merged

    def total_up(self) -> None:
        """Compute the totals of spans that were read from a file."""
        for name, spans in self.spans.items():
            for sums in spans.values():
                total = self.totals.get(name)
                self.totals[name] = sums if total is None else added(total, sums)

    @property
    def most_spans(self) -> int:
        """The largest number of spans."""
        fixed, daily = 0, 1
        for name, sums in self.totals.items():
            numbers = 0 if name.startswith("pairs ") else _numbers(sums)
            fixed, daily = (
                (fixed + numbers, daily)
                if ALL_DAYS in self.spans[name]
                else (fixed, daily + numbers)
            )
        return int(np.clip((NUMBERS - fixed) // daily, FEWEST_SPANS, MOST_SPANS))

    def after(self, name: str) -> tuple[list[int], dict[str, NDArray[np.int64]]]:
        """The first day of each span, and the sums (spans, …) from it on; the latest first."""
        total, spans = self.totals[name], sorted(self.spans[name].items(), reverse=True)
        none = negative(total)
        tallies = [
            sums if sums.axes == total.axes else added(added(sums, total), none)
            for _, sums in spans
        ]
        shape = tuple(axis.size for axis in total.axes)
        sums = {
            part: np.cumsum([tally.sums[part] for tally in tallies], axis=0).reshape(-1, *shape)
            for part in total.sums
        }
        return [span * self.width for span, _ in spans], sums

    def until(self, *names: str) -> Iterator[tuple[int, dict[str, Tally]]]:
        """The last day of each span of the first name, and all sums up to it by name."""
        totals: dict[str, Tally] = {}
        for span in sorted(self.spans.get(names[0], {})):
            for name in names:
                sums = self.spans.get(name, {}).get(span)
                if sums is not None:
                    totals[name] = added(totals[name], sums) if name in totals else sums
            yield min((span + 1) * self.width - 1, self.last or 0), dict(totals)

    def ranks(self, groups: tuple[Label, ...], declared: tuple[Label, ...]) -> NDArray[np.intp]:
        """The order in which groups appeared: 0 if declared or initial, else 1, 2 and so on."""
        expected = {*declared} or {g for g, day in self.since.items() if day == self.first}
        late = sorted((g for g in groups if g not in expected), key=lambda g: self.since.get(g, 0))
        place = {group: rank for rank, group in enumerate(late, 1)}
        return np.array([place.get(group, 0) for group in groups], dtype=np.intp)

    def rename(self, names: Mapping[Label, Label]) -> None:
        """Rename groups from now on."""
        self._refuse_to_join(names)
        for name, spans in self.spans.items():
            self.spans[name] = {at: renamed(sums, names) for at, sums in spans.items()}
            self.totals[name] = renamed(self.totals[name], names)
        since: dict[Label, int] = {}
        for group, day in self.since.items():
            new = names.get(group, group)
            since[new] = min(day, since.get(new, day))
        self.since = since

    def _refuse_to_join(self, names: Mapping[Label, Label]) -> None:
        """Refuse to merge groups with clusters: their bets are dependent and cannot be combined."""
        for name, spans in self.spans.items():
            for sums in spans.values() if name.startswith("means ") else ():
                is_present = sums.table("group", of="clusters") > 0
                new = [
                    names.get(g, g)
                    for g, is_there in zip(sums.groups, is_present, strict=True)
                    if is_there
                ]
                if len(set(new)) < len(new):
                    raise InputError(
                        f"{show(max(new, key=new.count))} would join groups that were there on the "
                        "same days, of which evidence with cluster= was kept apart: begin a new "
                        "state, and count under the new name."
                    )


def check_size(numbers: Iterable[int]) -> None:
    """Refuse tables that are too large to be stored, before memory is allocated."""
    total = sum(numbers)
    if total > MOST_NUMBERS:
        raise InputError(
            f"This many labels and groups make {total:,} numbers to keep; a watch keeps "
            f"{MOST_NUMBERS:,} at most. Watch fewer classes, or merge rare groups before counting."
        )


def check_total(counts: Tally) -> None:
    """Refuse more rows than can be added up."""
    if "rows" in counts.sums and counts.sums["rows"].sum() > MOST_ROWS:
        raise InputError(f"A watch counts {MOST_ROWS:,} rows at most.")


def _numbers(sums: Tally) -> int:
    return prod(axis.size for axis in sums.axes) * len(sums.sums)


def dense(sums: Tally) -> Tally:
    """The same tally with every cell, in order, so that tallies of the same labels line up."""
    check_size([_numbers(sums)])
    shape = tuple(axis.size for axis in sums.axes)
    number = prod(shape)
    if sums.cells.shape[1] == number:
        return sums
    flat = np.ravel_multi_index(tuple(sums.cells), shape)
    filled = {name: np.zeros(number, values.dtype) for name, values in sums.sums.items()}
    for name, values in sums.sums.items():
        filled[name][flat] = values
    cells = np.array(np.unravel_index(np.arange(number), shape), dtype=np.intp)
    return replace(sums, cells=cells, sums=filled)


def added(left: Tally, right: Tally) -> Tally:
    """The sum of two dense tallies; quickly where their labels are the same."""
    if left.axes == right.axes and left.sums.keys() == right.sums.keys():
        return replace(left, sums={name: left.sums[name] + right.sums[name] for name in left.sums})
    return dense(left + right)


def renamed(counts: Tally, names: Mapping[Label, Label]) -> Tally:
    """The same counts with groups renamed; groups with the same new name are added up."""
    from evenhand._columns.codes import positions, union

    new = [names.get(group, group) for group in counts.groups]
    if new == list(counts.groups):
        return counts
    labels = union(new)
    to = positions(new, labels)
    regrouped = counts.regrouped(to, labels)
    peers = [place for place, axis in enumerate(regrouped.axes) if axis.name == "peer"]
    if peers:
        cells, axes = regrouped.cells.copy(), list(regrouped.axes)
        cells[peers[0]] = to[cells[peers[0]]]
        axes[peers[0]] = replace(axes[peers[0]], labels=labels)
        regrouped = gathered(tuple(axes), cells, regrouped.sums, ())
    return regrouped if regrouped.clusters else dense(regrouped)


def negative(counts: Tally) -> Tally:
    """The negative counts, which remove these from a sum."""
    return replace(counts, sums={name: -values for name, values in counts.sums.items()})


def fingerprint(counts: Tally, *, late: bool = False) -> str:
    """A hash of counts, whatever the order of their cells; a different one if they are late."""
    ordered = gathered(counts.axes, counts.cells, counts.sums, ())
    axes = [[axis.name, [show(label) for label in axis.labels]] for axis in ordered.axes]
    digest = hashlib.sha256(json.dumps(["late", axes] if late else axes).encode())
    digest.update(np.ascontiguousarray(ordered.cells, dtype=np.int64).tobytes())
    for name, values in sorted(ordered.sums.items()):
        digest.update(name.encode())
        rounded = np.rint(values)
        are_whole = bool((rounded == values).all())
        texts = [] if are_whole else [f"{value:.9g}" for value in values]
        digest.update(json.dumps(texts).encode() if texts else rounded.astype("<i8").tobytes())
    return digest.hexdigest()[:DIGITS]


def day_name(day: int) -> str:
    """The ISO date of a day number.

    >>> day_name(738_000)
    '2021-07-29'
    """
    from datetime import date

    return date.fromordinal(day).isoformat()


def _short(part: str) -> str:
    return hashlib.sha256(part.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]
