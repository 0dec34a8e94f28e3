"""The cheapest decisions under a bound on the worst gap that probabilities of groups allow.

In a cell of the proxy the share of each group is known, but not who is in it. A rule gives every
row a chance of being selected. The rate of a group is greatest if its members are, in every cell,
the rows of the greatest chances; of a rate that looks at some rows alone, such as those truly
positive, they are those whose chance is above the rate itself, then rows that it does not look at,
and then the others (`_unknown/extremes.py`). As the greatest of sums that are linear in the
chances it is convex in them, and so is the bound that no greatest rate may be more than ε above
the least rate of another group.

Rules are mixtures of cuts: in each cell, select the scores above some cut. So the cheapest is a
linear program in how often each cut decides, with one row for every way of putting people into
groups that was found to be the worst for some rule (cutting planes, Kelley 1960). What it costs
without the others is what no mixture can undercut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand._columns import Label
from evenhand._data.groups import show
from evenhand._errors import InputError
from evenhand.measures import Measure
from evenhand.mitigation.optimal.generation import Nearest, Solution, linear_program
from evenhand.mitigation.optimal.problem import Columns
from evenhand.mitigation.optimal.rule import DecisionRule, most_frequent

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

LOOKS = {  # at which rows each rate looks: those that are truly not selected, and those that are
    "statistical_parity": ((1.0, 1.0),),
    "equal_opportunity": ((0.0, 1.0),),
    "predictive_equality": ((1.0, 0.0),),
    "equalized_odds": ((1.0, 0.0), (0.0, 1.0)),
}
MOST_CELLS = 20
STEPS = 50  # cuts of a cell
MOST_ROUNDS = 300
PRECISE = 1e-8
ROUNDING = 1e-12
IN_USE = 1e-9

NO_COLUMNS = Columns(
    np.empty(0, np.intp), np.empty(0), np.empty(0, np.intp), np.empty(0), np.empty(0)
)


@dataclass(frozen=True, eq=False)
class Proxy:
    """A proxy of groups: the cell of each row, and the probabilities at its center."""

    codes: Codes
    centers: Floats

    def named(self, groups: Sequence[Label]) -> tuple[Label, ...]:
        """The cells in words, such as "1: F 90%, M 10%"."""
        return tuple(
            f"{at}: "
            + ", ".join(
                f"{show(group)} {100 * part:.0f}%"
                for group, part in zip(groups, center, strict=True)
            )
            for at, center in enumerate(self.centers.tolist(), 1)
        )

    @classmethod
    def of(cls, probabilities: Floats, centers: Floats) -> Proxy:
        """Assign every row to the nearest cell."""
        square = (centers**2).sum(axis=1)
        parts = np.array_split(probabilities, max(len(probabilities) >> 16, 1))
        nearest = [(square - 2 * part @ centers.T).argmin(axis=1) for part in parts]
        return cls(np.concatenate(nearest).astype(np.intp), centers)


@dataclass(frozen=True, eq=False)
class Allowed:
    """The groups that people may be in, by the cells of a proxy.

    `mass` (rows, 2) is the weight of each row by whether it is truly positive; `mixing` (cells,
    groups) are the shares of groups.
    """

    mass: Floats
    cell: Codes
    mixing: Floats
    criterion: str

    @classmethod
    def of(cls, mass: Floats, proxy: Proxy, probabilities: Floats, criterion: str) -> Allowed:
        """Rows in cells with the mean probabilities of their rows."""
        if criterion not in LOOKS:
            raise InputError(
                f"The worst case over groups that are not known is that of {list(LOOKS)}, not "
                f'{criterion}; or name an assumption: probable(..., assuming="weighted").'
            )
        weight, cells = mass.sum(axis=1), len(proxy.centers)
        sizes = np.bincount(proxy.codes, weight, cells)
        sums = [np.bincount(proxy.codes, weight * column, cells) for column in probabilities.T]
        mixing = np.stack(sums, axis=1) / np.where(sizes > 0, sizes, 1.0)[:, None]
        return cls(mass / weight.sum(), proxy.codes, mixing, criterion)

    @property
    def groups(self) -> int:
        """The number of groups."""
        return int(self.mixing.shape[1])

    @cached_property
    def looks(self) -> Floats:
        """The weights of rows in the denominator of each rate (rates, rows)."""
        return np.asarray(np.array(LOOKS[self.criterion]) @ self.mass.T)

    def extreme(
        self, chance: Floats, look: int, group: int, sign: int, order: Codes
    ) -> tuple[float, Floats]:
        """The greatest rate of a group (for −1 the least), and how much of each row is in it.

        Rows that it looks at are members if their chance is above the rate, as far as there are
        members; a rate for which that gives itself is the greatest (Dinkelbach 1967). `order` is
        that of cells, and in each of chances from the greatest.
        """
        counted, cells = self.looks[look], len(self.mixing)
        of_cell = self.cell[order]
        masses = counted[order]
        grown = np.cumsum(masses) - masses
        ends = np.bincount(of_cell, masses, cells)
        before = grown - (np.cumsum(ends) - ends)[of_cell]
        sizes = np.bincount(self.cell, self.mass.sum(axis=1), cells)
        members = self.mixing[:, group] * sizes
        lower = np.maximum(members - (sizes - ends), 0.0)
        rate, part = -np.inf, masses
        while True:
            above = np.bincount(of_cell, masses * (sign * chance[order] > rate), cells)
            counts = np.clip(above, lower, np.minimum(members, ends))
            new = np.clip(counts[of_cell] - before, 0.0, masses)
            total = float(new.sum())
            if total <= ROUNDING:
                break
            new_rate = float(sign * chance[order] @ new) / total
            if new_rate <= rate + ROUNDING:
                break
            rate, part = new_rate, new
        if rate == -np.inf:
            return np.nan, np.zeros(len(masses))
        members_of = np.empty(len(masses))
        members_of[order] = part
        return sign * rate, members_of

    def extremes(self, chance: Floats) -> tuple[Floats, Floats]:
        """The greatest and the least rates (2, rates, groups), and their members (…, rows)."""
        shape = (2, len(self.looks), self.groups)
        rates, members = np.empty(shape), np.empty((*shape, len(chance)))
        for side, sign in enumerate((1, -1)):
            order = np.lexsort((-sign * chance, self.cell))
            for look in range(shape[1]):
                for group in range(shape[2]):
                    extreme = self.extreme(chance, look, group, sign, order)
                    rates[side, look, group], members[side, look, group] = extreme
        return rates, members

    def gap(self, chance: Floats) -> float:
        """The largest possible difference of two groups' rates; NaN if there is none."""
        return largest_gap(self.extremes(chance)[0])


