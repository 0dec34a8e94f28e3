"""The objective of a frontier: disparity, cost, and further requirements."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from evenhand._columns import Label
from evenhand._columns.encoding import floats
from evenhand._data.groups import place_in, show
from evenhand._errors import InputError, InputTypeError
from evenhand._kinds import check_labels
from evenhand._words import did_you_mean
from evenhand.criteria.evaluation import named, split_name
from evenhand.measures import Measure, MeasureLike, resolve
from evenhand.mitigation.crossfit.rows import LARGEST, Floats, Rows
from evenhand.mitigation.optimal import (
    ONE_CLASS,
    RATES,
    RateForms,
    Requirement,
    at_least,
    at_most,
    compared,
    evenly,
    in_total,
    near,
    rate_forms,
    require_convex,
    require_extremes,
)
from evenhand.mitigation.optimal.worst import Allowed, check_worst

CRITERIA = (*RATES, "selection_rate_ratio")
RATES_BY_NAME = {
    "selection_rate": "selection_rate_ratio",
    "true_positive_rate": "equal_opportunity",
    "false_positive_rate": "predictive_equality",
}
Also = Mapping[str, float] | Sequence[tuple[str, str, float]]


@dataclass(frozen=True, eq=False)
class Objective:
    """A criterion by a measure, the cost of decisions, and further requirements.

    Where the favorable class was `stated`, every criterion is about it alone, as for `evaluate`.
    """

    criterion: str
    measure: Measure
    cost: Floats
    reference: int | None = None
    also: tuple[tuple[str, Measure, float], ...] = ()
    floors: tuple[tuple[str, float], ...] = ()
    ceilings: tuple[tuple[str, float], ...] = ()
    capacity: float | None = None
    stated: bool = False

    def requirements(
        self, mass: Floats, favorable: int | None, epsilon: float
    ) -> list[Requirement]:
        """The requirements of rates of rows with this mass of groups and classes."""
        chosen = self._forms(self.criterion, self.measure, mass, favorable)
        if self.reference is None:
            first = evenly(chosen, self.measure, epsilon)
        else:
            first = near(chosen, self.reference, self.measure, epsilon)
        further = [
            evenly(self._forms(name, measure, mass, favorable), measure, bound)
            for name, measure, bound in self.also
        ]
        for kind, bounds, sign in ((at_least, self.floors, "≥"), (at_most, self.ceilings, "≤")):
            further += [
                kind(
                    f"{name.replace('_', ' ')} {sign} {bound:g}",
                    rate_forms(RATES_BY_NAME[name], mass, favorable),
                    bound,
                )
                for name, bound in bounds
            ]
        if self.capacity is not None:
            selection = rate_forms("selection_rate_ratio", mass, favorable)
            share = mass.sum(axis=1)
            name = f"{self.capacity:.4g} of all selected"
            further.append(in_total(name, selection, share, self.capacity))
        return [first, *further]

    def forms(self, mass: Floats, favorable: int | None) -> RateForms:
        """The rates whose disparity is bounded."""
        return self._forms(self.criterion, self.measure, mass, favorable)

    def value(self, confusion: Floats, favorable: int | None) -> float:
        """The disparity of decisions, NaN if there are no two rates to compare."""
        mass = confusion.sum(axis=2)
        first = self.requirements(mass, favorable, 1.0)[0]
        observed = first.forms.observed
        compared = observed.sum(axis=1) >= 2
        if self.reference is not None:
            compared &= observed[:, self.reference]
        if not compared.any():
            return float("nan")
        return first.worst(first.forms(confusion))

    def allowed(self, rows: Rows, truth: Floats) -> Allowed:
        """The possible groups of rows, where only a proxy of them is known."""
        assert rows.proxy is not None
        assert rows.group_proba is not None
        mass = truth * rows.weight[:, None]
        return Allowed.of(mass, rows.proxy, rows.group_proba, self.criterion)

    def price(self, confusion: Floats) -> float:
        """The mean cost of decisions."""
        return float(np.einsum("ky,aky->", self.cost, confusion))

    def _forms(
        self, criterion: str, measure: Measure, mass: Floats, favorable: int | None
    ) -> RateForms:
        favorable_class = favorable if self.is_about_one(criterion) else None
        return compared(criterion, mass, measure, favorable_class)

    def is_about_one(self, criterion: str) -> bool:
        """Whether a criterion looks at the favorable class alone."""
        return self.stated or criterion in ONE_CLASS


def read_objective(
    rows: Rows,
    criterion: str,
    measure: MeasureLike,
    *,
    cost: Any = None,
    reference: Label = None,
    also: Also = (),
    at_least: Mapping[str, float] | None = None,
    at_most: Mapping[str, float] | None = None,
    capacity: float | None = None,
) -> Objective:
    """The validated objective."""
    by = convex(measure)
    further = _further(also, by)
    for name in (criterion, *(name for name, *_ in further)):
        _among(name, CRITERIA, "criterion")
    compared = {criterion, *(name for name, *_ in further)}
    if rows.proxy is not None:
        about = {
            "also": further,
            "reference": reference,
            "at_least": at_least,
            "at_most": at_most,
            "capacity": capacity,
        }
        check_worst(by, len(rows.classes), **about)
    if "selection_rate_ratio" in compared and rows.favorable is None:
        raise InputError("selection_rate_ratio is about one class: name it by favorable=.")
    return Objective(
        criterion,
        by,
        _costs(cost, rows),
        _reference(reference, by, rows),
        further,
        _limits(at_least),
        _limits(at_most),
        _capacity(capacity, rows),
        rows.stated,
    )


def check_disparity(value: Any) -> None:
    """Refuse an invalid bound of a disparity."""
    if not _is_number(value) or not value >= 0:
        raise InputError(f"A disparity is a number, at least 0; {value!r} was asked for.")


def convex(measure: MeasureLike) -> Measure:
    """A measure with convex bounds."""
    registered = resolve(measure)
    require_convex(registered)
    return registered


def _further(also: Any, measure: Measure) -> tuple[tuple[str, Measure, float], ...]:
    """Further criteria, each with its measure and its bound."""
    try:
        pairs = list(also.items() if isinstance(also, Mapping) else also)
        listed = [_by(measure, *pair) if len(pair) == 2 else tuple(pair) for pair in pairs]
        if all(len(entry) == 3 and _is_number(entry[2]) and entry[2] >= 0 for entry in listed):
            return tuple(
                (named(name).name, convex(kind), float(bound)) for name, kind, bound in listed
            )
    except InputError:
        raise
    except (TypeError, ValueError):
        pass
    raise InputTypeError(
        "also is a mapping of criteria to bounds, such as {'equal_opportunity': 0.05}, or a list "
        f"of (criterion, measure, bound), with bounds from 0 on; not {also!r}."
    )


def _by(measure: Measure, name: str, bound: float) -> tuple[str, MeasureLike, float]:
    """A further criterion by the measure in its name, or by that of the first."""
    own = split_name(name)[1]
    return name, measure if own is None else own, bound


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and not math.isnan(value)


def _among(name: str, available: Sequence[str], kind: str) -> None:
    if not isinstance(name, str) or name not in available:
        raise InputError(
            f"A frontier is not traced for the {kind} {name!r}.{did_you_mean(name, available)} "
            f"It is one of {', '.join(available)}."
        )


def _limits(limits: Mapping[str, float] | None) -> tuple[tuple[str, float], ...]:
    for name, bound in (limits or {}).items():
        _among(name, tuple(RATES_BY_NAME), "rate")
        if not _is_number(bound) or not 0 <= bound <= 1:
            raise InputError(
                f"The {name} of a group lies between 0 and 1; {bound!r} was asked for."
            )
    return tuple((name, float(bound)) for name, bound in (limits or {}).items())


def _costs(cost: Any, rows: Rows) -> Floats:
    """A matrix (truth, decision), of two classes also by the names of errors."""
    count = len(rows.classes)
    if cost is None:
        return 1 - np.eye(count)
    if isinstance(cost, Mapping):
        errors = ("false_positive", "false_negative")
        if count != 2 or set(cost) - set(errors):
            raise InputError(f"cost by name is of two classes and of {errors}; it is {dict(cost)}.")
        cost = [[0.0, cost.get(errors[0], 0.0)], [cost.get(errors[1], 0.0), 0.0]]
    table = floats(cost, "cost")
    if table.shape != (count, count) or not np.isfinite(table).all():
        raise InputError(
            f"cost must hold {count} × {count} numbers, a row for each true class and a column for "
            f"each decision, in the order {[show(label) for label in rows.classes]}; its shape is "
            f"{table.shape}."
        )
    if np.abs(table).max() > LARGEST:
        raise InputError(f"cost holds numbers beyond {LARGEST:g}: divide all of them by the same.")
    return table


def _reference(reference: Label, measure: Measure, rows: Rows) -> int | None:
    if reference is None:
        return None
    check_labels(reference=reference)
    require_extremes(measure)
    place = place_in(rows.groups, reference)
    if place < 0:
        raise InputError(
            f"The reference {reference!r} is none of the groups "
            f"{[show(label) for label in rows.groups[:10]]}."
        )
    return place


def _capacity(capacity: float | None, rows: Rows) -> float | None:
    """The share of rows selected; whole numbers count rows."""
    if capacity is None:
        return None
    if rows.favorable is None:
        raise InputError("capacity is about one class: name it by favorable=.")
    total = float(rows.weight.sum())
    share = float(capacity) if isinstance(capacity, float) and capacity < 1 else capacity / total
    if not 0 <= share <= 1:
        raise InputError(f"{capacity} cannot be selected of {total:g} rows.")
    return share
