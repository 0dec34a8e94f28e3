"""The same design in this process, in others, in threads and on a Dask cluster: the same tables."""

import joblib
import numpy as np
import pytest
from click.testing import CliRunner

from benchmark.designs import design
from evenhand.benchmark import Store, Treatment, results, run, treatment
from evenhand.benchmark.running.jobs import jobs
from evenhand.cli.benchmark import bench
from later import Later

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

distributed = Later("distributed")

METHODS = (
    Treatment(),
    treatment("Reweight"),
    treatment("Reduction", grid=(0.1, 5.0)),
    treatment("LinearPost", grid=(0.01, 0.1)),
    treatment("EqOdds"),
)
UNLIKE = ("cpu_seconds", "seconds", "written")


@pytest.fixture(scope="module")
def dask():
    """The address of a cluster, whose workers start once."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster:
        yield cluster.scheduler_address


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    folder = tmp_path_factory.mktemp("here")
    assert run(design(*METHODS), folder, n_jobs=1).missing == 0
    return folder


def same(one, other):
    """Every stored column, every word of the manifest but times, and every score."""
    first, second = Store(one), Store(other)
    assert first.entries().keys() == second.entries().keys()
    for key, entry in first.entries().items():
        also = second.entries()[key]
        assert {k: v for k, v in entry.items() if k not in UNLIKE} == {
            k: v for k, v in also.items() if k not in UNLIKE
        }
        ours, theirs = first.predictions(entry).columns(), second.predictions(also).columns()
        assert ours.keys() == theirs.keys()
        for name, column in ours.items():
            np.testing.assert_array_equal(column, theirs[name])
    tables = [
        results(folder).to_frame().drop(columns=["cpu_seconds", "date"]) for folder in (one, other)
    ]
    ordered = [table.sort_values(["key", "question", "lot"], ignore_index=True) for table in tables]
    assert ordered[0].equals(ordered[1])


def test_other_processes_give_the_same_tables(here, tmp_path):
    run(design(*METHODS), tmp_path, n_jobs=2)
    same(here, tmp_path)


def test_threads_give_the_same_tables(here, tmp_path):
    with joblib.parallel_config(backend="threading", n_jobs=3):
        run(design(*METHODS), tmp_path)
    same(here, tmp_path)


def test_a_cluster_gives_the_same_tables(here, dask, tmp_path, monkeypatch):
    monkeypatch.setattr("evenhand.benchmark.running.jobs.Prepared", None)  # not here
    with distributed.Client(dask), joblib.parallel_config(backend="dask"):
        assert run(design(*METHODS), tmp_path).missing == 0
    monkeypatch.undo()
    same(here, tmp_path)


def test_the_command_takes_the_address_of_a_cluster(dask, tmp_path):
    (tmp_path / "mine.toml").write_text(
        "seeds = 1\n[problems.simulated]\nrows = 300\n[methods.EqOdds]\n"
    )
    done = CliRunner().invoke(bench, ["run", str(tmp_path / "mine.toml"), "--dask", dask])
    assert done.exit_code == 0, done.output
    assert "2 of 2 runs have a result" in done.output


def test_a_split_is_divided_among_many_workers_after_its_base_model(tmp_path):
    runs = design(*METHODS).runs().values()
    (alone,) = jobs(runs, 1)
    assert [len(job.runs) for job in alone] == [len(runs)]
    first, then = jobs(runs, 100)
    assert [job.only_base for job in first] == [True]
    parts = sorted(sorted(run.treatment.name for run in job.runs) for job in then)
    assert parts == [
        ["Base"],
        ["EqOdds"],
        ["LinearPost", "LinearPost"],  # fitted in one go
        ["Reduction"],
        ["Reduction"],
        ["Reweight"],
    ]
    few = jobs(runs, 2)[-1]
    assert sorted(run.key for job in few for run in job.runs) == sorted(run.key for run in runs)
    assert len(few) <= 8


@pytest.mark.long
def test_a_base_model_is_fitted_once_whoever_asks(tmp_path, monkeypatch):
    from evenhand.benchmark.running.preparation import Prepared

    fits, scores = [], Prepared.scores
    monkeypatch.setattr(Prepared, "scores", lambda self: fits.append(1) or scores(self))
    run(design(Treatment()), tmp_path, n_jobs=1)
    run(design(Treatment(), treatment("EqOdds")), tmp_path, n_jobs=1)
    assert len(fits) == 1
    for path in tmp_path.glob("bases/*/*.parquet"):
        path.write_bytes(path.read_bytes()[:100])
    run(design(Treatment(), treatment("LinearPost", grid=(0.1,))), tmp_path, n_jobs=1)
    assert len(fits) == 2
