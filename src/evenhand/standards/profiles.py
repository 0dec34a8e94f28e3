"""Profiles of standards: dated data files with what a rule asks and the options of its page."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from importlib.resources import files
from typing import Any, NamedTuple

from evenhand._columns import Label
from evenhand._errors import InputError, InputTypeError
from evenhand._words import did_you_mean, read_number

TRUTH = {"yes": True, "true": True, "no": False, "false": False}
KINDS = {
    "text": "text",
    "flag": "True or False",
    "share": "a share between 0 and 1",
    "labels": "a list of labels",
    "columns": "a list of columns",
    "groups": "a group, or a mapping from columns to groups",
}
UNKNOWN = (  # labels of unknown groups in forms and files
    "", "(missing)", "-", "?", "choose not to disclose", "choose not to identify", "decline",
    "decline to answer", "decline to identify", "decline to self identify",
    "decline to self-identify", "decline to state", "declined", "declined to answer",
    "declined to self-identify", "declined to state", "did not answer", "did not disclose",
    "did not specify", "did not state", "do not wish to answer", "do not wish to disclose",
    "do not wish to self-identify", "i choose not to disclose", "i choose not to self-identify",
    "i decline to answer", "i decline to self-identify", "i do not want to answer",
    "i do not wish to answer", "i do not wish to disclose", "i do not wish to self-identify",
    "i don't wish to answer", "i prefer not to answer", "i prefer not to say",
    "information not provided", "missing", "n/a", "na", "nan", "no answer", "no response", "none",
    "none given", "not answered", "not applicable", "not available", "not disclosed",
    "not identified", "not known", "not provided", "not reported", "not specified", "not stated",
    "null", "prefer not to answer", "prefer not to disclose", "prefer not to say",
    "prefer not to self-identify", "refused", "unanswered", "undeclared", "undisclosed",
    "unidentified", "unknown", "unreported", "unspecified", "unstated",
)  # fmt: skip


class Source(NamedTuple):
    """A law, rule or guidance: its citation, content, date, and whether it was read.

    Parameters
    ----------
    citation : str
        Where to find it, by section.
    about : str
        What it holds.
    date : date
        When it was made, or last amended.
    verified : bool
        Whether the profile was held against the text itself.

    """

    citation: str
    about: str
    date: date
    verified: bool


class Statement(NamedTuple):
    """A sentence on a rule, with the citation of its source.

    Parameters
    ----------
    text : str
        The sentence.
    source : str
        The citation of one of the profile's sources.

    """

    text: str
    source: str


@dataclass(frozen=True)
class Option:
    """An option that a person states for a page: its name, meaning and default.

    Parameters
    ----------
    name : str
        As it is stated.
    kind : {"text", "flag", "share", "labels", "columns", "groups"}
        What it takes.
    help : str
        What it means, in a sentence.
    default : object, optional
        What it is if it is not stated.
    choices : tuple of str, default ()
        The words that it takes, where only some are.
    where : mapping of str to str, default {}
        What else must have been stated for the page to have a line for it.

    Examples
    --------
    >>> Option("intervals", "flag", "Show intervals.").read("no")
    False

    """

    name: str
    kind: str
    help: str
    default: Any = None
    choices: tuple[str, ...] = ()
    where: Mapping[str, str] = field(default_factory=dict)

    def read(self, value: Any) -> Any:
        """The value, from Python or from the text of a command line.

        Parameters
        ----------
        value : object
            What was stated.

        Returns
        -------
        object
            Of the option's kind.

        Raises
        ------
        InputTypeError
            If it is of another kind, or none of the choices.

        """
        read = {
            "text": _text,
            "flag": _flag,
            "share": _share,
            "labels": _list,
            "columns": _list,
            "groups": _groups,
        }[self.kind](value)
        if read is None or (self.choices and read not in self.choices):
            words = " or ".join(map(repr, self.choices)) or KINDS[self.kind]
            raise InputTypeError(f"{self.name} must be {words}, not {value!r}.")
        return read


@dataclass(frozen=True)
class Standard:
    """A rule as data: what it asks, its tables, and when it was last reviewed.

    The profiles are in `STANDARDS`; an audit fills one in by `Audit.to_html(standard=name)`.

    Parameters
    ----------
    name : str
        As it is asked for, such as "nyc-ll144".
    title : str
        The title of the page.
    about : str
        What it is, in a sentence.
    tables : {"adverse impact", "bias audit", "lending", "technical"}
        What its page is filled with.
    sources : tuple of Source
        Law, rule or guidance by section, what each of them holds, its date, and whether the profile
        was held against its text.
    reviewed : date
        When the profile was last held against the rule.
    review_by : date
        When that must be done again; from then on the page says so.
    criteria : tuple of str
        Criteria that an audit by this standard asks, where none are named.
    asks : tuple of Statement
        What the rule asks for.
    cannot : tuple of str
        What no software can say.
    facts : mapping of str to str
        What a person states, by the option's name, and how the page heads it.
    signatures : tuple of str
        Fields that are left blank to be filled in.
    options : tuple of Option
        What can be stated: name, kind, help, default and choices.
    policy : mapping
        Limits and labels for rare and unknown groups.
    wording : mapping
        Heads of columns, and notes below tables.
    standing : tuple of Statement, default ()
        The status of the rule: what was amended, what is pending, what else applies.
    law_date, in_force : date or None, default None
        When the rule was made, and from when on it applies; None of what is not a law.
    enforced : date or None, default None
        From when on it is enforced, where that is later than `in_force`.

    Examples
    --------
    >>> import evenhand
    >>> standard = evenhand.standards.STANDARDS["ugesp"]
    >>> standard.sources[0].citation
    '29 CFR § 1607.4 D'
    >>> [option.name for option in standard.options][:4]
    ['columns', 'unknown', 'steps', 'least_share']

    """

    name: str
    title: str
    about: str
    tables: str
    sources: tuple[Source, ...]
    reviewed: date
    review_by: date
    criteria: tuple[str, ...]
    asks: tuple[Statement, ...]
    cannot: tuple[str, ...]
    facts: Mapping[str, str]
    signatures: tuple[str, ...]
    options: tuple[Option, ...]
    policy: Mapping[str, Any]
    wording: Mapping[str, str]
    standing: tuple[Statement, ...] = ()
    law_date: date | None = None
    in_force: date | None = None
    enforced: date | None = None

    def overdue(self, on: date) -> bool:
        """Whether the review is overdue.

        Parameters
        ----------
        on : date
            The day that is asked about.

        Returns
        -------
        bool
            True after `review_by`.

        """
        return on > self.review_by

    def stated(self, given: Mapping[str, Any] | None) -> dict[str, Any]:
        """Every option with its stated value, or its default.

        Parameters
        ----------
        given : mapping or None
            Values by the name of the option.

        Returns
        -------
        dict
            A value for each option.

        Raises
        ------
        InputError
            If there is no such option.
        InputTypeError
            If a value is of the wrong kind.

        """
        given = {} if given is None else given
        if not isinstance(given, Mapping):
            raise InputTypeError(f"stated must be a mapping of options to values, not {given!r}.")
        options = {option.name: option for option in self.options}
        for name in given:
            if name not in options:
                raise InputError(
                    f"The standard {self.name!r} has nothing to state by the name {name!r}."
                    f"{did_you_mean(name, options)} There are {', '.join(options)}."
                )
        return {
            name: option.default if given.get(name) is None else option.read(given[name])
            for name, option in options.items()
        }


def standard_named(name: Any) -> Standard:
    """The profile of that name.

    >>> standard_named("nyc-ll-144")
    Traceback (most recent call last):
    evenhand.InputError: There is no standard 'nyc-ll-144'. Did you mean 'nyc-ll144'? There are
    'california-ads', 'eu-ai-act', 'evidence', 'lending', 'new-jersey', 'nyc-ll144', 'ugesp'.
    """
    if isinstance(name, str) and name in STANDARDS:
        return STANDARDS[name]
    raise InputError(
        f"There is no standard {name!r}.{did_you_mean(name, STANDARDS)} There are "
        f"{', '.join(map(repr, STANDARDS))}."
    )


def reference_places(
    reference: Any, columns: tuple[str, ...], groups: Mapping[str, tuple[Label, ...]]
) -> dict[str, int]:
    """The position of the named reference group of each column; none is guessed."""
    by_column = (
        reference if isinstance(reference, Mapping) else _by_column(reference, columns, groups)
    )
    unknown = [column for column in by_column if column not in columns]
    if unknown:
        raise InputError(f"reference names the column {unknown[0]!r}; there are {list(columns)}.")
    places = {}
    for column in columns:
        labels = [str(label) for label in groups[column]]
        if column not in by_column or str(by_column[column]) not in labels:
            what = f"names {by_column[column]!r}" if column in by_column else "names none"
            raise InputError(
                f"Which group of {column!r} is the reference? reference {what}; there are "
                f"{', '.join(map(repr, labels))}. State it, as in "
                f"stated={{'reference': {{{column!r}: {labels[-1]!r}}}}}."
            )
        places[column] = labels.index(str(by_column[column]))
    return places


def _by_column(
    reference: Any, columns: tuple[str, ...], groups: Mapping[str, tuple[Label, ...]]
) -> dict[str, Any]:
    """Assign a single label to the only column that has it."""
    if reference is None:
        return {}
    having = [c for c in columns if str(reference) in map(str, groups[c])]
    if len(having) == 1:
        return {having[0]: reference}
    return {columns[0]: reference} if len(columns) == 1 else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else str(value) if isinstance(value, date) else None


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else TRUTH.get(str(value).lower())


def _share(value: Any) -> float | None:
    try:
        share = read_number(value) if isinstance(value, str) else float(value)
    except (TypeError, ValueError):
        return None
    return share if 0 <= share < 1 and not isinstance(value, bool) else None


def _list(value: Any) -> list[Any] | None:
    if isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    return list(value) if isinstance(value, list | tuple | set | frozenset) else None


def _groups(value: Any) -> Any:
    """A mapping of columns to groups, or text such as "column=group, …"."""
    if isinstance(value, str) and "=" in value:
        pairs = (part.partition("=") for part in value.split(","))
        return {column.strip(): group.strip() for column, _, group in pairs}
    return None if isinstance(value, list | tuple | set) else value


def _loaded(text: str) -> Standard:
    content = tomllib.loads(text)
    options = tuple(
        Option(**{**entry, "choices": tuple(entry.get("choices", ()))})
        for entry in content["options"]
    )
    fields: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in content.items()
    }
    fields["options"] = options
    fields["sources"] = tuple(Source(**entry) for entry in content["sources"])
    for part in ("asks", "standing"):
        fields[part] = tuple(Statement(**entry) for entry in content.get(part, ()))
    return Standard(**fields)


def _every() -> dict[str, Standard]:
    folder = files("evenhand.standards")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".toml"))
    profiles = [_loaded((folder / name).read_text(encoding="utf-8")) for name in names]
    return {profile.name: profile for profile in profiles}


STANDARDS: dict[str, Standard] = _every()
