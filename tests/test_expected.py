"""Laws of the expected tally: it is the mean of the tallies of many draws."""

import numpy as np
import pytest
from hypothesis import given

import evenhand as eh
from strategies import classified, predictions


def one_hot(rows):
    """The predictions of the rows as certain chances, and their classes."""
    classes = np.union1d(rows.y_true, rows.y_pred)
    return (rows.y_pred[:, None] == classes).astype(float), classes


def lots(rows, classes, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(classes), len(rows.group))


@pytest.mark.slow
@given(classified())
def test_certain_decisions_give_the_plain_tally(rows):
    chances, classes = one_hot(rows)
    how = {"sensitive_features": rows.group, "sample_weight": rows.weight}
    plain = eh.tally(rows.y_true, rows.y_pred, **how)
    expected = eh.tally(rows.y_true, chances, classes=classes, **how)
    assert expected.axes == plain.axes
    assert (expected.cells == plain.cells).all()
    assert set(expected.sums) == set(plain.sums)
    for name in plain.sums:
        assert (expected.sums[name] == plain.sums[name]).all()


@pytest.mark.slow
@given(classified())
def test_expected_tallies_of_parts_add_up(rows):
    chances, classes = lots(rows, 4), range(4)

    def counted(part):
        return eh.tally(
            rows.y_true[part],
            chances[part],
            classes=classes,
            sensitive_features=rows.group[part],
            sample_weight=rows.weight[part],
        )

    whole, half = counted(slice(None)), max(1, len(rows.group) // 2)
    parts = [counted(part) for part in (slice(half), slice(half, None)) if len(rows.y_true[part])]
    for of in ("rows", "weight"):
        np.testing.assert_allclose(
            sum(parts).table("y", "yhat", "group", of=of), whole.table("y", "yhat", "group", of=of)
        )


def test_it_is_the_mean_of_the_tallies_of_many_draws():
    rows = predictions(rows=60)
    chances = lots(rows, 3)
    expected = eh.tally(
        rows.y_true, chances, classes=[0, 1, 2], sensitive_features=rows.group
    ).table("y", "yhat", "group")
    rng, draws = np.random.default_rng(1), 4000
    picked = (rng.random((draws, 60, 1)) > chances.cumsum(axis=1)[:, :2]).sum(axis=2)
    group = np.searchsorted(np.unique(rows.group), rows.group)
    mean = np.zeros_like(expected)
    np.add.at(mean, (rows.y_true, picked, group), 1 / draws)
    error = np.sqrt(expected / draws)
    assert (abs(mean - expected) <= 5 * error + 1e-12).all()


def test_a_criterion_reads_it_as_it_reads_a_tally():
    counts = eh.tally(
        ["no", "yes", "yes", "no"],
        [[0.5, 0.5], [0.2, 0.8], [0.4, 0.6], [1.0, 0.0]],
        classes=["no", "yes"],
        sensitive_features=["a", "a", "b", "b"],
    )
    assert eh.evaluate("statistical_parity", counts, measure="mpd") == pytest.approx(0.65 - 0.3)
    gap = eh.evaluate("equalized_odds", counts, measure="mpd")
    assert gap == pytest.approx(max(0.8 - 0.6, 0.5))
    assert counts.table("group", of="rows") == pytest.approx([2, 2])


def test_columns_follow_the_classes_in_the_order_given():
    counts = eh.tally(
        [1, 0], [[0.9, 0.1], [0.2, 0.8]], classes=[1, 0], sensitive_features=["a", "b"]
    )
    assert counts.labels("yhat") == (0, 1)
    np.testing.assert_allclose(counts.table("yhat", "group"), [[0.1, 0.8], [0.9, 0.2]])


@pytest.mark.parametrize(
    ("chances", "complaint"),
    [
        ([[0.5, 0.4]], r"Row 0 of probabilities is \[0.5, 0.4\]"),
        ([[1.5, -0.5]], "must not be negative"),
        ([[1.0]], "a column for each of the 2 classes"),
        ([[np.nan, 1.0]], "Row 0"),
        ([[1.0, 0.0], [1.0, 0.0]], "differ in length"),
    ],
)
def test_what_is_no_chance_is_refused(chances, complaint):
    with pytest.raises(ValueError, match=complaint):
        eh.tally([1], chances, classes=[0, 1], sensitive_features=["a"])


def test_intervals_refuse_expected_rows_for_they_are_no_draws():
    counts = eh.tally([1, 0, 1, 0], [[0.5, 0.5]] * 4, classes=[0, 1], sensitive_features=[*"aabb"])
    with pytest.raises(ValueError, match="whole rows"):
        eh.interval("equalized_odds", counts)
