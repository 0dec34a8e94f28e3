"""Designs in TOML: what they say, and what is said of mistakes in them."""

import sys
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evenhand import InputError
from evenhand.benchmark import run
from evenhand.benchmark.design.from_file import DesignError, read_design
from evenhand.benchmark.design.importing import EXTRAS
from evenhand.benchmark.scoring.from_store import results
from evenhand.cli.benchmark import EXAMPLE

DESIGN = """
name = "hiring"
seeds = 2

[problems.hiring]
source = "hiring.csv"
target = "hired"
sensitive = ["sex"]

[methods.Reweight]

[methods.LinearPost]
constraints = ["statistical_parity", "equalized_odds"]
grid = [0.01, 0.1]
"""


@pytest.fixture
def write(tmp_path):
    rng = np.random.default_rng(0)
    people = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], 200),
            "city": rng.choice(["x", "y", "z"], 200),
            "score": rng.normal(size=200),
        }
    )
    chance = 1 / (1 + np.exp(-people["score"] - (people["sex"] == "m")))
    people["hired"] = np.where(rng.random(200) < chance, "yes", "no")
    people.to_csv(tmp_path / "hiring.csv", index=False)
    people.assign(pay=people["score"] * 2).to_parquet(tmp_path / "pay.parquet")

    def path(text):
        (tmp_path / "design.toml").write_text(text)
        return tmp_path / "design.toml"

    return path


@pytest.mark.slow
def test_a_design_of_ones_own_file_runs(write, tmp_path):
    design = read_design(write(DESIGN))
    assert design.name == "hiring"
    runs = list(design.runs().values())
    assert len(runs) == 2 * (1 + 1 + 2 * 2)
    assert {one.base.name for one in runs} == {"logistic"}
    assert run(design, tmp_path / "out", n_jobs=1).missing == 0


@pytest.mark.slow
def test_numbers_are_a_regression_and_get_a_linear_model(write, tmp_path):
    text = """
        seeds = [4]
        [problems.pay]
        source = "pay.parquet"
        target = "pay"
        sensitive = "sex"
        [methods.WassBC]
        grid = [1.0]
    """
    design = read_design(write(text))
    assert {one.base.name for one in design.runs().values()} == {"linear"}
    assert {one.seed for one in design.runs().values()} == {4}
    assert run(design, tmp_path / "out", n_jobs=1).missing == 0


@pytest.mark.slow
def test_a_task_of_the_catalogue_needs_its_name_only(write):
    design = read_design(write("[problems.simulated]\n[methods.Reweight]\n"))
    assert len(design.runs()) == 3 * 2


@pytest.mark.slow
def test_what_the_file_holds_is_part_of_the_address(write, tmp_path):
    before = set(read_design(write(DESIGN)).runs())
    content = (tmp_path / "hiring.csv").read_text()
    (tmp_path / "hiring.csv").write_text(content + content.splitlines()[1] + "\n")
    assert not before & set(read_design(write(DESIGN)).runs())


@pytest.mark.slow
def test_a_folder_that_is_moved_keeps_its_results(write, tmp_path):
    before = set(read_design(write(DESIGN)).runs())
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for name in ("hiring.csv", "design.toml"):
        (tmp_path / name).rename(moved / name)
    assert set(read_design(moved / "design.toml").runs()) == before


OWN = """
from sklearn.base import BaseEstimator, ClassifierMixin, clone

class Mine(ClassifierMixin, BaseEstimator):
    def __init__(self, estimator=None, *, group=None, strength=1.0):
        self.estimator, self.group, self.strength = estimator, group, strength

    def fit(self, X, y):
        self.model_ = clone(self.estimator).set_params(C=self.strength).fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)

def people():
    from evenhand.datasets import load
    return load("simulated")
"""
USE = """
seeds = 1
bases = ["sklearn.linear_model:LogisticRegression"]
[problems.people]
source = "{module}:people"
rows = 300
[methods.mine]
estimator = "{module}:Mine"
hyperparameter = "strength"
grid = [0.1, 1.0]
"""


@pytest.mark.slow
def test_methods_tasks_and_base_models_may_be_ones_own(write, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "own_method_and_task.py").write_text(OWN)
    design = read_design(write(USE.format(module="own_method_and_task")))
    state = run(design, tmp_path / "out", n_jobs=1)
    assert (state.runs, state.failures) == (3, {})


QUESTIONS = """
[[questions]]
criterion = "own_questions:SELECTION"
measure = "own_questions:span"
[[questions]]
criterion = "statistical_parity"
measure = "pq"
p = 0.5
"""
ASKED = """
import numpy as np
from evenhand import CRITERIA
SELECTION = CRITERIA["statistical_parity"]
def span(values):
    return 100 * np.ptp(values, axis=-1)
"""


@pytest.mark.slow
def test_criteria_and_measures_may_be_ones_own(write, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "own_questions.py").write_text(ASKED)
    design = read_design(write(DESIGN + QUESTIONS))
    run(design, tmp_path / "out", n_jobs=1)
    found = results(tmp_path / "out", design).to_frame("lot = 'expected'")
    wide = found.pivot(index="key", columns="question", values="value")
    own, usual = wide["own_questions:SELECTION.own_questions:span"], wide["statistical_parity.mpd"]
    np.testing.assert_allclose(own, 100 * usual)
    assert wide["statistical_parity.pq p=0.5"].notna().all()


