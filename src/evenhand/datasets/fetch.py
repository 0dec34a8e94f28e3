"""Official files on disk: downloaded once, verified, and never partial."""

from __future__ import annotations

import errno
import os
import shutil
import zipfile
from importlib.resources import files
from pathlib import Path
from typing import Any, NoReturn

from evenhand._errors import EvenhandError, require
from evenhand.datasets.download import (
    InterruptedDownloadError,
    TooLargeError,
    WebPageError,
    discard,
    download,
)
from evenhand.datasets.task import File, Origin

VARIABLE = "EVENHAND_DATA"
OFFLINE = "EVENHAND_OFFLINE"


class FetchError(EvenhandError, OSError):
    """A file is not available; the message says why, and how to get it by hand."""


def data_dir() -> Path:
    """Folder that holds the data: EVENHAND_DATA if set, else the platform's cache."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen).expanduser()
    require("pooch", purpose="The cache of official files", extra="data")
    import pooch

    return Path(pooch.os_cache("evenhand"))


def locate(file: File) -> Path:
    """The path of the file, existing or not."""
    if file.packaged:
        return Path(str(files("evenhand.datasets").joinpath("data", file.name)))
    return data_dir() / file.name


def is_here(origin: Origin) -> bool:
    """Whether every file of the origin is on this computer."""
    return all(locate(file).is_file() for file in origin.files)


def fetch(file: File) -> Path:
    """Path of the file, after downloading it if it is missing or damaged."""
    path = locate(file)
    if file.url is None:
        if not path.is_file():
            raise FetchError(f"{path} does not exist, and it cannot be downloaded.")
        return path
    require(
        "pooch", "requests", "tqdm", "filelock", purpose=f"Downloading {file.name}", extra="data"
    )
    try:
        return _retrieve(file, path)
    except FetchError:
        raise
    except Exception as failure:
        _explain(file, path, failure)


def _retrieve(file: File, path: Path) -> Path:
    """The file, if it is valid; else one process downloads it, and others wait."""
    import pooch
    from filelock import FileLock

    def fill(url: str, output: str, _: Any) -> None:
        part = path.with_name(path.name + ".part")
        download(url, part)
        _refuse_broken_zip(file, part)
        os.replace(part, output)
        discard(part)

    pooch.get_logger().setLevel("WARNING")
    checksum = file.sha256 and f"sha256:{file.sha256}"
    if path.is_file() and pooch.hashes.hash_matches(str(path), checksum):
        return path
    if os.environ.get(OFFLINE, "0") not in ("", "0"):
        raise FetchError(
            f"{file.name} is not here, and {OFFLINE} is set, so nothing is downloaded. "
            + _by_hand(file, path)
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_name(f".{path.name}.lock")):
        pooch.retrieve(file.url, checksum, path.name, str(path.parent), downloader=fill)
    return path


def _refuse_broken_zip(file: File, part: Path) -> None:
    if file.sha256 is None and file.name.endswith(".zip") and not zipfile.is_zipfile(part):
        size = part.stat().st_size
        discard(part)
        raise FetchError(
            f"What {file.url} sent ({size:,} bytes) is not a zip file; it was deleted. "
            + _by_hand(file, locate(file))
        )


def _explain(file: File, path: Path, failure: Exception) -> NoReturn:
    """Turn any failure into a sentence about its cause, and one on what to do."""
    import requests

    if isinstance(failure, requests.HTTPError):
        problem = f"The server refused {file.name}: {failure}."
    elif isinstance(failure, InterruptedDownloadError):
        problem = f"The download of {file.name} broke off: {failure}. Run again to resume it."
    elif isinstance(failure, requests.RequestException):
        problem = f"{file.name} is not here and {file.url} cannot be reached: are you offline?"
    elif isinstance(failure, WebPageError):
        problem = f"{failure} in place of {file.name}; nothing was kept. It may have moved."
    elif isinstance(failure, TooLargeError):
        problem = f"{failure}, more than any file that is known here; nothing was kept."
    elif isinstance(failure, OSError):
        problem = _disk_problem(file, path, failure)
    else:
        problem = (
            f"{file.name} from {file.url} does not have the expected sha256 {file.sha256}; it was "
            "deleted. The source changed, or something altered it on the way."
        )
    raise FetchError(f"{problem} {_by_hand(file, path)}") from failure


def _disk_problem(file: File, path: Path, failure: OSError) -> str:
    if failure.errno != errno.ENOSPC:
        return f"{file.name} cannot be written to {path.parent}: {failure.strerror or failure}."
    discard(path.with_name(path.name + ".part"))
    free = shutil.disk_usage(path.parent).free
    return (
        f"The disk is full: {free / 1e6:,.0f} MB left in {path.parent}, too little for "
        f"{file.name}; the part that had arrived was deleted."
    )


def _by_hand(file: File, path: Path) -> str:
    return (
        f"By hand: open {file.url} in a browser, save it as {path}, and run this again. "
        f"Another folder: set {VARIABLE}."
    )
