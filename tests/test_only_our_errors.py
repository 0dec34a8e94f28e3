"""Public functions × ugly inputs: an answer or an error of ours, and no warning that is not."""

import threading
import warnings
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

import evenhand as eh
from evenhand._columns import encode
from evenhand._uncertainty import design
from evenhand.compat import fairlearn
from evenhand.mitigation import LinearPostClassifier, tradeoff
from lanes import one_in

ROWS = 24
RNG = np.random.default_rng(0)
Y, P = (RNG.integers(0, 2, ROWS) for _ in range(2))
G, S = np.tile(["a", "b", "c"], ROWS // 3), RNG.random(ROWS)

TEXTS = pa.array(["a", None, "b"] * (ROWS // 3))
COLUMNS = {
    "None": None,
    "an empty list": [],
    "an empty array": np.array([]),
    "a number": 3,
    "text": "abc",
    "NaN": np.full(ROWS, np.nan),
    "one NaN": np.where(np.arange(ROWS) == 3, np.nan, Y),
    "infinities": np.full(ROWS, np.inf),
    "masked": np.ma.array(Y, mask=np.arange(ROWS) % 7 == 0),
    "all masked": np.ma.array(Y, mask=True),
    "big-endian text": G.astype(">U3"),
    "bytes": G.astype("S1"),
    "zeros": np.zeros(ROWS),
    "tuples": [(1, i % 2) for i in range(ROWS)],
    "lists": [[1]] * ROWS,
    "dicts": [{}] * ROWS,
    "a matrix": np.ones((ROWS, 2)),
    "a cube": np.ones((ROWS, 1, 1)),
    "no axis": np.array(1),
    "complex numbers": np.full(ROWS, 1j),
    "objects": [object() for _ in range(ROWS)],
    "a mixture": [1, "a", None] * (ROWS // 3),
    "dates": np.array(["2024-01-01", "2024-01-02"] * (ROWS // 2), "datetime64[D]"),
    "too short": [1, 0],
    "a set": {0, 1},
    "a dict": {"a": 1},
    "negative": -1.0 - S,
    "huge": np.full(ROWS, 1e300),
    "tiny": np.full(ROWS, 1e-300),
    "near 0": (S - 0.5) * 1e-12,
    "truth values": Y.astype(bool),
    "structures": np.zeros(ROWS, [("a", "i4")]),
    "pandas NA": pd.array([1, None] * (ROWS // 2), "Int64"),
    "categories": pd.Categorical(G),
    "a sparse matrix": sparse.csr_array(np.eye(ROWS)),
    "nulls": pl.Series([None] * ROWS),
    "decimals": [Decimal("0.5")] * ROWS,
    "fractions": [Fraction(1, 3)] * ROWS,
    "long numbers": [10**30] * ROWS,
    "a frame": pd.DataFrame({"a": G}),
    "a function": len,
    "half precision": S.astype(np.float16),
    "half a character": ["\ud800", "b"] * (ROWS // 2),
    "views of text and nulls": TEXTS.cast(pa.string_view()),
    "a dictionary and nulls": TEXTS.dictionary_encode(),
    "no times": np.full(ROWS, np.datetime64("NaT")),
    "one infinity": np.where(np.arange(ROWS) == 3, -np.inf, S),
    "the largest": np.full(ROWS, 1.7e308),
    "the least": np.full(ROWS, 5e-324),
    "two columns of one name": pd.DataFrame(np.ones((ROWS, 2)), columns=["a", "a"]),
    "columns named by tuples": pd.DataFrame({("a", 1): Y, ("a", 2): P}),
    "no columns": pd.DataFrame(),
    "structures of Polars": pl.Series([{"a": 1}] * ROWS),
}
OPTIONS = (
    *(None, "", "x", -1, 0, 2, 1e9, np.nan, np.inf, [], {}, (), object(), np.array([1, 2])),
    *(True, b"x", 3 + 1j, {"a": -1}, {"statistical_parity.mpd": "x"}, ["x"], [None], [1], 10**30),
    *(pd.NA, pd.NaT, slice(1), "\ud800", "x" * 500, [0.1, np.nan], [["x"]], 1.7e308, 5e-324),
    *({"equal_opportunity": np.nan}, {"selection_rate": None}, {"false_positive": "x"}),
    *([("equal_opportunity", "mpd", -1)], [[0, 1e308], [1e308, 0]], np.array(1)),
)
LABELS = {"y_true": Y, "y_pred": P, "sensitive_features": G}
NUMBERS = {"y_true": S, "y_pred": S[::-1], "sensitive_features": G}
GAPS = np.where(np.arange(ROWS) % 8 == 0, None, G.astype(object))
QUICK = {"criteria": ["statistical_parity"], "measures": ["mpd"]}
FRAME = pd.DataFrame({"y": Y, "p": P, "g": G, "s": S})
COUNTS = FRAME.assign(n=np.arange(len(FRAME)))
NUMERIC = np.column_stack([np.unique(G, return_inverse=True)[1], S])
TUNED = LinearPostClassifier(group=0)
NAMES = {"y_true": "y", "y_pred": "p", "sensitive_features": "g"}


def asking(function, criterion):
    def ask(**given):
        return function(given.pop("criterion", criterion), given.pop("y_true", None), **given)

    return ask


def comparison(models=None, **given):
    return eh.compare(given.pop("y_true"), models, **given)


class Stubborn:
    """A model that decides the same of any X."""

    classes_ = (0, 1)

    def predict(self, X):
        return P

    def predict_proba(self, X):
        return np.column_stack([1 - S, S])


def scored(sample_weight=None, y=Y, X=FRAME, **given):
    scorer = eh.make_scorer(given.pop("criterion", "statistical_parity"), **given)
    return scorer(Stubborn(), X, y, sample_weight=sample_weight)


def likely(probabilities, groups=("a", "b"), **given):
    whom = eh.probable(probabilities, groups, **given)
    return eh.bounds("statistical_parity", Y, P, sensitive_features=whom)


def frontier(**given):
    return eh.frontier(given.pop("y_true"), given.pop("y_score"), **given).to_frame()


DAY = eh.tally(None, P, sensitive_features=G)


def watched(counts=DAY, part=None, at="2026-03-01", late=False, **given):
    watch = eh.Watch(given.pop("criteria", "statistical_parity"), **{"favorable": 1, **given})
    watch.update(counts, part=part, at=at, late=late)
    return str(watch.status()), watch.to_markdown()


def remembered(names=None, criterion="statistical_parity", measure="mpd", path="."):
    watch = eh.Watch("statistical_parity", favorable=1)
    watch.update(DAY, at="2026-03-01")
    watch.rename({} if names is None else names)
    watch.timeline(criterion, measure)
    watch.status()[criterion]
    watch.load(path)


def surveyed(**given):
    weights = eh.survey_weights(**given)
    return eh.interval("statistical_parity", None, P, sensitive_features=G, sample_weight=weights)


def gated(**given):
    with suppress(AssertionError):
        eh.assert_even(**given)


def derived(transform="difference", names=None, **given):
    metric = fairlearn.make_derived_metric(
        metric=fairlearn.selection_rate, transform=transform, sample_param_names=names
    )
    return metric(**given)


@cache
def models():
    return eh.compare(Y, {"m": P, "n": 1 - P}, sensitive_features=G, **QUICK)


@cache
def found():
    return eh.audit(**LABELS, **QUICK)


@cache
def curve():
    return eh.frontier(Y, S, sensitive_features=G, values=2)


def of(result, method):
    """A method of a result, which is made when it is first asked for."""
    return lambda **given: getattr(result(), method)(**given)


SCORED = {"y_true": Y, "y_score": S, "sensitive_features": G, "values": 2}
REPLICATES = RNG.random((ROWS, 4)) + 1

DOORS = {  # the function, what it is given, its columns and its options
    "tally": (eh.tally, LABELS, ("sample_weight", "strata"), ()),
    "tally of numbers": (partial(eh.tally, task="regression"), NUMBERS, ("sample_weight",), ()),
    "groups": (
        eh.groups,
        {"sensitive_features": G},
        (),
        ("bins", "missing", "min_count", "rare"),
    ),
    "distribution": (
        eh.distribution,
        {"values": S, "sensitive_features": G},
        ("y_true", "sample_weight"),
        (),
    ),
    "tally of probabilities": (
        eh.tally,
        {
            "y_true": Y,
            "y_pred": np.column_stack([S, 1 - S]),
            "classes": [0, 1],
            "sensitive_features": G,
        },
        ("sample_weight",),
        (),
    ),
    **{
        f"evaluate {name}": (
            asking(eh.evaluate, name),
            {**(NUMBERS if name in ("strong_parity", "weak_parity") else LABELS), **more},
            ("sample_weight", "favorable"),
            ("criterion", "measure", "aggregate", "transform", "tau", "g"),
        )
        for name, more in {
            "statistical_parity": {},
            "treatment_equality": {},
            "strong_parity": {},
            "weak_parity": {},
            "calibration_parity": {"y_score": S},
        }.items()
    },
    "interval": (
        asking(eh.interval, "statistical_parity"),
        LABELS,
        ("sample_weight",),
        ("criterion", "measure", "aggregate", "transform", "tau", "confidence", "method"),
    ),
    "chance": (
        asking(eh.chance, "statistical_parity"),
        {**LABELS, "replicates": 20},
        ("sample_weight",),
        ("criterion", "measure", "aggregate", "transform", "tau", "replicates"),
    ),
    "audit": (
        eh.audit,
        {**LABELS, **QUICK},
        ("sample_weight", "strata", "favorable", "y_score"),
        (
            *("criteria", "measures", "fail_if", "confidence", "margin", "control", "depth"),
            *("title", "task", "missing", "min_count", "rare", "bins", "threshold"),
        ),
    ),
    "compare": (
        comparison,
        {"y_true": Y, "models": {"m": P, "n": 1 - P}, "sensitive_features": G, **QUICK},
        ("sample_weight",),
        ("criteria", "measures", "task", "confidence", "transform", "g"),
    ),
    "frontier": (
        frontier,
        {**SCORED, "rate_error": None, "truth": "labels"},
        ("y_pred", "sample_weight", "group_proba"),
        (
            *("criterion", "measure", "cost", "values", "test", "held_out", "also", "at_least"),
            *("at_most", "capacity", "reference", "rate_error", "truth", "recalibrate"),
            *("favorable", "classes", "confidence", "random_state", "data"),
        ),
    ),
    "frontier, by rows left out": (
        partial(frontier, **SCORED, rate_error=0.05),
        {},
        ("sample_weight",),
        (),
    ),
    "frontier of amounts": (
        frontier,
        {"y_true": S, "y_score": S[::-1], "sensitive_features": G, "criterion": "weak_parity"},
        ("sample_weight",),
        ("measure", "values", "test", "held_out", "also", "confidence"),
    ),
    "rule": (of(curve, "rule"), {"value": 0.1}, (), ("value", "draw")),
    "Watch": (
        watched,
        {},
        ("counts", "groups"),
        (
            *("criteria", "bounds", "measures", "confidence", "method", "favorable", "groups"),
            *("baseline", "limits", "window", "quiet_days", "remember", "part", "at", "late"),
        ),
    ),
    "Watch, later": (remembered, {}, (), ("names", "criterion", "measure", "path")),
    "survey_weights": (
        surveyed,
        {"sample_weight": S + 1, "replicate_weights": REPLICATES, "method": "acs"},
        ("fpc",),
        ("method", "fay", "fpc"),
    ),
    "survey_weights by scale": (
        surveyed,
        {"sample_weight": S + 1, "replicate_weights": REPLICATES, "scale": 1.0},
        (),
        ("scale",),
    ),
    "count_query": (
        eh.count_query,
        {"table": "t", "y_true": "y", "y_pred": "p", "sensitive_features": "g"},
        (),
        (
            *("table", *NAMES, "dialect", "y_score", "threshold", "digits", "sample_weight"),
            *("strata", "task", "rows", "min_count", "person"),
        ),
    ),
    "read_evaluation": (
        eh.read_evaluation,
        {
            "path": Path(__file__).parent / "language_models" / "loans.json",
            "sensitive_features": "group",
            "score": "match",
        },
        (),
        ("path", "sensitive_features", "score", "cluster", "favorable", "filter_name", "missing"),
    ),
    "assert_even": (
        gated,
        {**LABELS, "fail_if": "statistical_parity.mpd > 0.99"},
        ("y_score",),
        ("fail_if", "inconclusive", "threshold"),
    ),
    "a reference": (asking(eh.evaluate, "statistical_parity"), LABELS, ("to",), ("to",)),
    "clusters": (asking(eh.interval, "equal_opportunity"), LABELS, ("cluster",), ()),
    "squared weights": (
        eh.distribution,
        {"values": S, "sensitive_features": G},
        ("squared_weight", "cluster"),
        (),
    ),
    "sensitivity": (
        of(models, "sensitivity"),
        {},
        (),
        ("orders", "transforms", "aggregates", "depth", "groupings", "verdicts"),
    ),
    "tables of models": (of(models, "to_frame"), {}, (), ("like", "table")),
    "finding": (
        of(found, "finding"),
        {"criterion": "statistical_parity"},
        (),
        ("criterion", "measure"),
    ),
    "groups' values": (of(found, "by_group_frame"), {}, (), ("criterion",)),
    "model card": (of(found, "to_model_card"), {}, (), ("model", "dataset")),
    "tally of a table": (eh.tally, {"data": FRAME, **NAMES}, (), ("data", *NAMES, "sums")),
    "tally of counts": (
        eh.tally,
        {"data": COUNTS, **NAMES, "rows": "n"},
        (),
        ("data", *NAMES, "rows", "rate", "digits", "sums"),
    ),
    "audit of a table": (
        eh.audit,
        {"data": FRAME, **NAMES, **QUICK},
        (),
        ("data", *NAMES, "sample_weight", "strata", "y_score"),
    ),
    "make_scorer": (
        scored,
        {"X": FRAME, "y": Y, "sensitive_features": "g"},
        ("sample_weight", "favorable"),
        (
            *("criterion", "sensitive_features", "strata", "measure", "aggregate"),
            *("transform", "tau", "g", "classes"),
        ),
    ),
    "audit of a model": (
        eh.audit,
        {"data": FRAME, "y_true": Y, "sensitive_features": "g", "y_pred": Stubborn(), **QUICK},
        ("sample_weight", "strata", "favorable", "y_score"),
        (
            *("y_pred", "criteria", "measures", "fail_if", "confidence", "margin", "task"),
            *("sensitive_features", "threshold", "title"),
        ),
    ),
    "tradeoff": (
        tradeoff,
        {"estimator": TUNED, "X": NUMERIC, "y": Y, "grid": [0.0, 0.5]} | QUICK,
        ("sample_weight", "favorable"),
        ("estimator", "grid", "test", "criteria", "measures", "favorable"),
    ),
    "MetricFrame": (
        fairlearn.MetricFrame,
        {"metrics": fairlearn.selection_rate, **LABELS},
        ("control_features",),
        ("metrics", "sample_params", "n_boot", "ci_quantiles", "random_state"),
    ),
    "make_derived_metric": (derived, LABELS, ("sample_weight",), ("transform", "names")),
    "bounds": (
        asking(eh.bounds, "statistical_parity"),
        {**LABELS, "sensitive_features": GAPS, "missing": "unknown"},
        ("sample_weight", "strata", "cluster"),
        ("criterion", "measure", "fail_if", "confidence", "favorable", "min_count", "task"),
    ),
    "probable": (
        likely,
        {"probabilities": np.column_stack([S, 1 - S])},
        ("known",),
        ("groups", "assuming", "known"),
    ),
    "explain": (
        asking(eh.explain, "statistical_parity"),
        LABELS,
        ("sample_weight", "cluster", "by"),
        ("criterion", "between", "confidence", "favorable", "by"),
    ),
    "contrasts": (
        asking(eh.contrasts, "statistical_parity"),
        LABELS,
        ("sample_weight", "strata", "cluster"),
        ("criterion", "to", "by", "g", "confidence", "favorable"),
    ),
    "a ranking": (
        partial(eh.audit, criteria=["exposure_parity"]),
        {
            "y_true": Y,
            "y_pred": np.tile(np.arange(4) + 1, ROWS // 4),
            "sensitive_features": G,
            "query": np.repeat(np.arange(ROWS // 4), 4),
        },
        ("exposure", "sample_weight", "cluster"),
        ("discount", "top_k"),
    ),
    "a score that is cut": (
        asking(eh.evaluate, "statistical_parity"),
        {"y_true": Y, "y_score": S, "threshold": 0.5, "sensitive_features": G},
        (),
        (
            *("threshold", "score_of", "task", "favorable", "bins", "missing", "min_count"),
            *("rare", "classes", "discount", "top_k", "rows", "rate", "query", "exposure"),
        ),
    ),
    "compare columns of a table": (
        comparison,
        {"y_true": "y", "models": ["p"], "sensitive_features": "g", "data": FRAME, **QUICK},
        (),
        ("data", "y_true", "models", "sensitive_features", "cluster", "rows"),
    ),
    # Metrics of one kind are made by one function: some of each kind.
    **{
        f"compat {name}": (getattr(fairlearn, name), LABELS, ("sample_weight",), ("method",))
        for name in ("zero_one_loss_difference", "equalized_odds_ratio")
    },
    **{
        f"compat {name}": (getattr(fairlearn, name), LABELS, ("sample_weight",), ())
        for name in (
            *("accuracy_score_group_min", "roc_auc_score_group_min"),
            *("r2_score_group_min", "log_loss_group_max"),
        )
    },
    **{
        f"compat {name}": (
            getattr(fairlearn, name),
            {"y_true": Y, "y_pred": P},
            ("pos_label",) if name.endswith("_rate") else (),
            (),
        )
        for name in ("selection_rate", "true_positive_rate", "mean_prediction", "count")
    },
}


POWER = {
    "power": (
        eh.power,
        {"sizes": [40, 60], "rates": [0.2, 0.4]},
        (),
        (
            *("sizes", "rates", "rate", "means", "sd", "difference", "apart", "margin", "power"),
            "confidence",  # what is read of a tally alone is tried with one
        ),
    ),
    "power of a tally": (
        eh.power,
        {"sizes": eh.tally(**LABELS), "difference": 0.2},
        (),
        ("rates", "rate", "difference", "apart", "margin", "criterion", "favorable"),
    ),
}


def answered(case, function, given, *allowed):
    """Call, and let nothing through that is not ours; what does come through names the case."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for warning in (eh.UndefinedWarning, *allowed):
            warnings.simplefilter("ignore", warning)
        try:
            function(**given)
        except eh.EvenhandError:
            pass
        except BaseException as error:
            error.add_note(f"the case: {case}")
            raise


def every_third(third, names, values):
    """A third of all pairs, in which every name has a third of the values, and others the next."""
    pairs = ((i + j, name, value) for i, name in enumerate(names) for j, value in enumerate(values))
    return [(name, value) for place, name, value in pairs if place % 3 == third]


def allowed_at(door):
    """Warnings that belong to the interface: fairlearn's metrics and scikit-learn's estimators."""
    if door == "tradeoff":
        return (DataConversionWarning,)
    return (UserWarning,) if door.startswith(("compat", "MetricFrame", "make_derived")) else ()


@pytest.mark.slow
@pytest.mark.parametrize(("door", "third"), one_in(3, DOORS, range(3)))
def test_an_ugly_column_has_an_answer_or_an_error_of_ours(door, third):
    function, given, more, _ = DOORS[door]
    left_out = {
        "missing",
        "threshold",
        "replicates",
        "values",
        "rate_error",
        "truth",
        "criterion",
        "method",
        *QUICK,
    }
    names = [name for name in (*given, *more) if name not in left_out]
    for name, ugly in every_third(third, names, COLUMNS):
        case = f"{door}({name}={ugly})"
        answered(case, function, given | {name: COLUMNS[ugly]}, *allowed_at(door))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("door", "third"), one_in(3, [name for name in DOORS if DOORS[name][3]], range(3))
)
def test_an_ugly_option_has_an_answer_or_an_error_of_ours(door, third):
    function, given, _, options = DOORS[door]
    for name, value in every_third(third, options, OPTIONS):
        forever = isinstance(value, int | float) and value > 1e8
        if name not in ("replicates", "n_boot") or not forever:
            case = f"{door}({name}={value!r})"
            answered(case, function, given | {name: value}, *allowed_at(door))


@pytest.mark.slow
@pytest.mark.parametrize(("door", "third"), one_in(3, POWER, range(3)))
def test_an_ugly_supposition_has_an_answer_or_an_error_of_ours(door, third, monkeypatch):
    monkeypatch.setattr(design, "REFERENCE", 8_000)  # draws: how sure is not asked here
    monkeypatch.setattr(design, "MANY", 400)
    function, given, _, options = POWER[door]
    for name, value in every_third(third, options, [*OPTIONS, *COLUMNS.values()]):
        answered(f"{door}({name}={value!r})", function, given | {name: value})


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "third"), one_in(3, [pd.DataFrame, pl.from_pandas], range(3)))
def test_an_ugly_column_of_a_frame_has_an_answer_or_an_error_of_ours(kind, third):
    rates = {"y_true": "y", "sensitive_features": "g", "rows": "p", "rate": "s", "digits": 0}
    for name, ugly in every_third(third, list(FRAME), COLUMNS):
        try:
            frame = {"data": kind(FRAME.assign(**{name: COLUMNS[ugly]}))}
        except Exception:  # no library has frames of such columns
            continue
        case = f"the column {name} is {ugly}"
        answered(case, eh.tally, {**frame, **NAMES, "sample_weight": "s"})
        answered(case, eh.tally, {**frame, **NAMES, "rows": "s"})
        answered(case, eh.tally, {**frame, **rates})
        answered(case, eh.audit, {**frame, **NAMES, **QUICK, "y_score": "s"})


@pytest.mark.parametrize("kind", [pl.DataFrame, pl.LazyFrame, pd.DataFrame])
def test_a_frame_with_a_score_is_audited(kind):
    frame = kind(FRAME.to_dict("list"))
    found = eh.audit(data=frame, **NAMES, y_score="s", **QUICK)
    assert found.finding("statistical_parity", "mpd").value >= 0


@pytest.mark.slow
@pytest.mark.parametrize("shift", [0.0, 0.05, -0.05, -3.0])
@pytest.mark.parametrize("seed", range(4))
def test_means_near_0_and_below_are_audited_by_every_measure(seed, shift):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=200) + shift
    predicted = y + 0.3 * rng.normal(size=200)
    found = eh.audit(
        y, predicted, sensitive_features=rng.choice([*"abc"], 200), criteria=["weak_parity"]
    )
    for measure in ("mpd", "gini", "pq"):
        value = found.finding("weak_parity", measure)
        assert value.low <= value.value <= value.high


def test_a_column_that_another_thread_changes_is_read_all_the_same():
    """Two labels change places under the reader; every row is one of them, and none is lost."""
    values = np.array(["a", "b"] * 200_000, dtype=object)
    stop = threading.Event()

    def change():
        while not stop.is_set():
            values[:] = [str(RNG.random())] * len(values)
            values[:] = "b"

    other = threading.Thread(target=change, daemon=True)
    other.start()
    try:
        for _ in range(5):
            column = encode(values)
            assert len(column) == len(values)
            assert column.codes.max() < len(column.labels)
    finally:
        stop.set()
        other.join()


def test_a_title_is_no_markup_in_markdown():
    title = "a\n# b\n<script>x</script> [l](javascript:1) `c` | *e* ![i](u)"
    text = eh.audit(**LABELS, **QUICK, title=title).to_markdown()
    head, *rest = text.splitlines()
    assert head == (r"# a # b \<script\>x\</script\> \[l\](javascript:1) \`c\` \| \*e\* !\[i\](u)")
    assert not any("script>" in line for line in rest)
