"""Where an audit comes from: the day, the versions, and a fingerprint of what was counted."""

from __future__ import annotations

import hashlib
import json
import platform
from importlib.metadata import version
from typing import Any

import numpy as np

from evenhand._audit.evidence import Evidence
from evenhand._groups import show

DIGITS = 9  # of sums, so that the order of rows does not matter
PACKAGES = ("evenhand", "numpy", "scipy")


def provenance(evidence: Evidence, date: str, model: str | None) -> dict[str, Any]:
    """What to write under a report, so that it can be traced."""
    return {
        "date": date,
        "model": model,
        "data": fingerprint(evidence),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in PACKAGES},
    }


def fingerprint(evidence: Evidence) -> str:
    """SHA-256 of the counted cells: the same for the same rows, in any order."""
    tally = evidence.counted
    axes = {axis.name: [show(label) for label in axis.labels] for axis in tally.axes}
    digest = hashlib.sha256(json.dumps(axes).encode())
    digest.update(np.ascontiguousarray(tally.cells, dtype=np.int64).tobytes())
    for of, sums in sorted(tally.sums.items()):
        told = [f"{value:.{DIGITS}g}" for value in np.asarray(sums, dtype=np.float64).ravel()]
        digest.update(json.dumps([of, told]).encode())
    return digest.hexdigest()
