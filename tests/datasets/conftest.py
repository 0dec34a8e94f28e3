"""A server on this computer that misbehaves on request, and tasks that read small files."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from evenhand.datasets import TASKS, File, download

Quirk = Callable[[BaseHTTPRequestHandler, bytes], None]


@dataclass
class Server:
    """Answers each request with the next quirk, and the last one for good."""

    port: int
    content: bytes = b""
    quirks: list[Quirk] = field(default_factory=list)
    asked: list[dict[str, str]] = field(default_factory=list)

    def file(self, name: str = "rows.csv", sha256: str | None = None) -> File:
        return File(name=name, url=f"http://127.0.0.1:{self.port}/{name}", sha256=sha256)

    def serve(self, content: bytes, *quirks: Quirk) -> None:
        self.content, self.quirks = content, list(quirks)


def whole(handler: BaseHTTPRequestHandler, content: bytes) -> None:
    """A well-behaved server, which knows about ranges."""
    start = int(handler.headers.get("Range", "bytes=0-")[6:-1])
    if handler.headers.get("If-Range", '"v1"') != '"v1"':
        start = 0
    handler.send_response(206 if start else 200)
    handler.send_header("ETag", '"v1"')
    handler.send_header("Content-Length", str(len(content) - start))
    handler.end_headers()
    handler.wfile.write(content[start:])


def half(handler: BaseHTTPRequestHandler, content: bytes) -> None:
    """Promises everything, sends half of what was asked, and hangs up."""
    start = int(handler.headers.get("Range", "bytes=0-")[6:-1])
    handler.send_response(206 if start else 200)
    handler.send_header("ETag", '"v1"')
    handler.send_header("Content-Length", str(len(content) - start))
    handler.end_headers()
    handler.wfile.write(content[start : start + (len(content) - start) // 2])


def page(handler: BaseHTTPRequestHandler, content: bytes) -> None:
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(b"\n<!DOCTYPE html><html>We have moved.</html>")


def status(code: int) -> Quirk:
    return lambda handler, content: handler.send_error(code)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known.asked.append(dict(self.headers))
            quirk = known.quirks.pop(0) if len(known.quirks) > 1 else known.quirks[0]
            quirk(self, known.content)

        def log_message(self, *args: Any) -> None:
            pass

    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    monkeypatch.delenv("EVENHAND_OFFLINE")
    monkeypatch.setattr(download, "PAUSE_S", 0.0)
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        known = Server(http.server_address[1])
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        yield known
        http.shutdown()
        thread.join()


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Let a task's official origin read a few rows; returns the folder to put them in."""
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))

    def shrink(name: str, **changes: Any) -> Path:
        official = TASKS[name].official
        assert official is not None
        origin = replace(
            official, **{"rows": None, "source_rows": None, "counts": (), "sample": None} | changes
        )
        files = tuple(replace(file, sha256=None) for file in origin.files)
        monkeypatch.setitem(
            TASKS, name, replace(TASKS[name], origins=(replace(origin, files=files),))
        )
        return tmp_path

    return shrink
