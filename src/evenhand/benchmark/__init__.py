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
    from evenhand.benchmark.boards.standings import Board, leaderboard, write_leaderboard
    from evenhand.benchmark.boards.submissions import (
        Submission,
        SubmissionError,
        add_submission,
        check_submission,
    )
    from evenhand.benchmark.design.bases import BASES, Base
    from evenhand.benchmark.design.from_file import DesignError, read_design
    from evenhand.benchmark.design.problems import Problem
    from evenhand.benchmark.design.questions import QUESTIONS, Question, add_questions
    from evenhand.benchmark.design.studies import Design, Run, Skipped, Study
    from evenhand.benchmark.design.treatments import Treatment, treatment
    from evenhand.benchmark.page import write_report
    from evenhand.benchmark.predictions import Predictions, Truth
    from evenhand.benchmark.ranking.areas import Area, areas
    from evenhand.benchmark.ranking.inference import Estimate
    from evenhand.benchmark.ranking.ranks import Entrant, Pair, Ranking, rank
    from evenhand.benchmark.running.schedule import Status, run, status
    from evenhand.benchmark.scoring.empty import EmptyCells, empty_cells
    from evenhand.benchmark.scoring.floors import with_floors
    from evenhand.benchmark.scoring.results import Results, read_results, results
    from evenhand.benchmark.sections import (
        Finding,
        Section,
        Verdict,
        count_verdicts,
        usual_rankings,
        usual_sections,
    )
    from evenhand.benchmark.store import Store
    from evenhand.benchmark.tables.contents import (
        data_sets,
        failure_table,
        run_times,
        score_table,
    )
    from evenhand.benchmark.tables.rankings import (
        area_table,
        empty_cell_table,
        pair_table,
        ranking_table,
    )
    from evenhand.benchmark.tables.table import Table, write_tables

__all__ = [
    "ADAPTERS",
    "BASES",
    "QUESTIONS",
    "Area",
    "Base",
    "Board",
    "Design",
    "DesignError",
    "EmptyCells",
    "Entrant",
    "Estimate",
    "Finding",
    "Pair",
    "Predictions",
    "Problem",
    "Question",
    "Ranking",
    "Results",
    "Run",
    "Section",
    "Skipped",
    "Status",
    "Store",
    "Study",
    "Submission",
    "SubmissionError",
    "Table",
    "Treatment",
    "Truth",
    "Verdict",
    "add_questions",
    "add_submission",
    "area_table",
    "areas",
    "check_submission",
    "count_verdicts",
    "data_sets",
    "empty_cell_table",
    "empty_cells",
    "failure_table",
    "figures",
    "leaderboard",
    "pair_table",
    "rank",
    "ranking_table",
    "read_design",
    "read_results",
    "results",
    "run",
    "run_times",
    "score_table",
    "status",
    "treatment",
    "usual_rankings",
    "usual_sections",
    "with_floors",
    "write_leaderboard",
    "write_report",
    "write_tables",
]
_HOMES = {
    **dict.fromkeys(("DesignError", "read_design"), "design.from_file"),
    "Problem": "design.problems",
    **dict.fromkeys(("QUESTIONS", "Question", "add_questions"), "design.questions"),
    "ADAPTERS": "adapters",
    **dict.fromkeys(("BASES", "Base"), "design.bases"),
    **dict.fromkeys(("Design", "Run", "Skipped", "Study"), "design.studies"),
    **dict.fromkeys(("Treatment", "treatment"), "design.treatments"),
    **dict.fromkeys(("Finding", "Section", "Verdict", "count_verdicts"), "sections"),
    **dict.fromkeys(("usual_rankings", "usual_sections"), "sections"),
    **dict.fromkeys(("Table", "write_tables"), "tables.table"),
    **dict.fromkeys(("data_sets", "failure_table", "run_times", "score_table"), "tables.contents"),
    **dict.fromkeys(
        ("area_table", "empty_cell_table", "pair_table", "ranking_table"), "tables.rankings"
    ),
    **dict.fromkeys(("Area", "areas"), "ranking.areas"),
    "Estimate": "ranking.inference",
    **dict.fromkeys(("Entrant", "Pair", "Ranking", "rank"), "ranking.ranks"),
    **dict.fromkeys(("EmptyCells", "empty_cells"), "scoring.empty"),
    "with_floors": "scoring.floors",
    "write_report": "page",
    **dict.fromkeys(("Board", "leaderboard", "write_leaderboard"), "boards.standings"),
    **dict.fromkeys(
        ("Submission", "SubmissionError", "add_submission", "check_submission"),
        "boards.submissions",
    ),
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
