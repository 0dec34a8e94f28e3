"""Every form that an audit takes: each is made, read back, and says the same."""

from __future__ import annotations

import copy
import csv
import io
import itertools
import math
import pickle
import re
import tempfile
import warnings
from collections.abc import Callable
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import yaml

import evenhand as eh
from evenhand.cli.summary import show
from evenhand.cli.terminal import text_of
from fuzz.counting import strictly
from journeys.generator import Journey
from journeys.oracle import Truth, close
from journeys.said import group_of

Output = Callable[[Journey, eh.Audit], None]
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def printed(journey: Journey, audit: eh.Audit) -> None:
    """Text, as `print` and a console show it."""
    text, brief = str(audit), repr(audit)
    assert _squeezed(audit.summary.split(". ")[0])[:20] in _squeezed(brief), brief
    differ = sum(finding.verdict == "differs" for finding in audit.findings)
    assert f"differ on {differ} of {len(audit.findings)} " in brief, brief
    assert not CONTROL.search(text), text


def notebook(journey: Journey, audit: eh.Audit) -> None:
    html = audit._repr_html_()
    _is_html(html)
    _has_no_markup(journey, html)


def page(journey: Journey, audit: eh.Audit) -> None:
    html = audit.to_html()
    _is_html(html)
    _has_no_markup(journey, html)
    assert escape(audit.document()["summary"]["about"][:12], quote=False) in html


def document(journey: Journey, audit: eh.Audit) -> None:
    """Strict JSON, with the values of the findings."""
    read = strictly(audit.to_json())
    for line in read["findings"]:
        found = audit.finding(line["criterion"], line["measure"])
        for name in ("value", "low", "high"):
            number = getattr(found, name)
            assert line[name] == (number if math.isfinite(number) else None), line
    assert read["rows"] == sum(group["rows"] for group in read["groups"])


def markdown(journey: Journey, audit: eh.Audit) -> None:
    """Tables whose lines all have as many cells as their head."""
    text = audit.to_markdown()
    lines = [re.sub(r"\\.", "", line) for line in text.splitlines()]
    for before, line in itertools.pairwise(lines):
        if before.startswith("|") and line.startswith("|"):
            assert before.count("|") == line.count("|"), (before, line)


def model_card(journey: Journey, audit: eh.Audit) -> None:
    """A YAML head that reads as what was found."""
    card = audit.to_model_card(model="m: 1")
    head = yaml.safe_load(card.split("---\n")[1])
    result = head["model-index"][0]
    assert result["name"] == "m: 1"
    values = {metric["type"]: metric["value"] for metric in result["results"][0]["metrics"]}
    for found in audit.measured:
        name = f"{found.criterion}.{found.measure}"
        if name in values:
            assert close(values[name], found.value, max(1.0, abs(found.value))), (name, values)


def frames(journey: Journey, audit: eh.Audit) -> None:
    """Dataframes with a line for each value, and for each group."""
    assert len(audit.to_frame()) == len(audit.measured)
    assert len(audit.by_group) == len(audit.evidence.groups)
    for finding in audit.findings:
        audit.by_group_frame(finding.criterion)


def figure(journey: Journey, audit: eh.Audit) -> None:
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    mpl.use("Agg")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # no font has all letters
        warnings.filterwarnings("ignore", "Matplotlib currently does not support")
        try:
            drawn = audit.plot()
        except eh.InputError:
            assert all(one.verdict == "undefined" for one in audit.findings)
            return
        drawn.canvas.draw()
    plt.close(drawn)


def standards(journey: Journey, audit: eh.Audit) -> None:
    """The pages of the rules; what one asks for may not be there."""
    truth = Truth(journey, audit.evidence.columns)
    for name in journey.pick(list(eh.standards.STANDARDS), 2):
        try:
            read = strictly(audit.to_json(standard=name))
        except eh.EvenhandError:
            continue
        _is_html(audit.to_html(standard=name))
        table = list(csv.reader(io.StringIO(audit.to_csv(standard=name))))
        assert all(len(line) == len(table[0]) for line in table), name
        if name == "nyc-ll144" and journey.favorable is not None and journey.weight is None:
            _impact(truth, audit, read)


