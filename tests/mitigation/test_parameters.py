"""Parameters: one name for one thing, and no other is taken."""

import pickle
import re
from inspect import Parameter, signature
from typing import Literal

import numpy as np
import pytest
from sklearn.base import clone

import evenhand.mitigation as mitigation
from evenhand import InputError
from evenhand.mitigation import METHODS, GivenScores

pytestmark = pytest.mark.usefixtures("few_folds")

ESTIMATORS = sorted({method.estimator for method in METHODS.values()}, key=lambda one: one.__name__)
BASES = [mitigation.GroupClassifier, mitigation.GroupRegressor]
DOCUMENTED = [*ESTIMATORS, *BASES, GivenScores, mitigation.GivenProbabilities]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: one.__name__)
def test_a_misspelt_parameter_is_refused_with_the_nearest(estimator):
    with pytest.raises(TypeError, match=r"no argument 'see_group'\. Did you mean 'sees_group'\?"):
        estimator(see_group=False)
    with pytest.raises(ValueError, match=r"no argument 'see_group'\. Did you mean 'sees_group'\?"):
        estimator().set_params(see_group=False)


def test_a_name_near_to_none_is_answered_with_all():
    with pytest.raises(TypeError, match=r"no argument 'xyzzy'\. It has column\."):
        GivenScores("score", xyzzy=1)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: one.__name__)
def test_the_signature_stays_as_written(estimator):
    model = estimator(group="sex")
    assert list(signature(estimator).parameters)[:2] == ["estimator", "group"]
    assert set(signature(estimator).parameters) == set(model.get_params(deep=False))
    for copy in (clone(model), pickle.loads(pickle.dumps(model))):
        assert copy.get_params() == model.get_params()


def entries(section, docs):
    """The entries of a section, each with the names it is about."""
    text = docs.partition(f"{section}\n{'-' * len(section)}\n")[2].partition("\n\n")[0]
    return {entry.partition(" :")[0]: entry for entry in re.split(r"\n(?=\S)", text)}


@pytest.mark.parametrize("estimator", DOCUMENTED, ids=lambda one: one.__name__)
def test_every_parameter_is_documented_in_its_place_with_its_default(estimator):
    written = entries("Parameters", estimator.__doc__)
    parameters = signature(estimator).parameters
    assert ", ".join(written) == ", ".join(parameters)
    for names, entry in written.items():
        default = parameters[names.partition(",")[0]].default
        if default is not Parameter.empty:
            shown = f'"{default}"' if isinstance(default, str) else f"{default}"
            assert f"default {shown.replace('-06', '-6')}" in entry.partition("\n")[0]


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: one.__name__)
def test_every_attribute_of_a_fit_is_documented(estimator):
    random = np.random.default_rng(0)
    X = np.column_stack([np.arange(60) % 2, random.normal(size=60)])
    model = estimator(group=0).fit(X, (X.sum(axis=1) + random.normal(size=60) > 0.5).astype(int))
    fitted = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    listed = ", ".join(entries("Attributes", estimator.__doc__)).split(", ")
    assert fitted - {"n_features_in_"} <= set(listed)
    assert "References" in estimator.__doc__ or "Notes" in estimator.__doc__


def test_a_subclass_is_documented_like_its_parent():
    class Own(mitigation.LinearPostClassifier):
        """One's own.

        Parameters
        ----------
        epsilon : float, default 0.01
            As it should be.

        """

    assert list(entries("Parameters", Own.__doc__)) == list(
        entries("Parameters", mitigation.LinearPostClassifier.__doc__)
    )
    assert "As it should be." in Own.__doc__


def test_a_method_of_one_s_own_declares_its_parameters_as_fields():
    class Own(mitigation.LinearPostClassifier):
        """One's own."""

        epsilon: float = 0.2
        flavor: Literal["sweet", "sour"] = "sweet"

    model = clone(Own(group=0, flavor="sour"))
    assert (model.flavor, model.epsilon, model.get_params()["flavor"]) == ("sour", 0.2, "sour")
    with pytest.raises(InputError, match="flavor of Own must be 'sweet' or 'sour', not 'salt'"):
        model.set_params(flavor="salt").fit(np.eye(4), [0, 1, 0, 1])
    with pytest.raises(InputError, match=r"no argument 'flavr'\. Did you mean 'flavor'"):
        model.set_params(flavr="salt")


def test_parameters_of_the_model_underneath_are_its_own_affair():
    from sklearn.linear_model import LogisticRegression

    model = mitigation.LinearPostClassifier(LogisticRegression(), group="sex")
    assert model.set_params(estimator__C=2.0).estimator.C == 2.0
    with pytest.raises(ValueError, match="Invalid parameter 'c'"):
        model.set_params(estimator__c=2.0)
