"""A problem: rows to learn from, by the name of a task, a file, or a function."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evenhand._data.tasks import task_of
from evenhand._errors import InputError, InputTypeError
from evenhand.benchmark.design.fingerprints import (
    described,
    file_fingerprint,
    file_stamp,
    fingerprint,
)
from evenhand.benchmark.design.importing import imported, is_import_path
from evenhand.datasets import Dataset, Origin, Task, load
from evenhand.datasets.draws import some
from evenhand.datasets.fetch import is_here
from evenhand.datasets.loader import find
from evenhand.datasets.task import Kind

if TYPE_CHECKING:
    import pandas as pd

FILE = "file"  # the origin of rows of one's own
SAMPLE_SEED = 5
DECLARED = ("kind", "targets", "sensitive", "n_groups", "classes", "groups", "model_sees_sensitive")


class Extent(NamedTuple):
    """What a method must be able to deal with."""

    kind: Kind
    classes: int
    groups: int


@dataclass(frozen=True)
class Problem:
    """Rows to learn from, and which of their columns say what.

    Parameters
    ----------
    name : str
        What it is called in results and figures.
    source : str
        A task of `evenhand.datasets.TASKS`, a .parquet or .csv file, or `package.module:name` of
        an `evenhand.datasets.Task`, or of a function that returns an `evenhand.datasets.Dataset`.
        The rows of a task are loaded when it is run, not when the design is read; a function is
        called for either, since nothing else describes its rows.
    n_groups : int, optional
        How many groups, of a simulated task that can have any number of them.
    target : str, optional
        The column to predict; a file needs it.
    sensitive : tuple of str, default ()
        The columns that make the groups; a file needs them.
    kind : {"classification", "regression"}, optional
        By default as the target looks: fractions and many numbers are a regression.
    rows : int, optional
        Take a random sample of that many rows, which is then part of the problem.
    favorable : str, optional
        The class that methods about one class favor; by default the last of two.

    Examples
    --------
    >>> Problem("people", "simulated", rows=300).extent
    Extent(kind='classification', classes=2, groups=2)

    """

    name: str
    source: str
    n_groups: int | None = None
    target: str | None = None
    sensitive: tuple[str, ...] = ()
    kind: Kind | None = None
    rows: int | None = None
    favorable: str | None = None

    def load(self) -> Dataset:
        """The rows; the last two data sets are cached while their source is unchanged."""
        return _loaded(self, self._stamp)

    @cached_property
    def extent(self) -> Extent:
        """Kind, number of classes and of groups; read from the rows only if not declared."""
        task = self.task
        if task is not None and not self.sensitive:
            return Extent(task.kind, len(task.classes), task.n_groups)
        dataset = self.load()
        groups = len(dataset.groups.drop_duplicates())
        return Extent(dataset.kind, len(dataset.classes), groups)

    @cached_property
    def size(self) -> int:
        """How many rows, at most; a task that is not simulated is not loaded."""
        declared = [] if self.task is None else [origin.rows or 0 for origin in self.task.origins]
        rows = max(declared, default=0) or self.load().n_rows
        return min(rows, self.rows or rows)

    @property
    def favored(self) -> int | None:
        """The number of the favorable class, if one is named."""
        if self.favorable is None:
            return None
        classes = (self.task or self.load()).classes
        if self.favorable not in classes:
            raise InputError(
                f"The favorable class {self.favorable!r} of {self.name} is none of its classes "
                f"{', '.join(classes)}."
            )
        return classes.index(self.favorable)

    @property
    def task(self) -> Task | None:
        """The declaration; None of a problem whose rows a file or a function gives."""
        if self.is_file:
            return None
        task = imported(self.source) if is_import_path(self.source) else find(self.source)
        if not isinstance(task, Task):
            return None
        return task if self.n_groups is None else task.with_groups(self.n_groups)

    @property
    def is_here(self) -> bool:
        """Whether its rows are available without a download."""
        return self.task is None or any(map(is_here, self.task.origins))

    @property
    def is_file(self) -> bool:
        """Whether the source is a file of one's own."""
        return Path(self.source).suffix in (".parquet", ".csv")

    @property
    def _stamp(self) -> Any:
        """What changes when the rows may have changed."""
        if self.is_file:
            return file_stamp(self.source)
        if not is_import_path(self.source):
            return None
        return fingerprint(described(imported(self.source)))

    @cached_property
    def fingerprint(self) -> str:
        """What the rows depend on; only rows from a function are read."""
        content: Any
        if self.is_file:
            content = file_fingerprint(self.source)
        elif self.task is not None:
            content = _declaration(self.task)
        else:
            content = _content(self.load())
        value = {k: v for k, v in asdict(self).items() if k != "name"}
        if self.is_file or is_import_path(self.source):
            value["source"] = None  # where the rows are does not matter, only what they are
        return fingerprint([value, content])


