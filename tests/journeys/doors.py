"""Every door that answers the same question: one number, or an error of ours."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import narwhals as nw
import numpy as np
import pandas as pd
from click.testing import CliRunner

import evenhand as eh
from evenhand.cli.audit import audit as audit_command
from evenhand.cli.failures import STATUSES
from evenhand.compat import fairlearn
from fuzz.counting import strictly
from journeys.generator import ENGINES, NO_SCORE, ONE_GROUP, Journey
from journeys.oracle import Truth, close, rounding
from journeys.said import group_of, inside

Found = eh.Audit | None
Door = Callable[[Journey, Found], None]
SWEPT = ("strong_parity", "wasserstein_parity")
RATES = (
    "statistical_parity",
    "equalized_odds",
    "equal_opportunity",
    "predictive_equality",
    "predictive_parity",
    "false_omission_rate_parity",
    "accuracy_parity",
    "error_parity",
)


class Given:
    """A model whose predictions stand in a column of its features."""

    def __init__(self, journey: Journey) -> None:
        if journey.task != "regression":
            self.classes_ = np.array(sorted(journey.classes))

    def predict(self, X: pd.DataFrame) -> Any:
        return X["p"]


def audited(journey: Journey) -> Found:
    """The audit of the journey's columns; None where it is refused, as it must or may be."""
    asked = {"criteria": journey.criteria, "measures": journey.measures}
    audit = answer(journey, lambda: eh.audit(**journey.columns, **journey.options, **asked))
    assert audit is None or not journey.refused, f"audited, though {journey.refused}"
    return audit


def answer(journey: Journey, ask: Callable[[], Any]) -> Any:
    """What a door answers; None where it refuses, as it must or may."""
    try:
        found = ask()
    except eh.EvenhandError as error:
        excused(journey, error)
        return None
    must = journey.refused not in ("", ONE_GROUP, NO_SCORE)
    assert not must, f"taken, though {journey.refused}"
    return found


def excused(journey: Journey, error: eh.EvenhandError) -> None:
    """Let a refusal pass where there is a reason for one."""
    if "have one row each" in str(error):  # people, not groups of them
        sizes = Counter(map(repr, zip(*journey.people.values(), strict=True)))
        assert 2 * sum(size == 1 for size in sizes.values()) > len(sizes), error
        return
    if "both labels" in str(error) and len(set(map(str, journey.truth or ()))) < 2:
        return  # of one label nobody knows the other
    spelled = {str(label).strip().casefold() for label in journey.classes}
    if "capitals or spaces alone" in str(error) and len(spelled) < len(journey.classes):
        return  # labels so alike, of which few rows have either
    if not (journey.refused or journey.doubtful):
        raise AssertionError(f"refused: {error}") from error


class Question:
    """A criterion and a measure that the brute force answers, of one journey."""

    def __init__(self, journey: Journey, found: Found, among: tuple[str, ...] = ()) -> None:
        self.journey, self.found = journey, found
        self.truth = Truth(journey)
        known = journey.criteria or ["accuracy_parity", "statistical_parity", "equal_opportunity"]
        if journey.task == "regression":
            known = journey.criteria or ["weak_parity", "performance_parity(mae)"]
        fits = [name for name in known if not among or name in among]
        fits = [name for name in fits if journey.truth is not None or name == "statistical_parity"]
        if len(journey.classes) == 2 and journey.favorable is None:
            whole = ("statistical_parity", "equalized_odds", "accuracy_parity", "error_parity")
            fits = [name for name in fits if name in whole]
        self.criterion = journey.pick(fits, 1)[0] if fits else ""
        measures = [m for m in journey.measures if self.truth.knows(self.criterion, m)]
        self.measure = "ratio" if self.criterion == "selection_rate_ratio" else ""
        self.measure = self.measure or (journey.pick(measures, 1) or [""])[0]
        self.fits = bool(self.criterion and self.measure)
        if journey.refused and self.criterion in (*SWEPT, "performance_parity(auroc)"):
            self.fits = False  # it is not given what must be refused

    @property
    def wanted(self) -> float:
        return self.truth.value(self.criterion, self.measure)

    @property
    def asked(self) -> dict[str, Any]:
        """The criterion for the doors that take a statistic beside it."""
        name, _, statistic = self.criterion.removesuffix(")").partition("(")
        return {"criterion": name, **({"g": statistic} if statistic else {})}

    @property
    def columns(self) -> dict[str, Any]:
        """Columns for the doors that take decisions, and groups that are settled."""
        journey, given = self.journey, self.journey.columns
        settled = {
            name: journey.options[name]
            for name in ("missing", "min_count", "rare")
            if name in journey.options
        }
        if settled:
            given["sensitive_features"] = eh.groups(given["sensitive_features"], **settled)
        given.setdefault("y_pred", journey.decided)
        if self.criterion in SWEPT and journey.task != "regression":
            given["y_pred"], given["y_true"] = given.pop("y_score"), None
            if journey.kinds["y_score"] == "matrix":  # a distribution is of one column
                given["y_pred"] = journey.score
        if "auroc" not in self.criterion:
            given.pop("y_score", None)
        given.pop("cluster", None)
        return given

    @property
    def favorable(self) -> dict[str, Any]:
        """Which label is favorable, and which one the score is of, where there is one."""
        names = ["favorable"] + ["score_of"] * ("auroc" in self.criterion)
        known = {name: self.journey.options.get(name) for name in names}
        swept = self.criterion in SWEPT
        return {name: label for name, label in known.items() if label is not None and not swept}

    def holds(self, found: float | None, door: str) -> None:
        """Whether a door's number is that of the brute force."""
        wanted = self.wanted
        scale = max(rounding(self.journey), abs(wanted)) if math.isfinite(wanted) else 1.0
        assert close(found, wanted, scale), (
            f"{self.criterion}.{self.measure} at {door} is {found}, by brute force {wanted}"
        )


