"""Things by name: an import path package.module:name, or an entry point of an installed package."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from evenhand._errors import InputError

EXTRAS = {"lightgbm": "leaderboard"}  # which extra of ours brings a package that designs name


def imported(path: str) -> Any:
    """Import the object that a path names.

    >>> imported("math:floor")(2.5)
    2
    """
    module, _, name = path.partition(":")
    if not module or not name:
        raise InputError(f"{path!r} is not an import path; write package.module:name.")
    try:
        thing = import_module(module)
    except ImportError as failure:
        extra = EXTRAS.get(failure.name or "")
        way_out = f' Install it: pip install "evenhand[{extra}]".' if extra else ""
        raise InputError(f"{path!r} cannot be imported: {failure}.{way_out}") from failure
    if not hasattr(thing, name):
        raise InputError(f"The module {module!r} has no {name!r}.")
    return getattr(thing, name)


def is_import_path(text: str) -> bool:
    """Whether the text looks like package.module:name.

    >>> is_import_path("mine.tasks:hiring"), is_import_path("adult")
    (True, False)
    """
    module, colon, name = text.partition(":")
    return bool(colon) and name.isidentifier() and all(map(str.isidentifier, module.split(".")))


def entry_point(group: str, name: str) -> Any:
    """An entry point of an installed package by name; None if there is none.

    >>> entry_point("evenhand.methods", "nothing")
    """
    return next((point.load() for point in entry_points(group=group, name=name)), None)
