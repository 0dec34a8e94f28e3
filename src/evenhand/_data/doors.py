"""Functions about data: they read a `Data`, and offer every role of a column as an argument."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypeVar

from evenhand._data.data import Data, Summary
from evenhand._data.roles import ROLES, Columns
from evenhand._errors import InputTypeError
from evenhand._signatures import documented, misfit, misspelt

Result = TypeVar("Result")
Function = TypeVar("Function", bound=Callable[..., Any])

UNKNOWN: dict[Callable[..., Any], Callable[..., Any]] = {}


def where_unknown(door: Callable[..., Any]) -> Callable[[Function], Function]:
    """Let a function answer for another one where groups are not known for sure."""

    def answers(function: Function) -> Function:
        UNKNOWN[door] = function
        return function

    return answers


def about_data(
    second: str = "y_pred", without: Collection[str] = ()
) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Let a function of a `Data`, its parameter `data`, take columns, counts or a table instead.

    The parameter `data` becomes all roles but those left out, of which `y_true` and the one named
    `second` go by position. In the docstring a line "{data}" stands for their entries, or "{first}"
    for that of `y_true` and "{rest}" for those that go by name.
    """

    def offer(function: Callable[..., Result]) -> Callable[..., Result]:
        own = signature(function).parameters
        before = list(own).index("data")
        offered = {name: one for name, one in ROLES.items() if name not in without}
        lead = list(own)[:before]
        places = [*lead, "y_true", second]
        required = {
            one.name
            for one in own.values()
            if one.name != "data" and one.default is Parameter.empty
        }
        shown = {**offered, **{name: None for name in own if name != "data"}}

        @wraps(function)
        def door(*args: Any, **given: Any) -> Result:
            __tracebackhide__ = True  # pytest shows the caller's line
            if not given.keys() <= shown.keys():
                raise misspelt(door, given, {name: one.also for name, one in offered.items()})
            taken = places[: len(args)]
            lacking = not required <= {*taken, *given}
            if lacking or len(args) > len(places) or not given.keys().isdisjoint(taken):
                raise misfit(door, args, given) or AssertionError
            given |= dict(zip(taken, args, strict=True))
            about = {name: value for name, value in given.items() if name in offered}
            rest = {name: value for name, value in given.items() if name not in offered}
            data = _data(about)
            if data.query is not None and ("query" in without or data.is_unknown):
                where = "where groups are not known" if data.is_unknown else f"by {door.__name__}"
                out = ' Name that of each row; missing="group" makes one of rows without.'
                end = out if data.is_unknown else ""
                raise InputTypeError(f"Rankings (query=) are not read {where}.{end}")
            answer = UNKNOWN.get(door, function) if data.is_unknown else function
            return answer(data=data, **rest)

        door.__signature__ = _signature(function, offered, second)  # type: ignore[attr-defined]
        first = [offered[name].entry for name in ("y_true", second) if name in offered]
        rest = [one.entry for name, one in offered.items() if name not in ("y_true", second)]
        documented(data="\n".join([*first, *rest]), first=first[0], rest="\n".join(rest))(door)
        return door

    return offer


def _data(given: Mapping[str, Any]) -> Data:
    """The data that the arguments make up; beside data that are there, only how they are read."""
    first = given.get("y_true")
    if not isinstance(first, Data):
        if len(given) == 1 and isinstance(first, Summary):
            data = object.__new__(Data)  # nothing to check: the fields are those of the class
            data.__dict__["y_true"] = first
            return data
        return Data(**given)
    rest = {name: value for name, value in given.items() if name != "y_true" and value is not None}
    columns = [name for name in rest if ROLES[name].is_column]
    if columns:
        raise InputTypeError(f"The data hold their columns already; drop {', '.join(columns)}.")
    return replace(first, **rest) if rest else first


def _signature(function: Callable[..., Any], offered: Mapping[str, Any], second: str) -> Any:
    """What `help` shows: the function's own parameters around those of the data."""
    whole = signature(function)
    before, after, is_before = [], [], True
    for name, parameter in whole.parameters.items():
        if name == "data":
            is_before = False
        elif is_before:
            before.append(parameter)
        else:
            after.append(parameter)
    hints = Columns.__annotations__
    default = None if second in offered else Parameter.empty
    places = [
        Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation="Any")
        for name in ("y_true", second)
        if name in offered
    ]
    named = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=one.default, annotation=hints[name])
        for name, one in offered.items()
        if name not in ("y_true", second)
    ]
    taken = [one for one in after if one.name != second]
    moved = [
        one.replace(kind=Parameter.POSITIONAL_OR_KEYWORD) for one in after if one.name == second
    ]
    return whole.replace(parameters=[*before, *places, *moved, *named, *taken])
