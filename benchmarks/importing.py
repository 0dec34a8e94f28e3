"""How long a fresh interpreter takes to import the package, and what comes along."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from statistics import median

from report import Bar, Line

HEAVY = ("pandas", "sklearn", "scipy", "narwhals", "pyarrow")
ROUNDS = 9
SCRIPT = """
import json, sys, time
wall, cpu = time.perf_counter(), time.process_time()
import {module}
spent = time.perf_counter() - wall, time.process_time() - cpu
print(json.dumps([*spent, [name for name in {heavy} if name in sys.modules]]))
"""


def lines(_scale: float) -> Iterator[Line]:
    """The package next to NumPy, which it cannot do without."""
    runs = [(_imported("numpy"), _imported("evenhand")) for _ in range(ROUNDS)]
    numpy, ours = zip(*runs, strict=True)
    for who, spent in (("import numpy", numpy), ("import evenhand", ours)):
        wall, cpu = (median(run[clock] for run in spent) for clock in (0, 1))
        bar = Bar("<", 0.3) if who == "import evenhand" else None
        yield Line("fresh interpreter, wall", who, f"{wall:.3f} s", wall, bar, " s")
        yield Line("fresh interpreter, CPU", who, f"{cpu:.3f} s", cpu, bar, " s")
    found = ours[0][2]
    measured = ", ".join(found) or "none"
    yield Line(
        "heavy modules that came along", "import evenhand", measured, len(found), Bar("<", 1), ""
    )


def _imported(module: str) -> tuple[float, float, list[str]]:
    script = SCRIPT.format(module=module, heavy=HEAVY)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, text=True
    )
    wall, cpu, found = json.loads(done.stdout)
    return wall, cpu, found