def evaluated(journey: Journey, found: Found) -> None:
    """`evaluate`, a criterion of a tally, and `interval`."""
    question = Question(journey, found)
    if not question.fits:
        return
    options = {"measure": question.measure, **question.favorable}

    def ask() -> float:
        return eh.evaluate(**question.asked, **question.columns, **options)

    value = answer(journey, ask)
    if value is not None:
        question.holds(value, "evaluate")


def bounded(journey: Journey, found: Found) -> None:
    """`interval` holds the value, and is the audit's."""
    question = Question(journey, found)
    if not question.fits:
        return
    options = {"measure": question.measure, **question.favorable}
    confidence = journey.options.get("confidence", 0.95)

    def ask() -> Any:
        given = question.columns
        if journey.cluster is not None:
            given["cluster"] = journey.columns["cluster"]
        return eh.interval(**question.asked, **given, **options, confidence=confidence)

    value = answer(journey, ask)
    if value is None:
        return
    question.holds(value.value, "interval")
    inside(value.low, value.value, value.high, question.criterion)


def tallied(journey: Journey, found: Found) -> None:
    """A tally of the rows, and of a table in an engine, asked by its criterion and audited."""
    question = Question(journey, found, RATES)
    if not question.fits or journey.task == "regression":
        return
    options = {"measure": question.measure, **question.favorable}
    counts = answer(journey, lambda: eh.tally(**question.columns))
    if counts is None:
        return
    value = answer(journey, lambda: eh.CRITERIA[question.criterion](counts, **options))
    if value is None:
        return
    question.holds(value, "a tally")
    asked = {"criteria": question.criterion, "measures": question.measure, **question.favorable}
    whole = answer(journey, lambda: eh.audit(counts, **asked, depth=3))
    if whole is not None and len(whole.evidence.columns) == len(journey.people):
        question.holds(whole.finding(question.criterion, question.measure).value, "audit(tally)")


def contrasted(journey: Journey, found: Found) -> None:
    """Differences from the best: the largest is the MPD, and the best differs by nothing."""
    question = Question(journey, found, ("equal_opportunity", "accuracy_parity", "error_parity"))
    if not question.fits or (
        question.criterion == "equal_opportunity" and journey.favorable is None
    ):
        return
    options = question.favorable
    all_of = answer(
        journey,
        lambda: eh.contrasts(question.criterion, **question.columns, **options),
    )
    if all_of is None:
        return
    (_, values), *more = question.truth.cells(question.criterion)
    if more:
        return
    for one in all_of:
        if math.isnan(one.value):
            continue
        inside(one.low, one.value, one.high, one)
        own = values[group_of(question.truth, one.group)]
        best = max(values.values()) if one.value <= 0 else min(values.values())
        if len(values) > 1:
            assert close(one.value, own - best), (one, values)


