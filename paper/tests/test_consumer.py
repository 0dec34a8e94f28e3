"""The paper is a consumer: it imports evenhand as anyone would, and its full run still loads."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

from evenhand.mitigation import METHODS
from paper.design import PAPER
from paper.report import stored_results

HERE = Path(__file__).parents[1]
PUBLIC = {
    "evenhand",
    "evenhand.benchmark",
    "evenhand.benchmark.figures",
    "evenhand.benchmark.figures.drawing",
    "evenhand.benchmark.figures.panels",
    "evenhand.benchmark.figures.theme",
    "evenhand.benchmark.ranking",
    "evenhand.benchmark.sections",
    "evenhand.benchmark.tables",
    "evenhand.criteria",
    "evenhand.datasets",
    "evenhand.measures",
    "evenhand.mitigation",
}


@pytest.mark.parametrize(
    "path", sorted(HERE.rglob("*.py")), ids=lambda path: str(path.relative_to(HERE))
)
def test_only_public_names_are_imported(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.startswith("evenhand")]
            assert set(names) <= {"evenhand"}
        elif isinstance(node, ast.ImportFrom) and str(node.module).startswith("evenhand"):
            assert node.module in PUBLIC
            public = import_module(node.module).__all__
            assert {alias.name for alias in node.names} <= set(public)


@pytest.mark.slow
def test_the_full_run_can_still_be_read_in_todays_names():
    found = stored_results()
    parameters = found.query("select distinct parameter from runs where method = 'LinearPost'")
    assert parameters["parameter"].tolist() == [METHODS["LinearPost"].hyperparameter]
    assert found.runs.num_rows == len(PAPER.runs())
    assert {"adult", "acs_income", "communities"} <= set(found.problems["problem"].to_pylist())
    asked = set(found.questions["name"].to_pylist())
    assert {"accuracy", "statistical_parity.pq", "strong_parity.pq tau=0.05"} <= asked
