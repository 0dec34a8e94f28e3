"""A stranger adds a measure, a statistic, a criterion, a role, an estimator and a section.

It is done in a copy of the package, with nothing else changed: what was added must then work
wherever it is promised to.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import evenhand

pytestmark = pytest.mark.slow

MEASURE = '''

def deviation(values: ArrayLike) -> Any:
    """Standard deviation of the entries."""
    return np.nanstd(np.asarray(values, dtype=np.float64), axis=-1)


def _slope(values: Values) -> Values:
    apart = values - values.mean(axis=-1, keepdims=True)
    length = np.sqrt((apart**2).mean(axis=-1, keepdims=True))
    return apart / (values.shape[-1] * np.where(length == 0, 1, length))


MEASURES["deviation"] = Measure(
    deviation,
    formula="√Var(w)",
    range="0 to half the range",
    is_not="It has a unit.",
    convex=True,
    slope=_slope,
)
'''
SECTION = '''

def least(document: Document) -> Section | None:
    """How few rows a group has."""
    fewest = min(group["rows"] for group in document["groups"])
    return Section("least", "The smallest group", [Text(f"It has {fewest} people.")])


SECTIONS.append(least)
'''
STATISTIC = '''

class Alarms(Statistic):
    """Share of all rows that are wrongly predicted to be of a class."""

    needs, formula, over, bounds = "labels", "P(ŷ = c, y ≠ c | a)", "c", (0.0, 1.0)
    is_share = True

    def shares(self, counts, of="weight"):
        outcomes = one_against_rest(counts.table("y", "yhat", "group", of=of))
        return Shares(outcomes["fp"], outcomes["tp"] + outcomes["fn"] + outcomes["tn"])


from evenhand.statistics.arithmetic import one_against_rest  # noqa: E402
from evenhand.statistics.statistic import Shares  # noqa: E402

STATISTICS["alarm_rate"] = Alarms()
SCANNED["alarm rate"] = STATISTICS["alarm_rate"]
'''
CRITERION = """

CRITERIA["f1_parity"] = Criterion(
    "f1_parity", STATISTICS["f1"], is_not="It never looks at true negatives.", one_class=True
)
CRITERIA["alarm_parity"] = Criterion(
    "alarm_parity", STATISTICS["alarm_rate"], is_not="It never looks at misses.", one_class=True
)
"""
ESTIMATOR = '''"""Lottery: everybody has the same chance of each label, whatever they are like."""

import numpy as np

from evenhand.mitigation.estimators import GroupClassifier


class LotteryClassifier(GroupClassifier):
    """Draws labels by their shares in the training rows."""

    criteria = ("statistical_parity",)
    hyperparameter = None
    _reads_group = False

    def _fit(self, rows):
        self.shares_ = np.bincount(rows.y, rows.sample_weight) / len(rows.y)

    def _decide(self, X, group):
        return np.tile(self.shares_, (len(group), 1))
'''
ROLE = """    reviewer: Any = role(
        "array-like or name of a column, optional",
        "Who decided about each person.",
        option="--reviewer",
        brief="Who decided.",
    )
    bins: Bins"""
METHOD = """

from evenhand.mitigation.lottery import LotteryClassifier  # noqa: E402

METHODS["Lottery"] = _ours("Lottery", LotteryClassifier, "nobody")
"""
USE = """
import inspect
import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from click.testing import CliRunner

import evenhand as eh
from evenhand.cli.audit import audit
from evenhand.cli.registries import criteria, measures
from evenhand.mitigation import METHODS, tradeoff
from evenhand.statistics import Ratio

FITTED_ONCE = {"truth": "labels", "rate_error": None}  # without rows left out
truth, predicted = [1, 1, 0, 0, 1, 0] * 20, [1, 0, 0, 1, 1, 0] * 20
sex = ["a", "a", "b", "b", "c", "c"] * 20
people = pd.DataFrame({"sex": sex, "truth": truth, "predicted": predicted})
people.to_csv("people.csv", index=False)
asked = {"criteria": ["f1_parity"], "measures": ["deviation", "mpd"]}
report = eh.audit(truth, predicted, sensitive_features=sex, **asked)
told = "The smallest group", "It has 40 people."
forms = {"page": report.to_html(), "Markdown": report.to_markdown(), "terminal": str(report)}
score = np.random.default_rng(0).random(120)
uneven = [int(i % 7 < {"a": 5, "b": 3, "c": 2}[group]) for i, group in enumerate(sex)]
by_deviation = {"sensitive_features": sex, "favorable": 1, "measure": "deviation"}
bands = {}
for method in ("calibrated", "guaranteed"):
    watch = eh.Watch("statistical_parity", measures=["deviation"], favorable=1, method=method)
    watch.update(eh.tally(truth, uneven, sensitive_features=sex), part="1", at="2026-02-01")
    bands[f"watch {method}"] = watch.status().findings[0].intervals["deviation"]
    bands[f"interval {method}"] = eh.interval(
        "statistical_parity", truth, uneven, method=method, **by_deviation
    )
