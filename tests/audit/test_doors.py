"""The doors of an audit: what they take, what they refuse, and that they give the same."""

import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import evenhand as eh

QUICK = {"criteria": ["statistical_parity"], "measures": ["mpd"]}


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=400), "sex": rng.integers(0, 2, 400)})
    return frame.assign(y=(rng.random(400) < 0.3 + 0.2 * frame.sex).astype(int))


@pytest.mark.slow
@pytest.mark.parametrize("state", [None, 5, np.random.default_rng(0), np.random.RandomState(0)])
def test_any_random_state_will_do_and_a_number_is_kept(people, state):
    options = {"sensitive_features": people.sex, **QUICK}
    found = eh.audit(people.y, people.y, random_state=state, **options)
    again = eh.audit(people.y, people.y, random_state=found.random_state, **options)
    assert found.to_json() == again.to_json()
    assert found.random_state == (5 if state == 5 else None)


@pytest.mark.parametrize("state", ["0", 1.5, True])
def test_what_is_no_random_state_is_refused(people, state):
    with pytest.raises(TypeError, match="random_state is a number, a NumPy generator or None"):
        eh.audit(people.y, people.y, sensitive_features=people.sex, random_state=state)


def test_a_misspelt_option_is_refused_with_the_nearest(people):
    model = LogisticRegression().fit(people[["x", "sex"]], people.y)
    calls = [
        lambda: eh.audit(people.y, people.y, sensitive_features=people.sex, measure=["pq"]),
        lambda: eh.audit_frame(people, y_true="y", y_pred="y", sensitive_features="sex", measure=1),
        lambda: eh.audit_model(model, people[["x", "sex"]], people.y, group="sex", measure=["pq"]),
        lambda: eh.compare(people.y, {"m": people.y}, sensitive_features=people.sex, measure=1),
    ]
    for call in calls:
        with pytest.raises(TypeError, match=r"no argument 'measure'\. Did you mean 'measures'"):
            call()
    with pytest.raises(TypeError, match="Did you mean 'sample_weight'"):
        eh.tally_frame(people, y_true="y", y_pred="y", sensitive_features="sex", weight="x")


@pytest.mark.parametrize("door", [eh.audit, eh.audit_model, eh.audit_frame, eh.compare])
def test_every_parameter_is_spelt_out_and_documented(door):
    parameters = inspect.signature(door).parameters
    assert not [p for p in parameters.values() if p.kind is inspect.Parameter.VAR_KEYWORD]
    for name in parameters:
        assert f"\n    {name} : " in door.__doc__
    assert parameters["random_state"].default == 0


def test_a_task_that_the_labels_contradict_is_refused(people):
    three = np.arange(len(people)) % 3
    with pytest.raises(ValueError, match="two labels; here are 3"):
        eh.audit(three, three, sensitive_features=people.sex, task="binary")
    table = people.assign(y=three)
    with pytest.raises(ValueError, match="two labels; here are 3"):
        eh.audit_frame(table, y_true="y", y_pred="y", sensitive_features="sex", task="binary")


@pytest.mark.slow
def test_a_classifier_of_many_whole_numbers_needs_no_task():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=600), "sex": rng.integers(0, 2, 600)})
    y = np.arange(600) % 30
    found = eh.audit_model(_Constant(y), X, y, group="sex", criteria=["accuracy_parity"])
    assert found.evidence.task == "multiclass"


class _Constant:
    def __init__(self, y):
        self.classes_ = np.unique(y)

    def predict(self, X):
        return np.full(len(X), self.classes_[0])
