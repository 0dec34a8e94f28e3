"""`frontier`: what less disparity costs, of every rule on some scores."""

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
from evenhand._frontier.held_out import amounts_apart, apart, decisions_of, weighing
from evenhand._frontier.judging import Judged, judged, with_interval
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

NOT_TRACED = (  # roles of columns that rules on scores do not know
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

    Scores are those of one of two classes, higher for those more likely to be of it; or the
    probability of every class, in the order of the labels; or a fitted classifier, which is asked
    for them with `data`. Decisions in use, `y_pred`, are placed beside the curve; by default the
    class of the largest probability. Without `y_true` the scores are believed, which must then be
    probabilities.

    Where nobody's group is known, pass `sensitive_features=evenhand.probable(...)`. Rules then go
    by scores and probabilities of groups, and the disparity is the worst that these allow; with
    `assuming="weighted"` it is that of people who count in each group with its probability.

    Parameters
    ----------
    {data}
    criterion : str, default "statistical_parity"
        "statistical_parity", "selection_rate_ratio" (the favorable class alone),
        "equal_opportunity", "predictive_equality", "equalized_odds" or "average_odds". For
        predicted amounts in place of scores, "strong_parity", "wasserstein_parity" or
        "weak_parity".
    measure : str or Measure, optional
        How unequal the groups' rates are: "mpd", the default, "gini", "pq", "shortfall", or a
        `Measure` whose bounds can be solved for. A shortfall of 0.2 is the four-fifths rule.
    cost : array-like, mapping or None, default None
        What a decision costs, as a matrix (true class, decision), or of two classes as
        {"false_positive": …, "false_negative": …}. None: 1 for every wrong decision.
    values : int or sequence of float, default 20
        How many points, evenly spaced in disparity, or at which bounds.
    test : tuple (y_true, y_score, sensitive_features), optional
        Rows on which the rules are judged; with `group_proba`, theirs comes fourth.
    held_out : float, optional
        In place of `test`: the share of the rows that are left out of the fit and judged on.
    also : mapping of str to float, or sequence of (criterion, measure, bound), default ()
        Further criteria that must hold at every point; in a mapping, by the same measure.
    at_least : mapping of str to float, optional
        Lower bounds on every group's "selection_rate", "true_positive_rate" or
        "false_positive_rate".
    at_most : mapping of str to float, optional
        Upper bounds on them.
    capacity : int or float, optional
        How many of the fitting rows are selected: a number of them, or if below 1 their share.
    reference : label, optional
        The group beside which all others are measured, by "mpd" or "shortfall".
    rate_error : float, "cross-fit" or None, default "cross-fit"
        The largest standard error that a group's rate may have under the recommended rules. The
        smaller the group, the more of its rows are decided at random, at a rate that is known. By
        default the one that does best on rows left out of the fit, which may be none.
    truth : {"labels", "scores"}, optional
        By what rules are judged: with two classes by the labels, and then scores need not be
        calibrated; with more by the scores, which must be. By default the recommended rules of two
        classes are fitted to the scores, which scatter less, unless these are off or rules fitted
        to labels do better on rows left out, by more than a standard error.
    recalibrate : bool, default False
        Whether rules believe the scores as they come, or what the labels of the fitting rows make
        of them: each group's scores stay as they are, or are mapped as those of all groups or of
        the group alone, whichever is nearest to labels left out. Of two classes the map is
        isotonic; of more, and with `group_proba`, it mixes the probabilities. Rules hold the map.
    rising : bool, default True
        Of two classes, where rules know the group: whether recommended rules may never prefer a
        lower score to a higher one of the same group. What that costs is told; the proved curve
        is that of all rules. False recommends the optimum of all rules.
    group_proba : array-like of shape (n_rows, n_groups), optional
        The probability of each group by the features alone, in the order of the groups' labels.
        Rules then do not know the group when they decide, and are judged by the scores.
    confidence : float, default 0.95
        Of the intervals on test rows.
    random_state : int, Generator, RandomState or None, default 0
        Of the folds, the rows held out, and the decisions drawn for intervals.

    Returns
    -------
    Frontier or RegressionFrontier
        The curve, with `to_frame`, `plot`, `summary` and `rule`.

    Raises
    ------
    InputError
        If a value cannot be used, or no rule meets what is required; it names what conflicts.

    See Also
    --------
    evenhand.mitigation.RateConstrainedClassifier : One point of the curve, as an estimator.

    Notes
    -----
    A rule decides by group and score: any mixture, at random, of thresholds for each group. Its
    rates and its cost are linear in the decisions, so that the best one is the solution of a
    convex program, whose dual proves that there is no better; see the explanation "theory".
    Using the group in decisions may be unlawful where you are, even in order to be fairer.

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
    asked, kind, data = criterion_of(criterion, data), data.kind, data.in_memory()
    if isinstance(data.sensitive_features, Probable):
        whom = data.sensitive_features.read(data.data)
        data = replace(data, sensitive_features=whom)
    criterion = asked.name
    if measure is None:
        measure = DEFAULT_MEASURE if resolve(asked.measure).falls else asked.measure
    if not 0 < 1 - confidence < 1:
        raise InputError(f"confidence lies between 0 and 1, such as 0.95; it is {confidence}.")
    seed, points = seed_of(random_state), _read_values(values)
    score_of = data.score_of
    known = _scored(data).columns(
        "y_true", "y_score", "y_pred", "sensitive_features", "sample_weight", "classes"
    )
    labels = known.pop("classes")
    y_true, y_score, y_pred, sensitive_features, sample_weight = known.values()
    check_distinct(
        y_true=y_true, y_pred=y_pred, y_score=y_score, sensitive_features=sensitive_features
    )
    is_unknown = isinstance(sensitive_features, Probable)
    check_order(
        **known | ({"sensitive_features": None} if is_unknown else {}), group_proba=group_proba
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
        for name, given in about_classes.items():
            if given is not None:
                raise InputError(f"{name}= is about classes; {criterion} is about amounts.")
        amounts, others = amounts_apart(amounts, test, held_out, seed)
        return regression_frontier(
            amounts, criterion, measure, points, others, kind, confidence, seed
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
    rows, decisions = weighing(rows, decisions)
    rows, decisions, other, other_decisions = apart(rows, decisions, test, held_out, seed)
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
    ours = rise if same else list(advice.along(bounds))
    traced = [
        _point(rows, other, question, bound, solution, rule, confidence, seed, costs)
        for bound, solution, rule, costs in zip(
            bounds, solutions, ours, _cost_of_rising(solutions, rise), strict=True
        )
    ]
    return Frontier(
        question,
        rows,
        tuple(traced),
        model,
        None if other is None else judged(other, other_decisions, question),
        notes(rows, judge, maps),
        advice,
        proved,
        kind,
    )


def _scored(data: Data) -> Data:
    """The data with the probabilities of a classifier that stands in place of scores."""
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
    """How many points, or at which bounds, in order."""
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
    """The cheapest rising rule at each bound: the cheapest of all, where it is one."""
    if not tracer.population.rising:
        return list(solutions)
    fall = [at for at, solution in enumerate(solutions) if not solution.rule.rising]
    found = dict(zip(fall, tracer.along([bounds[at] for at in fall]), strict=True))
    return [found.get(at, solution) for at, solution in enumerate(solutions)]


def _cost_of_rising(solutions: Sequence[Solution], rise: Sequence[Solution]) -> list[float]:
    """How much more the cheapest rising rules cost than the cheapest of all, by bound."""
    more = [own.cost - least.cost for own, least in zip(rise, solutions, strict=True)]
    return [cost if cost > 3e-6 else 0.0 for cost in more]  # what solvers may be off by


def _point(
    rows: Rows,
    other: Rows | None,
    question: Objective,
    bound: float,
    solution: Solution,
    ours: Solution,
    confidence: float,
    random_state: int,
    rising_cost: float,
) -> Point:
    chances = ours.rule.probabilities(rows.features, rows.known)
    fitted = judged(rows, chances, question)
    if ours is solution:
        accuracy = fitted.accuracy
    else:
        least = solution.rule.probabilities(rows.features, rows.known)
        accuracy = judged(rows, least, question).accuracy
    test: Judged | None = None
    if other is not None:
        chances = ours.rule.probabilities(other.features, other.known)
        test = with_interval(other, chances, question, confidence, random_state)
    return Point(
        bound,
        solution.value,
        solution.cost,
        accuracy,
        solution.gap,
        ours.rule,
        fitted,
        test,
        rising_cost,
    )
