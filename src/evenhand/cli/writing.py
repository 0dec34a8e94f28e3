"""Outputs: one that fails loses no other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from evenhand._writing import write_whole


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
