"""An answer is a number that several calls give; it is checked, and printed as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from views import Names, run

FAIRLEARN, AIF360, OXONFAIR = "fairlearn", "AIF360", "OxonFair"
HOLISTICAI, FAIRBENCH = "holisticai", "FairBench"
CLOSE = 1e-9
Values = list[float | str]


class Call(NamedTuple):
    """What a tool is asked, as its users would write it."""

    tool: str
    code: str
    note: str = ""


class Answer(NamedTuple):
    """A number, by evenhand (None: it has no such call), and the calls that give the same one.

    Calls that are `near` answer the same question with another number, or with an error. Where
    there is no number to give, evenhand gives NaN or an error, and the table may show that.
    """

    ours: str | None
    what: str
    same: tuple[Call, ...] = ()
    near: tuple[Call, ...] = ()
    by: str = "evenhand"
    no_number: bool = False


class Question(NamedTuple):
    title: str
    answers: tuple[Answer, ...]
    words: str = ""


def table(question: Question, views: Mapping[str, Names]) -> str:
    """The question's calls with their values in each view, all claims checked."""
    head = ["Tool", "Call", *views, "What it is"]
    widths = f"11 {53 - 7 * len(views)} {'9 ' * len(views)}{36 - 2 * len(views)}"
    lines = ["```{list-table}", ":header-rows: 1", ":class: translation", f":widths: {widths}", ""]
    rows = [row for answer in question.answers for row in _rows(answer, views)]
    title = [f"### {question.title}\n", *([f"{question.words}\n"] if question.words else [])]
    return "\n".join([*title, *lines, _line(head), *rows, "```\n"])


def _rows(answer: Answer, views: Mapping[str, Names]) -> Iterator[str]:
    ours = Call(answer.by, answer.ours) if answer.ours else None
    reference = _values(ours or answer.same[0], views)
    if answer.no_number != any(isinstance(one, str) or np.isnan(one) for one in reference):
        raise AssertionError(f"{answer} gives {reference}")
    if ours:
        yield _line([f"**{ours.tool}**", f"`{ours.code}`", *map(shown, reference), answer.what])
    else:
        yield _line(["**evenhand**", "no such call", *["–"] * len(views), answer.what])
    for call in answer.same + answer.near:
        found = _values(call, views)
        claim = call in answer.same
        if _agree(found, reference) != claim:
            verb = "should equal" if claim else "should differ from"
            raise AssertionError(f"{call} gives {found}, which {verb} {reference} of {answer}")
        mark = "=" if claim else "≠"
        yield _line(
            [
                f"{mark}\N{NO-BREAK SPACE}{call.tool}",
                f"`{call.code}`",
                *map(shown, found),
                call.note,
            ]
        )


def _values(call: Call, views: Mapping[str, Names]) -> Values:
    return [_number(call, names) for names in views.values()]


def _number(call: Call, names: Names) -> float | str:
    """The number that a call gives, or the name of the error that it raises."""
    try:
        value: Any = run(call.tool, call.code, names)
    except (ValueError, TypeError, IndexError, AssertionError) as error:
        return type(error).__name__
    return float(value.item() if isinstance(value, np.ndarray) else value)


def _agree(one: Values, two: Values) -> bool:
    """Whether all numbers are as close as can be; an error agrees with an error."""
    pairs = list(zip(one, two, strict=True))
    if any(isinstance(x, str) or isinstance(y, str) for x, y in pairs):
        return all(isinstance(x, str) and isinstance(y, str) for x, y in pairs)
    return bool(np.allclose(one, two, rtol=0, atol=CLOSE, equal_nan=True))


def _line(cells: list[str]) -> str:
    return "* - " + "\n  - ".join(cells)


def shown(value: float | str) -> str:
    """Four decimals with a real minus sign, or the error."""
    if isinstance(value, str):
        return f"`{value}`"
    if np.isnan(value):
        return "NaN"
    digits = f"{value:.4f}" if value == 0 or abs(value) > 1e-3 else f"{value:.1e}"
    return digits.replace("-", "−")
