"""Gates as test cases, for the servers that read JUnit XML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from evenhand._audit.gate import Judgement, Outcome

NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
ELEMENTS: dict[Outcome, str] = {
    "violation": "failure",
    "inconclusive": "error",
    "error": "error",
}
WITHIN: dict[str, str] = {">": "<=", ">=": "<", "<": ">=", "<=": ">"}


def junit(judgements: Sequence[Judgement], title: str, seconds: float) -> str:
    """An XML document: a test case for each gate, a failure if violated, an error unless passed."""
    outcomes = [judgement.outcome for judgement in judgements]
    counts = {
        "tests": str(len(outcomes)),
        "failures": str(outcomes.count("violation")),
        "errors": str(outcomes.count("inconclusive") + outcomes.count("error")),
        "skipped": "0",
        "time": f"{seconds:.3f}",
    }
    name = NOT_XML.sub("\ufffd", title)
    root = ET.Element("testsuites", {"name": name, **counts})
    suite = ET.SubElement(root, "testsuite", {"name": name, **counts})
    for judgement in judgements:
        _add_case(suite, judgement)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _add_case(suite: ET.Element, judgement: Judgement) -> None:
    gate = judgement.gate
    criterion = f"{gate.name} {WITHIN[gate.sign]} {gate.bound:g}"  # what passes, not what fails
    about = {"classname": f"evenhand.{gate.criterion}", "name": criterion, "time": "0"}
    case = ET.SubElement(suite, "testcase", about)
    if judgement.outcome in ELEMENTS:
        why = NOT_XML.sub("\ufffd", judgement.sentence)  # may name a group
        attributes = {"message": why, "type": judgement.outcome}
        ET.SubElement(case, ELEMENTS[judgement.outcome], attributes).text = why
