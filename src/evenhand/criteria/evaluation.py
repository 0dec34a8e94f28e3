"""Evaluation of any criterion by name."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from evenhand._columns import Label
from evenhand._data.data import Data
from evenhand._data.doors import about_data
from evenhand._errors import InputError, InputTypeError
from evenhand._kinds import check_kinds
from evenhand._signatures import REFERENCE, SETTINGS, documented
from evenhand._words import did_you_mean
from evenhand.criteria.catalogue import ALIASES, CRITERIA
from evenhand.criteria.criterion import Criterion
from evenhand.criteria.terms import TERMS
from evenhand.measures import Aggregate, MeasureLike, resolve


class UndefinedWarning(UserWarning):
    """A criterion is undefined, because fewer than two groups were observed in its cells."""


@about_data()
@documented(settings=SETTINGS, reference=REFERENCE)
def evaluate(
    criterion: str | Criterion,
    data: Data,
    *,
    measure: MeasureLike | None = None,
    aggregate: str | Aggregate | None = None,
    g: str | Callable[[Any, Any], Any] | None = None,
    transform: str | None = None,
    tau: float | None = None,
    to: Label = None,
) -> float:
    """Value of a criterion: how unequal the groups are; 0 is equal, larger is worse.

    Parameters
    ----------
    criterion : str or Criterion
        A name in `CRITERIA`, such as "equalized_odds", or another that the field has for it,
        such as "demographic_parity"; or a criterion of your own.
    {data}
    {settings}
    {reference}

    Returns
    -------
    float
        How unequal; NaN, with an `UndefinedWarning`, if fewer than two groups were observed.

    Raises
    ------
    InputError
        If a column cannot be used, or something that the criterion needs was not given.
    InputTypeError
        If columns are passed together with counts, which already contain them.

    See Also
    --------
    tally : Count rows once, for many criteria.
    Criterion.read : The value with its cells, groups, and what was left out.

    Examples
    --------
    >>> import evenhand as eh
    >>> truth, predicted = ["no", "yes", "no", "yes"], ["no", "yes", "yes", "yes"]
    >>> group = ["a", "a", "b", "b"]
    >>> eh.evaluate("statistical_parity", truth, predicted, sensitive_features=group, measure="mpd")
    0.5

    Count once, ask often:

    >>> counts = eh.tally(truth, predicted, sensitive_features=group)
    >>> round(eh.evaluate("statistical_parity", counts, measure=eh.gini), 4)
    0.5

    """
    choices = {"measure": measure, "aggregate": aggregate, "transform": transform, "tau": tau}
    reading = criterion_of(criterion, data).read_data(data, **choices, g=g, to=to)
    if np.ndim(reading.value):
        raise InputError(
            f"This is a batch of tallies, {np.shape(reading.value)} in all, and evaluate gives one "
            f"number; call the criterion itself: CRITERIA[{reading.criterion!r}](counts)."
        )
    warn_if_undefined(reading.value, reading)
    return float(reading)


def warn_if_undefined(value: Any, said: object) -> None:
    """Warn the caller of a function that takes data where its value is undefined."""
    if np.isnan(value).all():
        warnings.warn(f"Undefined: {said}", UndefinedWarning, stacklevel=4)


OF_NUMBERS = ("SP", "S-SP", "EO", "S-EO")  # the paper defines each for labels and for numbers
FORMS = dict.fromkeys(("EO(regression)", "S-EO(regression)"), "performance_parity(mse)")


def criterion_of(criterion: str | Criterion, data: Data) -> Criterion:
    """The criterion that a name stands for, given the task of the data."""
    depends_on_task = isinstance(criterion, str) and split_name(criterion)[0] in OF_NUMBERS
    return named(criterion, (data.task or data.counted.task) if depends_on_task else None)


def criterion_without_measure(criterion: str | Criterion, data: Data, instead: str) -> Criterion:
    """The criterion of a function that has no measure; `instead` is what it has, and a way out."""
    name, measure = split_name(criterion) if isinstance(criterion, str) else ("", None)
    if measure is not None:
        raise InputError(f"{criterion!r} names a measure, and {instead} Ask {name!r}.")
    return criterion_of(criterion, data)


def named(criterion: str | Criterion, task: str | None = None) -> Criterion:
    """Find a criterion by one of its names; a criterion is returned unchanged.

    A name may include a statistic and a measure. The paper's SP and EO mean one criterion for
    labels and another for numbers.

    >>> named("performance_parity(f1)").statistic.formula
    '2 tp / (2 tp + fp + fn)'
    >>> named("demographic_parity.pq(p=0.5)").measure
    'pq(p=0.5)'
    >>> named("S-SP").name, named("S-SP", "regression").name, named("S-SP (weak)").name
    ('statistical_parity', 'strong_parity', 'weak_parity')
    """
    if isinstance(criterion, Criterion):
        return criterion
    if not isinstance(criterion, str):
        check_kinds(criterion=criterion)
        raise InputTypeError(f"criterion must be a criterion or its name, not {criterion!r}.")
    name, measure = split_name(criterion)
    if measure is not None:
        return replace(named(name, task), measure=resolve(measure).name)
    name = re.sub(r"\s+\(", "(", name)
    if name in OF_NUMBERS and task == "regression":
        name += "(regression)"
    if name in FORMS:  # of the squared error, unless another g is named
        return replace(named(FORMS[name]), general=CRITERIA["performance_parity"])
    if name in CRITERIA or name in ALIASES:
        return CRITERIA[ALIASES.get(name, name)]
    form = re.fullmatch(r"([\w-]+)\((\w+)\)", name)
    if form is not None:
        general = named(form[1]).with_statistic(form[2])
        return replace(general, name=f"{general.name}({form[2]})", takes_g=False)
    hint = did_you_mean(name, [*CRITERIA, *ALIASES], TERMS)
    raise InputError(f"There is no criterion {name!r}.{hint} There are {list(CRITERIA)}.")


def split_name(name: str) -> tuple[str, str | None]:
    """A criterion's name, and the measure after its dot if there is one.

    >>> split_name("performance_parity(f1).gini"), split_name("S-SP")
    (('performance_parity(f1)', 'gini'), ('S-SP', None))
    """
    form = re.fullmatch(r"\s*([^.()]*(?:\([^()]*\))?)\s*\.\s*(.+?)\s*", name)
    return (name, None) if form is None else (form[1], form[2])
