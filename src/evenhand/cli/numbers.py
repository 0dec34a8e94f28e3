"""Numbers of options, in plain digits: Python would read 0.0_5 as 0.05, and nan as in any range."""

from __future__ import annotations

from typing import Any

import click
from click.types import FloatParamType

from evenhand._words import read_number


class Plain(click.ParamType):  # type: ignore[type-arg]
    """Refuse what only Python takes for a number."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number; text is read as plain digits."""
        if isinstance(value, str):
            try:
                plain = read_number(value)
            except ValueError:
                plain = float("nan")
            if plain != plain:
                self.fail(f"{value!r} is not a number in plain digits.", param, ctx)
        return super().convert(value, param, ctx)


class Number(Plain, FloatParamType):
    """Any number."""


class NumberRange(Plain, click.FloatRange):
    """A number in a range."""


class WholeRange(Plain, click.IntRange):
    """A whole number in a range."""
