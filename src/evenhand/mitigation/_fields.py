"""Estimators whose parameters are fields, declared once with their allowed values and prose.

A parameter's annotation is its check: `Share` is a number from 0 to 1, `Literal["a", "b"]` one of
two, `bool` True or False. Values are read at fit, not when they are set, as scikit-learn wants it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from inspect import Parameter, cleandoc, get_annotations, signature
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    Self,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
)

import numpy as np
from sklearn.base import BaseEstimator

from evenhand._errors import InputError
from evenhand._signatures import misspelt

FIRST = ("estimator", "group")  # of every method; then its own parameters, then its parents'
SHARED = """\
favorable : label, default None
    The label of the better outcome for people, which criteria about one class are about. None is 1
    where the labels are 0 and 1, or −1 and 1; of other labels it must be named where it matters."""
HEADING = re.compile(r"^([A-Z][A-Za-z ]+)\n-+\n", re.MULTILINE)


class Values(NamedTuple):
    """The values a parameter may have: in words, and a test."""

    words: str
    allow: Callable[[Any], bool]


def number(low: float, high: float = math.inf, *, above: bool = False) -> Values:
    """A number between two, or above the first."""
    minimum = f"above {low:g}" if above else f"of at least {low:g}"
    words = f"a number {minimum}" if high == math.inf else f"a number from {low:g} to {high:g}"

    def allow(value: Any) -> bool:
        if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
            return False
        return (low < float(value) if above else low <= float(value)) and float(value) <= high

    return Values(words, allow)


def integer(minimum: int) -> Values:
    """An integer of at least this."""
    return Values(
        f"a whole number of at least {minimum}",
        lambda value: (
            isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= minimum
        ),
    )


def _is_range(value: Any) -> bool:
    """Whether a value is two finite numbers, the second above the first."""
    try:
        low, high = (float(end) for end in value)
    except (TypeError, ValueError):
        return False
    return math.isfinite(low) and math.isfinite(high) and low < high


def _are_columns(value: Any) -> bool:
    """Whether a value may name a column or several, or be their positions."""
    if isinstance(value, list | tuple):
        return bool(value) and all(map(_are_columns, value))
    return isinstance(value, str | Integral) and not isinstance(value, bool)


NonNegative = Annotated[float, number(0)]
Positive = Annotated[float, number(0, above=True)]
Share = Annotated[float, number(0, 1)]
Count = Annotated[int, integer(1)]
Unseen = Literal["error", "base"]
Range = Annotated[tuple[float, float], Values("two numbers, the second above the first", _is_range)]
RowId = Annotated[Any, Values("a column, a list of columns or 'index'", _are_columns)]


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
class Fields(BaseEstimator):  # type: ignore[misc]
    """An estimator whose parameters are the annotated names of its class, by keyword.

    A method that lacks a parameter of its parent gives it a value that is not in the constructor,
    ``field(default=False, init=False)``. A subclass documents what it adds or changes; what its
    docstring does not say comes from its parents'.

    >>> class Tempered(Fields):
    ...     epsilon: NonNegative = 0.1
    >>> Tempered(epslion=0.2)
    Traceback (most recent call last):
    evenhand.InputTypeError: Tempered has no argument 'epslion'. Did you mean 'epsilon'?
    >>> Tempered(epsilon=-1)._check_values()
    Traceback (most recent call last):
    evenhand.InputError: epsilon of Tempered must be a number of at least 0, not -1.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        """Make the constructor, with the method's own parameters first, and complete the docs."""
        super().__init_subclass__(**options)
        dataclass(kw_only=True, eq=False, repr=False)(cls)
        cls.__signature__ = _signature(cls)
        if cls.__dict__.get("__doc__"):
            cls.__doc__ = _completed_docs(cls)

    def __new__(cls, *_: Any, **params: Any) -> Self:
        """Refuse an unknown parameter, and suggest the nearest."""
        if not params.keys() <= signature(cls).parameters.keys():
            raise misspelt(cls, params)
        new: Self = super().__new__(cls)
        return new

    def set_params(self, **params: Any) -> Self:
        """Set parameters of this estimator, or by ``estimator__name`` of the one underneath.

        Parameters
        ----------
        **params : dict
            The parameters' new values, by name.

        Returns
        -------
        estimator
            This estimator.

        """
        own = {name.partition("__")[0]: value for name, value in params.items()}
        if not own.keys() <= signature(type(self)).parameters.keys():
            raise InputError(str(misspelt(type(self), own)))
        super().set_params(**params)
        return self

    def _check_values(self) -> None:
        """Refuse invalid values of parameters."""
        allowed = values_of(type(self))  # type: ignore[arg-type]
        for name, value in self.get_params(deep=False).items():
            if name in allowed and not allowed[name].allow(value):
                raise InputError(
                    f"{name} of {type(self).__name__} must be {allowed[name].words}, not {value!r}."
                )


