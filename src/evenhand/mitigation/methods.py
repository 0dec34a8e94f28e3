"""The methods of the paper and of the field, an entry each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, Literal

from evenhand.mitigation.barycenter import BarycenterRegressor
from evenhand.mitigation.calibrated_odds import CalibratedOddsClassifier
from evenhand.mitigation.equalized_odds import EqualizedOddsClassifier
from evenhand.mitigation.estimators import GroupRegressor
from evenhand.mitigation.frontier import FrontierClassifier
from evenhand.mitigation.group_loss import BoundedGroupLossRegressor
from evenhand.mitigation.group_reader import GroupReader, Stage
from evenhand.mitigation.label_flipping import LabelFlippingClassifier
from evenhand.mitigation.parity_reduction import ParityReductionRegressor
from evenhand.mitigation.penalized import PenalizedClassifier, PenalizedRegressor
from evenhand.mitigation.projection import ProjectionClassifier
from evenhand.mitigation.rate_constrained import LinearPostClassifier, RateConstrainedClassifier
from evenhand.mitigation.reduction import ReductionClassifier
from evenhand.mitigation.reject_option import RejectOptionClassifier
from evenhand.mitigation.reweighting import ReweightingClassifier
from evenhand.mitigation.transport import ParityConstrainedRegressor, TransportRegressor

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
        Parameters that distinguish this method from others of the same estimator.
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
        """The criterion that an estimator of this method has to meet.

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


def _ours(
    name: str,
    estimator: type[GroupReader],
    citation: str,
    grid: tuple[float, ...] | Mapping[str, tuple[float, ...]] = (),
    **settings: Any,
) -> Method:
    """A method of an estimator of ours, which declares its needs itself."""
    values = grid if isinstance(grid, Mapping) else dict.fromkeys(estimator.criteria, grid)
    at_most_two = getattr(estimator, "_needs_two", ())
    draw = signature(estimator).parameters.get("draw")
    return Method(
        name=name,
        estimator=estimator,
        stage=estimator.stage,
        task="regression" if issubclass(estimator, GroupRegressor) else "classification",
        criteria=tuple(values),
        classes="two" if "classes" in at_most_two else "any",
        groups="two" if "groups" in at_most_two else "any",
        needs_group_at_predict=estimator._reads_group,
        randomized=draw is not None and draw.default,
        needs_sample_weight=estimator._weighs,
        needs_base=estimator._extra is None,
        extra=estimator._extra,
        hyperparameter=estimator.hyperparameter,
        grid=values if estimator.hyperparameter else {},
        settings=settings,
        citation=citation,
    )


# The values that the paper tries.
_FINE = (0.001, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1)
_RATIOS = (0.0, 0.001, 0.005, 0.01, 0.05, 0.1, 0.3, 0.5, 1.0)
_STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
_OURS = "evenhand; the convexity of the measures is shown in its documentation"
_PENALTY = "evenhand; noise of small groups is not charged for, as its documentation shows"
_PROJECTION = (
    "Alghamdi et al.: Beyond Adult and COMPAS, Fair Multi-Class Prediction via Information "
    "Projection, 2022"
)

_LIST: list[Method] = [
    _ours(
        "Reweight",
        ReweightingClassifier,
        "Kamiran, Calders: Data Preprocessing Techniques for Classification without "
        "Discrimination, 2012",
    ),
    _ours(
        "FairRR",
        LabelFlippingClassifier,
        "Zeng, Yang, Wang, Dobriban, Cheng: FairRR, Pre-Processing for Group Fairness through "
        "Randomized Response, 2024",
        (0.0, 0.04, 0.08, 0.12, 0.16, 0.2, 0.4),
    ),
    _ours(
        "Reduction",
        ReductionClassifier,
        "Agarwal, Beygelzimer, Dudík, Langford, Wallach: A Reductions Approach to Fair "
        "Classification, 2018",
        (0.0001, 0.01, 0.05, 0.5, 1.0, 3.0, 5.0, 10.0, 50.0, 100.0, 500.0),
    ),
    _ours("Penalty", PenalizedClassifier, _PENALTY, _STRENGTHS, measure="pq"),
    _ours(
        "Rejection",
        RejectOptionClassifier,
        "Kamiran, Karim, Zhang: Decision Theory for Discrimination-Aware Classification, 2012",
        (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0),
    ),
    _ours(
        "EqOdds",
        EqualizedOddsClassifier,
        "Hardt, Price, Srebro: Equality of Opportunity in Supervised Learning, 2016",
        rising=False,  # as published
    ),
    _ours(
        "CalEqOdds",
        CalibratedOddsClassifier,
        "Pleiss, Raghavan, Wu, Kleinberg, Weinberger: On Fairness and Calibration, 2017",
    ),
    _ours("FairProj-KL", ProjectionClassifier, _PROJECTION, _RATIOS, divergence="kl"),
    _ours("FairProj-CE", ProjectionClassifier, _PROJECTION, _RATIOS, divergence="ce"),
    _ours(
        "LinearPost",
        LinearPostClassifier,
        "Xian, Yin, Zhao: Fair and Optimal Classification via Post-Processing, 2023; "
        "Xian, Zhao: A Unified Post-Processing Framework for Group Fairness, 2024",
        {
            "statistical_parity": (*_FINE, 0.12, 0.14, 0.16, 1000.0),
            "equal_opportunity": (*_FINE, 1000.0),
            "equalized_odds": (*_FINE, 1000.0),
        },
        rising=False,  # as published
    ),
    _ours(
        "RateConstrained",
        RateConstrainedClassifier,
        _OURS,
        (0.0, 0.0001, 0.0005, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 1.0),
        measure="pq",
    ),
    _ours(
        "Frontier",
        FrontierClassifier,
        _OURS,
        (0.0, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.15, 0.2, 0.3, 1.0),
    ),
    _ours(
        "FairReg",
        BoundedGroupLossRegressor,
        "Agarwal, Dudík, Wu: Fair Regression, 2019; by the grid search of AIF360",
        (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.4, 0.8, 0.99),
    ),
    _ours(
        "ParityReduction",
        ParityReductionRegressor,
        "Agarwal, Dudík, Wu: Fair Regression, 2019",
        (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 1.0),
    ),
    _ours("Penalty_R", PenalizedRegressor, _PENALTY, _STRENGTHS),
    _ours(
        "WassBC",
        BarycenterRegressor,
        "Chzhen, Denis, Hebiri, Oneto, Pontil: Fair Regression with Wasserstein Barycenters, 2020",
        (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    ),
    _ours(
        "LinearPost_R",
        TransportRegressor,
        "Xian, Li, Kamath, Zhao: Differentially Private Post-Processing for Fair Regression, 2024",
        (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.25, 0.3, 0.35, 0.45, 0.5, 1.0),
    ),
    _ours(
        "ParityConstrained",
        ParityConstrainedRegressor,
        _OURS,
        dict.fromkeys(  # Wasserstein parity is by MPD
            ("strong_parity", "weak_parity"),
            (0.0, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 1.0),
        ),
        measure="pq",
    ),
]

METHODS: dict[str, Method] = {method.name: method for method in _LIST}
