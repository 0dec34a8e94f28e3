"""Downloads that do not get to their end."""

import errno
import os
import subprocess
import sys
import time
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
        killed.wait(timeout=20)

    server.serve(CONTENT, stall)
    program = f"from evenhand.datasets.fetch import *; fetch({server.file()!r})"
    killed = subprocess.Popen([sys.executable, "-c", program])
    part = tmp_path / "rows.csv.part"
    give_up = time.monotonic() + 20
    while time.monotonic() < give_up and not (part.exists() and part.stat().st_size):
        time.sleep(0.02)
    assert part.exists()
    killed.kill()
    killed.wait()
    assert not (tmp_path / "rows.csv").exists()
