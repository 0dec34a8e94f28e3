"""The choices of a user as options of `evenhand audit`: as a command, Python, and TOML."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from evenhand._audit import Audit, Evidence, audit_evidence
from evenhand._audit.examination import Progress
from evenhand._audit.explore import in_bins
from evenhand._data.data import Data
from evenhand._data.evidence import check_several
from evenhand._data.rereading import cut_at
from evenhand._data.roles import ROLES
from evenhand._data.tasks import favorable_label
from evenhand._files.files import kind_of
from evenhand.app.tables import Opened

DTYPES = {"VARCHAR": "string", "BIGINT": "Int64", "DOUBLE": "float64", "BOOLEAN": "boolean"}
READ_OPTIONS = {  # what makes pandas read such a file as it is written
    "JSON lines": ", lines=True, dtype=False, precise_float=True",
    "Excel": ', keep_default_na=False, na_values=[""]',
}
AUDITING = {"depth": "--depth", "margin": "--margin", "confidence": "--confidence"}
USUAL = {"depth": 2, "margin": None, "confidence": 0.95}
OF_NOTES = {"missing", "bins", "favorable"}  # of which notes tell
MOST_VALUES, MOST_CROSSED = 200, 5_000  # of an amount that is counted by value, and of all groups


@dataclass(frozen=True, eq=False)
class Choices:
    """The roles of a file's columns and how they are read, and the settings of the audit."""

    opened: Opened
    reading: Mapping[str, Any]  # by role
    auditing: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """A key that is equal for equal counts."""
        return json.dumps(self.reading, sort_keys=True, default=str)

    @property
    def audit_key(self) -> str:
        """A key that is equal for equal audits."""
        return f"{self.key} {sorted(self.auditing.items())}"

    def among(
        self, earlier: Mapping[str, Any], evidence: Evidence, *, explored: bool = False
    ) -> Evidence | None:
        """Counts of other choices, adapted to these; None if that needs the rows.

        Fewer columns and another threshold take none, nor without a score does another favorable
        outcome. What is only `shown` has no notes: then all these, and bins of an amount that was
        counted by value.
        """
        free = {"sensitive_features", "threshold"}
        free |= OF_NOTES if explored else set()
        free |= {"favorable"} if "y_score" not in self.reading else set()
        if any(earlier.get(role) != self.reading.get(role) for role in {*ROLES} - free):
            return None
        columns, columns_now = earlier["sensitive_features"], self.reading["sensitive_features"]
        cut, bins = earlier.get("bins", {}), self.reading.get("bins", {})
        is_cut_otherwise = any(bins.get(name) != cut[name] for name in {*cut} & {*columns_now})
        is_settled = not explored and columns_now != columns and {"bins", "missing"} & {*earlier}
        if is_cut_otherwise or is_settled or not {*columns_now} <= {*columns}:
            return None
        result: Evidence | None = evidence
        at = self.reading.get("threshold")
        if at != earlier.get("threshold"):
            result = None if at is None else cut_at(evidence, at)
        if result is not None and columns_now != columns:
            result = result.by_columns(tuple(columns.index(name) for name in columns_now))
        further = {name: edges for name, edges in bins.items() if name not in cut}
        if result is not None and further:
            result = in_bins(result, further)
        if result is None:
            return None
        check_several(result.groups)
        favorable = self.reading.get("favorable")
        if favorable == earlier.get("favorable"):
            return result
        label = None if favorable is None else favorable_label(result.classes, favorable)
        return replace(result, favorable=label)

    @property
    def uncut(self) -> Choices | None:
        """The same by every value of an amount, from which all bins follow; None if too many."""
        bins = self.reading.get("bins", {})
        columns = [self.opened.named(name) for name in self.reading["sensitive_features"]]
        crossed = prod(column.distinct + 1 for column in columns)
        is_too_fine = any(self.opened.named(name).distinct > MOST_VALUES for name in bins)
        if not bins or is_too_fine or crossed > MOST_CROSSED:
            return None
        return replace(self, reading={k: v for k, v in self.reading.items() if k != "bins"})

    @property
    def title(self) -> str:
        """The title of the command's report."""
        return f"Audit of {self.opened.name}"

    def count(self) -> Evidence:
        """Count the rows."""
        return Data(data=self.opened.table, **self.reading).counted

    def audit(self, evidence: Evidence, progress: Progress | None = None) -> Audit:
        """Audit the counts."""
        return audit_evidence(evidence, title=self.title, progress=progress, **self.auditing)

    @property
    def options(self) -> Iterator[tuple[str, str]]:
        """Options of the command and their values, in the order of its help."""
        for role, declared in ROLES.items():
            if role in self.reading:
                yield from ((declared.option, text) for text in _texts(self.reading[role]))
        for name, option in AUDITING.items():
            value = self.auditing.get(name)
            if value != USUAL[name] and value is not None:
                yield option, _digits(value)

    def command(self, *extra: str) -> str:
        """The command line that gives the same report."""
        file = self.opened.name
        words = ["evenhand", "audit", f"./{file}" if file.startswith("-") else file]
        for option, text in self.options:
            words += [f"{option}={text}"] if text.startswith("-") else [option, text]
        return shlex.join([*words, *extra])

    @property
    def python(self) -> str:
        """Lines of Python that give the same audit."""
        arguments_by_name = dict(self.reading)
        places = [repr(arguments_by_name.pop(role, None)) for role in ("y_true", "y_pred")]
        arguments_by_name = {
            "sensitive_features": arguments_by_name.pop("sensitive_features"),
            "data": _Name("rows"),
        } | arguments_by_name
        arguments_by_name |= {
            k: v for k, v in self.auditing.items() if v is not None and v != USUAL[k]
        }
        arguments = [*places, *(f"{name}={value!r}" for name, value in arguments_by_name.items())]
        listed = "".join(f"    {argument},\n" for argument in arguments)
        title = f"    title={self.title!r},\n"
        return (
            "import pandas as pd\n\nimport evenhand as eh\n\n"
            f"rows = {self._reader}\nreport = eh.audit(\n{listed}{title})\n"
            'report.to_html("report.html")\n'
        )

    @property
    def _reader(self) -> str:
        """The call by which pandas reads the columns as what they are."""
        name, kind = self.opened.name, kind_of(self.opened.path)
        if kind != "CSV":
            call = {"Parquet": "read_parquet", "Arrow": "read_feather", "Excel": "read_excel"}
            return f"pd.{call.get(kind, 'read_json')}({name!r}{READ_OPTIONS.get(kind, '')})"
        columns = [column for column in self.opened.columns if column.name in self.names]
        types = {column.name: DTYPES.get(column.type, "string") for column in columns}
        delimiter = self.opened.delimiter
        sep = "" if delimiter == "," else f", sep={delimiter!r}"
        return (
            f"pd.read_csv(\n    {name!r}{sep},\n    dtype={types!r},\n    usecols={[*types]!r},\n"
            '    keep_default_na=False,\n    na_values=[""],\n)'
        )

    @property
    def names(self) -> set[str]:
        """The columns that are read."""
        values = [value for role, value in self.reading.items() if ROLES[role].is_column]
        return {name for value in values for name in _listed(value)}

    @property
    def toml(self) -> str:
        """The choices as a file that this page and `--config` read."""
        lines = ["# Choices for an audit; evenhand audit --config reads this file too.", "[audit]"]
        lines.append(f"file = {_quoted(self.opened.name)}")
        several: dict[str, list[str]] = {}
        for option, text in self.options:
            several.setdefault(option.removeprefix("--"), []).append(text)
        for key, texts in several.items():
            listed = ", ".join(map(_quoted, texts))
            lines.append(f"{key} = [{listed}]" if len(texts) > 1 else f"{key} = {listed}")
        lines += ["", "[file]", f"sha256 = {_quoted(self.opened.fingerprint)}"]
        return "\n".join(lines) + "\n"


class _Name:
    """A name in Python source."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


def _texts(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [f"{name}={_bins(bins)}" for name, bins in value.items()]
    return [_digits(text) if isinstance(text, float) else str(text) for text in _listed(value)]


def _bins(bins: int | Sequence[float]) -> str:
    return str(bins) if isinstance(bins, int) else ",".join(map(_digits, bins))


def _digits(value: float) -> str:
    """A number with all its digits.

    >>> _digits(0.1), _digits(30.0)
    ('0.1', '30')
    """
    return repr(int(value) if float(value).is_integer() else float(value))


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _quoted(text: str) -> str:
    """A text as a string of TOML."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
