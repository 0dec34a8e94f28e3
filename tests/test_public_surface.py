"""What others build on: names, registries, and a light import."""

import inspect
import pkgutil
import subprocess
import sys

import numpy as np
import pytest

import evenhand as eh

NAMES = [
    "AGGREGATES",
    "CRITERIA",
    "MEASURES",
    "STATISTICS",
    "Audit",
    "ConfidenceInterval",
    "Chance",
    "Comparison",
    "Criterion",
    "Distribution",
    "EvenhandError",
    "Finding",
    "Groups",
    "Bin",
    "Reading",
    "Tally",
    "UndefinedWarning",
    "audit",
    "audit_frame",
    "audit_model",
    "chance",
    "compare",
    "distribution",
    "evaluate",
    "expected_tally",
    "gini",
    "groups",
    "interval",
    "make_scorer",
    "moments",
    "mpd",
    "pq",
    "shortfall",
    "tally",
    "tally_frame",
]


def test_the_public_names_are_these():
    assert sorted(eh.__all__) == sorted(NAMES)


def test_every_public_name_is_there_and_documented():
    for name in eh.__all__:
        assert getattr(eh, name).__doc__, name


def test_no_module_hides_behind_a_public_function():
    modules = {module.name for module in pkgutil.iter_modules(eh.__path__)}
    assert not modules & {name for name in eh.__all__ if callable(getattr(eh, name))}


def test_public_functions_follow_the_ecosystem():
    for function in (eh.evaluate, eh.tally, eh.moments):
        parameters = inspect.signature(function).parameters
        assert {"y_true", "y_pred", "sensitive_features", "sample_weight"} <= set(parameters)
        assert parameters["sensitive_features"].kind is inspect.Parameter.KEYWORD_ONLY
        assert parameters["sample_weight"].default is None


@pytest.mark.parametrize("name", eh.CRITERIA)
def test_every_criterion_says_what_it_is_and_what_it_is_not(name):
    criterion = eh.CRITERIA[name]
    assert criterion.name == name
    assert "S over a of" in criterion.formula
    assert criterion.is_not.endswith(".")
    assert criterion.range.startswith("0 to")
    assert str(criterion).startswith(f"{name}: ")
    assert "larger" in criterion.direction


@pytest.mark.parametrize(
    "name",
    [
        "statistical_parity",
        "equalized_odds",
        "average_odds",
        "performance_parity",
        "equal_opportunity",
        "predictive_equality",
        "predictive_parity",
        "strong_parity",
        "weak_parity",
        "wasserstein_parity",
        "accuracy_parity",
        "error_parity",
        "false_omission_rate_parity",
        "treatment_equality",
        "calibration_parity",
        "calibration_within_groups",
        "selection_rate_ratio",
        "conditional_statistical_parity",
    ],
)
def test_the_criterion_exists(name):
    assert name in eh.CRITERIA


@pytest.mark.parametrize(
    "g",
    [
        "average_odds",
        "accuracy",
        "tpr",
        "fpr",
        "f1",
        "auroc",
        "cross_entropy",
        "log_likelihood",
        "mse",
        "rmse",
        "mae",
        "r2",
        "gaussian_log_likelihood",
    ],
)
def test_the_statistic_exists(g):
    assert g in eh.STATISTICS


def test_importing_the_package_imports_nothing_heavy():
    heavy = ["pandas", "polars", "pyarrow", "sklearn", "scipy", "narwhals", "duckdb", "matplotlib"]
    code = f"import evenhand, sys; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


GROUPS = {
    "short text": np.array([*"abc"]),
    "long text": np.array(["a long name", "another long name", "a name"]),
    "numbers": np.arange(3),
    "a list": None,
}


@pytest.mark.parametrize("kind", GROUPS)
def test_evaluating_is_ten_calls_deep_in_ten_files_at_most(kind):
    rng = np.random.default_rng(0)
    y_true, y_pred, codes = rng.integers(0, 2, 2000), rng.integers(0, 2, 2000), np.arange(2000) % 3
    names = GROUPS[kind]
    group = [f"group {code}" for code in codes] if names is None else names[codes]

    def call():
        eh.evaluate("equalized_odds", y_true, y_pred, sensitive_features=group)

    call()  # imports that wait for the first use are not part of it
    depth, files = traced(call)
    assert depth <= 10
    assert len(files) <= 10


def traced(call):
    """How deep the package's own frames go, comprehensions included, and their files."""
    root, depth, deepest, files = eh.__path__[0], 0, 0, set()

    def profile(frame, event, _):
        nonlocal depth, deepest
        if event not in ("call", "return") or not frame.f_code.co_filename.startswith(root):
            return
        depth += 1 if event == "call" else -1
        deepest = max(deepest, depth)
        files.add(frame.f_code.co_filename)

    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    return deepest, files
