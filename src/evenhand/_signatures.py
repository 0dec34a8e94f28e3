"""Doors that explain themselves: parameters documented once, and the nearest name to a typo."""

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
    """Refuse arguments that do not fit in words of ours, with the nearest name that does."""
    known = _names(function)

    @wraps(function)
    def checked(*args: Arguments.args, **options: Arguments.kwargs) -> Result:
        __tracebackhide__ = True  # pytest shows the caller's line
        for name in options:
            if name not in known:
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
    """What is said of an argument that a function does not have; `also` are its others' words."""
    known, title = _names(function), _title(function)
    name = next(name for name in options if name not in known)
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
    meant = {word: terms for word, terms in words.items() if word in known}
    hint = did_you_mean(name, known, meant) or f" It has {', '.join(known)}."
    return InputTypeError(f"{title} has no argument {name!r}.{hint}")


def misfit(
    function: Callable[..., Any], args: Sequence[Any], options: Mapping[str, Any]
) -> InputTypeError | None:
    """What is wrong with arguments of known names: one is missing, given twice, or too many."""
    title, parameters = _title(function), _parameters(function)
    placed = [each.name for each in parameters if each.kind is not Parameter.KEYWORD_ONLY]
    taken = placed[: len(args)]
    required = [each.name for each in parameters if each.default is Parameter.empty]
    absent = [name for name in required if name not in {*taken, *options}]
    if absent:
        return InputTypeError(f"{title} needs {listing(absent)}.")
    if twice := [name for name in taken if name in options]:
        return InputTypeError(f"{title} has {twice[0]} twice: by its place and by its name.")
    if len(args) > len(placed):
        named = [f"{each.name}=" for each in parameters if each.name not in placed]
        return InputTypeError(
            f"{title} reads only {listing([name for name in placed if name != SELF])} by place. "
            f"Name the other arguments: {', '.join(named)}."
        )
    return None


def _title(function: Callable[..., Any]) -> str:
    """What people call it: a class by its name, which calls `__init__` or `__call__`."""
    *_, owner, name = ("", *function.__qualname__.split("."))
    return owner if name.startswith("__") else name


def _names(function: Callable[..., Any]) -> list[str]:
    return [each.name for each in _parameters(function) if each.name != SELF]


def _parameters(function: Callable[..., Any]) -> list[Parameter]:
    catch_all = (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)
    return [each for each in signature(function).parameters.values() if each.kind not in catch_all]
