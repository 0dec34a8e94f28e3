"""The state of a watch as one small JSON file, written atomically by one writer at a time."""

from __future__ import annotations

import json
import re
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from hashlib import sha256
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from evenhand._audit.gate import gate_of
from evenhand._columns import Label
from evenhand._data.tallies import CLASSES
from evenhand._errors import EvenhandError, InputError
from evenhand._writing import write_whole
from evenhand.criteria.questions import Question, questions_of
from evenhand.watch.clusters import STAKES
from evenhand.watch.ledger import ALL_DAYS, DIGITS, MOST_ROWS, Ledger, check_size
from evenhand.watch.look import Look
from evenhand.watch.memory import Memory, Settings, check_settings
from evenhand.watch.packing import from_json, packed_spans, require, spans_of, to_json
from evenhand.watch.parts import AXES, SUMS
from evenhand.watch.rates import check_watchable
from evenhand.watch.within import SCORES

SCHEMA = "evenhand.watch/3"
MOST_BYTES = 1 << 24  # of a file
LAST_DAY = date.max.toordinal()
PATIENCE = 60.0  # seconds to wait for another writer
BETWEEN = 0.05  # seconds between attempts to lock
HASHES = re.compile(f"[0-9a-f]{{{2 * DIGITS}}}")
STORED = {
    "means": ("rows", "clusters", "total", "squares", "shared"),
    "bets": STAKES,
    "apart": SCORES,
    "within": ("information",),
    "pairs": ("both",),
    "after": SUMS,
}


def save(memory: Memory, path: Path) -> None:
    """Write the state; readers see either the old one or the new one."""
    state = state_of(memory)
    checksum = _checksum(state)
    text = _dumped({**state, "checksum": checksum}) + "\n"
    if len(text) > MOST_BYTES:
        raise InputError(
            f"The state would have {len(text):,} bytes, and {MOST_BYTES:,} are the most that are "
            "read again. Merge rare groups before counting, or watch fewer criteria."
        )
    checksum_read = memory.origin[1] if memory.origin and is_origin(memory, path) else None
    if checksum_read is not None and path.exists() and _read(path)[1] != checksum_read:
        raise InputError(
            f"{path} was written by another process since it was read; nothing was written. "
            "Read it again with Watch.load, and update that."
        )
    write_whole(path, text)
    memory.origin = (path.resolve(), checksum)


def is_origin(memory: Memory, path: Path) -> bool:
    """Whether a state was last read from or written to this file."""
    return memory.origin is not None and memory.origin[0] == path.resolve()


def load(path: Path) -> Memory:
    """Read a state that was saved."""
    contents, checksum = _read(path)
    try:
        with np.errstate(all="ignore"):
            memory = checked(memory_of(contents))
    except EvenhandError as failure:
        raise InputError(f"{path} cannot be used: {failure}") from failure
    except (
        LookupError,
        TypeError,
        AttributeError,
        ValueError,
        ArithmeticError,
        RecursionError,
        zlib.error,
    ) as failure:
        raise InputError(f"{path} is damaged: {failure!r}.") from failure
    memory.origin = (path.resolve(), checksum)
    return memory


def _read(path: Path) -> tuple[dict[str, Any], str]:
    """The contents of a file and their checksum, verified against that in the file."""
    try:
        if not path.is_file():
            raise InputError(f"There is no state {path}; make one with evenhand watch init.")
        if path.stat().st_size > MOST_BYTES:
            raise InputError(
                f"{path} is not the state of a watch: it has {path.stat().st_size:,} bytes, and "
                f"a state has {MOST_BYTES:,} at most."
            )
        text = path.read_text(encoding="utf-8")
    except OSError as failure:
        raise InputError(f"{path} cannot be read: {failure.strerror or failure}.") from failure
    except UnicodeDecodeError as failure:
        raise InputError(f"{path} is not the state of a watch: {failure}") from failure
    try:
        state = json.loads(text)
        named = state.items() if isinstance(state, dict) else ()
        contents = {name: value for name, value in named if name != "checksum"}
        expected = _checksum(contents)
    except (ValueError, RecursionError) as failure:
        raise InputError(f"{path} is not the state of a watch: {failure}") from failure
    if not isinstance(state, dict) or state.get("schema") != SCHEMA:
        schema = state.get("schema") if isinstance(state, dict) else None
        raise InputError(
            f"{path} has the schema {schema!r}; this version reads {SCHEMA!r}, which compares "
            "groups within each part. Earlier states do not hold what that needs: create a new "
            "state, and append the parts again."
        )
    if state.get("checksum") != expected:
        is_there = state.get("checksum") is not None
        problem = "has the checksum of other contents" if is_there else "has no checksum"
        raise InputError(
            f"{path} is damaged: it {problem}. Take a copy of it from before, and append what has "
            "come since."
        )
    return contents, expected


