"""An edit of data, a setting, a model or a method reruns what it touches, and nothing else."""

import importlib
import os
import pickle
import subprocess
import sys
import textwrap
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand import InputTypeError
from evenhand.benchmark import (
    BASES,
    Base,
    Design,
    Problem,
    Study,
    Treatment,
    results,
    run,
    status,
    treatment,
)
from evenhand.benchmark.design import fingerprints as code
from evenhand.benchmark.design.fingerprints import described, fingerprint

TOOLS = '''
"""Tools."""

def shift(x):
    return x + 1

def unused(x):
    return x - 1
'''
THINGS = '''
"""A model and two methods."""
import numpy as np
import edited_tools
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression

STRENGTH = 0.5
TABLE = {"low": 0.1, "high": 0.9}

def shrink(C):
    return C * 1.0

def helper(p):
    # a remark
    return p > TABLE["low"]

class Model(LogisticRegression):
    def fit(self, X, y, sample_weight=None):
        self.set_params(C=shrink(self.C))
        return super().fit(X, y, sample_weight)

class Method(ClassifierMixin, BaseEstimator):
    def __init__(self, estimator=None, *, group=None, level=0.0):
        self.estimator, self.group, self.level = estimator, group, level

    def fit(self, X, y):
        self.model_ = clone(self.estimator).fit(X, y)
        self.classes_ = self.model_.classes_
        return self

class Alpha(Method):
    """The first."""

    def predict(self, X):
        p = edited_tools.shift(self.model_.predict_proba(X)[:, 1])
        return helper(p).astype(int)

class Beta(Method):
    def predict(self, X):
        from math import floor
        return np.where(self.model_.predict_proba(X)[:, 1] > STRENGTH + floor(0.5), 1, 0)
'''
NOTEBOOK = """
from sklearn.base import BaseEstimator, ClassifierMixin, clone

LIMIT = 0.25
FAVORED = {"a", "b", "c"}

def decided(p, data=None):
    return (p > LIMIT).astype(int)

class Gamma(ClassifierMixin, BaseEstimator):
    def __init__(self, estimator=None, *, group=None):
        self.estimator, self.group = estimator, group

    def fit(self, X, y):
        self.model_ = clone(self.estimator).fit(X, y)
        self.classes_ = self.model_.classes_
        self.favored_ = sorted(FAVORED)
        return self

    def predict(self, X):
        return decided(self.model_.predict_proba(X)[:, 1])
"""
DEFAULTS = {"tools": TOOLS, "things": THINGS, "notebook": NOTEBOOK, "rows": 40}
DEFAULTS |= {"C": 1.0, "level": 0.0, "before": ""}


def swap(where, old, new):
    def edit(world):
        assert old in world[where]
        world[where] = world[where].replace(old, new)

    return edit


def put(where, value):
    return lambda world: world.update({where: value})


def of_method(name):
    return lambda problem, base, method: method == name


def of_model(problem, base, method):
    return base == "own"


def of_data(problem, base, method):
    return problem == "b"


def nothing(problem, base, method):
    return False


EDITS = {
    "what the model calls": (swap("things", "C * 1.0", "C * 2.0"), of_model),
    "a setting of the model": (put("C", 3.0), of_model),
    "what a method calls": (swap("things", "p > TABLE", "p >= TABLE"), of_method("Alpha")),
    "a table that it reads": (swap("things", '"low": 0.1', '"low": 0.2'), of_method("Alpha")),
    "another module": (swap("tools", "x + 1", "x + 2"), of_method("Alpha")),
    "a constant": (swap("things", "STRENGTH = 0.5", "STRENGTH = 0.6"), of_method("Beta")),
    "an import inside": (swap("things", "import floor", "import ceil as floor"), of_method("Beta")),
    "a setting of a method": (put("level", 0.5), of_method("Beta")),
    "a function of a notebook": (swap("notebook", "(p > L", "(p >= L"), of_method("Gamma")),
    "a constant of a notebook": (swap("notebook", "= 0.25", "= 0.35"), of_method("Gamma")),
    "a set of a notebook": (swap("notebook", '"c"}', '"d"}'), of_method("Gamma")),
    "a row": (put("rows", 41), of_data),
    "a docstring": (swap("things", '"""The first."""', '"""The very first."""'), nothing),
    "a comment": (swap("things", "# a remark", "# another remark\n"), nothing),
    "all of a module that is imported": (swap("tools", "x - 1", "x - 2"), of_method("Alpha")),
    "a class of the same file": (swap("things", "STRENGTH + floor", "floor"), of_method("Beta")),
    "a cell before": (put("before", "a = 1\n\ndata = [1, 2, 3]\n"), nothing),
}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """From texts of modules, a notebook and data to the keys of a design."""
    folder = tmp_path_factory.mktemp("edited")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(folder), *sys.path])
        patch.setattr(sys, "dont_write_bytecode", True)
        yield lambda edits: made(folder, edits)
    for name in ("edited_tools", "edited_things"):
        sys.modules.pop(name, None)


