"""An audit that would take hours says so before it starts."""

import numpy as np
import pytest

import evenhand as eh


def rows(classes=2, groups=3, columns=1, size=3000):
    rng = np.random.default_rng(0)
    y, p = (rng.integers(0, classes, size).astype(str) for _ in range(2))
    group = {f"column {k}": rng.integers(0, groups, size).astype(str) for k in range(columns)}
    return {"y_true": y, "y_pred": p, "sensitive_features": group}


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ({"classes": 1000}, r"\d+ classes.* hours"),
        ({"groups": 200_000, "size": 300_000}, r"\d\d\d,\d{3} groups.* (minutes|hours)"),
        ({"columns": 60}, "36,050 combinations.* minutes"),
    ],
)
def test_what_makes_it_so_long_is_named_with_the_way_out(shape, said):
    favorable = None if shape.get("classes", 2) > 2 else "1"
    with pytest.raises(eh.InputError, match=f"{said}.*max_minutes="):
        eh.audit(**rows(**shape), favorable=favorable, depth=3)


def test_less_is_asked_of_the_same_rows():
    found = eh.audit(**rows(classes=150), criteria="accuracy_parity")
    assert found.finding("accuracy_parity")


def test_columns_that_are_not_combined_are_not_charged_for_all_their_combinations():
    found = eh.audit(**rows(columns=20, groups=2), favorable="1", depth=1, max_minutes=0.2)
    assert len(found.views) == 20


def test_the_limit_is_the_callers():
    with pytest.raises(eh.InputError, match="max_minutes=1"):
        eh.audit(**rows(), favorable="1", max_minutes=1e-6)
    assert eh.audit(**rows(), favorable="1", max_minutes=0.5).findings


@pytest.mark.parametrize("wrong", [0, -1, float("nan")])
def test_a_limit_is_above_nothing(wrong):
    with pytest.raises(eh.InputError, match="max_minutes is a number above 0"):
        eh.audit(**rows(), favorable="1", max_minutes=wrong)
