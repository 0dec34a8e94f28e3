"""fairlearn's two plots: models by two metrics, and a ROC curve for each group."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from typing import Any

import numpy as np

from evenhand._errors import InputError, require
from evenhand.compat._features import pandas

CHANCE = "Chance level (AUC = 0.50)"


class UnnamedError(InputError, IndexError):
    """A single column of predictions whose name is asked for; fairlearn raises IndexError."""


def plot_model_comparison(
    *,
    y_preds: Any,
    y_true: Any = None,
    sensitive_features: Any = None,
    x_axis_metric: Callable[..., Any] | None = None,
    y_axis_metric: Callable[..., Any] | None = None,
    ax: Any = None,
    axis_labels: bool | Sequence[str] = True,
    point_labels: bool | Sequence[Any] = False,
    point_labels_position: Sequence[float] = (0, 0),
    legend: bool = False,
    show_plot: bool = False,
    **kwargs: Any,
) -> Any:
    """Draw models as points by two metrics, such as accuracy and a difference between groups.

    Parameters
    ----------
    y_preds : array-like or dict of array-like
        The predictions of each model; of a dict, by its name.
    y_true : array-like
        The true labels or values.
    sensitive_features : array-like, dict or dataframe
        The columns that name the groups, for metrics that take `sensitive_features`.
    x_axis_metric, y_axis_metric : callable
        Functions of (y_true, y_pred), with `sensitive_features` where they take it.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on axes of their own.
    axis_labels : bool or two str, default True
        Whether to name the axes after the metrics, or their names.
    point_labels : bool or list, default False
        Whether to write the models' names next to the points, or these names.
    point_labels_position : two numbers, default (0, 0)
        How far from its point a name is, in units of the axes.
    legend : bool, default False
        Whether to draw a legend; entries come from `label` among `kwargs`.
    show_plot : bool, default False
        Whether to open a window.
    **kwargs : object
        Arguments of Matplotlib's `scatter`.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that were drawn on.

    Raises
    ------
    InputError
        If a metric is missing, lengths differ, or a label is not one.

    Examples
    --------
    >>> from sklearn.metrics import accuracy_score
    >>> from evenhand.compat.fairlearn import demographic_parity_difference
    >>> axes = plot_model_comparison(
    ...     y_preds={"one": [1, 0, 1, 1], "two": [0, 0, 1, 1]},
    ...     y_true=[1, 0, 0, 1],
    ...     sensitive_features=["a", "a", "b", "b"],
    ...     x_axis_metric=accuracy_score,
    ...     y_axis_metric=demographic_parity_difference,
    ... )
    >>> axes.get_xlabel()
    'accuracy score'

    """
    metrics = {"x_axis_metric": x_axis_metric, "y_axis_metric": y_axis_metric}
    for name, metric in metrics.items():
        if not callable(metric):
            raise InputError(f"{name} must be a function of (y_true, y_pred), not {metric!r}.")
    truth = np.asarray(y_true)
    truth = truth.ravel() if truth.ndim == 2 and truth.shape[1] == 1 else truth
    predicted, names = _predictions(y_preds, len(truth))
    labels = _point_labels(point_labels, names, len(predicted))
    if point_labels is True and not names:
        raise UnnamedError(
            "y_preds is one column of predictions, which has no name to write next to its point. "
            "Name it, as in y_preds={'model': predictions}, or pass point_labels=['model']."
        )
    axes_named = isinstance(axis_labels, list | tuple)
    if not isinstance(axis_labels, bool) and not (axes_named and len(axis_labels) == 2):
        raise InputError(f"axis_labels must be a boolean or two texts, not {axis_labels!r}.")
    for name, flag in {"legend": legend, "show_plot": show_plot}.items():
        if not isinstance(flag, bool):
            raise InputError(f"{name} must be a boolean, not {flag!r}.")
    away = _offset(point_labels_position)
    x, y = (
        [_value(metric, truth, predictions, sensitive_features) for predictions in predicted]
        for metric in metrics.values()
    )
    ax = _axes(ax)
    if axes_named or axis_labels:
        metric_names = [_name_of(metric) for metric in metrics.values()]
        across, up = axis_labels if isinstance(axis_labels, list | tuple) else metric_names
        ax.set_xlabel(across)
        ax.set_ylabel(up)
    for at, label in enumerate(labels):
        ax.text(x[at] + away[0], y[at] + away[1], label)
    ax.scatter(x, y, **kwargs)
    if legend:
        ax.legend()
    if show_plot:
        import matplotlib.pyplot as plt

        plt.show()
    return ax


def plot_roc_curve_by_group(
    y_true: Any,
    y_score: Any,
    *,
    sensitive_features: Any,
    ax: Any = None,
    plot_overall: bool = True,
    plot_chance_level: bool = True,
    pos_label: Any = None,
    title: str | None = None,
) -> Any:
    """Draw a ROC curve for each group, with its area.

    Parameters
    ----------
    y_true : array-like
        The true labels, of two classes.
    y_score : array-like
        Scores of the positive class.
    sensitive_features : array-like, dict or dataframe
        The columns that name the groups; rows without a group count in the overall curve only.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on axes of their own.
    plot_overall : bool, default True
        Whether to draw the curve of all rows too.
    plot_chance_level : bool, default True
        Whether to draw the diagonal that random scores have.
    pos_label : label, optional
        The positive label; 1 is the default where the labels are 0 and 1, or −1 and 1.
    title : str, optional
        The title of the axes.

    Returns
    -------
    matplotlib.axes.Axes
        The axes that were drawn on.

    Raises
    ------
    InputError
        If the columns differ in length.

    Examples
    --------
    >>> axes = plot_roc_curve_by_group(
    ...     [0, 1, 0, 1], [0.1, 0.4, 0.3, 0.9], sensitive_features=["a", "a", "b", "b"]
    ... )
    >>> [line.get_label() for line in axes.lines][1:]
    ['Overall (AUC = 1.00)', 'a (AUC = 1.00)', 'b (AUC = 1.00)']

    """
    from sklearn.metrics import RocCurveDisplay

    truth, scores = np.asarray(y_true), np.asarray(y_score)
    if len(truth) != len(scores):
        raise InputError(f"y_true has {len(truth)} rows, y_score has {len(scores)}.")
    group_of = _group_names(sensitive_features, len(truth))
    ax = _axes(ax)
    if plot_chance_level:
        ax.plot([0, 1], [0, 1], linestyle="--", color="0.8", label=CHANCE)
    curves = {"Overall": np.full(len(truth), True)} if plot_overall else {}
    for group in sorted(group_of.dropna().unique()):
        curves[str(group)] = (group_of == group).to_numpy(dtype=bool, na_value=False)
    for name, rows in curves.items():
        RocCurveDisplay.from_predictions(
            truth[rows], scores[rows], name=name, pos_label=pos_label, ax=ax
        )
    if title is not None:
        ax.set_title(title)
    return ax


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    require("matplotlib", purpose="A figure", extra="figures")
    import matplotlib.pyplot as plt

    return plt.subplots()[1]


def _predictions(y_preds: Any, rows: int) -> tuple[list[Any], list[Any]]:
    """The columns of predictions and the names of the models; a single column has none."""
    if isinstance(y_preds, Mapping):
        columns, names = list(y_preds.values()), list(y_preds)
    else:  # a model in each row of an array or dataframe
        values = np.asarray(y_preds) if hasattr(y_preds, "__array__") else y_preds
        is_single = not len(values) or np.ndim(values[0]) == 0
        columns = [values] if is_single else list(values)
        names = [] if is_single else list(range(len(columns)))
    for name, column in zip(names or ["the model"], columns, strict=True):
        if np.ndim(column) != 1 or len(column) != rows:
            shape = " × ".join(map(str, np.shape(column)))
            raise InputError(f"y_true has {rows} rows, the predictions of {name!r} {shape}.")
    return [np.asarray(column) for column in columns], names


def _point_labels(labels: bool | Sequence[Any], names: Sequence[Any], models: int) -> Sequence[Any]:
    if isinstance(labels, bool):
        return names if labels else []
    if not isinstance(labels, list):
        raise InputError(f"point_labels must be a boolean or a list of labels, not {labels!r}.")
    if len(labels) != models:
        raise InputError(f"There are {models} models and {len(labels)} point_labels.")
    return labels


def _offset(position: Any) -> tuple[float, float]:
    if not isinstance(position, list | tuple) or len(position) != 2:
        raise InputError(f"point_labels_position must be two numbers, not {position!r}.")
    if not all(isinstance(part, int | float) for part in position):
        raise InputError(f"point_labels_position must be two numbers, not {position!r}.")
    return position[0], position[1]


def _value(metric: Any, y_true: Any, y_pred: Any, sensitive_features: Any) -> float:
    parameters = signature(metric).parameters
    takes = "sensitive_features" in parameters or any(
        parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()
    )
    options = {"sensitive_features": sensitive_features} if takes else {}
    return float(metric(y_true, y_pred, **options))


def _name_of(metric: Any) -> str:
    name = getattr(metric, "__qualname__", "") or getattr(metric, "__name__", "") or repr(metric)
    return str(name).replace("_", " ")


def _group_names(sensitive_features: Any, rows: int) -> Any:
    """The group of each row as pandas text, of several columns joined by commas."""
    pd = pandas()
    features = sensitive_features
    if isinstance(features, dict):
        features = pd.DataFrame(features)
    frame = pd.DataFrame(features).reset_index(drop=True)
    if len(frame) != rows:
        raise InputError(f"y_true has {rows} rows, sensitive_features has {len(frame)}.")
    if frame.shape[1] == 1:
        return frame.iloc[:, 0]
    rows_of = (map(str, row) for row in frame.itertuples(index=False))
    joined = pd.Series(list(map(",".join, rows_of)), dtype=object)
    return joined.mask(frame.isna().any(axis=1), pd.NA)
