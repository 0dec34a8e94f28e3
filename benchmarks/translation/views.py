"""The names that calls are written in: Adult, two models, and the groups by sex and by race."""

from __future__ import annotations

import warnings
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import metrics
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder

import evenhand
from evenhand.datasets import load, split

Names = dict[str, Any]
TOP = {"sex": "Male", "race": "White"}
MODULES = {
    "evenhand": "evenhand",
    "fairlearn": "fairlearn.metrics",
    "AIF360": "aif360.sklearn.metrics",
    "OxonFair": "oxonfair.utils.group_metrics",
    "holisticai": "holisticai.bias.metrics",
    "FairBench": "fairbench",
    "scikit-learn": "sklearn.metrics",
    "NumPy": "numpy",
}


def signed(values: NDArray[Any]) -> NDArray[Any]:
    return values[..., 0] - values[..., 1]


def quotient(values: NDArray[Any]) -> NDArray[Any]:
    return values[..., 0] / values[..., 1]


def mean_gap(values: NDArray[Any]) -> NDArray[Any]:
    one, two = np.triu_indices(values.shape[-1], 1)
    return np.abs(values[..., one] - values[..., two]).mean(axis=-1)


def mean_ratio(values: NDArray[Any]) -> NDArray[Any]:
    one, two = np.triu_indices(values.shape[-1], 1)
    ratios = values[..., one] / values[..., two]
    return np.minimum(ratios, 1 / ratios).mean(axis=-1)


def highest(values: NDArray[Any]) -> NDArray[Any]:
    return values.max(axis=-1)


MEASURES = (signed, quotient, mean_gap, mean_ratio, highest)


def classification() -> dict[str, Names]:
    """Who earns over 50,000 dollars: truth, prediction and score of the test rows."""
    parts = split(load("adult"), seed=0).normalized()
    model = _on_columns(parts.X_train, LogisticRegression(max_iter=1000))
    model.fit(parts.X_train, parts.y_train)
    y, p = parts.y_test.to_numpy(), model.predict(parts.X_test)
    s = model.predict_proba(parts.X_test)[:, 1]
    return {by: _by(by, parts.X_test, y=y, p=p, s=s) for by in TOP}


def regression() -> dict[str, Names]:
    """Hours of work in a week, predicted from the other features."""
    parts = split(load("adult"), seed=0).parts()
    train, test = parts.X_train, parts.X_test
    others = train.drop(columns="hours_per_week")
    model = _on_columns(others, Ridge()).fit(others, train["hours_per_week"])
    y, p = test["hours_per_week"].to_numpy(float), model.predict(test)
    return {by: _by(by, test, y=y, p=p) for by in TOP}


def _on_columns(people: pd.DataFrame, model: Any) -> Pipeline:
    words = list(people.select_dtypes("category"))
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return make_pipeline(make_column_transformer((encoder, words), remainder="passthrough"), model)


def _by(by: str, people: pd.DataFrame, **columns: NDArray[Any]) -> Names:
    a, top = people[by].astype(str).to_numpy(), TOP[by]
    b = np.where(a == top, top, "Female" if by == "sex" else "All others")
    return named(a=a, b=b, top=top, low=(a != top) * 1, high=(a == top) * 1, **columns)


def named(**columns: Any) -> Names:
    """The columns, and what each tool needs to be made of them first."""
    names = dict(columns, np=np, ask=partial(_ask, columns))
    if set(np.unique(columns["y"])) == {0, 1} and "high" in columns:
        names["metric"] = _aif360(columns)
    names["who"] = run("FairBench", "Dimensions(categories @ a)", names)
    return names


def run(tool: str, code: str, names: Names) -> Any:
    """What a call gives, with the names of its library and of scikit-learn's metrics."""
    measures = {one.__name__: one for one in MEASURES}
    known = vars(metrics) | measures | vars(import_module(MODULES[tool])) | names
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return eval(code, known)  # the table shows the very text that was run


def _ask(columns: Names, criterion: str, groups: Any = None, **how: Any) -> float:
    groups = columns["a"] if groups is None else groups
    y, p = columns["y"], columns["p"]
    return evenhand.evaluate(criterion, y, p, sensitive_features=groups, **how)


def _aif360(columns: Names) -> Any:
    from aif360.datasets import BinaryLabelDataset
    from aif360.metrics import ClassificationMetric

    def rows(label: str) -> BinaryLabelDataset:
        frame = pd.DataFrame({"label": columns[label], "high": columns["high"]})
        shape = {"label_names": ["label"], "protected_attribute_names": ["high"]}
        return BinaryLabelDataset(df=frame, **shape)

    sides = {"privileged_groups": [{"high": 1}], "unprivileged_groups": [{"high": 0}]}
    return ClassificationMetric(rows("y"), rows("p"), **sides)
