"""The criteria of the paper and of the field, one after the other; S is any measure.

Each says what it asks, and what it is not. They are importable names and, by name, `CRITERIA`.
"""

from __future__ import annotations

from evenhand.criteria.criterion import Criterion
from evenhand.statistics import STATISTICS, E, F, P

# The paper's, for classification: Definitions 4.1 to 4.5.

statistical_parity = Criterion(
    "statistical_parity",
    P("yhat"),
    asks="Is each label predicted equally often in every group?",
    is_not="It ignores the truth: a perfect classifier violates it when base rates differ.",
    also_called=("demographic_parity", "independence", "SP", "S-SP"),
)

equalized_odds = Criterion(
    "equalized_odds",
    P("yhat", given="y"),
    asks="Among people with the same true label, is each label predicted equally often in every "
    "group?",
    is_not="It does not say that errors are few, only that every group has the same share of them.",
    also_called=("separation", "error_rate_balance", "EO"),
)

performance_parity = Criterion(
    "performance_parity",
    STATISTICS["average_odds"],
    asks="Does the model perform equally well in every group?",
    is_not="Equal performance can be equally poor; look at the groups' values too.",
    takes_g=True,
)

average_odds = Criterion(
    "average_odds",
    STATISTICS["average_odds"],
    asks="Is the average of the true and the false positive rate the same in every group?",
    is_not="It is not equalized odds: a higher true positive rate can offset a lower false "
    "positive rate.",
    also_called=("average_odds_parity", "S-EO"),  # the paper's, of any measure
    general=performance_parity,
)

# The paper's, for regression.

strong_parity = Criterion(
    "strong_parity",
    F("yhat"),
    asks="Do the predictions have the same distribution in every group, even at the cut point "
    "where the groups differ most?",
    is_not="It ignores the truth, and looks at the one cut point where the groups differ most. "
    "Gini and PQ of raw CDFs are degenerate there, so by default they are computed from exp(F).",
    also_called=("distributional_parity", "SP(regression)", "S-SP(regression)"),
)

wasserstein_parity = Criterion(
    "wasserstein_parity",
    F("yhat"),
    asks="Do the predictions have the same distribution in every group, taking all cut points "
    "together?",
    is_not="It has the unit of the predictions, so values for different targets are not "
    "comparable.",
    across="integral",
    also_called=("SP(W)", "S-SP(W)"),
)

weak_parity = Criterion(
    "weak_parity",
    E("yhat", bounds=(float("-inf"), float("inf"))),
    asks="Is the mean prediction the same in every group?",
    is_not="Groups with equal means can still differ in spread and in their tails.",
    also_called=("mean_parity", "mean_difference", "SP(weak)", "S-SP(weak)"),
)

# The field's.

conditional_statistical_parity = Criterion(
    "conditional_statistical_parity",
    P("yhat", given="stratum"),
    asks="Among people of the same stratum, is each label predicted equally often in every group?",
    is_not="It is only as fair as the stratum: a stratum that encodes the group hides everything.",
    also_called=("conditional_demographic_parity", "conditional_demographic_disparity"),
)

selection_rate_ratio = Criterion(
    "selection_rate_ratio",
    P("yhat"),
    asks="How often is the least selected group selected, compared with the most selected one?",
    is_not="The four-fifths rule (at least 0.8) is a rule of thumb of employment law, not a proof.",
    measure="ratio",
    one_class=True,
    also_called=("disparate_impact", "four_fifths", "impact_ratio", "adverse_impact_ratio"),
)

equal_opportunity = Criterion(
    "equal_opportunity",
    STATISTICS["tpr"],
    asks="Among people whose true outcome is the favorable one, is the same share selected in "
    "every group?",
    is_not="It says nothing about people who do not qualify: false positive rates may differ.",
    one_class=True,
    also_called=(
        "tpr_parity",
        "true_positive_rate_parity",
        "recall_parity",
        "fnr_parity",
        "false_negative_rate_parity",
    ),
)

predictive_equality = Criterion(
    "predictive_equality",
    STATISTICS["fpr"],
    asks="Among people whose true outcome is not the favorable one, is the same share selected in "
    "every group?",
    is_not="It says nothing about people who qualify: true positive rates may differ.",
    one_class=True,
    also_called=(
        "fpr_parity",
        "false_positive_rate_parity",
        "tnr_parity",
        "true_negative_rate_parity",
    ),
)

