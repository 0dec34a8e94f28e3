"""The options of `evenhand audit`, and the request they make up.

A TOML file may hold them too; options on the command line take precedence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from evenhand._audit.gate import Gate, gate_of
from evenhand._audit.questions import CONTROLS
from evenhand._data.counts import MOMENT_COLUMNS
from evenhand._data.evidence import check_scored, check_threshold
from evenhand._data.group_by import listed
from evenhand._data.probable import Probable
from evenhand._data.roles import ROLES
from evenhand._data.surveys import replicate_columns
from evenhand._errors import InputError, require
from evenhand._toml import read_toml
from evenhand._words import did_you_mean, read_number
from evenhand.cli.columns import (
    PROBABLE,
    columns_by_role,
    probable_groups,
    role_option,
    synonyms_of,
)
from evenhand.cli.numbers import NumberRange, WholeRange
from evenhand.cli.terminal import tell
from evenhand.criteria.questions import questions_of
from evenhand.measures import resolve
from evenhand.standards import STANDARDS, Standard

READING = ("threshold", "favorable", "score_of", "task", "missing", "min_count", "top_k")
AUDITING = ("depth", "confidence", "margin", "control")
OPTIONS_FILE = "evenhand.options"  # in click's context: the file that options came from
OUTPUTS = ("json", "csv", "markdown", "junit", "html")  # the page, which takes longest, comes last


def from_file(context: click.Context, _: click.Parameter, path: str | None) -> str | None:
    """Callback of --config: the file's values become the defaults of all other options."""
    file = Path(path) if path else project_file(Path.cwd())
    if file is not None:
        section = audit_section(file, _parsed(file))
        context.meta[OPTIONS_FILE] = file
        context.default_map = defaults(section, context.command, file)
        tell(f"Options from {file}", err=True)
    return path


def project_file(folder: Path) -> Path | None:
    """The nearest pyproject.toml with a section for us, in this folder or above."""
    for parent in (folder, *folder.parents):
        file = parent / "pyproject.toml"
        if file.is_file() and _within(_parsed(file), "tool", "evenhand", "audit") is not None:
            return file
    return None