def framed(journey: Journey, found: Found) -> None:
    """The same rows in the engine that holds them."""
    question = Question(journey, found)
    if not question.fits or "pandas another order" in journey.kinds.values():
        return
    engine = journey.pick(list(ENGINES), 1)[0]
    try:
        table = ENGINES[engine](journey.table)
    except Exception:  # libraries differ in what they hold
        return
    asked = {"criteria": question.criterion, "measures": question.measure}
    depth = {"depth": len(journey.people)}

    def ask() -> eh.Audit:
        return eh.audit(data=table, **journey.names, **journey.options, **asked, **depth)

    audit = answer(journey, ask)
    if audit is not None and len(audit.evidence.columns) == len(journey.people):
        where = f"audit_frame of {engine}"
        question.holds(audit.finding(question.criterion, question.measure).value, where)
        rows = sum(audit.evidence.rows)
        assert rows == len(question.truth.rows), (where, rows)


def predicted_by(journey: Journey, found: Found) -> None:
    """A fitted model on features that hold the groups, and a scorer."""
    question = Question(journey, found, (*RATES, "weak_parity", "performance_parity(mae)"))
    if not question.fits or journey.predicted is None or journey.task == "multiclass":
        return
    table = journey.table
    names = list(journey.people)
    without = ("task", "threshold", "score_of")
    options = {key: value for key, value in journey.options.items() if key not in without}
    columns = {"sample_weight": journey.weight, "cluster": journey.cluster}
    given = {name: values for name, values in columns.items() if values is not None}
    asked = {"criteria": question.criterion, "measures": question.measure, "depth": len(names)}
    y = table["y"] if journey.truth is not None else None
    if y is None or journey.refused:
        return
    audit = answer(
        journey,
        lambda: eh.audit(
            y, Given(journey), data=table, sensitive_features=names, **given, **options, **asked
        ),
    )
    if audit is not None and len(audit.evidence.columns) == len(names):
        question.holds(audit.finding(question.criterion, question.measure).value, "audit_model")
    if set(options) & {"missing", "min_count"}:
        return
    scorer = eh.make_scorer(
        **question.asked,
        sensitive_features=names,
        measure=question.measure,
        **question.favorable,
    )
    score = answer(journey, lambda: scorer(Given(journey), table, y, journey.weight))
    if score is not None:
        sign = 1 if question.measure == "ratio" else -1
        question.holds(sign * score, "make_scorer")


def compared(journey: Journey, found: Found) -> None:
    """A model beside itself: the same value twice, and no difference."""
    question = Question(journey, found, (*RATES, "weak_parity", "performance_parity(mae)"))
    if not question.fits or set(journey.options) & {"missing", "min_count"}:
        return
    given = question.columns
    predicted, truth = given.pop("y_pred"), given.pop("y_true")
    options = {
        key: journey.options[key] for key in ("favorable", "confidence") if key in journey.options
    }
    if journey.task == "regression":
        options["task"] = "regression"
    both = {"m": predicted, "again": predicted}
    asked = {"criteria": question.criterion, "measures": question.measure}
    found_ = answer(journey, lambda: eh.compare(truth, both, **given, **options, **asked))
    if found_ is None:
        return
    table = found_.document()
    strictly(json.dumps(table, allow_nan=False))
    for value in nw.from_native(found_.to_frame())["value"].to_list():
        question.holds(value, "compare")
    pairs = nw.from_native(found_.differences)
    differences = (pairs[name].to_list() for name in ("difference", "beyond_chance"))
    for value, beyond in zip(*differences, strict=True):
        assert not abs(value) > 1e-12, value
        assert not beyond
    found_.to_markdown()
    if journey.chance(0.2):
        found_.to_html()


def gated(journey: Journey, found: Found) -> None:
    """`assert_even` fails exactly where the audit's interval says so."""
    question = Question(journey, found, RATES)
    if not question.fits or math.isnan(question.wanted):
        return
    bound = round(float(journey.rng.choice([0.02, 0.1, 0.5])), 3)
    gate = f"{question.criterion}.{question.measure} > {bound}"
    options = {key: v for key, v in journey.options.items() if key != "margin"}
    asked = {"criteria": question.criterion, "measures": question.measure}
    depth = {"depth": len(journey.people)}
    try:
        whole = eh.audit(**journey.columns, **options, **asked, **depth)
        outcome = ""
        eh.assert_even(**journey.columns, **options, fail_if=gate)
    except eh.EvenhandError as error:
        excused(journey, error)
        return
    except AssertionError as error:
        outcome = str(error)
    value = whole.finding(question.criterion, question.measure)
    if not outcome:
        assert value.high <= bound, (gate, value.high)
    if "FAILED" in outcome:
        assert value.low > bound, (gate, value.low, outcome)
    if value.low > bound:
        assert "FAILED" in outcome, (gate, value.low, outcome)


