"""The names of estimators' parameters: those that are not known are refused, with the nearest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from inspect import signature
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator

from evenhand._errors import InputError, InputTypeError
from evenhand._words import did_you_mean

RENAMED = {
    "alpha": "epsilon",
    "constraint": "criterion",
    "cost": "criterion",
    "delta": "epsilon",
    "difference_bound": "epsilon",
    "eps": "epsilon",
    "favourable": "favorable",
}


class NamedParameters(BaseEstimator):  # type: ignore[misc]
    """An estimator that refuses a parameter it does not have, and names the one that is meant.

    What a parameter was called before is answered with its present name; `_renamed` adds to
    `RENAMED` where an estimator has a history of its own.

    >>> class Tempered(NamedParameters):
    ...     def __init__(self, epsilon=0.1):
    ...         self.epsilon = epsilon
    >>> Tempered(alpha=0.2)
    Traceback (most recent call last):
    evenhand._errors.InputTypeError: Tempered has no parameter 'alpha': it is 'epsilon' now.
    >>> Tempered().set_params(epslion=0.2)
    Traceback (most recent call last):
    evenhand._errors.InputError: Tempered has no parameter 'epslion'. Did you mean 'epsilon'?
    """

    _renamed: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        """Check the names that a subclass's own `__init__` is called with; it stays as signed."""
        super().__init_subclass__(**options)
        if "__init__" in cls.__dict__:
            cls.__init__ = _checked(cls.__init__)  # type: ignore[method-assign]

    def set_params(self, **params: Any) -> Self:
        """Set parameters of this estimator, or by ``estimator__name`` of the one underneath."""
        known = self._get_param_names()
        for name in params:
            if name.partition("__")[0] not in known:
                raise InputError(unknown_parameter(type(self), name, known))
        super().set_params(**params)
        return self


def unknown_parameter(cls: type[NamedParameters], name: str, known: Iterable[str]) -> str:
    """A sentence on a parameter that a class does not have."""
    known = list(known)
    present = (RENAMED | dict(cls._renamed)).get(name)
    if present in known:
        return f"{cls.__name__} has no parameter {name!r}: it is {present!r} now."
    hint = did_you_mean(name, known) or f" Its parameters are {', '.join(known)}."
    return f"{cls.__name__} has no parameter {name!r}.{hint}"


def _checked(init: Callable[..., None]) -> Callable[..., None]:
    """The same constructor, which says more than Python would of a name that it does not take."""
    known = [name for name in signature(init).parameters if name != "self"]

    @wraps(init)
    def checked(self: NamedParameters, *args: Any, **params: Any) -> None:
        for name in params:
            if name not in known:
                raise InputTypeError(unknown_parameter(type(self), name, known))
        init(self, *args, **params)

    return checked
