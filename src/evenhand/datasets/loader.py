"""The one loader: from a declaration to features, target and checked counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evenhand._errors import InputError, require
from evenhand._words import did_you_mean
from evenhand.datasets import tables
from evenhand.datasets.catalogue import TASKS
from evenhand.datasets.dataset import Dataset
from evenhand.datasets.draws import some
from evenhand.datasets.fetch import fetch, is_here
from evenhand.datasets.task import Origin, Task

if TYPE_CHECKING:
    import pandas as pd

SAMPLE_SEED = 2020


def load(
    name: str | Task,
    *,
    n_groups: int | None = None,
    target: str | None = None,
    sensitive: str | Sequence[str] | None = None,
    origin: str | None = None,
) -> Dataset:
    """Load a task by name, downloading its official files if nothing is here yet.

    Files are looked for, and kept, in the folder that the environment variable EVENHAND_DATA
    names, else in the platform's cache. UCI Adult ships with the package. With EVENHAND_OFFLINE=1
    nothing is ever downloaded.

    Parameters
    ----------
    name : str or Task
        A name in `TASKS`, such as "adult", or a declaration of your own.
    n_groups : int, optional
        The number of groups, where the task leaves a choice.
    target : str, optional
        Another target column than the task's first.
    sensitive : str or sequence of str, optional
        Other columns to group by than the task's.
    origin : str, optional
        Where to take the rows from; by default the first that is here, else the official one.

    Returns
    -------
    Dataset
        Features, target, sensitive columns, and where they come from. The rows are checked
        against the published counts.

    Raises
    ------
    InputError
        If there is no such task, column or origin; it says which there are.
    FetchError
        If a file cannot be downloaded; it says why, and how to get it by hand.

    Examples
    --------
    >>> load("adult").X.shape
    (48842, 13)
    >>> load("adult_multigroup", n_groups=50).groups.drop_duplicates().shape
    (50, 3)

    """
    task = find(name) if isinstance(name, str) else name
    if n_groups is not None:
        task = task.with_groups(n_groups)
    require("pandas", purpose="evenhand.datasets", extra="data")
    dataset = _assemble(task, _choose(task, origin), target, sensitive)
    if target is None and sensitive is None:
        _check_counts(dataset)
    return dataset


def find(name: str) -> Task:
    """Look up a task by name, or raise an error that lists the names."""
    if name in TASKS:
        return TASKS[name]
    hint = did_you_mean(name, TASKS)
    raise InputError(f"There is no task {name!r}.{hint} There are: {', '.join(TASKS)}.")


def _choose(task: Task, name: str | None) -> Origin:
    """Choose the requested origin, else the first available, else the one to download."""
    if name is not None:
        by_name = {origin.name: origin for origin in task.origins}
        if name not in by_name:
            raise InputError(f"{task.name!r} has no origin {name!r}; it has {', '.join(by_name)}.")
        return by_name[name]
    available = next((origin for origin in task.origins if is_here(origin)), None)
    return available or task.official or task.origins[0]


def _table(origin: Origin) -> pd.DataFrame:
    import pandas as pd

    if origin.simulate is not None:
        return origin.simulate()
    parts, source_rows = [], 0
    for file in origin.files:
        part, rows = tables.read(fetch(file), origin)
        parts.append(part)
        source_rows += rows
    _check_rows(origin, "source_rows", source_rows)
    raw = pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]
    if origin.sample is not None and len(raw) > origin.sample:
        raw = raw.iloc[some(len(raw), origin.sample, SAMPLE_SEED)].reset_index(drop=True)
    _check_rows(origin, "rows", len(raw))
    table = raw[list(origin.columns)].rename(columns=dict(origin.columns))
    return table if origin.derive is None else table.assign(**origin.derive(raw))


def _check_rows(origin: Origin, stage: str, rows: int) -> None:
    expected = getattr(origin, stage)
    if expected is not None and rows != expected:
        when = "" if stage == "source_rows" else " after the filter"
        raise InputError(
            f"{_names(origin)} should have {expected:,} rows{when}; it has {rows:,}. The file is "
            "damaged, or the source published another version. Delete it, and fetch it again."
        )


def _names(origin: Origin) -> str:
    first = origin.files[0].name if origin.files else origin.name
    return first if len(origin.files) < 2 else f"{first} and {len(origin.files) - 1} more files"


def _labelled(table: pd.DataFrame, origin: Origin) -> pd.DataFrame:
    """Make every column of text or codes a category, with names where the origin has them."""
    import pandas as pd

    named = {name: _named(table[name], labels) for name, labels in origin.labels.items()}
    integers = {name: pd.to_numeric(table[name], downcast="integer") for name in origin.codes}
    table = table.assign(**named, **integers)
    text = table.select_dtypes(["object", "string", "bool"]).columns
    return table.astype(dict.fromkeys((*text, *origin.codes), "category"))


def _named(column: pd.Series[Any], labels: Mapping[Any, str]) -> pd.Categorical[str]:
    import numpy as np
    import pandas as pd

    codes, values = pd.factorize(column)
    unknown = set(values) - set(labels)
    if unknown:
        raise InputError(
            f"{column.name} takes the values {sorted(unknown, key=str)}, which have no name; "
            f"known are {list(labels)}. The file follows another code book."
        )
    names = list(dict.fromkeys(labels.values()))
    # One slot more than there are values: factorize numbers a missing value −1.
    places = np.array([*(names.index(labels[value]) for value in values), -1], dtype=np.intp)
    return pd.Categorical.from_codes(places[codes], categories=pd.Index(names))


def _assemble(
    task: Task, origin: Origin, target: str | None, sensitive: str | Sequence[str] | None
) -> Dataset:
    target = target or task.targets[0]
    if target not in task.targets:
        raise InputError(f"target is {target!r}; {task.name!r} has {', '.join(task.targets)}.")
    table = _labelled(_table(origin), origin)
    X = table.drop(columns=[name for name in task.targets if name in table])
    groups = (sensitive,) if isinstance(sensitive, str) else tuple(sensitive or task.sensitive)
    unknown = [name for name in groups if name not in X]
    if unknown:
        raise InputError(f"sensitive is {unknown}; {task.name!r} has {', '.join(X.columns)}.")
    y = _numbered(table[target], task)
    return Dataset(task=task, origin=origin, X=X, y=y, sensitive=groups)


def _numbered(target: pd.Series[Any], task: Task) -> pd.Series[Any]:
    if task.kind == "regression":
        return target.astype("float64")
    if target.dtype == "category":
        target = target.astype("object").map({label: i for i, label in enumerate(task.classes)})
    return target.astype("int64")


def _check_counts(dataset: Dataset) -> None:
    """Compare the class-by-group table with the declared one."""
    expected = dataset.origin.counts
    if not expected:
        return
    counted = counts(dataset)
    if counted != expected:
        raise InputError(
            f"{_names(dataset.origin)} should give the counts {expected} of {dataset.name} "
            f"(classes by groups {dataset.task.groups}); it gives {counted}. The file is damaged, "
            "or the source published another version. Delete it, and fetch it again."
        )


def counts(dataset: Dataset) -> tuple[tuple[int, ...], ...]:
    """Numbers of rows by class (down) and named group (across)."""
    groups = dataset.X[dataset.sensitive[0]]
    classes = range(len(dataset.classes)) if dataset.classes else [None]
    chosen = [groups if i is None else groups[dataset.y == i] for i in classes]
    tables = [rows.value_counts() for rows in chosen]
    return tuple(
        tuple(int(table.get(group, 0)) for group in dataset.task.groups) for table in tables
    )