@contextmanager
def locked(path: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Lock out other writers of a state; the lock ends with its process, however that ends."""
    try:
        import fcntl
    except (
        ImportError
    ):  # without fcntl (Windows), an open file cannot be replaced by another process
        yield
        return
    with open(lock_of(path), "a", encoding="utf-8") as file:
        until = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    raise InputError(
                        f"Another process has been writing {path} for {patience:.0f} seconds; "
                        "try again when it is done."
                    ) from None
                time.sleep(BETWEEN)
        yield


def _dumped(state: Mapping[str, Any]) -> str:
    return json.dumps(state, separators=(",", ":"))


def _checksum(state: Mapping[str, Any]) -> str:
    """A checksum of the contents, whatever the layout of the file."""
    return sha256(_dumped(state).encode()).hexdigest()[:32]


def lock_of(path: Path) -> Path:
    """The lock file of a state, with links resolved."""
    path = path.resolve()
    return path.with_name(f".{path.name}.lock")


def state_of(memory: Memory) -> dict[str, Any]:
    """The memory of a watch as JSON values."""
    settings, ledger = memory.settings, memory.ledger
    for question in settings.questions:
        if not _is_named(question):
            raise InputError(
                f"{question.name} is a criterion of your own, which a file cannot hold: keep the "
                "watch in memory, or watch one of evenhand's by its name."
            )
    return {
        "schema": SCHEMA,
        "criteria": {question.name: list(question.measures) for question in settings.questions},
        "bounds": [str(gate) for gate in settings.gates],
        "confidence": settings.confidence,
        "method": settings.method,
        "favorable": to_json(settings.favorable),
        "groups": [to_json(group) for group in settings.groups],
        "limits": {name: list(ends) for name, ends in settings.limits.items()},
        "window": settings.window,
        "quiet_days": settings.quiet_days,
        "remember": settings.remember,
        "renamed": [[to_json(old), to_json(new)] for old, new in memory.names.items()],
        "days": [ledger.first, ledger.last],
        "span": ledger.width,
        "closed": ledger.closed,
        "counted": ledger.counted,
        "since": [[to_json(group), day] for group, day in _sorted(ledger.since)],
        "peaks": {name: round(peak, 9) for name, peak in sorted(memory.peaks.items())},
        "firsts": {name: list(first) for name, first in sorted(memory.firsts.items())},
        "baseline": {name: packed_spans({0: sums}) for name, sums in memory.baseline.items()},
        "counts": {name: packed_spans(spans) for name, spans in sorted(ledger.spans.items())},
        "parts": _parts(ledger.parts),
        "history": memory.history,
        "columns": memory.columns,
    }


def memory_of(state: Mapping[str, Any]) -> Memory:
    """The memory that a state holds."""
    favorable = from_json(state["favorable"])
    names = ("window", "quiet_days", "remember")
    check_settings(
        state["confidence"], state["method"], favorable, *(state[name] for name in names)
    )
    questions = [questions_of([name], measures)[0] for name, measures in state["criteria"].items()]
    limits = {name: (float(ends[0]), float(ends[1])) for name, ends in state["limits"].items()}
    for question in questions:
        check_watchable(question, limits, state["method"])
    gates = [gate_of(text) for text in state["bounds"]]
    pairs_watched = {(question.name, name) for question in questions for name in question.measures}
    require(all((gate.criterion, gate.measure) in pairs_watched for gate in gates), "bounds")
    settings = Settings(
        tuple(questions),
        tuple(gates),
        state["confidence"],
        state["method"],
        favorable,
        tuple(from_json(group) for group in state["groups"]),
        limits,
        state["window"],
        state["quiet_days"],
        state["remember"],
    )
    first, last = state["days"]
    for day in (first, last, state["closed"]):
        require(day is None or _is_day(day), "days")
    require((first is None) == (last is None) and (first or 0) <= (last or 0), "days")
    width, counted = state["span"], state["counted"]
    require(type(width) is int and 1 <= width <= LAST_DAY, "span")
    require(type(counted) is int and 0 <= counted <= MOST_ROWS, "counted")
    tables = [*state["counts"].items(), *state["baseline"].items()]
    check_size(_size(stored) for _, stored in tables)  # before memory is taken for any
    watched = [question.name for question in questions]
    for name, stored in tables:
        _check_table(name, stored, watched)
    days = range((first or 0) // width, (last or 0) // width + 1)
    for name, stored in state["counts"].items():
        is_total = name.startswith(("after ", "classes ", "pairs "))
        allowed = [ALL_DAYS] if is_total else days
        require(
            all(span == str(int(span)) and int(span) in allowed for span in stored["spans"]), name
        )
    ledger = Ledger(
        width,
        first,
        last,
        _parts_of(state["parts"]),
        state["closed"],
        counted,
        _days_of(state["since"]),
        {name: spans_of(stored) for name, stored in state["counts"].items()},
    )
    ledger.total_up()
    return Memory(
        settings,
        ledger,
        {name: spans_of(stored)[0] for name, stored in state["baseline"].items()},
        {name: _finite(peak) for name, peak in state["peaks"].items()},
        {name: _first(*first) for name, first in state["firsts"].items()},
        {from_json(old): from_json(new) for old, new in state["renamed"]},
        [_row(*row) for row in state["history"]],
        {str(name): _column(value) for name, value in state["columns"].items()},
    )


def checked(memory: Memory) -> Memory:
    """The same memory, if its rates and evidence can be read."""
    look = Look(memory)
    memory.ledger.fit()
    for question in look.counted_questions():
        rates = look.so_far(question)
        require(bool(((rates.hits >= 0) & (rates.hits <= rates.sizes)).all()), question.name)
        memory.evidence[question.name] = _finite(look.evidence(question))
    return memory


def _is_day(day: Any) -> bool:
    return type(day) is int and 1 <= day <= LAST_DAY


def _finite(value: Any) -> float:
    require(type(value) in (int, float) and np.isfinite(value), "a number")
    return float(value)


def _first(outcome: str, day: int) -> tuple[str, int]:
    """An outcome and its first day."""
    require(_is_day(day), "firsts")
    return str(outcome), day


def _row(name: str, day: str, rows: int, outcomes: Mapping[str, str] | None = None) -> list[Any]:
    """A row of the history."""
    require(type(rows) is int, "history")
    date.fromisoformat(day)
    row: list[Any] = [str(name), day, rows]
    return (
        row
        if outcomes is None
        else [*row, {str(key): str(outcome) for key, outcome in outcomes.items()}]
    )


def _column(value: Any) -> str | list[str]:
    return [str(name) for name in value] if isinstance(value, list) else str(value)


def _days_of(pairs: list[Any]) -> dict[Label, int]:
    require(all(_is_day(day) for _, day in pairs), "since")
    return {from_json(group): day for group, day in pairs}


def _parts_of(stored: Mapping[str, str]) -> dict[str, tuple[int, str]]:
    """The days and hashes of parts."""
    parts = {}
    for day, pairs in stored.items():
        for pair in pairs.split(" "):
            require(_is_day(int(day)) and HASHES.fullmatch(pair) is not None, "parts")
            parts[pair[:DIGITS]] = (int(day), pair[DIGITS:])
    return parts


def _size(stored: Mapping[str, Any]) -> int:
    """The number of values that a table claims to hold."""
    sizes: list[int] = [len(labels) - (kind == "edges") for _, kind, labels in stored["axes"]]
    require(min(sizes) > 0, "axes")
    return prod(sizes) * len(stored["sums"]) * len(stored["spans"])


def _check_table(name: str, stored: Mapping[str, Any], questions: Sequence[str]) -> None:
    """Refuse a table that no watch of these questions stores."""
    axes, sums = [axis for axis, _, _ in stored["axes"]], set(stored["sums"])
    require(all(kind in ("categories", "edges") for _, kind, _ in stored["axes"]), name)
    require(len(sums) == len(stored["sums"]), name)
    if name in AXES:
        require(axes == AXES[name] and "rows" in sums, name)
        return
    kind, _, name_of_kind = name.partition(" ")
    if kind == "classes":
        require(
            name_of_kind in CLASSES and axes == [name_of_kind, "group"] and "rows" in sums, name
        )
        return
    expected = ["cell", "group", *(["peer"] if kind == "pairs" else [])]
    require(name_of_kind in questions and axes == expected and sums == {*STORED[kind]}, name)


def _is_named(question: Question) -> bool:
    """Whether a criterion can be found by its name."""
    try:
        return questions_of([question.name], question.measures)[0].criterion == question.criterion
    except InputError:
        return False


def _parts(parts: Mapping[str, tuple[int, str]]) -> dict[str, str]:
    """The parts of each day: for each the hash of its name, then that of its counts."""
    days: dict[str, list[str]] = {}
    for name, (day, counts) in sorted(parts.items(), key=lambda part: (part[1][0], part[0])):
        days.setdefault(str(day), []).append(name + counts)
    return {day: " ".join(pairs) for day, pairs in days.items()}


def _sorted(days: Mapping[Label, int]) -> list[tuple[Label, int]]:
    return sorted(days.items(), key=lambda pair: (pair[1], repr(pair[0])))
