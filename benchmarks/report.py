"""A line of a table of measurements, and the bar it has to meet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Bar:
    """The least or the most that a score may be."""

    sense: Literal["≥", "<"]
    limit: float

    def met_by(self, score: float) -> bool:
        return score >= self.limit if self.sense == "≥" else score < self.limit


@dataclass(frozen=True)
class Line:
    """Who took how much, the score that follows (a ratio unless it has a unit), and its bar."""

    case: str
    who: str
    measured: str
    score: float | None = None
    bar: Bar | None = None
    unit: str = "×"

    @property
    def verdict(self) -> str:
        if self.bar is None or self.score is None:
            return ""
        return "pass" if self.bar.met_by(self.score) else "MISS"

    @property
    def cells(self) -> tuple[str, ...]:
        score = "" if self.score is None else f"{_short(self.score)}{self.unit}"
        bar = "" if self.bar is None else f"{self.bar.sense} {self.bar.limit:g}{self.unit}"
        return (self.case, self.who, self.measured, score, bar, self.verdict)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"verdict": self.verdict}


HEAD = ("case", "who", "measured", "score", "bar", "verdict")
WIDTHS = (29, 33, 24, 7, 7, 7)


def shown(lines: Iterable[Line]) -> Iterator[Line]:
    """Print a table line by line, as the lines come, and hand them on."""
    print(_row(HEAD), _row(["-" * width for width in WIDTHS]), sep="\n", flush=True)
    for line in lines:
        print(_row(line.cells), flush=True)
        yield line


def _short(number: float) -> str:
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


def _row(cells: Iterable[str]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(cells, WIDTHS, strict=True))
    return f"| {' | '.join(padded)} |"