def largest_gap(rates: Floats) -> float:
    """Of greatest and least rates (2, rates, groups), the largest difference of two groups."""
    gaps = rates[0][:, :, None] - rates[1][:, None, :]
    gaps = gaps[:, ~np.eye(rates.shape[2], dtype=bool)]
    return float(np.nanmax(gaps)) if np.isfinite(gaps).any() else np.nan


def check_assuming(assuming: str | None) -> None:
    """Refuse assumptions about probable groups that rules do not support."""
    if assuming not in (None, "weighted"):
        raise InputError(
            f"assuming={assuming!r} cannot go with rules: they are judged by the worst case, or "
            'with assuming="weighted".'
        )


def check_worst(measure: Measure, classes: int, **about: Any) -> None:
    """Refuse objectives without a worst case over unknown groups."""
    unsupported = [f"{name}=" for name, value in about.items() if value]
    unsupported += [f"measure={measure.name!r}"] if not measure.is_width else []
    unsupported += [f"{classes} classes"] if classes > 2 else []
    if unsupported:
        raise InputError(
            f"The worst case over groups that are not known is that of mpd and of two classes, and "
            f"cannot go with {unsupported[0]}; name an assumption: "
            'probable(..., assuming="weighted").'
        )


class Cut(NamedTuple):
    """A row of the program: the effect of every cut on a rate's excess, less the rate's own.

    With a `cell` it is about the members in there, which may exceed the rate as those in others
    fall short of it.
    """

    at: tuple[int, ...]  # side, rate, group
    hits: Floats
    weight: float
    cell: int | None = None


