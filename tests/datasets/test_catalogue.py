import subprocess
import sys
from pathlib import Path

import pytest

import evenhand.datasets
from evenhand.datasets import TASKS, load
from lanes import one_in

HIDE = "import sys; sys.modules.update(dict.fromkeys({}))\n"


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_public_names_are_these():
    names = "TASKS Dataset FetchError File Origin Parts Split Task load split"
    assert evenhand.datasets.__all__ == names.split()


@pytest.mark.parametrize("name", TASKS)
def test_a_task_says_all_about_itself(name):
    task = TASKS[name]
    assert task.name == name
    assert all([task.description, task.source, task.license, task.citation])
    assert (len(task.classes) >= 2) == (task.kind == "classification")
    assert len(task.groups) in (0, task.n_groups)
    origins = [origin.name for origin in task.origins]
    assert len(origins) == len(set(origins))
    official = [origin for origin in task.origins if origin.is_downloadable]
    assert not any(origin.is_stand_in for origin in official)
    assert all(file.url.startswith("https://") for origin in official for file in origin.files)


@pytest.mark.slow
def test_importing_data_sets_imports_nothing_heavy():
    heavy = ["pandas", "pooch", "sklearn", "requests", "tqdm", "click", "rich", "pyarrow"]
    program = f"import sys, evenhand.datasets; print([m for m in {heavy} if m in sys.modules])"
    assert run(program) == "[]"


@pytest.mark.slow
def test_adult_needs_pandas_and_nothing_else():
    hidden = ["pyarrow", "pooch", "requests", "tqdm", "click", "rich"]
    program = "from evenhand.datasets import load; print(load('adult').n_rows)"
    assert run(HIDE.format(hidden) + program) == "48842"


@pytest.mark.slow
def test_a_missing_pandas_is_said_in_one_sentence():
    program = """
from evenhand.datasets import load
try:
    load("adult")
except ImportError as failure:
    print(failure)
"""
    said = run(HIDE.format(["pandas"]) + program)
    assert said == 'evenhand.datasets needs pandas: pip install "evenhand[data]"'


@pytest.mark.slow
@pytest.mark.parametrize("n_groups", one_in(5, [2, 10, 20, 30, 40, 50]))
def test_adult_has_as_many_groups_as_asked_for(n_groups):
    adult = load("adult_multigroup", n_groups=n_groups)
    assert len(adult.groups.drop_duplicates()) == n_groups == adult.task.n_groups
    assert adult.n_rows == 48_842


@pytest.mark.slow
def test_ages_are_binned_at_their_quantiles():
    adult = load("adult_multigroup", n_groups=50)
    shares = adult.X["age_bin"].value_counts(normalize=True, sort=False)
    assert list(shares.index) == ["17 to 26", "27 to 33", "34 to 41", "42 to 51", "52 to 90"]
    assert shares.between(0.18, 0.23).all()
    first = adult.X.loc[adult.X["age_bin"] == "17 to 26", "age"]
    assert (first.min(), first.max()) == (17, 26)


@pytest.mark.slow
def test_the_sensitive_columns_are_columns_of_X_and_can_be_chosen():
    adult = load("adult", sensitive=["sex", "race"])
    assert adult.sensitive == ("sex", "race")
    assert len(adult.groups.drop_duplicates()) == 10
    assert load("adult", sensitive="race").sensitive == ("race",)


def test_the_metadata_are_plain_values():
    import json

    metadata = load("simulated").metadata
    assert json.loads(json.dumps(metadata)) == metadata
    assert metadata["provenance"] == "simulated"
    assert metadata["rows"] == 5000


@pytest.mark.slow
def test_a_data_set_shows_its_name_and_size():
    assert repr(load("adult")) == "<adult: 48,842 rows, 13 features>"


def test_the_documentation_names_every_task():
    page = Path(__file__).parents[2] / "docs" / "datasets.md"
    if not page.is_file():
        pytest.skip("the documentation is not part of this copy of the source")
    text = page.read_text(encoding="utf-8")
    assert all(f"| `{name}` |" in text for name in TASKS)
