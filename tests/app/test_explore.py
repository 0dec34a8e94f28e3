"""What a page explores is what was counted: regrouped, compared, and at other thresholds."""

import json
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import duckdb
import numpy as np
import pytest

import evenhand as eh
from app.test_questions import DECIDED, SCORED, form, opened
from app.test_walks import browser, chrome, link  # noqa: F401 - fixtures
from evenhand._audit.explore import counts_document
from evenhand._errors import InputError
from evenhand.app.questions import Interview
from evenhand.app.rule import rule_sql
from report.browser import BROWSER

CLUSTERED = {"lines": ["repeated"], "cluster": ["person"]}
DECISIONS = {**DECIDED, "group": ["sex", "race"]}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (SCORED, {"group": ["race"]}),
        (SCORED, {"threshold": ["0.37"]}),
        ({**SCORED, **CLUSTERED}, {"threshold": ["2"], "group": ["sex"]}),
        ({**SCORED, "favorable": ["0"]}, {"threshold": ["0.6"]}),
        ({**SCORED, "score_of": ["0"]}, {"threshold": ["0.6"]}),
        (DECISIONS, {"favorable": ["0"], "group": ["sex"]}),
    ],
)
def test_rows_are_counted_once_and_read_otherwise(desk, loans, tmp_path, before, after):
    work = opened(desk, loans, tmp_path)
    first = Interview(work.table, form(work.table, before)).choices
    then = Interview(work.table, form(work.table, {**before, **after})).choices
    known, anew = work.counted(first), then.count()
    derived = then.among(first.reading, known)
    assert (derived.fingerprint, derived.notes) == (anew.fingerprint, anew.notes)
    assert work.counted(then).fingerprint == anew.fingerprint


def test_what_does_not_depend_on_an_answer_is_tested_once(desk, loans, tmp_path):
    """Scores stay as they are at another threshold, and where the other outcome is the good one."""
    work = opened(desk, loans, tmp_path)
    first = Interview(work.table, form(work.table, SCORED)).choices
    scores = work.counted(first).sources
    for answer, same in (
        ({"threshold": ["0.6"]}, {"steps", "ranks", "losses", "bins"}),
        ({"favorable": ["0"]}, {"steps", "losses", "labels", "predictions"}),
    ):
        other = Interview(work.table, form(work.table, {**SCORED, **answer})).choices
        sources = work.counted(other).sources
        assert {need for need in sources if sources[need] is scores[need]} == same


OTHERWISE = {
    "a threshold": {"threshold": ["0.37"]},
    "a threshold that nobody reaches, and fewer columns": {"threshold": ["2"], "group": ["sex"]},
    "another favorable outcome": {"favorable": ["0"]},
    "bins of an age": {"group": ["sex", "age"], "bins": ["3"]},
    "edges of an age alone": {"group": ["age"], "bins": ["0, 30, 50.5, 120"]},
    "all of it": {"favorable": ["0"], "threshold": ["0.7"], "group": ["age", "sex"], "bins": ["2"]},
}


def test_other_answers_are_counted_from_counts_as_from_the_rows(desk, loans, tmp_path):
    work = opened(desk, loans, tmp_path)
    whole = {**SCORED, "group": ["sex", "race", "age"], "bins": ["4"]}
    first = Interview(work.table, form(work.table, whole)).choices
    assert work.counts(first) == counts_document(first.count())
    before = {*work.evidence}
    for name, more in OTHERWISE.items():
        asked = {**SCORED, "group": ["sex", "race"], **more}
        choices = Interview(work.table, form(work.table, asked)).choices
        assert work.counts(choices) == counts_document(choices.count()), name
    assert {*work.evidence} == before, "rows were counted again"


def test_edges_that_leave_somebody_out_are_said_in_words(desk, loans, tmp_path):
    work = opened(desk, loans, tmp_path)
    asked = form(work.table, {**SCORED, "group": ["age"], "bins": ["30, 50"]})
    with pytest.raises(InputError, match="outside its"):
        work.counts(Interview(work.table, asked).choices)


def test_counts_are_those_of_the_audit(loans):
    found = eh.audit(
        "outcome",
        "decision",
        y_score="score",
        favorable="repaid",
        score_of="repaid",
        sensitive_features=["sex", "race"],
        data=loans,
    )
    counts = counts_document(found.evidence)
    decided, by_score = np.array(counts["decided"]), np.array(counts["score"]["counts"])
    table = found.by_group
    assert decided.sum(axis=(1, 2)).tolist() == table.n.tolist() == counts["rows"]
    np.testing.assert_allclose(decided[:, :, 1].sum(1) / table.n, table.selection_rate)
    np.testing.assert_allclose(decided[:, 1, 1] / decided[:, 1].sum(1), table.true_positive_rate)
    assert np.array_equal(by_score.sum(axis=2), decided.sum(axis=2))


TABLE = """[...document.querySelectorAll('#explore tbody tr[data-group]')].map((row) =>
  [row.dataset.group, ...[...row.cells].slice(1, 4).map((cell) => cell.firstChild.data)])"""
