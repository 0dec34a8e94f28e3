"""The files around the code agree with it, and with each other."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import evenhand
from workers import scope_of

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
MAKEFILE = (ROOT / "Makefile").read_text()
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
pytestmark = pytest.mark.skipif(
    not WORKFLOWS, reason="a source distribution has no .github folder: run from a clone"
)


def pythons():
    found = (re.fullmatch(r".*:: (3\.\d+)", entry) for entry in PROJECT["classifiers"])
    return [match[1] for match in found if match]


def test_the_citation_has_the_version_of_the_package():
    assert "version" in PROJECT["dynamic"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert str(citation["version"]) == evenhand.__version__


def test_the_oldest_promised_python_is_the_one_required():
    assert PROJECT["requires-python"] == f">={pythons()[0]}"


def test_every_promised_python_is_tested_with_the_lowest_and_the_latest_dependencies():
    workflow = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text())
    matrix = workflow["jobs"]["test"]["strategy"]["matrix"]
    assert matrix["python"] == pythons()
    assert matrix["dependencies"] == ["lowest", "latest"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_only_read_unless_a_job_says_otherwise(path):
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    assert all("timeout-minutes" in job for job in workflow["jobs"].values())


def test_only_a_tag_publishes_and_no_token_is_kept():
    workflow = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())
    publish = workflow["jobs"]["publish"]
    assert publish["if"] == "startsWith(github.ref, 'refs/tags/')"
    assert publish["permissions"] == {"id-token": "write"}
    assert "secrets" not in (ROOT / ".github/workflows/release.yml").read_text()


@pytest.mark.parametrize(
    "path",
    [*WORKFLOWS, ROOT / "CONTRIBUTING.md", ROOT / ".ci" / "run", ROOT / ".pre-commit-config.yaml"],
    ids=lambda path: path.name,
)
def test_every_make_target_that_is_named_exists(path):
    targets = re.findall(r"(?:`|run: |^ *|&& )make ([a-z-]+)\b", path.read_text(), re.MULTILINE)
    for target in targets:
        assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), target


def test_the_build_tests_as_a_stranger_does_and_only_then_with_data():
    build = (ROOT / ".ci" / "run").read_text()
    alone, _, lane = build.partition("# The lane of the data")
    assert "--unset=EVENHAND_DATA" in alone
    assert re.search(r'^"\$\{stranger\[@\]\}" make .*\btest\b', alone, re.MULTILINE)
    assert "make test-data" in lane


def test_hooks_run_the_tools_of_make_check():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    recipe = MAKEFILE.split("\ncheck:")[1].split("\n\n")[0]
    for hook in hooks:
        tool = hook["entry"].removeprefix(".venv/bin/").split(" --")[0]
        assert f"$(BIN)/{tool}" in recipe, tool


def test_the_map_in_contributing_names_every_room_in_the_order_of_the_import_contract():
    tree = (ROOT / "CONTRIBUTING.md").read_text().split("```")[1]
    named = re.findall(
        r"(\w+)(?:/|\.py)", tree.partition("paper/")[0].removeprefix("src/evenhand/")
    )
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    floors = [re.findall(r"\w+", layer) for layer in settings["contracts"][0]["layers"]]
    rooms = {room: floor for floor, names in enumerate(floors) for room in names}
    assert set(rooms) - {"__main__"} <= set(named)
    order = [rooms[room] for room in named if room in rooms]
    assert order == sorted(order)


@pytest.mark.parametrize(
    ("nodeid", "scope"),
    [
        ("tests/test_sql.py::test_a[duckdb]", "tests/test_sql.py"),
        ("tests/test_sql.py::TestB::test_a", "tests/test_sql.py"),
        ("tests/test_sql.py::test_a[spark-nan]", "spark"),
        ("tests/test_frames.py::test_b[drop-spark connect]", "spark"),
        ("paper/tests/test_figures.py::test_a[pq::orders]", "paper"),
        ("tests/compat/test_mlflow.py::test_a", "mlflow"),
        (
            "src/evenhand/_data/tallies.py::evenhand._data.tallies.Tally",
            "src/evenhand/_data/tallies.py",
        ),
    ],
)
def test_what_tests_share_is_made_in_one_worker(nodeid, scope):
    assert scope_of(nodeid) == scope