predictive_parity = Criterion(
    "predictive_parity",
    STATISTICS["ppv"],
    asks="Among the people who were selected, is the selection right equally often in every group?",
    is_not="It says nothing about those who were not selected. With unequal base rates it cannot "
    "hold together with equalized odds, unless the predictions are perfect.",
    one_class=True,
    also_called=("ppv_parity", "precision_parity", "fdr_parity", "false_discovery_rate_parity"),
)

false_omission_rate_parity = Criterion(
    "false_omission_rate_parity",
    STATISTICS["false_omission_rate"],
    asks="Among the people who were not selected, did the same share qualify in every group?",
    is_not="It looks only at people who were turned down.",
    one_class=True,
    also_called=("for_parity", "npv_parity", "negative_predictive_value_parity"),
)

accuracy_parity = Criterion(
    "accuracy_parity",
    STATISTICS["accuracy"],
    asks="Is the same share of predictions right in every group?",
    is_not="Equal accuracy can hide opposite errors: false positives in one group, false negatives "
    "in another.",
    also_called=("overall_accuracy_equality", "accuracy_equality"),
)

error_parity = Criterion(
    "error_parity",
    STATISTICS["error_rate"],
    asks="Is the same share of predictions wrong in every group?",
    is_not="The same question as accuracy parity by MPD, but Gini and PQ weigh small errors more.",
    also_called=("error_rate_parity",),
)

treatment_equality = Criterion(
    "treatment_equality",
    STATISTICS["error_ratio"],
    asks="Is the ratio of false negatives to false positives the same in every group?",
    is_not="A ratio of errors says nothing about how many there are. It is undefined without false "
    "positives.",
    one_class=True,
)

calibration_parity = Criterion(
    "calibration_parity",
    E("hits", given="bin", needs="bins", bounds=(0.0, 1.0)),
    asks="Does a score mean the same thing in every group: among people with similar scores, is "
    "the outcome equally frequent?",
    is_not="Scores that mean the same in every group may still be wrong in all of them.",
    also_called=("test_fairness", "matching_conditional_frequencies"),
)

calibration_within_groups = Criterion(
    "calibration_within_groups",
    STATISTICS["calibration_error"],
    asks="Are the scores equally well calibrated in every group?",
    is_not="Equal calibration errors need not be small; look at the groups' values too.",
    also_called=("well_calibration",),
)

# Of rankings: rows are items in lists.

top_k_parity = Criterion(
    "top_k_parity",
    STATISTICS["top_k_share"],
    asks="Is the same share of each group among the first k places of its list?",
    is_not="It ignores relevance, and the order within the first k and behind them.",
    also_called=("top_k_share_parity", "representation_at_k"),
)

exposure_parity = Criterion(
    "exposure_parity",
    STATISTICS["exposure"],
    asks="Do items of every group get the same attention on average, given their places?",
    is_not="It ignores relevance: groups that are less relevant on average get as much.",
    also_called=("fairness_of_exposure", "attention_parity"),
)

exposure_per_relevance = Criterion(
    "exposure_per_relevance",
    STATISTICS["exposure_per_relevance"],
    asks="Does every group get the same attention for its relevance?",
    is_not="It is only as fair as the relevance, and a sum: within a group, some may get all of "
    "it. With clicks as exposure it is about impact, not treatment.",
    also_called=("disparate_exposure", "equity_of_exposure"),
)

pairwise_parity = Criterion(
    "pairwise_parity",
    STATISTICS["pairwise_accuracy"],
    asks="Are relevant items ahead of less relevant ones of their list equally often in every "
    "group?",
    is_not="Places count alike: a pair at the end of a list is as much as one at the top.",
    also_called=("pairwise_accuracy_parity", "pairwise_fairness"),
)

CRITERIA: dict[str, Criterion] = {
    thing.name: thing for thing in tuple(globals().values()) if isinstance(thing, Criterion)
}
ALIASES: dict[str, str] = {
    other: criterion.name for criterion in CRITERIA.values() for other in criterion.also_called
}
