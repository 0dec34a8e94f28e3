"""Runs: done once, resumed, and none stops another."""

import os
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest

from benchmark.designs import SMALL, design, regression
from evenhand import InputError
from evenhand.benchmark import Store, Treatment, run, status, treatment
from evenhand.benchmark.design.studies import Run
from evenhand.mitigation import LinearPostClassifier, Method

pytestmark = pytest.mark.slow


def entries(folder):
    return Store(folder).entries()


def test_a_design_leaves_one_result_for_each_run(tmp_path):
    state = run(design(seeds=(0, 1)), tmp_path, n_jobs=1)
    assert (state.runs, state.done, state.missing, state.failures) == (12, 12, 0, {})
    found = entries(tmp_path).values()
    assert {(one["method"], one["hyperparameter"], one["seed"]) for one in found} == {
        (method, value, seed)
        for seed in (0, 1)
        for method, value in [
            ("Base", None),
            ("Reweight", None),
            ("LinearPost", 0.01),
            ("LinearPost", 0.1),
            ("FairProj-KL", 0.01),
            ("FairProj-KL", 0.1),
        ]
    }


def test_truth_is_stored_once_for_a_split(tmp_path):
    run(design(seeds=(0, 1)), tmp_path, n_jobs=1)
    assert len(list(tmp_path.glob("truth/*/*.parquet"))) == 2


def test_what_is_there_is_not_done_again(tmp_path):
    run(design(), tmp_path, n_jobs=1)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.parquet")}
    run(design(seeds=(0, 1)), tmp_path, n_jobs=1)
    after = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.parquet")}
    assert len(after) > len(before)
    assert {path: after[path] for path in before} == before


def test_processes_and_one_process_give_the_same_predictions(tmp_path):
    wanted = design(seeds=(0, 1))
    for name, jobs in (("one", 1), ("two", 2)):
        assert run(wanted, tmp_path / name, n_jobs=jobs).missing == 0
    one, two = Store(tmp_path / "one"), Store(tmp_path / "two")
    for key, entry in one.entries().items():
        first, second = one.predictions(entry), two.predictions(two.entries()[key])
        for name, column in first.columns().items():
            np.testing.assert_array_equal(column, second.columns()[name])


def test_post_processors_see_the_training_predictions_of_the_one_base_fit(tmp_path):
    """By another way: the whole pipeline, base model and all, inside the method's estimator."""
    from evenhand.benchmark.design.bases import BASES
    from evenhand.benchmark.running.preparation import Prepared

    run(design(treatment("LinearPost", grid=(0.02,))), tmp_path, n_jobs=1)
    ready = Prepared(SMALL.load(), BASES["logistic"], seed=0)
    X = ready.featured[0].toarray()
    other = LinearPostClassifier(
        BASES["logistic"].estimator("classification"),
        group=X.shape[1] - 1,
        sees_group=False,
        epsilon=0.02,
    )
    other.fit(X[: ready.fitted], ready.y[: ready.fitted])
    (entry,) = entries(tmp_path).values()
    stored = Store(tmp_path).predictions(entry).chances
    np.testing.assert_allclose(stored, other.predict_proba(X[ready.fitted :]), atol=1e-6)


class Moody(LinearPostClassifier):
    """Fails for one value of its grid."""

    fit_path = None

    def fit(self, X, y):
        if self.epsilon == 0.1 and "GOOD_MOOD" not in os.environ:
            raise ArithmeticError("not today")
        return super().fit(X, y)

    def __getattribute__(self, name):
        if name == "fit_path":
            raise AttributeError(name)
        return super().__getattribute__(name)


MOODY = Method(
    name="Moody",
    estimator=Moody,
    stage="post",
    task="classification",
    criteria=("statistical_parity",),
    needs_group_at_predict=True,
    randomized=True,
    hyperparameter="epsilon",
    grid={"statistical_parity": (0.01, 0.1, 0.2)},
    citation="none",
)


