"""Benchmarks as values: predictions are stored once, and every score is computed from them.

A name is imported when it is first asked for, so that the command line starts without waiting
for scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.benchmark.bases import BASES, Base
    from evenhand.benchmark.design import Design, Run, Study, Treatment
    from evenhand.benchmark.problems import Problem
    from evenhand.benchmark.running import Status, run, status
    from evenhand.benchmark.store import Store

__all__ = [
    "BASES",
    "Base",
    "Design",
    "Problem",
    "Run",
    "Status",
    "Store",
    "Study",
    "Treatment",
    "run",
    "status",
]
_HOMES = {
    **dict.fromkeys(("BASES", "Base"), "bases"),
    **dict.fromkeys(("Design", "Run", "Study", "Treatment"), "design"),
    **dict.fromkeys(("Status", "run", "status"), "running"),
    "Problem": "problems",
    "Store": "store",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