penalty = None
if find_spec("torch"):
    import torch

    from evenhand.torch import Penalty

    asked_of = Penalty("statistical_parity", "deviation", groups=3, favorable=1, noise=None)
    labels, groups = torch.tensor(truth), torch.tensor(pd.factorize(np.array(sex))[0])
    penalty = float(asked_of(torch.tensor(uneven, dtype=torch.float64), labels, group=groups))
logged = None
if find_spec("mlflow"):
    from evenhand.compat.mlflow import metrics_of

    logged = metrics_of(report)["evenhand/f1_parity.deviation"]


class Stored:
    classes_ = np.array([0, 1])

    def predict(self, X):
        return X["predicted"].to_numpy()


def elsewhere(criterion, measure, favorable=1):
    # by a comparison of models, by a scorer and by a penalty
    asked = {"measure": measure, "favorable": favorable}
    scorer = eh.make_scorer(criterion, sensitive_features="sex", **asked)
    compared = eh.compare(
        truth, {"m": predicted}, sensitive_features=sex, criteria=[criterion],
        measures=[measure], favorable=favorable, replicates=20,
    )
    values = [float(compared.values["value"].iloc[0]), -scorer(Stored(), people, truth)]
    if find_spec("torch"):
        trained = Penalty(criterion, measure, groups=3, favorable=favorable, noise=None)
        chances = torch.tensor(predicted, dtype=torch.float64)
        values.append(float(trained(chances, labels, group=groups)))
    return values


frontier = eh.frontier(truth, score, y_pred=uneven, values=2, **FITTED_ONCE, **by_deviation)
lottery = METHODS["Lottery"](group="sex", random_state=0)
curve = tradeoff(lottery, people[["sex"]], truth, criteria=["f1_parity"], measures=["deviation"])
Path("reviewed.toml").write_text('reviewer = "truth"')
columns = "--target truth --prediction predicted --group sex".split()
named = "--criterion f1_parity --measure deviation --fail-if".split()
alarms = {"sensitive_features": sex, "favorable": 1}
counts = eh.tally(truth, predicted, sensitive_features=sex)
eh.CRITERIA["ratio_of_alarms"] = eh.Criterion(
    "ratio_of_alarms", Ratio("fp", "tp + fp + fn + tn"), one_class=True
)
both = ["alarm_parity", "ratio_of_alarms"]
watch = eh.Watch(both, measures=["mpd"], favorable=1)
for day in range(1, 5):
    watch.update(counts, part=str(day), at=f"2026-02-0{day}")
