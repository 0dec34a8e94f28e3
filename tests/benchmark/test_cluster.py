"""The same design on a Dask cluster, through joblib."""

import joblib
import numpy as np
import pytest

from benchmark.designs import design
from evenhand.benchmark import Store, run

pytestmark = pytest.mark.slow

distributed = pytest.importorskip("distributed")


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_gives_the_same_results(tmp_path, monkeypatch):
    wanted = design(seeds=(0, 1))
    run(wanted, tmp_path / "here", n_jobs=1)
    monkeypatch.setattr("evenhand.benchmark.running.jobs.Prepared", None)  # not here
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        assert run(wanted, tmp_path / "there").missing == 0
    here, there = Store(tmp_path / "here"), Store(tmp_path / "there")
    assert here.entries().keys() == there.entries().keys()
    for key, entry in here.entries().items():
        ours = here.predictions(entry).columns()
        theirs = there.predictions(there.entries()[key]).columns()
        for name, column in ours.items():
            np.testing.assert_array_equal(column, theirs[name])
