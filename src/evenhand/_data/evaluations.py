"""Read logs of evaluations of language models, by inspect_ai and lm-evaluation-harness.

inspect_ai writes a log for each task: a JSON file with `eval` and `samples`, or a ZIP archive
(.eval) with `header.json` and a file `samples/….json` for each sample and epoch. A sample has an
`id`, an `epoch`, `metadata`, and `scores` by scorer, each with a `value`. lm-evaluation-harness
writes `samples_TASK_DATE.jsonl`, a line for each prompt and filter, with the row of the data set in
`doc` and each metric under its own name.
"""

from __future__ import annotations

import gzip
import json
import re
import struct
import sys
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from os.path import exists
from pathlib import Path
from typing import Any, Literal, NamedTuple

from evenhand._columns import Label
from evenhand._data.data import Data
from evenhand._data.groups import show
from evenhand._errors import InputError, InputTypeError, require
from evenhand._kinds import check_labels, check_names
from evenhand._signatures import suggests_names
from evenhand._words import did_you_mean, listing

ZSTANDARD = 93  # the number of this compression in archives; Python reads it from 3.14 on
LOCAL_HEADER = 26  # bytes before a file, up to the length of its name
GRADES = {"C", "I", "P", "N"}  # correct, incorrect, partial, no answer
LINE = re.compile(r"samples_(.+?)_\d{4}-\d{2}-\d{2}.*\.jsonl(\.gz)?")
NO_METRICS = {
    "doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics",
    "doc_hash", "prompt_hash", "target_hash",
}  # fmt: skip
UNREADABLE = (
    OSError, TypeError, AttributeError, ValueError, EOFError, LookupError, RuntimeError,
    zipfile.BadZipFile, zlib.error,
)  # fmt: skip


class _Answer(NamedTuple):
    """The scores of an answer by name, and the fields of its prompt."""

    scores: dict[str, Any]
    fields: dict[str, Any]


@suggests_names
def read_evaluation(
    path: str | Path | Sequence[str | Path],
    *,
    sensitive_features: str | Sequence[str],
    score: str | None = None,
    cluster: str | Sequence[str] = "id",
    favorable: Label = None,
    filter_name: str | None = None,
    missing: Literal["error", "drop"] = "error",
) -> Data:
    """Read the answers of a language model from the log of an evaluation.

    Parameters
    ----------
    path : str, Path or sequence of these
        Logs of inspect_ai (.eval or .json), samples of lm-evaluation-harness (`samples_….jsonl`, or
        .jsonl.gz), or folders of either, of one model.
    sensitive_features : str or sequence of str
        The fields that name the groups: of a sample's metadata, or of the data set's row (`doc`).
    score : str, optional
        The scorer or metric to audit; of a scorer with several values, "scorer.value". By default
        the only one there is.
    cluster : str or sequence of str, default "id"
        The fields that say which answers belong together, such as the template. By default the
        prompt, whose epochs do.
    favorable : label, optional
        The better value. By default "C" of inspect_ai's grades, and else as in `audit`.
    filter_name : str, optional
        Of lm-evaluation-harness: the filter whose answers count, if there are several.
    missing : {"error", "drop"}, default "error"
        What is done with answers that have no score, as if they ended in an error: they are
        refused, with how many each group has, or left out.

    Returns
    -------
    Data
        The scores as predictions, with groups and clusters; to be passed first to `audit`,
        `interval`, `contrasts` or `tally`.

    Raises
    ------
    InputError
        If a file is no such log, a field or a score is not there, or it is not clear which of
        several models, scores, filters or copies of a sample is meant.

    See Also
    --------
    audit : What reads the data.

    Examples
    --------
    >>> import json, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> answers = [
    ...     {"doc_id": i, "doc": {"sex": "FM"[i % 2], "template": i // 2}, "acc": float(i % 3 > 0)}
    ...     for i in range(60)
    ... ]
    >>> with open(f"{folder.name}/samples_hiring_2026-01-01.jsonl", "w") as file:
    ...     print(*map(json.dumps, answers), sep=chr(10), file=file)
    >>> data = read_evaluation(folder.name, sensitive_features="sex", cluster="template")
    >>> data.tally()
    <Tally of 60 rows in 60 cells (yhat: 2, cluster: 30, group: 2)>
    >>> folder.cleanup()

    """
    groups = _names("sensitive_features", sensitive_features)
    together = _names("cluster", cluster)
    texts = {"score": score, "filter_name": filter_name, "missing": missing}
    check_names(**{name: text for name, text in texts.items() if text is not None})
    check_labels(favorable=favorable)
    answers = _one_filter(list(_answers(path)), filter_name)
    if not answers:
        raise InputError(f"{path} holds no answers.")
    _check_alone(answers)
    name = _score(answers, score)
    answers = _scored(answers, name, groups, missing)
    values = [_plain(name, answer.scores[name]) for answer in answers]
    if favorable is None and {*values} <= GRADES:
        favorable = "C"
    columns = {
        field: [_field(answer, field) for answer in answers] for field in (*groups, *together)
    }
    return Data(
        None,
        values,
        sensitive_features={field: columns[field] for field in groups},
        cluster={field: columns[field] for field in together},
        favorable=favorable,
    )


