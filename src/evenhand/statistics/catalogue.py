"""The named statistics, one line each."""

from __future__ import annotations

import numpy as np

from evenhand.statistics.arithmetic import Floats, ratio
from evenhand.statistics.labels import Average, P, Ratio
from evenhand.statistics.scores import Auroc, CalibrationError
from evenhand.statistics.statistic import Scale, Statistic
from evenhand.statistics.sums import Derived, E

LARGEST = 600.0  # an exponent whose power is a number
LEAST_EXPLAINED = 0.3  # of the variance, as far as errors of R² are concerned
ROUNDED = 1 + LEAST_EXPLAINED**2
TINY = 1e-300  # the smallest error whose logarithm is taken


def _negative(mean: Floats, _: Floats) -> Floats:
    return -mean


def _negative_gradient(mean: Floats) -> tuple[Floats, ...]:
    return (-np.ones(mean.shape),)


def _root(mean: Floats, _: Floats) -> Floats:
    return mean**0.5


def _root_gradient(mean: Floats) -> tuple[Floats, ...]:
    return (np.nan_to_num(ratio(np.full(mean.shape, 0.5), mean**0.5)),)


def _explained(error: Floats, y: Floats, square: Floats, _: Floats) -> Floats:
    return 1 - ratio(error, square - y * y)


def _log_unexplained(error: Floats, y: Floats, square: Floats) -> Floats:
    return np.log(np.maximum(error, TINY)) - np.log(np.maximum(square - y * y, TINY))


def _log_unexplained_gradient(error: Floats, y: Floats, square: Floats) -> tuple[Floats, ...]:
    spread = np.maximum(square - y * y, TINY)
    return 1 / np.maximum(error, TINY), 2 * y / spread, -1 / spread


def _explained_gradient(*means: Floats) -> tuple[Floats, ...]:
    part = np.exp(np.minimum(_log_unexplained(*means), LARGEST))
    return tuple(-part * slope for slope in _log_unexplained_gradient(*means))


def _noise(*means: Floats) -> Floats:
    """Unexplained over explained variance, on a scale where its error depends little on R².

    Outliers of the noise are part of Var(y) too, so s = 1 − R² hardly moves where it is near 1.
    This is the integral of 1 / (s √((1 − s)² + c²)), nearly log(s / (1 − s)), but it exists for
    models that are worse than the mean: from s = 1 on it is log(s) / c.
    """
    place = _log_unexplained(*means)
    part = np.exp(np.minimum(place, 0.0))
    slow = ROUNDED - part + np.sqrt(ROUNDED) * np.hypot(1 - part, LEAST_EXPLAINED)
    below = (np.minimum(place, 0.0) - np.log(slow)) / np.sqrt(ROUNDED)
    return np.asarray(below + np.maximum(place, 0.0) / LEAST_EXPLAINED)


def _noise_gradient(*means: Floats) -> tuple[Floats, ...]:
    part = np.exp(np.minimum(_log_unexplained(*means), 0.0))
    explained = np.hypot(1 - part, LEAST_EXPLAINED)
    return tuple(slope / explained for slope in _log_unexplained_gradient(*means))


def _from_noise(place: Floats) -> Floats:
    root = np.sqrt(ROUNDED)
    middle = -np.log(LEAST_EXPLAINED * (LEAST_EXPLAINED + root)) / root  # where R² is 0
    power = np.exp(np.minimum(-root * np.minimum(place, middle), LARGEST / 2))
    below = 2 * ROUNDED * power / ((power + 1) ** 2 - ROUNDED)
    beyond = np.exp(np.minimum(LEAST_EXPLAINED * np.maximum(place - middle, 0.0), LARGEST))
    return np.asarray(1 - below * beyond)


def _gaussian(error: Floats, weight: Floats) -> Floats:
    """Log-likelihood of a normal error whose variance is the pooled mean squared error.

    Without any error there is no variance, and the likelihood is undefined.
    """
    pooled = np.nansum(error * weight, axis=-1, keepdims=True)
    variance = np.where(pooled > 0, pooled, np.nan) / weight.sum(axis=-1, keepdims=True)
    return np.asarray(-0.5 * np.log(2 * np.pi * variance) - ratio(error, 2 * variance))


tpr = Ratio("tp", "tp + fn")
fpr = Ratio("fp", "fp + tn")
unbounded = (0.0, np.inf)
real = (-np.inf, np.inf)

STATISTICS: dict[str, Statistic] = {
    "selection_rate": P("yhat"),
    "tpr": tpr,
    "fpr": fpr,
    "tnr": Ratio("tn", "fp + tn"),
    "fnr": Ratio("fn", "tp + fn"),
    "ppv": Ratio("tp", "tp + fp"),
    "npv": Ratio("tn", "tn + fn"),
    "false_discovery_rate": Ratio("fp", "tp + fp"),
    "false_omission_rate": Ratio("fn", "tn + fn"),
    "f1": Ratio("2 tp", "2 tp + fp + fn"),
    "accuracy": Ratio("correct", "all"),
    "error_rate": Ratio("wrong", "all"),
    "error_ratio": Ratio("fn", "fp", bounds=unbounded),
    "average_odds": Average(tpr, fpr),
    "auroc": Auroc(),
    "cross_entropy": E("cross_entropy", needs="losses"),
    "log_likelihood": Derived(
        ("cross_entropy",),
        "E(log p(y | x) | a)",
        _negative,
        (-np.inf, 0.0),
        "losses",
        gradient=_negative_gradient,
    ),
    "calibration_error": CalibrationError(),
    "mean_prediction": E("yhat", bounds=real),
    "mean_error": E("error", bounds=real),
    "mse": E("squared_error"),
    "rmse": Derived(
        ("squared_error",), "√E((y − ŷ)² | a)", _root, unbounded, gradient=_root_gradient
    ),
    "mae": E("absolute_error"),
    "r2": Derived(
        ("squared_error", "y", "y²"),
        "1 − E((y − ŷ)² | a) / Var(y | a)",
        _explained,
        (-np.inf, 1.0),
        scale=Scale(
            _noise,
            _noise_gradient,
            _from_noise,
            (
                ("squared_error²", "y·squared_error", "y²·squared_error"),
                ("y²", "y³"),
                ("y⁴",),
            ),
        ),
        gradient=_explained_gradient,
    ),
    "gaussian_log_likelihood": Derived(
        ("squared_error",), "E(log N(y; ŷ, pooled MSE) | a)", _gaussian, real
    ),
    "exposure": E("exposure", needs="lists", ceiling="attention"),
    "top_k_share": E("top", needs="lists", bounds=(0.0, 1.0)),
    "first_place": E("first", needs="lists", bounds=(0.0, 1.0)),
    "exposure_per_relevance": E("exposure", needs="lists", per="relevance"),
    "discounted_recall": E("gain", needs="lists", per="relevance", ceiling="attention"),
    "pairwise_accuracy": E("won", needs="lists", bounds=(0.0, 1.0), per="pairs"),
    "pairwise_within": E("won within", needs="lists", bounds=(0.0, 1.0), per="pairs within"),
    "pairwise_across": E("won across", needs="lists", bounds=(0.0, 1.0), per="pairs across"),
}

# Besides the selection rate, the rates in which every subgroup is compared with everybody else.
SCANNED: dict[str, Statistic] = {
    "error rate": STATISTICS["error_rate"],
    "false positive rate": fpr,
    "false negative rate": STATISTICS["fnr"],
}