def made(folder, edits):
    """The design of a world with these edits."""
    content = dict(DEFAULTS)
    for edit in edits:
        EDITS[edit][0](content)
    for name in ("tools", "things"):
        (folder / f"edited_{name}.py").write_text(content[name])
        sys.modules.pop(f"edited_{name}", None)
    importlib.invalidate_caches()
    things = importlib.import_module("edited_things")
    notebook = {"__name__": "__main__", "_ih": ["", content["before"], content["notebook"]]}
    for cell in notebook["_ih"]:
        exec(cell, notebook)
    for name, rows in (("a", 40), ("b", content["rows"])):
        table = pd.DataFrame({"g": ["x", "y"] * 30, "y": [0, 1, 1, 0] * 15, name: range(60)})
        table.iloc[:rows].to_csv(folder / f"{name}.csv", index=False)
    problems = (
        Problem(name, str(folder / f"{name}.csv"), target="y", sensitive=("g",)) for name in "ab"
    )
    own = Base("own", things.Model, settings={"C": content["C"]})
    methods = (
        Treatment(),
        treatment("EqOdds"),
        treatment(things.Alpha),
        treatment(things.Beta, settings={"level": content["level"]}),
        treatment(notebook["Gamma"]),
    )
    study = Study(
        name="edited",
        problems=tuple(problems),
        bases=(own, BASES["logistic"]),
        treatments=methods,
        seeds=(0,),
    )
    return Design("edited", (study,))


def keys(design):
    return {
        (one.problem.name, one.base.name, one.treatment.name): key
        for key, one in design.runs().items()
    }


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(edits=st.sets(st.sampled_from(sorted(EDITS))))
def test_an_edit_changes_the_keys_of_what_it_touches_and_no_others(world, edits):
    before, after = keys(world(())), keys(world(sorted(edits)))
    assert before.keys() == after.keys()
    changed = {name for name in before if before[name] != after[name]}
    touched = {name for name in before if any(EDITS[edit][1](*name) for edit in edits)}
    assert changed == touched


@pytest.mark.slow
def test_only_what_was_touched_is_run_again_and_results_say_so(world, tmp_path):
    assert run(world(()), tmp_path, n_jobs=1).missing == 0
    edited = world(["a constant of a notebook"])
    assert status(edited, tmp_path).missing == 4
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("runs/*/*.parquet")}
    run(edited, tmp_path, n_jobs=1)
    assert before == {path: path.stat().st_mtime_ns for path in before}
    assert results(tmp_path, edited).runs.num_rows == 20
    with pytest.warns(UserWarning, match=r"holds 4 runs of an earlier version .* \(Gamma on a"):
        assert results(tmp_path).runs.num_rows == 20
    again = world(["a constant of a notebook", "a row"])
    run(again, tmp_path, n_jobs=1)
    with pytest.warns(UserWarning, match="holds 14 runs of an earlier version"):
        found = results(tmp_path)
    assert set(found.runs["key"].to_pylist()) == set(again.runs())


def test_data_that_change_after_a_design_is_made_are_read_anew(tmp_path):
    table = pd.DataFrame({"g": ["x", "y"] * 20, "y": [0, 1, 1, 0] * 10, "x": range(40)})
    table.to_csv(tmp_path / "rows.csv", index=False)
    problem = Problem("rows", str(tmp_path / "rows.csv"), target="y", sensitive=("g",))
    study = Study(
        name="rows",
        problems=(problem,),
        bases=(BASES["logistic"],),
        treatments=(Treatment(),),
        seeds=(0,),
    )
    design = Design("rows", (study,))
    (before,) = design.runs()
    assert problem.load().n_rows == 40
    table.iloc[:36].to_csv(tmp_path / "rows.csv", index=False)
    assert before not in design.runs()
    assert problem.load().n_rows == 36


