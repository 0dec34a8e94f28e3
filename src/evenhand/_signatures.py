"""Shared argument documentation and typo hints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, signature
from textwrap import indent
from typing import Any, ParamSpec, TypeVar

from evenhand._errors import InputTypeError
from evenhand._words import did_you_mean, listing

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Function = TypeVar("Function", bound=Callable[..., Any])

SETTINGS = """\
measure : str or callable, optional
    How unequal: "mpd" (the largest difference), "gini", "pq", "shortfall", or a function of the
    last axis; or how equal: "ratio" (the smallest over the largest). By default the criterion's
    own: "mpd", or "ratio" for "selection_rate_ratio".
aggregate : str or callable, optional
    How classes are combined: "worst" (the default), "mean" or "total", or a function of the
    last axis. Over cut points of a distribution, "worst" (the supremum) or "integral".
g : str or callable, optional
    The statistic of "performance_parity", a name in `STATISTICS` such as "f1" or "mse", or a
    function (y_true, y_pred) that gives a loss for each row.
transform : {"exp", "raw"}, optional
    "exp" exponentiates the statistic before a relative measure, "raw" never does; by default
    the criterion's own habit.
tau : float, optional
    For "strong_parity": keep to cut points whose pooled F is at least tau."""


REFERENCE = """\
to : {"overall", "best"} or label of a group, optional
    Compare every group with everyone together, with the best group or with the group of this
    label, as `method="to_overall"` of fairlearn does; by default groups are compared with each
    other. By mpd, the largest difference from the reference; by ratio and shortfall, the farthest
    from it in either direction. With the best group that is what groups show among each other."""


SYNONYMS = {  # what other tools, and our command line, call an argument
    "y_true": ("target", "targets", "truth", "actual", "labels", "ground_truth"),
    "y_pred": ("prediction", "predictions", "predicted", "decision", "decisions", "y_hat", "yhat"),
    "sensitive_features": (
        "group",
        "groups",
        "sensitive",
        "protected",
        "sensitive_feature",
        "attribute",
        "attributes",
    ),
    "y_score": ("probability", "probabilities", "proba", "y_prob", "scores"),
    "sample_weight": ("weight", "weights"),
    "cluster": ("clusters",),
    "favorable": ("positive", "positive_label", "favourable", "pos_label"),
    "group": ("sensitive_features", "sensitive_feature", "sensitive", "protected"),
    "fail_if": ("gate", "gates"),
    "at": ("day", "date", "when"),
}


FEATURES = ("sensitive_features",)
SELF = "self"


def documented(**blocks: str) -> Callable[[Function], Function]:
    """Replace {name} on a line of its own in a docstring by a block of text, indented alike.

    >>> @documented(settings="tau : float")
    ... def ask(tau):
    ...     '''Ask.
    ...
    ...     {settings}
    ...     '''
    >>> print(ask.__doc__.splitlines()[-2].strip())
    tau : float
    """

    def fill(function: Function) -> Function:
        lines = (function.__doc__ or "").split("\n")
        for at, line in enumerate(lines):
            block = blocks.get(line.strip()[1:-1]) if line.strip().startswith("{") else None
            if block is not None:
                lines[at] = indent(block, line[: line.index("{")])
        function.__doc__ = "\n".join(lines)
        return function

    return fill


def suggests_names(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Refuse arguments that do not fit with our errors, which suggest the nearest name."""
    names = _names(function)

    @wraps(function)
    def checked(*args: Arguments.args, **options: Arguments.kwargs) -> Result:
        __tracebackhide__ = True  # pytest shows the caller's line
        for name in options:
            if name not in names:
                raise misspelt(function, options)
        try:
            return function(*args, **options)
        except TypeError:
            problem = misfit(function, args, options)
            if problem is None:  # it was raised inside
                raise
        raise problem

    return checked


def misspelt(
    function: Callable[..., Any],
    options: Mapping[str, Any],
    also: Mapping[str, tuple[str, ...]] | None = None,
) -> InputTypeError:
    """The error for an unknown argument; `also` has further synonyms of its arguments."""
    names, title = _names(function), _title(function)
    name = next(name for name in options if name not in names)
    if name == "to":
        return InputTypeError(
            f"{title} compares groups with each other; a reference, to=, is for "
            "evaluate, interval and contrasts, and for the criteria themselves."
        )
    if title == "fit" and name in SYNONYMS["sensitive_features"] + FEATURES:
        return InputTypeError(
            f"fit has no argument {name!r}: the group is one or more columns of X, named when the "
            'estimator is made, such as group="sex". Add the column to X and name it there.'
        )
    words = {**SYNONYMS, **(also or {})}
    meant = {word: terms for word, terms in words.items() if word in names}
    hint = did_you_mean(name, names, meant) or f" It has {', '.join(names)}."
    return InputTypeError(f"{title} has no argument {name!r}.{hint}")


def misfit(
    function: Callable[..., Any], args: Sequence[Any], options: Mapping[str, Any]
) -> InputTypeError | None:
    """The error for arguments that are missing, given twice, or too many."""
    title, parameters = _title(function), _parameters(function)
    placed = [
        parameter.name for parameter in parameters if parameter.kind is not Parameter.KEYWORD_ONLY
    ]
    passed = placed[: len(args)]
    required = [parameter.name for parameter in parameters if parameter.default is Parameter.empty]
    absent = [name for name in required if name not in {*passed, *options}]
    if absent:
        return InputTypeError(f"{title} needs {listing(absent)}.")
    if duplicates := [name for name in passed if name in options]:
        return InputTypeError(f"{title} has {duplicates[0]} twice: by its place and by its name.")
    if len(args) > len(placed):
        keywords = [
            f"{parameter.name}=" for parameter in parameters if parameter.name not in placed
        ]
        return InputTypeError(
            f"{title} reads only {listing([name for name in placed if name != SELF])} by place. "
            f"Name the other arguments: {', '.join(keywords)}."
        )
    return None


def _title(function: Callable[..., Any]) -> str:
    """The name of a function for users: a class's own for its `__init__` or `__call__`."""
    *_, owner, name = ("", *function.__qualname__.split("."))
    return owner if name.startswith("__") else name


def _names(function: Callable[..., Any]) -> list[str]:
    return [parameter.name for parameter in _parameters(function) if parameter.name != SELF]


def _parameters(function: Callable[..., Any]) -> list[Parameter]:
    catch_all = (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)
    return [
        parameter
        for parameter in signature(function).parameters.values()
        if parameter.kind not in catch_all
    ]