def _declaration(task: Task) -> Any:
    """The declaration of a task: which rows it takes, from where, and how it cleans them."""
    available = [origin for origin in task.origins if is_here(origin)]
    origin = vars(available[0] if available else task.origins[0])
    return described([origin, {name: getattr(task, name) for name in DECLARED}])


def _content(dataset: Dataset) -> list[Any]:
    """Content and metadata of rows that a function gave."""
    import joblib

    about = [dataset.kind, list(dataset.classes), list(dataset.sensitive)]
    return [*about, list(dataset.model_columns), joblib.hash([dataset.X, dataset.y])]


@lru_cache(maxsize=2)
def _loaded(problem: Problem, _: Any) -> Dataset:
    if problem.is_file:
        dataset = _from_file(problem)
    elif problem.task is not None:
        dataset = load(problem.task, sensitive=problem.sensitive or None)
    else:
        dataset = imported(problem.source)()
        if not isinstance(dataset, Dataset):
            raise InputTypeError(
                f"{problem.source} returned a {type(dataset).__name__}; a problem's function "
                "returns an evenhand.datasets.Dataset."
            )
    return _sampled(dataset, problem.rows)


def _sampled(dataset: Dataset, rows: int | None) -> Dataset:
    if rows is None or rows >= dataset.n_rows:
        return dataset
    sample = some(dataset.n_rows, rows, SAMPLE_SEED)
    X = dataset.X.iloc[sample].reset_index(drop=True)
    return replace(dataset, X=X, y=dataset.y.iloc[sample].reset_index(drop=True))


def _from_file(problem: Problem) -> Dataset:
    import pandas as pd

    path = Path(problem.source)
    table = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path)
    columns = [problem.target, *problem.sensitive]
    absent = [name for name in columns if name not in table.columns]
    if absent or not problem.sensitive:
        raise InputError(
            f"{path} needs the columns target and sensitive; {absent or 'sensitive'} is not among "
            f"{', '.join(map(str, table.columns))}."
        )
    return dataset_of(problem, table.dropna(subset=columns).reset_index(drop=True))


def dataset_of(problem: Problem, table: pd.DataFrame) -> Dataset:
    """A table as a data set; text becomes categories, and the classes are numbered in order."""
    import pandas as pd

    target = str(problem.target)
    kind = problem.kind or _kind(table[target], problem)
    classes: tuple[str, ...] = ()
    y = table[target].astype("float64") if kind == "regression" else table[target]
    if kind == "classification":
        values, labels = np.unique(y.to_numpy(), return_inverse=True)
        classes = tuple(map(str, values))
        y = pd.Series(labels, name=target)
    text = [*table.select_dtypes(["object", "string", "bool"]).columns, *problem.sensitive]
    X = table.astype(dict.fromkeys(text, "category")).drop(columns=target)
    n_groups = len(X[list(problem.sensitive)].drop_duplicates())
    task = _declared(problem, kind, classes, n_groups)
    return Dataset(task=task, origin=Origin(name=FILE), X=X, y=y, sensitive=problem.sensitive)


def _declared(problem: Problem, kind: Kind, classes: tuple[str, ...], n_groups: int) -> Task:
    about = dict.fromkeys(("description", "source", "license", "citation"), problem.source)
    return Task(
        name=problem.name,
        kind=kind,
        targets=(str(problem.target),),
        sensitive=problem.sensitive,
        n_groups=n_groups,
        origins=(),
        classes=classes,
        **about,  # type: ignore[arg-type]
    )


def _kind(target: pd.Series[Any], problem: Problem) -> Kind:
    """Labels or numbers, as everywhere; whole numbers of many values can be either."""
    try:
        task = task_of(target)
    except InputError as error:
        raise InputError(
            f"The target {problem.target!r} of {problem.name!r} can be labels or amounts: {error} "
            'In a design this is kind = "regression" or kind = "classification" of the problem.'
        ) from None
    return "regression" if task == "regression" else "classification"