watched = {finding.criterion: finding for finding in watch.status().findings}
audited = eh.audit(truth, predicted, criteria=both, **alarms)
gated = CliRunner().invoke(audit, ["people.csv", *columns, *named, "f1_parity.deviation > 0.9"])
listed = {
    name: [row["name"] for row in json.loads(CliRunner().invoke(command, ["--json"]).stdout)]
    for name, command in {"criteria": criteria, "measures": measures}.items()
}
print(json.dumps({
    "home": eh.__file__,
    "by_hand": float(np.std([2 / 3, 0, 1])),
    "evaluated": eh.evaluate(
        "f1_parity", truth, predicted, sensitive_features=sex, measure="deviation", favorable=1
    ),
    "audited": [[finding.criterion, finding.measure, finding.value] for finding in report.measured],
    "sections": {name: [text in form for text in told] for name, form in forms.items()},
    "uneven": float(pd.Series(uneven).groupby(sex).mean().std(ddof=0)),
    "bands": {name: [band.low, band.value, band.high] for name, band in bands.items()},
    "penalty": penalty,
    "logged": logged,
    "elsewhere": [elsewhere("f1_parity", "deviation"), elsewhere("alarm_parity", "mpd")],
    "frontier": [frontier.model.value, min(point.value for point in frontier.points)],
    "page": "deviation" in report.to_html() and "f1 parity" in report.to_html().lower(),
    "parity": eh.evaluate(
        "statistical_parity", eh.tally(
            truth, lottery.fit(people[["sex"]], truth).predict_proba(people[["sex"]]),
            sensitive_features=sex, classes=[0, 1]
        )
    ),
    "reviewed": [
        eh.evaluate(
            "statistical_parity", "truth", "predicted", sensitive_features="sex",
            reviewer="truth", data=people,
        ),
        eh.interval(
            "statistical_parity", truth, predicted, sensitive_features=sex, reviewer=truth
        ).value,
        eh.evaluate("statistical_parity", truth, predicted, sensitive_features=sex),
    ],
    "offered": [
        "reviewer : array-like or name of a column" in door.__doc__
        and "reviewer" in inspect.signature(door).parameters
        for door in (eh.audit, eh.evaluate, eh.interval, eh.contrasts, eh.tally, eh.assert_even)
    ],
    "options": [
        CliRunner().invoke(audit, ["--help"]).output,
        CliRunner().invoke(audit, ["people.csv", *columns, "--reviewer", "truth"]).exit_code,
        CliRunner().invoke(audit, ["people.csv", *columns, "--config", "reviewed.toml"]).exit_code,
    ],
    "alarms": {
        name: {
            "interval": [
                getattr(eh.interval(name, truth, predicted, **alarms), end)
                for end in ("low", "value", "high")
            ],
            "test": next(f.p_value for f in audited.findings if f.criterion == name),
            "power": eh.power(counts, criterion=name, favorable=1, difference=0.3).power,
            "watch": [watched[name].intervals["mpd"].low, watched[name].intervals["mpd"].high],
        }
        for name in both
    },
    "scanned": [
        [one.value, one.rest] for one in audited.subgroups if one.statistic == "alarm rate"
    ],
    "curve": sorted(curve.points[0]),
    "gated": [gated.exit_code, gated.output],
    **listed,
}))
"""


def append(path, text):
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


@pytest.fixture(scope="module")
def used(tmp_path_factory):
    """What the changed copy answers."""
    folder = tmp_path_factory.mktemp("copy")
    home = folder / "evenhand"
    shutil.copytree(Path(evenhand.__file__).parent, home)
    append(home / "measures" / "catalogue.py", MEASURE)
    append(home / "report" / "audit.py", SECTION)
    append(home / "statistics" / "catalogue.py", STATISTIC)
    append(home / "criteria" / "catalogue.py", CRITERION)
    roles = home / "_data" / "roles.py"
    roles.write_text(roles.read_text().replace("    bins: Bins", ROLE, 1))
    (home / "mitigation" / "lottery.py").write_text(ESTIMATOR)
    append(home / "mitigation" / "methods.py", METHOD)
    environment = os.environ | {"PYTHONPATH": str(folder)}
    run = subprocess.run(
        [sys.executable, "-c", USE],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    answers = json.loads(run.stdout)
    assert Path(answers["home"]).is_relative_to(folder)
    return answers


def test_a_measure_and_a_criterion_are_evaluated_by_name(used):
    assert used["evaluated"] == pytest.approx(used["by_hand"])


def test_they_are_audited_and_on_the_page(used):
    value = pytest.approx(used["by_hand"])
    assert used["audited"][0] == ["f1_parity", "deviation", value]
    assert [row[:2] for row in used["audited"]] == [
        ["f1_parity", "deviation"],
        ["f1_parity", "mpd"],
    ]
    assert used["page"]


def test_a_measure_with_a_gradient_is_known_wherever_measures_are(used):
    value = pytest.approx(used["uneven"], abs=1e-12)
    for name, (low, middle, high) in used["bands"].items():
        assert middle == value, name
        assert 0 <= low < middle < high < 0.5, name
    for made in ("interval", "watch"):
        least, _, most = used["bands"][f"{made} guaranteed"]
        low, _, high = used["bands"][f"{made} calibrated"]
        assert least <= low
        assert high <= most
    assert used["penalty"] in (None, value)
    assert used["logged"] in (None, pytest.approx(used["by_hand"]))
    assert used["elsewhere"][0] == pytest.approx([used["by_hand"]] * len(used["elsewhere"][0]))
    assert used["frontier"] == [value, pytest.approx(0, abs=1e-9)]


def test_a_section_of_the_report_is_shown_in_every_form(used):
    assert used["sections"] == {form: [True, True] for form in ("page", "Markdown", "terminal")}
    assert "The smallest group" in used["gated"][1]


def test_a_statistic_of_hits_and_misses_is_tested_planned_for_and_watched_as_any_rate(used):
    assert used["alarms"]["alarm_parity"] == used["alarms"]["ratio_of_alarms"]
    low, value, high = used["alarms"]["alarm_parity"]["interval"]
    assert 0 < low < value == 0.5 < high < 1
    assert used["alarms"]["alarm_parity"]["test"] < 1e-6
    assert used["elsewhere"][1] == pytest.approx([value] * len(used["elsewhere"][1]))


def test_it_is_among_the_rates_by_which_subgroups_are_scanned(used):
    assert [0.5, 0.0] in used["scanned"]


def test_the_command_line_lists_them_and_gates_by_them(used):
    assert "f1_parity" in used["criteria"]
    assert "deviation" in used["measures"]
    status, said = used["gated"]
    assert status == 0, said
    assert "f1_parity.deviation > 0.9: passed" in said


def test_a_role_of_a_column_is_offered_everywhere(used):
    assert all(used["offered"])
    assert len(set(used["reviewed"])) == 1
    said, *statuses = used["options"]
    assert "--reviewer COLUMN" in said
    assert statuses == [0, 0]


def test_an_estimator_is_a_method_with_a_trade_off(used):
    assert used["parity"] == pytest.approx(0, abs=1e-12)
    assert "f1_parity deviation" in used["curve"]
