"""Benchmarks as values: predictions are stored once, and every score is computed from them.

A `Design` says what to run; `run` stores the predictions, `results` scores them, and
`write_report` draws and tells what came out. `evenhand.benchmark.figures` has the parts to draw
figures of your own.

A name is imported when it is first asked for, so that the command line starts without waiting
for scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.benchmark import figures
    from evenhand.benchmark.adapters import ADAPTERS
    from evenhand.benchmark.design.bases import BASES, Base
    from evenhand.benchmark.design.from_file import DesignError, read_design
    from evenhand.benchmark.design.problems import Problem
    from evenhand.benchmark.design.questions import QUESTIONS, Question, add_questions
    from evenhand.benchmark.design.studies import Design, Run, Skipped, Study
    from evenhand.benchmark.design.treatments import Treatment, treatment
    from evenhand.benchmark.page import write_report
    from evenhand.benchmark.predictions import Predictions, Truth
    from evenhand.benchmark.running.schedule import Status, run, status
    from evenhand.benchmark.scoring.results import Results, read_results, results
    from evenhand.benchmark.sections import (
        Finding,
        Section,
        Table,
        Verdict,
        count_verdicts,
        data_sets,
        run_times,
        usual_sections,
    )
    from evenhand.benchmark.store import Store

__all__ = [
    "ADAPTERS",
    "BASES",
    "QUESTIONS",
    "Base",
    "Design",
    "DesignError",
    "Finding",
    "Predictions",
    "Problem",
    "Question",
    "Results",
    "Run",
    "Section",
    "Skipped",
    "Status",
    "Store",
    "Study",
    "Table",
    "Treatment",
    "Truth",
    "Verdict",
    "add_questions",
    "count_verdicts",
    "data_sets",
    "figures",
    "read_design",
    "read_results",
    "results",
    "run",
    "run_times",
    "status",
    "treatment",
    "usual_sections",
    "write_report",
]
_HOMES = {
    **dict.fromkeys(("DesignError", "read_design"), "design.from_file"),
    "Problem": "design.problems",
    **dict.fromkeys(("QUESTIONS", "Question", "add_questions"), "design.questions"),
    "ADAPTERS": "adapters",
    **dict.fromkeys(("BASES", "Base"), "design.bases"),
    **dict.fromkeys(("Design", "Run", "Skipped", "Study"), "design.studies"),
    **dict.fromkeys(("Treatment", "treatment"), "design.treatments"),
    **dict.fromkeys(("Finding", "Section", "Table", "Verdict", "count_verdicts"), "sections"),
    **dict.fromkeys(("data_sets", "run_times", "usual_sections"), "sections"),
    "write_report": "page",
    **dict.fromkeys(("Status", "run", "status"), "running.schedule"),
    **dict.fromkeys(("Results", "read_results", "results"), "scoring.results"),
    **dict.fromkeys(("Predictions", "Truth"), "predictions"),
    "Store": "store",
}


def __getattr__(name: str) -> Any:
    if name == "figures":
        return import_module(f"{__name__}.figures")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