@cache  # by class
def values_of(cls: type[Fields]) -> Mapping[str, Values]:
    """The allowed values of each parameter of an estimator, by its annotation."""
    hints: dict[str, Any] = {}
    for parent in reversed(cls.__mro__):
        try:
            hints |= get_annotations(parent, eval_str=True)
        except NameError:  # names that only type checkers see say nothing here
            continue
    read = {name: _values(hints[name]) for name in signature(cls).parameters if name in hints}
    return {name: values for name, values in read.items() if values is not None}


def _values(hint: Any) -> Values | None:
    """The values an annotation allows; None if it allows any."""
    if get_origin(hint) is Annotated:
        return next((item for item in hint.__metadata__ if isinstance(item, Values)), None)
    if hint is bool:
        return Values("True or False", lambda value: isinstance(value, bool | np.bool_))
    if hint is str:
        return Values("a name", lambda value: isinstance(value, str))
    if get_origin(hint) is Literal:
        options = get_args(hint)
        return Values(
            _either([repr(option) for option in options]),
            lambda value: isinstance(value, str) and value in options,
        )
    if get_origin(hint) in (Union, UnionType):
        parts = [_values(part) for part in get_args(hint) if part is not NoneType]
        allowed = [part for part in parts if part is not None]
        if len(allowed) < len(parts):
            return None
        optional = NoneType in get_args(hint)
        return Values(
            _either(["None"] * optional + [part.words for part in allowed]),
            lambda value: (
                value is None
                if value is None and optional
                else any(p.allow(value) for p in allowed)
            ),
        )
    return None


def _either(words: list[str]) -> str:
    """Alternatives joined by "or"."""
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _signature(cls: type[Fields]) -> Any:
    """The constructor's signature: common parameters first, its own, then its parents'."""

    def place(parameter: Parameter) -> tuple[bool, int]:
        homes = [i for i, c in enumerate(cls.__mro__) if parameter.name in get_annotations(c)]
        return parameter.name not in FIRST, max(homes, default=0)

    _, *parameters = signature(cls.__init__).parameters.values()
    return signature(cls.__init__).replace(parameters=sorted(parameters, key=place))


def _completed_docs(cls: type[Fields]) -> str:
    """The docstring of a class, with all parameters in their order and all attributes.

    Entries that it lacks are those of the nearest parent that has them.
    """
    summary, sections = _sections(cleandoc(str(cls.__doc__)))
    parents = [parent for parent in cls.__mro__[1:] if issubclass(parent, Fields)]
    inherited = [_sections(cleandoc(str(parent.__doc__)))[1] for parent in reversed(parents)]
    entries = {
        title: {
            names: text
            for part in [{"Parameters": SHARED}, *inherited, sections]
            for names, text in _entries(part.get(title, ""))
        }
        for title in ("Parameters", "Attributes")
    }
    own = dict(_entries(sections.get("Parameters", "")))
    parameters = (
        _entry_of(name, own) or _entry_of(name, entries["Parameters"])
        for name in signature(cls).parameters
    )
    sections["Parameters"] = "\n".join(dict.fromkeys(text for text in parameters if text))
    sections["Attributes"] = "\n".join(entries["Attributes"].values())
    order = dict.fromkeys(["Parameters", "Attributes", *sections])
    written = [
        f"{title}\n{'-' * len(title)}\n{sections[title]}" for title in order if sections[title]
    ]
    return "\n\n".join([summary, *written]) + "\n"


def _sections(docs: str) -> tuple[str, dict[str, str]]:
    """The text before the first heading, and the text under each."""
    summary, *parts = HEADING.split(docs)
    return summary.strip(), {
        title: text.strip("\n") for title, text in zip(parts[::2], parts[1::2], strict=True)
    }


def _entries(section: str) -> Iterator[tuple[str, str]]:
    """The entries of a section by their names, such as "p, q"."""
    for text in re.split(r"\n(?=\S)", section):
        if text:
            yield text.partition(" :")[0].partition("\n")[0], text


def _entry_of(name: str, entries: Mapping[str, str]) -> str:
    """The entry for this name, alone or with others."""
    return next((text for names, text in entries.items() if name in names.split(", ")), "")
