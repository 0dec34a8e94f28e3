"""Results as tables, for a page, an article or a spreadsheet."""

from evenhand.benchmark.tables.contents import (
    data_sets,
    failure_table,
    methods,
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
    "Table",
    "area_table",
    "data_sets",
    "empty_cell_table",
    "failure_table",
    "methods",
    "pair_table",
    "ranking_table",
    "run_times",
    "score_table",
    "write_tables",
]
