"""One answer per question: every entry point reads the same rows in the same way.

Each is asked for the task, the labels, the favorable label, the groups and the rows of every group;
where one refuses, all do, for the same reason and with the same count of rows.
"""

import json
import re
from dataclasses import dataclass
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import evenhand as eh
from engines import LOCAL
from evenhand.cli.audit import audit as audit_command
from evenhand.mitigation import (
    EqualizedOddsClassifier,
    FrontierClassifier,
    RateConstrainedClassifier,
    RejectOptionClassifier,
    ReweightingClassifier,
)
from lanes import one_in

ENGINES = {engine.name: engine for engine in LOCAL}
ROWS = 240
QUICK = {"measures": ["mpd"]}


@dataclass
class Answer:
    """What an entry point made of the rows; None where it does not say."""

    groups: dict[str, int] | None = None
    labels: list[str] | None = None
    task: str | None = None
    favorable: str | None = None
    says_favorable: bool = False


class Given:
    """A model whose predictions stand in a column."""

    def __init__(self, labels):
        if labels is not None:
            self.classes_ = labels

    def predict(self, X):
        return X["p"]


def of_tally(counts):
    rows = counts.table("group", of="rows")
    return Answer(sizes(counts.groups, rows), written(counts.labels("yhat")))


def of_evidence(evidence):
    labels = written(evidence.classes) if evidence.task != "regression" else None
    groups = sizes(evidence.groups, evidence.rows)
    favorable = None if evidence.favorable is None else str(evidence.favorable)
    return Answer(groups, labels, evidence.task, favorable, True)


def sizes(groups, rows):
    return {str(group): int(n) for group, n in zip(groups, rows, strict=True)}


def written(labels):
    return [str(label) for label in labels]


def asked(rows):
    """The criteria that labels, or numbers, of any kind answer."""
    numbers = pd.to_numeric(rows.p, errors="coerce").dropna()
    fractions = bool((numbers.astype(float) % 1 != 0).any())
    return ["weak_parity" if fractions else "statistical_parity"]


def by_tally(rows, case):
    return of_tally(eh.tally(rows.y, rows.p, sensitive_features=rows.g))


def by_frame(engine):
    def answer(rows, case):
        names = {"y_true": "y", "y_pred": "p", "sensitive_features": "g"}
        return of_tally(eh.tally(data=ENGINES[engine](rows), **names))

    return answer


def by_counts(engine):
    def answer(rows, case):
        names = {"y_true": "y", "y_pred": "p", "sensitive_features": "g", "rows": "n"}
        return of_tally(eh.tally(data=ENGINES[engine](rows.assign(n=1)), **names))

    return answer


def by_audit(rows, case):
    options = {"sensitive_features": rows.g, "criteria": asked(rows), **QUICK, **case.options}
    return of_evidence(eh.audit(rows.y, rows.p, **options).evidence)


def by_audit_frame(engine):
    def answer(rows, case):
        names = {"y_true": "y", "y_pred": "p", "sensitive_features": "g"}
        options = {"criteria": asked(rows), **QUICK, **case.options}
        return of_evidence(eh.audit(data=ENGINES[engine](rows), **names, **options).evidence)

    return answer


def by_audit_model(rows, case):
    labels = None if case.task == "regression" else np.unique([*rows.y.dropna(), *rows.p.dropna()])
    options = {"criteria": asked(rows), **QUICK, **case.options}
    return of_evidence(
        eh.audit(rows.y, Given(labels), data=rows, sensitive_features="g", **options).evidence
    )


def by_compare(rows, case):
    options = {"criteria": asked(rows), "replicates": 40, **QUICK}
    found = eh.compare(
        rows.y, {"model": rows.p}, sensitive_features=rows.g, **options, **case.options
    )
    codes = np.bincount(found.evidence.groups.codes)
    labels = None
    if found.task != "regression":
        labels = written(found.evidence.predicted[0].labels)
    return Answer(sizes(found.evidence.groups.labels, codes), labels, found.task)