@dataclass(frozen=True, eq=False)
class Worst:
    """Rules on scores in the cells of a proxy, bounded in the worst case.

    `steps` are rows put together between two cuts, in the order of cells and scores; a cut selects
    its step and those after it, and the last of a cell none.
    """

    allowed: Allowed
    edges: tuple[Floats, ...]
    cost: Floats
    favorable: int = 1
    rising: ClassVar[bool] = False  # all of them are, so that nothing is lost by it

    @classmethod
    def of(cls, scores: Floats, allowed: Allowed, cost: Floats, favorable: int = 1) -> Worst:
        """Cuts midway between scores of a cell; `allowed` has the rows."""
        score, cells = scores[:, favorable], len(allowed.mixing)
        edges, place, first = [], np.empty(len(score), np.intp), 0
        for cell in range(cells):
            rows = np.flatnonzero(allowed.cell == cell)
            distinct = np.unique(score[rows])
            middle = (distinct[:-1] + distinct[1:]) / 2
            if len(middle) >= STEPS:
                middle = middle[np.linspace(0, len(middle) - 1, STEPS - 1).astype(np.intp)]
            place[rows] = first + np.searchsorted(middle, score[rows], side="left")
            edges.append(middle)
            first += len(middle) + 1
        sums = [np.bincount(place, column, first) for column in allowed.mass.T]
        mass = np.stack(sums, axis=1).astype(np.float64)
        of_cell = np.repeat(np.arange(cells), [len(cuts) + 1 for cuts in edges])
        # Costs of selecting and not, by whether a row is truly positive.
        costs = cost if favorable == 1 else cost[::-1, ::-1]
        return cls(replace(allowed, mass=mass, cell=of_cell), tuple(edges), costs, favorable)

    @property
    def cell(self) -> Codes:
        """The cell of each cut."""
        return np.repeat(np.arange(len(self.edges)), [len(cuts) + 2 for cuts in self.edges])

    def _after(self, steps: Floats) -> Floats:
        """The total that each cut selects, of steps with these amounts."""
        place = np.arange(len(steps)) + self.allowed.cell
        table = np.zeros(len(steps) + len(self.edges))
        table[place] = steps
        tail = np.cumsum(table[::-1])[::-1]
        starts = np.searchsorted(self.cell, np.arange(1, len(self.edges) + 1))
        return np.asarray(tail - np.append(tail, 0.0)[starts][self.cell])

    def chances(self, share: Floats) -> Floats:
        """The chance of every step, where cuts have these shares."""
        grown = np.cumsum(share)
        starts = np.searchsorted(self.cell, np.arange(len(self.edges)))
        grown -= (grown - share)[starts][self.cell]
        place = np.arange(len(self.allowed.cell)) + self.allowed.cell
        return np.asarray(np.clip(grown[place], 0.0, 1.0))

    def solve(self, epsilon: float) -> Solution:
        """The cheapest mixture of cuts whose worst gap is at most ε."""
        price = self.allowed.mass @ self.cost  # (steps, decision)
        cost = self._after(price[:, 1] - price[:, 0])
        constant, rounds = float(price[:, 0].sum()), 0
        # Above 1 no rule misses the bound, and none needs a cut.
        steps = np.arange(len(price)) / max(len(price), 1)
        cuts = self._cuts(*self.allowed.extremes(steps)) if epsilon < 1 else []
        while True:
            (share, prices), rounds = self._mixed(cost, cuts, epsilon), rounds + 1
            rates, members = self.allowed.extremes(self.chances(share))
            value, lowest = largest_gap(rates), float(cost @ share)
            if not value > epsilon + PRECISE or rounds == MOST_ROUNDS:
                break
            cuts += self._cuts(rates, members)
        share = self._blended(share, cost, epsilon, value)
        share = np.where(share > IN_USE, share, 0.0)
        share /= np.bincount(self.cell, share)[self.cell]
        rates = self.allowed.extremes(self.chances(share))[0]
        value_of_rule, rule = float(cost @ share), self.rule(share)
        return Solution(
            rule,
            constant + value_of_rule,
            max(value_of_rule - lowest, 0.0),
            largest_gap(rates),
            rates.reshape(-1, self.allowed.groups),
            prices.reshape(-1, self.allowed.groups),
            rounds,
            NO_COLUMNS,
            self._nearest(rule, share, cost, constant),
        )

    def _cuts(self, rates: Floats, members: Floats) -> list[Cut]:
        """The cuts from these members for each rate, and in each cell for conditional rates."""
        cuts = []
        is_conditional = any(0.0 in look for look in LOOKS[self.allowed.criterion])
        sizes_of_cells = np.bincount(
            self.allowed.cell, self.allowed.mass.sum(axis=1), len(self.edges)
        )
        sizes = sizes_of_cells @ self.allowed.mixing
        for at in np.ndindex(rates.shape):
            if not np.isfinite(rates[at]):
                continue
            hits, total = self._after(members[at]), members[at].sum()
            cuts.append(Cut(at, hits / total, 1.0))
            if is_conditional:
                weights = np.bincount(self.allowed.cell, members[at], len(self.edges))
                cuts += [
                    Cut(at, np.where(self.cell == cell, hits, 0.0) / sizes[at[2]], weight, cell)
                    for cell, weight in enumerate((weights / sizes[at[2]]).tolist())
                ]
        return cuts

    def _mixed(self, cost: Floats, cuts: list[Cut], epsilon: float) -> tuple[Floats, Floats]:
        """The share of each cut, and the prices of rates, subject to the cuts so far."""
        from scipy import sparse

        looks, groups, cells = len(self.allowed.looks), self.allowed.groups, len(self.edges)
        shape, columns = (2, looks, groups), len(cost)
        rates = np.arange(2 * looks * groups).reshape(shape) + columns
        excess = np.arange(rates.size * cells).reshape(*shape, cells) + columns + rates.size
        width = columns + rates.size + excess.size
        rows: list[tuple[Codes, Floats]] = []
        for cut in cuts:
            sign = 1.0 if cut.at[0] == 0 else -1.0
            nonzero = np.flatnonzero(cut.hits)
            place, value = (
                [*nonzero, rates[cut.at]],
                [*(sign * cut.hits[nonzero]), -sign * cut.weight],
            )
            if cut.cell is not None:
                place, value = [*place, excess[*cut.at, cut.cell]], [*value, -1.0]
            rows.append((np.array(place), np.array(value)))
        within = {cut.at for cut in cuts if cut.cell is not None}
        rows += [(excess[at], np.ones(cells)) for at in sorted(within)]
        bounded = {cut.at for cut in cuts}
        pairs = [
            (np.array([rates[0, look, g], rates[1, look, h]]), np.array([1.0, -1.0]))
            for look in range(looks)
            for g in range(groups)
            for h in range(groups)
            if g != h and {(0, look, g), (1, look, h)} <= bounded
        ]
        every = rows + pairs
        ends = np.cumsum([0, *(len(place) for place, _ in every)])
        parts = [np.concatenate([row[part] for row in every] or [np.empty(0)]) for part in (1, 0)]
        member = sparse.csr_array(
            (np.ones(columns), (self.cell, np.arange(columns))), (cells, width)
        )
        ends_of = np.concatenate([np.ones(columns + rates.size), np.full(excess.size, np.inf)])
        solution = linear_program(
            np.append(cost, np.zeros(width - columns)),
            A_ub=sparse.csr_array((parts[0], parts[1], ends), (len(every), width)),
            b_ub=np.append(np.zeros(len(rows)), np.full(len(pairs), epsilon)),
            A_eq=member,
            b_eq=np.ones(cells),
            bounds=np.column_stack([np.where(np.isinf(ends_of), -np.inf, 0.0), ends_of]),
        )
        prices = np.zeros(rates.size)
        duals = -solution.ineqlin.marginals[len(rows) :]
        for (pair, signs), dual in zip(pairs, duals.tolist(), strict=True):
            prices[pair - columns] += signs * dual
        return np.maximum(solution.x[:columns], 0.0), prices

    def _blended(self, share: Floats, cost: Floats, epsilon: float, value: float) -> Floats:
        """Blend in a little of the cheapest equal decision for everyone until the bound is met."""
        if not value > epsilon + PRECISE:
            return share
        starts = np.searchsorted(self.cell, np.arange(len(self.edges)))
        alike = np.zeros((2, len(share)))
        alike[0, starts] = 1.0
        alike[1, np.append(starts[1:], len(share)) - 1] = 1.0
        cheapest = alike[int(np.argmin(alike @ cost))]
        part = epsilon / value
        return np.asarray(part * share + (1 - part) * cheapest)

    def rule(self, share: Floats) -> DecisionRule:
        """The cuts in use, as prices: those of selecting are the cut less the score."""
        cuts = np.concatenate([np.r_[-np.inf, edges, np.inf] for edges in self.edges])
        used = np.flatnonzero(share > 0)
        prices = np.zeros((len(used), 2, 2))
        cut = cuts[used]
        inside = np.isfinite(cut)
        price = np.where(inside, cut, np.sign(cut))[:, None] * np.ones(2)
        price[:, self.favorable] -= inside
        prices[:, :, self.favorable] = price
        return DecisionRule(prices, self.cell[used], share[used])

    def _nearest(self, rule: DecisionRule, share: Floats, cost: Floats, constant: float) -> Nearest:
        """The most frequent cut of each cell, for everyone in it."""
        sure = np.zeros(len(share))
        sure[most_frequent(self.cell, share)] = 1.0
        rates = self.allowed.extremes(self.chances(sure))[0]
        return Nearest(
            rule.nearest(),
            constant + float(cost @ sure),
            largest_gap(rates),
            rates.reshape(-1, self.allowed.groups),
        )
