"""Files that are there whole or not at all, whenever the power goes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO
from uuid import uuid4

SUFFIX = ".unfinished"
OLD = 24 * 3600


def write(path: Path, fill: Callable[[IO[bytes]], object]) -> None:
    """Write beside, flush to the disk, then rename: a reader sees the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{uuid4().hex[:8]}{SUFFIX}")
    try:
        with beside.open("xb") as file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    _flush_folder(path.parent)


def _flush_folder(folder: Path) -> None:
    """Make the new name as lasting as the content; not every system can."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sweep(folder: Path) -> None:
    """Remove what processes that were killed a day ago or more have left."""
    for left in folder.rglob(f".*{SUFFIX}"):
        if time.time() - left.stat().st_mtime > OLD:
            left.unlink(missing_ok=True)
