"""Treatments: a method with one constraint, over the values of its hyperparameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from inspect import signature
from math import inf, isfinite
from typing import Any

from evenhand._errors import InputError, InputTypeError, require, require_package
from evenhand._words import did_you_mean
from evenhand.benchmark.adapters import ADAPTERS
from evenhand.benchmark.design.bases import Base
from evenhand.benchmark.design.fingerprints import (
    described,
    fingerprint,
    is_own,
    without_versions,
)
from evenhand.benchmark.design.importing import entry_point
from evenhand.benchmark.design.problems import Extent
from evenhand.mitigation.group_reader import Stage
from evenhand.mitigation.methods import METHODS, Method, Task

BASE = "Base"
ENTRY_POINTS = "evenhand.methods"


@dataclass(frozen=True, kw_only=True)
class Treatment:
    """A method with one constraint, over a grid; without a method, the base model as it is.

    `treatment` makes one from the name of a method, or from a class.

    Parameters
    ----------
    name : str, default "Base"
        What it is called in results and figures.
    method : Method, optional
        The method; None for the base model as it is.
    constraint : str, optional
        The criterion that the method has to meet.
    grid : tuple of float, default (None,)
        Values of the method's hyperparameter; (None,) for its default.
    settings : mapping, default {}
        Further parameters of the method's estimator.
    fit_rows : int, optional
        Fit the method (not the base model) to a sample of that many training rows.

    Examples
    --------
    >>> Treatment().name
    'Base'

    """

    name: str = BASE
    method: Method | None = None
    constraint: str | None = None
    grid: tuple[float | None, ...] = (None,)
    settings: Mapping[str, Any] = field(default_factory=dict)
    fit_rows: int | None = None

    def __post_init__(self) -> None:
        for value in self.grid:
            if isinstance(value, float) and not isfinite(value):
                raise InputError(
                    f"The grid of {self.name!r} holds {value}; use a large number instead."
                )
        if self.method is not None and is_own(self.method.estimator.__module__):
            _ = self.fingerprint  # of the code as it is loaded now, even if the file changes

    @property
    def is_post(self) -> bool:
        """Whether it reads only a fitted model's scores."""
        return self.method is not None and self.method.stage == "post"

    def obstacle(self, extent: Extent, base: Base) -> str | None:
        """Why the method cannot do this problem on this base model; None if it can."""
        if extent.kind not in base.kinds:
            return f"{base.name} does no {extent.kind}"
        method = self.method
        if method is None:
            return None
        if method.task != extent.kind:
            return f"{self.name} does no {extent.kind}"
        if extent.classes > _limit(method.classes):
            return f"{self.name} takes {method.classes} classes, and there are {extent.classes}"
        if extent.groups > _limit(method.groups):
            return f"{self.name} takes {method.groups} groups, and there are {extent.groups}"
        if method.stage != "post" and base.is_truth:
            return f"{self.name} fits a model, and {base.name} is none"
        if method.needs_group_at_predict and base.is_blind:
            return f"{self.name} needs the group at decision, and {base.name} is blind to it"
        if not method.needs_base and base.encoding == "ordinal":
            return f"{self.name} trains a network, and {base.name} numbers its categories"
        if method.needs_sample_weight and not base.takes_weights(extent.kind):
            return f"{self.name} weighs rows, and {base.name} takes no weights"
        return None

    def takes(self, extent: Extent, base: Base) -> bool:
        """Whether the method can do this problem at all, on this base model."""
        return self.obstacle(extent, base) is None

    def thinned(self, most: int) -> Treatment:
        """The same with at most this many values of its grid, evenly chosen, with both ends.

        >>> Treatment(grid=(1.0, 2.0, 3.0, 4.0, 5.0)).thinned(3).grid
        (1.0, 3.0, 5.0)
        """
        if len(self.grid) <= most:
            return self
        step = (len(self.grid) - 1) / max(most - 1, 1)
        return replace(self, grid=tuple(self.grid[round(i * step)] for i in range(most)))

    @cached_property
    def fingerprint(self) -> str:
        """What its predictions depend on, for given scores: settings, code and versions."""
        return BASE if self.method is None else fingerprint(self._described)

    @cached_property
    def code(self) -> str:
        """The same without the versions of other packages."""
        return BASE if self.method is None else fingerprint(without_versions(self._described))

    @cached_property
    def _described(self) -> list[Any]:
        assert self.method is not None
        method, settings = self.method, {**self.method.settings, **self.settings}
        use = [method.hyperparameter, method.stage, method.randomized]
        return [described(method.estimator), described(settings), use]