def counts(journey: Journey, found: Found) -> None:
    """A table of counts, in an engine, says what its rows say."""
    question = Question(journey, found, RATES)
    if not question.fits or journey.task == "regression" or journey.refused:
        return
    if journey.weight is not None or journey.truth is None:
        return
    table = journey.table.assign(p=journey.decided)
    keys = ["y", "p", *journey.people]
    try:
        grouped = table.groupby(keys, dropna=False, observed=True).size().rename("n").reset_index()
        engine = journey.pick(list(ENGINES), 1)[0]
        held = ENGINES[engine](grouped)
    except Exception:  # pandas cannot order some labels beside None
        return
    settled = {
        name: journey.options[name]
        for name in ("missing", "min_count", "rare")
        if name in journey.options
    }
    people = list(journey.people)
    names = {"y_true": "y", "y_pred": "p", "rows": "n", "sensitive_features": people, **settled}
    counted = answer(journey, lambda: eh.tally(data=held, **names))
    if counted is not None:
        options = {"measure": question.measure, **question.favorable}
        value = answer(journey, lambda: eh.CRITERIA[question.criterion](counted, **options))
        if value is not None:
            question.holds(value, f"tally_counts of {engine}")


def watched(journey: Journey, found: Found) -> None:
    """A watch over the rows, kept and read again, knows what the whole shows."""
    question = Question(journey, found, RATES)
    if not question.fits or journey.task == "regression" or journey.refused:
        return
    if journey.weight is not None or set(journey.options) & {"missing", "min_count"}:
        return
    truth, decided, group = journey.truth, journey.decided, journey.people
    named = question.favorable
    watch = eh.Watch(question.criterion, measures=question.measure, **named)
    parts = np.array_split(np.arange(journey.rows), int(journey.rng.integers(1, 4)))
    assert decided is not None
    for day, part in enumerate(parts, 1):
        rows = {name: [column[k] for k in part] for name, column in group.items()}
        try:
            counts = eh.tally(
                None if truth is None else [truth[k] for k in part],
                [decided[k] for k in part],
                sensitive_features=rows,
            )
            watch.update(counts, part=f"part {day}", at=f"2026-03-{day:02}")
        except eh.EvenhandError:
            return  # a part may lack what is asked of it
    if journey.chance(0.5):
        with tempfile.TemporaryDirectory() as folder:
            try:
                watch.save(Path(folder) / "state")
            except eh.EvenhandError as error:
                assert "cannot be stored" in str(error), error  # noqa: PT017
                return
            watch = eh.Watch.load(Path(folder) / "state")
    status = watch.status()
    watch.to_markdown()
    watch.to_openmetrics()
    if journey.chance(0.2):
        watch.to_html()
    for finding in status.findings:
        interval = finding.intervals[question.measure]
        if len(parts) == 1:  # of several parts it is about the gaps within them, as days know
            question.holds(interval.value, "watch")
        inside(interval.low, interval.value, interval.high, "watch")


def metric_frame(journey: Journey, found: Found) -> None:
    """fairlearn's frame: rates by group, and their difference."""
    if journey.task != "binary" or journey.favorable is None or journey.truth is None:
        return
    if journey.refused or journey.doubtful or set(journey.options) & {"missing", "min_count"}:
        return
    truth = Truth(journey)
    if len(truth.classes) != 2 or len(journey.people) > 1:
        return
    rate = partial(fairlearn.selection_rate, pos_label=journey.favorable)
    metrics = {"selection_rate": rate, "accuracy": fairlearn_accuracy()}
    weights = {}
    if journey.weight is not None:
        given = np.array(journey.weight)
        weights = {"sample_params": {name: {"sample_weight": given} for name in metrics}}
    frame = fairlearn.MetricFrame(
        metrics=metrics,
        y_true=journey.truth,
        y_pred=journey.decided,
        sensitive_features=list(*journey.people.values()),
        **weights,
    )
    for name in metrics:
        values = truth.metric(name)
        difference = float(frame.difference()[name])
        assert close(difference, max(values.values()) - min(values.values())), (name, values)
        for group, value in frame.by_group[name].items():
            assert close(float(value), values[group_of(truth, group)]), (name, group, value)


def fairlearn_accuracy() -> Callable[..., float]:
    from sklearn.metrics import accuracy_score

    return accuracy_score  # type: ignore[no-any-return]