def _names(role: str, value: Any) -> tuple[str, ...]:
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, Sequence) or not names or not all(isinstance(n, str) for n in names):
        raise InputTypeError(f"{role} names fields of the log, such as 'group'; not {value!r}.")
    return tuple(names)


def _answers(path: Any) -> Iterator[_Answer]:
    """All answers of files and folders."""
    paths = [path] if isinstance(path, str | Path) else path
    if not isinstance(paths, list | tuple) or not all(isinstance(p, str | Path) for p in paths):
        raise InputTypeError(f"path names files or folders; it is {path!r}.")
    for source in map(Path, paths):
        if not exists(source):  # also false for names that no system could have
            raise InputError(f"There is no file or folder {source}.")
        files = [source]
        if source.is_dir():
            patterns = ("*.eval", "*.json", "samples_*.jsonl", "samples_*.jsonl.gz")
            files = sorted({file for kind in patterns for file in source.rglob(kind)})
            files = [file for file in files if file.suffix != ".json" or _is_log(file)]
            if not files:
                raise InputError(f"{source} holds no logs: {listing(list(patterns))}.")
        for file in files:
            yield from _read(file)


def _read(file: Path) -> Iterator[_Answer]:
    """The answers of a file, by the format that its name shows."""
    try:
        if file.name.endswith((".jsonl", ".jsonl.gz")):
            yield from _lines(file)
        elif file.suffix == ".eval":
            yield from _archive(file)
        else:
            log = json.loads(file.read_text(encoding="utf-8"))
            for sample in log["samples"] or ():
                yield _sample(sample, log["eval"])
    except UNREADABLE as failure:
        raise InputError(
            f"{file} cannot be read as a log of inspect_ai or samples of lm-evaluation-harness: "
            f"{failure!r}. If another compression is at fault, inspect log convert --to json "
            "writes a file that can."
        ) from failure


def _is_log(file: Path) -> bool:
    """Whether a JSON file is a log of inspect_ai, and not the results of another tool."""
    try:
        log = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(log, dict) and {"eval", "samples"} <= log.keys()


def _archive(file: Path) -> Iterator[_Answer]:
    with zipfile.ZipFile(file) as archive:
        names = archive.namelist()
        start = "header.json" if "header.json" in names else "_journal/start.json"
        about = json.loads(_member(archive, start))["eval"]
        for name in sorted(names):
            if name.startswith("samples/") and name.endswith(".json"):
                yield _sample(json.loads(_member(archive, name)), about)


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    """A file of an archive, perhaps compressed by inspect_ai with INSPECT_USE_ZSTD."""
    about = archive.getinfo(name)
    if about.compress_type != ZSTANDARD or sys.version_info >= (3, 14):
        return archive.read(name)
    require("pyarrow", purpose="Reading logs compressed with Zstandard", extra="files")
    import pyarrow

    assert archive.fp is not None
    archive.fp.seek(about.header_offset + LOCAL_HEADER)
    lengths = archive.fp.read(4)  # of the name and of the extra field, which precede the content
    archive.fp.seek(sum(struct.unpack("<HH", lengths)), 1)
    packed = pyarrow.BufferReader(archive.fp.read(about.compress_size))
    content = bytes(pyarrow.CompressedInputStream(packed, "zstd").read())
    if zlib.crc32(content) != about.CRC:
        raise zipfile.BadZipFile(f"Bad CRC-32 for file {name!r}")
    return content


def _sample(sample: Mapping[str, Any], about: Mapping[str, Any]) -> _Answer:
    """A sample of inspect_ai; one that ended in an error has no scores."""
    scores = {}
    for scorer, result in (sample.get("scores") or {}).items():
        value = result["value"]
        if isinstance(value, dict):
            scores.update({f"{scorer}.{key}": part for key, part in value.items()})
        else:
            scores[scorer] = value
    identity = {"id": sample["id"], "epoch": sample.get("epoch", 1), "model": about.get("model")}
    fields = _flat("metadata", sample.get("metadata") or {})
    return _Answer(scores, {**fields, **identity, "task": about.get("task")})