SET = """((name, value) => {
  const field = document.querySelector(`#explore [name="${name}"]`);
  field.value = value;
  field.dispatchEvent(new Event(name === "at" ? "input" : "change", { bubbles: true }));
})(%s, %s)"""


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="there is no browser of the Chromium family")
def test_people_and_points_follow_the_threshold(chrome, link, desk, loans, tmp_path):  # noqa: F811
    work = opened(desk, loans, tmp_path)
    asked = "&".join(f"{k}={v}" for k, vs in form(work.table, SCORED).items() for v in vs)
    chrome.go(link)
    chrome.until("document.querySelector('#drop')")
    chrome.go(f"{link.partition('?')[0]}files/{next(iter(desk.files))}?{asked}")
    chrome.until("document.querySelector('#explore tbody tr')")

    def table():
        return {row[0]: row[1:] for row in chrome.ask(TABLE)}

    def put(name, value):
        chrome.ask(SET % (json.dumps(name), json.dumps(value)))

    def expected(selected, by):
        of = loans.assign(selected=selected).groupby(by).selected.agg(["size", "sum", "mean"])
        return {
            " × ".join([key] if isinstance(key, str) else key): [
                str(n), str(int(many)), f"{100 * share:.1f}%"
            ]
            for key, n, many, share in of.itertuples(name=None)
        }  # fmt: skip

    assert table() == expected(loans.score >= 0.5, ["sex", "race"])
    chrome.ask("document.querySelector('#explore input[value=race]').click()")
    assert table() == expected(loans.score >= 0.5, "sex")
    edges = json.loads(chrome.ask("document.querySelector('#counts').textContent"))["score"]["at"]
    put("at", "80")
    assert table() == expected(loans.score >= edges[79], "sex")
    put("whom", "F")
    chrome.ask("document.querySelector('#explore [value=held]').click()")
    put("at", "30")
    held = table()
    own = expected(loans.score >= edges[29], "sex")["F"]
    many = int((loans.score >= 0.5).sum())
    assert held["F"] == own
    assert int(held["M"][1]) + int(own[1]) == many
    assert f"{many} of 400 people are selected, as many as decided" in chrome.ask(
        "document.querySelector('.told').textContent"
    )
    chrome.ask("document.querySelector('#explore tbody button').click()")
    assert "Selection rate by race" in chrome.ask("document.querySelector('.opened').textContent")
    chrome.until("document.querySelector('#tests .lede')")
    assert chrome.problems == []


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="there is no browser of the Chromium family")
def test_a_notebook_shows_the_page_in_a_frame_that_its_links_do_not_leave(chrome, loans, tmp_path):  # noqa: F811
    page = eh.audit(
        "outcome",
        "decision",
        sensitive_features="sex",
        favorable="repaid",
        criteria="statistical_parity",
        data=loans,
    ).explore()
    frame = page._repr_html_().replace('"allow-scripts"', '"allow-scripts allow-same-origin"')
    (tmp_path / "notebook.html").write_text(f"<!doctype html><title>n</title>{frame}")
    handler = partial(SimpleHTTPRequestHandler, directory=tmp_path)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        chrome.go(f"http://127.0.0.1:{server.server_port}/notebook.html")
        inside = "document.querySelector('iframe').contentDocument"
        chrome.until(f"{inside}.querySelector('#explore tbody button')")
        chrome.ask(f"{inside}.querySelector('#explore tbody button').click()")
        assert chrome.ask(f"{inside}.querySelectorAll('.opened').length") == 1
        chrome.ask(f"{inside}.querySelector('nav a[href=\"#explore\"]').click()")
        chrome.until(f"{inside}.URL === 'about:srcdoc#explore'")
        assert chrome.ask(f"{inside}.querySelectorAll('.opened').length") == 1
        server.shutdown()


@pytest.mark.parametrize(
    ("scale", "good"),
    [(1, "1"), (100, "1"), (1, "0")],
    ids=["probabilities", "a score of any scale", "a score of what is bad"],
)
def test_the_rule_as_sql_decides_as_was_explored(desk, loans, tmp_path, scale, good):
    rows = loans.assign(score=(scale * loans.score).round(2))
    work = opened(desk, rows, tmp_path)
    asked = form(work.table, {**SCORED, "threshold": [str(0.5 * scale)], "favorable": [good]})
    choices = Interview(work.table, asked).choices
    edges = np.array(work.counts(choices)["score"]["at"])
    low, high = float(edges[80]), float(edges[81])
    men, women = rows.sex == "M", rows.sex == "F"
    cases = [
        ({}, rows.score >= 0.5 * scale),
        ({"own": [str(low)]}, rows.score >= low),
        ({"own": ["none"], "by": ["sex"], "who": ["F"]}, men & (rows.score >= 0.5 * scale)),
        (
            {"own": [str(low)], "by": ["sex"], "who": ["F"], "rest": ["all", "none", "0.25"]},
            women * (rows.score >= low) + 0.75 * men,
        ),
        ({"own": [str(high)], "by": ["race", "sex"], "who": ["Black", "F"], "rest": ["none"]},
         women & (rows.race == "Black") & (rows.score >= high)),
    ]  # fmt: skip
    for explored, selected in cases:
        query = rule_sql(choices, work.counted(choices), explored)
        decided = duckdb.sql(query, connection=_people(rows)).df()
        np.testing.assert_allclose(decided.sort_values("at").chance_repaid, selected, err_msg=query)


def _people(rows):
    database = duckdb.connect()
    database.register("people", rows.assign(at=range(len(rows))))
    return database
