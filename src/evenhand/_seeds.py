"""A seed from any valid `random_state`."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand._errors import InputError, InputTypeError

RandomState = int | np.integer[Any] | np.random.Generator | np.random.RandomState | None
KINDS = (int, np.integer, np.random.Generator, np.random.RandomState, type(None))


def seed_of(random_state: RandomState) -> int:
    """A seed: the number itself, a random one from a generator, or a fresh one for None.

    >>> seed_of(7), seed_of(np.random.default_rng(0)) == seed_of(np.random.default_rng(0))
    (7, True)
    """
    if isinstance(random_state, bool) or not isinstance(random_state, KINDS):
        raise wrong_kind(random_state)
    if isinstance(random_state, int | np.integer):
        if random_state < 0:
            raise InputError(f"random_state must be at least 0; it is {random_state}.")
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(np.iinfo(np.int32).max))
    return int(np.random.default_rng(random_state).integers(np.iinfo(np.int32).max))


def wrong_kind(random_state: Any) -> InputTypeError:
    """The error for an invalid `random_state`."""
    return InputTypeError(
        f"random_state is a number, a NumPy generator or None, not {random_state!r}."
    )
