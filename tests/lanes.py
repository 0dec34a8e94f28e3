"""Which cases of a test `make test` runs, and which are left to `make long`."""

from itertools import product

import pytest


def one_in(step, *factors):
    """Parameters for all combinations, of which `make test` runs one in `step`.

    Those whose places add up to a multiple of it: each value of a factor stands there with others
    in turn, so that what goes wrong with a value, or with most pairs of them, is seen.
    """
    return [
        pytest.param(*values, marks=() if sum(places) % step == 0 else pytest.mark.long)
        for places, values in (
            zip(*combined, strict=True) for combined in product(*map(enumerate, factors))
        )
    ]