def on_device(journey: Journey, found: Found) -> None:
    """Counts of tensors, in batches."""
    question = Question(journey, found, RATES)
    if not question.fits or journey.task == "regression" or journey.refused:
        return
    if journey.weight is not None or journey.truth is None or len(journey.people) > 1:
        return
    if set(journey.options) & {"missing", "min_count"}:
        return
    torch = __import__("torch")
    from evenhand.torch import DeviceTally

    truth, groups = question.truth, question.truth.groups
    counts = DeviceTally(classes=truth.classes, groups=groups)
    of = {label: k for k, label in enumerate(truth.classes)}
    whose = {group: k for k, group in enumerate(groups)}
    codes = torch.tensor([(of[row.p], of[row.y], whose[row.g]) for row in truth.rows])
    for batch in codes.split(7 if len(codes) < 50 else 64):
        counts.update(*batch.T)
    options = {"measure": question.measure, **question.favorable}
    value = answer(journey, lambda: eh.CRITERIA[question.criterion](counts.tally(), **options))
    if value is not None:
        question.holds(value, "DeviceTally")


def traced(journey: Journey, found: Found) -> None:
    """A frontier knows where the model is."""
    if journey.task != "binary" or journey.score is None or not journey.chance(0.25):
        return
    if journey.refused or set(journey.options) & {"missing", "min_count"}:
        return
    if journey.truth is not None and len(set(journey.truth)) < 2:
        return  # the other class is asked for by name
    question = Question(journey, found, ("statistical_parity", "equal_opportunity"))
    if not question.fits or question.measure not in ("mpd", "gini", "pq") or journey.rows > 200:
        return
    if math.isnan(question.wanted):  # fewer than two groups have rows of it
        return
    given = question.columns
    given["y_score"] = journey.columns["y_score"]
    of = {key: journey.options[key] for key in ("score_of",) if key in journey.options}
    curve = answer(
        journey,
        lambda: eh.frontier(
            **given,
            **question.favorable,
            **of,
            criterion=question.criterion,
            measure=question.measure,
            values=2,
            rate_error=None,
        ),
    )
    if curve is None:
        return
    if question.measure == "mpd":
        question.holds(curve.model.value, "frontier")
    assert all(isinstance(line, str) for line in curve.sentences)
    assert len(curve.to_frame()) == 2


def reordered(journey: Journey, found: Found) -> None:
    """The same rows in another order, all columns alike, are the same audit."""
    if found is None or journey.doubtful:
        return
    order = journey.rng.permutation(journey.rows).tolist()

    def moved(column: list[Any] | None) -> list[Any] | None:
        return None if column is None else [column[k] for k in order]

    columns = {
        "y_true": moved(journey.truth),
        "y_pred": moved(journey.predicted),
        "y_score": moved(journey.score),
        "sample_weight": moved(journey.weight),
        "cluster": moved(journey.cluster),
        "sensitive_features": {name: moved(column) for name, column in journey.people.items()},
    }
    criteria = [finding.criterion for finding in found.findings]
    asked = {"criteria": criteria, "measures": journey.measures}
    other = eh.audit(**columns, **journey.options, **asked)
    for one, two in zip(found.measured, other.measured, strict=True):
        for name in ("value", "low", "high"):
            a, b = getattr(one, name), getattr(two, name)
            alike = close(a, b, max(1.0, abs(b)))
            if name != "value":  # a skewness is the difference of sums of cubes, which rounds
                alike = alike or math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-6)
            assert alike, (one.criterion, one.measure, name, a, b)


