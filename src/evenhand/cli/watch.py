"""The commands `evenhand watch init`, `append`, `rename`, `status` and `report`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from evenhand._columns import Label
from evenhand._data.data import Data
from evenhand._data.group_by import listed
from evenhand._data.groups import show
from evenhand._data.tallies import Tally
from evenhand._errors import InputError
from evenhand._files.files import check_outputs, connect, found_files, open_files
from evenhand._writing import write_all
from evenhand.cli.audit import status_of
from evenhand.cli.columns import role_options
from evenhand.cli.failures import (
    STATUSES,
    done_unless_stopped,
    failures_in_one_line,
    interruptible,
)
from evenhand.cli.numbers import NumberRange, WholeRange
from evenhand.cli.summary import summary_text
from evenhand.cli.terminal import complain, echoed, tell
from evenhand.watch import Status, Watch
from evenhand.watch.document import document_of
from evenhand.watch.storage import lock_of, locked, save

EXAMPLES = "\n".join(
    [
        "\b",
        "Examples:",
        "  evenhand watch init --state watch.json --criterion statistical_parity \\",
        "      --prediction decision --group sex --favorable hired \\",
        "      --fail-if 'statistical_parity.mpd > 0.1'",
        "  evenhand watch append decisions-2026-03-01.parquet --state watch.json",
        "  evenhand watch append labels-2026-03-01.csv --state watch.json --late",
        "  evenhand watch status --state watch.json",
        "  evenhand watch report --state watch.json --html watch.html",
        "",
        "\b",
        "Exit status of append and status:",
        *(f"  {status:<3}  {meaning}" for status, meaning in STATUSES.items()),
    ]
)
COLUMNS = ("target", "prediction", "group", "stratum", "cluster", "rows", "rate", "missing")
SETTINGS = ("confidence", "method", "favorable", "window", "quiet_days")
DAY = re.compile(r"(\d{4}-\d{2}-\d{2})")

state_option = click.option(
    "--state",
    required=True,
    metavar="PATH",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file that holds the state.",
)


def output_option(name: str, about: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """An option that names a file to write."""
    return click.option(f"--{name}", metavar="PATH", type=click.Path(path_type=Path), help=about)


quiet_option = click.option("--quiet", is_flag=True, help="Print nothing but errors.")


WATCHED = (
    "y_true",
    "y_pred",
    "sensitive_features",
    "strata",
    "cluster",
    "rows",
    "rate",
    "missing",
)
column_options = role_options(WATCHED, cluster={"multiple": False}, missing={"default": None})


@click.group("watch", epilog=EXAMPLES)
def watch() -> None:
    """Watch a model after release: every look is valid, however often you look.

    The state, one small file, holds the counts of all parts so far. Append each day's decisions,
    and the truth when it is known. Intervals hold at all looks at once, and the probability that
    groups that are alike are ever said to differ is at most 1 in 20.
    """


@column_options
@watch.command("init")
@state_option
@click.option(
    "--criterion", multiple=True, required=True, metavar="NAME", help="A criterion to watch."
)
@click.option(
    "--measure",
    multiple=True,
    metavar="NAME",
    help="A measure to use; by default mpd, gini and pq.",
)
@click.option("--fail-if", multiple=True, metavar="GATE", help="Such as 'equal_opportunity > 0.1'.")
@click.option("--favorable", metavar="LABEL", help="The label of the better outcome.")
@click.option(
    "--confidence",
    type=NumberRange(0.5, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Confidence of every interval and verdict, at all looks at once.",
)
@click.option(
    "--method",
    type=click.Choice(["calibrated", "guaranteed"]),
    default="calibrated",
    show_default=True,
    help="How intervals are made.",
)
@click.option(
    "--baseline",
    multiple=True,
    metavar="FILE",
    help="A file of earlier rows to compare with; repeatable.",
)
@click.option(
    "--window",
    type=WholeRange(1),
    default=28,
    show_default=True,
    help="Length of the last window, in days.",
)
@click.option(
    "--quiet-days",
    type=NumberRange(1),
    default=3650,
    show_default=True,
    help="The least average number of days between false alarms of a change since an unknown day.",
)
def init(state: Path, **options: Any) -> None:
    """Make a new state, which remembers the columns to read."""
    with interruptible(), failures_in_one_line(), locked(state):
        if state.exists():
            raise InputError(f"{state} exists; remove it to start again, or append to it.")
        chosen = _chosen({}, options)
        baseline = options["baseline"]
        new = Watch(
            list(options["criterion"]),
            fail_if=list(options["fail_if"]),
            measures=list(options["measure"]) or ("mpd", "gini", "pq"),
            baseline=_counted(baseline, chosen)[0] if baseline else None,
            **{name: options[name] for name in SETTINGS},
        )
        new._memory.columns = chosen
        save(new._memory, state)
    tell(f"{state} watches {', '.join(options['criterion'])}.")


@column_options
@watch.command("append")
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@state_option
@click.option("--part", metavar="NAME", help="The part's name; by default that of its files.")
@click.option("--date", metavar="DAY", help="Its day; by default that in the name, else today.")
@click.option("--late", is_flag=True, help="The decisions were counted; only the truth is new.")
@click.option("--correct", multiple=True, metavar="FILE", help="Replace a part made of this FILE.")
@quiet_option
def append(
    files: tuple[str, ...],
    state: Path,
    part: str | None,
    date: str | None,
    late: bool,
    correct: tuple[str, ...],
    quiet: bool,
    **options: Any,
) -> None:
    """Count the rows of FILE, once; every kind of file that evenhand audit reads."""
    with interruptible():
        with failures_in_one_line(), locked(state):
            current = Watch.load(state)
            chosen = _chosen(current._memory.columns, options)
            name = part or ", ".join(path.name for path in found_files(files))
            may_lack = None if late or options["target"] else "target"
            counts, lacked = _counted(files, chosen, may_lack)
            if correct:
                old = _counted(correct, chosen, may_lack)[0]
                current.correct(name, old, counts, late=late)
                counted = True
            else:
                day = date or (match[1] if (match := DAY.search(name)) else None)
                counted = current.update(counts, part=name, at=day, late=late)
            status = current.status()
            if counted:
                save(current._memory, state)
        if lacked and not quiet:
            note = f"{name} has no column {lacked!r}: the decisions are counted, and the "
            tell(f"{note}truth can follow with --late.", err=True)
        if not counted:
            tell(f"{name} was counted before; nothing has changed.", err=True)
        failed = [] if quiet else _printed(status)
    click.get_current_context().exit(status_of(status.judgements, failed))


@watch.command("rename")
@click.argument("names", nargs=-1, required=True, metavar="OLD=NEW…")
@state_option
def rename(names: tuple[str, ...], state: Path) -> None:
    """Rename groups; two names of one group are added up."""
    with interruptible(), failures_in_one_line(), locked(state):
        current = Watch.load(state)
        pairs = {}
        for text in names:
            old, sign, new = text.partition("=")
            if not (old and sign and new):
                raise click.UsageError(f"Write OLD=NEW, such as F=Female, not {text!r}.")
            pairs[_group_named(current, old)] = _group_named(current, new, may_be_new=True)
        current.rename(pairs)
        save(current._memory, state)
    renamings = ", ".join(f"{show(old)} is {show(new)}" for old, new in pairs.items())
    tell(f"{renamings} from now on, and in what was counted.")


@watch.command("status")
@state_option
@quiet_option
def status(state: Path, quiet: bool) -> None:
    """Print the status so far."""
    with interruptible():
        with failures_in_one_line():
            current = Watch.load(state).status()
        failed = [] if quiet else _printed(current)
    click.get_current_context().exit(status_of(current.judgements, failed))


@watch.command("report")
@state_option
@output_option("html", "Write the page.")
@output_option("markdown", "Write Markdown.")
@output_option("metrics", "Write OpenMetrics text.")
@output_option("json", "All of it.")
def report(state: Path, **options: Path | None) -> None:
    """Write the report: a page, Markdown for a message, or metrics for a scraper."""
    paths = {option: path for option, path in options.items() if path is not None}
    with interruptible(), failures_in_one_line():
        if not paths:
            raise click.UsageError("Name what to write: --html, --markdown, --metrics or --json.")
        check_outputs(paths, [state, lock_of(state)])
        current = Watch.load(state)
        writers: dict[str, Callable[[], str]] = {
            "html": current.to_html,
            "markdown": current.to_markdown,
            "metrics": current.to_openmetrics,
            "json": lambda: _json(document_of(current._memory)),
        }
        texts = {path: writers[option] for option, path in paths.items()}
        failed = write_all(texts)
    complain(failed)
    click.get_current_context().exit(status_of((), failed))


def _chosen(stored: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """The columns named now or when the state was made."""
    named = {name: options[name] for name in COLUMNS if options[name]}
    plain = {name: list(v) if isinstance(v, tuple) else v for name, v in named.items()}
    return {**stored, **plain}


def _counted(
    files: Sequence[str], chosen: Mapping[str, Any], may_lack: str | None = None
) -> tuple[Tally, str | None]:
    """The counts of files, and the optional column that they lack, if any."""
    if not chosen.get("group"):
        raise click.UsageError("Name the column of the groups: --group sex (repeat to cross them).")
    if not chosen.get("prediction") and not chosen.get("rate"):
        raise click.UsageError("Name the column of the decisions: --prediction.")
    names: dict[str, Any] = {
        "y_true": chosen.get("target"),
        "y_pred": chosen.get("prediction"),
        "sensitive_features": chosen["group"],
        "strata": chosen.get("stratum"),
        "missing": chosen.get("missing", "error"),
    }
    extra = [chosen.get("rows"), chosen.get("rate"), chosen.get("cluster")]
    if chosen.get("rows") and chosen.get("cluster"):
        raise click.UsageError(
            "Lines of counts do not say which rows belong together: leave out --cluster."
        )
    required = [n for key, part in names.items() if key != "missing" for n in listed(part)]
    database = connect()

    def counted() -> tuple[Tally, str | None]:
        table = open_files(database, files, [*required, *(name for name in extra if name)])
        lacked = chosen.get(may_lack) if may_lack else None
        if lacked is None or lacked in table.columns:
            columns, lacked = names, None
        else:
            columns = {**names, "y_true": None}
        counts: dict[str, Any] = {name: chosen.get(name) for name in ("rows", "rate", "cluster")}
        return Data(data=table, **columns, **counts).tally(), lacked

    return done_unless_stopped(counted, database.interrupt)


def _group_named(watched: Watch, name: str, *, may_be_new: bool = False) -> Label:
    """The group displayed under this name."""
    groups = watched.groups
    for group in groups:
        if show(group) == name:
            return group
    if may_be_new:
        return name
    raise InputError(
        f"No group is called {name!r}; there are {[show(group_shown) for group_shown in groups]}."
    )


def _printed(status_now: Status) -> list[str]:
    """Print a status; return the failures."""
    return echoed(summary_text(status_now.document()))


def _json(document: Mapping[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, allow_nan=False)
