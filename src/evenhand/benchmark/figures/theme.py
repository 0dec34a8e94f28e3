"""The look and wording of figures: a style for each line, names of problems and questions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import TYPE_CHECKING, Any

from evenhand.benchmark.design.questions import Question
from evenhand.measures import MEASURES

if TYPE_CHECKING:
    from evenhand.benchmark.scoring.results import Results

__all__ = [
    "BAND",
    "INK",
    "PALETTE",
    "SOFT",
    "STYLES",
    "WHITE",
    "Style",
    "Theme",
    "theme_of",
]

INK, SOFT, GRID, WHITE = "#1c2024", "#565d66", "#e4e4de", "#ffffff"

# On white, and on a dark screen. Colors differ in lightness too, and are never used alone:
# each method also has its marker.
PALETTE = {
    "teal": ("#00808c", "#52cbdb"),
    "pink": ("#c2478f", "#ff8fc0"),
    "amber": ("#b97f00", "#f0c04a"),
    "brown": ("#7a4a1e", "#d9a878"),
    "green": ("#007a45", "#57d08f"),
    "gray": ("#757b83", "#a9b0b8"),
    "blue": ("#0b5fa5", "#6cb4f5"),
    "red": ("#d1480a", "#ff8a4c"),
    "purple": ("#6a3fb3", "#b9a4f5"),
    "ramp0": ("#1f1147", "#f2e9ff"),
    "ramp1": ("#5a2a82", "#d5b6f2"),
    "ramp2": ("#a03a7a", "#e58bc0"),
    "ramp3": ("#d9603f", "#f0865f"),
    "ramp4": ("#c99a1d", "#c9a24a"),
    "band": ("#dddcd4", "#3a4047"),
}
BAND = PALETTE["band"][0]


@dataclass(frozen=True)
class Style:
    """How a line is drawn: a color of the palette, a marker, filled or not.

    Parameters
    ----------
    color : str
        A name of `PALETTE`; any other is black.
    marker : str
        As in Matplotlib.
    hollow : bool, default False
        Whether markers are empty and the line is dashed.
    size, width : float
        Of markers and of the line, in points.

    Examples
    --------
    >>> Style("red", "^").ink
    '#d1480a'

    """

    color: str
    marker: str
    hollow: bool = False
    size: float = 4.2
    width: float = 1.1

    @property
    def ink(self) -> str:
        """The color on white."""
        return PALETTE[self.color][0] if self.color in PALETTE else INK

    @property
    def line(self) -> dict[str, Any]:
        """Options of a line with markers."""
        return {
            "color": self.ink,
            "marker": self.marker,
            "markersize": self.size,
            "markeredgewidth": 0.9,
            "markerfacecolor": WHITE if self.hollow else self.ink,
            "linewidth": self.width,
            "linestyle": (0, (3, 1.6)) if self.hollow else "-",
        }


STYLES: dict[str, Style] = {
    "Base": Style("ink", "*", size=8),
    "Reweight": Style("teal", "P", size=5.5),
    "FairRR": Style("pink", "v"),
    "Reduction": Style("amber", "s", size=3.8),
    "Rejection": Style("brown", "<"),
    "EqOdds": Style("green", "X", size=5.5),
    "CalEqOdds": Style("gray", "D", size=4.5),
    "FairProj-KL": Style("blue", "o"),
    "FairProj-CE": Style("blue", "o", hollow=True),
    "LinearPost": Style("red", "^"),
    "RateConstrained": Style("purple", "d", width=0.8, size=4),
    "Frontier": Style("ink", "h", width=0.8, size=4.5),
    "FairReg": Style("amber", "s", size=3.8),
    "ParityReduction": Style("blue", "o"),
    "WassBC": Style("green", "X", size=6),
    "LinearPost_R": Style("red", ">"),
    "ParityConstrained": Style("purple", "d", width=0.8, size=4),
}
SPARE = tuple(
    Style(color, marker, hollow=True)
    for marker, color in product("h>DvHp<8", ("teal", "pink", "brown", "green", "gray", "red"))
)
PERFORMANCES = {"accuracy": "accuracy", "rmse": "RMSE", "mae": "MAE", "r2": "R²"}
STATISTICS = {
    "f1": "F1",
    "auroc": "AUROC",
    "cross_entropy": "cross-entropy",
    "mse": "MSE",
    "rmse": "RMSE",
    "mae": "MAE",
    "r2": "R²",
}
BASES = {
    "logistic": "logistic regression",
    "linear": "linear regression",
    "boosting": "gradient boosting",
    "targets": "the true targets",
}


@dataclass(frozen=True)
class Theme:
    """How problems, questions and lines are named in figures, and how lines look.

    `theme_of` makes the usual one; another is a matter of `dataclasses.replace`.

    Parameters
    ----------
    styles : mapping of str to Style
        The style of every line, by its name; their order is that of the legend.
    series : callable
        From a method and its constraint to the name of a line.
    problem : callable
        From the name of a problem to what it is called.
    question : callable
        From the name of a question to what it is called on an axis.
    label : callable
        From the name of a line to what it is called in a legend.

    Examples
    --------
    >>> Theme(STYLES, series=lambda method, constraint: method).styles["LinearPost"].marker
    '^'

    """

    styles: Mapping[str, Style]
    series: Callable[[str, str], str]
    problem: Callable[[str], str] = str
    question: Callable[[str], str] = str
    label: Callable[[str], str] = str

    def place(self, name: str) -> tuple[int, str]:
        """The order of lines in legends."""
        names = list(self.styles)
        return (names.index(name) if name in names else len(names), name)

    def style(self, name: str) -> Style:
        """The style of a line."""
        return self.styles.get(name, SPARE[0])


def theme_of(results: Results) -> Theme:
    """The usual theme: every line of these results has a style of its own in every figure.

    Parameters
    ----------
    results : Results
        Whose methods, problems and questions are to be named.

    Returns
    -------
    Theme
        A method with several constraints has a line for each of them.

    Examples
    --------
    >>> from evenhand.benchmark import Results
    >>> nothing = Results.from_rows(runs=[], questions=[Question("r2")], problems=[], scores=[])
    >>> theme_of(nothing).question("r2")
    'R²'

    """
    runs = results.runs.select(["method", "constraint", "fit_rows", "held_out"]).to_pandas()
    methods = results.with_fitted_rows(runs.drop_duplicates()).fillna({"constraint": ""})
    pairs = set(zip(methods["method"], methods["constraint"], strict=True))
    constraints: dict[str, set[str]] = {}
    for method, constraint in pairs:
        constraints.setdefault(method, set()).add(constraint)

    def series(method: str, constraint: str) -> str:
        several = len(constraints.get(method, ())) > 1
        return f"{method}, {words(constraint)}" if several else method

    labels = {row["name"]: label(question_in(row)) for row in results.questions.to_pylist()}
    return Theme(
        styles=_styles((method, series(method, constraint)) for method, constraint in pairs),
        series=series,
        question=lambda name: labels.get(name, name),
    )


def _styles(lines: Iterable[tuple[str, str]]) -> dict[str, Style]:
    """A style for each line; those of one method share its color, and no two are the same."""
    methods = list(STYLES)
    spare = iter(SPARE * 4)  # nobody can distinguish more lines than that
    styles: dict[str, Style] = {}
    colors: dict[str, Style] = {}
    for method, name in sorted(lines, key=lambda line: (_index(methods, line[0]), line)):
        if method not in colors:
            colors[method] = STYLES.get(method) or next(spare)
            styles[name] = colors[method]
        else:
            styles[name] = replace(colors[method], hollow=True, marker=next(spare).marker)
    return styles


def _index(methods: list[str], name: str) -> int:
    return methods.index(name) if name in methods else len(methods)


def words(name: str) -> str:
    """A name as people write it; of an import path what comes last.

    >>> words("equalized_odds"), words("mine.criteria:shortlisted")
    ('equalized odds', 'shortlisted')
    """
    return name.rpartition(":")[2].replace("_", " ")


def label(question: Question) -> str:
    """The label of a question on an axis.

    >>> label(Question("performance_parity", "pq", g="f1"))
    'parity of F1 by PQ'
    """
    if question.measure is None:
        return PERFORMANCES.get(question.criterion, words(question.criterion))
    options = [
        f"{question.aggregate} over classes" if question.aggregate else "",
        question.transform or "",
        *(f"{name} = {getattr(question, name):g}" for name in "pq" if getattr(question, name)),
        f"F ≥ {question.tau:g}" if question.tau else "",
    ]
    by = measure_symbol(question.measure)
    return ", ".join([f"{topic(question)} by {by}", *filter(None, options)])


def measure_symbol(name: str) -> str:
    """The symbol of a measure on an axis and in the head of a column.

    >>> measure_symbol("mpd"), measure_symbol("mine.measures:spread")
    ('MPD', 'spread')
    """
    return MEASURES[name].symbol if name in MEASURES else words(name)


def criterion_name(question: Question) -> str:
    """The criterion and its statistic, as part of a file's name.

    >>> criterion_name(Question("performance_parity", "pq", g="f1"))
    'performance_parity-f1'
    """
    words = [question.criterion, *([question.g] if question.g else [])]
    return "-".join(word.rpartition(":")[2] for word in words)


def question_in(row: Mapping[str, Any]) -> Question:
    """The question of a row of `Results.questions`.

    >>> question_in({"name": "r2", "criterion": "r2"}).name
    'r2'
    """
    values: dict[str, Any] = {field.name: row.get(field.name) for field in fields(Question)}
    return Question(**values)


def topic(question: Question) -> str:
    """The topic of a question, however it is measured.

    >>> topic(Question("performance_parity", "pq", g="f1"))
    'parity of F1'
    """
    if not question.g:
        return words(question.criterion)
    criterion = words(question.criterion).removeprefix("performance ")
    return f"{criterion} of {STATISTICS.get(question.g, words(question.g))}"


RC: Any = {
    "axes.axisbelow": True,
    "axes.edgecolor": SOFT,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.labelsize": 8.5,
    "axes.linewidth": 0.7,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlesize": 9.5,
    "figure.facecolor": WHITE,
    "font.family": "DejaVu Sans",
    "font.size": 8.5,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "savefig.facecolor": WHITE,
    "svg.hashsalt": "evenhand",
    "text.color": INK,
    "text.parse_math": False,
    "xtick.color": SOFT,
    "xtick.labelsize": 7.5,
    "xtick.major.size": 2.5,
    "xtick.major.width": 0.7,
    "ytick.color": SOFT,
    "ytick.labelsize": 7.5,
    "ytick.major.size": 2.5,
    "ytick.major.width": 0.7,
}