def test_rows_of_a_function_count_by_what_they_are(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    text = """
        from dataclasses import replace
        from evenhand.datasets import load

        def people():
            found = load("simulated")
            return replace(found, X=found.X.iloc[:{rows}], y=found.y.iloc[:{rows}])
    """

    def key(rows, more=""):
        content = textwrap.dedent(text.format(rows=rows)) + more
        (tmp_path / "made_people.py").write_text(content)
        sys.modules.pop("made_people", None)
        importlib.invalidate_caches()
        return Problem("people", "made_people:people").fingerprint

    assert key(300) == key(300, "OTHER = 1\n")
    assert key(300) != key(301)


@pytest.mark.slow
def test_a_version_of_a_package_counts_where_its_model_or_method_is_used(monkeypatch):
    def fingerprints():
        bases = (BASES["logistic"], Base("dummy", "sklearn.dummy:DummyClassifier"))
        methods = (treatment("EqOdds"), treatment("fairlearn.ThresholdOptimizer"))
        return [replace(one).fingerprint for one in (*bases, *methods)]

    pytest.importorskip("fairlearn")
    before, versions = fingerprints(), code.version_of
    monkeypatch.setattr(code, "version_of", lambda name: versions(name) + ".1")
    assert [one != two for one, two in zip(before, fingerprints(), strict=True)] == [
        True,
        True,
        False,
        False,
    ]
    monkeypatch.undo()
    packages = code.package_versions
    monkeypatch.setattr(code, "package_versions", lambda name: [f"{x}.1" for x in packages(name)])
    assert [one != two for one, two in zip(before, fingerprints(), strict=True)] == [
        False,
        False,
        False,
        True,
    ]


class Holder:
    """An object with a state, and functions in many shapes."""

    def __init__(self, value):
        self.value = value
        self.again = self

    @property
    def doubled(self):
        return 2 * self.value

    @staticmethod
    def plain(x):
        return {key: [x] for key in "ab"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Holder(1), Holder(2)),
        (np.arange(3), np.arange(4)),
        (pd.DataFrame({"a": [1]}), pd.DataFrame({"a": [2]})),
        ({1: "a"}, {1: "b"}),
        (lambda x: x + 1, lambda x: x + 2),
        (lambda x=1: x, lambda x=2: x),
        (1, 1.0),
        (len, max),
    ],
)
def test_things_that_differ_have_other_fingerprints(one, other):
    assert fingerprint(described(one)) == fingerprint(described(one))
    assert fingerprint(described(one)) != fingerprint(described(other))


@pytest.mark.long
def test_a_fingerprint_is_the_same_in_every_process(tmp_path):
    """Whatever the order of sets, and wherever the lines are."""
    script = tmp_path / "script.py"
    script.write_text(
        NOTEBOOK + "\nfrom evenhand.benchmark import treatment\n"
        "print(treatment(Gamma).fingerprint)\n"
    )
    found = {
        subprocess.run(
            [sys.executable, str(script)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1
    notebook = {"__name__": "__main__", "_ih": ["", "\n\n" + NOTEBOOK]}
    exec(notebook["_ih"][1], notebook)
    assert found == {treatment(notebook["Gamma"]).fingerprint + "\n"}


def test_code_that_cannot_be_read_is_refused():
    typed = {"__name__": "__main__"}
    exec(NOTEBOOK, typed)
    with pytest.raises(InputTypeError, match="save what a benchmark runs in a file"):
        treatment(typed["Gamma"])


@pytest.mark.long
def test_a_class_of_a_notebook_runs_in_other_processes(world, tmp_path):
    """And has there the code that it has here, which the job makes sure of."""
    design = world(())
    gamma = design.studies[0].treatments[-1]
    design = replace(design, studies=(replace(design.studies[0], treatments=(gamma,)),))
    with pytest.raises(Exception, match="pickle"):
        pickle.dumps(gamma)
    state = run(design, tmp_path, n_jobs=2)
    assert (state.runs, state.failures) == (4, {})


@pytest.mark.long
def test_a_module_that_was_edited_but_not_loaded_again_is_refused_by_workers(world, tmp_path):
    design = world(())
    alpha = design.studies[0].treatments[2]
    design = replace(design, studies=(replace(design.studies[0], treatments=(alpha,)),))
    module = sys.modules["edited_things"]
    path = module.__file__
    with open(path, "w") as file:
        file.write(THINGS.replace('"low": 0.1', '"low": 0.2'))
    failures = run(design, tmp_path, n_jobs=2).failures
    assert len(failures) == 4
    for failure in failures.values():
        assert "'Alpha' is not what it was when the design was read" in failure["error"]
    assert run(design, tmp_path, n_jobs=1).missing == 0  # here it is still the code of the key
