"""The content of every export of a rule: classes, groups, and price matrices of each group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Bin
from evenhand._data.groups import show
from evenhand._errors import InputError, InputTypeError

Floats = NDArray[np.float64]
Reads = Literal["scores", "labels", "numbers"]
Value = str | int | float | bool

GREATEST = float(np.finfo(np.float64).max)
INTEGER_LIMIT = 1 << 63  # beyond 64 bits there are no whole numbers, in a database or in ONNX


@dataclass(frozen=True)
class Grouping:
    """The mapping of columns to a person's group.

    `labels` holds, for each group, the value of each column: as it stands there, or the number of
    its bin where `cuts` has the inner edges of the column's bins; a value on an edge belongs to
    the bin below. `names` are for people to read.

    >>> by_sex = Grouping(("sex",), (("F",), ("M",)))
    >>> by_sex.names
    ('F', 'M')
    """

    columns: tuple[str, ...]
    labels: tuple[tuple[Any, ...], ...]
    cuts: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.names:
            names = tuple(" × ".join(map(str, label)) for label in self.labels)
            object.__setattr__(self, "names", names)

    @classmethod
    def of(
        cls, columns: Sequence[Any], labels: Sequence[Any], cuts: Mapping[Any, Any] | None = None
    ) -> Grouping:
        """From columns and labels of estimators: a value, a bin, or a tuple of these.

        >>> Grouping.of(["age"], [Bin(18, 40, True), Bin(40, 90)], {"age": [18, 40, 90]}).labels
        ((0,), (1,))
        """
        edges = {name: np.asarray(cut, np.float64).tolist() for name, cut in (cuts or {}).items()}
        for place, name in enumerate(columns):
            parts = [_parts(label, len(columns))[place] for label in labels]
            bins = [part for part in parts if isinstance(part, Bin)]
            if bins and name not in edges:  # bins whose edges were not stored
                edges[name] = sorted({end for item in bins for end in (item.low, item.high)})
        values = [
            tuple(
                _value(part, edges.get(name))
                for name, part in zip(columns, _parts(label, len(columns)), strict=True)
            )
            for label in labels
        ]
        inner = {str(name): tuple(cut[1:-1]) for name, cut in edges.items()}
        return cls(tuple(map(str, columns)), tuple(values), inner, tuple(map(show, labels)))

    def renamed(self, columns: Sequence[str]) -> Grouping:
        """The same groups, with other names of columns."""
        if len(columns) != len(self.columns):
            raise InputError(
                f"The group is read from {len(self.columns)} columns ({', '.join(self.columns)}), "
                f"and {len(columns)} are named: {', '.join(map(str, columns))}."
            )
        new = dict(zip(self.columns, columns, strict=True))
        cuts = {new[name]: cut for name, cut in self.cuts.items()}
        return Grouping(tuple(columns), self.labels, cuts, self.names)


class Steps(NamedTuple):
    """For two classes: the chances of both, which change where the score passes a cut.

    Row i of `chances` is for scores above cut i − 1, up to and with cut i.
    """

    cuts: list[float]
    chances: Floats


@dataclass(frozen=True, eq=False)
class Description:
    """A rule in full: classes, pools of rows, and the prices that decide in each.

    `prices` (ranks, pools, features, classes) and `share` (ranks, pools) hold each pool's first,
    second, … rule; those that are absent have share 0. `grouping` is None where one pool holds
    everyone. Rules read class probabilities, the decision of a model as 0 or 1, or numbers of any
    scale, of which a higher one speaks for the second of two classes.
    """

    classes: tuple[Any, ...]
    grouping: Grouping | None
    prices: Floats
    share: Floats
    reads: Reads = "scores"

    @property
    def pools(self) -> int:
        """The number of pools."""
        return int(self.share.shape[1])

    @property
    def features(self) -> int:
        """The number of features a rule reads."""
        return int(self.prices.shape[2])

    @property
    def bounds(self) -> tuple[float, float]:
        """The bounds of the features."""
        return (-GREATEST, GREATEST) if self.reads == "numbers" else (0.0, 1.0)

    @property
    def has_steps(self) -> bool:
        """Whether the probability of the second class alone decides."""
        return self.features == len(self.classes) == 2

    def rules(self, pool: int) -> list[tuple[float, Floats]]:
        """The shares and prices of the rules of a pool."""
        ranks = np.flatnonzero(self.share[:, pool])
        return [(float(self.share[rank, pool]), self.prices[rank, pool]) for rank in ranks]

    def steps(self, pool: int) -> Steps:
        """The chances of two classes as a function of the second one's probability.

        All that decides goes by these cuts and chances, whatever the language, so that a score
        exactly at a cut is decided equally everywhere.
        """
        ranks = np.flatnonzero(self.share[:, pool])
        places, upward = thresholds(self.prices[ranks, pool])
        low, high = self.bounds
        places = np.where(places < low, -np.inf, np.where(places < high, places, np.inf))
        halves = [*zip(self.share[ranks, pool].tolist(), places.tolist(), upward, strict=True)]
        cuts = sorted({cut for _, cut, _ in halves if low <= cut < high})
        chances = np.zeros((len(cuts) + 1, 2))
        for place, (low, high) in enumerate(pairwise([-np.inf, *cuts, np.inf])):
            for share, cut, upward in halves:
                chances[place, int(low >= cut if upward else high <= cut)] += share
        return Steps(cuts, chances)


def thresholds(prices: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Cuts of the second class's probability by prices (…, 2, 2), and the side that it selects.

    It is decided above the cut, or if not `upward` up to and with the cut: where
    d₀ (1 − s) + d₁ s < 0, but for s at the cut itself.

    >>> thresholds(np.array([[[0.0, 0.4], [0.0, -0.6]], [[0.0, 1.0], [0.0, 1.0]]]))
    (array([0.4, inf]), array([ True,  True]))
    """
    first, second = np.moveaxis(prices[..., 1] - prices[..., 0], -1, 0)
    slope = second - first
    flat = slope == 0
    with np.errstate(over="ignore"):
        cut = -first / np.where(flat, 1.0, slope)
    return np.where(flat, np.where(first >= 0, np.inf, -np.inf), cut), slope <= 0


