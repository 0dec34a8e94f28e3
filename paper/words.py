"""How the paper calls problems, criteria and measures."""

from __future__ import annotations

from typing import Literal

Kind = Literal["classification", "regression"]
NAMES = {
    "adult": "Adult",
    "compas": "COMPAS",
    "hsls": "HSLS",
    "enem": "Enem",
    "acs_income": "ACSIncome",
    "simulated": "Simulated",
    "communities": "Communities & Crime",
    "law_school": "LawSchool",
    "law_school_predicted": "LawSchool with a bar prediction",
    "simulated_regression": "Simulated regression",
    "simulated_multigroup": "Simulated, many groups",
    "adult_multigroup": "Adult, many groups",
}
BASES = {
    "logistic": "logistic regression",
    "linear": "linear regression",
    "boosting": "gradient boosting",
    "targets": "the true targets",
}
CRITERIA = {
    "statistical_parity": "SP",
    "equalized_odds": "EO",
    "average_odds": "EO",
    "strong_parity": "SP",
    "wasserstein_parity": "SP (W)",
    "weak_parity": "SP (weak)",
    "performance_parity": "EO",
}
IN_PAPER = {  # what the paper calls a criterion, by MPD and by other measures
    "statistical_parity": "SP, S-SP",
    "equalized_odds": "EO",
    "average_odds": "S-EO",
    "strong_parity": "SP, S-SP (regression)",
    "wasserstein_parity": "SP (W), S-SP (W)",
    "weak_parity": "SP (weak), S-SP (weak)",
    "performance_parity": "S-EO with another g; EO, S-EO (regression)",
}
MEASURES = {"mpd": "MPD", "gini": "Gini", "pq": "PQ"}
PERFORMANCES = {"accuracy": "accuracy", "rmse": "RMSE", "mae": "MAE", "r2": "R²"}
G = {
    "accuracy": "accuracy",
    "f1": "F1",
    "auroc": "AUROC",
    "cross_entropy": "cross-entropy",
    "mse": "MSE",
    "mae": "MAE",
    "r2": "R²",
}


def name_of(problem: str) -> str:
    """What a problem is called in a figure.

    >>> name_of("acs_income"), name_of("mine")
    ('ACSIncome', 'mine')
    """
    return NAMES.get(problem, problem)


def sizes_of(problem: str) -> tuple[str, int]:
    """A problem of the study of many groups as its family and number of groups.

    >>> sizes_of("adult_multigroup 50"), sizes_of("adult")
    (('adult_multigroup', 50), ('adult', 0))
    """
    name, _, number = problem.rpartition(" ")
    return (name, int(number)) if name and number.isdigit() else (problem, 0)


def task_name(problem: str) -> str:
    """What a problem is called, whatever its number of groups.

    >>> task_name("adult_multigroup 50")
    'Adult, many groups'
    """
    return name_of(sizes_of(problem)[0])


def splits(number: int) -> str:
    """So many splits.

    >>> splits(1), splits(10)
    ('1 split', '10 splits')
    """
    return f"{number} split{'' if number == 1 else 's'}"


def axis_of(question: str) -> str:
    """What a question is called on an axis: SP and EO by MPD, S-SP and S-EO by others.

    >>> axis_of("average_odds.pq"), axis_of("performance_parity.gini transform=exp g=f1")
    ('S-EO by PQ', 'S-EO by Gini, g = F1, exp')
    """
    if question in PERFORMANCES:
        return PERFORMANCES[question]
    head, *options = question.split(" ")
    criterion, _, measure = head.partition(".")
    short = CRITERIA.get(criterion, criterion.replace("_", " "))
    told = [f"{'' if measure == 'mpd' else 'S-'}{short} by {MEASURES.get(measure, measure)}"]
    for option in sorted(options, key=lambda one: not one.startswith("g=")):
        key, _, value = option.partition("=")
        told.append(_option(key, value))
    return ", ".join(told)


def _option(key: str, value: str) -> str:
    if key == "g":
        return f"g = {G.get(value, value)}"
    if key == "aggregate":
        return {"mean": "mean over classes", "total": "sum over classes"}.get(value, value)
    if key == "tau":
        return f"F ≥ {value}"
    return value if key == "transform" else f"{key} = {value}"
