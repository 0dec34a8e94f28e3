"""What must not depend on the machine or on how the tests were started."""

import gc
import os
import re
from pathlib import Path

import pytest
from hypothesis import settings

from engines import ENGINES, LOCAL
from workers import by_start, scope_of

# Time limits of single examples say more of the machine than of the code. Every run draws the same
# examples, so that no build fails by a rare draw; `make long` and `make fuzz` draw others.
# EVENHAND_EXAMPLES asks for more or fewer.
EXAMPLES = int(os.environ.get("EVENHAND_EXAMPLES", "12"))
settings.register_profile("random", deadline=None, max_examples=EXAMPLES)
settings.register_profile("ours", settings.get_profile("random"), derandomize=True)
settings.load_profile("ours")

# A file whose tests are all marked slow.
WHOLE = re.compile(r"^pytestmark = \[?\s*pytest\.mark\.slow\b", re.MULTILINE)

# Examples in docstrings that fit models, write pages or start other processes.
LONG_EXAMPLES = {
    f"evenhand.{name}"
    for name in (
        *("_audit.api.audit", "_compare.comparison.Comparison.by_model", "_frontier.api.frontier"),
        *("_uncertainty.power.power", "benchmark.boards.standings.leaderboard"),
        "benchmark.boards.standings.write_leaderboard",
        *("benchmark.design.fingerprints.version_of", "benchmark.design.from_file.read_design"),
        *("benchmark.page.write_report", "benchmark.scoring.results.read_results"),
        *("datasets", "datasets.dataset.Dataset"),
        *("datasets.loader.load", "mitigation.penalized.PenalizedClassifier"),
        "mitigation.frontier.FrontierClassifier",
    )
}

# No test downloads a data set, with a network or without; those of downloads have their own server.
os.environ["EVENHAND_OFFLINE"] = "1"

# Workers of pytest-xdist inherit the width of the terminal; ours is that of a pipe.
os.environ.pop("COLUMNS", None)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """One more than there are cores: tests wait for browsers, servers and other processes."""
    return len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """The tests of a file run in one worker, so that what they share is made once."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return scope_of(nodeid)

        def _assign_work_unit(self, node):
            if not any(self.assigned_work.values()):
                for scope in by_start(self.workqueue):
                    self.workqueue.move_to_end(scope)
            super()._assign_work_unit(node)

    return ByFile(config, log)


def pytest_ignore_collect(collection_path, config):
    """`make quick` does not even import files that are slow as a whole."""
    if config.option.markexpr != "not slow" or collection_path.suffix != ".py":
        return None
    return WHOLE.search(collection_path.read_text("utf-8")) is not None or None


def pytest_collection_modifyitems(config, items):
    """Mark what asks for official files (`make test-data`) and long examples (`make quick`).

    What is marked long is left to `make long`, which asks for it.
    """
    for item in items:
        if item.name in LONG_EXAMPLES:
            item.add_marker("slow")
        if "data_file" in getattr(item, "fixturenames", ()):
            item.add_marker("data")
    if "long" not in config.option.markexpr:
        left = [item for item in items if item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if not item.get_closest_marker("long")]


@pytest.fixture
def data_file():
    """A file of the data directory, or a skipped test."""

    def find(name):
        folder = os.environ.get("EVENHAND_DATA")
        if not folder or not (Path(folder) / name).is_file():
            pytest.skip(f"needs {name} in the folder that EVENHAND_DATA names")
        return Path(folder) / name

    return find


def pytest_collection_finish():
    """What was loaded stays: collecting garbage need not look through it in every test."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture
def few_folds(monkeypatch):
    """Frontiers that leave rows out twice and try one strength: what they choose is not tested."""
    monkeypatch.setattr("evenhand.mitigation.crossfit.advice.FOLDS", 2)
    monkeypatch.setattr("evenhand.mitigation.crossfit.advice.ERRORS", (0.05,))


@pytest.fixture(params=[engine.as_parameter for engine in ENGINES.values()])
def engine(request):
    """Every engine that holds tables, in turn; those that are not installed are skipped."""
    return request.param


@pytest.fixture(params=[engine.as_parameter for engine in LOCAL])
def local_engine(request):
    """Every engine that works in this process and needs no start."""
    return request.param
