"""The methods of the paper and of the field, an entry each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from evenhand.mitigation.barycenter import BarycenterRegressor
from evenhand.mitigation.calibrated_odds import COSTS, CalibratedOddsClassifier
from evenhand.mitigation.equalized_odds import EqualizedOddsClassifier
from evenhand.mitigation.group_loss import BoundedGroupLossRegressor
from evenhand.mitigation.label_flipping import RULES, LabelFlippingClassifier
from evenhand.mitigation.optimal.problem import RATES
from evenhand.mitigation.parity_reduction import ParityReductionRegressor
from evenhand.mitigation.projection import CONSTRAINTS, ProjectionClassifier
from evenhand.mitigation.rate_constrained import LinearPostClassifier, RateConstrainedClassifier
from evenhand.mitigation.reduction import EVENTS, ReductionClassifier
from evenhand.mitigation.reject_option import DISPARITIES, RejectOptionClassifier
from evenhand.mitigation.reweighting import ReweightingClassifier
from evenhand.mitigation.transport import ParityConstrainedRegressor, TransportRegressor

Stage = Literal["pre", "in", "post"]
Task = Literal["classification", "regression"]
Extent = Literal["two", "any"]


@dataclass(frozen=True, kw_only=True)
class Method:
    """A method by the name the field gives it, and the estimator that does it.

    The first of `criteria` is the default; an estimator that lets one choose has a parameter
    `criterion`, and others have none to choose. `grid` holds the values of `hyperparameter` that
    the paper tries for each of them. `settings` are what sets this method apart from others of
    the same estimator.
    """

    name: str
    estimator: type[Any]
    stage: Stage
    task: Task
    criteria: tuple[str, ...] = ()
    classes: Extent = "any"
    groups: Extent = "any"
    needs_group_at_predict: bool
    randomized: bool
    hyperparameter: str | None = None
    grid: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    citation: str

    def __call__(self, estimator: Any = None, **parameters: Any) -> Any:
        """The estimator of this method, with its settings and these parameters."""
        return self.estimator(estimator, **{**self.settings, **parameters})

    def criterion_of(self, estimator: Any) -> str:
        """The criterion that an estimator of this method was told to meet."""
        return str(getattr(estimator, "criterion", next(iter(self.criteria), "")))


_DISTANCES = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.25, 0.3, 0.35, 0.45, 0.5, 1.0)
_DIFFERENCES = (0.0, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 1.0)
_PARITIES = ("strong_parity", "weak_parity")

REGRESSIONS: list[Method] = [
    Method(
        name="FairReg",
        estimator=BoundedGroupLossRegressor,
        stage="in",
        task="regression",
        criteria=("bounded_group_loss",),
        needs_group_at_predict=False,
        randomized=False,
        hyperparameter="constraint_weight",
        grid={"bounded_group_loss": (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.4, 0.8, 0.99)},
        citation="Agarwal, Dudík, Wu: Fair Regression, 2019; by the grid search of AIF360",
    ),
    Method(
        name="ParityReduction",
        estimator=ParityReductionRegressor,
        stage="in",
        task="regression",
        criteria=("strong_parity",),
        needs_group_at_predict=False,
        randomized=True,
        hyperparameter="epsilon",
        grid={"strong_parity": (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 1.0)},
        citation="Agarwal, Dudík, Wu: Fair Regression, 2019",
    ),
    Method(
        name="WassBC",
        estimator=BarycenterRegressor,
        stage="post",
        task="regression",
        criteria=("strong_parity",),
        needs_group_at_predict=True,
        randomized=False,
        hyperparameter="fraction",
        grid={"strong_parity": (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)},
        citation="Chzhen, Denis, Hebiri, Oneto, Pontil: Fair Regression with Wasserstein "
        "Barycenters, 2020",
    ),
    Method(
        name="LinearPost_R",
        estimator=TransportRegressor,
        stage="post",
        task="regression",
        criteria=("strong_parity",),
        needs_group_at_predict=True,
        randomized=True,
        hyperparameter="epsilon",
        grid={"strong_parity": _DISTANCES},
        citation="Xian, Li, Kamath, Zhao: Differentially Private Post-Processing for Fair "
        "Regression, 2024",
    ),
    Method(
        name="ParityConstrained",
        estimator=ParityConstrainedRegressor,
        stage="post",
        task="regression",
        criteria=_PARITIES,
        needs_group_at_predict=True,
        randomized=True,
        hyperparameter="epsilon",
        grid=dict.fromkeys(_PARITIES, _DIFFERENCES),
        citation="evenhand; the convexity of the measures is shown in its documentation",
    ),
]


_FINE = (0.001, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1)
_INEQUALITIES = (0.0, 0.0001, 0.0005, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 1.0)
_LEVELS = (0.0, 0.04, 0.08, 0.12, 0.16, 0.2, 0.4)
_SOFTNESS = (0.0001, 0.01, 0.05, 0.5, 1.0, 3.0, 5.0, 10.0, 50.0, 100.0, 500.0)
_BOUNDS = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
_RATIOS = (0.0, 0.001, 0.005, 0.01, 0.05, 0.1, 0.3, 0.5, 1.0)

_CATALOGUE: list[Method] = [
    Method(
        name="Reweight",
        estimator=ReweightingClassifier,
        stage="pre",
        task="classification",
        criteria=("statistical_parity",),
        needs_group_at_predict=False,
        randomized=False,
        citation="Kamiran, Calders: Data Preprocessing Techniques for Classification without "
        "Discrimination, 2012",
    ),
    Method(
        name="FairRR",
        estimator=LabelFlippingClassifier,
        stage="pre",
        task="classification",
        criteria=tuple(RULES),
        classes="two",
        groups="two",
        needs_group_at_predict=False,
        randomized=False,
        hyperparameter="epsilon",
        grid=dict.fromkeys(RULES, _LEVELS),
        citation="Zeng, Yang, Wang, Dobriban, Cheng: FairRR, Pre-Processing for Group Fairness "
        "through Randomized Response, 2024",
    ),
    Method(
        name="Reduction",
        estimator=ReductionClassifier,
        stage="in",
        task="classification",
        criteria=tuple(EVENTS),
        classes="two",
        needs_group_at_predict=False,
        randomized=True,
        hyperparameter="softness",
        grid=dict.fromkeys(EVENTS, _SOFTNESS),
        citation="Agarwal, Beygelzimer, Dudík, Langford, Wallach: A Reductions Approach to Fair "
        "Classification, 2018",
    ),
    Method(
        name="Rejection",
        estimator=RejectOptionClassifier,
        stage="post",
        task="classification",
        criteria=tuple(DISPARITIES),
        classes="two",
        groups="two",
        needs_group_at_predict=True,
        randomized=False,
        hyperparameter="epsilon",
        grid=dict.fromkeys(DISPARITIES, _BOUNDS),
        citation="Kamiran, Karim, Zhang: Decision Theory for Discrimination-Aware "
        "Classification, 2012",
    ),
    Method(
        name="EqOdds",
        estimator=EqualizedOddsClassifier,
        stage="post",
        task="classification",
        criteria=("equalized_odds",),
        classes="two",
        needs_group_at_predict=True,
        randomized=True,
        citation="Hardt, Price, Srebro: Equality of Opportunity in Supervised Learning, 2016",
    ),
    Method(
        name="CalEqOdds",
        estimator=CalibratedOddsClassifier,
        stage="post",
        task="classification",
        criteria=COSTS,
        classes="two",
        groups="two",
        needs_group_at_predict=True,
        randomized=True,
        citation="Pleiss, Raghavan, Wu, Kleinberg, Weinberger: On Fairness and Calibration, 2017",
    ),
    *(
        Method(
            name=f"FairProj-{divergence.upper()}",
            estimator=ProjectionClassifier,
            stage="post",
            task="classification",
            criteria=CONSTRAINTS,
            needs_group_at_predict=True,
            randomized=False,
            hyperparameter="epsilon",
            grid=dict.fromkeys(CONSTRAINTS, _RATIOS),
            settings={"divergence": divergence},
            citation="Alghamdi et al.: Beyond Adult and COMPAS, Fair Multi-Class Prediction via "
            "Information Projection, 2022",
        )
        for divergence in ("kl", "ce")
    ),
    Method(
        name="LinearPost",
        estimator=LinearPostClassifier,
        stage="post",
        task="classification",
        criteria=("statistical_parity", "equal_opportunity", "equalized_odds"),
        needs_group_at_predict=True,
        randomized=True,
        hyperparameter="epsilon",
        grid={
            "statistical_parity": (*_FINE, 0.12, 0.14, 0.16, 1000.0),
            "equal_opportunity": (*_FINE, 1000.0),
            "equalized_odds": (*_FINE, 1000.0),
        },
        citation="Xian, Yin, Zhao: Fair and Optimal Classification via Post-Processing, 2023; "
        "Xian, Zhao: A Unified Post-Processing Framework for Group Fairness, 2024",
    ),
    Method(
        name="RateConstrained",
        estimator=RateConstrainedClassifier,
        stage="post",
        task="classification",
        criteria=tuple(RATES),
        needs_group_at_predict=True,
        randomized=True,
        hyperparameter="epsilon",
        grid=dict.fromkeys(RATES, _INEQUALITIES),
        citation="evenhand; the convexity of the measures is shown in its documentation",
    ),
]

METHODS: dict[str, Method] = {method.name: method for method in [*_CATALOGUE, *REGRESSIONS]}
