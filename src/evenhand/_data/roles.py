"""The roles of columns, declared once for every function and command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, Field, dataclass, field, fields
from functools import cache
from typing import Any, NamedTuple

from evenhand._columns import Label
from evenhand._data.groups import Bins, Groups, Missing, Rare, groups
from evenhand._data.places import Discount
from evenhand._data.tasks import Task

PART = "part"  # in the metadata of a field


class Role(NamedTuple):
    """An argument about the data, as every function and command offers it.

    `kind` and `about` are its entry in a docstring, `option` and `brief` its flag on the command
    line with its help. `is_column` is false for arguments that say how columns are read;
    `is_several` allows several columns. `also` are the names that other tools have for it.
    """

    name: str
    kind: str
    about: str
    default: Any = None
    option: str = ""
    brief: str = ""
    is_column: bool = True
    is_several: bool = False
    also: tuple[str, ...] = ()

    @property
    def entry(self) -> str:
        """Its entry in a docstring."""
        lines = "\n    ".join(line.strip() for line in self.about.strip().split("\n"))
        return f"{self.name} : {self.kind}\n    {lines}"


def role(kind: str, about: str, *, default: Any = None, **details: Any) -> Any:
    """A field of the data, with its role."""
    return field(default=default, metadata={PART: (kind, about, details)})


def reading(kind: str, about: str, *, default: Any = None, **details: Any) -> Any:
    """A field that says how columns are read."""
    return role(kind, about, default=default, is_column=False, **details)


@dataclass(frozen=True, eq=False, repr=False)
class Columns:
    """The columns by role, and how to read them."""

    y_true: Any = role(
        "array-like, name of a column, Data or Tally, optional",
        """True labels or values; None where they are not known. In a ranking, how relevant each
        row is. Or all of the data: a `Data` object, or the counts that `tally` or `distribution`
        made; then no other column follows.""",
        option="--target",
        brief="The truth: labels or values.",
        also=("target", "targets", "truth", "actual", "labels", "ground_truth"),
    )
    y_pred: Any = role(
        "array-like, name of a column or estimator, optional",
        """Predicted labels or values; without them the score decides, at the threshold. A fitted
        estimator predicts them from `data`. A matrix holds for each row the probability of every
        label in `classes`, where decisions are made at random. In a ranking, the place of each row
        in its list, from 1 on; a row that was not shown has none.""",
        option="--prediction",
        brief="What the model predicted.",
        also=(
            "prediction",
            "predictions",
            "predicted",
            "decision",
            "decisions",
            "y_hat",
            "yhat",
        ),
    )
    _: KW_ONLY
    sensitive_features: Any = role(
        "array-like, dataframe or names of columns",
        """The columns that name the groups, or what `groups` made of them; several are crossed.
        With counts, only their names. Where groups are not recorded, what `probable` makes of
        probabilities.""",
        option="--group",
        brief="Which groups to compare; repeat to cross.",
        is_several=True,
        also=(
            "group",
            "groups",
            "sensitive",
            "protected",
            "sensitive_feature",
            "attribute",
            "attributes",
        ),
    )
    data: Any = reading(
        "dataframe, lazy query or database table, optional",
        """A table of pandas, Polars, Arrow, DuckDB, Dask, Ibis, Spark or anything else that
        narwhals reads. The other arguments then name columns of it, and its engine counts the rows.
        With an estimator, the features that it predicts from.""",
        also=("frame", "df", "table", "X"),
    )
    y_score: Any = role(
        "array-like or name of a column, optional",
        """Scores or probabilities of one label, or a column for each label: for thresholds,
        AUROC, calibration, cross-entropy and distributions. In a ranking, in place of `y_pred`: the
        highest of a list comes first, and rows that tie share their places.""",
        option="--score",
        brief="The score or probability of one label.",
        also=("probability", "probabilities", "proba", "y_prob", "scores", "score"),
    )
    score_of: Label = reading(
        "label, optional",
        """The label that a single column of scores is about. By default the one that sorts last, as
        in scikit-learn's `predict_proba[:, 1]`; where the other one is favorable, say which.
        Scores that clearly rank against their label (AUROC below one half) are refused unless it
        is stated.""",
        option="--score-of",
        brief="The label that the score is for, if not the one that sorts last.",
    )
    threshold: float | None = reading(
        "float, optional",
        """In place of `y_pred`: from this score on rows count as predicted `score_of`.""",
        option="--threshold",
        brief="Predict --score-of from this score on, where there is no --prediction.",
        also=("cut", "cutoff"),
    )
    sample_weight: Any = role(
        "array-like, SurveyWeights or name of a column, optional",
        "Weights of the rows; by default every row weighs 1.",
        option="--weight",
        brief="Weights of the rows.",
        also=("weight", "weights"),
    )
    strata: Any = role(
        "array-like, dataframe or names of columns, optional",
        'Within which "conditional_statistical_parity" compares groups.',
        option="--stratum",
        brief="Compare groups within this column too; repeat to cross.",
        is_several=True,
        also=("stratum",),
    )
    cluster: Any = role(
        "array-like, dataframe or names of columns, optional",
        """Which rows belong together and are not independent: decisions about one person, pupils
        of one school, prompts of one template. Intervals and tests allow for it; values stay as
        they are.""",
        option="--cluster",
        brief="Which rows belong together, such as a person or a school; repeatable.",
        is_several=True,
        also=("clusters",),
    )
    query: Any = role(
        "array-like, dataframe or names of columns, optional",
        """Which list each row is in, where rows are items of rankings: a search, a job, a user. It
        makes the task a ranking. Rows of one query are not independent, and intervals and tests
        allow for it. Where a query has several lists, name two columns: query and list.""",
        option="--query",
        brief="Rankings: which list a row is in, such as a search or a job; repeatable.",
        is_several=True,
        also=("queries", "qid", "lists", "list_id", "session"),
    )
    exposure: Any = role(
        "array-like or name of a column, optional",
        "In a ranking, in place of `discount`: the attention of each row, such as clicks or views.",
        option="--exposure",
        brief="Rankings: the attention that a row had, such as clicks.",
        also=("clicks", "views", "attention"),
    )
    discount: Discount = reading(
        '{"log", "inverse"}, float or sequence of float, default "log"',
        """In a ranking, the attention that a place gets: 1 / log2(1 + place), 1 / place, a factor
        for each place further, or numbers for the places from the first on.""",
        default="log",
        option="--discount",
        brief="Rankings: the attention of a place: log, inverse, or a factor such as 0.8.",
    )
    top_k: int | None = reading(
        "int, optional",
        'In a ranking, how many first places "top_k_parity" is about.',
        option="--top-k",
        brief="Rankings: how many first places top_k_parity is about.",
        also=("k", "top", "cutoff_k"),
    )
    rows: Any = role(
        "array-like or name of a column, optional",
        """The number of rows of each line, where the table holds counts. With
        `task="regression"` and no `y_pred`, its columns are sums of values, under the names that
        `count_query` gives them.""",
        option="--rows",
        brief="How many rows a line stands for, in a table of counts.",
        also=("count", "counts", "n"),
    )
    rate: Any = role(
        "name of a column, optional",
        """In place of `y_pred`, in a table of counts: the column of the share that was selected,
        between 0 and 1.""",
        option="--rate",
        brief="In place of --prediction, the share that was selected, in a table of counts.",
        also=("selection_rate", "share"),
    )
    replicate_weights: Any = role(
        "names of columns, optional",
        """The columns of a survey's replicate weights, by name or as a range: "PWGTP1-80".
        Intervals and tests then allow for the survey's design.""",
        option="--replicate-weights",
        brief="Columns of a survey's replicate weights, such as PWGTP1-80.",
        is_several=True,
    )
    replicate_method: str | float | None = reading(
        "str or float, optional",
        """How they were made, as in `survey_weights`: "acs", "jackknife", "paired jackknife",
        "brr"; or what squared deviations are multiplied by.""",
        option="--replicate-method",
        brief="How the replicates were made, such as acs.",
    )
    classes: Sequence[Label] | None = reading(
        "sequence of labels, optional",
        """Labels of the columns of `y_score`, or of probabilities, where the truth does not show
        all of them.""",
    )
    favorable: Label = reading(
        "label, optional",
        """The label of the better outcome for people, where a criterion asks about one. Of 0 and
        1, −1 and 1, or False and True the second is assumed; name it if that is bad for people,
        such as a default or a relapse. Of other labels none is assumed.""",
        option="--favorable",
        brief="The label of the better outcome for people.",
        also=("positive", "positive_label", "favourable", "pos_label"),
    )
    task: Task | None = reading(
        '{"binary", "multiclass", "regression", "ranking"}, optional',
        """Found from the columns if it is not said: text, truth values and up to 20 different whole
        numbers are labels, fractions are numbers, and more whole numbers must be explained. With
        `query` it is a ranking.""",
        option="--task",
        brief="What is predicted, where the columns can be read in two ways.",
    )
    bins: Bins | None = reading(
        "mapping of str to int or sequence of float, optional",
        """For a sensitive column of amounts, by name: into how many quantile bins it is cut, or at
        which edges.""",
        option="--bins",
        brief="Cut a column of amounts, such as age=4 or age=0,30,50,120; repeatable.",
    )
    missing: Missing = reading(
        '{"error", "group", "unknown"}, default "error"',
        """Whether rows without a group are refused, are a group of their own, or may be in any
        group: answers then hold whichever it is.""",
        default="error",
        option="--missing",
        brief="How rows without a group are treated.",
    )
    min_count: int = reading(
        "int, default 0",
        "Groups with fewer rows than this are rare.",
        default=0,
        option="--min-count",
        brief="Groups with fewer rows than this are rare.",
    )
    rare: Rare = reading(
        '{"keep", "merge", "drop"}, default "keep"',
        "How rare groups are treated; a note says so.",
        default="keep",
        option="--rare",
        brief="How rare groups are treated.",
    )


@cache
def roles_of(cls: type) -> dict[str, Role]:
    """The roles that a class declares, by name."""
    return {item.name: _role(item) for item in fields(cls) if PART in item.metadata}


def _role(item: Field[Any]) -> Role:
    kind, about, details = item.metadata[PART]
    return Role(item.name, kind, about, item.default, **details)


def grouped(columns: Columns) -> Groups:
    """The groups of the rows."""
    policy: dict[str, Any] = {name: getattr(columns, name) for name in POLICY}
    return groups(columns.sensitive_features, bins=columns.bins, **policy)


ROLES: dict[str, Role] = roles_of(Columns)
POLICY = ("missing", "min_count", "rare")  # how to treat rows without a group, and rare groups
OF_RANKINGS = ("query", "exposure", "discount", "top_k")  # roles of rows that are items in lists