def audit_section(file: Path, content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Options of the audit: [tool.evenhand.audit], else [audit], else the top level."""
    for keys in (("tool", "evenhand", "audit"), ("audit",)):
        section = _within(content, *keys)
        if isinstance(section, Mapping):
            return section
    if file.name == "pyproject.toml":
        raise click.UsageError(f"{file} has no section [tool.evenhand.audit].")
    return content


def defaults(section: Mapping[str, Any], command: click.Command, file: Path) -> dict[str, Any]:
    """The section as defaults of the command's parameters; an unknown key is an error."""
    parameters = {p.name: p for p in command.params if p.name not in (None, "config", "help")}
    values: dict[str, Any] = {}
    for key, value in section.items():
        name = {"file": "files"}.get(key, key.replace("-", "_"))
        if name not in parameters:
            raise click.UsageError(
                _unknown(key, [str(parameter) for parameter in parameters], file)
            )
        values[name] = _shaped(value, parameters[name], f"{key} in {file}")
    return values


def _unknown(key: str, parameters: list[str], file: Path) -> str:
    names = [name.replace("_", "-") for name in parameters]
    hint = did_you_mean(key, names, synonyms_of(names))
    return (
        f"{file} has the key {key!r}, which is not an option.{hint} There are {', '.join(names)}."
    )


def _shaped(value: Any, parameter: click.Parameter, where: str) -> Any:
    """One value for a single option, a list for a repeated one; a table if it takes NAME=VALUE."""
    several = parameter.multiple if isinstance(parameter, click.Option) else parameter.nargs == -1
    if isinstance(value, Mapping):
        if not several or "=" not in str(parameter.metavar):
            raise click.UsageError(f"{where} should be a value or a list, not a table.")
        value = [
            f"{name}={','.join(map(str, entry)) if isinstance(entry, list) else entry}"
            for name, entry in value.items()
        ]
    if several:
        return [str(entry) for entry in (value if isinstance(value, list) else [value])]
    if isinstance(value, list):
        raise click.UsageError(f"{where} should be one value, not a list.")
    return str(value)


def _parsed(file: Path) -> Mapping[str, Any]:
    try:
        return read_toml(file)
    except InputError as failure:
        raise click.UsageError(str(failure)) from failure


def _within(content: Any, *keys: str) -> Any:
    for key in keys:
        content = content.get(key) if isinstance(content, Mapping) else None
    return content


def _option(name: str, *aliases: str, **settings: Any) -> click.Option:
    has_default = settings.get("default") is not None
    return click.Option([name, *aliases], show_default=has_default, **settings)


def _output(name: str, content: str) -> click.Option:
    kind = click.Path(dir_okay=False, path_type=Path)
    return _option(f"--{name}", metavar="PATH", type=kind, help=f"Write {content}.")


PARAMETERS: list[click.Parameter] = [
    click.Argument(["files"], nargs=-1, metavar="FILE…"),
    *(role_option(name) for name, role in ROLES.items() if role.option),
    *PROBABLE,
    _option(
        "--criterion",
        multiple=True,
        metavar="NAME",
        help="A criterion to ask; repeatable. See evenhand criteria.",
    ),
    _option(
        "--measure",
        multiple=True,
        metavar="NAME",
        help="A measure to use; repeatable. See evenhand measures.",
    ),
    _option(
        "--depth",
        type=WholeRange(1),
        default=2,
        help="Combine at most this many --group columns.",
    ),
    _option(
        "--confidence",
        type=NumberRange(0, 1, min_open=True, max_open=True),
        default=0.95,
        help="Confidence of every interval.",
    ),
    _option(
        "--margin",
        type=NumberRange(0),
        metavar="NUMBER",
        help="The largest difference that counts as alike; 0.05 for rates if not said.",
    ),
    _option(
        "--control",
        type=click.Choice(CONTROLS),
        default="familywise",
        help="What the scan of subgroups limits: the chance of any wrong flag, or their share.",
    ),
    _option(
        "--standard",
        type=click.Choice(list(STANDARDS)),
        help="Fill in the page that this rule asks for. See evenhand standards.",
    ),
    _option(
        "--state",
        multiple=True,
        metavar="NAME=VALUE",
        help="What you state on that page, such as 'data_kind=historical'; repeatable.",
    ),
    _option("--title", help="Title of the report."),
    _option("--full", is_flag=True, help="Print every table, not the summary alone."),
    _option("--quiet", is_flag=True, help="Print the outcomes of the gates, and nothing else."),
    _output("html", "the report, one file"),
    _output("json", "every number"),
    _output("csv", "the tables of the --standard"),
    _output("markdown", "the report as Markdown"),
    _output("junit", "the gates as JUnit XML"),
    _option(
        "--fail-if",
        multiple=True,
        metavar="GATE",
        help="Such as 'equalized_odds > 0.1' or 'selection_rate_ratio < 0.8'; repeatable.",
    ),
    _option(
        "--config",
        metavar="FILE",
        is_eager=True,
        expose_value=False,
        callback=from_file,
        help="Options from this TOML file, not the nearest pyproject.toml.",
    ),
]


@dataclass(frozen=True)
class Request:
    """What to audit, and how; checked before any file is opened."""

    files: tuple[str, ...]
    columns: dict[str, Any]
    reading: dict[str, Any]
    criteria: tuple[str, ...]
    measures: tuple[str, ...]
    gates: tuple[Gate, ...]
    auditing: dict[str, Any]
    outputs: dict[str, Path]
    printing: dict[str, bool]
    standard: Standard | None = None
    stated: dict[str, str] | None = None

    @property
    def column_names(self) -> list[str]:
        """Every column that will be read."""
        sums = MOMENT_COLUMNS.values() if self.columns["rows"] else ()
        sensitive = self.columns["sensitive_features"]
        columns = self.columns
        if isinstance(sensitive, Probable):
            columns = {**columns, "sensitive_features": sensitive.names}
        return [*(name for names in columns.values() for name in listed(names)), *sums]

    @property
    def is_unknown(self) -> bool:
        """Whether groups are uncertain."""
        probable = isinstance(self.columns["sensitive_features"], Probable)
        return probable or self.reading["missing"] == "unknown"


def request_of(options: dict[str, Any]) -> Request:
    """Check the options that need no file."""
    _need(options["files"], "Name the FILE to audit, such as predictions.parquet.")
    membership = probable_groups(options)
    if options["full"] and options["quiet"]:
        raise click.UsageError("Pass --full or --quiet, not both.")
    decided = options["prediction"] or options["rate"]
    summed = options["rows"] and options["task"] == "regression"
    _need(decided or options["score"] or summed, "Name the column of the --prediction or --score.")
    check_threshold(options["threshold"], decided=bool(decided), scored=bool(options["score"]))
    check_scored(options["score_of"], scored=bool(options["score"]))
    if options["rate"] and not options["rows"]:
        raise click.UsageError("--rate needs --rows, the column that says of how many people.")
    if options["min_count"] and options["rare"] is None:
        raise click.UsageError("--min-count needs --rare keep, merge or drop.")
    standard = STANDARDS.get(options["standard"])
    if standard is not None and membership is not None:
        raise click.UsageError(
            "The page of a --standard needs groups that are known, and these are probable: name "
            "the column of the --group in a file of the people whose group is known."
        )
    if standard is not None and options["missing"] == "unknown":
        raise click.UsageError(
            "The page of a --standard needs groups that are known; pass --missing group, and "
            "those of New York's law and of adverse impact say what the others could change."
        )
    stated = dict(map(statement, options["state"])) or None
    if standard is None and (options["csv"] or stated):
        raise click.UsageError("--csv and --state need a --standard: name it.")
    if standard is not None:
        standard.stated(stated)
    criteria = options["criterion"] or (
        standard.criteria if standard and not options["fail_if"] else ()
    )
    if options["html"]:
        require("jinja2", purpose="The HTML report", extra="cli")
    return Request(
        files=options["files"],
        columns={
            **columns_by_role(options),
            "replicate_weights": _columns(options["replicate_weights"]),
            **({} if membership is None else {"sensitive_features": membership}),
        },
        reading={
            **{name: options[name] for name in READING},
            "replicate_method": _number_or_name(options["replicate_method"]),
            "discount": discount_of(options["discount"]),
            "rare": options["rare"] or "keep",
            "bins": dict(map(bins_of, options["bins"])),
        },
        criteria=tuple(
            question.name for question in questions_of(criteria, ["pq"], options["task"])
        ),
        measures=tuple(resolve(name).name for name in options["measure"]),
        gates=tuple(gate_of(text, options["task"]) for text in options["fail_if"]),
        auditing={
            **{name: options[name] for name in AUDITING},
            "title": options["title"] or f"Audit of {', '.join(options['files'])}",
        },
        outputs={name: options[name] for name in OUTPUTS if options[name]},
        printing={name: options[name] for name in ("full", "quiet")},
        standard=standard,
        stated=stated,
    )


def statement(text: str) -> tuple[str, str]:
    """Parse a --state option.

    >>> statement("reference=race=White, sex=M")
    ('reference', 'race=White, sex=M')
    """
    name, sign, value = text.partition("=")
    if not name.strip() or not sign:
        raise click.UsageError(
            f"--state takes NAME=VALUE, such as data_kind=historical; {text!r} does not."
        )
    return name.strip().replace("-", "_"), value.strip()


def bins_of(text: str) -> tuple[str, int | list[float]]:
    """Parse a --bins option.

    >>> bins_of("age=4"), bins_of("age=0,30,120")
    (('age', 4), ('age', [0.0, 30.0, 120.0]))
    """
    name, _, bins = text.rpartition("=")
    try:
        edges = [read_number(edge) for edge in bins.split(",")]
    except ValueError:
        edges = []
    if not name or not edges or (len(edges) == 1 and not (edges[0].is_integer() and edges[0] > 1)):
        raise click.UsageError(
            f"--bins takes COLUMN=BINS, such as age=4 or age=0,30,50,120; {text!r} does not."
        )
    return name, int(edges[0]) if len(edges) == 1 else edges


def discount_of(text: str) -> str | float | list[float]:
    """Read the attention of places: a name, a factor, or numbers from the first place on.

    >>> discount_of("log"), discount_of("0.8"), discount_of("1,0.4,0.1")
    ('log', 0.8, [1.0, 0.4, 0.1])
    """
    try:
        listed = [read_number(part) for part in text.split(",")]
    except ValueError:
        return text
    return listed if len(listed) > 1 else listed[0]


def _columns(names: str | None) -> list[str] | None:
    return None if names is None else list(replicate_columns(names))


def _number_or_name(text: str | None) -> float | str | None:
    try:
        return None if text is None else read_number(text)
    except ValueError:
        return text


def _need(values: Sequence[Any] | None, message: str) -> None:
    if not values:
        raise click.UsageError(message)
