"""The state behind the page: open files, and their counts and audits.

One thing is done at a time. A newer request stops an older one that is still being answered,
since nobody waits for it any more.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from evenhand._audit import Audit, Evidence
from evenhand._audit.explore import MOST_GROUPS, counts_document
from evenhand._data.rereading import sharing
from evenhand._errors import InputError
from evenhand._files.files import connect
from evenhand._files.passes import SCORES, Passes
from evenhand._writing import own
from evenhand.app.choices import Choices
from evenhand.app.tables import Opened

T = TypeVar("T")

COUNTING = "Counting"
READING = (0.4, 0.4, 0.2)  # of the time: what columns hold, the rows, and a look over them
BETWEEN_STOPS = 0.05  # seconds
CACHE_SIZE = 4  # counts and audits that are remembered, of each file
MOST_FILES = 8
PREFIX = "evenhand-app-"
JUST_MADE = 60.0  # seconds in which a folder may not be in use yet
CLEANER = """
import shutil, sys
sys.stdin.buffer.read()  # ends with the process that writes to it, however that ends
shutil.rmtree(sys.argv[1], ignore_errors=True)
"""


class StoppedError(Exception):
    """A newer request came, or the user pressed cancel."""


class Desk:
    """Open files, by key, and the folder of those dropped on the page."""

    def __init__(self) -> None:
        sweep(Path(tempfile.gettempdir()))
        self.folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        self.in_use = os.open(self.folder, os.O_RDONLY) if os.name == "posix" else None
        if self.in_use is not None:
            own(self.in_use)
        # A process of its own outlives this one, so that the files go after a crash, too.
        self.cleaner = subprocess.Popen(
            [sys.executable, "-I", "-c", CLEANER, str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.files: OrderedDict[str, Work] = OrderedDict()
        self._numbers = 0

    def place(self, suffix: str) -> Path:
        """A path for a file of this kind."""
        self._numbers += 1
        return self.folder / f"{self._numbers}{suffix}"

    def open(self, path: Path, name: str) -> str:
        """Open a file under its owner's name for it; return its key."""
        key = secrets.token_hex(8)  # no address of another session or file is this one's
        self.files[key] = Work(path, name, self.folder)
        try:
            self.files[key].begin()
        except BaseException:
            self.files.pop(key).close()
            raise
        while len(self.files) > MOST_FILES:
            self.files.popitem(last=False)[1].close()
        return key

    def progress(self) -> dict[str, Any]:
        """What is being done with the last file, and the share that is done."""
        return next(reversed(self.files.values())).progress() if self.files else {}

    def stop(self) -> None:
        """Stop the work on the last file."""
        if self.files:
            next(reversed(self.files.values())).stop()

    def close(self) -> None:
        """Close all files and delete the folder."""
        for work in self.files.values():
            work.close()
        if self.cleaner.stdin is not None:
            self.cleaner.stdin.close()
        self.cleaner.wait(timeout=30)
        if self.in_use is not None:
            os.close(self.in_use)
            self.in_use = None


def sweep(parent: Path) -> None:
    """Remove unused folders, whose processes ended, and their cleaners with them.

    Folders can be locked on POSIX systems only; elsewhere none is removed.
    """
    if os.name != "posix":
        return
    for folder in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):  # it is in use, or somebody else's
            status = folder.lstat()
            if status.st_uid != os.getuid() or time.time() - status.st_mtime < JUST_MADE:
                continue
            handle = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                own(handle)
                shutil.rmtree(folder)
            finally:
                os.close(handle)


