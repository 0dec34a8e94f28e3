"""A measure of inequality: a function of the last axis, with its properties.

No other code checks which measure it has. What an interval, a report or a gate needs (gradient,
greatest value, contributions of groups, direction, wording) is a property of the measure, and
functions of your own have most of them too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenhand._errors import InputError

Values = NDArray[np.float64]
Reads = Literal["extremes", "ranks", "powers"]

PROBE = np.array([1.0, 2.0, 5.0])


@dataclass(frozen=True, eq=False)
class Measure:
    """A measure of inequality: a function of the last axis, with its properties.

    Parameters
    ----------
    function : callable
        A function of an array whose last axis is the groups; NaN is a group that was not observed.
    name : str, default ""
        The name that users write; by default the function's own name.
    title : str, default ""
        The name in headings.
    symbol : str, default ""
        The name on the axes of figures: "MPD".
    phrase : str, default ""
        The name in sentences: "Gini index".
    about : str, default ""
        A description that follows the title.
    formula : str, default ""
        The formula, for a vector w of d groups.
    range : str, default ""
        The range of its values.
    is_not : str, default ""
        A sentence on what it does not say.
    terms : tuple of str, default ()
        Other words of the field for it, by which it is suggested.
    relative : bool, optional
        Whether it is invariant to scale; by default this is tried on an example.
    reads : {"extremes", "ranks", "powers"}, optional
        The summary of the vector that it is a function of, if its level sets are known convex sets:
        smallest and largest entry, sorted entries, or sums of powers. Intervals, monitoring and
        sweeps have a fast and exact algorithm for each, and a general one for other measures.
    slope : callable, optional
        Its gradient (…, groups); by default a numerical one.
    convex : bool, default False
        Whether it is quasi-convex: the vectors of at most a given inequality are a convex set. With
        a `slope`, optimal rules with a bound on it can then be found. Implied by `reads`.
    parts : callable, optional
        The contribution of each entry of a vector, up to a factor; by default its squared
        deviation.
    greatest_of : callable, optional
        The greatest value for entries between a lowest one and 1, and a number of groups, which is
        None for any number.
    band : callable, optional
        For a measure that reads extremes: the interval of a level that starts or ends at a place.
    orders : tuple of float, default (1.0, 2.0)
        The orders of a measure that reads powers.
    usual : bool, default False
        Whether it is reported by default.
    mirrors : Measure, optional
        The measure that it is one minus: it is 1 for equal entries, and smaller is less equal.

    Examples
    --------
    >>> spread = Measure(lambda values: np.nanstd(values, axis=-1), name="deviation")
    >>> float(spread([1.0, 3.0])), spread.is_relative
    (1.0, False)

    """

    function: Callable[..., Any]
    name: str = ""
    title: str = ""
    symbol: str = ""
    phrase: str = ""
    about: str = ""
    formula: str = ""
    range: str = ""
    is_not: str = ""
    terms: tuple[str, ...] = ()
    relative: bool | None = None
    reads: Reads | None = None
    slope: Callable[[Values], Values] | None = None
    convex: bool = False
    parts: Callable[[Values], Values] | None = None
    greatest_of: Callable[[float, int | None], float] | None = None
    band: Callable[[Values, Values], tuple[Values, Values]] | None = None
    orders: tuple[float, float] = (1.0, 2.0)
    usual: bool = False
    mirrors: Measure | None = None

    def __post_init__(self) -> None:
        name = self.name or name_of(self.function)
        words = name.replace("_", " ")
        first = (self.function.__doc__ or "").partition("\n")[0]
        title = self.title or f"{words[:1].upper()}{words[1:]}"
        filled = {
            "name": name,
            "title": title,
            "symbol": self.symbol or title,
            "phrase": self.phrase or words,
            "formula": self.formula or first,
        }
        for key, value in filled.items():
            object.__setattr__(self, key, value)

    def __call__(self, values: Any, **options: Any) -> Any:
        """The measure of vectors (…, groups)."""
        return self.function(values, **options)

    def __repr__(self) -> str:
        return f"<Measure {self.name}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Measure):
            return NotImplemented
        return self.name == other.name and bool(self.function == other.function)

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def __name__(self) -> str:
        """Its name, as for a function."""
        return self.name

    @property
    def computed(self) -> Measure:
        """The measure by which it is computed: itself, or the one that it is one minus."""
        return self.mirrors or self

    @property
    def falls(self) -> bool:
        """Whether it is 1 for equal entries, and smaller is less equal."""
        return self.mirrors is not None

    def written(self, value: Any) -> Any:
        """A value of `computed` converted to this measure, or the other way round."""
        return 1 - value if self.falls else value

    def ends(self, low: Any, high: Any) -> tuple[Any, Any]:
        """An interval of `computed` converted to this measure, with its ends in order."""
        return (1 - high, 1 - low) if self.falls else (low, high)

    @property
    def is_solved(self) -> bool:
        """Whether there is a solver for the set of vectors with at most a given inequality."""
        return self.reads is not None and self.orders == (1.0, 2.0)

    @property
    def is_width(self) -> bool:
        """Whether it is the difference of the highest and the lowest entry."""
        return self.reads == "extremes" and not self.is_relative

    @property
    def is_convex(self) -> bool:
        """Whether it is known to be quasi-convex, with a gradient or solver."""
        if self.reads == "powers":
            return 0 < self.orders[0] <= 1 <= self.orders[1] != self.orders[0]
        return self.reads is not None or (self.convex and self.slope is not None)

    @cached_property
    def is_relative(self) -> bool:
        """Whether it is invariant to scale."""
        if self.relative is not None:
            return self.relative
        value, doubled = self.function(PROBE), self.function(2 * PROBE)
        return bool(np.isclose(value, doubled, rtol=1e-9, atol=0))

    def gradient(self, values: Values) -> Values:
        """The gradient at values (…, groups).

        Parameters
        ----------
        values : ndarray
            Groups along the last axis.

        Returns
        -------
        ndarray
            Of the shape of the values.

        """
        if self.slope is not None:
            return self.slope(values)
        step = 1e-4 * np.maximum(np.abs(values).max(axis=-1, keepdims=True), 1e-6)
        shifted = values[..., None, :] + step[..., None] * np.eye(values.shape[-1])
        rise = np.asarray(self(shifted)) - np.asarray(self(values))[..., None]
        return np.asarray(rise / step)

    def shares(self, values: Values) -> Values:
        """The share of each group in the inequality of a vector; NaN where it was not observed.

        Parameters
        ----------
        values : ndarray
            One vector of groups.

        Returns
        -------
        ndarray
            Shares that add up to 1; zeros where all are equal.

        """
        result = np.full(values.shape, np.nan)
        observed = ~np.isnan(values)
        if observed.any() and np.ptp(values[observed]) == 0:
            result[observed] = 0.0
        elif observed.any():
            weights = (self.parts or _squared_deviations)(values[observed])
            result[observed] = weights / weights.sum()
        return result

    def greatest(
        self,
        bounds: tuple[float, float],
        transform: str | None = None,
        groups: int | None = None,
    ) -> float:
        """The greatest inequality of values within bounds; infinite if unknown.

        For a measure that falls it is the least value.

        Parameters
        ----------
        bounds : tuple of float
            Least and greatest possible entry.
        transform : {"exp"}, optional
            The transform before the measure.
        groups : int, optional
            The number of groups; None for any number.

        Returns
        -------
        float
            The value.

        """
        low, high = bounds
        if self.falls:
            return 1.0 - self.computed.greatest(bounds, transform, groups)
        if not self.is_relative:
            return high - low if self.reads == "extremes" else math.inf
        if self.greatest_of is None:
            return math.inf
        if transform == "exp":
            lowest = math.exp(low - high) if math.isfinite(high - low) else 0.0
        else:
            lowest = max(low / high, 0.0) if math.isfinite(high) else 0.0
        return self.greatest_of(lowest, groups)


MeasureLike = str | Measure | Callable[..., Any]


def name_of(thing: Any) -> str:
    """The name of a measure or aggregate, with its bound arguments.

    >>> from evenhand.measures import pq
    >>> name_of(partial(pq, p=0.5))
    'pq(p=0.5)'
    """
    if isinstance(thing, partial):
        named = [f"{key}={value}" for key, value in thing.keywords.items()]
        return f"{name_of(thing.func)}({', '.join([*map(str, thing.args), *named])})"
    return thing if isinstance(thing, str) else getattr(thing, "__name__", repr(thing))


def _squared_deviations(values: Values) -> Values:
    """Each entry's contribution to the variance."""
    return np.asarray((values - values.mean()) ** 2)


