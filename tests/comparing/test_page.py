"""The page and the figure of a comparison, and its other forms."""

import json
import re
from html import escape, unescape
from math import ceil, floor

import matplotlib as mpl
import numpy as np
import pytest

import evenhand as eh
from comparing.models import labeled, numbered
from evenhand import report
from evenhand.measures import MEASURES
from report.browser import BEFORE, BROWSER, NAMES, run

NASTY = "<script>alert(1)</script> | *x* 名前"


@pytest.fixture(scope="module")
def found():
    y, made, group = labeled()
    models = {**made, NASTY: y.copy()}
    return eh.compare(y, models, sensitive_features=group, title="Hiring", replicates=20)


@pytest.fixture(scope="module")
def regression():
    y, made, group = numbered()
    ask = {"criteria": ["weak_parity", "performance_parity"], "replicates": 5}
    return eh.compare(y, made, sensitive_features=group, **ask)


def test_the_page_has_a_picture_of_each_criterion_with_a_point_for_each_model(found):
    page = found.to_html()
    assert page.count('class="lines scatter"') == 3
    assert page.count('<g class="point c0"><title>') == 3
    assert page.count('class="cross c1"') == 6
    assert "<h1>Hiring</h1>" in page
    assert escape(found.document()["sentences"][0], quote=False) in unescaped_quotes(page)


def unescaped_quotes(page):
    return page.replace("&#39;", "'").replace("&#34;", '"')


def test_the_page_is_small_asks_for_nothing_and_has_no_script(found):
    page = found.to_html()
    assert len(page.encode()) < 200_000
    assert "<script" not in page
    assert not re.search(r"""(?:src|href)=["'](?!#|data:)""", page)
    assert NASTY not in page


def test_the_page_is_made_from_the_stored_document(found, tmp_path):
    found.to_json(tmp_path / "found.json")
    stored = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    assert report.page(stored) == found.to_html(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == found.to_html()
    with pytest.raises(eh.InputError, match=r"evenhand\.comparison/2"):
        report.page({"schema": "evenhand.comparison/1"})


def test_values_and_intervals_stand_in_the_first_table(found):
    row = found.document()["performance"][0]["models"][0]
    text = unescape(re.sub(r"<[^>]+>", " ", found.to_html()))
    assert f"{100 * row['value']:.1f}%" in text
    low, high = floor(1000 * row["low"]) / 10, ceil(1000 * row["high"]) / 10
    assert f"{low:.1f}% to {high:.1f}%" in text


@pytest.mark.slow
def test_many_models_keep_the_page_small():
    y, made, group = labeled(rows=120, models=12)
    ask = {"criteria": "statistical_parity", "replicates": 2}
    page = eh.compare(y, made, sensitive_features=group, **ask).to_html()
    assert len(page.encode()) < 400_000
    assert "more rows are in" in page


def test_a_page_without_truth_or_with_one_model_has_no_picture_or_one_point():
    y, made, group = labeled(models=1)
    ask = {"sensitive_features": group, "criteria": "statistical_parity"}
    assert "scatter" not in body(eh.compare(None, made, **ask)).replace("scatter key", "")
    assert body(eh.compare(y, made, **ask)).count('class="lines scatter"') == 1


def body(comparison):
    return comparison.to_html().split("</style>")[1]


@pytest.mark.slow
def test_of_a_ratio_one_is_equal_and_larger_is_better():
    y, made, group = labeled(rows=2000)
    ask = {"criteria": ["statistical_parity", "selection_rate_ratio"], "replicates": 5}
    found = eh.compare(y, {"even": y.copy(), **made}, sensitive_features=group, **ask)
    even, ratio = found.document()["criteria"]
    assert (even["more_is_better"], ratio["more_is_better"]) == (False, True)
    best = max(ratio["models"], key=lambda one: one["value"])
    assert f"selection rate ratio ({best['value']:.3f})" in found.summary
    assert "1 is equal, further right is better" in found.to_html()
    assert "1 is equal" in found.plot().axes[1].get_xlabel()


@pytest.mark.slow
def test_the_notebook_shows_a_sentence_and_the_models(found):
    html = found._repr_html_()
    assert html.count("<tr>") == 1 + len(found.models)
    assert len(html) < 5000
    assert NASTY not in html


def test_markdown_cannot_be_broken_by_a_name(found):
    lines = found.to_markdown().splitlines()
    assert not any("<script>" in line.replace("\\<", "") for line in lines)
    table = [line for line in lines if line.startswith("| Model | Accuracy")]
    assert len(table) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["found", "regression"])
