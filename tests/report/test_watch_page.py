"""The page of a watch: what it draws, says and leaves out."""

import re
from datetime import date

import numpy as np
import pytest

import evenhand as eh
from evenhand import report
from evenhand.report.charts import Band
from evenhand.watch.document import document_of


@pytest.fixture(scope="module")
def watched():
    rng = np.random.default_rng(0)
    watch = eh.Watch(
        ["statistical_parity", "equal_opportunity"],
        fail_if={"statistical_parity.mpd": 0.05},
        measures=["mpd", "gini"],
        favorable=1,
    )
    for day in range(6):
        group = rng.choice(["<b>a</b>", "b & c", "d"], 600)
        decided = (rng.random(600) < np.where(group == "d", 0.2, 0.5)).astype(int)
        counts = eh.tally(rng.integers(0, 2, 600), decided, sensitive_features=group)
        watch.update(counts, part=f"day {day}", at=date.fromordinal(739_000 + day))
    return watch


@pytest.fixture(scope="module")
def page(watched):
    return watched.to_html()


def test_the_page_says_what_matters_first(page):
    (lede,) = re.findall(r'<p class="lede">(.*?)</p>', page)
    assert lede.startswith("The bound statistical_parity.mpd &gt; 0.05 has been violated since")


def test_every_criterion_and_group_has_a_chart(page):
    assert len(re.findall(r'class="band"', page)) == 4  # two criteria by two measures
    assert page.count('class="everyone"') == 6  # three groups of each
    assert page.count('role="img"') == 10


@pytest.mark.slow
def test_no_label_breaks_out_of_the_page(page):
    assert "<b>a</b>" not in page
    assert "&lt;b&gt;a&lt;/b&gt;" in page
    assert "b &amp; c" in page


def test_the_page_asks_for_nothing_from_the_network(page):
    assert not re.search(r'(?:src|href)="(?!#|data:)', page)
    assert "<script" not in page


@pytest.mark.slow
def test_timelines_end_with_what_the_status_says(watched):
    document = document_of(watched._memory)
    for criterion, finding in zip(document["criteria"], document["findings"], strict=True):
        for measure, points in criterion["timelines"].items():
            last = {name: points[-1][name] for name in ("value", "low", "high")}
            assert last == finding["measures"][measure]


def test_a_page_needs_a_document_of_its_kind():
    with pytest.raises(eh.InputError, match=r"evenhand\.watch-report/1"):
        report.page({"schema": "evenhand.watch-report/2"})


def test_a_watch_without_parts_has_a_page():
    assert "No bound is violated" in eh.Watch("statistical_parity").to_html()


def test_a_band_of_one_day_can_be_drawn():
    day = {"day": "2026-01-01", "value": 0.1, "low": 0.0, "high": 0.3}
    assert "nan" not in Band("MPD", [day], bound=0.2).svg("c")


@pytest.mark.slow
def test_markdown_and_metrics_say_the_same_as_the_status(watched):
    status = watched.status()
    text, metrics = watched.to_markdown().replace("\\", ""), watched.to_openmetrics()
    assert status.judgements[0].sentence in text
    value = status.findings[0].intervals["mpd"].value
    assert (
        f'evenhand_watch_value{{criterion="statistical_parity",measure="mpd"}} {value!r}' in metrics
    )
    assert 'group="<b>a</b>"' in metrics
    assert metrics.splitlines()[-1] == "# EOF"


def test_a_page_of_clusters_says_so_and_marks_when_groups_began_to_differ():
    watch = eh.Watch(
        "statistical_parity", fail_if={"statistical_parity.mpd": 0.3}, measures="mpd", favorable=1
    )
    for day in range(1, 6):
        decided = np.repeat([1, 0, 1, 0], [20, 80, 60, 40])
        counts = eh.tally(
            None,
            decided,
            sensitive_features=np.repeat([*"ab"], 100),
            cluster=np.arange(200) // 2,
        )
        watch.update(counts, part=str(day), at=f"2026-02-0{day}")
    page = watch.to_html()
    assert "250 clusters" in page
    assert "differs since 2026-02-0" in page
