"""The audit as a section of a model card: Hugging Face metadata, then Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from evenhand._kinds import check_kinds
from evenhand._words import escaped
from evenhand.report.audit import criteria
from evenhand.report.formats import measure_phrase, words
from evenhand.report.groups import groups
from evenhand.report.markdown import paragraphs

Document = dict[str, Any]

TASKS = {"regression": "tabular-regression", "ranking": "text-ranking"}
CAUTION = (
    "A low score is not “fair”: each criterion looks at one aspect, of these rows and these groups "
    "only. “Cannot tell” is not evidence of equality."
)


def model_card(document: Document, model: str | None = None, dataset: str | None = None) -> str:
    """The metadata and the section, with all names escaped."""
    check_kinds(model=model, dataset=dataset)
    return "\n\n".join([_metadata(document, model, dataset), *_section(document)]) + "\n"


def _metadata(document: Document, model: str | None, dataset: str | None) -> str:
    """A YAML block; texts are quoted as in JSON, which is valid YAML."""
    name = model or document["provenance"]["model"] or "model"
    data = dataset or document["title"] or "audited data"
    lines = [
        "---",
        "model-index:",
        f"- name: {_quoted(name)}",
        "  results:",
        "  - task:",
        f"      type: {TASKS.get(document['task'], 'tabular-classification')}",
        "    dataset:",
        f"      name: {_quoted(data)}",
        "      type: tabular",
        f"      revision: {_quoted(document['provenance']['data'])}",
        "    metrics:",
        *_metrics(document),
        "---",
    ]
    return "\n".join(lines)


def _metrics(document: Document) -> Iterator[str]:
    """Overall performance, then each criterion by its first measure, with intervals."""
    table = document["summary"]["table"]
    for metric, value in zip(table["metrics"], table["overall"]["values"], strict=True):
        if value is not None:
            yield from _metric(metric["key"], f"{metric['name']}, everyone", value, {})
    criteria = set()
    for row in document["findings"]:
        if row["criterion"] in criteria or row["value"] is None:
            continue
        criteria.add(row["criterion"])
        name = f"{words(row['criterion'])}: {measure_phrase(row['measure'])} between groups"
        ends = {"low": row["low"], "high": row["high"], "confidence": document["confidence"]}
        arguments = {"verdict": row["verdict"], **ends}
        yield from _metric(f"{row['criterion']}.{row['measure']}", name, row["value"], arguments)


def _metric(key: str, name: str, value: float, arguments: Document) -> Iterator[str]:
    yield f"    - type: {_quoted(key)}"
    yield f"      name: {_quoted(name)}"
    yield f"      value: {_quoted(value)}"
    if arguments:
        yield f"      args: {_quoted(arguments)}"


def _section(document: Document) -> Iterator[str]:
    summary, source = document["summary"], document["provenance"]
    yield "## Fairness"
    yield f"**{escaped(summary['sentence'])}** {escaped(summary['about'])}"
    for section in (groups(document), criteria(document)):
        for block in section.in_text:
            yield from paragraphs(block)
    if document["too_few"]["groups"]:
        yield escaped(document["too_few"]["sentence"])
    yield "\n".join(f"- {escaped(note)}" for note in (CAUTION, *document["notes"]))
    yield f"Audited on {source['date']} with evenhand {source['versions']['evenhand']}."


def _quoted(value: Any) -> str:
    """JSON on one line, without characters that YAML cannot print or reads as line ends."""
    if isinstance(value, str):
        value = "".join(c if c.isprintable() else "\ufffd" for c in value)
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
