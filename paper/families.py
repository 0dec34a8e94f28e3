"""What a method was told to meet: parity, odds, or something that every panel shows."""

from __future__ import annotations

from typing import Any

from evenhand.mitigation import METHODS

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


def constraints_of(wanted: str) -> frozenset[str] | None:
    """The constraints of a family with those that every panel shows; None for all of them."""
    if wanted == ALL:
        return None
    known = {"", *(name for method in METHODS.values() for name in method.criteria)}
    return frozenset(name for name in known if family(name) in (wanted, ALL))