def test_the_figure_draws_the_numbers_of_the_tables(name, request):
    comparison = request.getfixturevalue(name)
    document = comparison.document()
    figure = comparison.plot()
    metric = document["performance"][0]
    up = 100 if metric["is_rate"] else 1
    for ax, criterion in zip(figure.axes, document["criteria"], strict=False):
        across = 100 if criterion["is_rate"] else 1
        drawn = [line.get_xydata()[0] for line in ax.lines if line.get_marker() != "None"]
        wanted = [
            (across * one["value"], up * other["value"])
            for one, other in zip(criterion["models"], metric["models"], strict=True)
        ]
        assert np.allclose(drawn, wanted)
        topic = criterion["name"].removeprefix("performance_")
        assert re.split(r"[_(]", topic)[0] in ax.get_title(loc="left").lower()


@pytest.mark.slow
def test_the_figure_can_be_saved_with_any_names(found, tmp_path):
    with mpl.rc_context({"text.parse_math": False}):
        y, _, group = labeled(models=1)
        other = eh.compare(
            y, {"a": y.copy(), "b $": y.copy()}, sensitive_features=group, criteria="error_parity"
        )
        other.plot().savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 1000


@pytest.mark.slow
def test_a_regression_says_error_and_not_accuracy(regression):
    assert "has the lowest RMSE" in regression.summary
    assert "parity of MSE (" in regression.summary
    assert "accurate" not in regression.summary
    assert "further down and to the left" in regression.to_html()


@pytest.mark.slow
def test_the_summary_says_who_is_best_and_whether_that_is_chance():
    rng = np.random.default_rng(0)
    y, group = rng.integers(0, 2, 2000), rng.choice(["a", "b"], 2000)
    bad = np.where(rng.random(2000) < 0.5, y, 1 - y)
    told = eh.compare(y, {"good": y.copy(), "bad": bad}, sensitive_features=group).summary
    assert told.startswith("good is the most accurate: 100.0% (99.8% to 100.0%), significantly.")
    twins = eh.compare(y, {"one": bad, "two": bad}, sensitive_features=group).summary
    assert twins.startswith("Both models have the same accuracy: 51.2% (48.9% to 53.5%).")
    near = eh.compare(
        y, {"one": bad, "two": bad, "flip": 1 - bad}, sensitive_features=group
    ).summary
    assert near.startswith("one and two are the most accurate: 51.2% (48.9% to 53.5%), but not")


@pytest.mark.parametrize("measure", list(MEASURES))
@pytest.mark.parametrize("criterion", ["statistical_parity", "equalized_odds", "average_odds"])
def test_models_that_tie_are_not_named_the_least_unequal(criterion, measure):
    y, group = np.arange(40) % 2, np.repeat(["a", "b"], 20)
    only_a, only_b, fair = group == "a", group == "b", np.arange(40) // 2 % 2
    ask = {"sensitive_features": group, "criteria": criterion, "measures": measure}
    said = eh.compare(y, {"one": only_a * 1, "two": only_b * 1}, **ask).summary
    assert "both models are tied in" in said
    assert "least unequal" not in said
    more = {"one": fair, "two": 1 - fair, "three": only_a * 1}
    assert "the least unequal are one and two in" in eh.compare(y, more, **ask).summary


def test_a_criterion_without_a_value_has_no_winner():
    y, group = np.arange(40) % 2, np.repeat(["a", "b"], 20)
    ask = {"sensitive_features": group, "criteria": "predictive_parity"}
    nobody, only_a = np.zeros(40, int), (group == "a") * 1
    said = eh.compare(y, {"one": y ^ (np.arange(40) < 2), "two": only_a}, **ask).summary
    assert "Only one has a value for predictive parity (" in said
    said = eh.compare(y, {"one": nobody + only_a, "two": 1 - only_a}, **ask).summary
    assert "No model has a value for predictive parity." in said


@pytest.fixture(scope="module")
def wide_page():
    y, made, group = labeled(models=6)
    long = {f"{name} with a name that is very long indeed": one for name, one in made.items()}
    return eh.compare(y, long, sensitive_features=group, replicates=5).to_html()


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason=f"none of {NAMES} is installed")
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_does_not_scroll_sideways(width, wide_page, tmp_path):
    probe = """<script>addEventListener("load", () => {
      const told = document.createElement("pre");
      told.id = "probe";
      const root = document.documentElement;
      told.textContent = JSON.stringify([root.scrollWidth, innerWidth, problems.length]);
      parent.document.body.append(parent.document.importNode(told, true));
    });</script>"""
    page = wide_page.replace("</title>", "</title>" + BEFORE + probe, 1)
    frame = f'<iframe width="{width}" height="900" srcdoc="{escape(page)}"></iframe>'
    path = tmp_path / "page.html"
    path.write_text(frame, encoding="utf-8")
    dom = run(tmp_path, "--virtual-time-budget=3000", "--dump-dom", path.as_uri())
    whole, inner, problems = json.loads(re.search(r'<pre id="probe">(.*?)</pre>', dom)[1])
    assert whole <= inner
    assert problems == 0