def by_command(rows, case):
    with TemporaryDirectory() as folder:
        file, out = f"{folder}/rows.parquet", f"{folder}/out.json"
        rows.to_parquet(file)
        names = ["--target", "y", "--prediction", "p", "--group", "g", "--measure", "mpd"]
        options = [text for name, value in case.options.items() for text in (f"--{name}", value)]
        command = [file, *names, "--criterion", *asked(rows), "--json", out]
        result = CliRunner().invoke(audit_command, [*command, *map(str, options)])
        if result.exit_code == 2:
            raise ValueError(result.stderr)
        document = json.loads(Path(out).read_text())
    groups = {group["label"]: group["rows"] for group in document["groups"]}
    favorable = document["favorable"]
    return Answer(groups, None, document["task"], favorable and str(favorable), True)


def by_estimator(rows, case):
    X = rows[["x", "g"]]
    fitted = ReweightingClassifier(group="g", sees_group=False).fit(X, rows.y)
    codes = fitted.sensitive_.codes(X)
    return Answer(sizes(fitted.sensitive_.labels, np.bincount(codes)))


COUNTS = {"tally": by_tally} | {f"tally of {name}": by_frame(name) for name in ENGINES}
COUNTS |= {f"counts of {name}": by_counts(name) for name in ENGINES}
AUDITS = {
    "audit": by_audit,
    **{f"audit of {name}": by_audit_frame(name) for name in ENGINES},
    "audit of a model": by_audit_model,
    "compare": by_compare,
    "command line": by_command,
}
EVERY = {**COUNTS, **AUDITS}


@dataclass
class Case:
    """Truth and predictions, with what every entry point must make of them."""

    y: object
    p: object
    task: str
    favorable: str | None = None
    options: dict = None

    def __post_init__(self):
        self.options = self.options or {}

    def rows(self):
        rng = np.random.default_rng(0)
        groups = rng.choice(["a", "b", "c"], ROWS)
        return pd.DataFrame({"y": self.y, "p": self.p, "g": groups, "x": rng.normal(size=ROWS)})


