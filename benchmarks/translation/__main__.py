"""Measures the tables of docs/reference/translation.md, and checks what they claim.

python benchmarks/translation            prints the tables
python benchmarks/translation --write    puts them into the page
python benchmarks/translation --check    says whether the page still has them
"""

from __future__ import annotations

import argparse
import logging
import re
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from types import ModuleType

import classification
import errors
import faults
import hours
import inputs
import scores
import traps
from answers import table
from views import Names

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "translation.md"
PACKAGES = ("evenhand", "fairlearn", "aif360", "oxonfair", "holisticai", "fairbench")


def main() -> int:
    logging.disable()  # peers announce optional parts that are not installed
    options = _options()
    measured = {"versions": _versions(), "labels": _labels(), "numbers": _numbers()}
    measured |= {"traps": _alone(traps), "faults": _alone(faults)}
    if not (options.write or options.check):
        print("\n".join(measured.values()))
        return 0
    old = PAGE.read_text()
    new = old
    for name, text in measured.items():
        new = _filled(new, name, text)
    if options.write:
        PAGE.write_text(new)
    elif new != old:
        print(f"{PAGE.name} has other tables than were measured; see --write.")
    return int(options.check and new != old)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="put the tables into the page")
    parser.add_argument("--check", action="store_true", help="compare the page, and fail")
    return parser.parse_args()


def _versions() -> str:
    return ", ".join(f"{name} {version(name)}" for name in PACKAGES) + ".\n"


def _labels() -> str:
    asked = chain(classification.QUESTIONS, errors.QUESTIONS, scores.QUESTIONS)
    return "\n".join(table(question, _both(inputs.adult())) for question in asked)


def _numbers() -> str:
    return "\n".join(table(question, _both(inputs.hours())) for question in hours.QUESTIONS)


def _alone(cases: ModuleType) -> str:
    shown = (table(question, {"Value": rows()}) for question, rows in cases.QUESTIONS.items())
    return "\n".join(shown)


def _both(views: dict[str, Names]) -> dict[str, Names]:
    return {f"By {name}": names for name, names in views.items()}


def _filled(page: str, name: str, text: str) -> str:
    """The page with a measured part put between its marks."""
    marks = re.compile(rf"(?<=% measured: {name}\n).*?(?=% end of {name}\n)", re.DOTALL)
    filled, found = marks.subn(lambda _: f"\n{text}\n", page)
    if found != 1:
        raise ValueError(f"{PAGE.name} needs '% measured: {name}' and '% end of {name}' once.")
    return filled


if __name__ == "__main__":
    raise SystemExit(main())
