"""The state of a watch as one small JSON file, written whole, by one writer at a time."""

from __future__ import annotations

import json
import time
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._audit.gate import gate_of
from evenhand._audit.questions import Question, questions_of
from evenhand._columns import Bin, Label
from evenhand._errors import InputError
from evenhand._tally import Axis, Tally
from evenhand._writing import write_whole
from evenhand.watch.ledger import DIGITS, Ledger
from evenhand.watch.memory import Memory, Settings, check_settings

SCHEMA = "evenhand.watch/1"
PATIENCE = 60.0  # seconds to wait for another writer
BETWEEN = 0.05


def save(memory: Memory, path: Path) -> None:
    """Write the state; whoever looks sees the old one or the new one."""
    state = state_of(memory)
    write_whole(path, _dumped({**state, "checksum": _checksum(state)}) + "\n")


def load(path: Path) -> Memory:
    """Read a state that was saved."""
    try:
        if not path.is_file():
            raise InputError(f"There is no state {path}; make one with evenhand watch init.")
        text = path.read_text(encoding="utf-8")
    except OSError as failure:
        raise InputError(f"{path} cannot be read: {failure.strerror or failure}.") from failure
    except UnicodeDecodeError as failure:
        raise InputError(f"{path} is not the state of a watch: {failure}") from failure
    try:
        state = json.loads(text)
    except (ValueError, RecursionError) as failure:
        raise InputError(f"{path} is not the state of a watch: {failure}") from failure
    if not isinstance(state, dict) or state.get("schema") != SCHEMA:
        found = state.get("schema") if isinstance(state, dict) else None
        raise InputError(f"{path} has the schema {found!r}; this version reads {SCHEMA!r}.")
    if "checksum" in state and state.pop("checksum") != _checksum(state):
        raise InputError(
            f"{path} is damaged: its checksum is that of other contents. Take a copy of it from "
            "before, and append what has come since."
        )
    try:
        return memory_of(state)
    except InputError:
        raise
    except (KeyError, IndexError, TypeError, AttributeError, ValueError, zlib.error) as failure:
        raise InputError(f"{path} is damaged: {failure!r}.") from failure


