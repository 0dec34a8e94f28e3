"""The how-to of benchmarks of one's own, as a reader does it: every file and every command."""

import os
import re
import shlex
import sys
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner
from joblib import Parallel, delayed

from evenhand.benchmark import Store, figures, read_design
from evenhand.benchmark.adapters import ADAPTERS
from evenhand.benchmark.figures import saving
from program import EVENHAND

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "benchmark-own.md"
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE.read_text("utf-8"), flags=re.DOTALL)
FILES = {name: text for _, text in BLOCKS for name in re.findall(r"\A# (\w+\.(?:py|toml))\n", text)}
COMMANDS = [
    line for kind, text in BLOCKS if kind == "console" for line in text.splitlines() if line
]
IN_NOTEBOOK = [text for kind, text in BLOCKS if kind == "python" and not text.startswith("# ")]
LIBRARIES = ("fairlearn", "aif360", "oxonfair")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files of the page, in a folder where commands are given."""
    folder = tmp_path_factory.mktemp("howto")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    Parallel(n_jobs=2)(delayed(os.getcwd)() for _ in range(2))  # workers that stand elsewhere
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(sys, "path", [str(folder), *sys.path])
        save = figures.save
        patch.setattr(saving, "save", lambda *given: save(*given[:3], formats=()))
        exec(FILES["make_loans.py"], {"__name__": "__main__"})
        yield folder
    sys.modules.pop("lenient", None)


@pytest.fixture(scope="module")
def answers(folder):
    """What the commands that can be given here say, one after the other as on the page."""
    return {line: answer_to(line) for line in COMMANDS if not absent_for(line)}


def absent_for(line):
    """The libraries that a command needs and that are not installed."""
    if "methods.toml" in line:
        return [name for name in LIBRARIES if find_spec(name) is None]
    return ["distributed"] if "--dask" in line and find_spec("distributed") is None else []


def answer_to(line):
    _, *arguments = shlex.split(line)
    with cluster() if "--dask" in arguments else nullcontext() as address:
        if address is not None:
            arguments[-1] = address
        return CliRunner().invoke(EVENHAND, arguments)


@contextmanager
def cluster():
    from distributed import LocalCluster

    here = {"processes": False, "protocol": "tcp"}  # test_cluster.py has other processes
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None, **here) as local:
        yield local.scheduler_address


def test_every_command_of_the_page_is_tested():
    assert {shlex.split(line)[3] for line in COMMANDS} == {
        *(name for name in FILES if name.endswith(".toml"))
    }
    assert len(IN_NOTEBOOK) == 1


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_does_what_the_page_says(folder, answers, line):
    if absent := absent_for(line):
        pytest.skip(f"{absent[0]} is not installed")
    done = answers[line]
    assert done.exit_code == 0, done.output
    _, _, command, design, *_ = shlex.split(line)
    if command == "run":
        runs = len(read_design(folder / design).runs())
        name = design.removesuffix(".toml")
        assert f"{name}: {runs} of {runs} runs have a result." in done.output


@pytest.mark.usefixtures("answers")
@pytest.mark.long
def test_the_notebook_runs_after_the_commands():
    names = {"__name__": "__main__"}
    names["_ih"] = [IN_NOTEBOOK[0]]  # where IPython keeps the cells
    exec(IN_NOTEBOOK[0], names)
    assert "Halfway" in set(names["found"].to_frame()["method"])


def test_eight_models_and_four_foreign_methods_need_no_code():
    models = read_names(FILES["models.toml"], "bases")
    assert len(models) == 8
    foreign = [name for name in read_names(FILES["methods.toml"], "methods") if name in ADAPTERS]
    assert len(foreign) >= 4
    assert {name.partition(".")[0] for name in foreign} == set(LIBRARIES)


def read_names(text, tables):
    import tomllib

    return list(tomllib.loads(text)[tables])


@pytest.mark.usefixtures("answers")
def test_predictions_of_the_other_design_are_taken_over(folder):
    found = Store(folder / "more").entries().values()
    assert {entry["method"] for entry in found if "stored_as" not in entry} == {"EqOdds"}
    assert len(found) == 14
