"""The store: whole files or none, and a list of them that may be lost."""

import json

import duckdb
import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from benchmark.designs import design, regression
from evenhand import _writing as writing
from evenhand.benchmark import Store, run, status
from evenhand.benchmark.store import Predictions, append_manifest, read_manifest


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    run(design(), folder, n_jobs=1)
    run(regression(), folder, n_jobs=1)
    return folder


@pytest.fixture
def copy(filled, tmp_path):
    import shutil

    return Store(shutil.copytree(filled, tmp_path / "copy"))


@pytest.mark.slow
def test_a_torn_last_line_loses_nothing(copy):
    before = copy.entries()
    path = copy.folder / "manifest.jsonl"
    path.write_bytes(path.read_bytes()[:-40])
    assert copy.entries() == before
    assert read_manifest(path).keys() == before.keys()


@pytest.mark.slow
@given(content=st.binary(max_size=200))
def test_a_manifest_of_rubbish_is_passed_over(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("rubbish") / "manifest.jsonl"
    path.write_bytes(content)
    assert read_manifest(path) == {}
    append_manifest(path, [{"key": "a", "seed": 1}])
    assert read_manifest(path) == {"a": {"key": "a", "seed": 1}}


@pytest.mark.slow
def test_a_lost_manifest_is_made_again_from_the_files(copy):
    before = copy.entries()
    (copy.folder / "manifest.jsonl").unlink()
    assert copy.entries() == before


def test_a_file_that_is_gone_is_missing_whatever_the_manifest_says(copy):
    gone = next(copy.folder.glob("runs/small/*.parquet"))
    gone.unlink()
    assert gone.stem not in copy.entries()
    assert status(design(), copy.folder).missing == 1


def test_an_unfinished_file_is_no_result(copy):
    before = copy.entries()
    (copy.folder / "runs/small" / f".abc.parquet.0{writing.UNFINISHED}").write_bytes(b"PAR1")
    assert copy.entries() == before


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    writing.fill_whole(path, lambda file: file.write(b"old"))

    def fail(file):
        file.write(b"new")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        writing.fill_whole(path, fail)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_only_old_leftovers_are_swept(tmp_path):
    import os

    old, new = (tmp_path / f".{name}{writing.UNFINISHED}" for name in ("old", "new"))
    old.touch()
    new.touch()
    os.utime(old, (0, 0))
    writing.sweep(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [new.name]


probabilities = hnp.arrays(np.float64, (7, 3), elements=st.floats(0.01, 1)).map(
    lambda a: a / a.sum(axis=1, keepdims=True)
)


@pytest.mark.slow
@given(chances=probabilities, scores=probabilities)
def test_stored_probabilities_come_back_to_within_float32(tmp_path_factory, chances, scores):
    store = Store(tmp_path_factory.mktemp("round"))
    labels = chances.argmax(axis=1).astype(np.uint8)
    entry = {"key": "k", "problem": "p"}
    store.add(Predictions(labels=labels, chances=chances, scores=scores), entry)
    found = store.predictions(entry)
    np.testing.assert_array_equal(found.labels, labels)
    np.testing.assert_allclose(found.chances, chances, atol=2e-7)
    np.testing.assert_allclose(found.scores, scores, atol=2e-7)
    np.testing.assert_allclose(found.chances.sum(axis=1), 1, atol=1e-12)


def test_certain_decisions_are_stored_exactly(tmp_path):
    store, entry = Store(tmp_path), {"key": "k", "problem": "p"}
    chances = np.eye(3)[[0, 2, 1, 1]]
    store.add(Predictions(labels=np.zeros(4, np.uint8), chances=chances), entry)
    np.testing.assert_array_equal(store.predictions(entry).chances, chances)


def test_regression_values_are_stored_exactly(tmp_path):
    store, entry = Store(tmp_path), {"key": "k", "problem": "p"}
    values = np.random.default_rng(0).normal(size=(50, 3))
    store.add(Predictions(values=values), entry)
    np.testing.assert_array_equal(store.predictions(entry).values, values)


def test_a_file_says_what_it_is(filled):
    for path in filled.glob("runs/*/*.parquet"):
        about = json.loads(pq.read_schema(path).metadata[b"evenhand"])
        assert about["key"] == path.stem
        assert about["versions"].keys() >= {"python", "numpy", "scikit-learn"}


def test_any_engine_can_read_the_files(filled):
    """DuckDB by itself: the accuracy of each run, from predictions and truth."""
    store = Store(filled)
    for entry in store.entries().values():
        if entry["problem"] != "small":
            continue
        truth = next(filled.glob(f"truth/small/{entry['split_key']}.parquet"))
        found = duckdb.sql(
            f"select avg((label = y)::int) from '{store.run_path(entry)}' positional join '{truth}'"
        ).fetchall()[0][0]
        labels, y = store.predictions(entry).labels, store.truth(entry).y
        assert found == pytest.approx((labels == y).mean())


def test_truth_is_of_the_test_rows_of_the_data_set(filled):
    from benchmark.designs import SMALL

    store = Store(filled)
    entry = next(one for one in store.entries().values() if one["problem"] == "small")
    truth, dataset = store.truth(entry), SMALL.load()
    rows = dataset.X["group"].astype(str).to_numpy()[truth.rows]
    assert [truth.groups[code] for code in truth.group] == rows.tolist()
    np.testing.assert_array_equal(truth.y, dataset.y.to_numpy()[truth.rows])
