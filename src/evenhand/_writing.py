"""Atomic writing: files are complete or absent, even if the process is killed."""

from __future__ import annotations

import glob
import os
import secrets
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

from evenhand._errors import EvenhandError, InputTypeError, OutputError

UNFINISHED = ".unfinished"


def path_of(path: Any) -> Path:
    """A path from text or a path; refuse anything else.

    >>> path_of(None)
    Traceback (most recent call last):
    evenhand.InputTypeError: A path is text or a Path, not None.
    """
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes):
        raise InputTypeError(f"A path is text or a Path, not {path!r}.")
    return Path(path)


def written(text: str, path: str | Path | None) -> str:
    """The text itself, also written to a file if one is named."""
    if path is not None:
        write_whole(path_of(path), text)
    return text


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a text or picture; readers see the old file or the new one."""
    fill_whole(path, lambda file: file.write(_bytes(content)))


def write_all(contents: Mapping[Path, Callable[[], str | bytes]]) -> list[str]:
    """Make and write all contents; return the failures."""
    failed = []
    for path, content in contents.items():
        try:
            write_whole(path, content())
        except OutputError as failure:
            failed.append(str(failure))
        except (OSError, ImportError) as failure:
            failed.append(f"{path} was not written: {reason_of(failure)}.")
    return failed


def reason_of(failure: Exception) -> str:
    """The system's reason why a file could not be read or written, without its number.

    >>> reason_of(OSError(28, "No space left on device"))
    'No space left on device'
    """
    return str(getattr(failure, "strerror", None) or failure).rstrip(".")


def fill_whole(path: Path, fill: Callable[[IO[bytes]], object]) -> None:
    """Let `fill` write next to the target, flush to the disk, then rename.

    Of a link, the target is what it leads to. A device or pipe is written to: a new file must not
    take its place. Whatever fails, nothing is left next to the target, and the error names it; what
    a killed process left there goes with the next write.
    """
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as device:
                fill(device)
        else:
            _fill_beside(Path(os.path.realpath(path)) if path.is_symlink() else path, fill)
    except EvenhandError:
        raise
    except OSError as failure:
        raise OutputError(f"{path} was not written: {reason_of(failure)}.") from failure


def _fill_beside(path: Path, fill: Callable[[IO[bytes]], object]) -> None:
    folder = path.parent
    if not folder.is_dir():
        raise FileNotFoundError(f"the folder {folder} does not exist")
    rights = path.stat().st_mode & 0o777 if path.exists() else None
    with suppress(OSError):  # a folder that cannot be listed can be written to all the same
        _clear(folder.glob(f".{glob.escape(path.name)}.{'[0-9a-f]' * 8}{UNFINISHED}"))
    file = _new_file(path, rights)
    temporary = Path(file.name)
    try:
        with file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
            if rights is not None:
                temporary.chmod(rights)
            if os.name == "nt":  # there an open file cannot be renamed
                file.close()
            os.replace(temporary, path)
    except BaseException:
        # Only here is the file closed for certain: closing one whose disk is full fails too.
        _remove(temporary)
        raise
    _flush_folder(folder)


def sweep(folder: Path) -> None:
    """Remove leftovers of ended processes in a folder and its subfolders."""
    _clear(folder.rglob(f".*{UNFINISHED}"))


def _clear(leftovers: Iterable[Path]) -> None:
    """Remove abandoned files; one that is being written is locked."""
    for leftover in leftovers:
        # An error: it is finished now, someone is writing it, or it is not ours.
        with suppress(OSError), open(leftover, "rb") as file:
            own(file)
            leftover.unlink()


def _new_file(path: Path, rights: int | None) -> IO[bytes]:
    """A new file next to the target, locked so that no sweep removes it."""
    while True:
        temporary = path.parent / f".{path.name}.{secrets.token_hex(4)}{UNFINISHED}"
        file = open(temporary, "xb", opener=partial(_opened, rights=rights))  # noqa: SIM115
        try:
            if _stays(file):
                return file
        except BaseException:
            file.close()
            _remove(temporary)
            raise
        file.close()


def _stays(file: IO[bytes]) -> bool:
    """Lock a new file; return whether no sweep has locked or removed it first."""
    try:
        own(file)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks, where nothing is swept
        return True
    return os.fstat(file.fileno()).st_nlink > 0


def _remove(path: Path) -> None:
    """Remove a file if possible, so that the original error is reported."""
    with suppress(OSError):
        path.unlink()


def own(file: IO[bytes] | int) -> None:
    """Lock a file, or a folder's handle, until it is closed or the process ends.

    Raises `BlockingIOError` where another one holds it.

    Where there are no such locks nothing is locked; there open files cannot be removed either.
    """
    try:
        import fcntl
    except ImportError:
        return
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _bytes(content: str | bytes) -> bytes:
    """UTF-8, with a question mark for invalid characters, such as bytes of file names."""
    return content if isinstance(content, bytes) else content.encode("utf-8", errors="replace")


def _opened(path: str, flags: int, rights: int | None) -> int:
    """A new file with the rights of the one it replaces, less the system's mask."""
    return os.open(path, flags, 0o666 if rights is None else rights)


def _flush_folder(folder: Path) -> None:
    """Flush the new name to the disk, where the system can.

    Where it fails, the new file is there all the same: to say that it was not written were untrue.
    """
    if os.name != "posix":
        return
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