def commanded(journey: Journey, found: Found) -> None:
    """The command line on a file of the rows: a stated status, the same number, whole files."""
    question = Question(journey, found)
    if not question.fits or "pandas another order" in journey.kinds.values():
        return
    gate = f"{question.criterion}.{question.measure} > 0.2"
    gated = question.criterion in RATES and question.measure == "mpd"
    with tempfile.TemporaryDirectory() as folder:
        endings = [
            "parquet",
            "arrow",
            "jsonl",
            *(["csv", "csv.gz", "tsv"] if _is_plain(journey) else []),
        ]
        path = Path(folder) / f"rows.{journey.rng.choice(endings)}"
        try:
            _written(journey.table, path)
        except Exception:  # a file cannot hold all that a column does
            return
        kinds = ["json", "junit", *journey.pick(["markdown", "html"], int(journey.chance(0.3)))]
        outputs = {name: Path(folder) / f"out.{name}" for name in kinds}
        arguments = [str(path), *_options(journey), "--criterion", question.criterion]
        arguments += ["--measure", question.measure] if question.measure != "ratio" else []
        arguments += ["--depth", str(len(journey.people))]
        arguments += [part for name, to in outputs.items() for part in (f"--{name}", str(to))]
        arguments += ["--fail-if", gate] if gated else []
        status, output = _run(journey, arguments)
        assert status in STATUSES, (status, output)
        assert "Traceback" not in output, output
        if status == 2:
            unjudged = outputs["json"].exists()  # a gate had nothing to judge
            assert journey.refused or journey.doubtful or unjudged or _odd(journey, path), output
            if not unjudged:
                return
        assert not journey.refused, f"the command took it, though {journey.refused}"
        read = strictly(outputs["json"].read_text("utf-8"))
        if len(read["group_columns"]) == len(journey.people):
            for line in read["findings"]:
                if (line["criterion"], line["measure"]) == (question.criterion, question.measure):
                    question.holds(line["value"], f"the command on {path.name}")
        suite = ET.parse(outputs["junit"]).getroot()
        assert int(suite.attrib["tests"]) == gated
        if gated:
            (judged,) = read["gates"]
            expected = {"violation": 1, "error": 2, "inconclusive": 3, "pass": 0}
            assert status == expected[judged["outcome"]], (status, judged)
            if judged["outcome"] == "violation":
                assert judged["low"] > 0.2, judged
            if judged["outcome"] == "pass":
                assert judged["high"] <= 0.2, judged


def _is_plain(journey: Journey) -> bool:
    """Whether text says what the columns do: words are not numbers, and none is missing."""
    columns = [journey.truth, journey.predicted, journey.cluster, *journey.people.values()]
    values = {value for column in columns if column is not None for value in column}
    words = [value for value in values if isinstance(value, str)]
    return None not in values and all(word.isalpha() and word not in UNCLEAR for word in words)


UNCLEAR = ("nan", "None", "yes", "no")


def _odd(journey: Journey, path: Path) -> bool:
    """Whether the file cannot say what the columns do: JSON lines know no dates."""
    return path.suffix == ".jsonl"


def _run(journey: Journey, arguments: list[str]) -> tuple[int, str]:
    """In this process, and now and then in one of its own."""
    if journey.number % 400 == 7:
        command = [sys.executable, "-m", "evenhand", "audit", *arguments]
        done = subprocess.run(
            command, capture_output=True, text=True, encoding="utf-8", check=False, env=os.environ
        )
        return done.returncode, done.stdout + done.stderr
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        width = str(journey.rng.integers(20, 200))
        done_ = CliRunner().invoke(audit_command, arguments, env={"COLUMNS": width})
    error = done_.exception
    if error is not None and not isinstance(error, SystemExit):
        raise error
    return done_.exit_code, done_.output


def _options(journey: Journey) -> list[str]:
    words = {
        "y_true": "--target",
        "y_pred": "--prediction",
        "y_score": "--score",
        "sample_weight": "--weight",
        "cluster": "--cluster",
        "favorable": "--favorable",
        "score_of": "--score-of",
        "threshold": "--threshold",
        "confidence": "--confidence",
        "margin": "--margin",
        "missing": "--missing",
        "min_count": "--min-count",
        "rare": "--rare",
        "task": "--task",
    }
    given = {**journey.names, **journey.options}
    people = given.pop("sensitive_features")
    options = [
        part
        for name in ([people] if isinstance(people, str) else people)
        for part in ("--group", name)
    ]
    for name, value in given.items():
        if value is not None:
            options += [f"{words[name]}={value}"]
    return options


def _written(table: pd.DataFrame, path: Path) -> None:
    if path.suffix == ".parquet":
        table.to_parquet(path)
    elif path.suffix == ".arrow":
        table.to_feather(path, compression="uncompressed")
    elif path.suffix in (".csv", ".gz", ".tsv"):
        table.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    else:
        table.to_json(path, orient="records", lines=True, double_precision=15)
        small = table.select_dtypes("float").abs().to_numpy()
        if ((small > 0) & (small < 1e-3)).any():
            raise ValueError("pandas writes 15 decimals, which are too few for such numbers")


DOORS: tuple[Door, ...] = (
    evaluated,
    bounded,
    tallied,
    contrasted,
    framed,
    framed,
    predicted_by,
    compared,
    gated,
    counts,
    watched,
    metric_frame,
    on_device,
    traced,
    reordered,
    commanded,
)
