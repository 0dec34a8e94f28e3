"""What others build on: names, registries, and a light import."""

import inspect
import pkgutil
import pydoc
import subprocess
import sys
from importlib import import_module
from typing import Literal, get_origin

import numpy as np
import pytest

import evenhand as eh
from evenhand._signatures import suggests_names

NAMES = [
    "CRITERIA",
    "MEASURES",
    "Audit",
    "Criterion",
    "Data",
    "Distribution",
    "EvenhandError",
    "Frontier",
    "Groups",
    "InputError",
    "InputTypeError",
    "MissingExtraError",
    "OutputError",
    "Probable",
    "Bin",
    "Tally",
    "UnboundWarning",
    "UndefinedWarning",
    "Watch",
    "assert_even",
    "audit",
    "bounds",
    "chance",
    "compare",
    "contrasts",
    "count_query",
    "distribution",
    "evaluate",
    "explain",
    "frontier",
    "gini",
    "groups",
    "interval",
    "make_scorer",
    "mpd",
    "power",
    "pq",
    "probable",
    "read_evaluation",
    "survey_weights",
    "tally",
]


def test_the_public_names_are_these():
    assert sorted(eh.__all__) == sorted(NAMES)


MODULES = [
    "",
    ".benchmark",
    ".compat.fairlearn",
    ".criteria",
    ".datasets",
    ".measures",
    ".mitigation",
    ".results",
    ".standards",
    ".statistics",
    ".watch",
]


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_there_and_documented(module):
    public = import_module(f"evenhand{module}")
    assert len(set(public.__all__)) == len(public.__all__)
    for name in public.__all__:
        thing = getattr(public, name)
        assert thing.__doc__ or get_origin(thing) is Literal, name  # a set of words says itself


@pytest.mark.parametrize("module", MODULES)
def test_no_module_hides_behind_a_public_name(module):
    """Or `import evenhand.audit as a` would bind a function, with its neighbors out of reach."""
    public = import_module(f"evenhand{module}")
    modules = {found.name for found in pkgutil.iter_modules(getattr(public, "__path__", []))}
    names = {name for name in public.__all__ if not inspect.ismodule(getattr(public, name))}
    assert not modules & names


@pytest.mark.parametrize("module", MODULES)
def test_public_functions_spell_out_their_arguments(module):
    public = import_module(f"evenhand{module}")
    functions = {name for name in public.__all__ if inspect.isfunction(getattr(public, name))}
    for name in functions - {"plot_model_comparison"}:  # whose signature is fairlearn's
        kinds = {p.kind for p in inspect.signature(getattr(public, name)).parameters.values()}
        assert inspect.Parameter.VAR_KEYWORD not in kinds, name


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: eh.evaluate("weak_parity", 1, measur=1), "evaluate has no argument 'measur'"),
        (lambda: eh.CRITERIA["weak_parity"](1, favourable=1), "Did you mean 'favorable'"),
        (lambda: eh.CRITERIA["weak_parity"].read(1, aggregat=1), "Did you mean 'aggregate'"),
        (lambda: eh.tally([1], [1], sensitive_features=[1], stratum=[1]), "Did you mean 'strata'"),
        (
            lambda: eh.tally([1], [1], sample_weights=[1], task="regression"),
            "Did you mean 'sample_weight'",
        ),
        (lambda: eh.distribution([1], ytrue=[1]), "Did you mean 'y_true'"),
        (lambda: eh.tally([1], [1], class_=[1]), "Did you mean 'classes'"),
        (lambda: eh.groups([1], min_counts=3), "Did you mean 'min_count'"),
        (lambda: eh.tally(data=1, sample_wight="w"), "Did you mean 'sample_weight'"),
        (lambda: eh.make_scorer("weak_parity", group="a"), "Did you mean 'sensitive_features'"),
        (lambda: eh.evaluate("weak_parity", target=[1]), "Did you mean 'y_true'"),
        (lambda: eh.tally(target=[1]), "Did you mean 'y_true'"),
        (lambda: eh.power(size=9), "Did you mean 'sizes'"),
        (lambda: eh.Watch(fail=0.1), "Watch has no argument 'fail'. Did you mean 'fail_if'"),
        (lambda: eh.Watch("statistical_parity").update(day="2026-03-01"), "Did you mean 'at'"),
        (lambda: eh.Watch("statistical_parity").correct("a", older=1), "Did you mean 'old'"),
    ],
)
def test_a_misspelt_argument_is_refused_with_the_nearest(call, message):
    """Also where an argument that is needed is missing, for it is what was misspelt."""
    with pytest.raises(eh.InputTypeError, match=message):
        call()


