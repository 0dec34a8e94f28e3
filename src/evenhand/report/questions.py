"""What each criterion and measure asks, in plain words."""

from __future__ import annotations

from evenhand.report.formats import words

QUESTIONS = {
    "statistical_parity": "Is each outcome predicted equally often in every group?",
    "equalized_odds": "Among people with the same true outcome, is each prediction equally "
    "frequent in every group?",
    "average_odds": "Is the mean of true and false positive rate the same in every group?",
    "performance_parity": "Does the model perform equally well in every group?",
    "strong_parity": "Do the predictions have the same distribution in every group, at the cut "
    "point where the groups differ most?",
    "wasserstein_parity": "Do the predictions have the same distribution in every group, over "
    "all cut points together?",
    "weak_parity": "Is the mean prediction the same in every group?",
    "conditional_statistical_parity": "Within each stratum, is each outcome predicted equally "
    "often in every group?",
    "selection_rate_ratio": "How far does the group selected least often fall short of the one "
    "selected most often?",
    "equal_opportunity": "Of those who truly belong to the class, is the same share found in "
    "every group?",
    "predictive_equality": "Of those who truly do not belong to the class, is the same share "
    "taken for it in every group?",
    "predictive_parity": "Of those predicted to belong to the class, does the same share truly "
    "belong in every group?",
    "false_omission_rate_parity": "Of those predicted not to belong to the class, does the same "
    "share truly belong in every group?",
    "accuracy_parity": "Is the share of right predictions the same in every group?",
    "error_parity": "Is the share of wrong predictions the same in every group?",
    "treatment_equality": "Is the ratio of misses to false alarms the same in every group?",
    "calibration_parity": "Does a score mean the same in every group: is the outcome equally "
    "frequent among people with like scores?",
    "calibration_within_groups": "Are the scores equally well calibrated in every group?",
}

MEASURES = {
    "mpd": ("MPD", "the largest value minus the smallest: the plain gap"),
    "gini": (
        "Gini",
        "the mean absolute difference between two groups over twice the mean; relative, 0 to 1",
    ),
    "pq": (
        "PQ",
        "one minus the ratio of the mean to the root mean square; relative, 0 to 1, and stresses "
        "groups far from the rest",
    ),
    "shortfall": ("Shortfall", "one minus the ratio of the smallest value to the largest"),
}


def question(criterion: str, statistic: str) -> str:
    """What a criterion asks; of one that is not known here, what follows from its statistic."""
    return QUESTIONS.get(criterion.partition("(")[0], f"Is {statistic} the same in every group?")


def measure_name(measure: str) -> str:
    """A measure as it is written in text.

    >>> measure_name("pq"), measure_name("my_own")
    ('PQ', 'My own')
    """
    return MEASURES[measure][0] if measure in MEASURES else words(measure)
