"""The rows of a journey: ordinary ones with an ugly turn or two, in every kind of column."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

Label = Any
T = TypeVar("T")

TWO: tuple[tuple[Label, Label], ...] = (
    *[(0, 1)] * 6,
    (False, True),
    (-1, 1),
    (0.0, 1.0),
    (1, 2),
    ("no", "yes"),
    ("0", "1"),
    ("denied", "granted"),
    ("good", "bad"),
    (" a", "a"),
)
ASSUMED = ((0, 1), (-1, 1))
MANY: tuple[tuple[Label, ...], ...] = (
    (0, 1, 2),
    ("low", "middle", "high"),
    (1, 2, 3, 4),
    tuple("abcdef"),
    tuple(f"c{k:02}" for k in range(23)),
)
PEOPLE: Mapping[str, tuple[Label, ...]] = {
    "sex": ("F", "M"),
    "race": ("White", "Black", "Asian", "Other"),
    "region": tuple("ABCDEFGHIJKL"),
    "code": (1, 2, 3),
    "flag": (True, False),
    "bit": (0, 1),
    "age": ("18-30", "31-50", "51+"),
    "share": (0.5, 1.5, 2.5),
    "day": (dt.date(2026, 1, 1), dt.date(2026, 1, 2)),
    "ugly": (
        *("", " a", "a", "A", "é", "日本", "<b>x</b>", "a,b", 'q"', "nan", "None", "x" * 60),
        *("a|b", "`c`", "*d*", "[l](u)", "=1+1", "Female × Black", "a\nb", "::error::e", "##[end]"),
        *("\x1b[31mred", "50%", "a had b", "(x)", "missing", "-1", "1e3", "yes", "no"),
    ),
}

NO_SCORE = "a score is none"  # some doors are given no score
ONE_GROUP = "there is one group"  # no audit, and no value at other doors


@dataclass(frozen=True, repr=False)
class Journey:
    """Plain values of every row, and what is asked of them.

    `scored` is the label that the score is of; `kinds` says in what kind of column each is given;
    `refused` why it must be refused at every door, and `doubtful` why it may be.
    """

    number: int
    task: str
    classes: tuple[Label, ...]
    truth: list[Any] | None
    predicted: list[Any] | None
    score: list[float] | None
    people: dict[str, list[Any]]
    weight: list[float] | None
    cluster: list[Any] | None
    scored: Label
    options: dict[str, Any]
    criteria: list[str] | None
    measures: list[str]
    kinds: dict[str, str]
    refused: str = ""
    doubtful: str = ""
    rng: np.random.Generator = field(
        default_factory=lambda: np.random.default_rng(0), compare=False
    )

    def __repr__(self) -> str:
        said = {
            name: value
            for name, value in vars(self).items()
            if not isinstance(value, list | np.random.Generator) and name != "people"
        }
        groups = {name: len(set(map(repr, column))) for name, column in self.people.items()}
        given = [
            name
            for name in ("truth", "predicted", "score", "weight", "cluster")
            if getattr(self, name) is not None
        ]
        return f"{self.rows} rows of {given} by {groups}; {said}"

    @property
    def rows(self) -> int:
        return len(next(iter(self.people.values())))

    @property
    def favorable(self) -> Label:
        """The label that rates are about: the one that is named, else that which is assumed."""
        if self.task == "regression":
            return None
        named = self.options.get("favorable")
        if named is not None:
            return named
        return self.classes[1] if self.classes in ASSUMED else None

    @property
    def decided(self) -> list[Any] | None:
        """What was decided: the predictions, or the score at its threshold."""
        if self.predicted is not None or self.score is None:
            return self.predicted
        at = self.options.get("threshold", 0.5)
        other = next(label for label in self.classes if label != self.scored)
        return [self.scored if score >= at else other for score in self.score]

    def group_by(self, names: Sequence[str] = ()) -> list[Any]:
        """The group of each row: a label, or of several columns a tuple of labels."""
        columns = [self.people[name] for name in self.people if name in names]
        columns = columns or list(self.people.values())
        return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))

    def pick(self, things: Sequence[T], most: int) -> list[T]:
        """Some of them, in an order of the journey's own."""
        order = self.rng.permutation(len(things))[:most]
        return [things[k] for k in order]

    def chance(self, share: float) -> bool:
        """Whether something is done that is done in this share of the journeys."""
        return bool(self.rng.random() < share)

    # What the library is given ---------------------------------------------------------------

    @property
    def columns(self) -> dict[str, Any]:
        """The columns for `audit` and its like, each of its own kind."""
        given = {
            "y_true": self.truth,
            "y_pred": self.predicted,
            "y_score": self.score,
            "sample_weight": self.weight,
            "cluster": self.cluster,
        }
        held = {
            name: KINDS[self.kinds[name]](values, self.number)
            for name, values in given.items()
            if values is not None and self.kinds[name] in KINDS
        }
        held.setdefault("y_true", None)
        if self.kinds.get("y_score") == "matrix":
            score = np.array(self.score)
            held["y_score"] = np.column_stack([1 - score, score])
        return {**held, "sensitive_features": self.held_people()}

    def held_people(self) -> Any:
        kind = self.kinds["sensitive_features"]
        if len(self.people) == 1 and not kind.startswith("frame"):
            (values,) = self.people.values()
            return KINDS[kind](values, self.number)
        if kind in KINDS:
            return {name: KINDS[kind](values, self.number) for name, values in self.people.items()}
        frame = pd.DataFrame(dict(self.people.items()))
        return ENGINES[kind.removeprefix("frame ")](frame)

    @property
    def table(self) -> pd.DataFrame:
        """All columns in one table."""
        given = {
            "y": self.truth,
            "p": self.predicted,
            "s": self.score,
            "w": self.weight,
            "c": self.cluster,
        }
        known = {name: values for name, values in given.items() if values is not None}
        return pd.DataFrame({**known, **self.people})

    @property
    def names(self) -> dict[str, Any]:
        """What the columns of the table are called at the doors that take names."""
        roles = {
            "y_true": ("y", self.truth),
            "y_pred": ("p", self.predicted),
            "y_score": ("s", self.score),
            "sample_weight": ("w", self.weight),
            "cluster": ("c", self.cluster),
        }
        given = {role: name for role, (name, values) in roles.items() if values is not None}
        given.setdefault("y_true", None)
        people = list(self.people)
        return {**given, "sensitive_features": people if len(people) > 1 else people[0]}


