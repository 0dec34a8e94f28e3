"""A list of what a store holds, so that its files need not be opened one by one."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

Entry = dict[str, Any]


def read(path: Path) -> dict[str, Entry]:
    """The entries by key; a line that is torn or not ours is passed over.

    Nothing is lost by that: the list is made from the files, and whatever it lacks is read there.
    """
    if not path.exists():
        return {}
    found: dict[str, Entry] = {}
    for line in path.read_bytes().split(b"\n"):
        entry = _parsed(line)
        if entry is not None:
            found[entry["key"]] = entry
    return found


def _parsed(line: bytes) -> Entry | None:
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) and isinstance(entry.get("key"), str) else None


def append(path: Path, entries: Iterable[Mapping[str, Any]]) -> None:
    """Add lines, after ending a line that a killed process may have left torn."""
    lines = [json.dumps(entry, ensure_ascii=False) for entry in entries]
    if not lines:
        return
    with path.open("ab") as file:
        file.write(("\n" + "\n".join(lines) + "\n").encode())
        file.flush()
        os.fsync(file.fileno())