RNG = np.random.default_rng(1)
BITS, OTHER = RNG.integers(0, 2, ROWS), RNG.integers(0, 2, ROWS)
WORDS = np.array(["no", "yes"])
CASES = {
    "zeros and ones": Case(BITS, OTHER, "binary", "1"),
    "whole floats": Case(BITS.astype(float), OTHER.astype(float), "binary", "1.0"),
    "signs": Case(2 * BITS - 1, 2 * OTHER - 1, "binary", "1"),
    "truth values": Case(BITS == 1, OTHER == 1, "binary", "True"),
    "text": Case(WORDS[BITS], WORDS[OTHER], "binary", None),
    "text, named": Case(WORDS[BITS], WORDS[OTHER], "binary", "no", {"favorable": "no"}),
    "text of digits": Case(BITS.astype(str), OTHER.astype(str), "binary", None),
    "ones and twos": Case(BITS + 1, OTHER + 1, "binary", None),
    "a label never predicted": Case(np.where(np.arange(ROWS) == 0, 2, BITS), OTHER, "multiclass"),
    "three labels": Case(np.arange(ROWS) % 3, np.arange(ROWS) % 3, "multiclass"),
    "twenty labels": Case(np.arange(ROWS) % 20, np.arange(ROWS) % 20, "multiclass"),
    "text of many words": Case(
        (np.arange(ROWS) % 24).astype(str), (np.arange(ROWS) % 24).astype(str), "multiclass"
    ),
    "many labels, as said": Case(
        np.arange(ROWS) % 24, np.arange(ROWS) % 24, "multiclass", None, {"task": "multiclass"}
    ),
    "fractions": Case(RNG.random(ROWS), RNG.random(ROWS), "regression"),
    "counts and fractions": Case(np.arange(ROWS) % 50, RNG.random(ROWS), "regression"),
    "fractions as objects": Case(
        RNG.random(ROWS).astype(object), RNG.random(ROWS).astype(object), "regression"
    ),
    "counts and fractions as objects": Case(
        (np.arange(ROWS) % 50).astype(object), RNG.random(ROWS).astype(object), "regression"
    ),
    "decimals": Case(
        [Decimal(f"{x:.3f}") for x in RNG.random(ROWS)],
        [Decimal(f"{x:.3f}") for x in RNG.random(ROWS)],
        "regression",
    ),
    "zeros and ones as objects": Case(BITS.astype(object), OTHER.astype(object), "binary", "1"),
    "fractions and a constant": Case(RNG.random(ROWS) + 1, np.full(ROWS, 0.5), "regression"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_every_entry_point_reads_the_same_rows_in_the_same_way(case):
    rows = case.rows()
    groups = rows.g.value_counts().to_dict()
    labels = written(sorted({*rows.y, *rows.p})) if case.task != "regression" else None
    entries = AUDITS if case.task == "regression" else EVERY
    for name, entry in entries.items():
        answer = entry(rows, case)
        assert answer.groups == groups, name
        if answer.labels is not None:
            assert answer.labels == labels, name
        if answer.task is not None:
            assert answer.task == case.task, name
        if answer.says_favorable:
            assert answer.favorable == case.favorable, name


def refusals(rows, case, entries):
    """What each entry point says when it refuses."""
    said = {}
    for name, entry in entries.items():
        with pytest.raises(ValueError) as refusal:  # noqa: PT011
            entry(rows, case)
        said[name] = " ".join(str(refusal.value).split())
    return said


@pytest.mark.slow
def test_whole_numbers_that_can_be_either_are_asked_about():
    case = Case(np.arange(ROWS) % 50, np.arange(ROWS) % 50, "multiclass")
    entries = {name: entry for name, entry in AUDITS.items() if name != "audit of a model"}
    for name, message in refusals(case.rows(), case, entries).items():
        assert "50 different whole numbers" in message, name
        assert re.search(r"task[= ]\"?regression.*task[= ]\"?multiclass", message), name


def test_scores_in_place_of_labels_are_pointed_out():
    case = Case(BITS, RNG.random(ROWS), "binary")
    entries = {name: entry for name, entry in AUDITS.items() if name != "audit of a model"}
    for name, message in refusals(case.rows(), case, entries).items():
        assert re.search(r"holds labels, and .* numbers such as [0-9.e-]+", message), name


@pytest.mark.slow
@pytest.mark.parametrize("column", ["y", "p"])
@pytest.mark.parametrize("kind", ["text", "numbers"])
def test_missing_labels_are_counted_alike(column, kind):
    case = CASES["text, named" if kind == "text" else "zeros and ones"]
    rows = case.rows()
    rows[column] = rows[column].astype(object if kind == "text" else float)
    rows.loc[:149, column] = None
    for name, message in refusals(rows, case, EVERY).items():
        assert "150 missing labels" in message, name


@pytest.mark.slow
def test_missing_groups_are_counted_alike():
    case = CASES["zeros and ones"]
    rows = case.rows()
    rows.loc[:6, "g"] = None
    for name, message in refusals(rows, case, {**EVERY, "estimator": by_estimator}).items():
        assert f"7 of {ROWS} rows have no value of 'g'" in message, name
        if "frame" in name:
            assert message.endswith('a group of their own with missing="group".'), name


def test_an_estimator_has_the_groups_of_the_rows():
    case = CASES["zeros and ones"]
    assert by_estimator(case.rows(), case).groups == by_tally(case.rows(), case).groups


@pytest.mark.parametrize("task", ["classification", "binray", "clustering"])
def test_an_unknown_task_is_refused_everywhere(task):
    case = Case(BITS, OTHER, "binary", None, {"task": task})
    for name, message in refusals(case.rows(), case, AUDITS).items():
        for word in ("binary", "multiclass", "regression"):
            assert f"'{word}'" in message, name


def test_an_unknown_favorable_label_is_refused_everywhere():
    case = Case(WORDS[BITS], WORDS[OTHER], "binary", None, {"favorable": "yess"})
    for name, message in refusals(case.rows(), case, AUDITS).items():
        assert "The favorable label 'yess' is not among the labels ['no', 'yes']" in message, name


def test_a_question_about_one_label_asks_which_it_is():
    rows = CASES["text"].rows()
    columns = {"sensitive_features": rows.g}
    entries = {
        "evaluate": lambda *_: eh.evaluate("equal_opportunity", rows.y, rows.p, **columns),
        "tally": lambda *_: eh.evaluate("equal_opportunity", eh.tally(rows.y, rows.p, **columns)),
        "compare": lambda *_: eh.compare(
            rows.y, {"m": rows.p}, **columns, criteria=["equal_opportunity"]
        ),
    }
    for name, message in refusals(rows, CASES["text"], entries).items():
        assert "Which of the labels ['no', 'yes'] is the favorable one?" in message, name


STATES = {
    "a number": lambda: 5,
    "NumPy's number": lambda: np.int64(5),
    "a generator": lambda: np.random.default_rng(5),
    "an old generator": lambda: np.random.RandomState(5),
}


def by_random_state(state):
    """What every entry point that takes a random state answers with one."""
    rows = CASES["zeros and ones"].rows()
    columns = {"sensitive_features": rows.g}
    options = {"criteria": ["statistical_parity"], **QUICK}
    X = rows[["x"]].assign(g=(rows.g == "a").astype(int))
    drawing = EqualizedOddsClassifier(group="g", random_state=state())
    return {
        "compare": eh.compare(
            rows.y, {"m": rows.p}, **columns, **options, replicates=40, random_state=state()
        ).to_markdown(),
        "chance": eh.chance(
            "statistical_parity", rows.y, rows.p, **columns, replicates=40, random_state=state()
        ),
        "estimator": drawing.fit(X, rows.y).predict(X).tolist(),
    }


@pytest.mark.slow
@pytest.mark.parametrize("state", STATES.values(), ids=STATES)
def test_a_random_state_of_any_kind_gives_the_same_twice_everywhere(state):
    assert by_random_state(state) == by_random_state(state)


@pytest.mark.slow
def test_no_random_state_will_do_everywhere():
    assert None not in by_random_state(lambda: None).values()


@pytest.mark.slow
@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_bad_weights_are_refused_everywhere(bad):
    rows = CASES["zeros and ones"].rows().assign(w=1.0)
    rows.loc[3:4, "w"] = bad
    names = {"y_true": "y", "y_pred": "p", "sensitive_features": "g", "sample_weight": "w"}
    columns = {"sensitive_features": rows.g, "sample_weight": rows.w}
    entries = {
        "evaluate": lambda *_: eh.evaluate("accuracy_parity", rows.y, rows.p, **columns),
        "tally": lambda *_: eh.tally(rows.y, rows.p, **columns),
        "audit": lambda *_: eh.audit(rows.y, rows.p, **columns),
        "compare": lambda *_: eh.compare(rows.y, {"m": rows.p}, **columns),
    }
    for name, engine in ENGINES.items():
        entries[f"tally of {name}"] = lambda *_, e=engine: eh.tally(data=e(rows), **names)
        entries[f"audit of {name}"] = lambda *_, e=engine: eh.audit(data=e(rows), **names)
    for name, message in refusals(rows, None, entries).items():
        assert "negative" in message if bad < 0 else "2 values that are" in message, name


@pytest.mark.slow
@pytest.mark.parametrize("rare", ["merge", "drop"])
def test_rare_groups_are_settled_alike(rare):
    rows = CASES["zeros and ones"].rows()
    rows.loc[:3, "g"] = "rare"
    settled = {"min_count": 10, "rare": rare}
    whole = eh.groups(rows.g, **settled)
    expected = of_tally(eh.tally(rows.y, rows.p, sensitive_features=whole))
    names = {"y_true": "y", "y_pred": "p", "sensitive_features": "g", **settled}
    options = {"criteria": ["statistical_parity"], **QUICK}
    for engine in ENGINES.values():
        assert of_tally(eh.tally(data=engine(rows), **names)) == expected
        found = of_evidence(eh.audit(data=engine(rows), **names, **options).evidence)
        assert (found.groups, found.labels) == (expected.groups, expected.labels)
    for found in (
        eh.audit(rows.y, rows.p, sensitive_features=whole, **options).evidence,
        eh.compare(rows.y, {"m": rows.p}, sensitive_features=whole, **options).evidence,
    ):
        labels = found.groups if isinstance(found.groups, tuple) else found.groups.labels
        assert written(labels) == list(expected.groups)


@pytest.mark.slow
def test_evaluate_is_that_of_every_count():
    rows = CASES["zeros and ones"].rows()
    value = eh.evaluate("equalized_odds", rows.y, rows.p, sensitive_features=rows.g)
    names = {"y_true": "y", "y_pred": "p", "sensitive_features": "g"}
    options = {"criteria": ["equalized_odds"], "measures": ["mpd"]}
    values = [
        eh.evaluate("equalized_odds", eh.tally(rows.y, rows.p, sensitive_features=rows.g)),
        eh.audit(rows.y, rows.p, sensitive_features=rows.g, **options).measured[0].value,
        *eh.compare(rows.y, {"m": rows.p}, sensitive_features=rows.g, **options).values["value"],
    ]
    for engine in ENGINES.values():
        values.append(eh.evaluate("equalized_odds", eh.tally(data=engine(rows), **names)))
        values.append(eh.audit(data=engine(rows), **names, **options).measured[0].value)
    assert values == [pytest.approx(value)] * len(values)


@pytest.mark.parametrize("bins", [2, 3, 4])
@pytest.mark.parametrize("shape", ["even", "one value shared by most"])
def test_an_estimator_cuts_a_column_where_groups_do(bins, shape):
    rows = CASES["zeros and ones"].rows()
    age = np.arange(ROWS) % 60 + 20.0
    if shape != "even":
        age[: 3 * ROWS // 4] = 20.0
    X = rows[["x"]].assign(age=age)
    fitted = ReweightingClassifier(group="age", bins=bins).fit(X, rows.y)
    expected = eh.groups({"age": age}, bins={"age": bins})
    found = fitted.sensitive_
    assert written(found.labels) == written(expected.labels)
    assert np.array_equal(found.codes(X), expected.codes)


@pytest.mark.parametrize("labels", [WORDS, np.array([1, 2])], ids=["text", "ones and twos"])
def test_an_estimator_about_one_label_asks_which_it_is(labels):
    rows = CASES["zeros and ones"].rows()
    X, y = rows[["x"]].assign(g=(rows.g == "a").astype(int)), labels[BITS]
    asked = {"group": "g", "criterion": "equal_opportunity"}
    with pytest.raises(ValueError, match="is the favorable one"):
        RejectOptionClassifier(**asked).fit(X, y)
    with pytest.raises(ValueError, match=r"The favorable label 'yess' is not among the labels"):
        RejectOptionClassifier(**asked, favorable="yess").fit(X, y)
    fitted = RejectOptionClassifier(**asked, favorable=labels[0]).fit(X, y)
    assert fitted.classes_[fitted.favorable_] == labels[0]


def selective(classes=2, rows=600):
    """Labels, predictions and groups; of two classes the first is the more even by Gini and PQ."""
    random = np.random.default_rng(7)
    group = random.choice(["a", "b", "c"], rows)
    score = np.clip(random.normal(0.6 + 0.12 * (group == "a"), 0.2), 0.01, 0.99)
    y = (random.random(rows) < score).astype(int)
    table = pd.DataFrame({"y": y, "p": (score >= 0.5).astype(int), "s": score, "g": group})
    if classes > 2:
        table.loc[random.random(rows) < 0.2, "y"] = 2
        table.loc[random.random(rows) < 0.15 + 0.1 * (group == "b"), "p"] = 2
    return table


class Stored:
    """A fitted model whose decisions are a column of X."""

    def __init__(self, rows):
        self.classes_ = np.unique(rows.p)

    def predict(self, X):
        return X["p"].to_numpy()


def falls(measure):
    return eh.measures.resolve(measure).falls


def by_command_line(rows, criterion, measures, favorable, *, toml):
    """The values by gates that nothing can pass, as options or from a file of them."""
    options = {
        "target": "y",
        "prediction": "p",
        "group": "g",
        "criterion": [criterion],
        "measure": list(measures),
        "fail-if": [f"{criterion}.{one} {'< 1' if falls(one) else '> 1e-9'}" for one in measures],
    }
    options |= {} if favorable is None else {"favorable": str(favorable)}
    result, document = command_line(rows, options, toml=toml)
    assert result.exit_code in (1, 3), result.output
    return [finding["value"] for finding in document["findings"]]


def command_line(rows, options, *, toml):
    """How the command ends, given options or a file of them, and what it writes."""
    with TemporaryDirectory() as folder:
        rows.drop(columns="s").to_parquet(f"{folder}/rows.parquet")
        command = [f"{folder}/rows.parquet", "--json", f"{folder}/out.json"]
        if toml:
            lines = (f"{name} = {json.dumps(value)}" for name, value in options.items())
            Path(f"{folder}/options.toml").write_text("\n".join(lines))
            command += ["--config", f"{folder}/options.toml"]
        else:
            command += [
                word
                for name, value in options.items()
                for each in (value if isinstance(value, list) else [value])
                for word in (f"--{name}", each)
            ]
        result, out = CliRunner().invoke(audit_command, command), Path(f"{folder}/out.json")
        return result, json.loads(out.read_text()) if out.exists() else None


def by_penalty(rows, criterion, measure, favorable):
    torch = pytest.importorskip("torch")
    from evenhand.torch import Penalty

    penalty = Penalty(
        criterion, measure, groups=3, noise=None, favorable=favorable, aggregate="worst"
    )
    truth, group = (torch.tensor(part) for part in (rows.y.to_numpy(), pd.factorize(rows.g)[0]))
    chances = torch.tensor(rows.p.to_numpy(), dtype=torch.float64)
    return float(penalty(chances, truth, group=group))


def every_value(rows, criterion, measures, favorable):
    """What every entry point says of one criterion by these measures."""
    columns = {"sensitive_features": rows.g, "favorable": favorable}
    asked = {"criteria": [criterion], "measures": list(measures)}
    names = {"y_true": "y", "y_pred": "p", "sensitive_features": "g", "favorable": favorable}
    tally = eh.tally(rows.y, rows.p, sensitive_features=rows.g)
    named = [f"{criterion}.{measure}" for measure in measures]
    bounds = ["< 0.01" if falls(measure) else "> 0.4" for measure in measures]
    gates = [" ".join(gate) for gate in zip(named, bounds, strict=True)]
    command = (rows, criterion, measures, favorable)
    audited = eh.audit(rows.y, rows.p, **columns, **asked)
    audits = {
        "audit": audited,
        "audit by names": eh.audit(rows.y, rows.p, **columns, criteria=named),
        "audit of a table": eh.audit(data=rows, **names, **asked),
        "audit of a model": eh.audit(rows.y, Stored(rows), data=rows, **columns, **asked),
        "assert_even": eh.assert_even(
            rows.y, rows.p, **columns, fail_if=gates, inconclusive="pass"
        ),
    }
    values = {name: [one.value for one in found.measured] for name, found in audits.items()}
    compared = eh.compare(rows.y, {"m": rows.p}, **columns, **asked, replicates=20)
    values |= {
        "compare": list(compared.values["value"]),
        "command": by_command_line(*command, toml=False),
        "TOML": by_command_line(*command, toml=True),
        **by_one_measure(*command, tally, audited.findings[0].criterion),
    }
    if find_spec("mlflow"):
        from evenhand.compat.mlflow import metrics_of

        logged = metrics_of(audited).items()
        values["MLflow"] = [one for name, one in logged if not name.endswith((".low", ".high"))]
    if audited.findings[0].criterion != "average_odds":  # no share of rows: it cannot be watched
        watch = eh.Watch(criterion, measures=list(measures), favorable=favorable)
        watch.update(tally)
        found = watch.status().findings[0].intervals
        values["Watch"] = [interval.value for interval in found.values()]
    return values


def by_one_measure(rows, criterion, measures, favorable, tally, known):
    """What entry points say that take one measure at a time."""
    columns = {"sensitive_features": rows.g, "favorable": favorable}
    values = {}
    for measure in measures:
        by = {"measure": measure, "favorable": favorable}
        named = f"{criterion}.{measure}"
        sign = 1 if falls(measure) else -1
        scorer = eh.make_scorer(criterion, sensitive_features="g", **by)
        found = {
            "evaluate a tally": eh.evaluate(criterion, tally, **by),
            "evaluate by one name": eh.evaluate(named, tally, favorable=favorable),
            "audit by one name": eh.audit(rows.y, rows.p, **columns, criteria=named)
            .measured[0]
            .value,
            "interval": eh.interval(criterion, rows.y, rows.p, **columns, measure=measure).value,
            "make_scorer": sign * scorer(Stored(rows), rows, rows.y),
        }
        if rows.y.max() == 1 and not falls(measure):
            if find_spec("torch") and favorable is not None:
                found["torch"] = by_penalty(rows, criterion, measure, favorable)
            if known in FRONTIERS:
                asked = {"criterion": criterion, "measure": measure, "values": 2, "score_of": 1}
                asked |= FITTED_ONCE
                curve = eh.frontier(rows.y, rows.s, y_pred=rows.p, **columns, **asked)
                found["frontier"] = curve.model.value
        for name, value in found.items():
            values.setdefault(name, []).append(value)
    return values


FITTED_ONCE = {"truth": "labels", "rate_error": None}  # without rows left out
FRONTIERS = ("statistical_parity", "equalized_odds", "average_odds", "equal_opportunity")
OF_LABELS = (*FRONTIERS, "predictive_equality", "predictive_parity", "accuracy_parity")


@pytest.mark.slow
@pytest.mark.parametrize(("criterion", "favorable"), one_in(3, OF_LABELS, [None, 0, 1]))
def test_a_criterion_has_one_value_everywhere(criterion, favorable):
    check_one_value(selective(), criterion, ("mpd", "gini", "pq"), favorable)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("criterion", "favorable"),
    one_in(3, ["statistical_parity", "equalized_odds", "equal_opportunity"], [None, 2, 0]),
)
def test_a_criterion_of_three_classes_has_one_value_everywhere(criterion, favorable):
    check_one_value(selective(classes=3), criterion, ("mpd", "gini", "pq"), favorable)


@pytest.mark.slow
@pytest.mark.parametrize(
    "measures", [("MPD", "PQ(1, 2)", "pq(p=0.5, q=3)", "shortfall"), ("ratio",)], ids=len
)
@pytest.mark.parametrize("criterion", ["demographic_parity", "EO", "S-EO"])
def test_other_names_and_orders_have_one_value_everywhere(criterion, measures):
    check_one_value(selective(), criterion, measures, 1)


def check_one_value(rows, criterion, measures, favorable):
    expected = [
        eh.evaluate(
            criterion,
            rows.y,
            rows.p,
            sensitive_features=rows.g,
            measure=measure,
            favorable=favorable,
        )
        for measure in measures
    ]
    found = every_value(rows, criterion, measures, favorable)
    if "mpd" in measures:
        columns = {"sensitive_features": rows.g, "favorable": favorable}
        pairs = eh.contrasts(criterion, rows.y, rows.p, **columns)
        widest = max(abs(pair.value) for pair in pairs if not np.isnan(pair.value))
        assert widest == pytest.approx(expected[measures.index("mpd")], abs=1e-12)
    assert found == {name: pytest.approx(expected, abs=1e-12) for name in found}


def doors(rows):
    """Every entry point that takes a question, asked with a criterion, a measure and a label."""
    columns = {"sensitive_features": rows.g}
    given = (rows.y, rows.p)
    tally = eh.tally(*given, **columns)

    def watch(criterion, measure, favorable):
        one = eh.Watch(criterion, measures=[measure], favorable=favorable)
        one.update(tally)
        return one.status()

    def scorer(criterion, measure, favorable):
        asked = {"measure": measure, "favorable": favorable, "sensitive_features": "g"}
        return eh.make_scorer(criterion, **asked)(Stored(rows), rows, rows.y)

    def audited(door):
        return lambda criterion, measure, favorable: door(
            *given, **columns, criteria=[criterion], measures=[measure], favorable=favorable
        )

    def alone(door, *columns_of, **more):
        return lambda criterion, measure, favorable: door(
            criterion, *columns_of, measure=measure, favorable=favorable, **more
        )

    return {
        "evaluate": alone(eh.evaluate, *given, **columns),
        "evaluate a tally": alone(eh.evaluate, tally),
        "interval": alone(eh.interval, *given, **columns),
        "audit": audited(eh.audit),
        "compare": lambda criterion, measure, favorable: eh.compare(
            rows.y,
            {"m": rows.p},
            **columns,
            criteria=[criterion],
            measures=[measure],
            favorable=favorable,
        ),
        "frontier": lambda criterion, measure, favorable: eh.frontier(
            rows.y, rows.s, **columns, criterion=criterion, measure=measure, favorable=favorable
        ),
        "assert_even": lambda criterion, measure, favorable: eh.assert_even(
            *given, **columns, fail_if=f"{criterion}.{measure} > 0.9", favorable=favorable
        ),
        "contrasts": lambda criterion, measure, favorable: eh.contrasts(
            criterion, *given, **columns, favorable=favorable
        ),
        "Watch": watch,
        "make_scorer": scorer,
        **({"MLflow": lambda *asked: by_mlflow(rows, *asked)} if find_spec("mlflow") else {}),
        "command line": lambda *asked: by_options(rows, *asked, toml=False),
        "TOML": lambda *asked: by_options(rows, *asked, toml=True),
        **({"torch": lambda *asked: by_penalty(rows, *asked)} if find_spec("torch") else {}),
    }


def by_mlflow(rows, criterion, measure, favorable):
    from mlflow.models.evaluation.base import EvaluationDataset

    from evenhand.compat.mlflow import EvenhandEvaluator

    asked = {"criteria": [criterion], "measures": [measure], "favorable": favorable}
    EvenhandEvaluator().evaluate(
        model_type="classifier",
        dataset=EvaluationDataset(rows, targets="y", predictions="p"),
        run_id=None,
        evaluator_config={"sensitive_features": "g", **asked},
    )


def by_options(rows, criterion, measure, favorable, *, toml):
    """The command's refusal, raised."""
    asked = {"criterion": [criterion], "measure": [measure], "favorable": str(favorable)}
    options = {"target": "y", "prediction": "p", "group": "g"} | asked
    result, _ = command_line(rows, options, toml=toml)
    assert result.exit_code == 2, result.output
    raise eh.InputError(result.stderr.partition("Error: ")[2].strip())


QUESTIONS = {
    "a criterion": (("equal_odds", "mpd", 1), "There is no criterion 'equal_odds'. Did you mean"),
    "a measure": (("statistical_parity", "ginni", 1), "There is no measure 'ginni'; there are"),
    "a label": (("statistical_parity", "mpd", "maybe"), "label 'maybe' is not among the labels"),
    "one label": (("statistical_parity", "mpd", [1]), "favorable must be one label, not [1]."),
}
ASKS_NO_MEASURE, KNOWS_LABELS_LATER = "contrasts", "Watch"
LABELS_ARE_TEXT = ("command line", "TOML")


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # MLflow's
@pytest.mark.parametrize(("question", "words"), QUESTIONS.values(), ids=QUESTIONS)
def test_what_cannot_be_asked_is_refused_alike_everywhere(question, words):
    entries = doors(selective())
    if "ginni" in question:
        del entries[ASKS_NO_MEASURE]
    if "maybe" in question:
        del entries[KNOWS_LABELS_LATER]
    if [1] in question:
        entries = {name: ask for name, ask in entries.items() if name not in LABELS_ARE_TEXT}
    said = set()
    for name, ask in entries.items():
        with pytest.raises((eh.InputError, eh.InputTypeError)) as refusal:
            ask(*question)
        assert words in str(refusal.value), name
        said.add(str(refusal.value))
    assert len(said) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["demographic_parity.gini", "SP.PQ(1, 2)"])
def test_an_estimator_reads_the_measure_in_a_criterions_name(name):
    rows = CASES["zeros and ones"].rows()
    X = rows[["x"]].assign(g=(rows.g == "a").astype(int))
    asked = {"group": "g", "epsilon": 0.005, "random_state": 0}
    by_name, _, measure = name.partition(".")
    for method in (RateConstrainedClassifier, FrontierClassifier):
        named = method(criterion=name, **asked).fit(X, rows.y)
        apart = method(criterion=by_name, measure=measure, **asked).fit(X, rows.y)
        assert np.array_equal(named.predict(X), apart.predict(X))
    with pytest.raises(eh.InputError, match=r"cannot meet the criterion 'demographic_parity.gini'"):
        RejectOptionClassifier(group="g", criterion="demographic_parity.gini").fit(X, rows.y)