# Kinds of columns --------------------------------------------------------------------------------

Kind = Callable[[list[Any], int], Any]


def _by_pandas(dtype: str) -> Kind:
    return lambda values, _: pd.Series(values, dtype=dtype)


def _arrow_series(values: list[Any], _: int) -> Any:
    return pd.Series(pa.array(values), dtype=pd.ArrowDtype(pa.array(values).type))


def _chunked(values: list[Any], _: int) -> Any:
    column = pa.array(values)
    return pa.chunked_array([column[:1], column[1:]])


def _indexed(values: list[Any], number: int) -> Any:
    """A series whose index is in no order; that of every column is the same."""
    return pd.Series(values, index=np.random.default_rng(number).permutation(len(values)) + 5)


def _shuffled(values: list[Any], number: int) -> Any:
    """The same rows in another order, by their index."""
    return _indexed(values, number).iloc[::-1]


def _objects(values: list[Any], _: int) -> Any:
    held = np.empty(len(values), dtype=object)
    held[:] = values
    return held


KINDS: dict[str, Kind] = {
    "list": lambda values, _: list(values),
    "tuple": lambda values, _: tuple(values),
    "objects": _objects,
    "pandas": lambda values, _: pd.Series(values),
    "pandas objects": _by_pandas("object"),
    "pandas categories": _by_pandas("category"),
    "pandas Arrow": _arrow_series,
    "pandas index": _indexed,
    "pandas another order": _shuffled,
    "polars": lambda values, _: pl.Series(values),
    "arrow": lambda values, _: pa.array(values),
    "arrow chunks": _chunked,
    "arrow dictionary": lambda values, _: pa.array(values).dictionary_encode(),
    "numpy": lambda values, _: np.array(values),
    "numpy float": lambda values, _: np.array(values, dtype=np.float64),
    "numpy float32": lambda values, _: np.array(values, dtype=np.float32),
    "numpy int8": lambda values, _: np.array(values, dtype=np.int8),
    "numpy masked": lambda values, _: np.ma.masked_array(values, mask=False),
    "pandas Int64": _by_pandas("Int64"),
    "pandas string": _by_pandas("string"),
    "polars categories": lambda values, _: pl.Series(values, dtype=pl.Categorical),
}
ANY = tuple(KINDS)[:13]
AMOUNTS = ("list", "numpy", "pandas", "pandas Arrow", "pandas index", "polars", "arrow")
ORDERED = ("pandas index", "pandas another order")  # by the index of these


