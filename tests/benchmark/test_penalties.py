"""Methods that train a network of their own in a benchmark, and their names without PyTorch."""

import subprocess
import sys

import pytest

from benchmark.designs import design, regression
from evenhand.benchmark import Store, run, treatment
from evenhand.mitigation import METHODS

QUICK = {"hidden": (), "max_epochs": 3, "device": "cpu", "progress": False}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "make"), [("Penalty", design), ("Penalty_R", regression)])
def test_a_method_with_a_model_of_its_own_takes_part(name, make, tmp_path):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    one = treatment(name, grid=(0.1, 10.0), settings=QUICK)
    state = run(make(one), tmp_path, n_jobs=1)
    assert (state.done, state.failures) == (2, {})
    found = Store(tmp_path).entries().values()
    assert {entry["hyperparameter"] for entry in found} == {0.1, 10.0}
    assert all("torch" in entry["versions"] for entry in found)


@pytest.mark.slow
def test_without_torch_methods_are_listed_and_say_what_to_install():
    code = """
import importlib.util
known = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "torch" else known(name, *rest)
import evenhand._errors
evenhand._errors.find_spec = importlib.util.find_spec
import sys
import evenhand
from evenhand.benchmark import treatment
from evenhand.mitigation import METHODS
model = METHODS["Penalty"](group=0, strength=2.0)
print(model)
for call in (lambda: treatment("Penalty"), lambda: model.fit([[0, 1], [1, 2]], [0, 1])):
    try:
        call()
    except evenhand.MissingExtraError as error:
        print(error)
assert "torch" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "PenalizedClassifier(group=0, measure='pq', strength=2.0)" in done.stdout
    assert "The method 'Penalty' needs torch: pip install \"evenhand[torch]\"" in done.stdout
    assert "Fitting a PenalizedClassifier needs torch" in done.stdout


def test_they_work_on_no_base_model():
    own = {name for name, method in METHODS.items() if not method.needs_base}
    assert own == {"Penalty", "Penalty_R"}
    assert {METHODS[name].extra for name in own} == {"torch"}
