"""Benchmarks as values: predictions are stored once, and every score is computed from them.

A name is imported when it is first asked for, so that the command line starts without waiting
for scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.benchmark.design.bases import BASES, Base
    from evenhand.benchmark.design.from_file import read_design
    from evenhand.benchmark.design.problems import Problem
    from evenhand.benchmark.design.questions import Question
    from evenhand.benchmark.design.studies import Design, Run, Study, Treatment
    from evenhand.benchmark.design.treatments import treatment
    from evenhand.benchmark.page import write_report
    from evenhand.benchmark.running.schedule import Status, run, status
    from evenhand.benchmark.scoring.archive import read_results
    from evenhand.benchmark.scoring.results import Results, results
    from evenhand.benchmark.store import Store

__all__ = [
    "BASES",
    "Base",
    "Design",
    "Problem",
    "Question",
    "Results",
    "Run",
    "Status",
    "Store",
    "Study",
    "Treatment",
    "read_design",
    "read_results",
    "results",
    "run",
    "status",
    "treatment",
    "write_report",
]
_HOMES = {
    **dict.fromkeys(("BASES", "Base"), "design.bases"),
    **dict.fromkeys(("Design", "Run", "Study", "Treatment"), "design.studies"),
    **dict.fromkeys(("Status", "run", "status"), "running.schedule"),
    **dict.fromkeys(("Results", "results"), "scoring.results"),
    "Problem": "design.problems",
    "Question": "design.questions",
    "Store": "store",
    "read_design": "design.from_file",
    "read_results": "scoring.archive",
    "treatment": "design.treatments",
    "write_report": "page",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
