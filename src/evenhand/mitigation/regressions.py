"""The regression methods of the paper and of the field, an entry each."""

from __future__ import annotations

from evenhand.mitigation.barycenter import BarycenterRegressor
from evenhand.mitigation.group_loss import BoundedGroupLossRegressor
from evenhand.mitigation.method import Method
from evenhand.mitigation.parity_reduction import ParityReductionRegressor
from evenhand.mitigation.transport import ParityConstrainedRegressor, TransportRegressor

_DISTANCES = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.25, 0.3, 0.35, 0.45, 0.5, 1.0)
_INEQUALITIES = (0.0, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 1.0)
_PARITIES = ("strong_parity", "weak_parity")

REGRESSIONS: list[Method] = [
    Method(
        name="FairReg",
        estimator=BoundedGroupLossRegressor,
        stage="in",
        task="regression",
        constraints=("bounded_group_loss",),
        needs_group_at_predict=False,
        randomised=False,
        hyperparameter="constraint_weight",
        grid={"bounded_group_loss": (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.4, 0.8, 0.99)},
        citation="Agarwal, Dudík, Wu: Fair Regression, 2019; by the grid search of AIF360",
    ),
    Method(
        name="ParityReduction",
        estimator=ParityReductionRegressor,
        stage="in",
        task="regression",
        constraints=("strong_parity",),
        needs_group_at_predict=False,
        randomised=True,
        hyperparameter="epsilon",
        grid={"strong_parity": (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 1.0)},
        citation="Agarwal, Dudík, Wu: Fair Regression, 2019",
    ),
    Method(
        name="WassBC",
        estimator=BarycenterRegressor,
        stage="post",
        task="regression",
        constraints=("strong_parity",),
        needs_group_at_predict=True,
        randomised=False,
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
        constraints=("strong_parity",),
        needs_group_at_predict=True,
        randomised=True,
        hyperparameter="alpha",
        grid={"strong_parity": _DISTANCES},
        citation="Xian, Li, Kamath, Zhao: Differentially Private Post-Processing for Fair "
        "Regression, 2024",
    ),
    Method(
        name="ParityConstrained",
        estimator=ParityConstrainedRegressor,
        stage="post",
        task="regression",
        constraints=_PARITIES,
        constraint_parameter="criterion",
        needs_group_at_predict=True,
        randomised=True,
        hyperparameter="epsilon",
        grid=dict.fromkeys(_PARITIES, _INEQUALITIES),
        citation="evenhand; the convexity of the measures is shown in its documentation",
    ),
]