def _from_arrow_pandas(frame: pd.DataFrame) -> Any:
    return frame.convert_dtypes(dtype_backend="pyarrow")


def _arrow(frame: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(frame, preserve_index=False)


def _dask(frame: pd.DataFrame) -> Any:
    import dask.dataframe

    return dask.dataframe.from_pandas(frame, npartitions=2)


ENGINES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda frame: frame,
    "pandas Arrow": _from_arrow_pandas,
    "pandas index": lambda frame: frame.set_axis(range(len(frame) + 3, 3, -1), axis=0),
    "polars": lambda frame: pl.from_arrow(_arrow(frame)),
    "polars lazy": lambda frame: pl.from_arrow(_arrow(frame)).lazy(),  # type: ignore[union-attr]
    "arrow": _arrow,
    "duckdb": lambda frame: duckdb.from_arrow(_arrow(frame)),
}


# From a number to rows ---------------------------------------------------------------------------


def journey_of(number: int) -> Journey:
    """The journey of this number."""
    rng = np.random.default_rng([4, number])
    task = str(rng.choice(["binary", "multiclass", "regression"], p=[0.68, 0.16, 0.16]))
    rows = int(
        rng.choice([*range(5, 40, 5), 80, 150, 400, 2000], p=[0.06] * 7 + [0.22, 0.25, 0.1, 0.01])
    )
    people = _people(rng, rows)
    given = (
        _numbers(rng, people, rows) if task == "regression" else _labels(rng, people, rows, task)
    )
    weight = _weight(rng, rows)
    cluster = _cluster(rng, rows)
    options = dict(given["options"])
    if rng.random() < 0.15:
        options["confidence"] = float(rng.choice([0.5, 0.8, 0.9, 0.99, 0.999]))
    if rng.random() < 0.1:
        options["margin"] = float(rng.choice([0.01, 0.1, 0.2]))
    columns = {
        "truth": given["truth"],
        "predicted": given["predicted"],
        "score": given["score"],
        "weight": weight,
        "cluster": cluster,
        "people": people,
    }
    refused, doubtful = _turn(rng, columns, options)
    sizes = Counter(map(repr, zip(*columns["people"].values(), strict=True)))
    if 2 * sum(size == 1 for size in sizes.values()) > len(sizes):
        doubtful = doubtful or "most groups have one row"
    if weight is not None and 0.0 in weight:
        doubtful = doubtful or "some rows weigh nothing"
    good = options.get("favorable") is not None or given["classes"] in ASSUMED
    criteria, measures = _asked(
        rng, task, given["score"] is not None, columns["truth"] is not None, good
    )
    seen = {*(columns["truth"] or ()), *(columns["predicted"] or ())}
    if options.get("favorable") is not None and options["favorable"] not in seen:
        doubtful = doubtful or "nobody has the favorable label"
    kinds = _kinds(rng, columns)
    if {"missing", "min_count"} & set(options):  # `groups` settles them, and keeps no index
        kinds = {role: kind.replace("another order", "index") for role, kind in kinds.items()}
    if given["score"] is not None:
        if "score_of" not in options and _ranks_against(given, columns["truth"]):
            doubtful = doubtful or "the score may rank against its label"
        two = _is_probability(columns["score"]) and len(set(columns["truth"] or ())) == 2
        if two and "score_of" not in options and rng.random() < 0.3:
            kinds["y_score"] = "matrix"
    if "pandas another order" in kinds.values():
        doubtful = doubtful or "one column is in another order"
    return Journey(
        number,
        task,
        given["classes"],
        scored=given.get("scored"),
        options=options,
        criteria=criteria,
        measures=measures,
        kinds=kinds,
        refused=refused,
        doubtful=doubtful,
        rng=rng,
        **columns,
    )


