"""Download one address to one file: with retries, resuming where the last try stopped."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from requests import Response

ATTEMPTS = 4
PAUSE_S = 1.0
TIMEOUT_S = 30.0  # without a byte
PATIENCE_S = 60.0  # after which a download must have been faster than SLOWEST on average
SLOWEST = 1000.0  # bytes a second
LONGEST_S = 6 * 3600.0
LARGEST = 8 * 2**30  # bytes; several times the largest of the official files
CHUNK = 1 << 16
LOOK = 512  # bytes that tell a web page from data
BUSY = {429, 500, 502, 503, 504}


class InterruptedDownloadError(OSError):
    """The connection ended before the file did; the download can be resumed."""


class WebPageError(OSError):
    """The server sent a web page in place of the file."""


class TooLargeError(OSError):
    """The server sends more than any official file has."""


def download(url: str, part: Path) -> None:
    """Fill `part` from the url; a `part` left by an earlier try is continued."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            _stream(url, part)
            return
        except Exception as failure:
            if attempt == ATTEMPTS or not _may_pass(failure):
                raise
            time.sleep(PAUSE_S * 2 ** (attempt - 1))


def discard(part: Path) -> None:
    """Remove a partial file and the tag of the version it belongs to."""
    part.unlink(missing_ok=True)
    _tag(part).unlink(missing_ok=True)


def _may_pass(failure: Exception) -> bool:
    import requests

    if isinstance(failure, requests.HTTPError) and failure.response is not None:
        return failure.response.status_code in BUSY
    return isinstance(
        failure, InterruptedDownloadError | requests.ConnectionError | requests.Timeout
    )


def _tag(part: Path) -> Path:
    return part.with_name(part.name + ".etag")


def _stream(url: str, part: Path) -> None:
    import requests

    headers, offset = _resume_headers(part)
    with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT_S) as response:
        if response.status_code == requests.codes.requested_range_not_satisfiable:
            discard(part)
            raise InterruptedDownloadError(f"{url} has another length than before")
        response.raise_for_status()
        chunks = _refuse_page(response, part)
        if response.status_code != requests.codes.partial_content:
            discard(part)
            offset = 0
        _remember(response, part)
        _write(response, chunks, part, offset)


def _resume_headers(part: Path) -> tuple[dict[str, str], int]:
    """Ask for the rest only if the server can verify that the file is unchanged."""
    headers = {"Accept-Encoding": "identity"}
    if not (part.exists() and _tag(part).exists() and part.stat().st_size):
        return headers, 0
    offset = part.stat().st_size
    return headers | {"Range": f"bytes={offset}-", "If-Range": _tag(part).read_text()}, offset


def _remember(response: Response, part: Path) -> None:
    version = response.headers.get("ETag") or response.headers.get("Last-Modified")
    if version and not version.startswith("W/"):
        _tag(part).write_text(version)


def _refuse_page(response: Response, part: Path) -> Iterator[bytes]:
    chunks, first = _chunks(response), b""
    for chunk in chunks:
        first += chunk
        if len(first) >= LOOK:
            break
    looks_like_page = first.lstrip()[:15].lower().startswith((b"<!doctype html", b"<html"))
    if looks_like_page or "text/html" in response.headers.get("Content-Type", ""):
        discard(part)
        raise WebPageError(f"{response.url} answered with a web page")
    return chain([first], chunks)


def _chunks(response: Response) -> Iterator[bytes]:
    """Bytes as they arrive, so that a slow server cannot block."""
    from urllib3.exceptions import HTTPError

    try:
        while chunk := response.raw.read1(CHUNK, decode_content=False):
            yield chunk
    except (HTTPError, OSError) as failure:
        raise InterruptedDownloadError("then no more") from failure


def _write(response: Response, chunks: Iterator[bytes], part: Path, offset: int) -> None:
    from tqdm import tqdm

    total, arrived, started = _total(response, offset), 0, time.monotonic()
    _refuse_large(response, part, total or 0)
    options: dict[str, Any] = {"total": total, "initial": offset, "unit": "B", "unit_scale": True}
    try:
        with open(part, "ab") as stream, tqdm(desc=part.stem, disable=None, **options) as bar:
            for chunk in chunks:
                arrived += stream.write(chunk)
                bar.update(len(chunk))
                _refuse_large(response, part, offset + arrived)
                _refuse_slow(arrived, time.monotonic() - started)
        if total is not None and offset + arrived < total:
            raise InterruptedDownloadError("then the connection ended")
    except InterruptedDownloadError as failure:
        length = "an unknown number of" if total is None else f"{total:,}"
        raise InterruptedDownloadError(
            f"{offset + arrived:,} of {length} bytes arrived, {failure}"
        ) from failure


def _refuse_large(response: Response, part: Path, size: int) -> None:
    if size > LARGEST:
        discard(part)
        raise TooLargeError(f"{response.url} sends more than {LARGEST:,} bytes")


def _refuse_slow(arrived: int, seconds: float) -> None:
    if seconds > LONGEST_S or (seconds > PATIENCE_S and arrived < SLOWEST * seconds):
        raise InterruptedDownloadError("too slowly")


def _total(response: Response, offset: int) -> int | None:
    length = response.headers.get("Content-Length")
    return None if length is None else offset + int(length)
