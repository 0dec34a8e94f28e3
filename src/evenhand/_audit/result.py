"""The result of an audit: findings, groups, views, curves, and the forms it can take."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, overload

from evenhand import report
from evenhand._audit.document import document, rows_of
from evenhand._audit.finding import Finding, Measured
from evenhand._audit.parts import AuditParts
from evenhand._audit.summary import first_finding, names_of, summary, table_of
from evenhand._columns import Label
from evenhand._data.dataframes import framed
from evenhand._data.evidence import part_of
from evenhand._data.groups import show
from evenhand._errors import InputError, InputTypeError
from evenhand._kinds import check_names
from evenhand._result import Columns, Page, Result
from evenhand._words import did_you_mean, visible
from evenhand._writing import written
from evenhand.criteria.evaluation import named

if TYPE_CHECKING:
    from evenhand._why import Account

PLAIN = {str, int, float, bool}
GROUP_COLUMNS = ("cell", "group", "rows", "values", "low", "high", "pooled")
SUBGROUP_COLUMNS = (
    *("columns", "label", "rows", "statistic", "value", "rest", "difference", "at_least"),
    *("people", "flagged", "too_few"),
)
COLUMNS = (
    "criterion",
    "measure",
    "aggregate",
    "transform",
    "value",
    "low",
    "high",
    "p_value",
    "p_error",
    "p_adjusted",
    "verdict",
    "tolerance",
    "judged",
)


@dataclass(frozen=True, eq=False, repr=False)
class Audit(AuditParts, Result):
    """Whether a model treats groups differently, by how much, and which groups.

    Made by `audit`.

    Attributes
    ----------
    evidence : Evidence
        What was counted of the rows: task, groups, classes and summaries.
    findings : tuple of Finding
        What was found of each criterion; `finding(criterion)` is one of them.
    group_values : tuple of GroupValues
        The groups' own values and intervals, by criterion.
    views : tuple of View
        The criteria by each sensitive column and combination, where there are several.
    subgroups : tuple of Subgroup
        Who differs most clearly from the rest.
    thresholds, levels : Thresholds, Levels or None
        The criteria along the cut points of a score, and the groups' distributions.
    notes : tuple of str
        What was left out, merged or assumed.
    title : str or None
        The title of reports.
    confidence : float
        Of each interval.
    margin : float or None
        The difference that counts as alike, where it was stated.
    control : {"familywise", "false_discovery"}
        Which error of the scan of subgroups is at most 1 − confidence.
    choices : int
        How many views the p-values allow for.
    kind : str or None
        Which library's dataframes `by_group` and `to_frame` give.
    model : str or None
        The name of the model, where it is known.
    date : str
        The day of the audit.

    """

    @property
    def summary(self) -> str:
        """The audit in a sentence or two, with the number of rows."""
        parts = summary(self)
        return f"{parts['sentence']} {parts['about']}"

    @property
    def by_group(self) -> Any:
        """The groups × metrics, as a dataframe of the caller's library, by default pandas.

        A row for each group, with a column for each sensitive column (the index, in pandas). For
        classes: "n", "base_rate", "selection_rate", "true_positive_rate", "false_positive_rate",
        "precision" and "accuracy"; the rates are those of the favorable class. For three to eight
        classes without a named favorable one: "n", "accuracy" and, for each class,
        "selection_rate(…)", the share predicted to be of that class; where there are more classes,
        the rates of the one in which the groups differ most clearly. For a regression: "n",
        "mean_prediction", "mean_target", "mean_error", "mae", "rmse" and "r2". Without the truth,
        only metrics that need none. Rows are counted, rates and means are weighted.

        Examples
        --------
        >>> import evenhand
        >>> columns = [1, 0, 1, 0] * 25, [1, 0, 1, 1] * 25
        >>> asked = {"sensitive_features": ["F", "F", "M", "M"] * 25, "criteria": "error_parity"}
        >>> evenhand.audit(*columns, **asked).by_group[["n", "selection_rate", "accuracy"]]
                n  selection_rate  accuracy
        group
        F      50             0.5       1.0
        M      50             1.0       0.5

        """
        table, columns = table_of(self), self.evidence.columns
        keys = {
            name: _parts([part_of(label, i, len(columns)) for label in table.groups])
            for i, name in enumerate(columns)
        }
        values = {
            metric.key: row.tolist()
            for metric, row in zip(table.metrics, table.values, strict=True)
        }
        metric_columns = {
            f"{name} (metric)" if name in keys else name: row for name, row in values.items()
        }
        count = "n (metric)" if "n" in keys else "n"
        frame = framed({**keys, count: table.rows.tolist(), **metric_columns}, self.kind)
        return frame.set_index(list(columns)) if (self.kind or "pandas") == "pandas" else frame

    @property
    def measured(self) -> tuple[Measured, ...]:
        """The values of all findings, by every measure."""
        return tuple(value for finding in self.findings for value in finding.values.values())

    @overload
    def finding(self, criterion: str) -> Finding: ...

    @overload
    def finding(self, criterion: str, measure: str) -> Measured: ...

    def finding(self, criterion: str, measure: str | None = None) -> Finding | Measured:
        """The finding on a criterion; or its value by one measure.

        Parameters
        ----------
        criterion : str
            The criterion's name, or another that the field has for it.
        measure : str, optional
            A measure that was asked for.

        Returns
        -------
        Finding or Measured
            The finding; with a measure, the value with its interval.

        Raises
        ------
        InputError
            If it was not asked.

        """
        check_names(criterion=criterion)
        names = {criterion}
        with suppress(InputError):  # an audit may have custom criteria
            names.add(named(criterion, self.evidence.task).name)
        for finding in self.findings:
            if finding.criterion in names:
                return finding if measure is None else finding[measure]
        available = [finding.criterion for finding in self.findings]
        raise InputError(
            f"The audit has no finding {criterion!r}; it has {available}."
            f"{did_you_mean(criterion, available)}"
        )

    def explain(
        self, criterion: str | None = None, *, between: Sequence[Label] | None = None
    ) -> Account:
        """Why two groups differ: their gap in parts that add up to it, from the counts alone.

        Parameters
        ----------
        criterion : str, optional
            Which gap; by default that of the first finding.
        between : pair of labels, optional
            The two groups; by default those with the highest and the lowest value.

        Returns
        -------
        Account
            By the audit's strata, if it was given any; else by true outcomes and decisions.
            `evenhand.explain` takes explaining columns.

        Raises
        ------
        InputError
            If the counts do not tell.

        Examples
        --------
        >>> import evenhand
        >>> truth, predicted = [1, 0, 1, 0] * 25, [1, 0, 1, 1] * 25
        >>> found = evenhand.audit(truth, predicted, sensitive_features=["F", "F", "M", "M"] * 25)
        >>> round(found.explain().part("false_positive").value, 3)
        0.5

        """
        from evenhand._audit.why import explained

        name = first_finding(self).criterion if criterion is None else criterion
        check_names(criterion=name)
        return explained(
            self.evidence,
            name,
            names_of(self),
            between=between,
            confidence=self.confidence,
            kind=self.kind,
        )

    def explore(self, path: str | Path | None = None) -> Page:
        """A page to combine and compare groups, and to move a threshold.

        A notebook shows it in place. The page holds counts and no rows, and works without a server;
        below them is the report. `evenhand app` shows the same of a file.

        Parameters
        ----------
        path : str or Path, optional
            Where to write it.

        Returns
        -------
        str
            HTML.

        Raises
        ------
        InputError
            If it is about a ranking, or there are more than 2,000 groups.

        Examples
        --------
        >>> import evenhand
        >>> truth, predicted = [1, 0, 1, 0] * 25, [1, 0, 1, 1] * 25
        >>> found = evenhand.audit(truth, predicted, sensitive_features=["F", "F", "M", "M"] * 25)
        >>> "Explore the groups" in found.explore()
        True

        """
        from evenhand._audit.explore import MOST_GROUPS, counts_document

        counts = counts_document(self.evidence)
        if counts is None:
            raise InputError(
                f"A page explores the counts of up to {MOST_GROUPS:,} groups, and no rankings; "
                "to_html writes the report."
            )
        return Page(written(report.explored(self.document(), counts), path))

    def document(
        self, *, standard: str | None = None, stated: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Everything as plain JSON values, by the schema "evenhand.audit/4".

        Parameters
        ----------
        standard : str, optional
            The document of a standard's page instead, by the schema "evenhand.standard/2".
        stated : mapping, optional
            As of `to_html`.

        Returns
        -------
        dict
            JSON values; undefined numbers are None.

        """
        if standard is None:
            return document(self)
        from evenhand._audit.standard import filled_in

        return filled_in(self, standard, stated)

    def to_json(
        self,
        path: str | Path | None = None,
        *,
        standard: str | None = None,
        stated: Mapping[str, Any] | None = None,
    ) -> str:
        """The document as JSON text, written to a file if one is named.

        Parameters
        ----------
        path : str or Path, optional
            Where to write it.
        standard : str, optional
            The document of a standard's page instead.
        stated : mapping, optional
            As of `to_html`.

        Returns
        -------
        str
            JSON.

        """
        content = self.document(standard=standard, stated=stated)
        return written(json.dumps(content, ensure_ascii=False, allow_nan=False), path)

    def to_csv(
        self,
        path: str | Path | None = None,
        *,
        standard: str,
        stated: Mapping[str, Any] | None = None,
    ) -> str:
        r"""The tables of a standard's page as CSV, under one head.

        Parameters
        ----------
        path : str or Path, optional
            Where to write it.
        standard : str
            A name in `STANDARDS`.
        stated : mapping, optional
            As of `to_html`.

        Returns
        -------
        str
            A line for each row of each table; "table" says which, and intervals are two columns.

        Examples
        --------
        >>> import evenhand
        >>> selected = [1] * 30 + [0] * 20 + [1] * 20 + [0] * 30
        >>> found = evenhand.audit(None, selected, sensitive_features=["M"] * 50 + ["F"] * 50)
        >>> lines = found.to_csv(standard="nyc-ll144", stated={"intervals": False}).splitlines()
        >>> print(*lines, sep="\n")
        table,category,people,hits,rate,impact_ratio
        By group,F,50,20,0.4,0.6666666666666667
        By group,M,50,30,0.6,1.0

        """
        from evenhand.standards.tables import as_csv

        check_names(standard=standard)
        content = self.document(standard=standard, stated=stated)
        return written(as_csv(content["tables"]), path)

    def to_model_card(
        self,
        path: str | Path | None = None,
        *,
        model: str | None = None,
        dataset: str | None = None,
    ) -> str:
        """A section for a model card, with the metadata that Hugging Face reads.

        Parameters
        ----------
        path : str or Path, optional
            Where to write it.
        model : str, optional
            The name of the model; by default that of the audited estimator.
        dataset : str, optional
            The name of the data that it was audited on; by default the title of the audit.

        Returns
        -------
        str
            A YAML block ("model-index", with the largest difference of each criterion and its
            interval), then Markdown: the summary, the groups × metrics, and the criteria.

        Examples
        --------
        >>> import evenhand
        >>> columns = [1, 0, 1, 0] * 25, [1, 0, 1, 1] * 25
        >>> asked = {"sensitive_features": ["F", "F", "M", "M"] * 25, "criteria": "error_parity"}
        >>> found = evenhand.audit(*columns, **asked)
        >>> print(found.to_model_card(model="screening")[:38])
        ---
        model-index:
        - name: "screening"

        """
        from evenhand._audit.model_card import model_card

        return written(model_card(self.document(), model, dataset), path)

    def to_html(
        self,
        path: str | Path | None = None,
        *,
        standard: str | None = None,
        stated: Mapping[str, Any] | None = None,
    ) -> str:
        """A page that opens offline, with charts; needs the extra "report".

        Parameters
        ----------
        path : str or Path, optional
            Where to write it.
        standard : str, optional
            A name in `STANDARDS`: the page that this rule asks for, ready to print, instead.
        stated : mapping, optional
            What a person states on that page, by the names of the standard's `options`; what is
            not stated is left blank to be filled in.

        Returns
        -------
        str
            HTML.

        Raises
        ------
        InputError
            If there is no such standard or option, or the audit lacks what the standard needs.

        """
        if standard is not None:
            return written(report.page(self.document(standard=standard, stated=stated)), path)
        if stated is not None:
            raise InputTypeError("stated is for the page of a standard: name it by standard=.")
        return written(report.page(self.document()), path)

    def by_group_frame(self, criterion: str) -> Any:
        """The groups' values of a criterion, with intervals, as a dataframe."""
        name = self.finding(criterion).criterion
        return framed(_group_values(self, [name]), self.kind)

    @property
    def _tables(self) -> Sequence[str]:
        return "findings", "groups", "subgroups"

    def _table(self, name: str) -> Columns:
        if name == "findings":
            return {name: [row[name] for row in rows_of(self.findings)] for name in COLUMNS}
        if name == "groups":
            names = [entry.criterion for entry in self.group_values]
            values = [_group_values(self, [name]) for name in names]
            criterion = [
                name for name, part in zip(names, values, strict=True) for _ in part["cell"]
            ]
            return {
                "criterion": criterion,
                **{key: [v for part in values for v in part[key]] for key in GROUP_COLUMNS},
            }
        subgroups = self.document()["subgroups"]
        return {key: [_cell(subgroup[key]) for subgroup in subgroups] for key in SUBGROUP_COLUMNS}

    def __repr__(self) -> str:
        parts = summary(self)
        differ = sum(finding.verdict == "differs" for finding in self.findings)
        head = f"<Audit: the groups differ on {differ} of {len(self.findings)} criteria>"
        return visible("\n".join([head, *wrap(f"{parts['sentence']} {parts['about']}", 88)]))


def _group_values(audit: AuditParts, names: Sequence[str]) -> dict[str, list[Any]]:
    """The groups' values of criteria in every cell, with intervals, as columns."""
    columns: dict[str, list[Any]] = {key: [] for key in GROUP_COLUMNS}
    for values in (places for places in audit.group_values if places.criterion in names):
        places = [(i, j) for i in range(len(values.cells)) for j in range(len(values.groups))]
        columns["cell"] += [show(values.cells[i]) for i, _ in places]
        columns["group"] += [show(values.groups[j]) for _, j in places]
        columns["rows"] += [int(audit.evidence.rows[j]) for _, j in places]
        for name in ("values", "low", "high", "pooled"):
            columns[name] += [float(getattr(values, name)[at]) for at in places]
    return columns


def _cell(value: Any) -> Any:
    return " × ".join(value) if isinstance(value, list) else value


def _parts(labels: list[Label]) -> list[Any]:
    """Labels as they are if all have one plain type, else as text."""
    kinds = {type(label) for label in labels}
    return list(labels) if len(kinds) == 1 and kinds <= PLAIN else [show(part) for part in labels]
