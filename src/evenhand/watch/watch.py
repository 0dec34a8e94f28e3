"""A watch of a deployed model: counts come in, and every look is valid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import numpy as np

from evenhand._audit.gate import FailIf, gates_of, with_gates
from evenhand._columns import Label
from evenhand._columns.encoding import finite
from evenhand._data.data import Data
from evenhand._data.doors import about_data
from evenhand._data.groups import show
from evenhand._data.tallies import Tally
from evenhand._errors import InputError, InputTypeError
from evenhand._kinds import check_kinds, check_labels
from evenhand._result import Columns, Result
from evenhand._signatures import suggests_names
from evenhand._uncertainty.interval import ConfidenceInterval, Method
from evenhand._words import plural
from evenhand._writing import path_of, written
from evenhand.criteria.questions import Criteria, questions_of
from evenhand.watch.document import document_of, openmetrics
from evenhand.watch.labels import aligned, as_before, check_classes, widened
from evenhand.watch.ledger import ALL_DAYS, day_name, negative, renamed
from evenhand.watch.look import Look, status_of
from evenhand.watch.memory import Memory, Settings, check_settings
from evenhand.watch.parts import baseline_of, check_counts, entries_of
from evenhand.watch.rates import Limits, check_watchable
from evenhand.watch.status import Status
from evenhand.watch.storage import is_origin, load, locked, save

Day = str | date | datetime | None

MEASURES = ("mpd", "gini", "pq")
HISTORY = 40  # rows of history
NOT_WATCHED = ("replicate_weights", "replicate_method")


class Watch(Result):
    """Watch criteria day by day; every look is valid, however often you look.

    Feed it the counts of each part, a day's or a batch's, and ask for its status. Intervals cover
    the true values simultaneously at all looks, and equal groups are ever said to differ with a
    probability of at most 1 − `confidence`.

    Parameters
    ----------
    criteria : str, Criterion or sequence of these
        The criteria to watch: of rates, such as "statistical_parity" or "equal_opportunity", or of
        means with stated `limits`.
    fail_if : str, sequence of str, or mapping of str to float, optional
        Bounds, as for `audit`: "statistical_parity.mpd > 0.1", or {"statistical_parity.mpd": 0.1},
        the most that is tolerated; for a ratio, the least.
    measures : sequence of str, default ("mpd", "gini", "pq")
        The measures of inequality.
    confidence : float, default 0.95
        The confidence of each criterion's intervals, simultaneously at all looks, and of its
        verdict.
    method : {"calibrated", "guaranteed"}, default "calibrated"
        The method of intervals: by a limit theorem, 1.1 to 2 times as wide as those of a single
        look; or proved for any number of rows, and wide.
    favorable : label, optional
        The label of the better outcome for people.
    groups : sequence of labels, optional
        The expected groups; by default those of the baseline, else of the first day. Others may
        appear later, and need a little more evidence.
    baseline : Tally, optional
        Counts to compare with, such as those of the audit at release.
    limits : mapping of str to pair of floats, optional
        The least and greatest possible value of each watched mean.
    window : int, default 28
        The number of days in the last window, which is compared with the time before.
    quiet_days : float, default 3650
        The average number of days until a false alarm of a change at an unknown time, at least.
    remember : int, default 500
        The number of parts that are remembered as counted.

    See Also
    --------
    audit : A single look at more criteria.

    Notes
    -----
    Groups are compared within parts: values, intervals and bounds are of the gap in a regression
    with a level for each part, for two groups the Mantel-Haenszel difference. A drifting mix of
    groups or overall rate does not move it, and a part with a single group is uninformative. With
    one part, or the same mix in all parts, it is the gap of the pooled rates. A change is a gap
    that differs from the past one. In counts with `cluster=`, a cluster of a part counts once, by
    its share of hits; it must not occur again in a later part. Weighted counts are refused.
    "docs/explanation/watch.md" has the proofs. Each criterion has its own error: among ten watched
    criteria, the probability of some error is larger.

    References
    ----------
    Robbins (1970), Annals of Mathematical Statistics 41; Howard, Ramdas, McAuliffe and Sekhon
    (2021), Annals of Statistics 49; Shin, Ramdas and Rinaldo (2022), arXiv:2203.03532.

    Examples
    --------
    >>> import evenhand as eh
    >>> watch = eh.Watch("statistical_parity", fail_if={"statistical_parity.mpd": 0.2}, favorable=1)
    >>> for day in range(1, 29):
    ...     counts = eh.tally(
    ...         None,
    ...         [1] * 20 + [0] * 30 + [1] * 30 + [0] * 20,
    ...         sensitive_features=["a"] * 50 + ["b"] * 50,
    ...     )
    ...     counted = watch.update(counts, part=f"day {day}", at=f"2026-02-{day:02}")
    >>> finding = watch.status().findings[0]
    >>> finding.criterion, finding.verdict, finding.since
    ('statistical_parity', 'differs', '2026-02-03')
    >>> interval = finding.intervals["mpd"]
    >>> print(f"{interval.low:.2f} {interval.value:.2f} {interval.high:.2f}")
    0.14 0.20 0.26

    """

    @suggests_names
    def __init__(
        self,
        criteria: Criteria,
        *,
        fail_if: FailIf | None = None,
        measures: str | Sequence[str] = MEASURES,
        confidence: float = 0.95,
        method: Method = "calibrated",
        favorable: Label = None,
        groups: Sequence[Label] | None = None,
        baseline: Tally | None = None,
        limits: Limits | None = None,
        window: int = 28,
        quiet_days: float = 3650.0,
        remember: int = 500,
    ) -> None:
        if criteria is None:
            raise InputTypeError("Name the criteria to watch, such as 'statistical_parity'.")
        check_kinds(criteria=criteria, measures=measures, limits=limits)
        check_settings(confidence, method, favorable, window, quiet_days, remember)
        if not isinstance(baseline, Tally | None):
            raise InputTypeError(f"baseline is a Tally, not {type(baseline).__name__}.")
        gates = gates_of(fail_if)
        questions = with_gates(questions_of(criteria, measures), gates)
        ranges = {name: _range(name, ends) for name, ends in (limits or {}).items()}
        for question in questions:
            check_watchable(question, ranges, method)
        if groups is None and baseline is not None:
            groups = baseline.groups
        settings = Settings(
            tuple(questions), tuple(gates), float(confidence), method, favorable,
            _declared(groups), ranges, int(window), float(quiet_days), int(remember),
        )  # fmt: skip
        before = {}
        if baseline is not None:
            check_classes(baseline, {}, favorable)
            if baseline.clusters:
                baseline = widened(baseline, (), favorable)
            before = baseline_of(baseline, questions, favorable, ranges)
        self._memory = Memory(settings, baseline=before)

    @property
    def groups(self) -> tuple[Label, ...]:
        """The groups counted so far, in the order of their first day, then other expected ones."""
        since = self._memory.ledger.since
        in_order = sorted(since, key=lambda group: (since[group], show(group)))
        return tuple(dict.fromkeys([*in_order, *self._memory.settings.groups]))

    @property
    def history(self) -> tuple[tuple[Any, ...], ...]:
        """The last parts: name, day, rows, and the outcome of every bound and criterion then."""
        return tuple(tuple(row) for row in self._memory.history)

    @about_data(without=NOT_WATCHED)
    def update(
        self, data: Data, *, part: str | None = None, at: Day = None, late: bool = False
    ) -> bool:
        """Count a part: a day's decisions, or the true outcomes that have become known since.

        Parameters
        ----------
        {data}
        part : str, optional
            Its name; each part is counted once. By default a new one.
        at : str, date or datetime, optional
            Its day, such as "2026-03-01"; by default today (UTC). Parts may come in any order.
        late : bool, default False
            Whether the decisions were counted before, and only the truth is new: then nothing is
            added to criteria that do not need it.

        Returns
        -------
        bool
            Whether it was counted; False if a part with the same name and counts was already.

        Raises
        ------
        InputError
            If a part of that name was counted with other numbers, or the counts cannot be used.

        """
        check_kinds(late=late)
        memory, day = self._memory.copy(), _day(at)
        name = memory.ledger.new_name() if part is None else str(part)
        counts = _prepared(memory, data.tally())
        if memory.ledger.knows(name, day, counts, late):
            return False
        check_classes(counts, memory.classes, memory.settings.favorable)
        memory.ledger.note(name, day, counts, late, memory.settings.remember)
        _add(memory, counts, day, late)
        _look_at(memory, day)
        memory.history = [*memory.history, _row(name, day, counts)][-HISTORY:]
        self._memory = memory
        return True

    @suggests_names
    def correct(self, part: str, old: Tally, new: Tally, *, late: bool = False) -> None:
        """Replace a part by a corrected one.

        Parameters
        ----------
        part : str
            Its name.
        old, new : Tally
            The counts that were appended, which are removed, and those to count in their place.
        late : bool, default False
            Whether it was appended as late.

        Raises
        ------
        InputError
            If the part is unknown, or `old` is not what was appended.

        """
        check_kinds(late=late)
        memory = self._memory.copy()
        old, new = _prepared(memory, old), _prepared(memory, new)
        day = memory.ledger.replace(str(part), old, new, late)
        _add(memory, old, day, late, sign=-1)
        check_classes(new, memory.classes, memory.settings.favorable)
        _add(memory, new, day, late)
        _look_at(memory, day)
        memory.history = [*memory.history, _row(f"{part} (corrected)", day, new)][-HISTORY:]
        self._memory = memory

    @suggests_names
    def rename(self, names: Mapping[Label, Label]) -> None:
        """Rename groups, in past and future counts.

        Parameters
        ----------
        names : mapping of label to label
            The new name by the old one. Two names of one group are added up.

        """
        if not isinstance(names, Mapping):
            raise InputTypeError(f"names is a mapping of old names to new ones, not {names!r}.")
        for name in (*names, *names.values()):
            check_labels(names=name)
        memory = self._memory.copy()
        names = dict(
            zip(
                *(
                    as_before(group_names, memory.spellings["group"])
                    for group_names in (tuple(names), tuple(names.values()))
                ),
                strict=True,
            )
        )
        before = {old: names.get(new, new) for old, new in memory.names.items()}
        memory.names = names | before  # an old name in parts may have become another group's name
        memory.evidence.clear()
        memory.ledger.rename(names)
        memory.baseline = {key: renamed(sums, names) for key, sums in memory.baseline.items()}
        declared = (names.get(group, group) for group in memory.settings.groups)
        memory.settings = memory.settings._replace(groups=tuple(dict.fromkeys(declared)))
        self._memory = memory

    def status(self) -> Status:
        """The status so far: intervals, evidence, bounds and changes, valid however often you look.

        Returns
        -------
        Status
            The findings, the outcomes of the bounds, and what has changed.

        """
        return status_of(self._memory)

    @suggests_names
    def timeline(
        self, criterion: str, measure: str = "mpd"
    ) -> list[tuple[str, ConfidenceInterval]]:
        """The interval at the end of each span of days, valid at all of them at once.

        Parameters
        ----------
        criterion : str
            One of those watched.
        measure : str, default "mpd"
            The measure.

        Returns
        -------
        list of (str, ConfidenceInterval)
            The last day of each span, and the interval then.

        """
        look = Look(self._memory)
        question = look.question(criterion)
        return [
            (day_name(day), look.interval(look.gaps(question, sums).rates, measure))
            for day, sums in self._memory.ledger.until(*look.tables(question))
        ]

    def save(self, path: str | Path) -> None:
        """Write the state, a small JSON file, atomically.

        Parameters
        ----------
        path : str or Path
            The file to write.

        Raises
        ------
        InputError
            If another process has written the state that this one was read from.

        """
        path = path_of(path)
        with locked(path) if is_origin(self._memory, path) else nullcontext():
            save(self._memory, path)

    @classmethod
    def load(cls, path: str | Path) -> Watch:
        """Read a state that was saved.

        Parameters
        ----------
        path : str or Path
            The file to read.

        Returns
        -------
        Watch
            The watch in the state that was saved.

        """
        watch = cls.__new__(cls)
        watch._memory = load(path_of(path))
        return watch

    @property
    def summary(self) -> str:
        """The main results so far, in sentences."""
        return self.status().summary

    def document(self) -> dict[str, Any]:
        """The status, and every criterion and group over time, as plain JSON values.

        Returns
        -------
        dict
            By the schema "evenhand.watch-report/1".

        """
        return document_of(self._memory)

    @property
    def _tables(self) -> Sequence[str]:
        return self.status()._tables

    def _table(self, name: str) -> Columns:
        return self.status()._table(name)

    def to_openmetrics(self, path: str | Path | None = None) -> str:
        """The status as OpenMetrics text, for a scraper.

        Parameters
        ----------
        path : str or Path, optional
            The file to write.

        Returns
        -------
        str
            Values, limits and verdicts, by criterion and measure.

        """
        return written(openmetrics(self.status()), path)

    def __repr__(self) -> str:
        names = ", ".join(question.name for question in self._memory.settings.questions)
        return f"<Watch of {names}: {plural(self._memory.ledger.counted, 'part')}>"


def _prepared(memory: Memory, counts: Tally) -> Tally:
    """Counts that can be added up, with labels in their earlier spelling."""
    check_counts(counts, memory.settings.questions)
    names = {*memory.ledger.totals, *memory.baseline}
    is_clustered = any(name.startswith(("means ", "classes ")) for name in names)
    if names and is_clustered != bool(counts.clusters):
        raise InputError(
            "Some parts were counted with cluster= and others without. Count all of them "
            "with it, and the baseline; a row that goes with no other is a cluster of its own."
        )
    return aligned(counts, memory.spellings)


def _add(memory: Memory, counts: Tally, day: int, late: bool, sign: int = 1) -> None:
    """Add the sums of a part under the groups' current names, or remove them."""
    settings = memory.settings
    counts = renamed(counts, memory.names)
    if counts.clusters:
        counts = widened(counts, memory.kept_classes, settings.favorable)
    for entry in entries_of(
        counts, settings.questions, settings.favorable, settings.limits, late=late
    ):
        sums = entry.sums if sign > 0 else negative(entry.sums)
        memory.ledger.add(entry.name, ALL_DAYS if entry.is_total else day, sums)
    if sign > 0:
        memory.ledger.meet(counts, day)


