"""Reduction (Agarwal et al. 2018): a random mixture of classifiers fitted to changed labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.optimize import linprog

from evenhand.mitigation._fields import Count, NonNegative, Positive, Unseen
from evenhand.mitigation.base_models import Refitting
from evenhand.mitigation.estimators import GroupClassifier, Quantity
from evenhand.mitigation.group_reader import Codes, Floats, Rows, Stage
from evenhand.mitigation.groups import cell_masses, empty_cells

Fit = Callable[[Floats, Any], tuple[Any, Floats]]

EVENTS = {  # which labels, 0 and 1, each event comprises
    "statistical_parity": np.array([[1.0, 1.0]]),
    "equalized_odds": np.array([[1.0, 0.0], [0.0, 1.0]]),
    "equal_opportunity": np.array([[0.0, 1.0]]),
    "predictive_equality": np.array([[1.0, 0.0]]),
}
ABOUT_ONE_CLASS = ("equal_opportunity", "predictive_equality")
LEAST_ROUNDS = 5
PROBES = (1.0, 2.0, 5.0, 10.0)
CHECK_EVERY = 1.6  # times as late as the last check: is the gap still shrinking?
SHRINK = 0.8
PRECISION = 1e-8


class ReductionClassifier(GroupClassifier):
    """A random mixture of base models, fitted to labels and weights that trade error for parity.

    For two classes, any number of groups, and any base model that takes sample weights; the
    group is not needed to predict. `predict_proba` is the chance of each class in the lottery.

    Parameters
    ----------
    criterion : str, default "statistical_parity"
        In which event a group may not be accepted more or less often than everyone:
        "statistical_parity", "equalized_odds", "equal_opportunity" or "predictive_equality".
    softness : float, default 0.01
        Not a bound, but how soft the bound is: excess over `epsilon` is penalized by at most
        1/softness. Below about 1 it changes nothing; above about 50 there is no constraint left.
        This is what the paper varies, and what fairlearn calls eps.
    epsilon : float, default 0.01
        How far acceptance in a group may differ from that of everyone; what fairlearn calls
        difference_bound.
    max_iter : int, default 50
        The most rounds of the game; each is some three to eight fits of the base model.

    Attributes
    ----------
    estimators_ : list of estimators
        The models of the lottery, which predict 1 for the favorable label.
    chances_ : ndarray of shape (n_estimators,)
        The chance of each.
    favorable_ : int
        The place of the favorable label in `classes_`.
    gap_ : float
        How far from a saddle point the lottery is, and so from the best one, at most.
    n_iter_, n_fits_ : int
        Rounds of the game, and fits of the base model.

    References
    ----------
    Agarwal, Beygelzimer, Dudík, Langford and Wallach (2018), "A reductions approach to fair
    classification", ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from evenhand.mitigation import ReductionClassifier
    >>> random = np.random.default_rng(0)
    >>> group = random.integers(0, 2, 500)
    >>> X = np.column_stack([group, random.normal(group)])
    >>> y = (X[:, 1] + random.normal(size=500) > 0.5).astype(int)
    >>> fair = ReductionClassifier(group=0, epsilon=0.02).fit(X, y)
    >>> chance = fair.predict_proba(X)[:, 1]
    >>> [float(chance[group == a].mean().round(2)) for a in (0, 1)]
    [0.46, 0.49]

    """

    criteria: ClassVar[tuple[str, ...]] = tuple(EVENTS)
    stage: ClassVar[Stage] = "in"
    hyperparameter: ClassVar[str | None] = "softness"
    _weighs: ClassVar[bool] = True
    _needs_two: ClassVar[tuple[Quantity, ...]] = ("classes",)
    _reads_group: ClassVar[bool] = False
    criterion: str = "statistical_parity"
    softness: Positive = 0.01
    epsilon: NonNegative = 0.01
    favorable: Any = None
    max_iter: Count = 50
    prefit: bool = field(default=False, init=False)
    unseen: Unseen = field(default="error", init=False)

    def _fit(self, rows: Rows) -> None:
        events = EVENTS[self._require_criterion()]
        self.favorable_ = self._favorable_place(matters=self._asked in ABOUT_ONE_CLASS)
        rows = replace(rows, y=(rows.y == self.favorable_).astype(np.intp))
        groups = len(self.sensitive_.labels)
        mass = cell_masses(rows.y, rows.group, 2, groups, rows.sample_weight)
        learner = Learner.prepare(self.estimator, self._features(rows.X), rows, mass)
        problem = ReductionProblem(mass / mass.sum(), events, self.epsilon)
        game = ReductionGame(problem, learner.answer, budget=1 / self.softness)
        lottery = game.play(self.max_iter, mass.sum())
        used = np.flatnonzero(lottery.chances > 0)
        self.chances_ = lottery.chances[used] / lottery.chances[used].sum()
        self.estimators_ = [learner.refitting.assembled(game.models[number]) for number in used]
        self.gap_, self.n_iter_, self.n_fits_ = lottery.gap, game.rounds, game.fits
        labels = self.classes_[[1 - self.favorable_, self.favorable_]]
        self.notes_ = empty_cells(mass, labels, self.sensitive_.labels, self._asked)
        excess = float(problem.excess(game.accepted[0]).max())  # of the model without a price
        if excess <= 0:
            quantity = f"the largest difference between a group and everyone ({self._asked})"
            self._note_unbound(quantity, excess + self.epsilon)

    def _decide(self, X: Any, group: Codes) -> Floats:  # noqa: ARG002
        features = self._features(X)
        votes = np.array([model.predict(features) for model in self.estimators_])
        chance = np.clip(self.chances_ @ votes, 0, 1)
        return np.column_stack([1 - chance, chance][:: 1 if self.favorable_ else -1])


@dataclass(frozen=True, eq=False)
class ReductionProblem:
    """Minimize the error such that in every event each group is accepted as often as everyone.

    `shares` holds P(y, a), and `events` which labels each event comprises. A classifier h is the
    table `accepted` of P(h = 1, y, a), and so is a lottery over classifiers: all is linear in it.
    The constraints are acceptance in a group minus that in the event, and its negative, each at
    most `bound`; a group without rows in an event is under no constraint there.
    """

    shares: Floats
    events: Floats
    bound: float

    @property
    def cells(self) -> Floats:
        """P(event, group)."""
        return np.asarray(self.events @ self.shares)

    @property
    def constraints(self) -> int:
        """The number of constraints."""
        return 2 * int(np.count_nonzero(self.cells))

    def error(self, accepted: Floats) -> Floats:
        """P(h ≠ y)."""
        rejected = self.shares[1] - accepted[..., 1, :]
        return np.asarray(accepted[..., 0, :].sum(axis=-1) + rejected.sum(axis=-1))

    def excess(self, accepted: Floats) -> Floats:
        """The excess over each constraint."""
        within, cells = self.events @ accepted, self.cells
        everyone = within.sum(axis=-1, keepdims=True) / cells.sum(axis=-1, keepdims=True)
        gap = (within / np.where(cells > 0, cells, 1) - everyone)[..., cells > 0]
        return np.concatenate([gap, -gap], axis=-1) - self.bound

    def costs(self, multipliers: Floats) -> Floats:
        """The cost of accepting a unit of each (label, group): error plus multipliers × excess."""
        cells = self.cells
        net = np.zeros(cells.shape)
        net[cells > 0] = np.subtract(*np.split(multipliers, 2))
        everyone = net.sum(axis=-1, keepdims=True) / cells.sum(axis=-1, keepdims=True)
        price = net / np.where(cells > 0, cells, 1) - everyone
        return np.asarray(np.array([[1.0], [-1.0]]) + self.events.T @ price)

    def netted(self, multipliers: Floats) -> Floats:
        """The least multipliers with the same costs: one of each opposite pair is 0."""
        net: Any = np.subtract(*np.split(multipliers, 2))
        return np.concatenate([np.maximum(net, 0), np.maximum(-net, 0)])


class Lottery(NamedTuple):
    """Chances of the classifiers, and how far they are from a saddle point."""

    chances: Floats
    gap: float


class ReductionGame:
    """The classifiers so far, as tables of acceptances, and the search for more.

    `fit` turns costs of accepting each (label, group), and a model to start from, into a model
    and who it accepts.
    """

    def __init__(self, problem: ReductionProblem, fit: Fit, budget: float) -> None:
        self.problem, self.fit, self.budget = problem, fit, budget
        self.models: list[Any] = []
        self.accepted: list[Floats] = []
        self.tolerance = 0.0
        self.rounds = 0
        self._tried: list[tuple[Floats, Any]] = []
        self._program = (0, Lottery(np.ones(1), np.inf))

    def play(self, rounds: int, rows: float) -> Lottery:
        """The best lottery of this many rounds; it stops when the gap is below sampling error."""
        theta, total = np.zeros((2, self.problem.constraints))
        history: list[int] = []
        lotteries: list[Lottery] = []
        pace = Pace(2 / self.budget)
        for round_ in range(rounds):
            self.rounds = round_ + 1
            multipliers = self.budget * _shares(theta)
            total += multipliers
            history.append(self.respond(multipliers))
            self.tolerance = self.tolerance or self._sampling_error(rows)
            averaged = self._judged(np.bincount(history) / len(history), total / len(history))
            lotteries.append(min(self._solved() if round_ else averaged, averaged, key=_gap))
            if lotteries[-1].gap < self.tolerance and round_ >= LEAST_ROUNDS:
                break
            pace.check(round_, averaged.gap)
            theta += pace.step * self.problem.excess(self.accepted[history[-1]])
        lowest = min(map(_gap, lotteries))
        return [lottery for lottery in lotteries if lottery.gap <= lowest + PRECISION][-1]

    def respond(self, multipliers: Floats) -> int:
        """The number of the classifier with the least error plus multipliers × excess."""
        costs = self.problem.costs(multipliers)
        values = np.array([np.inf, *((accepted * costs).sum() for accepted in self.accepted)])
        best = int(np.argmin(values)) - 1
        stakes = (abs(costs) * self.problem.shares).sum()
        weights = costs * self.problem.shares / max(stakes, PRECISION)
        distance, start = self._nearest(weights)
        if distance < PRECISION or stakes < PRECISION:  # answered before, or any answer will do
            return best
        model, accepted = self.fit(costs, start)
        self._tried.append((weights, model))
        if (accepted * costs).sum() >= values[best + 1] - PRECISION:
            return best
        self.models.append(model)
        self.accepted.append(accepted)
        return len(self.models) - 1

    @property
    def fits(self) -> int:
        """The number of fits of the base model."""
        return len(self._tried)

    def _nearest(self, weights: Floats) -> tuple[float, Any]:
        """The distance of the most similar weights tried before, and their model."""
        distances = [abs(weights - earlier).sum() for earlier, _ in self._tried]
        nearest = int(np.argmin(distances)) if distances else 0
        return (distances[nearest], self._tried[nearest][1]) if distances else (np.inf, None)

    def _sampling_error(self, rows: float) -> float:
        error = float(self.problem.error(self.accepted[0]))
        return 0.5 * float(np.sqrt(error * (1 - error) / rows))

    def _solved(self) -> Lottery:
        """The best lottery over the classifiers so far, by a linear program and its dual."""
        if self._program[0] == len(self.models):
            return self._program[1]
        accepted = np.array(self.accepted)
        count, slack = len(accepted), np.full((self.problem.constraints, 1), -1.0)
        program = linprog(
            np.append(self.problem.error(accepted), self.budget),
            A_ub=np.hstack([self.problem.excess(accepted).T, slack]),
            b_ub=np.zeros(len(slack)),
            A_eq=np.append(np.ones(count), 0.0)[None],
            b_eq=1.0,
            method="highs-ds",
        )
        self._program = (count, self._judged(program.x[:-1], -program.ineqlin.marginals))
        return self._program[1]

    def _judged(self, chances: Floats, multipliers: Floats) -> Lottery:
        """The duality gap of a lottery; probing stops once it exceeds the tolerance."""
        accepted = np.tensordot(chances, np.array(self.accepted[: len(chances)]), axes=1)
        net = self.problem.netted(multipliers)
        excess = self.problem.excess(accepted)
        error = self.problem.error(accepted)
        value = error + net @ excess
        highest = error + self.budget * max(excess.max(), 0.0)
        gap = highest - value
        for probe in PROBES:
            alternative = self.accepted[self.respond(probe * multipliers)]
            gap = max(
                gap,
                value - self.problem.error(alternative) - net @ self.problem.excess(alternative),
            )
            if gap > self.tolerance + PRECISION:
                break
        return Lottery(chances, float(gap))


class Pace:
    """The step of the multipliers, which shrinks when the gap no longer does."""

    def __init__(self, step: float) -> None:
        self.step = step
        self._checked, self._gap, self._best = float(LEAST_ROUNDS), np.inf, np.inf

    def check(self, round_: int, gap: float) -> None:
        """Compare the best gap so far with that of the last check, at intervals."""
        self._best = min(self._best, gap)
        if round_ < CHECK_EVERY * self._checked:
            return
        if self._best > SHRINK * self._gap:
            self.step *= SHRINK
        self._checked, self._gap = round_, self._best


def _shares(theta: Floats) -> Floats:
    """The shares exp θ / (1 + Σ exp θ), for θ however large."""
    top = max(theta.max(), 0.0)
    weights = np.exp(theta - top)
    return np.asarray(weights / (np.exp(-top) + weights.sum()))


def _gap(lottery: Lottery) -> float:
    return lottery.gap


@dataclass(frozen=True, eq=False)
class Learner:
    """A model to refit, and the rows, where equal ones may be merged."""

    refitting: Refitting
    y: Codes
    group: Codes
    weight: Floats
    mass: Floats

    @classmethod
    def prepare(cls, estimator: Any, features: Any, rows: Rows, mass: Floats) -> Self:
        """Prepare the features once; `mass` is the weight of each (label, group)."""
        refitting = Refitting.prepare(estimator, features, rows.y)
        first, member = refitting.alike(rows.y * mass.shape[1] + rows.group)
        weight = np.bincount(member, rows.weight).astype(np.float64)
        return cls(refitting.rows(first), rows.y[first], rows.group[first], weight, mass)

    def answer(self, costs: Floats, start: Any) -> tuple[Any, Floats]:
        """Fit the model to accept where the cost is negative, weighted by its size.

        What comes back with it is the share of everyone it accepts in each (label, group).
        """
        gain = -costs[self.y, self.group]
        weight = abs(gain) * self.weight
        weight *= self.mass.sum() / weight.sum()
        model = self.refitting.fit((gain > 0).astype(np.intp), weight, start)
        accepted = model.predict(self.refitting.X) * self.weight
        table = cell_masses(self.y, self.group, 2, self.mass.shape[1], accepted)
        return model, table / self.mass.sum()
