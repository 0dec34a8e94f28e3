"""A slice of `make fuzz`: the same cases every time, and those that once failed."""

import pytest

from fuzz.targets import TARGETS

SLICES = {"counting": 400, "commands": 60, "stores": 120, "downloads": 60}
ONCE = {"counting": [196, 706, 801, 1068, 2912, 19470]}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "first"),
    [(name, first) for name, cases in SLICES.items() for first in range(0, cases, 20)],
)
def test_no_attack_succeeds(target, first):
    for seed in range(first, first + 20):
        TARGETS[target](seed)


@pytest.mark.parametrize(
    ("target", "seed"), [(name, seed) for name, seeds in ONCE.items() for seed in seeds]
)
def test_what_failed_once_is_mended(target, seed):
    TARGETS[target](seed)


def test_every_target_has_a_slice():
    assert SLICES.keys() == TARGETS.keys()
