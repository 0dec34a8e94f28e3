"""Names of groups: their values, with the column's name if a value alone is unclear."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evenhand._columns import Label
from evenhand._data.evidence import part_of
from evenhand._data.groups import MERGED, show
from evenhand._words import visible


@dataclass(frozen=True)
class Names:
    """Names of groups and subgroups; `unclear` are the columns whose values need the column's name.

    >>> names = Names.of([(("sex",), "Female"), (("race",), 1), (("race",), 2)])
    >>> names(("sex", "race"), ("Female", 1)), names(("race",), 2), names(("sex",), "Female")
    ('Female × race=1', 'race=2', 'Female')
    """

    unclear: frozenset[str]

    @classmethod
    def of(cls, groups: Iterable[tuple[Sequence[str], Label]]) -> Names:
        """Names for these groups, each with its columns."""
        return cls(
            frozenset(
                name
                for columns, label in groups
                if label != MERGED
                for i, name in enumerate(columns)
                if not _speaks_for_itself(part_of(label, i, len(columns)))
            )
        )

    def __call__(self, columns: Sequence[str], label: Label) -> str:
        """The name of a group of these columns."""
        if label == MERGED:
            return MERGED
        parts = [(name, part_of(label, i, len(columns))) for i, name in enumerate(columns)]
        return visible(
            " × ".join(
                f"{name}={show(part)}" if name in self.unclear else show(part)
                for name, part in parts
            )
        )


TRUTH = frozenset(("true", "false", "yes", "no"))


def _speaks_for_itself(value: Label) -> bool:
    """Whether a value is clear by itself: text other than numbers and yes or no, or missing."""
    if value is None:
        return True
    if not isinstance(value, str) or value.strip().lower() in TRUTH:
        return False
    try:
        float(value)
    except ValueError:
        return True
    return False
