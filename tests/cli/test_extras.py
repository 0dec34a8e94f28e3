"""The extra "cli" is enough for files and reports; what is missing is status 2, never 1."""

import importlib.metadata
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest

from evenhand.cli.terminal import busy, progress

ROOT = Path(__file__).parents[2]
ASK = ("--target", "y", "--prediction", "p", "--group", "g", "--criterion", "statistical_parity")
BLOCK = """
import sys
sys.modules.update(dict.fromkeys({blocked!r}))  # as if they were not installed
from evenhand.cli import main
main({arguments!r})
"""


def call(folder, blocked, *arguments):
    code = BLOCK.format(blocked=sorted(blocked), arguments=list(arguments))
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)


def test_the_extra_of_the_command_line_reads_files_and_writes_the_report():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    assert "evenhand[files,report]" in extras["cli"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_and_reports_need_nothing_of_the_other_extras(folder, people, kind):
    needed = {"click", "rich", "duckdb", "pyarrow", "jinja2"}
    others = packages_of("all", "test") - needed - {"scipy", "numpy", "sklearn", "narwhals"}
    others -= {"torch"}  # which SciPy looks for among what was imported
    people["q"] = 1 - people["p"]
    people.to_csv(folder / "rows.csv") if kind == "csv" else people.to_parquet("rows.parquet")
    outputs = [f"--{name}=out.{name}" for name in ("html", "json", "markdown")]
    done = call(folder, others, "audit", f"rows.{kind}", *ASK, *outputs, "--junit=out.xml")
    assert (done.returncode, done.stderr) == (0, "")
    assert all((folder / f"out.{name}").stat().st_size for name in ("html", "json", "markdown"))
    if kind == "parquet":  # which both commands read alike
        return
    models = ("--target", "y", "--prediction", "p", "--prediction", "q", "--group", "g")
    done = call(folder, others, "compare", f"rows.{kind}", *models, "--html=compare.html")
    assert (done.returncode, done.stderr) == (0, "")
    assert (folder / "compare.html").stat().st_size


def packages_of(*extras):
    """The import names of what the extras bring, as far as they are installed."""
    chosen = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names, left = set(), list(extras)
    while left:
        for needed in chosen["optional-dependencies"][left.pop()]:
            inner = re.fullmatch(r"evenhand\[(.*)\]", needed)
            left += inner[1].split(",") if inner else []
            names.add(re.match(r"[\w.-]+", needed)[0].lower())
    places = importlib.metadata.packages_distributions()
    brought = {name for name, of in places.items() if {one.lower() for one in of} & names}
    return brought - {"evenhand", "_pytest", "pytest"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "blocked", "told"),
    [
        ("compare", "jinja2", 'needs jinja2: pip install "evenhand[cli]"'),
        ("audit", "jinja2", 'needs jinja2: pip install "evenhand[cli]"'),
        ("audit", "duckdb", "Reading files needs duckdb"),
        ("audit", "pyarrow", "Reading files needs pyarrow"),
        ("audit", "rich", 'The command line needs rich: pip install "evenhand[cli]"'),
    ],
)
def test_a_missing_package_is_status_2_and_one_line(folder, people, command, blocked, told):
    people.to_csv(folder / "rows.csv")
    done = call(folder, {blocked}, command, "rows.csv", *ASK, "--html=out.html")
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "out.html").exists()


DOORS = """
import sys
import sklearn.linear_model  # SciPy looks for PyTorch among what was imported
sys.modules.update(dict.fromkeys({blocked!r}))
import evenhand as eh
for door in {doors!r}:
    try:
        module = __import__(door, fromlist=["any"])
        for name in module.__all__:
            getattr(module, name)
    except eh.MissingExtraError as error:
        print(error)
found = eh.audit(None, [1, 0] * 50, sensitive_features=["F", "F", "M", "M"] * 25)
for ask in (found.plot, found.to_html):
    try:
        ask()
    except eh.MissingExtraError as error:
        print(error)
"""


@pytest.mark.slow
def test_without_extras_every_door_opens_or_says_what_to_install(folder):
    doors = ["benchmark", "compat.fairlearn", "compat.mlflow", "criteria", "datasets", "measures"]
    doors += ["mitigation", "report", "standards", "statistics", "torch", "torch.callback"]
    core = {"numpy", "scipy", "sklearn", "joblib", "threadpoolctl", "narwhals"}
    others = packages_of("all", "test") - core
    code = DOORS.format(blocked=sorted(others), doors=[f"evenhand.{door}" for door in doors])
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == 0, done.stderr
    told = done.stdout.splitlines()
    assert "Logging an audit in MLflow needs mlflow: pip install mlflow" in told
    assert 'A figure needs matplotlib: pip install "evenhand[figures]"' in told
    assert all("pip install" in line for line in told), told


class Terminal:
    """A stream that says it is a terminal."""

    def __init__(self):
        self.text = ""

    def isatty(self):
        return True

    def write(self, text):
        self.text += text
        return len(text)

    def flush(self):
        pass


@pytest.mark.parametrize("quiet", [False, True])
def test_progress_and_its_time_left_are_for_a_terminal_that_is_not_quiet(monkeypatch, quiet):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with busy("Counting …", quiet=quiet), progress("Auditing …", quiet=quiet) as told:
        pass
    with progress("Auditing …", quiet=quiet) as told:
        told(1, 4)
        told(2, 4)
    assert ("Auditing …" in screen.text) == (not quiet)
    assert ("-:--:--" in screen.text or "0:00:0" in screen.text) == (not quiet)


@pytest.mark.slow
def test_counting_files_says_how_far_it_is(tmp_path, monkeypatch):
    from evenhand.cli import audit, failures

    monkeypatch.setattr(failures, "SECONDS_BETWEEN_LOOKS", 0.001)
    duckdb.sql("select i % 2 as y, i % 3 % 2 as p, i % 5 as g from range(3000000) t(i)").to_parquet(
        str(tmp_path / "rows.parquet")
    )
    request = SimpleNamespace(
        files=[str(tmp_path / "rows.parquet")],
        column_names=["y", "p", "g"],
        columns={"y_true": "y", "y_pred": "p", "sensitive_features": ["g"]},
        reading={},
    )
    seen = []
    evidence = audit.evidence_of(request, lambda done, total: seen.append((done, total)))
    assert evidence.rows.sum() == 3_000_000
    assert seen == sorted(seen)
    assert all(0 <= done <= total == 1000 for done, total in seen)
    assert seen[-1][0] > 0


def test_there_is_no_progress_where_nobody_looks_on(capfd):
    with progress("Auditing …") as told:
        told(1, 2)
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
@pytest.mark.parametrize("words", [("yes", "no"), ("t", "f"), ("01", "02"), ("2024-01-01", "now")])
def test_text_in_a_csv_stays_the_text_that_it_is(run, folder, people, words):
    people["p"] = [words[0] if p else words[1] for p in people["p"]]
    people["y"] = [words[0] if y else words[1] for y in people["y"]]
    people.to_csv(folder / "rows.csv", index=False)
    done = run("rows.csv", "--favorable", words[0], "--json", "found.json")
    found = json.loads((folder / "found.json").read_text(encoding="utf-8"))
    assert done.exit_code == 0
    assert sorted(found["classes"]) == sorted(words)


def test_subgroups_carry_the_name_of_their_column_where_a_value_says_nothing(run, people):
    people["race"] = (people["g"] == "a").astype(int)
    done = run(people, columns=("--target", "y", "--prediction", "p", "--group", "race"))
    assert "race=1" in done.stdout
