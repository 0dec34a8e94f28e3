"""Any criterion as a scikit-learn scorer; the group is a column of X."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenhand._columns import Label
from evenhand._data.dataframes import column_of
from evenhand._data.groups import Bins, Missing, Rare
from evenhand._data.models import scored_by
from evenhand._data.probable import Probable
from evenhand._data.roles import POLICY, ROLES
from evenhand._errors import InputError, InputTypeError
from evenhand._kinds import check_kinds
from evenhand._signatures import SETTINGS, documented, suggests_names
from evenhand.criteria import Criterion
from evenhand.criteria.evaluation import evaluate, named
from evenhand.measures import Aggregate, MeasureLike, resolve


@suggests_names
@documented(
    settings=SETTINGS,
    favorable=ROLES["favorable"].entry,
    policy="\n".join(ROLES[name].entry for name in ("bins", *POLICY)),
)
def make_scorer(
    criterion: str | Criterion,
    *,
    sensitive_features: Any = None,
    strata: Any = None,
    measure: MeasureLike | None = None,
    aggregate: str | Aggregate | None = None,
    g: str | Callable[[Any, Any], Any] | None = None,
    transform: str | None = None,
    tau: float | None = None,
    favorable: Label = None,
    classes: Sequence[Label] | None = None,
    bins: Bins | None = None,
    missing: Missing = "error",
    min_count: int = 0,
    rare: Rare = "keep",
) -> FairnessScorer:
    """A scorer for `cross_validate` and `GridSearchCV`; greater is better.

    The best score is 0; by the measure "ratio", which is taken as it is, it is 1.

    Parameters
    ----------
    criterion : str or Criterion
        A name in `CRITERIA`, such as "equalized_odds", or a criterion of your own.
    sensitive_features : str, int, list or Probable
        The column or columns of X that name the groups, by name; by position where X is an array.
        Rows differ from fold to fold, so that the columns themselves cannot be passed. Of groups
        that are not recorded, `probable(["p_F", "p_M"], ["F", "M"], assuming=…)`, which names the
        columns of their probabilities, and the assumption that gives a single value.
    strata : str, int or list, optional
        The columns of X within which "conditional_statistical_parity" compares groups.
    {settings}
    {favorable}
    classes : sequence of labels, optional
        Labels of the columns of scores; by default the estimator's `classes_`.
    {policy}

    Returns
    -------
    FairnessScorer
        A callable (estimator, X, y), whose value is minus that of the criterion; of a ratio, the
        ratio itself.

    Raises
    ------
    InputError
        If there is no such criterion, measure, aggregate, statistic or transform.

    Examples
    --------
    >>> scorer = make_scorer("equalized_odds", sensitive_features="sex", measure="mpd")
    >>> scorer
    FairnessScorer('equalized_odds', sensitive_features='sex', measure='mpd')

    """
    chosen = named(criterion)
    chosen.with_statistic(g).settings(measure, aggregate, transform, tau).resolve()
    options = {
        "measure": measure,
        "aggregate": aggregate,
        "g": g,
        "transform": transform,
        "favorable": favorable,
        "classes": classes,
        "tau": tau,
    }
    policy = {"bins": bins, "missing": missing, "min_count": min_count, "rare": rare}
    check_kinds(**policy)
    passed = {name: value for name, value in options.items() if value is not None}
    passed |= {name: value for name, value in policy.items() if value != ROLES[name].default}
    if sensitive_features is None:
        raise InputTypeError(
            "make_scorer was given no sensitive_features: pass names of columns of X, such as "
            "sensitive_features='sex'."
        )
    if isinstance(sensitive_features, Probable) and sensitive_features.assuming is None:
        raise InputError(
            "A scorer needs a single value, and groups that are not known have a range of values: "
            'name the assumption that gives one, as in probable([...], assuming="weighted").'
        )
    for word, columns in {"sensitive_features": sensitive_features, "strata": strata}.items():
        if columns is not None and not is_names(columns) and not _names_columns(columns):
            if isinstance(columns, Probable):
                raise InputTypeError(
                    "make_scorer reads probabilities from columns of X, whose rows differ from "
                    "fold to fold: name them, as in probable(['p_F', 'p_M'], groups=['F', 'M'])."
                )
            raise InputTypeError(
                "make_scorer reads the groups from columns of X, whose rows differ from fold to "
                f"fold: pass their names, such as {word}='sex', not a {type(columns).__name__}."
            )
    return FairnessScorer(chosen, sensitive_features, passed, strata)


@dataclass(frozen=True, repr=False)
class FairnessScorer:
    """A callable (estimator, X, y) that scikit-learn's model selection takes as `scoring`."""

    criterion: Criterion
    sensitive_features: Any
    options: dict[str, Any] = field(default_factory=dict)
    strata: Any = None

    def __call__(self, estimator: Any, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the criterion's value on the estimator's predictions for X; a ratio unchanged."""
        g, options = self.options.get("g"), dict(self.options)
        if self.criterion.with_statistic(g).kind.about == "scores" and not callable(g):
            options |= scored_by(estimator, X, options.get("favorable"))
            options.setdefault("classes", list(estimator.classes_))
        if self.strata is not None:
            options["strata"] = columns_from(X, self.strata)
        sign = 1 if resolve(options.get("measure") or self.criterion.measure).falls else -1
        return sign * evaluate(
            self.criterion,
            y,
            estimator.predict(X),
            sensitive_features=columns_from(X, self.sensitive_features),
            sample_weight=sample_weight,
            **options,
        )

    def __repr__(self) -> str:
        strata = {} if self.strata is None else {"strata": self.strata}
        options = {"sensitive_features": self.sensitive_features, **strata, **self.options}
        written = ", ".join(f"{name}={value!r}" for name, value in options.items())
        return f"FairnessScorer({self.criterion.name!r}, {written})"


def _names_columns(features: Any) -> bool:
    """Whether these are probable groups by names of columns."""
    return (
        isinstance(features, Probable)
        and isinstance(features.probabilities, tuple | None)
        and isinstance(features.known, str | None)
    )


def columns_from(X: Any, names: Any) -> Any:
    """Columns of X, by name or position."""
    if isinstance(names, Probable):
        return names.read(X)
    is_several = not isinstance(names, str) and isinstance(names, Sequence)
    return {str(name): column_of(X, name) for name in (names if is_several else [names])}


def is_names(features: Any, rows: int | None = None) -> bool:
    """Whether these are names or positions of columns, rather than the columns themselves.

    >>> is_names("sex"), is_names(["sex", "race"]), is_names(["F", "M", "F"], rows=3)
    (True, True, False)
    """
    name_types = str | int | np.integer
    if isinstance(features, list | tuple):
        return len(features) != rows and all(isinstance(name, name_types) for name in features)
    return isinstance(features, name_types)
