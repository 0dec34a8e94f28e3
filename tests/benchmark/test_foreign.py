"""A stranger's CSV, model and method: everything that is drawn and told is about these."""

import sys

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from evenhand.benchmark import figures, page, read_design
from evenhand.benchmark.figures import saving
from evenhand.cli.benchmark import bench
from report.parsing import parsed

pytestmark = pytest.mark.slow

OWN = """
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression

class Model(LogisticRegression):
    pass

class Lenient(ClassifierMixin, BaseEstimator):
    def __init__(self, estimator=None, *, group=None, leniency=0.0):
        self.estimator, self.group, self.leniency = estimator, group, leniency

    def fit(self, X, y):
        self.model_ = clone(self.estimator).fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return (self.model_.predict_proba(X)[:, 1] > 0.5 - self.leniency).astype(int)
"""
DESIGN = """
name = "Who is hired"
seeds = 2
bases = ["strange_module:Model"]
[problems.applicants]
source = "applicants.csv"
target = "hired"
sensitive = ["region"]
[methods.Lenient]
estimator = "strange_module:Lenient"
hyperparameter = "leniency"
grid = [0.0, 0.1, 0.2]
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The design, run and drawn by the command line: its folder, and its drawings."""
    folder = tmp_path_factory.mktemp("foreign")
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "region": rng.choice(["north", "south", "west"], 300),
            "city": rng.choice(["x", "y"], 300),
            "score": rng.normal(size=300),
        }
    )
    chance = 1 / (1 + np.exp(-table["score"] - (table["region"] == "north")))
    table["hired"] = np.where(rng.random(300) < chance, "yes", "no")
    table.to_csv(folder / "applicants.csv", index=False)
    (folder / "strange_module.py").write_text(OWN)
    (folder / "strange.toml").write_text(DESIGN)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(folder), *sys.path])
        save = figures.save
        patch.setattr(saving, "save", lambda *given: save(*given[:3], formats=()))
        patch.setenv("LOKY_MAX_CPU_COUNT", "1")
        drawings, draw = {}, page.drawings_of
        patch.setattr(page, "drawings_of", lambda *given: drawings.update(draw(*given)) or drawings)
        for command in ("run", "page"):
            done = CliRunner().invoke(bench, [command, str(folder / "strange.toml")])
            assert done.exit_code == 0, done.output
        assert read_design(folder / "strange.toml").name == "Who is hired"
    return folder / "strange", drawings


@pytest.fixture(scope="module")
def folder(made):
    return made[0]


@pytest.fixture(scope="module")
def drawings(made):
    return made[1]


def test_every_panel_of_every_figure_has_points_of_both(folder, drawings):
    written = {path.stem for path in (folder / "report" / "figures").glob("*.csv")}
    assert written == drawings.keys()
    for drawing in drawings.values():
        assert drawing.missing == ()
        for axes in drawing.figure.axes:
            lines = [one for one in axes.get_lines() if not one.get_label().startswith("_")]
            assert lines
            for one in lines:
                assert np.isfinite(one.get_xydata()).all()
                assert len(one.get_xydata())


def test_trade_offs_are_of_the_strangers_problem_by_the_strangers_names(drawings):
    drawing = drawings["tradeoffs-statistical_parity-applicants"]
    assert set(drawing.data["problem"]) == {"applicants"}
    assert [axes.get_xlabel() for axes in drawing.figure.axes] == [
        f"statistical parity by {measure}" for measure in ("MPD", "Gini", "PQ")
    ]
    names = [text.get_text() for text in drawing.figure.legends[0].get_texts()]
    assert names == ["Base", "Lenient", "noise: all groups treated alike"]
    settings = drawing.data[drawing.data["series"] == "Lenient"]
    assert set(settings["hyperparameter"]) == {0.0, 0.1, 0.2}
    assert "applicants (applicants.csv; 300 rows)" in drawing.caption


def test_the_page_is_about_the_strangers_benchmark(folder):
    seen = parsed((folder / "report" / "report.html").read_text("utf-8"))
    assert [one.text for one in seen.all("h1")] == ["Who is hired"]
    text = " ".join(one.text for one in seen.all("main"))
    assert "2 methods on 1 problem, each on the same 2 splits." in text
    labels = " ".join(one.attributes["aria-label"] for one in seen.all("svg", role="img"))
    assert "applicants" in labels
    for words in (text, labels, " ".join(one.text for one in seen.all("title"))):
        assert "paper" not in words.lower()


@pytest.mark.parametrize("command", [(), ("run",), ("status",), ("figures",), ("export",)])
def test_the_help_speaks_of_nobody_elses_benchmark(command):
    assert "paper" not in CliRunner().invoke(bench, [*command, "--help"]).output.lower()