def _impact(truth: Truth, audit: eh.Audit, read: dict[str, Any]) -> None:
    """Impact ratios: each rate over the highest."""
    lines = read["tables"][-1]["rows"]
    rates = truth.metric("selection_rate")
    if "rate" not in lines[0] or len(lines) != len(audit.evidence.groups):
        return
    for label, line in zip(audit.evidence.groups, lines, strict=True):
        assert close(line["rate"], rates[group_of(truth, label)]), (line, rates)
        if max(rates.values()) > 0 and line["impact_ratio"] is not None:
            wanted = rates[group_of(truth, label)] / max(rates.values())
            assert close(line["impact_ratio"], wanted), (line, rates)


def pickled(journey: Journey, audit: eh.Audit) -> None:
    """Kept and copied, an audit is the same."""
    for other in (pickle.loads(pickle.dumps(audit)), copy.deepcopy(audit)):
        assert other.to_json() == audit.to_json()


def mlflow(journey: Journey, audit: eh.Audit) -> None:
    """Metrics under names that MLflow takes, with the values of the findings."""
    from evenhand.compat.mlflow import metrics_of

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        metrics = metrics_of(audit)
    for name, value in metrics.items():
        assert re.fullmatch(r"[\w/. -]+", name), name
        assert math.isfinite(value), name
    for found in audit.measured:
        name = re.sub(r"\((\w+)\)", r".\1", f"evenhand/{found.criterion}.{found.measure}")
        assert metrics.get(name, math.nan) == found.value or math.isnan(found.value), name


def terminal(journey: Journey, audit: eh.Audit) -> None:
    """The screen of the command line, narrow and wide, short and full."""
    read, full = audit.document(), journey.chance(0.5)
    text = text_of(lambda screen: show(read, (), screen, full=full, quiet=False))
    assert not CONTROL.search(re.sub(r"\x1b\[[\d;]*m", "", text)), text


def files(journey: Journey, audit: eh.Audit) -> None:
    """What is written to a file is what is returned."""
    with tempfile.TemporaryDirectory() as folder:
        for name, write in (
            ("a.json", audit.to_json),
            ("a.md", audit.to_markdown),
            ("a.html", audit.to_html),
            ("card.md", audit.to_model_card),
        ):
            path = Path(folder) / name
            assert write(path) == path.read_text("utf-8"), name


OUTPUTS: tuple[Output, ...] = (
    printed,
    notebook,
    page,
    document,
    markdown,
    model_card,
    frames,
    figure,
    standards,
    pickled,
    mlflow,
    terminal,
    files,
)


class _Tags(HTMLParser):
    """Opened and closed in order; a few stand alone."""

    ALONE = frozenset(
        ("meta", "link", "br", "hr", "img", "input", "col", "wbr", "path", "circle", "line")
    )

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag not in self.ALONE:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.ALONE:
            return
        if tag in ("p", "li", "td", "tr", "th") or not self.open:
            return
        while self.open and self.open[-1] in ("p", "li", "td", "tr", "th"):
            self.open.pop()
        assert self.open, f"</{tag}> closes nothing"
        assert self.open[-1] == tag, f"</{tag}> closes <{self.open[-1]}>"
        self.open.pop()


def _is_html(html: str) -> None:
    tags = _Tags()
    tags.feed(html)
    tags.close()


def _has_no_markup(journey: Journey, html: str) -> None:
    """No name of a group is markup."""
    if any("<b>x</b>" in map(str, column) for column in journey.people.values()):
        assert "<b>x</b>" not in html


def _squeezed(text: str) -> str:
    return " ".join(text.split())
