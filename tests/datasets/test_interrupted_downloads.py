"""Downloads that do not get to their end."""

import errno
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from evenhand.datasets import FetchError, download
from evenhand.datasets.fetch import fetch

from .conftest import whole
from .test_fetch import CONTENT, SHA256, left_in


class Disk:
    """A file that gives up after its first chunk."""

    def __init__(self, path, failure):
        self.path, self.failure, self.writes = Path(path), failure, 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def write(self, chunk):
        self.writes += 1
        if self.writes > 1:
            raise self.failure
        return self.path.write_bytes(chunk)


def test_a_full_disk_is_said_and_what_had_arrived_is_deleted(server, tmp_path, monkeypatch):
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    monkeypatch.setattr(download, "open", lambda path, _: Disk(path, full), raising=False)
    server.serve(CONTENT, whole)
    with pytest.raises(FetchError, match=r"disk is full: [\d,]+ MB left.*set EVENHAND_DATA"):
        fetch(server.file())
    assert left_in(tmp_path) == []


def test_an_interrupt_keeps_the_part_and_the_next_run_resumes_it(server, tmp_path, monkeypatch):
    server.serve(CONTENT, whole)
    with monkeypatch.context() as patch:
        patch.setattr(
            download, "open", lambda path, _: Disk(path, KeyboardInterrupt()), raising=False
        )
        with pytest.raises(KeyboardInterrupt):
            fetch(server.file(sha256=SHA256))
    assert left_in(tmp_path) == ["rows.csv.part", "rows.csv.part.etag"]
    assert fetch(server.file(sha256=SHA256)).read_bytes() == CONTENT
    assert "Range" in server.asked[1]


@pytest.mark.slow
def test_a_killed_download_leaves_nothing_under_the_final_name(server, tmp_path):
    def stall(handler, content):
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content[:300_000])
        handler.wfile.flush()
        killed.wait(timeout=120)

    server.serve(CONTENT, stall)
    program = f"from evenhand.datasets.fetch import *; fetch({server.file()!r})"
    killed = subprocess.Popen([sys.executable, "-c", program])
    part = tmp_path / "rows.csv.part"
    give_up = time.monotonic() + 120
    while time.monotonic() < give_up and not (part.exists() and part.stat().st_size):
        time.sleep(0.02)
    assert part.exists()
    killed.kill()
    killed.wait()
    assert not (tmp_path / "rows.csv").exists()


def drip(handler, content):
    """Sends a byte now and then."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    with suppress(OSError):
        for k in range(600):
            handler.wfile.write(content[k : k + 1])
            handler.wfile.flush()
            time.sleep(0.01)


def test_a_server_that_drips_is_left(server, tmp_path, monkeypatch):
    monkeypatch.setattr(download, "PATIENCE_S", 0.2)
    monkeypatch.setattr(download, "LOOK", 1)
    monkeypatch.setattr(download, "ATTEMPTS", 2)
    server.serve(CONTENT, drip)
    with pytest.raises(FetchError, match=r"broke off: [\d,]+ of 480,008 bytes arrived, too slowly"):
        fetch(server.file())
    assert not (tmp_path / "rows.csv").exists()


@pytest.mark.parametrize("quirk", [whole, lambda handler, content: endless(handler)])
def test_more_bytes_than_any_official_file_has_are_refused(server, tmp_path, monkeypatch, quirk):
    monkeypatch.setattr(download, "LARGEST", 100_000)
    server.serve(CONTENT, quirk)
    with pytest.raises(FetchError, match="sends more than 100,000 bytes"):
        fetch(server.file())
    assert left_in(tmp_path) == []


def endless(handler):
    handler.send_response(200)
    handler.end_headers()
    with suppress(OSError):
        for _ in range(1000):
            handler.wfile.write(b"1,2,3\n" * 1000)


@pytest.mark.slow
def test_many_processes_and_threads_that_want_one_file_all_get_it(server, tmp_path):
    server.serve(CONTENT, whole)
    file = server.file(sha256=SHA256)
    program = f"from evenhand.datasets.fetch import *; fetch({file!r})"
    others = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(3)]
    with ThreadPoolExecutor(20) as pool:
        paths = list(pool.map(lambda _: fetch(file), range(40)))
    assert [other.wait(60) for other in others] == [0, 0, 0]
    assert {path.read_bytes() for path in paths} == {CONTENT}
    assert len(server.asked) == 1
    assert left_in(tmp_path) == ["rows.csv"]
