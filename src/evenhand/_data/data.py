"""The data: rows, a table, counts or a model's predictions, and the roles of columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from operator import is_not
from typing import Any

import numpy as np

from evenhand._columns.encoding import check_order
from evenhand._data.counting import rows_in
from evenhand._data.dataframes import column_of, is_frame, is_table, kind_of, names_in
from evenhand._data.evidence import Evidence
from evenhand._data.groups import NO_POLICY, Groups
from evenhand._data.probable import Probable
from evenhand._data.roles import OF_RANKINGS, POLICY, ROLES, Columns, grouped
from evenhand._data.summaries import KINDS, Rows, Source
from evenhand._data.surveys import replicate_columns, replicate_scales, survey_weights
from evenhand._data.tallies import Tally
from evenhand._errors import InputError, InputTypeError
from evenhand._kinds import check_kinds
from evenhand._signatures import documented
from evenhand._words import listing

NO_QUERY = 'task="ranking" needs query=, the column that says which list a row is in.'
OF_LISTS = tuple(name for name in OF_RANKINGS if name != "query")
OF_TABLES = ("rows", "rate", "replicate_weights", "replicate_method")
BESIDE_COUNTS = ("sensitive_features", "favorable", "task", "min_count", "rare")


@dataclass(frozen=True, eq=False, repr=False)
class Data(Columns):
    """Rows of people, what was decided about them, and which group they are in.

    Every function takes what is declared here as arguments of its own; this object is for those
    who ask several questions of the same data, or add up parts of them.

    Parameters
    ----------
    {roles}

    Examples
    --------
    >>> import evenhand as eh
    >>> people = {"hired": [1, 0, 1, 1], "sex": ["F", "F", "M", "M"]}
    >>> data = eh.Data(None, people["hired"], sensitive_features=people["sex"])
    >>> eh.evaluate("statistical_parity", data)
    0.5
    >>> eh.tally(data + data)
    <Tally of 8 rows in 3 cells (yhat: 2, group: 2)>

    """

    def __post_init__(self) -> None:
        policy = {name: getattr(self, name) for name in POLICY}
        if any(map(is_not, policy.values(), NO_POLICY[1:])):  # NO_POLICY begins with bins
            check_kinds(**policy)
        if isinstance(self.y_true, Data):
            raise InputTypeError("These are data already; ask them, or replace parts of them.")
        if isinstance(self.y_true, Summary):
            self._check_alone()
        elif isinstance(self.task, str) and self.task == "ranking" and self.query is None:
            raise InputError(NO_QUERY)
        elif self.query is None and (unread := [role for role in OF_LISTS if self.has(role)]):
            raise InputError(
                f"{listing([f'{role}=' for role in unread])} {'is' if len(unread) == 1 else 'are'} "
                "about rankings: pass query=, the column that says which list a row is in."
            )
        elif self.has("exposure") and self.has("discount"):
            raise InputError("exposure= takes the place of discount=: pass one of them.")
        elif isinstance(self.y_pred, Data | Summary):
            raise InputTypeError(
                f"A {type(self.y_pred).__name__} replaces all columns: pass it first, "
                "without y_true."
            )
        elif callable(self.y_pred) and not _is_model(self.y_pred):
            name = getattr(self.y_pred, "__name__", "a function")
            raise InputTypeError(
                f"y_pred is {name}, which is not a column; a measure is passed as measure=."
            )

    def __repr__(self) -> str:
        if isinstance(self.y_true, Summary):
            return f"<Data: {self.y_true!r}>"
        roles = [name for name in ROLES if self.has(name)]
        return f"<Data: {', '.join(roles)}>"

    def __add__(self, other: Data) -> Data:
        if not isinstance(other, Data):
            return NotImplemented
        return Data(self.counted + other.counted)

    def __radd__(self, other: Any) -> Data:
        return self if other == 0 else NotImplemented  # as the built-in sum begins with 0

    @cached_property
    def counted(self) -> Evidence:
        """All summaries that the rows allow, counted once."""
        from evenhand._data import counted, rows, tables

        data = self._resolved
        if isinstance(data.y_true, Evidence):
            return data.y_true
        if isinstance(data.y_true, Tally):
            return counted.from_tally(data.y_true, data)
        if isinstance(data.y_true, Source):
            raise InputTypeError(
                f"A {type(data.y_true).__name__} answers criteria one by one; to audit, pass the "
                "columns."
            )
        if data.sensitive_features is None:
            raise InputTypeError("Pass sensitive_features, the columns that name the groups.")
        if data.query is not None:
            read = tables.lists_from_table if data.is_table else rows.evidence_of_lists
            return read(data)
        if data.is_table:
            return tables.evidence_from_table(data)
        for name in OF_TABLES:
            if getattr(data, name) is not None:
                raise InputTypeError(
                    f"{name}= is about a table: pass it as data=, and name columns."
                )
        if data.is_random:
            return Data(
                data.tally(),
                sensitive_features=list(data._groups.names),
                favorable=data.favorable,
                task=data.task,
            ).counted
        return rows.evidence_from_rows(data)

    def source(self, needs: str, loss: Callable[[Any, Any], Any] | None = None) -> Source:
        """The summary of the rows that a statistic reads.

        Parameters
        ----------
        needs : str
            Its kind: "labels", "moments", "ranks", …
        loss : callable, optional
            A function (y_true, y_pred) that gives a loss for each row.

        Returns
        -------
        Tally, Distribution or RankedScores
            The summary.

        """
        if isinstance(self.y_true, Source):
            return self.y_true
        data = self._resolved
        summed = data.query is not None or (data.is_table and loss is None)
        if isinstance(data.y_true, Evidence) or summed:
            return data._summary(needs)
        if data.is_random and KINDS[needs].about == "labels":
            return data.tally()
        if data.is_table:
            data = data._with_columns()
        return KINDS[needs].summarize(data._rows(loss))

    def tally(self, sums: Mapping[str, Any] | None = None, digits: int | None = None) -> Tally:
        """The counts of labels, or for numbers and rankings the sums of values, by group.

        Parameters
        ----------
        sums : mapping of str to array-like or name of a column, optional
            Further columns of numbers to add up in each cell, by name.
        digits : int, optional
            To how many decimals a column of rates was rounded.

        Returns
        -------
        Tally
            Counts that add up.

        """
        from evenhand._data import counting, table_tallies

        data = self._resolved
        if isinstance(data.y_true, Tally):
            return data.y_true
        if isinstance(data.y_true, Summary):
            return data.counted.counted
        cuts = data.y_pred is None and data.threshold is not None
        if data.is_table and data.rows is None and cuts:
            data = data._with_columns()  # scores are cut row by row
        columns: dict[str, Any] = {
            name: getattr(data, name)
            for name in ("sensitive_features", "sample_weight", "strata", "cluster")
        }
        if data.sensitive_features is None:
            raise InputError("Pass sensitive_features, the columns that name the groups.")
        if data.query is not None:
            return data.counted.counted
        if data.is_table:
            if data.rows is not None or data.task != "regression":
                return table_tallies.tally_table(data, sums, digits)
            sums_by_group = data.counted.sources["moments"]
            assert isinstance(sums_by_group, Tally)
            return sums_by_group
        check_order(y_true=data.y_true, y_pred=data.y_pred, **columns)
        columns["sensitive_features"] = data._groups
        if data.is_random:
            return counting.expected_tally(
                data.y_true,
                data.y_pred,
                classes=() if data.classes is None else data.classes,
                sensitive_features=data._groups,
                sample_weight=data.sample_weight,
            )
        if data.task == "regression":
            columns.pop("strata")
            return counting.moments(data.y_true, data.y_pred, **columns)
        return counting.tally_columns(data.y_true, data._decisions, **columns, sums=sums)

    def has(self, name: str) -> bool:
        """Whether an argument other than the default was passed for a role.

        Parameters
        ----------
        name : str
            The role.

        Returns
        -------
        bool
            Whether it was.

        """
        value, default = getattr(self, name), ROLES[name].default
        return not (value is default or (isinstance(value, str | int) and value == default))

    @property
    def is_unknown(self) -> bool:
        """Whether groups are given as probabilities, or missing ones count as unknown."""
        return isinstance(self.sensitive_features, Probable) or self._may_be_any

    @property
    def _may_be_any(self) -> bool:
        return isinstance(self.missing, str) and self.missing == "unknown"

    @property
    def is_counted(self) -> bool:
        """Whether the data are counts, not rows."""
        return isinstance(self.y_true, Summary)

    @property
    def is_table(self) -> bool:
        """Whether all columns are named, so that the table's own engine can count."""
        return self.data is not None and all(
            _is_names(value, self.data)
            for name, role in ROLES.items()
            if role.is_column and (value := getattr(self, name)) is not None
        )

    @property
    def is_random(self) -> bool:
        """Whether the predictions are probabilities of random decisions."""
        return self.classes is not None and np.ndim(self.y_pred) == 2

    @property
    def kind(self) -> str | None:
        """The library of the caller's dataframes."""
        return kind_of(self.data, self.sensitive_features, self.y_pred, self.y_true)

    @property
    def model(self) -> str | None:
        """Name of the estimator's class, if any; of a pipeline, those of its steps."""
        if not _is_model(self.y_pred):
            return None
        steps = [step for _, step in getattr(self.y_pred, "steps", [])] or [self.y_pred]
        return " → ".join(type(step).__name__ for step in steps)

    def columns(self, *names: str) -> dict[str, Any]:
        """Columns by role, for analyses of single rows.

        Parameters
        ----------
        *names : str
            Their roles.

        Returns
        -------
        dict of str to array-like
            The columns, by role.

        """
        data = self._resolved
        if data.is_table:
            data = data._with_columns()
        values = {name: getattr(data, name) for name in names}
        if "sensitive_features" in values:
            values["sensitive_features"] = data._sensitive
        return values

    def in_memory(self, *more: str, whole: bool = False) -> Data:
        """The same with a lazy query or database table fetched, once: its rows keep their places.

        Parameters
        ----------
        *more : str
            Columns to fetch in addition to those with a role.
        whole : bool, default False
            Whether every column is fetched, as for an estimator that predicts.

        Returns
        -------
        Data
            The same, where there is no such table.

        """
        if self.data is None or is_frame(self.data) or not is_table(self.data):
            return self
        from evenhand._data.group_by import read_table

        roles = [getattr(self, name) for name, role in ROLES.items() if role.is_column]
        whole = whole or any(_is_model(value) for value in roles)
        names = [*more]
        if self.replicate_weights is not None:
            roles.remove(self.replicate_weights)
            names += replicate_columns(self.replicate_weights)
        for value in roles:
            if isinstance(value, Probable):
                names += value.names
            elif _is_names(value):
                names += [value] if isinstance(value, str) else list(value or ())
        query = read_table(self.data, names)
        fetched = (query if whole else query.select(*dict.fromkeys(names))).collect()
        return replace(self, data=fetched.to_native())

    @cached_property
    def _resolved(self) -> Data:
        """The same with predictions of the estimator, and columns in place of names in part."""
        if _is_model(self.y_pred):
            return self.in_memory()._with_predictions()
        if self.data is None or self.is_table:
            return self
        return self._with_columns()

    @cached_property
    def _groups(self) -> Groups:
        if self.sensitive_features is None:
            raise InputError("Pass sensitive_features: the column or columns that name the groups.")
        return grouped(self)

    @property
    def _decisions(self) -> Any:
        """The decisions: `y_pred`, or else the score cut at the threshold."""
        from evenhand._data.rows import cut_scores

        if self.y_pred is not None or self.threshold is None:
            return self.y_pred
        of = (self.score_of, self.favorable)
        return cut_scores(self.y_true, self.y_score, self.threshold, *of).column

    @property
    def _sensitive(self) -> Any:
        """The sensitive columns; as groups, if any value is binned, missing or rare."""
        plain = self.bins is None and self.missing == "error" and self.min_count == 0
        return self.sensitive_features if plain and self.rare == "keep" else self._groups

    def _rows(self, loss: Callable[[Any, Any], Any] | None) -> Rows:
        return Rows(
            self.y_true,
            self._decisions,
            sensitive_features=self._sensitive,
            sample_weight=self.sample_weight,
            y_score=self.y_score,
            score_of=self.score_of,
            strata=self.strata,
            cluster=self.cluster,
            classes=self.classes,
            favorable=self.favorable,
            loss=loss,
        )

    def _summary(self, needs: str) -> Source:
        """A summary of a table, or of counts that were added up."""
        kind, data = KINDS[needs], self
        if self.is_table and self.query is None:
            of_numbers = kind.about == "numbers" and self.y_score is None
            if kind.counts_decisions and (self.y_pred is not None or self.rate is not None):
                data = replace(self, y_score=None, score_of=None)
            if of_numbers:
                data = replace(data, task="regression")
        source = data.counted.sources.get(needs)
        if source is None:
            raise InputError(f"The data lack {kind.hint}: this criterion reads {kind.columns}.")
        return source

    def _with_columns(self) -> Data:
        """The same with columns of the table in place of their names."""
        columns, table = {}, self.in_memory().data
        for name, role in ROLES.items():
            value = getattr(self, name)
            if name == "replicate_weights" or not role.is_column or value is None:
                continue
            if _is_names(value, self.data):
                columns[name] = columns_of(table, value, several=role.is_several)
        if self.replicate_weights is not None or self.replicate_method is not None:
            scale = replicate_scales(self)
            columns["sample_weight"] = survey_weights(
                columns["sample_weight"],
                replicate_weights=np.column_stack(
                    [np.asarray(column_of(table, name)) for name in scale]
                ),
                scale=list(scale.values()),
            )
            columns |= {"replicate_weights": None, "replicate_method": None}
        return replace(self, data=None, **columns)

    def _with_predictions(self) -> Data:
        """The same with the predictions and scores of the estimator."""
        from evenhand._data.models import features_for, scored_by

        model, X = self.y_pred, self.data
        if X is None:
            raise InputTypeError(
                f"A {type(model).__name__} predicts from data=, the rows' features; pass them."
            )
        looked_up = replace(self, y_pred=None)._with_columns()
        X = features_for(model, X, self.y_true)
        labels, scored = getattr(model, "classes_", None), {}
        if labels is not None and self.y_score is None and hasattr(model, "predict_proba"):
            label = self.favorable if self.score_of is None else self.score_of
            scored = scored_by(model, X, label)
        task = self.task
        if task is None:
            task = (
                "regression" if labels is None else "binary" if len(labels) <= 2 else "multiclass"
            )
        decided = None if self.threshold is not None else model.predict(X)
        return replace(looked_up, y_pred=decided, task=task, **scored)

    def _check_alone(self) -> None:
        """Refuse columns next to counts, which were counted without them."""
        fits = ["y_true", *BESIDE_COUNTS, *(["missing"] if self._may_be_any else [])]
        extra = [name for name in ROLES if name not in fits and self.has(name)]
        if not _is_names(self.sensitive_features):
            extra.append("sensitive_features")
        if extra:
            hint = " A measure is passed as measure=." if _is_measure(self.y_pred) else ""
            raise InputTypeError(
                f"A {type(self.y_true).__name__} already holds the columns; drop "
                f"{', '.join(extra)}, or count them with the rows.{hint}"
            )


Summary = Source | Evidence
documented(roles="\n".join(role.entry for role in ROLES.values()))(Data)


def columns_of(table: Any, names: Any, *, several: bool) -> Any:
    """Columns of a table by name: one, or a mapping of them if there may be several."""
    listed = list(names) if isinstance(names, list | tuple) else [names]
    columns = {str(name): column_of(table, name) for name in listed}
    return columns if several else columns[str(listed[0])]


def _is_names(value: Any, table: Any = None) -> bool:
    """Whether a value names columns, rather than being one; None names none.

    A list of text could be either: with a dataframe it is names if these are its columns. Columns
    of an array are named by their position.
    """
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return table is not None
    if not isinstance(value, list | tuple):
        return value is None or isinstance(value, str)
    if not value or not all(isinstance(name, str | int) for name in value):
        return False
    if table is None or not is_frame(table) or len(value) != rows_in(table):
        return True
    return set(value) <= set(names_in(table))


def _is_measure(value: Any) -> bool:
    return isinstance(value, str) or (callable(value) and not _is_model(value))


def _is_model(value: Any) -> bool:
    return callable(getattr(value, "predict", None))