def _lines(file: Path) -> Iterator[_Answer]:
    """The lines of lm-evaluation-harness' samples."""
    match = LINE.fullmatch(file.name)
    task = match[1] if match else file.name.partition(".")[0]
    opened = gzip.open if file.name.endswith(".gz") else open
    with opened(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            if not line.strip():
                continue
            record = json.loads(line)
            names = record.get("metrics") or [name for name in record if name not in NO_METRICS]
            identity = {
                "id": record["doc_id"],
                "task": task,
                "filter": record.get("filter", "none"),
            }
            identity |= {"model": file.parent.name, "epoch": 1}
            doc = record["doc"] if isinstance(record["doc"], dict) else {}
            yield _Answer(
                {name: record.get(name) for name in names}, {**_flat("doc", doc), **identity}
            )


def _flat(name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Nested fields by their short names, and by their dotted paths."""
    flat: dict[str, Any] = {}
    for key, value in fields.items():
        if isinstance(value, dict):
            inner = _flat(key, value)
            flat |= {f"{key}.{path}": leaf for path, leaf in inner.items() if "." not in path}
        else:
            flat[key] = value
    return flat | {f"{name}.{key}": value for key, value in flat.items()}


def _one_filter(answers: list[_Answer], filter_name: str | None) -> list[_Answer]:
    """The answers of one filter; logs repeat every prompt for each filter."""
    filters = sorted({str(a.fields["filter"]) for a in answers if "filter" in a.fields})
    if filter_name is None and len(filters) > 1:
        raise InputError(
            f"Every prompt appears once for each of the filters {listing(filters)}. Name the one "
            f"to audit: filter_name={filters[0]!r}."
        )
    if filter_name is not None and filter_name not in filters:
        raise InputError(f"There is no filter {filter_name!r}; there are {filters}.")
    return [a for a in answers if filter_name is None or str(a.fields.get("filter")) == filter_name]


def _check_alone(answers: Sequence[_Answer]) -> None:
    """Refuse several models, and repeated samples."""
    models = sorted({str(answer.fields["model"]) for answer in answers})
    if len(models) > 1:
        raise InputError(
            f"These logs are of the models {listing(models)}. Read those of one at a time, and "
            "compare what the audits say."
        )
    keys = set()
    for answer in answers:
        key = tuple(str(answer.fields.get(name)) for name in ("task", "id", "epoch"))
        if key in keys:
            raise InputError(
                f"Sample {key[1]} of the task {key[0]}, epoch {key[2]}, appears twice, as after a "
                "second run. Read the logs of one run."
            )
        keys.add(key)


def _score(answers: Sequence[_Answer], requested: str | None) -> str:
    """The name of the requested score, or of the only one."""
    names = list(dict.fromkeys(name for answer in answers for name in answer.scores))
    if requested is None and len(names) == 1:
        return names[0]
    if requested in names:
        return str(requested)
    if not names:
        raise InputError("No answer has a score: score the log first.")
    if requested is None:
        raise InputError(f"There are the scores {listing(names)}. Name one: score={names[0]!r}.")
    raise InputError(
        f"There is no score {requested!r}; there are {names}.{did_you_mean(requested, names)}"
    )


def _scored(
    answers: Sequence[_Answer], name: str, groups: Sequence[str], missing: str
) -> list[_Answer]:
    """The answers that have the score; others are refused, or dropped on request."""
    if missing not in ("error", "drop"):
        raise InputError(f"missing is 'error' or 'drop'; it is {missing!r}.")
    scored = [answer for answer in answers if answer.scores.get(name) is not None]
    if missing == "error" and len(scored) < len(answers):
        lacking = Counter(
            tuple(_field(answer, field) for field in groups)
            for answer in answers
            if answer.scores.get(name) is None
        )
        largest = [
            f"{show(group if len(group) > 1 else group[0])} {n}"
            for group, n in lacking.most_common(6)
        ]
        raise InputError(
            f"{len(answers) - len(scored)} of {len(answers)} answers have no score {name!r}: "
            f"{listing(largest)}. If that has nothing to do with the group, pass missing='drop'."
        )
    return scored


def _plain(name: str, value: Any) -> Any:
    """A single number or word; whole numbers as integers, so that 1.0 is a label."""
    if isinstance(value, list | dict):
        raise InputError(f"The score {name!r} is {value!r}, which is not one number or one word.")
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _field(answer: _Answer, name: str) -> Any:
    """A field of the prompt."""
    if name not in answer.fields:
        fields = [field for field in answer.fields if "." not in field]
        raise InputError(
            f"Sample {answer.fields['id']} has no field {name!r}; it has {listing(fields)}."
            f"{did_you_mean(name, fields)}"
        )
    value = answer.fields[name]
    if isinstance(value, list | dict):
        raise InputError(f"The field {name!r} is {value!r}, which is not one number or one word.")
    return value
