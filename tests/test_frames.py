"""Every engine gives the same tally."""

import duckdb
import numpy as np
import pandas as pd
import pytest

import evenhand as eh

ROWS = 500


def people():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "truth": rng.choice(["low", "mid", "high"], ROWS),
            "guess": rng.choice(["low", "mid", "high"], ROWS),
            "sex": rng.choice(["F", "M"], ROWS),
            "race": rng.choice(["b", "w", "other"], ROWS),
            "region": rng.integers(0, 3, ROWS),
            "weight": rng.random(ROWS),
            "loss": rng.normal(size=ROWS),
        }
    )


def counted(frame, **options):
    names = {"y_true": "truth", "y_pred": "guess", "sensitive_features": ["sex", "race"]}
    return eh.tally(data=frame, **names | options)


@pytest.mark.slow
def test_every_engine_gives_the_tally_of_the_arrays(engine):
    frame = people()
    expected = eh.tally(
        frame["truth"],
        frame["guess"],
        sensitive_features=frame[["sex", "race"]],
        sample_weight=frame["weight"],
        strata=frame["region"],
        sums={"loss": frame["loss"]},
    )
    found = counted(engine(frame), sample_weight="weight", strata="region", sums={"loss": "loss"})
    assert found.axes == expected.axes
    assert (found.cells == expected.cells).all()
    assert (found.sums["rows"] == expected.sums["rows"]).all()
    np.testing.assert_allclose(found.sums["weight"], expected.sums["weight"])
    np.testing.assert_allclose(found.sums["loss"], expected.sums["loss"], atol=1e-12)


@pytest.mark.slow
def test_missing_groups_are_an_error_or_a_group(engine):
    frame = people()
    frame.loc[:6, "race"] = None
    with pytest.raises(ValueError, match="7 of 500 rows have no value of 'race'"):
        counted(engine(frame))
    found = counted(engine(frame), missing="group", y_true=None)
    assert ("F", None) in found.groups
    assert found.notes == (
        "7 of 500 rows have no value of 'race'; such rows are a group of their own",
    )


def test_batches_of_a_table_add_up(engine):
    frame = people()
    parts = [counted(engine(part)) for part in (frame[:100], frame[100:350], frame[350:])]
    whole = counted(engine(frame))
    assert sum(parts).axes == whole.axes
    assert (sum(parts).sums["rows"] == whole.sums["rows"]).all()


def test_a_wrong_column_is_named_with_those_there_are():
    with pytest.raises(
        ValueError, match=r"no column 'gues'\. Did you mean 'guess'\? It has truth, guess,"
    ):
        counted(people(), y_pred="gues")


def test_an_empty_table_is_refused():
    with pytest.raises(ValueError, match="no rows"):
        counted(people()[:0])


def test_missing_labels_are_counted_by_rows_not_cells(engine):
    frame = people()
    frame.loc[:299, "guess"] = None
    with pytest.raises(ValueError, match="'guess' has 300 missing labels"):
        counted(engine(frame))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (-1.0, "'weight' include negative ones, such as -1"),
        (np.nan, "'weight' has 2 values that are missing or not finite"),
        pytest.param(
            np.inf,
            "'weight' has 2 values that are missing or not finite",
            marks=pytest.mark.long,
        ),
    ],
)
def test_bad_weights_are_refused(engine, value, message):
    frame = people()
    frame.loc[5:6, "weight"] = value
    with pytest.raises(ValueError, match=message):
        counted(engine(frame), sample_weight="weight")


def test_numbers_to_add_up_must_be_there(engine):
    frame = people()
    frame.loc[7, "loss"] = np.nan
    with pytest.raises(ValueError, match="'loss' has 1 value that is missing or not finite"):
        counted(engine(frame), sums={"loss": "loss"})


@pytest.mark.slow
@pytest.mark.parametrize("rare", ["merge", "drop"])
def test_rare_groups_are_those_of_the_arrays(engine, rare):
    frame = people()
    frame.loc[:4, "race"] = "rare"
    whole = eh.groups(frame[["sex", "race"]], min_count=6, rare=rare)
    expected = eh.tally(frame["truth"], frame["guess"], sensitive_features=whole)
    found = counted(engine(frame), min_count=6, rare=rare)
    assert found.axes == expected.axes
    assert found.notes == expected.notes
    assert (found.cells == expected.cells).all()
    assert (found.sums["rows"] == expected.sums["rows"]).all()


def test_columns_may_have_any_name():
    odd = {"truth": "rows", "guess": "selected 0", "sex": "weight", "weight": "y"}
    found = eh.tally(
        data=people().rename(columns=odd),
        y_true="rows",
        y_pred="selected 0",
        sensitive_features=["weight", "race"],
        sample_weight="y",
    )
    expected = counted(people(), sample_weight="weight")
    assert found.axes == expected.axes
    np.testing.assert_allclose(found.sums["weight"], expected.sums["weight"])


def test_a_database_on_disk_is_counted_where_it_is(tmp_path):
    frame = people()
    with duckdb.connect(str(tmp_path / "people.db")) as database:
        database.execute("create table people as select * from frame")
        found = counted(database.table("people"))
    assert (found.sums["rows"] == counted(frame).sums["rows"]).all()
