"""What a method was told to meet: parity, odds, or something that every panel shows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

PARITY, ODDS, ALL = "parity", "odds", "all"
FAMILIES = {
    "": ALL,  # the base model
    "statistical_parity": PARITY,
    "strong_parity": ALL,
    "weak_parity": ALL,
    "bounded_group_loss": ALL,
}


def family(constraint: str) -> str:
    """The family of a constraint; one that is not about parity is about odds.

    >>> family("statistical_parity"), family("mean_equalized_odds")
    ('parity', 'odds')
    """
    return FAMILIES.get(constraint, ODDS)


def of_family(rows: Any, wanted: str) -> Any:
    """The rows of methods that aim at parity, or at odds, and of the base model."""
    if wanted == ALL:
        return rows
    return rows[rows["family"].isin([wanted, ALL])]


def among(column: str, values: Iterable[object]) -> str:
    """An SQL condition.

    >>> among("base", ["a", "it's"])
    "base in ('a', 'it''s')"
    """
    quoted = ("'" + str(value).replace("'", "''") + "'" for value in dict.fromkeys(values))
    return f"{column} in ({', '.join(quoted)})"
