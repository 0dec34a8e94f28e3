"""Groups: intersections, bins, rare and missing values."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import evenhand as eh
from evenhand._data.groups import MERGED, show

PEOPLE = pd.DataFrame(
    {
        "sex": ["F", "M", "F", "M", "F"],
        "race": ["b", "w", "w", "w", "b"],
        "age": [20, 30, 40, 50, 60],
    }
)


@pytest.mark.parametrize(
    "frame",
    [
        PEOPLE[["sex", "race"]],
        pl.from_pandas(PEOPLE[["sex", "race"]]),
        pa.Table.from_pandas(PEOPLE[["sex", "race"]]),
        {"sex": PEOPLE["sex"], "race": PEOPLE["race"]},
        PEOPLE[["sex", "race"]].to_numpy(dtype=object),
        PEOPLE[["sex", "race"]].to_numpy(dtype=object).tolist(),
    ],
    ids=["pandas", "polars", "arrow", "mapping", "array", "list"],
)
def test_only_observed_combinations_become_groups(frame):
    found = eh.groups(frame)
    assert found.labels == (("F", "b"), ("F", "w"), ("M", "w"))
    assert found.codes.tolist() == [0, 2, 1, 2, 0]
    assert found.sizes.tolist() == [2, 1, 2]


def test_one_column_keeps_its_own_labels_and_name():
    found = eh.groups(PEOPLE["sex"])
    assert (found.labels, found.names) == (("F", "M"), ("sex",))
    assert eh.groups(["x", "y"]).names == ("group",)


def test_a_continuous_attribute_is_cut_at_its_quantiles():
    found = eh.groups(PEOPLE["age"], bins={"age": 2})
    assert [show(label) for label in found.labels] == ["[20, 40]", "(40, 60]"]
    assert found.sizes.tolist() == [3, 2]


def test_quantile_bins_agree_with_pandas():
    ages = np.random.default_rng(0).integers(17, 90, 1000)
    found = eh.groups({"age": ages}, bins={"age": 5})
    assert found.sizes.tolist() == pd.qcut(ages, 5).value_counts().tolist()


def test_bins_at_given_edges_are_the_same_in_every_batch():
    one = eh.groups({"age": [20, 30]}, bins={"age": [18, 40, 65]})
    two = eh.groups({"age": [50, 60]}, bins={"age": [18, 40, 65]})
    assert [show(label) for label in one.labels + two.labels] == ["[18, 40]", "(40, 65]"]


def test_values_outside_the_bins_are_named():
    with pytest.raises(ValueError, match="age has 1 values outside its bins, such as 90"):
        eh.groups({"age": [20, 90]}, bins={"age": [18, 40, 65]})


def test_bins_must_increase_and_name_a_column():
    with pytest.raises(ValueError, match="must increase"):
        eh.groups({"age": [20]}, bins={"age": [40, 18]})
    with pytest.raises(ValueError, match=r"bins names \['agee'\], but the columns are \['age'\]"):
        eh.groups({"age": [20]}, bins={"agee": 3})


class TestRareGroups:
    labels = (*"aaaabbbbcd",)

    def test_are_kept_by_default(self):
        assert eh.groups(self.labels).sizes.tolist() == [4, 4, 1, 1]

    def test_that_are_kept_are_reported_all_the_same(self):
        (note,) = eh.groups(self.labels, min_count=2).notes
        assert note == "2 of 4 groups have fewer than 2 rows, and were kept: c (1), d (1)"

    def test_are_merged_and_reported(self):
        found = eh.groups(self.labels, min_count=2, rare="merge")
        assert found.labels == ("a", "b", MERGED)
        assert found.sizes.tolist() == [4, 4, 2]
        assert "were merged into '(rare groups)': c (1), d (1)" in found.notes[0]

    def test_are_dropped_and_reported(self):
        found = eh.groups(self.labels, min_count=2, rare="drop")
        assert found.labels == ("a", "b")
        assert found.sizes.tolist() == [4, 4]
        assert "were dropped" in found.notes[0]
        counts = eh.tally(None, self.labels, sensitive_features=found)
        assert counts.sums["rows"].sum() == 8
        assert counts.notes == found.notes

    def test_can_be_settled_after_counting(self):
        late = eh.tally(None, self.labels, sensitive_features=self.labels).settle_rare(2, "merge")
        found = eh.groups(self.labels, min_count=2, rare="merge")
        early = eh.tally(None, self.labels, sensitive_features=found)
        assert late.groups == early.groups
        assert (late.table("yhat", "group") == early.table("yhat", "group")).all()

    def test_have_three_policies(self):
        with pytest.raises(ValueError, match="rare must be"):
            eh.groups(self.labels, min_count=2, rare="hide")


class TestMissingValues:
    race = ("w", None, "b", float("nan"))

    def test_are_an_error_that_says_what_to_do(self):
        with pytest.raises(
            ValueError, match=r"2 of 4 rows have no value of 'race'.*missing=\"group\""
        ):
            eh.groups({"race": self.race})

    def test_are_a_group_by_choice_and_reported(self):
        found = eh.groups({"race": self.race}, missing="group")
        assert found.labels == ("b", "w", None)
        assert found.notes == (
            "2 of 4 rows have no value of 'race'; such rows are a group of their own",
        )

    def test_of_a_binned_attribute_are_missing_too(self):
        found = eh.groups({"age": [20, np.nan, 30]}, bins={"age": 2}, missing="group")
        assert [show(label) for label in found.labels] == ["[20, 25]", "(25, 30]", "(missing)"]

    def test_have_two_policies(self):
        with pytest.raises(ValueError, match="missing must be"):
            eh.groups(["a"], missing="skip")


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match=r"differ in length: \{'sex': 2, 'race': 1\}"):
        eh.groups({"sex": ["F", "M"], "race": ["w"]})


def test_a_lazy_query_is_refused_with_the_way_out():
    with pytest.raises(TypeError, match="pass it as data="):
        eh.groups(pl.from_pandas(PEOPLE).lazy())


def test_groups_pass_through_unchanged():
    found = eh.groups(PEOPLE["sex"])
    assert eh.groups(found).codes is not None
    assert eh.groups(found).labels == found.labels


AGES = [20 + i / 7 for i in range(60)]
TRUTH, PREDICTED, SCORE = [0, 1] * 30, [0, 0, 1] * 20, [i / 60 for i in range(60)]
FRAME = pd.DataFrame({"y": TRUTH, "p": PREDICTED, "age": AGES, "rows": 1})
READ_AMOUNTS = {
    "evaluate": lambda: eh.evaluate(
        "statistical_parity", TRUTH, PREDICTED, sensitive_features={"age": AGES}
    ),
    "interval": lambda: eh.interval(
        "statistical_parity", TRUTH, PREDICTED, sensitive_features={"age": AGES}
    ),
    "contrasts": lambda: eh.contrasts(
        "statistical_parity", TRUTH, PREDICTED, sensitive_features={"age": AGES}
    ),
    "audit": lambda: eh.audit(TRUTH, PREDICTED, sensitive_features={"age": AGES}),
    "audit_frame": lambda: eh.audit(data=FRAME, y_true="y", y_pred="p", sensitive_features="age"),
    "assert_even": lambda: eh.assert_even(
        TRUTH, PREDICTED, sensitive_features={"age": AGES}, fail_if="statistical_parity.mpd > 0.1"
    ),
    "compare": lambda: eh.compare(
        TRUTH, {"a": PREDICTED, "b": TRUTH[::-1]}, sensitive_features={"age": AGES}
    ),
    "frontier": lambda: eh.frontier(TRUTH, SCORE, sensitive_features={"age": AGES}),
    "tally": lambda: eh.tally(TRUTH, PREDICTED, sensitive_features={"age": AGES}),
    "tally_frame": lambda: eh.tally(data=FRAME, y_true="y", y_pred="p", sensitive_features="age"),
    "tally_counts": lambda: eh.tally(
        data=FRAME, y_true="y", y_pred="p", sensitive_features="age", rows="rows"
    ),
    "moments": lambda: eh.tally(SCORE, SCORE, sensitive_features={"age": AGES}, task="regression"),
    "distribution": lambda: eh.distribution(SCORE, sensitive_features={"age": AGES}),
    "crossed": lambda: eh.groups({"sex": TRUTH, "age": AGES}),
    "strata": lambda: eh.tally(TRUTH, PREDICTED, sensitive_features=TRUTH, strata={"age": AGES}),
}


@pytest.mark.parametrize("door", READ_AMOUNTS)
def test_amounts_are_refused_as_groups_at_every_door(door):
    with pytest.raises(eh.InputError, match=r"'age' takes 60 .*amounts, not groups.*bins="):
        READ_AMOUNTS[door]()


def test_amounts_cut_into_ranges_and_numbers_that_are_names_are_groups():
    assert len(eh.groups({"age": AGES}, bins={"age": 3}).labels) == 3
    assert len(eh.groups({"age": list(map(str, AGES))}).labels) == 60
    assert len(eh.groups({"code": list(range(60))}).labels) == 60


def test_strata_that_are_no_column_are_refused_by_their_own_name():
    given = {"sensitive_features": TRUTH, "strata": "c"}
    with pytest.raises(eh.InputTypeError, match=r"^strata is 'c', one value"):
        eh.tally(TRUTH, PREDICTED, **given)
