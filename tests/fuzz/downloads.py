"""Downloads from a server that answers as it likes."""

from __future__ import annotations

import hashlib
import os
import tempfile
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from evenhand.datasets import File, download
from evenhand.datasets.fetch import OFFLINE, VARIABLE, FetchError, fetch


def attack(seed: int) -> None:
    """The file as it should be, or an error of ours and nothing under its name."""
    rng = np.random.default_rng([4, seed])
    content = bytes(rng.integers(0, 256, int(rng.integers(1, 5000)), dtype=np.uint8))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with suppress(OSError):
                answer(self, content, rng)

        def log_message(self, *args: Any) -> None:
            pass

    with (
        tempfile.TemporaryDirectory() as folder,
        ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server,
    ):
        thread = threading.Thread(target=server.serve_forever, args=(0.005,), daemon=True)
        thread.start()
        try:
            file = File(
                name="rows.bin",
                url=f"http://127.0.0.1:{server.server_address[1]}/rows.bin",
                sha256=hashlib.sha256(content).hexdigest(),
            )
            fetched(file, folder, content)
        finally:
            server.shutdown()
            thread.join()


def fetched(file: File, folder: str, content: bytes) -> None:
    surroundings = patch.dict(os.environ, {VARIABLE: folder, OFFLINE: ""})
    with surroundings, patch.object(download, "PAUSE_S", 0.0):
        try:
            path = fetch(file)
        except FetchError:
            assert not (Path(folder) / file.name).exists()
        else:
            assert path.read_bytes() == content


def answer(handler: BaseHTTPRequestHandler, content: bytes, rng: np.random.Generator) -> None:
    """A random status, random headers, and some of the bytes."""
    first = 0
    if (asked := handler.headers.get("Range")) and rng.random() < 0.7:
        first = int(asked[6:-1])
    status = int(
        rng.choice([200, 206, 416, 404, 429, 500, 302], p=[0.6, 0.15, 0.05, 0.05, 0.05, 0.05, 0.05])
    )
    handler.send_response(206 if first else status)
    if rng.random() < 0.7:
        handler.send_header("ETag", str(rng.choice(['"v1"', '"v2"', 'W/"v1"', ""])))
    part = content[first:]
    if rng.random() < 0.3:
        part = part[: int(rng.integers(0, len(part) + 1))]
    if rng.random() < 0.1:
        part = b"<html>moved</html>"
    if rng.random() < 0.1:
        part += b"more"
    length = len(content) - first if rng.random() < 0.5 else len(part)
    if rng.random() < 0.8:
        said = str(length) if rng.random() < 0.95 else str(rng.choice(["-5", "many", "1e3", ""]))
        handler.send_header("Content-Length", said)
    if rng.random() < 0.05:
        handler.send_header("Location", "/rows.bin")
    if rng.random() < 0.05:
        handler.send_header("Content-Encoding", "gzip")
    handler.end_headers()
    handler.wfile.write(part)