def _parts(label: Any, columns: int) -> tuple[Any, ...]:
    return tuple(label) if columns > 1 else (label,)


def _value(part: Any, edges: list[float] | None) -> Any:
    """The value of a column in other languages, or the number of its bin."""
    if isinstance(part, Bin):
        spans = [*pairwise(edges or [])]
        return spans.index((part.low, part.high))
    if isinstance(part, np.generic):
        part = part.item()
    return str(part) if isinstance(part, str) else part


def plain(label: Any, limit: int | None = None) -> Value:
    """A label that other languages can represent: text, a number, true or false.

    Integers are below `limit` in size, where a language has no larger ones.
    """
    value = label.item() if isinstance(label, np.generic) else label
    if not isinstance(value, str | int | float):
        raise InputTypeError(
            f"The label {label!r} is a {type(label).__name__}; a rule that leaves Python is for "
            "labels of text, numbers, or true and false. Make the column text before the fit."
        )
    if isinstance(value, float) and not np.isfinite(value):
        raise InputError(
            f"The label {label!r} is not a number that other languages know: rename it."
        )
    if isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value):
        raise InputError(
            f"The label {label!r} holds half of a character, which no UTF-8 can: rename it."
        )
    if isinstance(value, int) and limit is not None and abs(value) >= limit:
        raise InputError(
            f"The label {label!r} is too large a number to leave Python in this format, which goes "
            f"up to {limit - 1:,}. Make the column text before the fit."
        )
    return value


def check_plain(
    classes: Sequence[Any], grouping: Grouping | None, limit: int | None = None
) -> None:
    """Refuse names and labels that other languages cannot represent."""
    groups = () if grouping is None else (*grouping.columns, *sum(grouping.labels, ()))
    for label in (*classes, *groups):
        plain(label, limit)