def test_a_run_that_fails_is_recorded_and_stops_no_other(tmp_path):
    wanted = design(treatment(MOODY), treatment("Reweight"))
    state = run(wanted, tmp_path, n_jobs=1)
    assert (state.runs, state.done) == (4, 3)
    (failure,) = state.failures.values()
    assert failure["hyperparameter"] == 0.1
    assert failure["error"] == "ArithmeticError: not today"
    assert "raise ArithmeticError" in failure["trace"]


def test_a_run_that_failed_is_tried_again(tmp_path, monkeypatch):
    wanted = design(treatment(MOODY))
    assert run(wanted, tmp_path, n_jobs=1).missing == 1
    monkeypatch.setenv("GOOD_MOOD", "1")
    assert run(wanted, tmp_path, n_jobs=1).missing == 0
    assert status(wanted, tmp_path).failures == {}
    assert not list(tmp_path.glob("failures/*"))


class Talkative(LinearPostClassifier):
    def _fit(self, rows):
        warnings.warn("it was hard", RuntimeWarning, stacklevel=1)
        super()._fit(rows)


def test_warnings_are_notes_of_the_run(tmp_path):
    method = replace(MOODY, name="Talkative", estimator=Talkative, hyperparameter=None, grid={})
    run(design(treatment(method)), tmp_path, n_jobs=1)
    (entry,) = entries(tmp_path).values()
    assert entry["notes"] == ["RuntimeWarning: it was hard"]


def test_a_problem_that_cannot_be_loaded_fails_its_own_runs_only(tmp_path, monkeypatch):
    from evenhand.benchmark.design import problems

    whole = problems._loaded

    def loaded(problem, stamp):
        if problem.name == "broken":
            raise InputError("the disk is gone")
        return whole(problem, stamp)

    monkeypatch.setattr(problems, "_loaded", loaded)
    wanted = design(Treatment(), problems=(replace(SMALL, name="broken", rows=300), SMALL))
    state = run(wanted, tmp_path / "out", n_jobs=1)
    assert (state.runs, state.done) == (2, 1)
    assert "before the method: InputError" in next(iter(state.failures.values()))["error"]


def test_a_favorable_class_that_is_none_is_named(tmp_path):
    wanted = design(Treatment(), problems=(replace(SMALL, favorable="2"),))
    (failure,) = run(wanted, tmp_path, n_jobs=1).failures.values()
    assert "The favorable class '2' of small is none of its classes 0, 1." in failure["error"]


METHOD = """
from evenhand.mitigation import LinearPostClassifier

class {name}(LinearPostClassifier):
    {comment}
    def _bound(self):
        return super()._bound()._replace(epsilon={bound})
"""


@pytest.fixture
def own_methods(tmp_path, monkeypatch):
    """Write a method's module, and give the treatments of two such methods."""
    import importlib

    from evenhand.benchmark.design import fingerprints

    monkeypatch.syspath_prepend(tmp_path)

    def write(name, bound, comment=""):
        text = METHOD.format(name=name, bound=bound, comment=comment)
        (tmp_path / f"{name.lower()}_of_mine.py").write_text(text)

    def treatments():
        importlib.invalidate_caches()
        fingerprints._source_of_ours.cache_clear()
        found = []
        for name in ("First", "Second"):
            module = f"{name.lower()}_of_mine"
            sys.modules.pop(module, None)
            sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
            estimator = getattr(importlib.import_module(module), name)
            sys.dont_write_bytecode = before
            found.append(
                treatment(
                    Method(
                        name=name,
                        estimator=estimator,
                        stage="post",
                        task="classification",
                        criteria=("statistical_parity",),
                        needs_group_at_predict=True,
                        randomized=True,
                        citation="none",
                    )
                )
            )
        return found

    return write, treatments