class Work:
    """A file, and its counts and audits so far."""

    def __init__(self, path: Path, name: str, folder: Path) -> None:
        self.path, self.name, self.folder = path, name, folder
        self.database = connect(folder)
        self.opened: Opened | None = None
        self.evidence: OrderedDict[str, tuple[Mapping[str, Any], Evidence]] = OrderedDict()
        self.audits: OrderedDict[str, Audit] = OrderedDict()
        self.doing = ""
        self.share: float | None = None
        self.passes = Passes(READING)
        self._turn, self._newest, self._present = Lock(), 0, 0
        self._change = Lock()

    def begin(self) -> None:
        """Open the file and look over its columns."""
        with self.turn("Reading the file"):
            self.opened = Opened(self.path, self.name, self.database)

    @property
    def table(self) -> Opened:
        """The open file."""
        if self.opened is None:
            raise InputError(f"{self.name} is still being read.")
        return self.opened

    def counted(self, choices: Choices) -> Evidence:
        """The counts for the choices, made once."""
        with self.turn(COUNTING, stop=False):
            return self._counted(choices)

    def counts(self, choices: Choices) -> dict[str, Any] | None:
        """The counts that a page explores, from earlier counts where possible."""
        evidence = self._available(choices, explored=True)
        if evidence is None and choices.uncut is not None:
            with suppress(InputError):  # amounts that are no whole numbers, say
                self.counted(choices.uncut)
                evidence = self._available(choices, explored=True)
        if evidence is None:
            evidence = self.counted(choices)
        if len(evidence.groups) > MOST_GROUPS:
            raise InputError(
                f"These columns name {len(evidence.groups):,} groups, and this page compares up to "
                f"{MOST_GROUPS:,}. Choose columns that name fewer, or cut amounts into bins."
            )
        return counts_document(evidence)

    def _available(self, choices: Choices, *, explored: bool) -> Evidence | None:
        """Earlier counts adapted to these choices; None if that needs the rows."""
        if choices.key in self.evidence:
            return self.evidence[choices.key][1]
        at = choices.reading.get("threshold")
        by_age = [*reversed(self.evidence.values())]  # of equals, those that are cut alike
        for reading, evidence in sorted(by_age, key=lambda entry: entry[0].get("threshold") != at):
            answer = choices.among(reading, evidence, explored=explored)
            if answer is not None:
                return answer
        return None

    def cached_audit(self, choices: Choices) -> Audit | None:
        """The audit of these choices, if it was made."""
        return self.audits.get(choices.audit_key)

    def audit(self, choices: Choices) -> Audit:
        """The audit of these choices; counts are made once."""
        with self.turn("Auditing", stop=False) as update:
            return _remembered(
                self.audits,
                choices.audit_key,
                lambda: choices.audit(self._counted(choices), update),
            )

    def _counted(self, choices: Choices) -> Evidence:
        def count() -> tuple[Mapping[str, Any], Evidence]:
            evidence = self._available(choices, explored=False)
            if evidence is None:
                evidence = sharing(
                    choices.count(), [counted for _, counted in self.evidence.values()]
                )
            return choices.reading, evidence

        return _remembered(self.evidence, choices.key, count)[1]

    @contextmanager
    def turn(self, doing: str, *, stop: bool = True) -> Iterator[Callable[[int, int], None]]:
        """Take the turn to work, and yield a callback for progress.

        Older work is stopped, or awaited if `stop` is false.
        """
        ticket = self.stop() if stop else self._newest
        with self._turn:
            with self._change:
                self._present, self.doing, self.share = ticket, doing, None
                self.passes = Passes(SCORES if doing == COUNTING else READING)

            def update(done: int, total: int) -> None:
                self.share = done / total if total else None
                if ticket != self._newest:
                    raise StoppedError

            try:
                update(0, 0)
                yield update
            except Exception as failure:
                if ticket != self._newest:
                    raise StoppedError from failure
                if self.opened is None or isinstance(failure, StoppedError):
                    raise
                raise self.opened.renamed(failure) from failure
            finally:
                with self._change:
                    self.doing = ""

    def stop(self) -> int:
        """Stop the current work; between two queries the engine has nothing to stop."""
        with self._change:
            self._newest += 1
            mine = self._newest
        while self._interrupted():
            time.sleep(BETWEEN_STOPS)
        return mine

    def _interrupted(self) -> bool:
        with self._change:
            goes_on = bool(self.doing) and self._present < self._newest
            if goes_on:
                self.database.interrupt()
            return goes_on

    def progress(self) -> dict[str, Any]:
        """What is being done, and the share that is done, where known."""
        share = self.share
        if self.doing and share is None and hasattr(self.database, "query_progress"):
            share = self.passes.done(self.database.query_progress())
        return {"doing": self.doing, "share": share}

    def close(self) -> None:
        """Close the file."""
        self.stop()
        with self._turn:
            self.database.close()
        if self.path.parent == self.folder:
            self.path.unlink(missing_ok=True)


def _remembered(cache: OrderedDict[str, T], key: str, make: Callable[[], T]) -> T:
    if key not in cache:
        cache[key] = make()
        while len(cache) > CACHE_SIZE:
            cache.popitem(last=False)
    cache.move_to_end(key)
    return cache[key]
