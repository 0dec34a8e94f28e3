"""Laws of the tally: parts add up to the whole, by label, whatever counted them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh
from evenhand._columns import encode
from evenhand._data import counting
from evenhand._data.tallies import Axis, Tally
from strategies import classified, predictions


def assert_same(one, two):
    assert one.axes == two.axes
    assert (one.cells == two.cells).all()
    assert set(one.sums) == set(two.sums)
    for name in one.sums:
        np.testing.assert_allclose(one.sums[name], two.sums[name], rtol=1e-12)


def tally_of(rows, part=slice(None)):
    y_true, y_pred, group, weight = (column[part] for column in rows)
    return eh.tally(
        y_true, y_pred, sensitive_features=group, sample_weight=weight, sums={"loss": weight**2}
    )


@pytest.mark.slow
@given(classified(), st.data())
def test_tallies_of_parts_add_up_to_the_tally_of_the_whole(rows, data):
    cuts = sorted(data.draw(st.sets(st.integers(1, max(1, len(rows.group) - 1)), max_size=4)))
    edges = [0, *(cut for cut in cuts if cut < len(rows.group)), len(rows.group)]
    parts = [tally_of(rows, slice(a, b)) for a, b in pairwise(edges)]
    assert_same(sum(parts), tally_of(rows))
    assert_same(sum(parts[::-1]), tally_of(rows))


@pytest.mark.slow
@given(classified())
def test_a_tally_is_what_a_double_loop_counts(rows):
    counts = tally_of(rows)
    table = counts.table("y", "yhat", "group")
    for i, y in enumerate(counts.labels("y")):
        for j, yhat in enumerate(counts.labels("yhat")):
            for k, group in enumerate(counts.groups):
                here = (rows.y_true == y) & (rows.y_pred == yhat) & (rows.group == group)
                assert table[i, j, k] == rows.weight[here].sum()


@pytest.mark.slow
@given(classified())
def test_marginal_tables_are_sums_of_the_full_table(rows):
    counts = tally_of(rows)
    full = counts.table("y", "yhat", "group")
    np.testing.assert_allclose(counts.table("yhat", "group"), full.sum(axis=0))
    np.testing.assert_allclose(counts.table("group", "y"), full.sum(axis=1).T)
    assert counts.table("group", of="rows").sum() == len(rows.group)


@pytest.mark.slow
@given(classified())
def test_counting_by_sorting_equals_counting_in_a_dense_array(rows):
    dense = tally_of(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "MOST_DENSE", 0)
        assert_same(tally_of(rows), dense)


@pytest.mark.slow
@given(classified())
def test_columns_encoded_in_threads_give_the_same_tally(rows):
    one_by_one = tally_of(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "ROWS_FOR_THREADS", 0)
        assert_same(tally_of(rows), one_by_one)


def test_two_batches_of_one_group_each_are_not_merged_by_position():
    """A state merged by position would call these batches equal."""
    one = eh.tally([1, 1], [1, 1], sensitive_features=["a", "a"])
    two = eh.tally([1, 1], [0, 1], sensitive_features=["b", "b"])
    assert eh.evaluate("statistical_parity", one + two, measure="mpd") == 0.5


def test_a_batch_may_lack_a_group_and_a_class():
    whole = eh.tally(["x", "y", "z"], ["x", "x", "z"], sensitive_features=["a", "b", "a"])
    part = eh.tally(["x"], ["x"], sensitive_features=["a"])
    rest = eh.tally(["y", "z"], ["x", "z"], sensitive_features=["b", "a"])
    assert_same(part + rest, whole)


def test_adding_keeps_batch_axes():
    counts = eh.tally([1, 0], [1, 1], sensitive_features=["a", "b"])
    batch = Tally(counts.axes, counts.cells, {"rows": np.array([[1, 1], [2, 0]])})
    assert (batch + batch).table("y", "yhat", "group").shape == (2, 2, 2, 2)
    assert (batch + batch).table("group").tolist() == [[2, 2], [0, 4]]


def test_truth_and_prediction_share_their_labels():
    counts = eh.tally([0, 0, 1], [2, 0, 0], sensitive_features=["a", "b", "b"])
    assert counts.labels("y") == counts.labels("yhat") == (0, 1, 2)


def test_labels_of_equal_value_match_whatever_their_type():
    counts = eh.tally([True, False], [1.0, 0.0], sensitive_features=["a", "b"])
    assert counts.table("y", "yhat", "group").shape == (2, 2, 2)


def test_tallies_along_different_axes_do_not_add_up():
    one = eh.tally([1], [1], sensitive_features=["a"])
    with pytest.raises(ValueError, match="different axes"):
        one + eh.tally(None, [1], sensitive_features=["a"])
    with pytest.raises(ValueError, match=r"Cannot add tallies of \['rows'\]"):
        one + eh.tally([1], [1], sensitive_features=["a"], sample_weight=[1.0])


def test_bins_must_agree_to_be_added():
    def binned(edges):
        axes = (Axis("bin", edges, "edges"), Axis("group", ("a",)))
        return Tally(axes, np.zeros((2, 1), np.intp), {"rows": np.array([1])})

    assert (binned((0.0, 1.0)) + binned((0.0, 1.0))).sums["rows"] == [2]
    with pytest.raises(ValueError, match="bins differ"):
        binned((0.0, 1.0)) + binned((0.0, 2.0))


def test_a_tally_adds_to_nothing_but_tallies_and_zero():
    counts = eh.tally([1], [1], sensitive_features=["a"])
    with pytest.raises(TypeError):
        counts + 1
    with pytest.raises(TypeError):
        1 + counts


def test_many_groups_by_many_strata_stay_sparse():
    rng = np.random.default_rng(0)
    group, stratum = rng.integers(0, 20_000, 5000), rng.integers(0, 20_000, 5000)
    counts = eh.tally(None, np.ones(5000, int), sensitive_features=group, strata=stratum)
    assert counts.cells.shape[1] <= 5000
    assert counts.sums["rows"].sum() == 5000


def test_moments_are_sums_by_group():
    y, yhat, w = np.array([1.0, 2, 4]), np.array([1.5, 2, 3]), np.array([1.0, 2, 3])
    sums = eh.tally(y, yhat, sensitive_features=["a", "b", "b"], sample_weight=w, task="regression")
    assert sums.table("group", of="squared_error").tolist() == [0.25, 3.0]
    assert sums.table("group", of="y").tolist() == [1.0, 16.0]
    assert sums.table("group").tolist() == [1.0, 5.0]


def test_encoded_columns_can_be_kept_and_counted_again():
    rows = predictions()
    kept = encode(rows.y_true), encode(rows.y_pred), eh.groups(rows.group)
    again = eh.tally(kept[0], kept[1], sensitive_features=kept[2])
    assert_same(again, eh.tally(rows.y_true, rows.y_pred, sensitive_features=rows.group))


def test_a_tally_says_what_it_holds():
    assert repr(eh.tally([1], [1], sensitive_features=["a"])) == (
        "<Tally of 1 rows in 1 cells (y: 1, yhat: 1, group: 1)>"
    )


def test_a_missing_axis_is_named():
    with pytest.raises(ValueError, match=r"no axis 'y', only \['yhat', 'group'\]"):
        eh.tally(None, [1], sensitive_features=["a"]).table("y")


def test_a_table_is_the_callers_own():
    counts = eh.tally(None, [1, 0, 1, 0], sensitive_features=["a", "a", "b", "b"])
    counts.table("yhat", "group")[:] = 7
    assert counts.table("yhat", "group").tolist() == [[1, 1], [1, 1]]


def test_a_misspelt_argument_is_named():
    with pytest.raises(TypeError, match="sensitive_features"):
        eh.tally([1], [1], sensitive_feature=["a"])


def test_groups_must_be_named():
    with pytest.raises(eh.InputError, match="Pass sensitive_features"):
        eh.tally([1], [1], sensitive_features=None)


def test_sums_of_numbers_are_those_of_powers_up_to_the_fourth():
    y, yhat = np.array([1.0, 2.0, 4.0]), np.array([3.0, 2.0, -1.0])
    sums = eh.tally(y, yhat, sensitive_features=["a", "b", "b"], task="regression")
    found = {name: sums.table("group", of=name).tolist() for name in sums.sums}
    expected = {
        "rows": [1, 2],
        "yhat": [3, 1],
        "yhat²": [9, 5],
        "y": [1, 6],
        "y²": [1, 20],
        "squared_error": [4, 25],
        "squared_error²": [16, 625],
        "absolute_error": [2, 5],
        "absolute_error²": [4, 25],
        "yhat³": [27, 7],
        "yhat⁴": [81, 17],
        "y³": [1, 72],
        "y⁴": [1, 272],
        "y·squared_error": [4, 100],
        "y²·squared_error": [4, 400],
        "error": [2, -5],
        "error²": [4, 25],
        "error³": [8, -125],
        "error⁴": [16, 625],
    }
    assert found == expected


@pytest.mark.parametrize("size", [1e50, 1e-50, 0.0])
def test_values_that_can_just_be_squared_twice_are_taken(size):
    sums = eh.tally([0.0, 0.0], [size, -size], sensitive_features=["a", "b"], task="regression")
    assert sums.table("group", of="yhat²").tolist() == [size * size] * 2


@pytest.mark.parametrize("size", [1.5e50, 0.6e-50])
def test_values_that_are_lost_when_squared_twice_are_refused(size):
    with pytest.raises(eh.InputError, match=r"beyond what can be squared.*another unit"):
        eh.tally([0.0, 0.0], [size, -size], sensitive_features=["a", "b"], task="regression")


@pytest.mark.parametrize("name", ["sampel_weight", "stratum", "clusters"])
def test_a_misspelt_option_is_named(name):
    with pytest.raises(TypeError, match=name):
        eh.tally([1, 0], [1, 1], sensitive_features=["a", "b"], **{name: [1, 1]})


@pytest.mark.parametrize("thing", [3, 0.5, object()])
def test_what_has_no_rows_is_refused_as_a_column_by_name(thing):
    with pytest.raises(eh.EvenhandError, match="y_pred"):
        eh.tally([1, 0], thing, sensitive_features=["a", "b"])


def test_the_rows_of_groups_that_were_left_out_are_not_counted():
    whom = eh.groups(["a", "b", "b", "c"], min_count=2, rare="drop")
    counts = eh.tally([1, 0, 1, 1], [1, 1, 0, 0], sensitive_features=whom)
    assert counts.groups == ("b",)
    assert counts.table("y", "yhat", "group").tolist() == [[[0], [1]], [[1], [0]]]
    assert counts.notes == whom.notes


def test_text_and_numbers_are_no_labels_of_one_kind():
    with pytest.raises(eh.InputTypeError, match="mix text and numbers"):
        eh.tally([1, 0], ["1", "0"], sensitive_features=["a", "b"])


def test_a_sum_that_was_not_counted_is_named():
    counts = eh.tally([1], [1], sensitive_features=["a"])
    with pytest.raises(eh.InputError, match=r"no sum 'loss', only \['rows'\]"):
        counts.table("group", of="loss")


def test_groups_move_to_new_labels_or_past_the_last_are_dropped():
    counts = eh.tally(None, [1, 0, 1], sensitive_features=["a", "b", "c"])
    batch = Tally(
        counts.axes, counts.cells, {"rows": np.array([[1, 2, 3], [4, 5, 6]])}, ("a note",)
    )
    moved = batch.regrouped(np.array([1, 2, 0]), ("x", "y"))
    assert moved.groups == ("x", "y")
    assert moved.table("group").tolist() == [[3, 2], [6, 5]]
    assert moved.notes == ("a note",)


def test_clusters_are_added_up_unless_they_are_asked_for():
    columns = {"sensitive_features": [*"aabb"], "cluster": [1, 2, 2, 3]}
    counts = eh.tally(None, [1, 0, 1, 1], **columns)
    assert counts.table("yhat", "group").tolist() == [[1, 0], [1, 2]]
    assert counts.table("group", "cluster").tolist() == [[1, 1, 0], [0, 1, 1]]


def test_notes_of_parts_are_kept_once():
    parts = [
        Tally((Axis("group", ("a",)),), np.zeros((1, 1), np.intp), {"rows": np.ones(1)}, notes)
        for notes in (("one", "two"), ("two", "three"))
    ]
    assert sum(parts).notes == ("one", "two", "three")


def test_rare_groups_are_settled_as_they_are_for_rows():
    group = ["a", "b", "b", "c", "b"]
    counts = eh.tally(None, [1, 0, 1, 1, 1], sensitive_features=group)
    whom = eh.groups(group, min_count=2, rare="merge")
    settled = counts.settle_rare(2, "merge")
    assert_same(settled, eh.tally(None, [1, 0, 1, 1, 1], sensitive_features=whom))
    assert settled.notes == whom.notes
