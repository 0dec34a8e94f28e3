"""How much memory a call takes beyond its input, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from os import environ
from pathlib import Path
from typing import Any

import numpy as np
from curves import asked, draw
from people import KINDS
from people import draw as draw_people

from evenhand import tally
from report import Bar, Line

Call = Callable[..., Any]
STATUS = Path("/proc/self/status")


def lines(scale: float) -> Iterator[Line]:
    """Strings against their bar; distributions in bytes a row."""
    rows = int(1_000_000 * scale)
    for kind in KINDS:
        held, extra = _in_a_fresh_process(kind, rows)
        measured = f"{held / rows:.0f} + {extra / rows:.0f} bytes a row"
        yield Line(kind, "input + peak extra", measured, (held + extra) / held, Bar("<", 2))
    for groups in (2, 1000):
        held, extra = _in_a_fresh_process(str(groups), rows)
        measured = f"{held / rows:.0f} + {extra / rows:.0f} bytes a row"
        yield Line(f"strong_parity, {groups} groups", "input + peak extra", measured)


def _in_a_fresh_process(case: str, rows: int) -> tuple[int, int]:
    command = [sys.executable, __file__, case, str(rows)]
    # Arrow's own allocators keep what they have freed, which would hide the next peak.
    plain = environ | {"ARROW_DEFAULT_MEMORY_POOL": "system"}
    done = subprocess.run(command, capture_output=True, check=True, text=True, env=plain)
    held, extra = json.loads(done.stdout)
    return held, extra


def measure(case: str, rows: int) -> tuple[int, int]:
    """Bytes of the input, and the larger of two measures of the peak above it."""
    columns, call = _prepared(case, rows)
    call(*(column[:1000] for column in columns))  # what is imported late is no memory of the call
    by_system = _peak_of_process(lambda: call(*columns))
    tracemalloc.start()
    call(*columns)
    return sum(map(_size, columns)), max(by_system, tracemalloc.get_traced_memory()[1])


def _prepared(case: str, rows: int) -> tuple[tuple[Any, ...], Call]:
    if case in KINDS:
        columns = draw_people(rows).written(case)
        return columns, lambda y, yhat, group: tally(y, yhat, sensitive_features=group)
    return draw(rows, int(case), "fair"), lambda *given: asked("strong_parity", *given)()


def _peak_of_process(run: Callable[[], Any]) -> int:
    """Growth of the resident memory to its highest mark, or 0 where the system does not say."""
    if not STATUS.exists():
        return 0
    Path("/proc/self/clear_refs").write_text("5")
    before = _resident("VmRSS")
    run()
    return _resident("VmHWM") - before


def _resident(field: str) -> int:
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(field))
    return 1024 * int(line.split()[1])


def _size(column: Any) -> int:
    """Bytes of a column, with each string object that it points to counted once."""
    if isinstance(column, np.ndarray) and column.dtype == object:
        return column.nbytes + sum(map(sys.getsizeof, {id(one): one for one in column}.values()))
    return int(column.nbytes)


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
