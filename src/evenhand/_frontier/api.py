"""`frontier`: the least cost of any rule on some scores, by disparity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from evenhand._columns import Label
from evenhand._columns.encoding import check_order, finite
from evenhand._data.data import Data
from evenhand._data.doors import about_data
from evenhand._data.evidence import check_several
from evenhand._data.groups import show
from evenhand._data.models import features_for
from evenhand._data.probable import Probable
from evenhand._data.roles import OF_RANKINGS
from evenhand._errors import InputError
from evenhand._frontier import regression
from evenhand._frontier.amounts import read_amounts
from evenhand._frontier.held_out import (
    decisions_of,
    split_amounts,
    split_rows,
    with_positive_weight,
)
from evenhand._frontier.judging import Judgement, judged, with_interval
from evenhand._frontier.notes import notes
from evenhand._frontier.regression import RegressionFrontier, regression_frontier
from evenhand._frontier.result import Frontier, Point
from evenhand._kinds import check_distinct, check_kinds
from evenhand._seeds import RandomState, seed_of
from evenhand.criteria.evaluation import criterion_of
from evenhand.measures import DEFAULT_MEASURE, MeasureLike, resolve
from evenhand.mitigation.crossfit.advice import advised
from evenhand.mitigation.crossfit.calibration import believable, calibration
from evenhand.mitigation.crossfit.objective import Also, Objective, read_objective
from evenhand.mitigation.crossfit.rows import Rows, read_rows
from evenhand.mitigation.crossfit.tracing import Tracer, tracer_of
from evenhand.mitigation.optimal import Solution

NOT_TRACED = (  # roles of columns that rules on scores do not use
    *OF_RANKINGS,
    "threshold",
    "strata",
    "cluster",
    "rows",
    "rate",
    "replicate_weights",
    "replicate_method",
    "task",
)
POINTS = 20
MOST_POINTS = 10_000


@about_data("y_score", without=NOT_TRACED)
def frontier(
    data: Data,
    *,
    criterion: str = "statistical_parity",
    measure: MeasureLike | None = None,
    cost: Any = None,
    values: int | Sequence[float] = POINTS,
    test: tuple[Any, Any, Any] | None = None,
    held_out: float | None = None,
    also: Also = (),
    at_least: Mapping[str, float] | None = None,
    at_most: Mapping[str, float] | None = None,
    capacity: float | None = None,
    reference: Label = None,
    rate_error: float | Literal["cross-fit"] | None = "cross-fit",
    truth: Literal["labels", "scores"] | None = None,
    recalibrate: bool = False,
    rising: bool = True,
    group_proba: Any = None,
    confidence: float = 0.95,
    random_state: RandomState = 0,
) -> Frontier | RegressionFrontier:
    """Trace the least cost of any rule on these scores for each disparity.

    Scores are those of one of two classes, where higher means more likely; or the probability of
    every class, in the order of the labels; or a fitted classifier, which computes them from
    `data`. The decisions in use, `y_pred`, are compared with the curve; by default the class of the
    largest probability. Without `y_true`, scores must be probabilities, and are taken as correct.

    If group memberships are unknown, pass `sensitive_features=evenhand.probable(...)`. Rules then
    use scores and group probabilities, and the disparity is the largest that these allow; with
    `assuming="weighted"` people count in each group with its probability.

    Parameters
    ----------
    {data}
    criterion : str, default "statistical_parity"
        "statistical_parity", "selection_rate_ratio" (only the favorable class),
        "equal_opportunity", "predictive_equality", "equalized_odds" or "average_odds". For
        predicted amounts in place of scores, "strong_parity", "wasserstein_parity" or
        "weak_parity".
    measure : str or Measure, optional
        How unequal the groups' rates are: "mpd", the default, "gini", "pq", "shortfall", or a
        `Measure` whose bounds can be solved for. A shortfall of 0.2 is the four-fifths rule.
    cost : array-like, mapping or None, default None
        The cost of decisions, as a matrix (true class, decision), or for two classes as
        {"false_positive": …, "false_negative": …}. None: 1 for every wrong decision.
    values : int or sequence of float, default 20
        The number of points, evenly spaced in disparity, or the bounds themselves.
    test : tuple (y_true, y_score, sensitive_features), optional
        Rows for evaluating the rules; with `group_proba`, theirs comes fourth.
    held_out : float, optional
        In place of `test`: the share of the rows to leave out of the fit and evaluate on.
    also : mapping of str to float, or sequence of (criterion, measure, bound), default ()
        Further criteria with bounds that hold at every point; in a mapping, by the same measure.
    at_least : mapping of str to float, optional
        Lower bounds on every group's "selection_rate", "true_positive_rate" or
        "false_positive_rate".
    at_most : mapping of str to float, optional
        Upper bounds on them.
    capacity : int or float, optional
        The number of fitting rows to select, or if below 1 their share.
    reference : label, optional
        The group with which all others are compared, by "mpd" or "shortfall".
    rate_error : float, "cross-fit" or None, default "cross-fit"
        The largest standard error that a group's rate may have under the recommended rules. The
        smaller the group, the more of its rows are decided at random, at a fixed rate. By default
        the value that does best on rows left out of the fit, which may be none.
    truth : {"labels", "scores"}, optional
        The truth that rules are evaluated by: with two classes the labels, so that scores need not
        be calibrated; with more the scores, which must be. By default the recommended rules of two
        classes are fitted to the scores, which are less noisy, unless these are miscalibrated or
        rules fitted to labels do better on rows left out, by more than a standard error.
    recalibrate : bool, default False
        Whether scores are recalibrated by the labels of the fitting rows: each group's scores stay
        unchanged, or are mapped like those of all groups or of the group by itself, whichever is
        nearest to labels left out. With two classes the map is isotonic; with more, and with
        `group_proba`, it mixes the probabilities. Rules include the map.
    rising : bool, default True
        With two classes, where rules know the group: whether recommended rules must never prefer a
        lower score to a higher one in the same group. The summary says what that costs; the proved
        curve is that of all rules. False recommends the optimum of all rules.
    group_proba : array-like of shape (n_rows, n_groups), optional
        The probability of each group given only the features, in the order of the groups' labels.
        Rules then do not know the group when they decide, and are evaluated by the scores.
    confidence : float, default 0.95
        The confidence of intervals on test rows.
    random_state : int, Generator, RandomState or None, default 0
        The seed of the folds, of the rows held out, and of decisions drawn for intervals.

    Returns
    -------
    Frontier or RegressionFrontier
        The curve, with `to_frame`, `plot`, `summary` and `rule`.

    Raises
    ------
    InputError
        If a value cannot be used, or no rule meets the requirements; it names those in conflict.

    See Also
    --------
    evenhand.mitigation.RateConstrainedClassifier : One point of the curve, as an estimator.

    Notes
    -----
    A rule decides by group and score: any random mixture of thresholds for each group. Its rates
    and cost are linear in the decisions, so that the best rule solves a convex program, whose dual
    proves that no rule is better; see the explanation "theory". Using the group in decisions may be
    unlawful where you are, even in order to be fairer.

    Examples
    --------
    >>> import numpy as np
    >>> random = np.random.default_rng(0)
    >>> sex = random.choice(["F", "M"], 4000)
    >>> merit = random.normal(size=4000) + 0.5 * (sex == "M")
    >>> score = 1 / (1 + np.exp(-merit))
    >>> y = (random.random(4000) < score).astype(int)
    >>> curve = frontier(y, score, sensitive_features=sex)
    >>> print(curve.sentences[0])
    By statistical parity, the model's gap is 22.2 points at an accuracy of 68.6%.
    >>> even = curve.rule(value=0.05)
    >>> print(even.explain())
    Group F: select scores above 0.44.
    Group M: select scores above 0.5545; between 0.5537 and 0.5545 select 65 in 100.
    A score is the probability of 1; to select is to decide 1.

    """
    check_kinds(confidence=confidence, held_out=held_out, capacity=capacity, classes=data.classes)
    check_kinds(also=also, at_least=at_least, at_most=at_most, recalibrate=recalibrate, truth=truth)
    check_kinds(rising=rising)
    definition, kind, data = criterion_of(criterion, data), data.kind, data.in_memory()
    if isinstance(data.sensitive_features, Probable):
        whom = data.sensitive_features.read(data.data)
        data = replace(data, sensitive_features=whom)
    criterion = definition.name
    if measure is None:
        measure = DEFAULT_MEASURE if resolve(definition.measure).falls else definition.measure
    if not 0 < 1 - confidence < 1:
        raise InputError(f"confidence lies between 0 and 1, such as 0.95; it is {confidence}.")
    seed, points = seed_of(random_state), _read_values(values)
    score_of = data.score_of
    columns = _scored(data).columns(
        "y_true", "y_score", "y_pred", "sensitive_features", "sample_weight", "classes"
    )
    labels = columns.pop("classes")
    y_true, y_score, y_pred, sensitive_features, sample_weight = columns.values()
    check_distinct(
        y_true=y_true, y_pred=y_pred, y_score=y_score, sensitive_features=sensitive_features
    )
    is_unknown = isinstance(sensitive_features, Probable)
    check_order(
        **columns | ({"sensitive_features": None} if is_unknown else {}), group_proba=group_proba
    )
    if criterion in regression.CRITERIA:
        if recalibrate:
            raise InputError("Scores of classes are recalibrated; amounts are not.")
        if is_unknown:
            raise InputError("A frontier of amounts is traced where all groups are known.")
        amounts = read_amounts(y_true, y_score, sensitive_features, sample_weight)
        about_classes = {
            "cost": cost,
            "y_pred": y_pred,
            "also": also or None,
            "at_least": at_least,
            "at_most": at_most,
            "capacity": capacity,
            "reference": reference,
            "group_proba": group_proba,
            "score_of": score_of,
        }
        for name, argument in about_classes.items():
            if argument is not None:
                raise InputError(f"{name}= is about classes; {criterion} is about amounts.")
        amounts, test_amounts = split_amounts(amounts, test, held_out, seed)
        return regression_frontier(
            amounts, criterion, measure, points, test_amounts, kind, confidence, seed
        )
    if is_unknown and recalibrate:
        raise InputError("Scores are recalibrated where all groups are known.")
    rows = read_rows(
        y_true,
        y_score,
        sensitive_features,
        sample_weight=sample_weight,
        labels=labels,
        favorable=data.favorable,
        score_of=score_of,
        group_proba=group_proba,
    )
    if rows.proxy is not None and not rising:
        raise InputError("The worst case over groups cannot go with rising=False.")
    check_several(rows.groups)
    judge = _truth(truth, rows, recalibrate)
    question = read_objective(
        rows,
        criterion,
        measure,
        cost=cost,
        reference=reference,
        also=also,
        at_least=at_least,
        at_most=at_most,
        capacity=capacity,
    )
    decisions = decisions_of(y_pred, rows)
    rows, decisions = with_positive_weight(rows, decisions)
    rows, decisions, test_rows, test_decisions = split_rows(rows, decisions, test, held_out, seed)
    model = judged(rows, decisions, question)
    if np.isnan(model.value):
        raise InputError(
            f"There is nothing to compare: {criterion} needs two groups with rows of its rates, "
            f"and the groups are {[show(label) for label in rows.groups[:10]]}."
        )
    maps = calibration(rows, seed) if recalibrate else None
    believed = rows if maps is None else maps.applied(rows)
    proved = tracer_of(rows, question, judge, maps)
    truths = (judge,) if truth is not None else believable(believed, judge)
    advice = advised(rows, question, truths, rate_error, seed, maps, rising=rising)
    bounds = (
        np.linspace(0, proved.free().value, points).tolist() if isinstance(points, int) else points
    )
    solutions = list(proved.along(bounds))
    rises = tracer_of(rows, question, judge, maps, rising=rising)
    rise = _rising(rises, bounds, solutions)
    same = advice.truth == judge and not advice.has_lots
    recommended = rise if same else list(advice.along(bounds))
    traced = [
        _point(rows, test_rows, question, bound, solution, rule, confidence, seed, costs)
        for bound, solution, rule, costs in zip(
            bounds, solutions, recommended, _cost_of_rising(solutions, rise), strict=True
        )
    ]
    return Frontier(
        question,
        rows,
        tuple(traced),
        model,
        None if test_rows is None else judged(test_rows, test_decisions, question),
        notes(rows, judge, maps),
        advice,
        proved,
        kind,
    )


def _scored(data: Data) -> Data:
    """The data with the probabilities of a classifier that was passed in place of scores."""
    model = data.y_score
    if not callable(getattr(model, "predict_proba", None)):
        return data
    if data.data is None:
        raise InputError("A classifier needs data=, the rows' features, to score them.")
    X = features_for(model, data.data, data.y_true)
    return replace(data, classes=list(model.classes_), y_score=model.predict_proba(X))


def _truth(truth: str | None, rows: Rows, recalibrate: bool) -> str:
    if truth not in (None, "labels", "scores"):
        raise InputError(f"truth is 'labels' or 'scores', not {truth!r}.")
    if rows.truth is None:
        if truth == "labels":
            raise InputError("truth='labels' needs y_true.")
        if not rows.are_probabilities:
            raise InputError("Without y_true, y_score must be probabilities, from 0 to 1.")
        return "scores"
    if truth == "labels" and not rows.is_binary:
        raise InputError(
            "With more than two classes rules are judged by the scores' probabilities: leave out "
            "truth='labels'. Test rows are judged by their labels."
        )
    if rows.group_proba is not None:
        if truth == "labels" or not rows.are_probabilities:
            raise InputError(
                "Without the group, rules are judged by scores that are probabilities."
            )
        return "scores"
    if truth == "scores" and not (rows.are_probabilities or recalibrate):
        raise InputError(
            "truth='scores' takes y_score at its word, so it must hold probabilities; "
            "recalibrate=True makes them so."
        )
    return truth or ("labels" if rows.is_binary else "scores")


def _read_values(values: Any) -> int | list[float]:
    """The number of points, or the sorted bounds."""
    if isinstance(values, int | np.integer) and not isinstance(values, bool):
        if not 2 <= values <= MOST_POINTS:
            raise InputError(
                f"A curve has at least 2 points and at most {MOST_POINTS:,}; {values} was given."
            )
        return int(values)
    bounds = sorted(finite(values, "values").tolist())
    if not bounds or bounds[0] < 0:
        raise InputError(f"values are bounds on the disparity, from 0 on; not {values!r}.")
    return bounds


def _rising(
    tracer: Tracer, bounds: Sequence[float], solutions: Sequence[Solution]
) -> list[Solution]:
    """The cheapest rising rule at each bound, which may be the cheapest of all rules."""
    if not tracer.population.rising:
        return list(solutions)
    falling = [place for place, solution in enumerate(solutions) if not solution.rule.rising]
    replaced = dict(zip(falling, tracer.along([bounds[place] for place in falling]), strict=True))
    return [replaced.get(place, solution) for place, solution in enumerate(solutions)]


def _cost_of_rising(solutions: Sequence[Solution], rise: Sequence[Solution]) -> list[float]:
    """The extra cost of the cheapest rising rules over the cheapest of all, by bound."""
    extra = [rising.cost - cheapest.cost for rising, cheapest in zip(rise, solutions, strict=True)]
    return [cost if cost > 3e-6 else 0.0 for cost in extra]  # the tolerance of the solvers


def _point(
    rows: Rows,
    test_rows: Rows | None,
    question: Objective,
    bound: float,
    solution: Solution,
    recommended: Solution,
    confidence: float,
    random_state: int,
    rising_cost: float,
) -> Point:
    """The frontier at one bound, with its recommended rule evaluated on all rows."""
    chances = recommended.rule.probabilities(rows.features, rows.known)
    fitted = judged(rows, chances, question)
    if recommended is solution:
        accuracy = fitted.accuracy
    else:
        cheapest = solution.rule.probabilities(rows.features, rows.known)
        accuracy = judged(rows, cheapest, question).accuracy
    test: Judgement | None = None
    if test_rows is not None:
        chances = recommended.rule.probabilities(test_rows.features, test_rows.known)
        test = with_interval(test_rows, chances, question, confidence, random_state)
    return Point(
        bound,
        solution.value,
        solution.cost,
        accuracy,
        solution.gap,
        recommended.rule,
        fitted,
        test,
        rising_cost,
    )