def _limit(number: str | int) -> float:
    return number if isinstance(number, int) else {"two": 2.0, "any": inf}[number]


def treatment(
    method: str | Method | type[Any],
    constraint: str | None = None,
    *,
    grid: Sequence[float] | None = None,
    name: str | None = None,
    settings: Mapping[str, Any] | None = None,
    fit_rows: int | None = None,
    stage: Stage = "in",
    hyperparameter: str | None = None,
    randomized: bool = False,
) -> Treatment:
    """A method with one constraint, over its own grid or another.

    Parameters
    ----------
    method : str, Method or class
        A name of `evenhand.mitigation.METHODS` or `ADAPTERS`, a method of your own, or the class
        of an estimator with the parameters `estimator` and `group`, defined anywhere, in a
        notebook too.
    constraint : str, optional
        The criterion that the method has to meet; by default the first that it can.
    grid : sequence of float, optional
        Values of the method's hyperparameter; by default those that the method declares.
    name : str, optional
        What it is called in results and figures; by default the method's name.
    settings : mapping, optional
        Further parameters of the method's estimator.
    fit_rows : int, optional
        Fit the method to a sample of that many training rows.
    stage : {"pre", "in", "post"}, default "in"
        Of a class: "post" if it adjusts the scores of a fitted model.
    hyperparameter : str, optional
        Of a class: the parameter that the grid is about.
    randomized : bool, default False
        Of a class: whether it decides at random, with the chances in `predict_proba`.

    Returns
    -------
    Treatment
        A value to put into a `Study`.

    Raises
    ------
    ValueError
        If there is no method of that name.

    Examples
    --------
    >>> treatment("LinearPost", "equalized_odds", grid=[0.01, 0.1]).grid
    (0.01, 0.1)

    """
    if isinstance(method, type):
        method = own_method(
            method,
            name=name or method.__name__,
            criteria=() if constraint is None else (constraint,),
            stage=stage,
            hyperparameter=hyperparameter,
            randomized=randomized,
        )
    elif isinstance(method, str):
        method = find_method(method)
    constraint = constraint or next(iter(method.criteria), None)
    values: tuple[float | None, ...] = tuple(
        method.grid.get(constraint or "", ()) if grid is None else grid
    )
    return Treatment(
        name=name or method.name,
        method=method,
        constraint=constraint,
        grid=values if method.hyperparameter and values else (None,),
        settings=dict(settings or {}),
        fit_rows=fit_rows,
    )


def find_method(name: str) -> Method:
    """A method by name: of this package, an adapter's, or one that an installed package offers."""
    methods = {**METHODS, **ADAPTERS}
    if name in ADAPTERS:
        require_package(name.partition(".")[0], f"The method {name!r}")
    if name in methods:
        if (extra := methods[name].extra) is not None:
            require(extra, purpose=f"The method {name!r}", extra=extra)
        return methods[name]
    method = entry_point(ENTRY_POINTS, name)
    if method is None:
        raise InputError(
            f"There is no method {name!r}.{did_you_mean(name, methods)} "
            f"There are {', '.join(methods)}. "
            "For one of your own, say estimator = 'package.module:Class'."
        )
    return method if isinstance(method, Method) else own_method(method, name=name)


def own_method(
    estimator: Any,
    *,
    name: str,
    criteria: Sequence[str] = (),
    stage: Stage = "in",
    task: Task | None = None,
    **declared: Any,
) -> Method:
    """A method made of the class of an estimator."""
    from sklearn.base import RegressorMixin

    if not isinstance(estimator, type) or not hasattr(estimator, "get_params"):
        raise InputTypeError(
            f"The method {name!r} is {estimator!r}, which is not a class of estimators; derive one "
            "from sklearn.base.BaseEstimator."
        )
    parameters = signature(estimator).parameters
    absent = [name for name in ("estimator", "group") if name not in parameters]
    if absent:
        raise InputTypeError(
            f"The method {name!r}, {estimator.__name__}, has no parameter {absent[0]!r}; a method "
            "is called as Class(base_model, group=column)."
        )
    guess: Task = "regression" if issubclass(estimator, RegressorMixin) else "classification"
    return Method(
        name=name,
        estimator=estimator,
        stage=stage,
        task=task or guess,
        criteria=tuple(criteria),
        needs_group_at_predict=True,
        citation=f"{estimator.__module__}.{estimator.__qualname__}",
        **{"randomized": False, **declared},
    )
