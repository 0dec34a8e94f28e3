"""What was run: data sets, methods, scores of every setting, run times, and what failed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evenhand._words import capitalized, plural
from evenhand.benchmark.figures.theme import Theme, theme_of
from evenhand.benchmark.ranking.areas import PERFORMANCE
from evenhand.benchmark.tables.table import Table

if TYPE_CHECKING:
    from evenhand.benchmark.scoring.results import Results


def data_sets(results: Results, name: Callable[[str], str] = str) -> Table:
    """The problems and where their rows come from; those of one name share a row.

    Parameters
    ----------
    results : Results
        What the table is about.
    name : callable, default str
        From the name of a problem to what it is called.

    Returns
    -------
    Table
        Kind, rows, classes, groups and origin of each.

    Examples
    --------
    >>> from evenhand.benchmark import Results
    >>> problem = {"problem": "people", "kind": "regression", "train": 80, "test": 20}
    >>> found = Results.from_rows(runs=[], questions=[], problems=[problem], scores=[])
    >>> data_sets(found).rows[0][:3]
    ('people', 'regression', '100')

    """
    rows: dict[str, tuple[str, ...]] = {}
    groups: dict[str, list[int]] = {}
    for row in results.problems.to_pylist():
        called = name(row["problem"])
        groups.setdefault(called, []).append(row["n_groups"] or 0)
        rows.setdefault(called, _data_set(called, row))
    cells = tuple(
        (*row[:4], ", ".join(map(str, sorted(set(groups[called])))), *row[4:])
        for called, row in rows.items()
    )
    head = ("Data", "Task", "Rows", "Classes", "Groups", "Sensitive", "Where the rows come from")
    note = ""
    if results.stand_ins:
        note = "† marks a stand-in: rows that are not the official ones. † appears in figures too."
    return Table("data", "Data sets", head, cells, note, frozenset({2, 3, 4}))


def methods(results: Results) -> Table:
    """The methods, their constraints, and the values tried."""
    runs = results.query(
        "select method, coalesce(\"constraint\", '') as told, coalesce(parameter, '') as name, "
        "list(distinct hyperparameter order by hyperparameter) as tried "
        "from runs group by method, told, name order by method <> 'Base', method, told"
    )
    rows = tuple(
        (
            row["method"],
            row["told"].replace("_", " ") or "–",
            row["name"] or "–",
            ", ".join(f"{value:g}" for value in row["tried"] if value == value) or "–",
        )
        for row in runs.to_dict("records")
    )
    head = ("Method", "Constraint", "Parameter", "Values")
    note = "Base is the model underneath, as it is."
    return Table("methods", "Methods", head, rows, note)


def score_table(results: Results, questions: Sequence[str], theme: Theme | None = None) -> Table:
    """Performance and these questions for every setting of every method: mean ± standard error.

    Parameters
    ----------
    results : Results
        What the table is about.
    questions : sequence of str
        Names of questions.
    theme : Theme, optional
        Names of questions; by default the usual ones.

    Returns
    -------
    Table
        A row for each problem, base model, method and setting.

    Examples
    --------
    >>> from evenhand.benchmark import Question, Results
    >>> found = Results.from_rows(
    ...     runs=[{"key": "a", "problem": "people", "base": "logistic", "method": "Base"}],
    ...     questions=[Question("accuracy")],
    ...     problems=[],
    ...     scores=[("a", "accuracy", "expected", 0.75)],
    ... )
    >>> score_table(found, []).rows
    (('people', 'logistic', 'Base', '–', '–', '1', '0.750'),)

    """
    theme = theme or theme_of(results)
    names = list(dict.fromkeys([*PERFORMANCE.values(), *questions]))
    long = results.with_fitted_rows(results.curves())
    long = long[long["question"].isin(names)]
    names = [name for name in names if name in set(long["question"])]
    keys = ["problem", "base", "method", "constraint", "hyperparameter"]
    rows = []
    ordered = long.assign(first=long["method"] != "Base").sort_values(
        ["problem", "base", "first", *keys[2:]], kind="stable"
    )
    for key, group in ordered.groupby(keys, dropna=False, sort=False, observed=True):
        values = {row.question: (row.mean, row.error) for row in group.itertuples()}
        problem, base, method, constraint, value = key
        rows.append(
            (
                str(problem),
                str(base),
                str(method),
                constraint.replace("_", " ") if isinstance(constraint, str) and constraint else "–",
                "–" if value is None or value != value else f"{value:g}",
                str(int(group["seeds"].max())),
                *(_mean(*values.get(name, (float("nan"),) * 2)) for name in names),
            )
        )
    head = ("Problem", "Base model", "Method", "Constraint", "Value", "Splits")
    return Table(
        "scores",
        "Performance and gaps",
        (*head, *(capitalized(theme.question(name)) for name in names)),
        tuple(rows),
        "Means over splits ± one standard error; of random decisions what they come to on average.",
        frozenset(range(4, 6 + len(names))),
    )


def run_times(results: Results, name: Callable[[str], str] = str) -> Table:
    """Median processor seconds of a run, by method and problem.

    Parameters
    ----------
    results : Results
        What the table is about.
    name : callable, default str
        From the name of a problem to what it is called; those of one name share a column.

    Returns
    -------
    Table
        A row for each method, and one for all.

    Examples
    --------
    >>> from evenhand.benchmark import Results
    >>> run = {"key": "a", "problem": "people", "method": "Base", "cpu_seconds": 0.5}
    >>> found = Results.from_rows(runs=[run], questions=[], problems=[], scores=[])
    >>> run_times(found).rows
    (('Base', '0.5'), ('All runs together', '0.5'))

    """
    title = "Run times"
    runs = results.query("select problem, method, cpu_seconds from runs where cpu_seconds >= 0")
    if runs.empty:
        return Table("times", title, ("Method",), ())
    runs["called"] = [name(problem) for problem in runs["problem"]]
    wide = runs.pivot_table(
        index="method", columns="called", values="cpu_seconds", aggfunc="median"
    )
    rows = tuple(
        (str(method), *(_seconds(value) for value in values))
        for method, values in zip(wide.index, wide.to_numpy(), strict=True)
    )
    sums = runs.groupby("called")["cpu_seconds"].sum()[wide.columns]
    rows += (("All runs together", *(_seconds(value) for value in sums)),)
    total = float(runs["cpu_seconds"].sum())
    took = f"{total / 3600:.1f} hours" if total >= 3600 else f"{total:.3g} seconds"
    return Table(
        "times",
        title,
        ("Method", *map(str, wide.columns)),
        rows,
        "Median seconds of processor time of a run, over settings, splits and base models; for "
        f"Base the time to prepare the rows and fit the model. All {plural(len(runs), 'run')} "
        f"took {took}.",
        frozenset(range(1, 1 + wide.shape[1])),
    )


def failure_table(failures: Iterable[Mapping[str, Any]]) -> Table:
    """Every run that has no result, and why.

    Parameters
    ----------
    failures : iterable of mapping
        As `Store.failures` keeps them.

    Returns
    -------
    Table
        A row for each.

    Examples
    --------
    >>> failure_table([{"method": "mine", "problem": "people", "error": "ValueError: no"}]).rows
    (('people', '–', '–', 'mine', '–', 'ValueError: no'),)

    """
    rows = tuple(
        (
            failure["problem"],
            _text(failure.get("base")),
            _text(failure.get("seed")),
            failure["method"],
            _text(failure.get("hyperparameter")),
            " ".join(str(failure["error"]).split()),
        )
        for failure in failures
    )
    head = ("Problem", "Base model", "Split", "Method", "Value", "Error")
    return Table("failures", "Runs without a result", head, rows)


def _data_set(called: str, row: dict[str, Any]) -> tuple[str, ...]:
    about = json.loads(row["about"] or "{}")
    rows = f"{about.get('rows') or (row['train'] or 0) + (row['test'] or 0):,}"
    classes = str(row["n_classes"]) if row["n_classes"] else "–"
    sensitive = ", ".join(about.get("sensitive", ()))
    mark = "†" if row["is_stand_in"] else ""
    return f"{called}{mark}", row["kind"] or "", rows, classes, sensitive, row["provenance"] or ""


def _seconds(value: float) -> str:
    if value != value:
        return "–"
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"


def _mean(value: float, error: float) -> str:
    """A mean and its standard error.

    >>> _mean(0.8123, 0.0021), _mean(0.00012, float("nan"))
    ('0.812 ± 0.0021', '0.00012')
    """
    if value != value:
        return "–"
    text = f"{value:.3f}" if value == 0 or abs(value) >= 0.01 else f"{value:.2g}"
    return (text if error != error else f"{text} ± {error:.2g}").replace("-", "−")


def _text(value: Any) -> str:
    return "–" if value is None or value != value else str(value)