@pytest.mark.slow
def test_the_example_in_the_help_is_one(write, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    text = EXAMPLE.replace("hiring.parquet", "hiring.csv").replace(
        "mypackage.fair:MyClassifier", "evenhand.mitigation:LinearPostClassifier"
    )
    design = read_design(write(text.replace('"strength"', '"epsilon"')))
    names = {one.treatment.name for one in design.runs().values()}
    assert names == {"Base", "Reweight", "LinearPost", "fairlearn.ThresholdOptimizer", "mine"}


def test_a_package_that_an_extra_brings_is_named_with_it(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)  # as if it were not installed
    shipped = Path(__file__).parents[2] / "benchmarks" / "leaderboard" / "full.toml"
    base = tomllib.loads(shipped.read_text("utf-8"))["bases"]["lightgbm"]["estimator"]
    text = f'[bases.boosted]\nestimator = "{base["classification"]}"\n'
    design = read_design(write(f"{text}[problems.simulated]\n[methods.Reweight]\n"))
    with pytest.raises(InputError, match=r'pip install "evenhand\[leaderboard\]"'):
        design.runs()
    project = tomllib.loads((shipped.parents[2] / "pyproject.toml").read_text("utf-8"))["project"]
    for package, extra in EXTRAS.items():
        brought = project["optional-dependencies"][extra]
        assert any(one.startswith(package) for one in brought)


FINE = "[problems.simulated]\n[methods.Reweight]\n"
MISTAKES = {
    "seeds = 2\nmethod = 1\n": r"the design has the key 'method'. Did you mean 'methods'\?",
    "seeds = ": "cannot be read as TOML",
    "[methods.Reweight]\n": r"needs at least one table \[problems.NAME\]",
    "problems = 3\n[methods.Reweight]\n": r"needs at least one table \[problems.NAME\]",
    "[problems]\nadult = 1\n[methods.Reweight]\n": r"write \[problems.adult\]",
    "[problems.nowhere]\n[methods.Reweight]\n": "the source 'nowhere', which is not a task",
    '[problems.a]\nsource = "gone.csv"\n[methods.Reweight]\n': r"gone\.csv, which is not there",
    "[problems.adult]\ncolor = 1\n[methods.Reweight]\n": r"problems.adult\] has the key 'color'",
    "[problems.adult]\n[methods.Rewieght]\n": "no method 'Rewieght'. Did you mean 'Reweight'",
    "[problems.adult]\n[methods.Reweight]\ngird = 1\n": "key 'gird'. Did you mean 'grid'",
    '[problems.adult]\n[methods.LinearPost]\nconstraints = ["sp"]\n': "takes statistical_parity",
    '[problems.adult]\n[methods.m]\nestimator = "no.such:Thing"\n': "cannot be imported",
    '[problems.adult]\n[methods.m]\nestimator = "sklearn.svm:Thing"\n': "has no 'Thing'",
    '[problems.adult]\n[methods.m]\nmethod = "sklearn.svm:SVC"\n': "not a Method",
    'bases = ["forest"]\n[problems.adult]\n[methods.Reweight]\n': "no base model 'forest'",
    f"{FINE}[[questions]]\ncriterion = 'x'\nmeasure = 'pq'\n": "no criterion 'x'. There are",
    f"{FINE}[[questions]]\ncriterion = 'average_odds'\nmeasure = 'x'\n": "no measure 'x'",
    f"{FINE}[[questions]]\ncriterion = 'average_odds'\n": "needs a criterion and a measure",
    f"{FINE}[[questions]]\ncolor = 'average_odds'\n": r"\[\[questions\]\] has the key 'color'",
    f"{FINE}[[questions]]\ncriterion = 'average_odds'\nmeasure = 'gini'\np = 0.5\n": "p and q are",
    f"{FINE}[[questions]]\ncriterion = 'average_odds'\nmeasure = 'pq'\np = 3\n": "0 < p < q",
    f"{FINE}[[questions]]\ncriterion = 'conditional_statistical_parity'\nmeasure = 'pq'\n": (
        "needs strata"
    ),
    "seeds = 0\n[problems.adult]\n[methods.Reweight]\n": "seeds is 0; give how many",
    "seeds = [-1]\n[problems.adult]\n[methods.Reweight]\n": r"seeds is \[-1\]",
    'seeds = "many"\n[problems.adult]\n[methods.Reweight]\n': "seeds is 'many'",
}


@pytest.mark.slow
@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_is_named_with_the_way_out(write, text):
    with pytest.raises(ValueError, match=MISTAKES[text]):
        read_design(write(text))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DesignError, match=r"nothing\.toml cannot be read"):
        read_design(tmp_path / "nothing.toml")


def test_a_file_without_its_columns_is_refused(write):
    text = DESIGN.replace('target = "hired"', 'target = "promoted"')
    with pytest.raises(ValueError, match=r"\['promoted'\] is not among sex, city, score, hired"):
        read_design(write(text)).runs()
