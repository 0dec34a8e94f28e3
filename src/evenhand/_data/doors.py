"""Decorators of functions of a `Data`, which offer every role of a column as an argument."""

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
from evenhand._words import listing

Result = TypeVar("Result")
Function = TypeVar("Function", bound=Callable[..., Any])

UNKNOWN: dict[Callable[..., Any], Callable[..., Any]] = {}


def where_unknown(function: Callable[..., Any]) -> Callable[[Function], Function]:
    """Let a function replace another one where groups are probable or unknown."""

    def register(answer: Function) -> Function:
        UNKNOWN[function] = answer
        return answer

    return register


def about_data(
    second: str = "y_pred", without: Collection[str] = ()
) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Let a function of a `Data`, its parameter `data`, take columns, counts or a table instead.

    The parameter `data` becomes all roles but those left out, of which `y_true` and the one named
    `second` go by position. In the docstring a line "{data}" is replaced by their entries, or
    "{first}" by that of `y_true` and "{rest}" by those of keywords.
    """

    def offer(function: Callable[..., Result]) -> Callable[..., Result]:
        own = signature(function).parameters
        before = list(own).index("data")
        offered = {name: item for name, item in ROLES.items() if name not in without}
        lead = list(own)[:before]
        places = [*lead, "y_true", second]
        required = {
            item.name
            for item in own.values()
            if item.name != "data" and item.default is Parameter.empty
        }
        accepted = {**offered, **{name: None for name in own if name != "data"}}

        @wraps(function)
        def wrapper(*args: Any, **arguments: Any) -> Result:
            __tracebackhide__ = True  # pytest shows the caller's line
            if not arguments.keys() <= accepted.keys():
                if unread := sorted(name for name in without if name in arguments):
                    raise InputTypeError(
                        f"{wrapper.__name__} does not read "
                        f"{listing([f'{name}=' for name in unread])}: "
                        f"leave {'it' if len(unread) == 1 else 'them'} out."
                    )
                raise misspelt(
                    wrapper, arguments, {name: item.also for name, item in offered.items()}
                )
            taken = places[: len(args)]
            lacking = not required <= {*taken, *arguments}
            if lacking or len(args) > len(places) or not arguments.keys().isdisjoint(taken):
                raise misfit(wrapper, args, arguments) or AssertionError
            arguments |= dict(zip(taken, args, strict=True))
            about = {name: value for name, value in arguments.items() if name in offered}
            options = {name: value for name, value in arguments.items() if name not in offered}
            data = _data(about)
            if data.query is not None and ("query" in without or data.is_unknown):
                where = (
                    "where groups are not known" if data.is_unknown else f"by {wrapper.__name__}"
                )
                out = ' Name that of each row; missing="group" makes one of rows without.'
                end = out if data.is_unknown else ""
                raise InputTypeError(f"Rankings (query=) are not read {where}.{end}")
            answer = UNKNOWN.get(wrapper, function) if data.is_unknown else function
            return answer(data=data, **options)

        wrapper.__signature__ = _signature(function, offered, second)  # type: ignore[attr-defined]
        first = [offered[name].entry for name in ("y_true", second) if name in offered]
        rest = [item.entry for name, item in offered.items() if name not in ("y_true", second)]
        documented(data="\n".join([*first, *rest]), first=first[0], rest="\n".join(rest))(wrapper)
        return wrapper

    return offer


def _data(arguments: Mapping[str, Any]) -> Data:
    """The `Data` of the arguments; if the first is one already, how to read it may be changed."""
    first = arguments.get("y_true")
    if not isinstance(first, Data):
        if len(arguments) == 1 and isinstance(first, Summary):
            data = object.__new__(Data)  # nothing to check: the fields are those of the class
            data.__dict__["y_true"] = first
            return data
        return Data(**arguments)
    changes = {
        name: value for name, value in arguments.items() if name != "y_true" and value is not None
    }
    columns = [name for name in changes if ROLES[name].is_column]
    if columns:
        raise InputTypeError(f"The data hold their columns already; drop {', '.join(columns)}.")
    return replace(first, **changes) if changes else first


def _signature(function: Callable[..., Any], offered: Mapping[str, Any], second: str) -> Any:
    """The signature that `help` shows: the function's own parameters and those of the data."""
    own = signature(function)
    before, after, is_before = [], [], True
    for name, parameter in own.parameters.items():
        if name == "data":
            is_before = False
        elif is_before:
            before.append(parameter)
        else:
            after.append(parameter)
    hints = Columns.__annotations__
    is_needed = second in own.parameters and own.parameters[second].default is Parameter.empty
    default = Parameter.empty if is_needed else None
    places = [
        Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation="Any")
        for name in ("y_true", second)
        if name in offered
    ]
    named = [
        Parameter(
            name, Parameter.KEYWORD_ONLY, default=own_parameter.default, annotation=hints[name]
        )
        for name, own_parameter in offered.items()
        if name not in ("y_true", second)
    ]
    taken = [own_parameter for own_parameter in after if own_parameter.name != second]
    moved = [
        own_parameter.replace(kind=Parameter.POSITIONAL_OR_KEYWORD)
        for own_parameter in after
        if own_parameter.name == second
    ]
    return own.replace(parameters=[*before, *places, *moved, *named, *taken])