DOORS = [name for name in eh.__all__ if inspect.isfunction(getattr(eh, name))]


@pytest.mark.parametrize("name", [name for name in DOORS if name not in eh.MEASURES])
def test_every_function_says_in_words_which_arguments_do_not_fit(name):
    function = getattr(eh, name)
    parameters = inspect.signature(function).parameters.values()
    needed = [each.name for each in parameters if each.default is each.empty and each.kind < 3]
    with pytest.raises(eh.InputTypeError, match=f"{name} has no argument 'nosuch'"):
        function(nosuch=1)
    if needed:
        with pytest.raises(eh.InputTypeError, match=f"^{name} needs {needed[0]}"):
            function()
        first = {needed[0]: 1}
        with pytest.raises(eh.InputTypeError, match=f"{name} (needs|has {needed[0]} twice)"):
            function(1, **first)
    with pytest.raises(eh.InputTypeError, match=f"{name} (needs|reads only)"):
        function(*range(20))


def test_every_criterion_can_be_imported_by_its_name():
    from evenhand import criteria

    assert {name: getattr(criteria, name) for name in eh.CRITERIA} == eh.CRITERIA
    assert set(eh.CRITERIA) <= set(criteria.__all__)


@pytest.mark.parametrize("name", eh.CRITERIA)
def test_help_on_a_criterion_is_about_that_criterion(name):
    criterion = eh.CRITERIA[name]
    page = pydoc.plain(pydoc.render_doc(criterion))
    for said in (criterion.asks, criterion.formula, criterion.is_not, criterion.kind.columns):
        assert said in page
    assert criterion.asks.endswith("?")


def test_errors_can_be_caught_as_ours_or_as_the_built_in_ones():
    for ours, built_in in (
        (eh.InputError, ValueError),
        (eh.InputTypeError, TypeError),
        (eh.MissingExtraError, ImportError),
    ):
        assert issubclass(ours, eh.EvenhandError)
        assert issubclass(ours, built_in)


def test_public_functions_follow_the_ecosystem():
    for function in (eh.evaluate, eh.tally, eh.audit):
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
    assert criterion.range.startswith("1 (equal) to 0" if name.endswith("ratio") else "0 to")
    assert str(criterion).startswith(f"{name}: ")
    assert ("smaller" if name.endswith("ratio") else "larger") in criterion.direction


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
    assert g in eh.statistics.STATISTICS


@pytest.mark.slow
def test_importing_the_package_imports_nothing_heavy():
    heavy = ["pandas", "polars", "pyarrow", "sklearn", "scipy", "narwhals", "duckdb", "matplotlib"]
    code = f"import evenhand, sys; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_an_audit_does_not_wait_for_the_import_of_scipys_statistics():
    code = (
        "import evenhand, sys; y = [0, 1, 1, 0, 1, 0, 1, 1] * 40; "
        "evenhand.audit(y, y[::-1], sensitive_features=[*'abbacaba'] * 40, measures=['mpd']); "
        "evenhand.audit(y, y[::-1], sensitive_features=[*'abbaaaba'] * 40, measures=['mpd']); "
        "print('scipy.stats' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


GROUPS = {
    "short text": np.array([*"abc"]),
    "long text": np.array(["a long name", "another long name", "a name"]),
    "numbers": np.arange(3),
    "a list": None,
}


@pytest.mark.parametrize("kind", GROUPS)
def test_evaluating_is_a_dozen_calls_deep_in_fifteen_files_at_most(kind):
    rng = np.random.default_rng(0)
    y_true, y_pred, codes = rng.integers(0, 2, 2000), rng.integers(0, 2, 2000), np.arange(2000) % 3
    names = GROUPS[kind]
    group = [f"group {code}" for code in codes] if names is None else names[codes]

    def call():
        eh.evaluate("equalized_odds", y_true, y_pred, sensitive_features=group)

    call()  # imports that wait for the first use are not part of it
    depth, files = traced(call)
    assert depth <= 12
    assert len(files) <= 15


def traced(call):
    """How deep the package's own frames go, comprehensions included, and their files.

    Not counted are the checks of arguments that stand before the doors.
    """
    root, depth, deepest, files = eh.__path__[0], 0, 0, set()
    checks = inspect.getsourcefile(suggests_names)

    def profile(frame, event, _):
        nonlocal depth, deepest
        file = frame.f_code.co_filename
        if event not in ("call", "return") or not file.startswith(root) or file == checks:
            return
        depth += 1 if event == "call" else -1
        deepest = max(deepest, depth)
        files.add(file)

    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    return deepest, files
