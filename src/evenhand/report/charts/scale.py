"""From a value to its place along an axis, and the round values worth a tick."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10


@dataclass(frozen=True)
class Scale:
    """An axis from low to high, with ticks at round values.

    >>> axis = Scale.around([0.03, 0.41])
    >>> axis.ticks
    (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
    >>> axis.percent(0.25)
    '50%'
    """

    low: float
    high: float
    ticks: tuple[float, ...]

    @classmethod
    def around(
        cls, values: Iterable[float | None], *, zero: bool = False, most: float | None = None
    ) -> Scale:
        """An axis that holds the values; it begins at zero if told, or if zero is near."""
        known = [float(value) for value in values if value is not None and isfinite(value)]
        low, high = (min(known), max(known)) if known else (0.0, 1.0)
        if zero or 0 <= low < 0.5 * high:
            low = min(low, 0.0)
        least = 1e-9 * max(1.0, abs(low), abs(high))
        if high - low < least:
            low, high = (low - 0.5, high + 0.5) if abs(low) > least else (0.0, 1.0)
        step = _round_step((high - low) / 5)
        first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
        ticks = tuple(round(step * i, 12) for i in range(first, last + 1))
        if most is not None and ticks[-1] > most >= high:
            ticks = (*(tick for tick in ticks if tick < most), most)
        return cls(ticks[0], ticks[-1], ticks)

    @classmethod
    def between(cls, *values: float) -> Scale:
        """An axis from the least of the values to the greatest."""
        low, high = min(values), max(values)
        return cls(low, high if high > low else low + 1.0, (low, high))

    def __call__(self, value: float) -> float:
        """The place along the axis, 0 to 1; values beyond its ends are kept at them."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))

    def percent(self, value: float) -> str:
        """The place as an SVG length."""
        return f"{100 * self(value):.2f}".rstrip("0").rstrip(".") + "%"

    def names(self) -> list[str]:
        """The ticks, all with the same number of decimals."""
        decimals = max(len(f"{tick:.10f}".rstrip("0").partition(".")[2]) for tick in self.ticks)
        return [f"{tick:,.{decimals}f}".replace("-", "−") for tick in self.ticks]


def _round_step(rough: float) -> float:
    """The least of 1, 2, 2.5, 5 and 10 times a power of ten that is not below."""
    power = 10.0 ** floor(log10(rough))
    return next(float(f * power) for f in (1, 2, 2.5, 5, 10) if f * power >= rough * (1 - 1e-9))
