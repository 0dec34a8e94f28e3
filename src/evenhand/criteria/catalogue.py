"""The criteria of the paper and of the field, a line each; S is any measure."""

from __future__ import annotations

from evenhand.criteria.criterion import Criterion
from evenhand.statistics import STATISTICS, E, F, P

_of = STATISTICS

_CATALOGUE = [
    # The paper's, for classification: Definitions 4.1 to 4.5.
    Criterion(
        "statistical_parity",
        P("yhat"),
        "It ignores the truth: a perfect classifier violates it when base rates differ.",
    ),
    Criterion(
        "equalized_odds",
        P("yhat", given="y"),
        "It does not say that errors are few, only that they fall alike, given the truth.",
    ),
    Criterion(
        "average_odds",
        _of["average_odds"],
        "It is not equalized odds: a higher TPR can hide a lower FPR, and the average is equal.",
    ),
    Criterion(
        "performance_parity",
        _of["average_odds"],
        "Equal performance can be equally poor; look at the groups' values too.",
        takes_g=True,
    ),
    # The paper's, for regression.
    Criterion(
        "strong_parity",
        F("yhat"),
        "It ignores the truth, and looks at the one cut point where the groups differ most. "
        "Gini and PQ of raw CDFs are degenerate there, so they take exp(F) unless told otherwise.",
    ),
    Criterion(
        "wasserstein_parity",
        F("yhat"),
        "It has the unit of the predictions, so it cannot be compared between targets.",
        across="integral",
    ),
    Criterion(
        "weak_parity",
        E("yhat", bounds=(float("-inf"), float("inf"))),
        "Equal means leave room for unequal spreads and tails.",
    ),
    # The field's.
    Criterion(
        "conditional_statistical_parity",
        P("yhat", given="stratum"),
        "It is only as fair as the stratum: a stratum that encodes the group hides everything.",
    ),
    Criterion(
        "selection_rate_ratio",
        P("yhat"),
        "The four-fifths rule (at most 0.2) is a rule of thumb of employment law, not a proof.",
        measure="shortfall",
        one_class=True,
    ),
    Criterion(
        "equal_opportunity",
        _of["tpr"],
        "It says nothing of those who do not qualify: false positives may differ.",
        one_class=True,
    ),
    Criterion(
        "predictive_equality",
        _of["fpr"],
        "It says nothing of those who qualify: false negatives may differ.",
        one_class=True,
    ),
    Criterion(
        "predictive_parity",
        _of["ppv"],
        "With unequal base rates it cannot hold together with equalized odds.",
        one_class=True,
    ),
    Criterion(
        "false_omission_rate_parity",
        _of["false_omission_rate"],
        "It looks only at those who were turned down.",
        one_class=True,
    ),
    Criterion(
        "accuracy_parity",
        _of["accuracy"],
        "Equal accuracy can hide opposite errors: false alarms here, misses there.",
    ),
    Criterion(
        "error_parity",
        _of["error_rate"],
        "The same question as accuracy parity by MPD, but Gini and PQ weigh small errors more.",
    ),
    Criterion(
        "treatment_equality",
        _of["error_ratio"],
        "A ratio of errors says nothing of how many there are; undefined without false positives.",
        one_class=True,
    ),
    Criterion(
        "calibration_parity",
        E("hits", given="bin", needs="bins", bounds=(0.0, 1.0)),
        "Scores that mean the same in every group may still be wrong in all of them.",
    ),
    Criterion(
        "calibration_within_groups",
        _of["calibration_error"],
        "Equal calibration errors are not small ones; look at the groups' values too.",
    ),
]

CRITERIA: dict[str, Criterion] = {criterion.name: criterion for criterion in _CATALOGUE}
