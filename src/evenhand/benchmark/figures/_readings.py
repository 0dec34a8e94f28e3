"""Scores as points: means over seeds, and one question against another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from evenhand.benchmark.figures.theme import Theme

if TYPE_CHECKING:
    from evenhand.benchmark.scoring.results import Results


KEYS = ["problem", "base", "method", "constraint", "hyperparameter"]


def readings(
    results: Results,
    questions: Iterable[str],
    problems: Iterable[str],
    bases: Iterable[str],
    theme: Theme,
) -> Any:
    """Mean and standard error over the seeds of these questions, with the name of the line.

    Parameters
    ----------
    results : Results
        Whose scores are read.
    questions, problems, bases : iterable of str
        Which of them, by name.
    theme : Theme
        Names the lines, in the column `series`.

    Returns
    -------
    pandas.DataFrame
        Columns problem, base, method, constraint, hyperparameter, question, mean, error, seeds,
        series, and setting, which numbers what a question is asked about; a constraint that is
        not there is "".

    Examples
    --------
    >>> from evenhand.benchmark import Question, Results
    >>> found = Results.from_rows(
    ...     runs=[{"key": "a", "problem": "people", "base": "logistic", "method": "Base"}],
    ...     questions=[Question("accuracy")],
    ...     problems=[],
    ...     scores=[("a", "accuracy", "expected", 0.75)],
    ... )
    >>> theme = Theme({}, series=lambda method, constraint: method)
    >>> float(readings(found, ["accuracy"], ["people"], ["logistic"], theme)["mean"].iloc[0])
    0.75

    """
    columns = {"question": questions, "problem": problems, "base": bases}
    where = " and ".join(_among(name, values) for name, values in columns.items())
    table = results.with_fitted_rows(results.curves(where)).fillna({"constraint": ""})
    pairs = zip(table["method"], table["constraint"], strict=True)
    table["series"] = [theme.series(method, constraint) for method, constraint in pairs]
    table["setting"] = table.groupby(KEYS, dropna=False).ngroup()
    return table


def _among(column: str, values: Iterable[object]) -> str:
    """An SQL condition.

    >>> _among("base", ["a", "it's"])
    "base in ('a', 'it''s')"
    """
    quoted = ["'" + str(value).replace("'", "''") + "'" for value in dict.fromkeys(values)]
    return f"{column} in ({', '.join(quoted)})" if quoted else "false"


def against(table: Any, x: str, y: str) -> Any:
    """The points of question y over question x, from `readings`."""
    columns = [*KEYS, "series", "x", "x_error", "seeds", "setting"]
    left = table[table["question"] == x].rename(columns={"mean": "x", "error": "x_error"})
    right = table[table["question"] == y].rename(columns={"mean": "y", "error": "y_error"})
    points = left[columns].merge(right[["setting", "y", "y_error"]], on="setting")
    points = points.sort_values("setting")
    return points.drop(columns="setting").reset_index(drop=True)
