"""Data sets as ready tasks: features, target, sensitive columns, and where they come from.

>>> from evenhand.datasets import load, split
>>> adult = load("adult")
>>> adult.X.shape, adult.kind, adult.sensitive
((48842, 13), 'classification', ('sex',))
>>> parts = split(adult, seed=0).normalized()
>>> len(parts.X_train), len(parts.X_test)
(39074, 9768)
"""

from evenhand.datasets.catalogue import TASKS
from evenhand.datasets.dataset import Dataset
from evenhand.datasets.fetch import FetchError
from evenhand.datasets.loader import load
from evenhand.datasets.splits import Parts, Split, split
from evenhand.datasets.task import File, Origin, Task

__all__ = [
    "TASKS",
    "Dataset",
    "FetchError",
    "File",
    "Origin",
    "Parts",
    "Split",
    "Task",
    "load",
    "split",
]
