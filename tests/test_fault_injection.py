"""Every write, flush, rename and read fails once; what was there is whole, the next try works."""

import errno
import os
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

import evenhand as eh
from benchmark.designs import design
from evenhand import _writing
from evenhand.benchmark import Store, results, run
from lanes import one_in

try:
    import resource
except ImportError:  # not on Windows
    resource = None

FAULTS = (errno.ENOSPC, errno.EIO)


class Disk:
    """Counts what is asked of it, and refuses the one operation that it was told to."""

    def __init__(self, refused, number):
        self.refused, self.number, self.asked = refused, number, 0

    def guard(self, operation):
        def guarded(*args, **kwargs):
            self.asked += 1
            if self.asked == self.refused:
                raise OSError(self.number, os.strerror(self.number))
            return operation(*args, **kwargs)

        return guarded


@contextmanager
def failing(monkeypatch, refused, number):
    disk = Disk(refused, number)
    with monkeypatch.context() as patch:
        patch.setattr(_writing.os, "replace", disk.guard(os.replace))
        patch.setattr(_writing.os, "fsync", disk.guard(os.fsync))
        patch.setattr(_writing, "_new_file", disk.guard(_writing._new_file))
        patch.setattr(Path, "read_bytes", disk.guard(Path.read_bytes))
        yield disk


def leftovers(folder):
    return [path for path in folder.rglob("*") if path.name.endswith(_writing.UNFINISHED)]


def each_fault(monkeypatch, act, inspect, first=1, step=1):
    """Refuse the first operation, then the second, until `act` comes to its end undisturbed."""
    for number in FAULTS:
        for refused in range(first, 100, step):
            with failing(monkeypatch, refused, number) as disk, suppress(OSError):
                act(refused)
            inspect(refused)
            if disk.asked < refused:
                assert refused > 2, "nothing was ever asked of the disk"
                break
        else:
            raise AssertionError("it never ends")


@pytest.fixture(scope="module")
def audit():
    rng = np.random.default_rng(0)
    y, p, group = rng.integers(0, 2, (3, 200))
    return eh.audit(y, p, sensitive_features=group.astype(str), criteria="statistical_parity")


@pytest.mark.slow
@pytest.mark.parametrize("form", ["to_html", "to_json", "to_markdown"])
def test_a_report_is_the_old_one_or_the_new_one(monkeypatch, tmp_path, audit, form):
    path = tmp_path / "report"
    path.write_text("old")

    def inspect(_):
        assert path.read_text("utf-8") == "old" or len(path.read_text("utf-8")) > 100
        assert not leftovers(tmp_path)

    each_fault(monkeypatch, lambda _: getattr(audit, form)(path), inspect)
    assert path.read_text("utf-8") != "old"


def in_order(scores):
    """Scores by run and question: what was counted before the fault comes first in the table."""
    names = [name for name in scores.column_names if name != "value"]
    table = scores.to_pandas().astype(dict.fromkeys(names, str))
    return table.sort_values(names).reset_index(drop=True)


@pytest.mark.slow
@pytest.mark.parametrize("first", one_in(2, [1, 2]))
def test_a_benchmark_goes_on_after_any_fault(monkeypatch, tmp_path, first):
    whole = tmp_path / "whole"
    run(design(), whole, n_jobs=1)
    wanted = in_order(results(whole, design(), n_jobs=1).scores)

    def act(refused):
        folder = tmp_path / str(refused)
        run(design(), folder, n_jobs=1)
        results(folder, design(), n_jobs=1)

    def inspect(refused):
        folder = tmp_path / str(refused)
        assert not leftovers(folder)
        if refused % 5 == 0:
            assert not run(design(), folder, n_jobs=1).missing
            assert in_order(results(folder, design(), n_jobs=1).scores).equals(wanted)
            assert Store(folder).set_aside_damaged() == {}

    monkeypatch.setattr(f"{__name__}.FAULTS", (errno.EIO,))
    each_fault(monkeypatch, act, inspect, first, step=2)


@contextmanager
def room_for(size):
    """A disk with room for so many bytes of each file: writing more fails, and so does closing."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def written_state(path):
    counts = eh.tally(None, [1, 0] * 50, sensitive_features=["a", "b"] * 50)
    watch = eh.Watch("statistical_parity")
    watch.update(counts, part="one")
    watch.save(path)


@pytest.mark.skipif(resource is None, reason="this system has no limits on the size of files")
@pytest.mark.parametrize("size", [0, 1, 500])
@pytest.mark.parametrize("form", ["to_html", "to_json", "to_markdown", "state"])
def test_a_full_disk_leaves_nothing_behind_and_is_told(tmp_path, audit, form, size):
    path = tmp_path / "report"
    path.write_text("old")
    write = written_state if form == "state" else getattr(audit, form)
    told = r"report was not written: File too large\."
    with pytest.raises(eh.OutputError, match=told), room_for(size):
        write(path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["report"]