@contextmanager
def locked(path: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Keep other writers of a state away; a lock ends with its process, however that ends."""
    try:
        import fcntl
    except ImportError:  # there a file that is open cannot be replaced by another process
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
    return json.dumps(state, ensure_ascii=False, separators=(",", ":"))


def _checksum(state: Mapping[str, Any]) -> str:
    """Of the contents, however the file is laid out."""
    return sha256(_dumped(state).encode("utf-8", errors="surrogatepass")).hexdigest()[:32]


def lock_of(path: Path) -> Path:
    """The file by which writers of a state wait for each other, by whatever link they come."""
    path = path.resolve()
    return path.with_name(f".{path.name}.lock")


def state_of(memory: Memory) -> dict[str, Any]:
    """All that a watch remembers, as JSON values."""
    asked, ledger = memory.settings, memory.ledger
    for question in asked.questions:
        if not _is_named(question):
            raise InputError(
                f"{question.name} is a criterion of your own, which a file cannot hold: keep the "
                "watch in memory, or watch one of evenhand's by its name."
            )
    return {
        "schema": SCHEMA,
        "criteria": {question.name: list(question.measures) for question in asked.questions},
        "bounds": [str(gate) for gate in asked.gates],
        "confidence": asked.confidence,
        "method": asked.method,
        "favorable": _to_json(asked.favorable),
        "groups": [_to_json(group) for group in asked.groups],
        "limits": {name: list(ends) for name, ends in asked.limits.items()},
        "window": asked.window,
        "quiet_days": asked.quiet_days,
        "remember": asked.remember,
        "renamed": [[_to_json(old), _to_json(new)] for old, new in memory.names.items()],
        "days": [ledger.first, ledger.last],
        "span": ledger.width,
        "closed": ledger.closed,
        "counted": ledger.counted,
        "since": [[_to_json(group), day] for group, day in _sorted(ledger.since)],
        "peaks": {name: round(peak, 9) for name, peak in sorted(memory.peaks.items())},
        "firsts": {name: list(first) for name, first in sorted(memory.firsts.items())},
        "baseline": {name: _tallies({0: sums}) for name, sums in memory.baseline.items()},
        "counts": {name: _tallies(spans) for name, spans in sorted(ledger.spans.items())},
        "parts": _parts(ledger.parts),
        "history": memory.history,
        "columns": memory.columns,
    }


def memory_of(state: Mapping[str, Any]) -> Memory:
    """What a state holds."""
    favorable = _from_json(state["favorable"])
    names = ("window", "quiet_days", "remember")
    check_settings(
        state["confidence"], state["method"], favorable, *(state[name] for name in names)
    )
    questions = [questions_of([name], measures)[0] for name, measures in state["criteria"].items()]
    settings = Settings(
        tuple(questions),
        tuple(gate_of(text) for text in state["bounds"]),
        state["confidence"],
        state["method"],
        favorable,
        tuple(_from_json(group) for group in state["groups"]),
        {name: (ends[0], ends[1]) for name, ends in state["limits"].items()},
        state["window"],
        state["quiet_days"],
        state["remember"],
    )
    spans = {name: _spans(text) for name, text in state["counts"].items()}
    ledger = Ledger(
        state["span"],
        state["days"][0],
        state["days"][1],
        {
            pair[:DIGITS]: (int(day), pair[DIGITS:])
            for day, pairs in state["parts"].items()
            for pair in pairs.split()
        },
        state["closed"],
        state["counted"],
        {_from_json(group): day for group, day in state["since"]},
        spans,
    )
    ledger.total_up()
    return Memory(
        settings,
        ledger,
        {name: _spans(text)[0] for name, text in state["baseline"].items()},
        dict(state["peaks"]),
        {name: (first[0], first[1]) for name, first in state["firsts"].items()},
        {_from_json(old): _from_json(new) for old, new in state["renamed"]},
        [list(row) for row in state["history"]],
        dict(state["columns"]),
    )


def _is_named(question: Question) -> bool:
    """Whether a criterion can be found again by its name."""
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


def _tallies(spans: Mapping[int, Tally]) -> dict[str, Any]:
    """Dense tables by span, all with the same labels."""
    whole = sum(spans.values())
    assert isinstance(whole, Tally)
    axes, names = whole.axes, list(whole.sums)
    order = [axis.name for axis in axes]
    return {
        "axes": [[a.name, a.kind, [_to_json(label) for label in a.labels]] for a in axes],
        "sums": names,
        "spans": {
            str(at): [packed(_wide(sums, axes).table(*order, of=name)) for name in names]
            for at, sums in sorted(spans.items())
        },
    }


def _wide(sums: Tally, axes: tuple[Axis, ...]) -> Tally:
    """The same with the labels of all spans."""
    if sums.axes == axes:
        return sums
    empty = Tally(
        axes,
        np.zeros((len(axes), 0), dtype=np.intp),
        {name: values[:0] for name, values in sums.sums.items()},
    )
    return sums + empty


def _spans(stored: Mapping[str, Any]) -> dict[int, Tally]:
    axes = tuple(
        Axis(name, tuple(_from_json(label) for label in labels), kind)
        for name, kind, labels in stored["axes"]
    )
    shape = tuple(axis.size for axis in axes)
    cells = np.array(np.unravel_index(np.arange(prod(shape)), shape), dtype=np.intp)
    return {
        int(at): Tally(
            axes,
            cells,
            {name: unpacked(row) for name, row in zip(stored["sums"], rows, strict=True)},
        )
        for at, rows in stored["spans"].items()
    }


def packed(table: NDArray[Any]) -> str:
    """Numbers as text: whole ones ("i") or not ("f"), eight bytes each, compressed, in base 64.

    Bytes of the same place stand together, since most of the high ones are 0. That is half as
    long as digits.

    >>> unpacked(packed(np.array([3.0, 400000.0, -1.0])))
    array([     3, 400000,     -1])
    """
    flat = np.ravel(table)
    kind = "i" if (flat == np.rint(flat)).all() else "f"
    data = flat.astype("<i8" if kind == "i" else "<f8")
    shuffled = np.ascontiguousarray(data.view(np.uint8).reshape(-1, 8).T).tobytes()
    return kind + b64encode(zlib.compress(shuffled, 9)).decode()


def unpacked(text: str) -> NDArray[Any]:
    """The numbers that were packed."""
    shuffled = np.frombuffer(zlib.decompress(b64decode(text[1:])), np.uint8).reshape(8, -1)
    data = np.ascontiguousarray(shuffled.T).tobytes()
    return np.frombuffer(data, "<i8" if text[0] == "i" else "<f8").astype(
        np.int64 if text[0] == "i" else np.float64
    )


def _to_json(label: Label) -> Any:
    """A label that can be read back as it was."""
    if isinstance(label, Bin):
        return {"bin": [label.low, label.high, label.lowest]}
    if isinstance(label, tuple):
        return {"parts": [_to_json(part) for part in label]}
    if isinstance(label, str):
        return str(label)
    if label is None or isinstance(label, bool | int | float):
        return label
    raise InputError(
        f"The label {label!r} cannot be stored; make it text or a number before it is counted."
    )


def _from_json(label: Any) -> Label:
    if isinstance(label, dict):
        if "bin" in label:
            return Bin(*label["bin"])
        return tuple(_from_json(part) for part in label["parts"])
    return label  # type: ignore[no-any-return]


def _sorted(days: Mapping[Label, int]) -> list[tuple[Label, int]]:
    return sorted(days.items(), key=lambda pair: (pair[1], repr(pair[0])))
