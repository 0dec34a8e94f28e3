"""The methods of the paper and of the field, an entry each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from evenhand.mitigation.barycenter import BarycenterRegressor
from evenhand.mitigation.calibrated_odds import CalibratedOddsClassifier
from evenhand.mitigation.equalized_odds import EqualizedOddsClassifier
from evenhand.mitigation.group_loss import BoundedGroupLossRegressor
from evenhand.mitigation.label_flipping import LabelFlippingClassifier
from evenhand.mitigation.parity_reduction import ParityReductionRegressor
from evenhand.mitigation.penalized import PenalizedClassifier, PenalizedRegressor
from evenhand.mitigation.projection import ProjectionClassifier
from evenhand.mitigation.rate_constrained import LinearPostClassifier, RateConstrainedClassifier
from evenhand.mitigation.reduction import ReductionClassifier
from evenhand.mitigation.reject_option import RejectOptionClassifier
from evenhand.mitigation.reweighting import ReweightingClassifier
from evenhand.mitigation.transport import ParityConstrainedRegressor, TransportRegressor

Stage = Literal["pre", "in", "post"]
Task = Literal["classification", "regression"]
Extent = Literal["two", "any"] | int


@dataclass(frozen=True, kw_only=True)
class Method:
    """A method by the name the field gives it, and the estimator that does it.

    Parameters
    ----------
    name : str
        The field's name.
    estimator : type
        The class that does it.
    stage : {"pre", "in", "post"}
        Whether it works on the data, on the fit of the model, or on a fitted model's scores.
    task : {"classification", "regression"}
        What is predicted.
    criteria : tuple of str, default ()
        What it can make equal; the first is the default. An estimator that lets one choose has a
        parameter `criterion`, and others have none to choose.
    classes, groups : {"two", "any"} or int, default "any"
        How many of each it takes, at most.
    needs_group_at_predict : bool
        Whether `predict` must know the group.
    randomized : bool
        Whether it decides at random.
    needs_sample_weight : bool, default False
        Whether the base model must take weights of rows.
    needs_base : bool, default True
        Whether it works on a base model; if not, it fits a model of its own.
    extra : str, default None
        The extra of evenhand that it takes to fit, `pip install "evenhand[torch]"`.
    hyperparameter : str, default None
        The parameter that trades performance for parity, `epsilon` for most.
    grid : mapping of str to tuple of float, default {}
        The values of the hyperparameter that the paper tries, by criterion.
    settings : mapping, default {}
        Parameters that set this method apart from others of the same estimator.
    citation : str
        Where it is published.

    Examples
    --------
    >>> from evenhand.mitigation import METHODS
    >>> METHODS["LinearPost"](group="sex", epsilon=0.02)
    LinearPostClassifier(epsilon=0.02, group='sex', rising=False)
    >>> [name for name, method in METHODS.items() if method.stage == "pre"]
    ['Reweight', 'FairRR']

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
    needs_sample_weight: bool = False
    needs_base: bool = True
    extra: str | None = None
    hyperparameter: str | None = None
    grid: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    citation: str

    def __call__(self, estimator: Any = None, **parameters: Any) -> Any:
        """The estimator of this method, with its settings and these parameters.

        Parameters
        ----------
        estimator : estimator, default None
            The base model.
        **parameters : dict
            Parameters of the estimator, which refuses those it does not have.

        Returns
        -------
        estimator
            Not yet fitted.

        """
        return self.estimator(estimator, **{**self.settings, **parameters})

    def criterion_of(self, estimator: Any) -> str:
        """The criterion that an estimator of this method was told to meet.

        Parameters
        ----------
        estimator : estimator
            One that this method made.

        Returns
        -------
        str
            Its `criterion`, or where there is none to choose the method's own.

        """
        return str(getattr(estimator, "criterion", next(iter(self.criteria), "")))


# The values that the paper tries.
_DISTANCES = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.25, 0.3, 0.35, 0.45, 0.5, 1.0)
_DIFFERENCES = (0.0, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 1.0)
_BY_PQ = ("strong_parity", "weak_parity")  # Wasserstein parity is by MPD
_FINE = (0.001, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1)
_INEQUALITIES = (0.0, 0.0001, 0.0005, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 1.0)
_LEVELS = (0.0, 0.04, 0.08, 0.12, 0.16, 0.2, 0.4)
_SOFTNESS = (0.0001, 0.01, 0.05, 0.5, 1.0, 3.0, 5.0, 10.0, 50.0, 100.0, 500.0)
_BOUNDS = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
_STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
_RATIOS = (0.0, 0.001, 0.005, 0.01, 0.05, 0.1, 0.3, 0.5, 1.0)