def test_a_changed_method_reruns_only_itself(tmp_path, own_methods):
    write, treatments = own_methods
    write("First", 0.1)
    write("Second", 0.1)
    out = tmp_path / "out"
    run(design(Treatment(), *treatments()), out, n_jobs=1)
    before = entries(out)
    write("First", 0.1, comment="# a comment changes nothing")
    write("Second", 0.2)
    wanted = design(Treatment(), *treatments())
    assert status(wanted, out).missing == 1
    run(wanted, out, n_jobs=1)
    new = {key: entry for key, entry in entries(out).items() if key not in before}
    assert [entry["method"] for entry in new.values()] == ["Second"]


def test_changed_settings_rerun_only_their_method(tmp_path):
    first = design(treatment("Reweight"), treatment("LinearPost", grid=(0.1,)))
    run(first, tmp_path, n_jobs=1)
    other = treatment("LinearPost", grid=(0.1,), settings={"tolerance": 1e-5})
    assert status(design(treatment("Reweight"), other), tmp_path).missing == 1


def test_a_name_is_no_part_of_the_address(tmp_path):
    run(design(treatment("Reweight")), tmp_path, n_jobs=1)
    assert status(design(treatment("Reweight", name="other")), tmp_path).missing == 0


def test_decisions_by_lot_are_kept_as_chances_with_one_draw(tmp_path):
    run(design(treatment("LinearPost", grid=(0.01,)), Treatment()), tmp_path, n_jobs=1)
    store = Store(tmp_path)
    found = {entry["method"]: entry for entry in store.entries().values()}
    by_lot = store.predictions(found["LinearPost"])
    assert found["LinearPost"]["by_lot"]
    assert by_lot.scores is None
    drawn = by_lot.chances[np.arange(len(by_lot.labels)), by_lot.labels]
    assert (drawn > 0).all()
    certain = store.predictions(found["Base"])
    assert certain.chances is None
    np.testing.assert_array_equal(certain.scores.argmax(axis=1), certain.labels)


def test_a_regressor_that_draws_is_kept_with_several_draws(tmp_path):
    run(regression(), tmp_path, n_jobs=1)
    store = Store(tmp_path)
    widths = {
        (entry["method"], entry["by_lot"]): store.predictions(entry).values.shape[1]
        for entry in store.entries().values()
    }
    assert widths == {("Base", False): 1, ("WassBC", False): 1, ("LinearPost_R", True): 20}


def test_the_true_targets_can_stand_in_for_a_model(tmp_path):
    run(regression(base="targets"), tmp_path, n_jobs=1)
    store = Store(tmp_path)
    base = next(one for one in store.entries().values() if one["method"] == "Base")
    np.testing.assert_array_equal(store.predictions(base).values[:, 0], store.truth(base).y)


def test_a_method_may_be_fitted_to_a_sample_which_is_then_stated(tmp_path):
    whole = treatment("LinearPost", grid=(0.01,))
    part = treatment("LinearPost", grid=(0.01,), fit_rows=100)
    run(design(whole, part), tmp_path, n_jobs=1)
    assert {entry["fit_rows"] for entry in entries(tmp_path).values()} == {None, 100}


@pytest.mark.long
def test_keys_do_not_depend_on_the_process(tmp_path):
    import subprocess

    code = (
        "import sys; sys.path.insert(0, sys.argv[1]);"
        "from benchmark.designs import design; print(sorted(design().runs()))"
    )
    here = str(__import__("pathlib").Path(__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code, here], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(sorted(design().runs()))


def test_a_run_says_everything_about_itself_in_its_row():
    first = next(iter(design(treatment("LinearPost", grid=(0.5,))).runs().values()))
    assert isinstance(first, Run)
    assert first.value == {
        "problem": "small",
        "base": "logistic",
        "method": "LinearPost",
        "constraint": "statistical_parity",
        "parameter": "epsilon",
        "hyperparameter": 0.5,
        "seed": 0,
        "fit_rows": None,
        "held_out": 0.0,
    }
