"""Base models: any scikit-learn estimator, by import path, class or value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args

from evenhand._errors import InputError, InputTypeError
from evenhand.benchmark.design.fingerprints import (
    described,
    fingerprint,
    source_fingerprint,
    without_versions,
)
from evenhand.benchmark.design.importing import imported
from evenhand.datasets.task import Kind

PREPARATION = "evenhand.benchmark.running.preparation"

Encoding = Literal["auto", "onehot", "dense", "ordinal", "none"]
Estimator = str | type[Any] | Callable[..., Any] | Any


@dataclass(frozen=True)
class Base:
    """A base model by name: an estimator for each kind of task, and how it reads the columns.

    Parameters
    ----------
    name : str
        What it is called in results and figures.
    estimators : str, class or estimator, or mapping of str to these
        An estimator as import path `package.module:Class`, as class, or as a value with its
        parameters, such as a pipeline. It is asked whether it is a classifier or a regressor; a
        mapping names one for "classification" and one for "regression". Problems of a kind that
        is not there are skipped.
    encoding : {"auto", "onehot", "dense", "ordinal", "none"}, default "auto"
        How columns of text become numbers: 0/1 columns in a sparse matrix ("onehot") or in an array
        ("dense"), the number of the category ("ordinal"), or not at all ("none": a dataframe with
        categorical columns). By default "ordinal" for an estimator that has a parameter
        `categorical_features`, and 0/1 columns for others, sparse if they take it.
    settings : mapping, default {}
        Parameters of the estimator.
    tune : mapping of str to sequence, default {}
        Values to choose from for some of its parameters, such as `{"C": [0.1, 1, 10]}`. On every
        split scikit-learn's `GridSearchCV` chooses, by five folds of the rows the model is fitted
        to, what predicts best (log loss or squared error); all methods on the split then use it.
    is_truth : bool, default False
        The true targets stand in for a model: published code of some regression methods adjusts
        them, also those of the test rows.
    is_blind : bool, default False
        Nobody knows the group at decision: the sensitive columns are hidden from the model, and
        methods that need the group then are skipped.

    Notes
    -----
    Every `random_state` is set from the split, and `n_jobs` is 1, since jobs run side by side;
    settings that name them prevail.

    Examples
    --------
    >>> path = "sklearn.ensemble:RandomForestClassifier"
    >>> forest = Base("forest", path, settings={"max_depth": 3})
    >>> forest.kinds
    ('classification',)
    >>> forest.estimator("classification", seed=7)
    RandomForestClassifier(max_depth=3, random_state=7)

    """

    name: str
    estimators: Mapping[Kind, Estimator] | Estimator
    encoding: Encoding = "auto"
    settings: Mapping[str, Any] = field(default_factory=dict)
    tune: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    is_truth: bool = False
    is_blind: bool = False

    def __post_init__(self) -> None:
        if self.encoding not in get_args(Encoding):
            raise InputError(
                f"The base model {self.name!r} has the encoding {self.encoding!r}; there are "
                f"{', '.join(get_args(Encoding))}."
            )
        if not isinstance(self.tune, Mapping):
            raise InputError(
                f"The base model {self.name!r} is to tune {self.tune!r}; give a table of "
                "parameters with the values to choose from, such as {'C': [0.1, 1, 10]}."
            )
        for name, values in self.tune.items():
            if isinstance(values, str) or not isinstance(values, Sequence) or not values:
                raise InputError(
                    f"The base model {self.name!r} is to tune {name} over {values!r}; give a list "
                    "of values to choose from."
                )
            if name in self.settings:
                raise InputError(
                    f"The base model {self.name!r} has {name} among its settings and among what "
                    "to tune; give it once."
                )

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of targets it can predict."""
        return tuple(self._by_kind)

    def estimator(self, kind: Kind, seed: int = 0) -> Any:
        """A new estimator, not fitted."""
        model = self._built(self._by_kind[kind])
        parameters = model.get_params()
        threads = "n_jobs" in parameters and not type(model).__module__.startswith("sklearn.")
        defaults = {"n_jobs": 1} if threads else {}  # scikit-learn's own have one by default
        defaults |= {name: seed for name in sorted(parameters) if _is_seed(name)}
        return model.set_params(**{k: v for k, v in defaults.items() if k not in self.settings})

    def takes_weights(self, kind: Kind) -> bool:
        """Whether rows may have weights, as several methods need it."""
        from evenhand.mitigation.base_models import weight_parameter

        if self.is_truth:
            return False
        try:
            weight_parameter(self.estimator(kind))
        except InputError:
            return False
        return True

    def module(self, kind: Kind) -> str:
        """The module that defines its estimator."""
        return type(self._built(self._by_kind[kind])).__module__

    @cached_property
    def fingerprint(self) -> str:
        """What its scores depend on, for given rows: settings, your code, ours, and versions."""
        return fingerprint(self._described)

    @cached_property
    def code(self) -> str:
        """The same without the versions of other packages."""
        return fingerprint(without_versions(self._described))

    @cached_property
    def _described(self) -> list[Any]:
        by_kind = {} if self.is_truth else self._by_kind
        models = {kind: self._resolved(estimator) for kind, estimator in by_kind.items()}
        value = [described(models), self.encoding, described(dict(self.settings)), self.is_truth]
        extras = ["blind"] if self.is_blind else []
        extras += [described(dict(self.tune))] if self.tune else []
        return [value, source_fingerprint(PREPARATION), *extras]

    @cached_property
    def _by_kind(self) -> dict[Kind, Estimator]:
        if isinstance(self.estimators, Mapping):
            return dict(self.estimators)
        return dict.fromkeys(_kinds(self._built(self.estimators)), self.estimators)

    def _built(self, estimator: Estimator) -> Any:
        from sklearn.base import clone

        model = self._resolved(estimator)
        try:
            if isinstance(model, type) or not hasattr(model, "get_params"):
                return model(**self.settings)
            return clone(model).set_params(**self.settings)
        except (TypeError, ValueError) as failure:
            raise InputError(
                f"The base model {self.name!r} cannot be made with the settings "
                f"{dict(self.settings)}: {failure}"
            ) from failure

    def _resolved(self, estimator: Estimator) -> Any:
        model = imported(estimator) if isinstance(estimator, str) else estimator
        if not hasattr(model, "get_params") and not callable(model):
            raise InputTypeError(
                f"The base model {self.name!r} is a {type(model).__name__}; give a scikit-learn "
                "estimator, its class, or package.module:Class."
            )
        return model


def _kinds(model: Any) -> tuple[Kind, ...]:
    """The kinds of targets an estimator predicts; both, unless it says which."""
    from sklearn.base import is_classifier, is_regressor

    if not hasattr(model, "get_params"):
        raise InputTypeError(
            f"{type(model).__name__} has no get_params; derive it from sklearn.base.BaseEstimator."
        )
    if is_classifier(model):
        return ("classification",)
    return ("regression",) if is_regressor(model) else ("classification", "regression")


def _is_seed(parameter: str) -> bool:
    return parameter == "random_state" or parameter.endswith("__random_state")


BASES: dict[str, Base] = {
    base.name: base
    for base in (
        Base(
            "logistic",
            {"classification": "sklearn.linear_model:LogisticRegression"},
            encoding="onehot",
            settings={"max_iter": 1000},
        ),
        Base("linear", {"regression": "sklearn.linear_model:LinearRegression"}, encoding="dense"),
        Base(
            "boosting",
            {
                "classification": "sklearn.ensemble:HistGradientBoostingClassifier",
                "regression": "sklearn.ensemble:HistGradientBoostingRegressor",
            },
            encoding="ordinal",
        ),
        Base("targets", {"regression": "none"}, is_truth=True),
    )
}
