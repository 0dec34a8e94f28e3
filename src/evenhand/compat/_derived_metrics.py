"""Functions of columns that reduce a metric by group to one number."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any

from sklearn import metrics as sklearn

from evenhand._errors import InputError, refusing
from evenhand.compat._base_metrics import (
    false_negative_rate,
    false_positive_rate,
    selection_rate,
    true_negative_rate,
    true_positive_rate,
)
from evenhand.compat._metric_frame import MetricFrame

TRANSFORMS = {
    "difference": "Largest absolute difference of",
    "group_min": "Least",
    "group_max": "Largest",
    "ratio": "Least ratio of",
}


class DerivedMetric:
    """A metric by group and its transform, to be called as a function.

    Parameters
    ----------
    metric : callable
        The metric of one group.
    transform : {"difference", "ratio", "group_min", "group_max"}
        How its values by group are combined.
    sample_param_names : list of str
        Its arguments that are columns.

    """

    def __init__(
        self, metric: Callable[..., Any], transform: str, sample_param_names: list[str]
    ) -> None:
        if not callable(metric):
            raise InputError(
                "Supplied metric object must be callable", f"The metric is {metric!r}."
            )
        if "method" in signature(metric).parameters:
            raise InputError(
                "Callables which accept a 'method' argument may not be passed to "
                "make_derived_metric(). Please use functools.partial()",
                "Bind it in a function of your own: `method` is that of the transform.",
            )
        if not isinstance(transform, str) or transform not in TRANSFORMS:
            raise InputError(
                f"Transform must be one of {list(TRANSFORMS)}", f"transform is {transform!r}."
            )
        name = getattr(metric, "__name__", "metric")
        self.__name__ = f"{name}_{transform}"
        self.__qualname__ = f"{name}, {transform}"  # its label in plots
        self.__doc__ = f"{TRANSFORMS[transform]} {name} over the groups."
        self._metric, self._metric_name, self._transform = metric, name, transform
        with refusing("sample_param_names must be a list of the metric's arguments"):
            self._columns = frozenset(sample_param_names)

    def __call__(
        self, y_true: Any, y_pred: Any, *, sensitive_features: Any, **other_params: Any
    ) -> Any:
        """Compare the groups; other arguments go to the metric, and `method` to the transform."""
        columns = {name: other_params.pop(name) for name in self._columns & {*other_params}}
        method = {name: other_params.pop(name) for name in {"method"} & {*other_params}}
        bound: Any = partial(self._metric, **other_params)
        bound.__name__ = self._metric_name
        frame = MetricFrame(
            metrics=bound,
            y_true=y_true,
            y_pred=y_pred,
            sensitive_features=sensitive_features,
            sample_params=columns,
        )
        if self._transform in ("difference", "ratio"):
            return getattr(frame, self._transform)(**method)
        return getattr(frame, self._transform)()


def make_derived_metric(
    *,
    metric: Callable[..., Any],
    transform: str,
    sample_param_names: list[str] | None = None,
) -> Callable[..., Any]:
    """Make a function that reduces a metric by group to one number, such as the difference.

    Parameters
    ----------
    metric : callable
        A function of (y_true, y_pred) and more.
    transform : {"difference", "ratio", "group_min", "group_max"}
        The method of `MetricFrame` that makes one number of its values by group.
    sample_param_names : list of str, optional
        Which of its arguments are columns, one value a row; by default "sample_weight".

    Returns
    -------
    callable
        A function with the arguments of the metric, and `sensitive_features` and `method`.

    Raises
    ------
    InputError
        If the metric cannot be called or has an argument `method`, or the transform is unknown.

    Examples
    --------
    >>> from sklearn.metrics import accuracy_score
    >>> gap = make_derived_metric(metric=accuracy_score, transform="difference")
    >>> print(gap([1, 0, 1, 0], [1, 0, 1, 1], sensitive_features=["a", "a", "b", "b"]))
    0.5

    """
    names = ["sample_weight"] if sample_param_names is None else sample_param_names
    return DerivedMetric(metric, transform, names)


def _derived(metric: Callable[..., Any], transform: str) -> Callable[..., Any]:
    derived = make_derived_metric(metric=metric, transform=transform)
    derived.__qualname__ = derived.__name__
    return derived


true_positive_rate_difference = _derived(true_positive_rate, "difference")
true_positive_rate_ratio = _derived(true_positive_rate, "ratio")
true_negative_rate_difference = _derived(true_negative_rate, "difference")
true_negative_rate_ratio = _derived(true_negative_rate, "ratio")
false_positive_rate_difference = _derived(false_positive_rate, "difference")
false_positive_rate_ratio = _derived(false_positive_rate, "ratio")
false_negative_rate_difference = _derived(false_negative_rate, "difference")
false_negative_rate_ratio = _derived(false_negative_rate, "ratio")
selection_rate_difference = _derived(selection_rate, "difference")
selection_rate_ratio = _derived(selection_rate, "ratio")
accuracy_score_difference = _derived(sklearn.accuracy_score, "difference")
accuracy_score_ratio = _derived(sklearn.accuracy_score, "ratio")
accuracy_score_group_min = _derived(sklearn.accuracy_score, "group_min")
zero_one_loss_difference = _derived(sklearn.zero_one_loss, "difference")
zero_one_loss_ratio = _derived(sklearn.zero_one_loss, "ratio")
zero_one_loss_group_max = _derived(sklearn.zero_one_loss, "group_max")
balanced_accuracy_score_group_min = _derived(sklearn.balanced_accuracy_score, "group_min")
precision_score_group_min = _derived(sklearn.precision_score, "group_min")
recall_score_group_min = _derived(sklearn.recall_score, "group_min")
roc_auc_score_group_min = _derived(sklearn.roc_auc_score, "group_min")
mean_absolute_error_group_max = _derived(sklearn.mean_absolute_error, "group_max")
mean_squared_error_group_max = _derived(sklearn.mean_squared_error, "group_max")
r2_score_group_min = _derived(sklearn.r2_score, "group_min")
f1_score_group_min = _derived(sklearn.f1_score, "group_min")
log_loss_group_max = _derived(sklearn.log_loss, "group_max")