_LIST: list[Method] = [
    Method(
        name="Reweight",
        estimator=ReweightingClassifier,
        stage="pre",
        task="classification",
        criteria=ReweightingClassifier.criteria,
        needs_group_at_predict=False,
        randomized=False,
        needs_sample_weight=True,
        citation="Kamiran, Calders: Data Preprocessing Techniques for Classification without "
        "Discrimination, 2012",
    ),
    Method(
        name="FairRR",
        estimator=LabelFlippingClassifier,
        stage="pre",
        task="classification",
        criteria=LabelFlippingClassifier.criteria,
        classes="two",
        groups="two",
        needs_group_at_predict=False,
        randomized=False,
        needs_sample_weight=True,
        hyperparameter="epsilon",
        grid=dict.fromkeys(LabelFlippingClassifier.criteria, _LEVELS),
        citation="Zeng, Yang, Wang, Dobriban, Cheng: FairRR, Pre-Processing for Group Fairness "
        "through Randomized Response, 2024",
    ),
    Method(
        name="Reduction",
        estimator=ReductionClassifier,
        stage="in",
        task="classification",
        criteria=ReductionClassifier.criteria,
        classes="two",
        needs_group_at_predict=False,
        randomized=True,
        needs_sample_weight=True,
        hyperparameter="softness",
        grid=dict.fromkeys(ReductionClassifier.criteria, _SOFTNESS),
        citation="Agarwal, Beygelzimer, Dudík, Langford, Wallach: A Reductions Approach to Fair "
        "Classification, 2018",
    ),
    Method(
        name="Penalty",
        estimator=PenalizedClassifier,
        stage="in",
        task="classification",
        criteria=PenalizedClassifier.criteria,
        needs_group_at_predict=False,
        randomized=False,
        needs_base=False,
        extra="torch",
        hyperparameter="strength",
        grid=dict.fromkeys(PenalizedClassifier.criteria, _STRENGTHS),
        settings={"measure": "pq"},
        citation="evenhand; noise of small groups is not charged for, as its documentation shows",
    ),
    Method(
        name="Rejection",
        estimator=RejectOptionClassifier,
        stage="post",
        task="classification",
        criteria=RejectOptionClassifier.criteria,
        classes="two",
        groups="two",
        needs_group_at_predict=True,
        randomized=False,
        hyperparameter="epsilon",
        grid=dict.fromkeys(RejectOptionClassifier.criteria, _BOUNDS),
        citation="Kamiran, Karim, Zhang: Decision Theory for Discrimination-Aware "
        "Classification, 2012",
    ),
    Method(
        name="EqOdds",
        estimator=EqualizedOddsClassifier,
        stage="post",
        task="classification",
        criteria=EqualizedOddsClassifier.criteria,
        classes="two",
        needs_group_at_predict=True,
        randomized=True,
        settings={"rising": False},  # as published
        citation="Hardt, Price, Srebro: Equality of Opportunity in Supervised Learning, 2016",
    ),
    Method(
        name="CalEqOdds",
        estimator=CalibratedOddsClassifier,
        stage="post",
        task="classification",
        criteria=CalibratedOddsClassifier.criteria,
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
            criteria=ProjectionClassifier.criteria,
            needs_group_at_predict=True,
            randomized=False,
            hyperparameter="epsilon",
            grid=dict.fromkeys(ProjectionClassifier.criteria, _RATIOS),
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
        criteria=LinearPostClassifier.criteria,
        needs_group_at_predict=True,
        randomized=True,
        hyperparameter="epsilon",
        grid={
            "statistical_parity": (*_FINE, 0.12, 0.14, 0.16, 1000.0),
            "equal_opportunity": (*_FINE, 1000.0),
            "equalized_odds": (*_FINE, 1000.0),
        },
        settings={"rising": False},  # as published
        citation="Xian, Yin, Zhao: Fair and Optimal Classification via Post-Processing, 2023; "
        "Xian, Zhao: A Unified Post-Processing Framework for Group Fairness, 2024",
    ),
    Method(
        name="RateConstrained",
        estimator=RateConstrainedClassifier,
        stage="post",
        task="classification",
        criteria=RateConstrainedClassifier.criteria,
        needs_group_at_predict=True,
        randomized=True,
        hyperparameter="epsilon",
        grid=dict.fromkeys(RateConstrainedClassifier.criteria, _INEQUALITIES),
        settings={"measure": "pq"},
        citation="evenhand; the convexity of the measures is shown in its documentation",
    ),
    Method(
        name="FairReg",
        estimator=BoundedGroupLossRegressor,
        stage="in",
        task="regression",
        criteria=BoundedGroupLossRegressor.criteria,
        needs_group_at_predict=False,
        randomized=False,
        needs_sample_weight=True,
        hyperparameter="constraint_weight",
        grid={"bounded_group_loss": (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.4, 0.8, 0.99)},
        citation="Agarwal, Dudík, Wu: Fair Regression, 2019; by the grid search of AIF360",
    ),
    Method(
        name="ParityReduction",
        estimator=ParityReductionRegressor,
        stage="in",
        task="regression",
        criteria=ParityReductionRegressor.criteria,
        needs_group_at_predict=False,
        randomized=True,
        needs_sample_weight=True,
        hyperparameter="epsilon",
        grid={"strong_parity": (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 1.0)},
        citation="Agarwal, Dudík, Wu: Fair Regression, 2019",
    ),
    Method(
        name="Penalty_R",
        estimator=PenalizedRegressor,
        stage="in",
        task="regression",
        criteria=PenalizedRegressor.criteria,
        needs_group_at_predict=False,
        randomized=False,
        needs_base=False,
        extra="torch",
        hyperparameter="strength",
        grid=dict.fromkeys(PenalizedRegressor.criteria, _STRENGTHS),
        citation="evenhand; noise of small groups is not charged for, as its documentation shows",
    ),
    Method(
        name="WassBC",
        estimator=BarycenterRegressor,
        stage="post",
        task="regression",
        criteria=BarycenterRegressor.criteria,
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
        criteria=TransportRegressor.criteria,
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
        criteria=_BY_PQ,
        needs_group_at_predict=True,
        randomized=True,
        hyperparameter="epsilon",
        grid=dict.fromkeys(_BY_PQ, _DIFFERENCES),
        settings={"measure": "pq"},
        citation="evenhand; the convexity of the measures is shown in its documentation",
    ),
]

METHODS: dict[str, Method] = {method.name: method for method in _LIST}
