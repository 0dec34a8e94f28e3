"""Files that are there whole or not at all, whenever the process is killed or the power goes."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Mapping
from functools import partial
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


def write_all(texts: Mapping[Path, Callable[[], str]]) -> list[str]:
    """Make and write every text that can be; what could not, and why."""
    failed = []
    for path, text in texts.items():
        try:
            write_whole(path, text())
        except (OSError, ImportError) as failure:
            reason = getattr(failure, "strerror", None) or failure
            failed.append(f"{path} was not written: {reason}.")
    return failed


def fill_whole(path: Path, fill: Callable[[IO[bytes]], object]) -> None:
    """Let `fill` write beside the target, flush to the disk, then rename."""
    folder = path.parent
    if not folder.is_dir():
        raise FileNotFoundError(f"the folder {folder} does not exist")
    beside = folder / f".{path.name}.{secrets.token_hex(4)}{UNFINISHED}"
    rights = path.stat().st_mode & 0o777 if path.exists() else None
    try:
        with open(beside, "xb", opener=partial(_opened, rights=rights)) as file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
        if rights is not None:
            beside.chmod(rights)
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    _flush_folder(folder)


def sweep(folder: Path) -> None:
    """Remove what processes that were killed a day ago or more have left."""
    for left in folder.rglob(f".*{UNFINISHED}"):
        if time.time() - left.stat().st_mtime > DAY:
            left.unlink(missing_ok=True)


def _opened(path: str, flags: int, rights: int | None) -> int:
    """A new file with the rights of the one it replaces, less what the system's mask takes away."""
    return os.open(path, flags, 0o666 if rights is None else rights)


def _flush_folder(folder: Path) -> None:
    """Make the new name as lasting as the content; not every system can."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
