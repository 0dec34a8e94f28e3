"""The store: whole files or none, and a list of them that may be lost."""

import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import duckdb
import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from benchmark.designs import design, regression
from evenhand import _writing as writing
from evenhand.benchmark import Store, run, status
from evenhand.benchmark.predictions import Predictions
from evenhand.benchmark.sealed import DamagedFileError, read_about, read_columns
from evenhand.benchmark.store import read_manifest, write_manifest
from evenhand.cli.benchmark import bench


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
    write_manifest(path, [{"key": "a", "seed": 1}])
    assert read_manifest(path) == {"a": {"key": "a", "seed": 1}}


@pytest.mark.slow
def test_a_lost_manifest_is_made_again_from_the_files(copy):
    before = copy.entries()
    (copy.folder / "manifest.jsonl").unlink()
    assert copy.entries() == before


@pytest.mark.slow
def test_a_file_that_is_gone_is_missing_whatever_the_manifest_says(copy):
    gone = next(copy.folder.glob("runs/small/*.parquet"))
    gone.unlink()
    assert gone.stem not in copy.entries()
    assert status(design(), copy.folder).missing == 1


@pytest.mark.slow
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


def test_leftovers_of_processes_that_are_gone_are_swept_whatever_their_age(tmp_path):
    left = tmp_path / f".left{writing.UNFINISHED}"
    left.touch()

    def fill(file):
        os.utime(file.name, (0, 0))  # a clock that is wrong makes no leftover of it
        writing.sweep(tmp_path)
        file.write(b"whole")

    writing.fill_whole(tmp_path / "file", fill)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_bytes() == b"whole"


@pytest.mark.long
def test_sweeping_beside_busy_writers_loses_nothing_and_never_fails(tmp_path):
    over = threading.Event()

    def sweep():
        while not over.is_set():
            writing.sweep(tmp_path)

    with ThreadPoolExecutor(6) as pool:
        sweeps = [pool.submit(sweep) for _ in range(2)]
        writes = [
            pool.submit(writing.write_whole, tmp_path / f"{k % 8}", str(k)) for k in range(800)
        ]
        for write in writes:
            write.result()
        over.set()
        for each in sweeps:
            each.result()
    writing.sweep(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [*"01234567"]


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


def flipped(path, bit):
    content = bytearray(path.read_bytes())
    content[bit // 8 % len(content)] ^= 1 << bit % 8
    path.write_bytes(content)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["runs/small", "truth/small"])
def test_a_flipped_bit_is_noticed_or_changes_nothing(copy, what):
    entry = next(entry for entry in copy.entries().values() if entry["problem"] == "small")
    path = {"runs/small": copy.run_path, "truth/small": copy.truth_path}[what](entry)
    content, said, before = path.read_bytes(), read_about(path), read_columns(path)
    noticed = 0
    for bit in np.random.default_rng(0).integers(0, 8 * len(content), 300):
        flipped(path, int(bit))
        try:
            about, after = read_about(path), read_columns(path)
        except DamagedFileError:
            noticed += 1
        else:
            assert about == said
            np.testing.assert_equal(after, before)
        path.write_bytes(content)
    assert noticed > 200


@pytest.mark.slow
def test_a_flipped_bit_of_the_manifest_changes_no_entry(copy):
    before, path = copy.entries(), copy.folder / "manifest.jsonl"
    content = path.read_bytes()
    for bit in np.random.default_rng(1).integers(0, 8 * len(content), 100):
        flipped(path, int(bit))
        assert copy.entries() == before
        path.write_bytes(content)


@pytest.mark.parametrize("what", ["run_path", "truth_path"])
def test_damaged_runs_are_set_aside_and_done_again(copy, what):
    whole = {key: copy.predictions(entry).labels for key, entry in copy.entries().items()}
    entry = next(entry for entry in copy.entries().values() if entry["problem"] == "small")
    path = getattr(copy, what)(entry)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(DamagedFileError, match="bench verify"):
        copy.truth(entry) and copy.predictions(entry)
    state = run(design(), copy.folder, n_jobs=1)
    assert not state.missing
    assert path.with_name(path.name + ".damaged").exists()
    for key, labels in whole.items():
        np.testing.assert_array_equal(copy.predictions(copy.entries()[key]).labels, labels)
    assert copy.set_aside_damaged() == {}


def test_a_damaged_truth_costs_no_sound_run(copy):
    written = {path: path.stat().st_mtime_ns for path in copy.folder.glob("runs/*/*.parquet")}
    entry = next(entry for entry in copy.entries().values() if entry["problem"] == "small")
    truth, before = copy.truth_path(entry), copy.truth(entry)
    truth.write_bytes(truth.read_bytes()[:-100])
    assert list(copy.set_aside_damaged()) == [truth]
    assert not run(design(), copy.folder, n_jobs=1).missing
    assert {path: path.stat().st_mtime_ns for path in written} == written
    after = copy.truth(entry)
    np.testing.assert_array_equal(after.y, before.y)
    np.testing.assert_array_equal(after.group, before.group)
    assert after.about == before.about


@pytest.mark.slow
def test_a_folder_can_be_verified_without_its_design(copy):
    assert "0 damaged" in CliRunner().invoke(bench, ["verify", str(copy.folder)]).output
    path = next(copy.folder.glob("runs/*/*.parquet"))
    path.write_bytes(path.read_bytes()[:-100])
    done = CliRunner().invoke(bench, ["verify", str(copy.folder)])
    assert done.exit_code == 3
    assert "1 damaged" in done.output


@pytest.mark.slow
def test_damaged_scores_are_computed_again(copy):
    from evenhand.benchmark import results

    before = results(copy.folder, design()).scores
    path = next((copy.folder / "scores").glob("*.parquet"))
    flipped(path, 8 * (path.stat().st_size // 2))
    assert results(copy.folder, design()).scores.equals(before)
    assert len(list((copy.folder / "scores").glob("*.parquet"))) == 1
