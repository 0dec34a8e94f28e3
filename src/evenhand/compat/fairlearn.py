"""fairlearn's metrics with the same numbers, and its mitigation on our estimators.

In a script that uses fairlearn, change only the import::

    from evenhand.compat.fairlearn import MetricFrame, selection_rate

It needs pandas, but not fairlearn.
"""

from __future__ import annotations

from evenhand.compat._base_metrics import (
    count,
    false_negative_rate,
    false_positive_rate,
    mean_prediction,
    selection_rate,
    true_negative_rate,
    true_positive_rate,
)
from evenhand.compat._constraints import (
    AbsoluteLoss,
    BoundedGroupLoss,
    DemographicParity,
    EqualizedOdds,
    ErrorRateParity,
    FalsePositiveRateParity,
    SquareLoss,
    TruePositiveRateParity,
)
from evenhand.compat._derived_metrics import (
    accuracy_score_difference,
    accuracy_score_group_min,
    accuracy_score_ratio,
    balanced_accuracy_score_group_min,
    f1_score_group_min,
    false_negative_rate_difference,
    false_negative_rate_ratio,
    false_positive_rate_difference,
    false_positive_rate_ratio,
    log_loss_group_max,
    make_derived_metric,
    mean_absolute_error_group_max,
    mean_squared_error_group_max,
    precision_score_group_min,
    r2_score_group_min,
    recall_score_group_min,
    roc_auc_score_group_min,
    selection_rate_difference,
    selection_rate_ratio,
    true_negative_rate_difference,
    true_negative_rate_ratio,
    true_positive_rate_difference,
    true_positive_rate_ratio,
    zero_one_loss_difference,
    zero_one_loss_group_max,
    zero_one_loss_ratio,
)
from evenhand.compat._metric_frame import MetricFrame
from evenhand.compat._mitigation import ExponentiatedGradient, GridSearch, ThresholdOptimizer
from evenhand.compat._parity import (
    demographic_parity_difference,
    demographic_parity_ratio,
    equal_opportunity_difference,
    equal_opportunity_ratio,
    equalized_odds_difference,
    equalized_odds_ratio,
)
from evenhand.compat._plots import plot_model_comparison, plot_roc_curve_by_group

__all__ = [
    "AbsoluteLoss",
    "BoundedGroupLoss",
    "DemographicParity",
    "EqualizedOdds",
    "ErrorRateParity",
    "ExponentiatedGradient",
    "FalsePositiveRateParity",
    "GridSearch",
    "MetricFrame",
    "SquareLoss",
    "ThresholdOptimizer",
    "TruePositiveRateParity",
    "accuracy_score_difference",
    "accuracy_score_group_min",
    "accuracy_score_ratio",
    "balanced_accuracy_score_group_min",
    "count",
    "demographic_parity_difference",
    "demographic_parity_ratio",
    "equal_opportunity_difference",
    "equal_opportunity_ratio",
    "equalized_odds_difference",
    "equalized_odds_ratio",
    "f1_score_group_min",
    "false_negative_rate",
    "false_negative_rate_difference",
    "false_negative_rate_ratio",
    "false_positive_rate",
    "false_positive_rate_difference",
    "false_positive_rate_ratio",
    "log_loss_group_max",
    "make_derived_metric",
    "mean_absolute_error_group_max",
    "mean_prediction",
    "mean_squared_error_group_max",
    "plot_model_comparison",
    "plot_roc_curve_by_group",
    "precision_score_group_min",
    "r2_score_group_min",
    "recall_score_group_min",
    "roc_auc_score_group_min",
    "selection_rate",
    "selection_rate_difference",
    "selection_rate_ratio",
    "true_negative_rate",
    "true_negative_rate_difference",
    "true_negative_rate_ratio",
    "true_positive_rate",
    "true_positive_rate_difference",
    "true_positive_rate_ratio",
    "zero_one_loss_difference",
    "zero_one_loss_group_max",
    "zero_one_loss_ratio",
]
