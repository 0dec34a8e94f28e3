"""The methods of the paper and of the field, an entry each."""

from __future__ import annotations

from evenhand.mitigation.calibrated_odds import COSTS, CalibratedOddsClassifier
from evenhand.mitigation.equalized_odds import EqualizedOddsClassifier
from evenhand.mitigation.label_flipping import RULES, LabelFlippingClassifier
from evenhand.mitigation.linear_post import LinearPostClassifier
from evenhand.mitigation.method import Method
from evenhand.mitigation.optimal.rates import RATES
from evenhand.mitigation.projection import CONSTRAINTS, ProjectionClassifier
from evenhand.mitigation.rate_constrained import RateConstrainedClassifier
from evenhand.mitigation.reduction import EVENTS, ReductionClassifier
from evenhand.mitigation.regressions import REGRESSIONS
from evenhand.mitigation.reject_option import DISPARITIES, RejectOptionClassifier
from evenhand.mitigation.reweighting import ReweightingClassifier

_FINE = (0.001, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1)
_INEQUALITIES = (0.0, 0.0001, 0.0005, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 1.0)
_LEVELS = (0.0, 0.04, 0.08, 0.12, 0.16, 0.2, 0.4)
_HARDNESS = (0.0001, 0.01, 0.05, 0.5, 1.0, 3.0, 5.0, 10.0, 50.0, 100.0, 500.0)
_BOUNDS = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
_RATIOS = (0.0, 0.001, 0.005, 0.01, 0.05, 0.1, 0.3, 0.5, 1.0)

_CATALOGUE: list[Method] = [
    Method(
        name="Reweight",
        estimator=ReweightingClassifier,
        stage="pre",
        task="classification",
        constraints=("statistical_parity",),
        constraint_parameter=None,
        needs_group_at_predict=False,
        randomised=False,
        citation="Kamiran, Calders: Data Preprocessing Techniques for Classification without "
        "Discrimination, 2012",
    ),
    Method(
        name="FairRR",
        estimator=LabelFlippingClassifier,
        stage="pre",
        task="classification",
        constraints=tuple(RULES),
        classes="two",
        groups="two",
        needs_group_at_predict=False,
        randomised=False,
        hyperparameter="delta",
        grid=dict.fromkeys(RULES, _LEVELS),
        citation="Zeng, Yang, Wang, Dobriban, Cheng: FairRR, Pre-Processing for Group Fairness "
        "through Randomized Response, 2024",
    ),
    Method(
        name="Reduction",
        estimator=ReductionClassifier,
        stage="in",
        task="classification",
        constraints=tuple(EVENTS),
        classes="two",
        needs_group_at_predict=False,
        randomised=True,
        hyperparameter="eps",
        grid=dict.fromkeys(EVENTS, _HARDNESS),
        citation="Agarwal, Beygelzimer, Dudík, Langford, Wallach: A Reductions Approach to Fair "
        "Classification, 2018",
    ),
    Method(
        name="Rejection",
        estimator=RejectOptionClassifier,
        stage="post",
        task="classification",
        constraints=tuple(DISPARITIES),
        classes="two",
        groups="two",
        needs_group_at_predict=True,
        randomised=False,
        hyperparameter="eps",
        grid=dict.fromkeys(DISPARITIES, _BOUNDS),
        citation="Kamiran, Karim, Zhang: Decision Theory for Discrimination-Aware "
        "Classification, 2012",
    ),
    Method(
        name="EqOdds",
        estimator=EqualizedOddsClassifier,
        stage="post",
        task="classification",
        constraints=("equalized_odds",),
        constraint_parameter=None,
        classes="two",
        needs_group_at_predict=True,
        randomised=True,
        citation="Hardt, Price, Srebro: Equality of Opportunity in Supervised Learning, 2016",
    ),
    Method(
        name="CalEqOdds",
        estimator=CalibratedOddsClassifier,
        stage="post",
        task="classification",
        constraints=COSTS,
        constraint_parameter="cost",
        classes="two",
        groups="two",
        needs_group_at_predict=True,
        randomised=True,
        citation="Pleiss, Raghavan, Wu, Kleinberg, Weinberger: On Fairness and Calibration, 2017",
    ),
    *(
        Method(
            name=f"FairProj-{divergence.upper()}",
            estimator=ProjectionClassifier,
            stage="post",
            task="classification",
            constraints=CONSTRAINTS,
            needs_group_at_predict=True,
            randomised=False,
            hyperparameter="alpha",
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
        constraints=("statistical_parity", "equal_opportunity", "equalized_odds"),
        needs_group_at_predict=True,
        randomised=True,
        hyperparameter="alpha",
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
        constraints=tuple(RATES),
        constraint_parameter="criterion",
        needs_group_at_predict=True,
        randomised=True,
        hyperparameter="epsilon",
        grid=dict.fromkeys(RATES, _INEQUALITIES),
        citation="evenhand; the convexity of the measures is shown in its documentation",
    ),
]

METHODS: dict[str, Method] = {method.name: method for method in [*_CATALOGUE, *REGRESSIONS]}
