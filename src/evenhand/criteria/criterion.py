"""A criterion: a statistic that should be equal between groups, its measure and aggregation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand import _sweep as sweep
from evenhand import measures
from evenhand._columns import Label
from evenhand._data.data import Data
from evenhand._data.distributions import Distribution
from evenhand._data.doors import about_data
from evenhand._data.groups import place_in, show
from evenhand._data.summaries import with_favorable
from evenhand._data.tasks import UNFAVORABLE, favorable_label
from evenhand._errors import InputError, InputTypeError
from evenhand._kinds import check_kinds, check_labels
from evenhand._signatures import REFERENCE, SETTINGS, documented
from evenhand._words import did_you_mean
from evenhand.measures import DEFAULT_MEASURE, Aggregate, Measure, MeasureLike, name_of
from evenhand.measures.aggregates import named_aggregate
from evenhand.statistics import KINDS, STATISTICS, E, Kind, Source, Statistic, Table


@dataclass(frozen=True, eq=False)
class Reading:
    """A value, the inequality in each cell, and the statistic of each group in each cell.

    `float(reading)` is the value; `print(reading)` says what was left out.

    Attributes
    ----------
    criterion, measure, aggregate : str
        The names of the criterion, its measure and its aggregate.
    transform : str or None
        The transform that was used, if any.
    value : float or ndarray
        The inequality; an array for a batch of tallies.
    cell_values : ndarray
        The inequality in each cell (…, cells).
    table : ndarray
        The statistic (…, cells, groups); NaN where it is undefined.
    cells : tuple of labels
        Classes, pairs (given, class), strata, bins, or one cut point.
    groups : tuple of labels
        The groups.
    source : Tally, Distribution or RankedScores
        The summary of the rows that was read.
    settings : Settings
        The measure, aggregate, transform and tau.

    """

    criterion: str
    measure: str
    aggregate: str
    transform: str | None
    value: Any
    cell_values: NDArray[np.float64]
    table: NDArray[np.float64]
    cells: tuple[Label, ...]
    groups: tuple[Label, ...]
    source: Any = field(default=None, repr=False)
    settings: Any = field(default=None, repr=False)

    def __float__(self) -> float:
        return float(self.value)

    @property
    def unevenness(self) -> NDArray[np.float64]:
        """The inequality in each cell, where larger is worse: for a ratio, one minus it."""
        return np.asarray(self.settings.resolved.written(self.cell_values))

    @property
    def worst_cell(self) -> Label:
        """The cell with the largest inequality."""
        if np.isnan(self.cell_values).all():
            return None
        return self.cells[sweep.first_highest(self.unevenness)]

    @property
    def left_out(self) -> tuple[tuple[Label, Label], ...]:
        """The (cell, group) pairs where the statistic is undefined; the group is left out there."""
        if not self.cells:
            return ()
        shape = (-1, *self.table.shape[-2:])
        where = np.argwhere(np.isnan(self.table).reshape(shape).any(axis=0))
        return tuple((self.cells[cell], self.groups[group]) for cell, group in where)

    def __str__(self) -> str:
        transform = f", {self.transform} transform" if self.transform else ""
        value = np.array2string(np.asarray(self.value), precision=4, threshold=6)
        if np.ndim(self.value) == 0:
            value = f"{self.value:.4g}"
        head = f"{self.criterion} = {value} ({self.measure}{transform}, {self.aggregate})"
        names = [f"{show(group)} at {show(cell)}" for cell, group in self.left_out]
        return f"{head}; undefined and left out: {', '.join(names)}" if names else head


@dataclass(frozen=True)
class Settings:
    """The measure, aggregate and transform of a reading.

    Parameters
    ----------
    measure : str or callable
        A name in `MEASURES`, or a function of the last axis.
    aggregate : str or callable
        A name in `AGGREGATES`, or a function of the last axis.
    transform : {"exp", "raw"}, optional
        The transform before a relative measure; None is the criterion's default.
    tau : float, optional
        The least pooled F of a cut point, for a supremum over cut points.

    Examples
    --------
    >>> Settings("gini", "worst").function.__name__
    'gini'

    """

    measure: MeasureLike
    aggregate: str | Aggregate
    transform: str | None = None
    tau: float | None = None

    @cached_property
    def resolved(self) -> Measure:
        """The measure with its properties."""
        return measures.resolve(self.measure)

    @property
    def function(self) -> Measure:
        """The measure by which it is computed: for a ratio, the shortfall."""
        return self.resolved.computed

    @property
    def applied(self) -> str | None:
        """The transform; "raw" is none, even where there is a default one."""
        return None if self.transform == "raw" else self.transform

    def check(self, *, sweeps: bool) -> None:
        """Refuse unknown transforms, and options that do not fit the statistic.

        Parameters
        ----------
        sweeps : bool
            Whether the statistic is a distribution.

        """
        if self.transform not in (None, "raw", *measures.TRANSFORMS):
            names = ["raw", *measures.TRANSFORMS]
            raise InputError(
                f"There is no transform {self.transform!r}; there are {names}."
                f"{did_you_mean(self.transform, names)}"
            )
        if sweeps and self.aggregate not in ("worst", "integral"):
            raise InputError(
                f"Over cut points the aggregate is 'worst' or 'integral', not {self.aggregate!r}."
            )
        if self.resolved.falls and self.aggregate not in ("worst", "mean"):
            raise InputError(
                "Ratios of several classes or cut points cannot be added up: the aggregate of "
                f"{self.resolved.name!r} is 'worst' or 'mean', not {name_of(self.aggregate)!r}."
            )
        if self.tau is not None and not sweeps:
            raise InputError("tau is for 'strong_parity': the least pooled F of a cut point.")

    def resolve(self) -> tuple[Measure, Aggregate | None]:
        """The functions themselves; refuse unknown names. An integral does not aggregate cells."""
        sweeps = self.aggregate == "integral"
        return self.function, None if sweeps else measures.resolve_aggregate(self.aggregate)

    def for_supremum(self) -> Settings:
        """On raw CDFs a scale-free supremum is degenerate: exponentiate by default."""
        if self.transform is None and self.tau is None and self.function.is_relative:
            return replace(self, transform="exp")
        return self

    def reading(self, name: str, value: Any, cells: Any, table: Table) -> Reading:
        """The reading of a value, with these settings.

        Parameters
        ----------
        name : str
            The criterion's name.
        value : float or ndarray
            Its value.
        cells : ndarray
            The inequality in each cell.
        table : Table
            The statistic of each group in each cell.

        Returns
        -------
        Reading
            The value with its cells and settings.

        """
        transform = self.applied if self.function.is_relative else None
        labels = (self.resolved.name, name_of(self.aggregate), transform)
        value, cells = self.resolved.written(value), self.resolved.written(cells)
        read = (table.values, table.cells, table.groups)
        return Reading(name, *labels, value, cells, *read, settings=self)


@dataclass(frozen=True, repr=False)
class Criterion:
    """A statistic of each group that should be equal; 0 is equal, larger is worse.

    By the measure "ratio" it is the other way: 1 is equal, smaller is worse.

    Call it with a Tally (or Distribution) and a measure, or with columns.

    Parameters
    ----------
    name : str
        The field's name for it.
    statistic : Statistic
        What should be equal between groups, as data: `P("yhat", given="y")`.
    is_not : str, default ""
        A sentence on what it does not say.
    measure : str, default "mpd"
        The default measure.
    across : str, default "worst"
        The default aggregate over classes or cut points.
    one_class : bool, default False
        Whether only the favorable class is compared when there are two classes; with more classes,
        and no favorable one named, each class is compared.
    takes_g : bool, default False
        Whether its statistic can be replaced by `g`.
    general : Criterion, optional
        The criterion that it becomes with another statistic: S-EO with another `g` is performance
        parity.
    asks : str, default ""
        The question it asks, in a plain sentence.
    also_called : tuple of str, default ()
        Other names of the field, by which it is found too.

    See Also
    --------
    evaluate : Any criterion by name, in one call.

    Examples
    --------
    >>> from evenhand import gini, tally
    >>> from evenhand.criteria import statistical_parity
    >>> counts = tally(None, [1, 0, 1, 1], sensitive_features=["a", "a", "b", "b"])
    >>> round(statistical_parity(counts, measure=gini, favorable=1), 4)
    0.1667
    >>> print(statistical_parity)
    statistical_parity: worst over c of S over a of P(ŷ = c | a)

    """

    name: str
    statistic: Statistic
    is_not: str = ""
    measure: str = DEFAULT_MEASURE
    across: str = "worst"
    one_class: bool = False
    takes_g: bool = False
    general: Criterion | None = None
    asks: str = ""
    also_called: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.statistic.needs not in KINDS:
            raise InputError(
                f"{self.name} needs {self.statistic.needs!r}, but the kinds of summary are "
                f"{list(KINDS)}.{did_you_mean(self.statistic.needs, KINDS)}"
            )
        object.__setattr__(self, "__doc__", _help(self))

    @about_data()
    @documented(settings=SETTINGS, reference=REFERENCE)
    def __call__(
        self,
        data: Data,
        *,
        measure: MeasureLike | None = None,
        aggregate: str | Aggregate | None = None,
        g: str | Callable[[Any, Any], Any] | None = None,
        transform: str | None = None,
        tau: float | None = None,
        to: Label = None,
    ) -> Any:
        """The criterion's value for the data: how unequal the groups are.

        Parameters
        ----------
        {data}
        {settings}
        {reference}

        Returns
        -------
        float or ndarray
            The inequality; NaN if fewer than two groups were observed. An array for a batch of
            tallies.

        Raises
        ------
        InputTypeError
            If columns are passed together with counts, which already contain them.

        Examples
        --------
        >>> from evenhand import gini, tally
        >>> from evenhand.criteria import equalized_odds
        >>> group = ["a", "a", "b", "b"]
        >>> counts = tally([1, 0, 1, 0], [1, 0, 0, 0], sensitive_features=group)
        >>> equalized_odds(counts, measure=gini)
        0.5
        >>> equalized_odds([1, 0, 1, 0], [1, 0, 0, 0], sensitive_features=group, measure="mpd")
        1.0

        """
        choices = {"measure": measure, "aggregate": aggregate, "transform": transform, "tau": tau}
        value = self.read_data(data, **choices, g=g, to=to).value
        return float(value) if np.ndim(value) == 0 else value

    @about_data()
    @documented(settings=SETTINGS, reference=REFERENCE)
    def read(
        self,
        data: Data,
        *,
        measure: MeasureLike | None = None,
        aggregate: str | Aggregate | None = None,
        g: str | Callable[[Any, Any], Any] | None = None,
        transform: str | None = None,
        tau: float | None = None,
        to: Label = None,
    ) -> Reading:
        """The criterion's value with its cells, its table and what was left out.

        Parameters
        ----------
        {data}
        {settings}
        {reference}

        Returns
        -------
        Reading
            The value, the inequality in each cell, and the statistic of each group.

        Raises
        ------
        InputTypeError
            If columns are passed together with counts, which already contain them.

        Examples
        --------
        >>> from evenhand.criteria import statistical_parity
        >>> reading = statistical_parity.read(None, [1, 0, 1, 1], sensitive_features=[*"aabb"])
        >>> reading.groups, reading.table
        (('a', 'b'), array([[0.5, 0. ],
               [0.5, 1. ]]))

        """
        choices = {"measure": measure, "aggregate": aggregate, "transform": transform, "tau": tau}
        return self.read_data(data, **choices, g=g, to=to)

    def read_data(
        self,
        data: Data,
        *,
        g: str | Callable[[Any, Any], Any] | None = None,
        to: Label = None,
        **choices: Any,
    ) -> Reading:
        """As `read`, for a `Data` object; `choices` are the options of `settings`."""
        criterion, favorable = self.with_statistic(g), data.favorable
        source = data.source(criterion.statistic.needs, g if callable(g) else None)
        source = with_favorable(source, favorable)
        criterion.check(source)
        settings = criterion.settings(**choices)
        if to is not None:
            reading = criterion._against(to, source, settings, favorable)
        elif isinstance(source, Distribution):
            reading = criterion._sweep(source, settings)
        else:
            reading = criterion.reading(criterion.table(source, favorable), settings)
        return replace(reading, source=source, settings=settings)

    @property
    def direction(self) -> str:
        """The value that means equality, and the worse direction, by the default measure."""
        if measures.resolve(self.measure).falls:
            return "1: the groups are equal in this respect; smaller: less equal"
        return "0: the groups are equal in this respect; larger: less equal"

    @property
    def kind(self) -> Kind:
        """The kind of summary that its statistic reads."""
        return KINDS[self.statistic.needs]

    @property
    def formula(self) -> str:
        """The criterion in symbols; S is the measure, a runs over the groups.

        >>> from evenhand.criteria import equal_opportunity
        >>> print(equal_opportunity.formula)
        worst over c of S over a of tp / (tp + fn)
        """
        over = self.statistic.over
        prefix = {"integral": "∫ dt ", "": ""}.get(
            self.across if over else "", f"{self.across} over {over} of "
        )
        return f"{prefix}S over a of {self.statistic.formula}"

    @property
    def range(self) -> str:
        """The range of its values, by measure, for d groups."""
        low, high = self.statistic.bounds
        widest = f"{high - low:g}".replace("inf", "∞")
        unit = ", times the range of ŷ" if self.across == "integral" else ""
        by_ratio = "1 (equal) to 0 by ratio; " if measures.resolve(self.measure).falls else ""
        relative = "1 − 1/d by Gini, 1 − 1/√d by PQ(1, 2), 1 by shortfall"
        return f"{by_ratio}0 to {widest} by MPD, {relative}{unit}"

    def __str__(self) -> str:
        return f"{self.name}: {self.formula}"

    def __repr__(self) -> str:
        return f"<Criterion {self}>"

    def with_statistic(self, g: str | Callable[[Any, Any], Any] | None) -> Criterion:
        """The same criterion with another statistic, if it takes one.

        Parameters
        ----------
        g : str, callable or None
            A name in `STATISTICS`, a loss function (y_true, y_pred), or None for its own.

        Returns
        -------
        Criterion
            This one where `g` is None.

        """
        if g is None:
            return self
        if not self.takes_g and self.general is not None:
            return self.general.with_statistic(g)
        if not self.takes_g:
            raise InputError(f"{self.name} has its own statistic; g= is for 'performance_parity'.")
        if callable(g):
            return replace(self, statistic=E("loss", needs="losses", bounds=(-np.inf, np.inf)))
        if g not in STATISTICS:
            raise InputError(
                f"There is no statistic g={g!r}.{did_you_mean(g, STATISTICS)} "
                f"There are {list(STATISTICS)}."
            )
        return replace(self, statistic=STATISTICS[g])

    def settings(
        self,
        measure: MeasureLike | None = None,
        aggregate: str | Aggregate | None = None,
        transform: str | None = None,
        tau: float | None = None,
    ) -> Settings:
        """The settings of a reading, with the criterion's defaults.

        Parameters
        ----------
        measure : str or callable, optional
            The measure.
        aggregate : str or callable, optional
            The aggregate over classes or cut points.
        transform : {"exp", "raw"}, optional
            The transform before a relative measure.
        tau : float, optional
            The least pooled F of a cut point.

        Returns
        -------
        Settings
            All four options.

        """
        if isinstance(measure, Criterion):
            raise InputTypeError(f"{measure.name} is a criterion, not a measure of inequality.")
        if any(option is not None for option in (measure, aggregate, transform, tau)):
            check_kinds(measure=measure, aggregate=aggregate, transform=transform, tau=tau)
        chosen = self.measure if measure is None else measure
        across = self.across if aggregate is None else named_aggregate(aggregate)
        settings = Settings(chosen, across, transform, tau)
        settings.check(sweeps=self.statistic.sweeps)
        return settings

    def check(self, source: Source) -> None:
        """Refuse a summary of the rows that does not hold what the statistic reads.

        Parameters
        ----------
        source : Tally, Distribution or RankedScores
            The summary.

        """
        summary = self.kind.summary
        if not isinstance(source, summary):
            raise InputTypeError(
                f"{self.name} reads a {summary.__name__}, not a {type(source).__name__}: "
                f"{self.statistic.formula} cannot be computed from it."
            )

    def table(self, source: Source, favorable: Label = None) -> Table:
        """The statistic's table, restricted to the favorable class where only that is compared.

        Parameters
        ----------
        source : Tally, Distribution or RankedScores
            The summary that the statistic reads.
        favorable : label, optional
            The favorable label.

        Returns
        -------
        Table
            Values (…, cells, groups).

        """
        table = self.statistic.read(source)
        by_class = self.statistic.over.endswith("c")
        asks_one = self.one_class and len(table.cells) <= 2
        if not by_class or (favorable is None and not asks_one):
            return table
        classes = tuple(dict.fromkeys(class_of(cell) for cell in table.cells))
        if favorable is None and len(classes) == 1:
            return _undefined(table) if classes[0] in UNFAVORABLE else table
        return _only(table, favorable_label(classes, favorable))

    def reading(self, table: Table, settings: Settings) -> Reading:
        """The reading of a table of the statistic.

        Parameters
        ----------
        table : Table
            Values (…, cells, groups).
        settings : Settings
            The measure, aggregate, transform and tau.

        Returns
        -------
        Reading
            The value with its cells.

        """
        measure = measures.transformed(settings.function, settings.applied)
        cells = np.asarray(measure(table.values))
        value = measures.resolve_aggregate(settings.aggregate)(cells)
        return settings.reading(self.name, value, cells, table)

    def _against(self, to: Label, source: Source, settings: Settings, favorable: Label) -> Reading:
        """The reading of the largest distance of a group from a reference, in each cell."""
        if self.statistic.sweeps or settings.function.reads != "extremes":
            raise InputError(
                f"to={to!r} compares each group with a reference, by the measure mpd, ratio or "
                f"shortfall of rates and means; not {self.name} by {name_of(settings.measure)}, "
                "which compares all groups with each other."
            )
        check_labels(to=to)
        table = self.table(source, favorable)
        place = place_in(table.groups, to)
        if place >= 0:
            reference = table.values[..., [place]]
        elif to == "overall":
            everyone = source.regrouped(np.zeros(len(table.groups), dtype=np.intp), ("everyone",))
            reference = self.table(everyone, favorable).values
        elif to == "best":  # the opposite extreme is the farthest from the best
            return self.reading(table, settings)
        else:
            raise InputError(
                f"to={to!r} is not a group; there are {list(table.groups)}, and 'overall' and "
                f"'best'.{did_you_mean(to, table.groups)}"
            )
        measure = measures.transformed(settings.function, settings.applied)
        pairs = np.stack(np.broadcast_arrays(table.values, reference), axis=-1)
        cells = np.fmax.reduce(measure(pairs), axis=-1)
        observed = (~np.isnan(table.values)).sum(axis=-1)
        cells = np.where(observed >= 2, cells, np.nan)
        value = measures.resolve_aggregate(settings.aggregate)(cells)
        return settings.reading(self.name, value, cells, table)

    def _sweep(self, source: Distribution, settings: Settings) -> Reading:
        if settings.aggregate == "integral":
            value = sweep.integral(source, settings.function, transform=settings.applied)
            empty = Table(np.empty((0, len(source.groups))), (), source.groups)
            return settings.reading(self.name, value, np.array([]), empty)
        settings = settings.for_supremum()
        transform, tau = settings.applied, settings.tau or 0.0
        peak = sweep.supremum(source, settings.function, transform=transform, tau=tau)
        table = Table(peak.levels[None, :], (peak.at,), source.groups)
        return settings.reading(self.name, peak.value, np.array([peak.value]), table)


def class_of(cell: Label) -> Label:
    """The class of a cell: the second label of a pair (given, class)."""
    return cell[1] if isinstance(cell, tuple) else cell


def _undefined(table: Table) -> Table:
    """The same cells without values: the favorable class did not occur."""
    return Table(np.full_like(table.values, np.nan), table.cells, table.groups)


def _only(table: Table, label: Label) -> Table:
    """The cells about one class."""
    places = [i for i, cell in enumerate(table.cells) if class_of(cell) == label]
    step = places[1] - places[0] if len(places) > 1 else 1  # cells of pairs are evenly spaced
    part = slice(places[0], places[-1] + 1, step)
    return Table(table.values[..., part, :], table.cells[part], table.groups)


def _help(criterion: Criterion) -> str:
    """The `help()` text of a criterion."""
    also = f"\nAlso called {', '.join(criterion.also_called)}." if criterion.also_called else ""
    return f"""{criterion.asks or criterion.name}

    {criterion.formula}

where S is the measure and a runs over the groups. {criterion.direction}.
Range: {criterion.range}.
What it is not: {criterion.is_not}{also}

It reads {criterion.kind.columns}. By default the measure is {criterion.measure!r}.

    {criterion.name}(counts, measure=…)                     for counts made before
    {criterion.name}(y_true, y_pred, sensitive_features=…)  for columns

`help(type({criterion.name}).__call__)` explains every argument.
"""
