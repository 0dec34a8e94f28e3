"""Files that are there whole or not at all, whenever the process is killed or the power goes."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

UNFINISHED = ".unfinished"
DAY = 24 * 3600


def write_whole(path: Path, text: str) -> None:
    """Write a text; whoever looks sees the old file or the new one."""
    if path.exists() and not path.is_file():  # a device or pipe cannot be replaced by renaming
        path.write_text(text, encoding="utf-8")
        return
    fill_whole(path, lambda file: file.write(text.encode("utf-8")))


def fill_whole(path: Path, fill: Callable[[IO[bytes]], object]) -> None:
    """Let `fill` write beside the target, flush to the disk, then rename."""
    folder = path.parent
    if not folder.is_dir():
        raise FileNotFoundError(f"the folder {folder} does not exist")
    handle, beside = tempfile.mkstemp(prefix=f".{path.name}.", suffix=UNFINISHED, dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(beside, _mode(path))
        os.replace(beside, path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
    _flush_folder(folder)


def sweep(folder: Path) -> None:
    """Remove what processes that were killed a day ago or more have left."""
    for left in folder.rglob(f".*{UNFINISHED}"):
        if time.time() - left.stat().st_mtime > DAY:
            left.unlink(missing_ok=True)


def _mode(path: Path) -> int:
    """The rights of the file that is replaced, or those a new file would get."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _flush_folder(folder: Path) -> None:
    """Make the new name as lasting as the content; not every system can."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