def _is_probability(score: list[float]) -> bool:
    return all(0 <= value <= 1 for value in score)


def _ranks_against(given: Mapping[str, Any], truth: list[Any]) -> bool:
    """Whether pairs of rows are ranked wrongly more often than not."""
    pairs = list(zip(given["score"], truth, strict=True))
    ups = [score for score, label in pairs if label == given["scored"]]
    downs = [score for score, label in pairs if label != given["scored"]]
    won = sum((up > down) - (up < down) for up in ups for down in downs)
    return won < 0


def _people(rng: np.random.Generator, rows: int) -> dict[str, list[Any]]:
    """One to three columns of groups, some of them of a row or two."""
    kind = rng.random()
    if kind < 0.05:  # everyone alone, or nearly
        alone = [f"g{k:03}" for k in range(rows)]
        return {"id": alone if rng.random() < 0.5 else [alone[k // 2] for k in range(rows)]}
    many = 1 if kind < 0.8 else 2 if kind < 0.97 else 3
    names = list(PEOPLE)
    weights = np.array([5, 5, 2, 1, 1, 1, 1, 1, 1, 4], dtype=float)
    chosen = rng.choice(len(names), many, replace=False, p=weights / weights.sum())
    return {names[k]: _groups(rng, PEOPLE[names[k]], rows) for k in chosen}


def _groups(rng: np.random.Generator, labels: tuple[Label, ...], rows: int) -> list[Any]:
    count = min(len(labels), int(rng.integers(2, 7)))
    among = [labels[k] for k in rng.permutation(len(labels))[:count]]
    shares = rng.dirichlet(np.full(count, float(rng.choice([0.3, 1.0, 10.0]))))
    codes = rng.choice(count, rows, p=shares)
    codes[:2] = [0, 1]  # two groups, at least
    if rng.random() < 0.1:  # the last in order is of one row
        last = max(range(count), key=lambda k: str(among[k]))
        codes[codes == last] = (last + 1) % count
        codes[int(rng.integers(rows))] = last
    return [among[k] for k in codes]


def _labels(
    rng: np.random.Generator, people: Mapping[str, list[Any]], rows: int, task: str
) -> dict[str, Any]:
    sets: Sequence[tuple[Label, ...]] = TWO if task == "binary" else MANY
    classes = sets[int(rng.integers(len(sets)))]
    effect = _effect(rng, people, rows)
    if task == "multiclass":
        return _many_labels(rng, classes, effect, rows)
    options: dict[str, Any] = {}
    if (rng.random() < 0.5 or classes not in ASSUMED) and rng.random() < 0.85:
        options["favorable"] = classes[int(rng.random() < 0.7)]
    good = options.get("favorable", classes[1] if classes in ASSUMED else None)
    base = float(rng.choice([0.05, 0.3, 0.5, 0.9]))
    hits = rng.random(rows) < np.clip(base + 0.5 * effect * rng.choice([0, 1]), 0, 1)
    skill = float(rng.choice([0.0, 1.0, 3.0]))
    latent = skill * (hits - base) + 2 * effect + rng.normal(size=rows)
    cut = float(np.quantile(latent, rng.choice([0.2, 0.5, 0.8])))
    selected = latent >= cut
    kind = rng.random()
    if kind < 0.04:
        selected[:] = bool(rng.integers(2))
    elif kind < 0.08:
        selected = hits.copy()
    elif kind < 0.1:
        selected = ~hits
    elif kind < 0.12:
        hits[:] = bool(rng.integers(2))
    positive = classes[1] if good is None else good
    other = classes[0] if positive == classes[1] else classes[1]
    name = lambda flags: [positive if flag else other for flag in flags]  # noqa: E731
    truth: list[Any] | None = name(hits)
    predicted: list[Any] | None = name(selected)
    score, scored = None, None
    if good is not None and rng.random() < 0.45:
        scored = positive if rng.random() < 0.75 else other
        sign = 1 if scored == positive else -1
        score, threshold = _scores(rng, sign * latent, sign * cut)
        last = max(classes)
        unclear = scored != last or options.get("favorable", last) != last
        if unclear or rng.random() < 0.2:
            options["score_of"] = scored
        if rng.random() < 0.35 and len(set(truth or ())) == 2:
            predicted = None
            if threshold is not None:
                options["threshold"] = threshold
    if predicted is not None and score is None and rng.random() < 0.1:
        truth = None
    seen = {*(truth or ()), *(predicted or ())}
    if len(seen) < 2 and (predicted is not None or truth is None):
        classes = tuple(label for label in classes if label in seen)
    return {
        "classes": classes,
        "truth": truth,
        "predicted": predicted,
        "score": score,
        "scored": scored,
        "options": options,
    }


def _many_labels(
    rng: np.random.Generator, classes: tuple[Label, ...], effect: Any, rows: int
) -> dict[str, Any]:
    codes = rng.choice(len(classes), rows, p=rng.dirichlet(np.ones(len(classes))))
    moved = np.clip(codes + np.rint(3 * effect + 0.5 * rng.normal(size=rows)), 0, len(classes) - 1)
    guess = np.where(rng.random(rows) < 0.7, moved, rng.choice(len(classes), rows)).astype(int)
    truth, predicted = [classes[k] for k in codes], [classes[k] for k in guess]
    seen = sorted({*truth, *predicted})
    options = {}
    if rng.random() < 0.3:
        options["favorable"] = seen[int(rng.integers(len(seen)))]
    if len(seen) < 3:
        options["task"] = "multiclass"
    return {
        "classes": tuple(seen),
        "truth": None if rng.random() < 0.1 else truth,
        "predicted": predicted,
        "score": None,
        "options": options,
    }


def _numbers(
    rng: np.random.Generator, people: Mapping[str, list[Any]], rows: int
) -> dict[str, Any]:
    scale = float(rng.choice([1e-9, 0.01, 1, 1, 1, 1e4, 1e9]))
    middle = float(rng.choice([0, 0, 10, -10, 1000]))
    truth = middle + _effect(rng, people, rows) + rng.normal(size=rows)
    predicted = (
        truth + float(rng.choice([0, 0.3, 2])) * rng.normal(size=rows) + _effect(rng, people, rows)
    )
    if rng.random() < 0.2:
        truth, predicted = np.rint(truth * 10), np.rint(predicted * 10)
    if rng.random() < 0.05:
        predicted[:] = middle
    truth, predicted = truth * scale, predicted * scale
    return {
        "classes": (),
        "truth": truth.tolist(),
        "predicted": predicted.tolist(),
        "score": None,
        "options": {"task": "regression"},
    }


def _effect(rng: np.random.Generator, people: Mapping[str, list[Any]], rows: int) -> Any:
    """How far each row is moved by its group."""
    size = float(rng.choice([0, 0, 0.2, 0.5, 2, 50]))
    first = next(iter(people.values()))
    moves = {label: float(rng.normal()) for label in dict.fromkeys(first)}
    return size * np.array([moves[label] for label in first])


def _scores(rng: np.random.Generator, latent: Any, cut: float) -> tuple[list[float], float | None]:
    """Scores of any scale that rank as they did, and where they were cut."""
    with np.errstate(over="ignore"):
        kinds: tuple[Callable[[Any], Any], ...] = (
            lambda x: 1 / (1 + np.exp(-(x - cut))),
            lambda x: 1 / (1 + np.exp(-x)),
            lambda x: x,
            lambda x: np.round(1 / (1 + np.exp(-x)), 1),
            lambda x: np.rint(100 / (1 + np.exp(-x))),
            lambda x: np.rint(300 + 550 / (1 + np.exp(-x))),
            lambda x: -np.exp(-np.clip(x, -600, 600)),
            lambda x: 1e-12 * x,
            lambda x: 1e12 * x,
            lambda x: (x >= cut).astype(float),
        )
        scale = kinds[int(rng.integers(len(kinds)))]
        score, at = scale(latent), float(scale(np.array([cut]))[0])
    probabilities = score.min() >= 0 and score.max() <= 1
    named = not probabilities or rng.random() < 0.5
    return score.tolist(), at if named else None


def _weight(rng: np.random.Generator, rows: int) -> list[float] | None:
    kind = rng.random()
    if kind < 0.75:
        return None
    if kind < 0.85:
        return rng.integers(1, 5, rows).astype(float).tolist()  # type: ignore[no-any-return]
    if kind < 0.95:
        return (rng.random(rows) + 0.01).tolist()  # type: ignore[no-any-return]
    if kind < 0.98:
        weight = rng.integers(0, 3, rows).astype(float)
        weight[:5] = 1.0
        return weight.tolist()  # type: ignore[no-any-return]
    return (10.0 ** rng.uniform(-4, 4, rows)).tolist()  # type: ignore[no-any-return]


def _cluster(rng: np.random.Generator, rows: int) -> list[Any] | None:
    kind = rng.random()
    if kind < 0.85:
        return None
    size = int(rng.choice([1, 2, 5, rows]))
    ids = np.arange(rows) // size
    ids = rng.permutation(ids) if rng.random() < 0.5 else ids
    return [f"p{k}" for k in ids] if rng.random() < 0.5 else ids.tolist()


def _turn(
    rng: np.random.Generator, columns: dict[str, Any], options: dict[str, Any]
) -> tuple[str, str]:
    """Now and then something that must be refused, or may be: (must, may)."""
    kind, rows = rng.random(), len(next(iter(columns["people"].values())))
    at = int(rng.integers(rows))

    def put(name: str, value: Any) -> None:
        columns[name] = list(columns[name])
        columns[name][at] = value

    if kind < 0.03:
        first = next(iter(columns["people"]))
        columns["people"][first][at] = None
        if rng.random() < 0.3:
            return "a row has no group", ""
        options["missing"] = "group"
        return "", ""
    if kind < 0.04 and columns["predicted"] is not None:
        put("predicted", None)
        return "a prediction is missing", ""
    if kind < 0.05 and columns["truth"] is not None:
        put("truth", None)
        return "a truth is missing", ""
    if kind < 0.06 and columns["weight"] is not None:
        put("weight", float(rng.choice([-1.0, math.nan, math.inf])))
        return "a weight is none", ""
    if kind < 0.07 and columns["score"] is not None:
        put("score", float(rng.choice([math.nan, math.inf])))
        return NO_SCORE, ""
    if kind < 0.08:
        first = next(iter(columns["people"]))
        columns["people"] = {first: [columns["people"][first][0]] * rows}
        return ONE_GROUP, ""
    if kind < 0.12 and len(columns["people"]) == 1:
        options["min_count"] = int(rng.choice([2, 5]))
        options["rare"] = str(rng.choice(["merge", "drop"]))
        return "", "groups are rare"
    return "", ""


ANY_LABEL = ("statistical_parity", "equalized_odds", "accuracy_parity", "error_parity")


def _asked(
    rng: np.random.Generator, task: str, scored: bool, known: bool, good: bool
) -> tuple[list[str] | None, list[str]]:
    measures = [*[["mpd"]] * 5, ["mpd", "gini", "pq"], ["mpd", "shortfall"], ["gini", "mpd"]]
    by = measures[int(rng.integers(len(measures)))]
    if rng.random() < 0.07:
        return None, by
    criteria = {
        "binary": [
            "statistical_parity",
            "selection_rate_ratio",
            "equalized_odds",
            "equal_opportunity",
            "predictive_equality",
            "predictive_parity",
            "false_omission_rate_parity",
            "accuracy_parity",
            "error_parity",
            *(
                ["performance_parity(auroc)", "strong_parity", "wasserstein_parity"]
                if scored
                else []
            ),
        ],
        "multiclass": ["statistical_parity", "equalized_odds", "accuracy_parity", "error_parity"],
        "regression": [
            "weak_parity",
            "strong_parity",
            "wasserstein_parity",
            "performance_parity(mean_error)",
            "performance_parity(mse)",
            "performance_parity(mae)",
        ],
    }[task]
    untrue = ("statistical_parity", "selection_rate_ratio", "strong_parity", "wasserstein_parity")
    fit = [name for name in criteria if known or name in (*untrue, "weak_parity")]
    fit = [name for name in fit if good or task != "binary" or name in ANY_LABEL]
    chosen = [fit[k] for k in rng.permutation(len(fit))[: int(rng.choice([1, 1, 1, 2, 3]))]]
    return chosen, by


def _kinds(rng: np.random.Generator, columns: Mapping[str, Any]) -> dict[str, str]:
    """In what kind of column each is held; mostly all in one, as people have them."""
    roles = {
        "y_true": columns["truth"],
        "y_pred": columns["predicted"],
        "y_score": columns["score"],
        "sample_weight": columns["weight"],
        "cluster": columns["cluster"],
    }
    style = rng.random()
    kinds = {}
    common = str(rng.choice(["list", "numpy", "pandas", "pandas index", "polars", "arrow"]))
    for role, values in roles.items():
        if values is None:
            continue
        kind = common if style < 0.6 else _kind(rng, values)
        kinds[role] = kind if _holds(kind, values) else "list"
    people = columns["people"]
    first = next(iter(people.values()))
    kind = common if style < 0.6 else _kind(rng, first)
    if style > 0.9:
        kind = f"frame {rng.choice(list(ENGINES)[:6])}".replace("polars lazy", "polars")
    if kind in KINDS and not all(_holds(kind, values) for values in people.values()):
        kind = "list"
    kinds["sensitive_features"] = kind
    if common == "pandas index" and style < 0.6 and rng.random() < 0.3:
        some = [role for role in kinds if kinds[role] == "pandas index"]
        if len(some) > 1:
            kinds[some[int(rng.integers(len(some)))]] = "pandas another order"
    return kinds


def _kind(rng: np.random.Generator, values: Sequence[Any]) -> str:
    """A kind of column that fits the values; no index beside columns that have none."""
    fits = [kind for kind in ANY if kind not in ORDERED]
    present = {type(value) for value in values if value is not None}
    fits = [kind for kind in fits if kind not in ("pandas string", "polars categories")]
    if present == {str}:
        fits += ["numpy", "pandas string", "polars categories"]
    elif present == {int}:
        fits += ["numpy", "numpy float", "numpy int8", "numpy masked", "pandas Int64"]
    elif present == {float}:
        fits += ["numpy", "numpy masked"]
    return str(rng.choice(fits))


def _holds(kind: str, values: Sequence[Any]) -> bool:
    """Whether the column can hold these values as they are."""
    try:
        column = KINDS[kind](list(values), 0)
    except Exception:  # libraries differ in what they hold
        return False
    if kind in ("pandas string", "polars categories") and {type(v) for v in values} - {str}:
        return False
    if kind == "numpy int8" and {type(v) for v in values} - {int, bool}:
        return False  # it would cut off fractions without a word
    missing = sum(value is None or value != value for value in values)
    if missing and (kind.startswith("numpy") or kind == "objects"):
        return all(value is not None for value in values)
    return len(column) == len(values)
