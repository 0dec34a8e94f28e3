"""Benchmarks as values: predictions are stored once, and every score is computed from them.

A `Design` says what to run; `run` stores the predictions, `results` scores them, and
`write_report` writes a page on them. The parts of a report are in `sections`, `tables`,
`ranking` and `figures`, to make others of them.

A name is imported when it is first used, so that the command line starts without waiting
for scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.benchmark import figures
    from evenhand.benchmark.boards.standings import leaderboard, write_leaderboard
    from evenhand.benchmark.boards.submissions import add_submission, check_submission
    from evenhand.benchmark.design.bases import BASES, Base
    from evenhand.benchmark.design.from_file import DesignError, read_design
    from evenhand.benchmark.design.problems import Problem
    from evenhand.benchmark.design.questions import QUESTIONS, Question, add_questions
    from evenhand.benchmark.design.studies import Design, Study
    from evenhand.benchmark.design.treatments import Treatment, treatment
    from evenhand.benchmark.page import write_report
    from evenhand.benchmark.ranking.areas import areas
    from evenhand.benchmark.ranking.ranks import rank
    from evenhand.benchmark.running.schedule import Status, run, status
    from evenhand.benchmark.scoring.from_store import results
    from evenhand.benchmark.scoring.results import Results, read_results
    from evenhand.benchmark.store import Store
    from evenhand.benchmark.tables import Table, write_tables

__all__ = [
    "BASES",
    "QUESTIONS",
    "Base",
    "Design",
    "DesignError",
    "Problem",
    "Question",
    "Results",
    "Status",
    "Store",
    "Study",
    "Table",
    "Treatment",
    "add_questions",
    "add_submission",
    "areas",
    "check_submission",
    "figures",
    "leaderboard",
    "rank",
    "read_design",
    "read_results",
    "results",
    "run",
    "status",
    "treatment",
    "write_leaderboard",
    "write_report",
    "write_tables",
]
_HOMES = {
    **dict.fromkeys(("BASES", "Base"), "design.bases"),
    **dict.fromkeys(("QUESTIONS", "Question", "add_questions"), "design.questions"),
    **dict.fromkeys(("Design", "Study"), "design.studies"),
    **dict.fromkeys(("DesignError", "read_design"), "design.from_file"),
    "Problem": "design.problems",
    **dict.fromkeys(("Treatment", "treatment"), "design.treatments"),
    **dict.fromkeys(("Table", "write_tables"), "tables"),
    "areas": "ranking.areas",
    "rank": "ranking.ranks",
    **dict.fromkeys(("Results", "read_results"), "scoring.results"),
    "results": "scoring.from_store",
    **dict.fromkeys(("Status", "run", "status"), "running.schedule"),
    **dict.fromkeys(("leaderboard", "write_leaderboard"), "boards.standings"),
    **dict.fromkeys(("add_submission", "check_submission"), "boards.submissions"),
    "write_report": "page",
    "Store": "store",
}


def __getattr__(name: str) -> Any:
    if name == "figures":
        return import_module(f"{__name__}.figures")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