def _look_at(memory: Memory, day: int) -> None:
    """Update the evidence, and record whether it suffices now."""
    memory.ledger.fit()
    look = Look(memory)
    for question in look.counted_questions():
        look.so_far(question)  # counts that cannot be read must not be stored
        name, evidence = question.name, look.evidence(question)
        memory.evidence[name] = evidence
        memory.peaks[name] = max(evidence, memory.peaks.get(name, 0.0))
        if evidence >= np.log(1 / look.error):
            memory.firsts.setdefault(f"differs {name}", ("yes", memory.ledger.last or day))


def _row(name: str, day: int, counts: Tally) -> list[Any]:
    return [name, day_name(day), int(counts.sums["rows"].sum())]


def _declared(groups: Any) -> tuple[Label, ...]:
    """The expected groups, checked."""
    if groups is None:
        return ()
    if not isinstance(groups, list | tuple | np.ndarray) or np.ndim(groups) == 0:
        raise InputTypeError(f"groups is a list of labels, not {groups!r}.")
    labels = tuple(groups.tolist() if isinstance(groups, np.ndarray) else groups)
    for label in labels:
        check_labels(groups=label)
    return labels


def _range(name: str, ends: Any) -> tuple[float, float]:
    """The least and greatest value of a mean."""
    limits = finite(ends, f"limits of {name}").tolist()
    if len(limits) != 2:
        raise InputError(f"The limits of {name} are two numbers, low < high; not {ends!r}.")
    return limits[0], limits[1]


def _day(at: Day) -> int:
    """The number of a day."""
    if at is None:
        return datetime.now(UTC).date().toordinal()
    if isinstance(at, datetime) and at == at:  # not pandas.NaT
        return at.date().toordinal()
    if isinstance(at, date) and not isinstance(at, datetime):
        return at.toordinal()
    try:
        return date.fromisoformat(str(at)[:10]).toordinal()
    except ValueError:
        raise InputError(f"at is a day, such as '2026-03-01', not {at!r}.") from None