def exponential(values: Values) -> Values:
    """The paper's transform to positive entries, exp(w), up to a factor that cannot overflow.

    The factor exp(−max) changes no scale-free measure, and no other is ever transformed.

    Parameters
    ----------
    values : ndarray
        Groups along the last axis, of any sign.

    Returns
    -------
    ndarray
        Entries between 0 and 1.

    Examples
    --------
    >>> exponential(np.array([1000.0, 1001.0])).round(4)
    array([0.3679, 1.    ])

    """
    with np.errstate(invalid="ignore"):
        highest = np.fmax.reduce(values, axis=-1, keepdims=True)
        return np.asarray(np.exp(values - highest))


TRANSFORMS: dict[str, Callable[[Values], Values]] = {"exp": exponential}


def apply_transform(values: Any, transform: str | None) -> Values:
    """Transformed entries; the transform is a name in `TRANSFORMS` or None."""
    array = np.asarray(values, dtype=np.float64)
    if transform is None:
        return array
    if transform not in TRANSFORMS:
        raise InputError(f"There is no transform {transform!r}; there are {list(TRANSFORMS)}.")
    return TRANSFORMS[transform](array)


def transformed(measure: Callable[..., Any], transform: str | None) -> Callable[..., Any]:
    """A scale-free measure of the transformed vector; any other measure unchanged.

    Parameters
    ----------
    measure : Measure or callable
        A function of the last axis.
    transform : {"exp"} or None
        A name in `TRANSFORMS`.

    Returns
    -------
    callable
        A function of the last axis.

    Examples
    --------
    >>> from evenhand.measures import MEASURES, mpd
    >>> round(float(transformed(MEASURES["gini"], "exp")([-1.0, 0.0])), 4)
    0.2311
    >>> transformed(mpd, "exp") is mpd
    True

    """
    resolved = measure if isinstance(measure, Measure) else Measure(measure)
    if transform is None or not resolved.is_relative:
        return measure
    return lambda values: measure(apply_transform(values, transform))
