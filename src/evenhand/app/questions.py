"""The questions that a page asks before it shows an audit, and what is still missing.

Whatever could reverse a result is asked and never guessed: which outcome is good for people,
which way a score points, what a missing group means, and whether people occur more than once.
A form sends the position of a column or a label, so that no name has to survive a form. The name
of an answer about columns has their positions: it never applies to another column.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from evenhand._words import finite_number, percent, plain, plural
from evenhand.app.choices import USUAL, Choices
from evenhand.app.tables import INTEGER, MOST_LABELS, Column, Opened

NONE = "none"
FEW_CLASSES = 20  # as many whole numbers as are taken for labels
LINES = {
    "people": "one decision about one person, and nobody is in the file twice",
    "repeated": "one of several about the same person, or about people who belong together",
    "counts": "many people, and a column says how many",
}
Query = Mapping[str, Sequence[str]]


class Option(NamedTuple):
    """An answer: the value sent, the text shown, and whether it is chosen."""

    value: str
    text: str
    chosen: bool = False
    hint: str = ""


class Field(NamedTuple):
    """A question, its reason, its answers, and what is missing while it has none.

    `form` is "select", "radio", "checks" or "number"; the last has a `value` in place of options.
    """

    key: str
    ask: str
    form: str
    options: Sequence[Option] = ()
    why: str = ""
    lacks: str = ""
    value: str = ""
    low: str = ""
    high: str = ""
    caution: str = ""


class Interview:
    """Go through the questions in order; answers decide which questions follow."""

    def __init__(self, opened: Opened, query: Query) -> None:
        self.opened, self.query = opened, query
        self.questions: list[Field] = []
        self.settings: list[Field] = []
        self.reading: dict[str, Any] = {}
        self.auditing: dict[str, Any] = {}
        self._ask_lines()
        self._ask_columns()
        self._ask_outcomes()
        self._ask_groups()
        self._ask_settings()

    @property
    def missing(self) -> list[str]:
        """The questions still open, in words."""
        return [question.lacks for question in (*self.questions, *self.settings) if question.lacks]

    @property
    def choices(self) -> Choices | None:
        """The choices, once nothing is missing."""
        if self.missing:
            return None
        return Choices(self.opened, self.reading, self.auditing)

    # The questions

    def _ask_lines(self) -> None:
        answer = self._value("lines")
        kind = answer if answer in LINES else ""
        options = [Option(key, text, key == kind) for key, text in LINES.items()]
        lacks = "" if kind else "Say what a line of the file stands for."
        why = (
            "Rows about one person are not independent, and a line that stands for many people "
            "counts as many."
        )
        self.questions.append(
            Field("lines", "Each line of the file is", "radio", options, why, lacks)
        )
        if kind == "repeated":
            self._column(
                "cluster", "Which column says which rows belong together, such as a person?"
            )
        if kind == "counts":
            numbers = [column for column in self.opened.columns if column.is_number]
            self._column("rows", "Which column says how many people?", candidates=numbers)

    def _ask_columns(self) -> None:
        unknown = "not known, or not in this file"
        self._column("target", "Which column is the true outcome?", "y_true", none=unknown)
        no_decision = "none: a score decides"
        self._column(
            "prediction",
            "Which column is the model's decision or prediction?",
            "y_pred",
            none=no_decision,
        )
        if not self._answered("prediction"):
            return
        numbers = [column for column in self.opened.columns if column.is_number]
        decided = "y_pred" in self.reading
        if not decided and self._value("target") == NONE:
            self._refuse("Choose the true outcome or the decision: a score alone has no outcomes.")
        elif not decided and not numbers:
            self._refuse("No column of numbers can be the score: choose the decision.")
        elif numbers:
            none = "none" if decided else None
            score = self._column("score", "Which column is the score?", "y_score", numbers, none)
            if decided and not score and not self._value("score"):
                self.questions[-1] = self.questions[-1]._replace(lacks="")

    def _ask_outcomes(self) -> None:
        names = [self.reading[role] for role in ("y_true", "y_pred") if role in self.reading]
        if not names:
            return
        if self._decides_by_score():
            score = repr(self.reading["y_pred"])
            self._refuse(
                f"{score} holds fractions, and there are two true outcomes: choose “none: a score "
                f"decides” as the decision, and {score} as the score."
            )
            return
        labels = self.opened.labels(*names)
        if self._is_regression(names, labels):
            self.reading["task"] = "regression"
            if "y_pred" not in self.reading:
                self._refuse("The outcomes are amounts: choose the column of what was predicted.")
            elif "y_score" in self.reading:
                self._refuse("A score is of two outcomes; for amounts choose no score.")
            return
        if not labels:
            kinds = " and ".join(f"{name!r} {self.opened.named(name).kind}" for name in names)
            self._refuse(f"The outcome and the decision are written differently: {kinds}.")
            return
        if len(labels) > MOST_LABELS:
            columns = " and ".join(map(repr, names))
            self._refuse(f"{columns}: more than {MOST_LABELS} values. Are these the outcomes?")
            return
        if not self._answered("target") or not self._answered("prediction"):
            return
        self._ask_favorable(names, labels)
        if "y_score" in self.reading:
            self._ask_direction(names, labels)

    def _is_regression(self, names: Sequence[str], labels: Sequence[Any]) -> bool:
        columns = [self.opened.named(name) for name in names]
        if not all(column.is_number for column in columns):
            return False
        if not all(map(self._is_whole, columns)):
            return True
        if len(labels) <= 2:
            return False
        key = about("task", columns)
        answer = self._value(key)
        options = [
            Option("regression", "amounts, such as euros or years", answer == "regression"),
            Option("multiclass", "classes, each with a number for a name", answer == "multiclass"),
        ]
        how_many = "" if len(labels) > MOST_LABELS else f"{len(labels)} "
        why = f"They take {how_many or f'more than {MOST_LABELS} '}different whole numbers."
        is_answered = answer in ("regression", "multiclass")
        lacks = "" if is_answered else "Say whether the outcome is an amount or a class."
        self.questions.append(Field(key, "The outcomes are", "radio", options, why, lacks))
        if answer == "multiclass":
            self.reading["task"] = "multiclass"
        return answer == "regression"

    def _decides_by_score(self) -> bool:
        """Whether what was named as the decision is a score of one of two outcomes."""
        target, decision = self.reading.get("y_true"), self.reading.get("y_pred")
        if target is None or decision is None or len(self.opened.labels(target)) > 2:
            return False
        column = self.opened.named(decision)
        return column.is_number and not self._is_whole(column)

    def _ask_favorable(self, names: Sequence[str], labels: Sequence[Any]) -> None:
        key = about("favorable", map(self.opened.named, names))
        at = self._position(key, len(labels))
        options = [Option(str(i), plain(str(label)), i == at) for i, label in enumerate(labels)]
        none = self._value(key) == NONE and len(labels) > 2
        if len(labels) > 2:
            options.append(Option(NONE, "none is better than the others", none))
        lacks = "" if at is not None or none else "Say which outcome is good for people."
        why = "Being hired or getting a loan is good; a default or a relapse is not."
        self.questions.append(
            Field(key, "Which outcome is good for people?", "radio", options, why, lacks)
        )
        if at is not None:
            self.reading["favorable"] = str(labels[at])

    def _ask_direction(self, names: Sequence[str], labels: Sequence[Any]) -> None:
        if len(labels) != 2:
            self._refuse("A score needs two outcomes; choose the decision and no score here.")
            return
        score = self.reading["y_score"]
        key = about("score_of", map(self.opened.named, [*names, score]))
        at = self._position(key, 2)
        options = [Option(str(i), plain(str(label)), i == at) for i, label in enumerate(labels)]
        why, caution = "", ""
        directions = self.opened.directions(names[0], score, labels, self.reading.get("rows"))
        if directions:
            best = max(directions, key=lambda direction: direction.share)
            noun = "outcome" if "y_true" in self.reading else "decision"
            why = (
                f"Higher scores go with “{plain(best.label)}” in {percent(best.share)} of "
                f"pairs of people with different {noun}s."
            )
            if best.share == 0.5:
                why = f"Scores are as often higher for one {noun} as for the other."
            elif at is not None and str(labels[at]) != best.label:
                caution = (
                    f"In this file higher scores go with “{plain(best.label)}”. Keep your "
                    f"answer only if the score was meant to be of “{plain(str(labels[at]))}”."
                )
        lacks = "" if at is not None else "Say which way the score points."
        self.questions.append(
            Field(
                key,
                "A higher score means that this outcome is more likely:",
                "radio",
                options,
                why,
                lacks,
                caution=caution,
            )
        )
        if at is not None:
            self.reading["score_of"] = str(labels[at])
        if "y_pred" not in self.reading:
            self._ask_threshold()

    def _ask_threshold(self) -> None:
        column = self.opened.named(self.reading["y_score"])
        key = about("threshold", [column])
        text = self._value(key).strip()
        value = finite_number(text)
        lacks = "" if value is not None else "Say from which score people are selected."
        if text and value is None:
            lacks = f"The threshold {text!r} is not a number."
        meaning = ""
        if "score_of" in self.reading and "y_true" in self.reading:
            meaning = f" “{plain(str(self.reading['score_of']))}” is predicted from this score up."
        why = f"Scores run from {_short(column.low)} to {_short(column.high)}.{meaning}"
        ends = {"low": column.low, "high": column.high}
        ask = "From which score on?"
        self.questions.append(Field(key, ask, "number", (), why, lacks, text, **ends))
        if value is not None:
            self.reading["threshold"] = value

    def _ask_groups(self) -> None:
        used = {self.reading.get(role) for role in ROLES_TAKEN}
        free = [column for column in self.opened.columns if column.name not in used]
        chosen = [column for column in free if str(column.at) in self.query.get("group", ())]
        options = [
            Option(str(column.at), plain(column.name), column in chosen, _described(column))
            for column in free
        ]
        lacks = "" if chosen else "Choose at least one column that names the groups."
        why = "Several columns are compared one by one and combined."
        ask = "Which columns name the groups to compare?"
        self.questions.append(Field("group", ask, "checks", options, why, lacks))
        if not chosen:
            return
        self.reading["sensitive_features"] = [column.name for column in chosen]
        bins = {}
        for column in chosen:
            if column.is_number and (column.distinct > FEW_CLASSES or not self._is_whole(column)):
                cut = self._ask_bins(column)
                if cut is not None:
                    bins[column.name] = cut
        if bins:
            self.reading["bins"] = bins
        self._ask_missing([column for column in chosen if column.missing])

    def _ask_bins(self, column: Column) -> int | list[float] | None:
        key = about("bins", [column])
        text = self._value(key).strip()
        cut = _cut(text)
        name = plain(column.name)
        lacks = "" if cut is not None else f"Say how {name!r} is cut into groups."
        if text and cut is None:
            lacks = f"{text!r} is neither a number of groups, such as 4, nor edges: 0, 30, 50, 120."
        why = (
            f"From {_short(column.low)} to {_short(column.high)}. Write 4 for four groups of about "
            "equal size, or the edges of your own: 0, 30, 50, 120."
        )
        ask = f"How is {name!r} cut into groups?"
        self.questions.append(Field(key, ask, "text", (), why, lacks, text))
        return cut

    def _ask_missing(self, columns: Sequence[Column]) -> None:
        if not columns:
            return
        key = about("missing", columns)
        is_group = self._value(key) == "group"
        counts = " and ".join(
            f"{plural(column.missing, 'line')} without {plain(column.name)!r}" for column in columns
        )
        options = [
            Option("group", "a group of their own", is_group),
            Option("error", "a mistake, to be corrected in the file first"),
        ]
        lacks = "" if is_group else "Say what a missing group means."
        ask = "People whose group is missing are"
        self.questions.append(Field(key, ask, "radio", options, f"There are {counts}.", lacks))
        if is_group:
            self.reading["missing"] = "group"

    def _ask_settings(self) -> None:
        chosen = self.reading.get("sensitive_features", ())
        if len(chosen) > 1:
            depth = self._value("depth") or str(USUAL["depth"])
            texts = {1: "each column alone", 2: "pairs of columns", 3: "three columns at a time"}
            options = [
                Option(str(k), texts[k], depth == str(k)) for k in range(1, min(len(chosen), 3) + 1)
            ]
            self.settings.append(Field("depth", "Combine", "select", options))
            self.auditing["depth"] = int(depth) if depth in ("1", "2", "3") else USUAL["depth"]
        margin = self._value("margin").strip()
        value = finite_number(margin)
        lacks = ""
        if margin and (value is None or value < 0):
            lacks = f"The margin {margin!r} is not a number of 0 or more."
        why = "The largest difference that counts as alike; for rates, 0.05 is 5 percentage points."
        ask = "Margin"
        self.settings.append(Field("margin", ask, "number", (), why, lacks, margin, low="0"))
        if value is not None and not lacks:
            self.auditing["margin"] = value
        confidence = self._value("confidence") or "0.95"
        options = [Option(text, f"{float(text):.0%}", text == confidence) for text in LEVELS]
        self.settings.append(Field("confidence", "Confidence", "select", options))
        self.auditing["confidence"] = float(confidence) if confidence in LEVELS else 0.95

    # Answers

    def _value(self, key: str) -> str:
        values = self.query.get(key, ())
        return values[-1] if values else ""

    def _answered(self, key: str) -> bool:
        return bool(self._value(key))

    def _position(self, key: str, limit: int) -> int | None:
        text = self._value(key)
        is_position = text.isascii() and text.isdigit() and len(text) < 5 and int(text) < limit
        return int(text) if is_position else None

    def _column(
        self,
        key: str,
        ask: str,
        role: str | None = None,
        candidates: Sequence[Column] | None = None,
        none: str | None = None,
    ) -> str:
        """Ask for a column that has no other role yet; return its name, if chosen."""
        used = set(self.reading.values())
        free = [column for column in candidates or self.opened.columns if column.name not in used]
        at = self._position(key, len(self.opened.columns))
        chosen = next((column for column in free if column.at == at), None)
        is_none = none is not None and self._value(key) == NONE
        options = [Option("", "choose a column …", chosen is None and not is_none)]
        if none is not None:
            options.append(Option(NONE, none, is_none))
        options += [
            Option(str(column.at), f"{plain(column.name)} — {_described(column)}", column is chosen)
            for column in free
        ]
        lacks = "" if chosen or is_none else _lacking(ask)
        self.questions.append(Field(key, ask, "select", options, "", lacks))
        if chosen is not None:
            self.reading[role or key] = chosen.name
        return chosen.name if chosen else ""

    def _is_whole(self, column: Column) -> bool:
        if column.kind == INTEGER:
            return True
        labels = self.opened.labels(column.name)
        return len(labels) <= FEW_CLASSES and all(float(value).is_integer() for value in labels)

    def _refuse(self, lacks: str) -> None:
        self.questions.append(Field("refused", "", "note", lacks=lacks))


ROLES_TAKEN = ("y_true", "y_pred", "y_score", "rows", "cluster")
LEVELS = ("0.9", "0.95", "0.99")


def about(key: str, columns: Iterable[Column]) -> str:
    """The name of an answer about columns."""
    return key + "-".join(str(column.at) for column in columns)


def _lacking(ask: str) -> str:
    return f"Still to answer: {ask[0].lower()}{ask[1:]}"


def _described(column: Column) -> str:
    """A short description of a column's content."""
    if column.is_number and column.distinct > 2:
        return f"{column.kind} from {_short(column.low)} to {_short(column.high)}"
    return f"{column.kind}: {', '.join(value[:20] for value in column.values[:3])}"


def _short(text: str) -> str:
    value = finite_number(text)
    return text if value is None else f"{value:.6g}"


def _cut(text: str) -> int | list[float] | None:
    """A number of bins, or their edges."""
    values = [finite_number(part.strip()) for part in text.split(",")] if text else []
    finite = [value for value in values if value is not None]
    if not finite or len(finite) < len(values):
        return None
    if len(finite) == 1:
        return int(finite[0]) if finite[0].is_integer() and 1 < finite[0] <= 100 else None
    return finite if finite == sorted(set(finite)) else None
