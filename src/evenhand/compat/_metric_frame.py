"""Metrics by group and overall, with differences and ratios, as in fairlearn."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from evenhand._audit import Audit, audit
from evenhand._columns import Label
from evenhand._columns.encoding import check_order
from evenhand._errors import InputError
from evenhand.compat._base_metrics import column, unequal_lengths
from evenhand.compat._bootstrap import check_bootstrap, quantiles, resampled
from evenhand.compat._disaggregation import Disaggregated, Sample, read_metrics
from evenhand.compat._features import check_names, pandas, read_features
from evenhand.compat._reductions import Errors, Method, difference, extreme, ratio
from evenhand.criteria import Criterion


class MetricFrame:
    """Metrics by group and overall, with differences and ratios.

    It has the arguments and results of `fairlearn.metrics.MetricFrame`: the same numbers, in the
    same pandas objects. Metrics that need only counts or sums are read from one tally of all
    groups: the metrics of this module, and scikit-learn's accuracy, zero-one loss, balanced
    accuracy, precision, recall, F1 and mean absolute or squared error, by themselves or with
    `pos_label` and `zero_division` bound by `functools.partial`. Any other function is called for
    each group.

    Parameters
    ----------
    metrics : callable or dict of str to callable
        Functions of (y_true, y_pred) and of what `sample_params` has for them. A dict, even of one
        function, gives series and dataframes where a function alone gives numbers and series.
    y_true : array-like
        True labels or values.
    y_pred : array-like
        Predicted labels or values.
    sensitive_features : array-like, dict of columns, pandas.Series or pandas.DataFrame
        The column or columns that name the groups; several are intersected.
    control_features : array-like, dict of columns, pandas.Series or pandas.DataFrame, optional
        Columns within whose levels groups are compared; there is an overall value for each level.
    sample_params : dict, optional
        Further columns of a metric, by argument: {"sample_weight": weights}; with a dict
        of metrics, one such dict for each name.
    n_boot : int, optional
        How many bootstrap samples to draw, together with `ci_quantiles`.
    ci_quantiles : list of float, optional
        Which quantiles over the bootstrap samples to keep.
    random_state : int or numpy.random.RandomState, optional
        Seed of the bootstrap samples.

    See Also
    --------
    evenhand.audit : Says whether the differences are more than chance, and which groups differ.

    Notes
    -----
    Where a group has no positive rows, its true positive rate is 0 here, because it is in
    fairlearn; everywhere else in evenhand it is not defined, and the group is named.

    Examples
    --------
    >>> from evenhand.compat.fairlearn import MetricFrame, count, selection_rate
    >>> frame = MetricFrame(
    ...     metrics={"selected": selection_rate, "rows": count},
    ...     y_true=[1, 1, 0, 1, 0, 0],
    ...     y_pred=[1, 1, 0, 1, 0, 0],
    ...     sensitive_features=["a", "a", "a", "b", "b", "b"],
    ... )
    >>> frame.by_group
                         selected  rows
    sensitive_feature_0
    a                    0.666667   3.0
    b                    0.333333   3.0
    >>> print(frame.difference()["selected"].round(3), frame.ratio()["selected"])
    0.333 0.5

    """

    def __init__(
        self,
        *,
        metrics: Callable[..., Any] | dict[str, Callable[..., Any]],
        y_true: Any,
        y_pred: Any,
        sensitive_features: Any,
        control_features: Any = None,
        sample_params: dict[str, Any] | dict[str, dict[str, Any]] | None = None,
        n_boot: int | None = None,
        ci_quantiles: list[float] | None = None,
        random_state: Any = None,
    ) -> None:
        pandas()
        check_order(
            y_true=y_true,
            y_pred=y_pred,
            sensitive_features=sensitive_features,
            control_features=control_features,
            sample_params=sample_params,
        )
        truth, predicted = column(y_true), column(y_pred)
        rows = len(truth)
        if rows != len(predicted):
            raise unequal_lengths(y_true=rows, y_pred=len(predicted))
        sensitive = read_features(sensitive_features, "sensitive_feature_", rows)
        control = []
        if control_features is not None:
            control = read_features(control_features, "control_feature_", rows)
        check_names([*sensitive, *control])
        self._control_levels = [feature.name for feature in control] or None
        self._alone = not isinstance(metrics, dict)
        self._sample = Sample(
            truth,
            predicted,
            read_metrics(metrics, sample_params, rows),
            control,
            sensitive,
        )
        self._result = self._sample.disaggregate()
        self._n_boot, self._ci_quantiles = n_boot, ci_quantiles
        self._resamples: list[Disaggregated] = []
        if check_bootstrap(n_boot, ci_quantiles) and n_boot is not None:
            self._resamples = resampled(self._sample, n_boot, random_state)
            # Metrics without quantiles are refused here, not on first use.
            quantiles([self._resamples[0].overall] * 2, ci_quantiles or ())

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """Fairlearn's class if fairlearn is loaded, so that its plots accept this frame."""
        fairlearn = sys.modules.get("fairlearn.metrics")
        return type(self) if fairlearn is None else fairlearn.MetricFrame

    def __reduce__(self) -> Any:
        """Copy and pickle as this class, not as fairlearn's."""
        return _remade, (vars(self),)

    @property
    def overall(self) -> Any:
        """Metrics of all rows, or of the rows at each level of the control features.

        Returns
        -------
        number, pandas.Series or pandas.DataFrame
            A number for one function, a series for a dict; with control features, a series or a
            dataframe by their levels.

        """
        return self._shaped(self._result.overall)

    @property
    def by_group(self) -> Any:
        """Metrics of each group; NaN where a combination of levels has no rows.

        Returns
        -------
        pandas.Series or pandas.DataFrame
            A series for one function, a dataframe for a dict; indexed by the control features
            and then the sensitive ones.

        """
        table = self._result.by_group
        return table.iloc[:, 0] if self._alone else table

    @property
    def control_levels(self) -> list[str] | None:
        """Names of the control features, which are levels of the index; None if there are none.

        Returns
        -------
        list of str or None
            The names.

        """
        return self._control_levels

    @property
    def sensitive_levels(self) -> list[str]:
        """Names of the sensitive features, which are levels of the index.

        Returns
        -------
        list of str
            The names.

        """
        return [feature.name for feature in self._sample.sensitive]

    @property
    def ci_quantiles(self) -> list[float] | None:
        """The requested quantiles over bootstrap samples.

        Returns
        -------
        list of float or None
            As given.

        """
        return self._ci_quantiles

    @property
    def n_boot(self) -> int | None:
        """The requested number of bootstrap samples.

        Returns
        -------
        int or None
            As given.

        """
        return self._n_boot

    def group_min(self, errors: Errors = "raise") -> Any:
        """The smallest value of each metric over the groups.

        Parameters
        ----------
        errors : {"raise", "coerce"}, default "raise"
            Whether to refuse metrics that give more than a number, or to give NaN for them.

        Returns
        -------
        number, pandas.Series or pandas.DataFrame
            Of the shape of `overall`.

        """
        return self._shaped(extreme(self._result, "min", self._control_levels, errors))

    def group_max(self, errors: Errors = "raise") -> Any:
        """The largest value of each metric over the groups.

        Parameters
        ----------
        errors : {"raise", "coerce"}, default "raise"
            Whether to refuse metrics that give more than a number, or to give NaN for them.

        Returns
        -------
        number, pandas.Series or pandas.DataFrame
            Of the shape of `overall`.

        """
        return self._shaped(extreme(self._result, "max", self._control_levels, errors))

    def difference(self, method: Method = "between_groups", errors: Errors = "coerce") -> Any:
        """The largest absolute difference of each metric.

        Parameters
        ----------
        method : {"between_groups", "to_overall"}, default "between_groups"
            Between two groups, or between a group and all rows.
        errors : {"raise", "coerce"}, default "coerce"
            Whether to refuse metrics that give more than a number, or to give NaN for them.

        Returns
        -------
        number, pandas.Series or pandas.DataFrame
            Of the shape of `overall`.

        """
        return self._shaped(difference(self._result, self._control_levels, method, errors))

    def ratio(self, method: Method = "between_groups", errors: Errors = "coerce") -> Any:
        """The smallest ratio of each metric, at most 1.

        Parameters
        ----------
        method : {"between_groups", "to_overall"}, default "between_groups"
            Between two groups, or between a group and all rows.
        errors : {"raise", "coerce"}, default "coerce"
            Whether to refuse metrics that give more than a number, or to give NaN for them.

        Returns
        -------
        number, pandas.Series or pandas.DataFrame
            Of the shape of `overall`.

        """
        return self._shaped(ratio(self._result, self._control_levels, method, errors))

    @property
    def overall_ci(self) -> list[Any]:
        """Quantiles of `overall` over the bootstrap samples.

        Returns
        -------
        list
            One entry for each of `ci_quantiles`.

        """
        return self._quantiles(lambda result: result.overall)

    @property
    def by_group_ci(self) -> list[Any]:
        """Quantiles of `by_group` over the bootstrap samples.

        Returns
        -------
        list of pandas.Series or pandas.DataFrame
            One entry for each of `ci_quantiles`.

        """
        self._check_bootstrap()
        tables = quantiles(
            [result.by_group for result in self._resamples], self._ci_quantiles or ()
        )
        return [table.iloc[:, 0] if self._alone else table for table in tables]

    def group_min_ci(self) -> list[Any]:
        """Quantiles of `group_min` over the bootstrap samples.

        Returns
        -------
        list
            One entry for each of `ci_quantiles`.

        """
        return self._quantiles(lambda result: extreme(result, "min", self._control_levels, "raise"))

    def group_max_ci(self) -> list[Any]:
        """Quantiles of `group_max` over the bootstrap samples.

        Returns
        -------
        list
            One entry for each of `ci_quantiles`.

        """
        return self._quantiles(lambda result: extreme(result, "max", self._control_levels, "raise"))

    def difference_ci(self, method: Method = "between_groups") -> list[Any]:
        """Quantiles of `difference` over the bootstrap samples.

        Parameters
        ----------
        method : {"between_groups", "to_overall"}, default "between_groups"
            Between two groups, or between a group and all rows.

        Returns
        -------
        list
            One entry for each of `ci_quantiles`.

        """
        levels = self._control_levels
        return self._quantiles(lambda result: difference(result, levels, method, "raise"))

    def ratio_ci(self, method: Method = "between_groups") -> list[Any]:
        """Quantiles of `ratio` over the bootstrap samples.

        Parameters
        ----------
        method : {"between_groups", "to_overall"}, default "between_groups"
            Between two groups, or between a group and all rows.

        Returns
        -------
        list
            One entry for each of `ci_quantiles`.

        """
        levels = self._control_levels
        return self._quantiles(lambda result: ratio(result, levels, method, "raise"))

    def audit(
        self,
        *,
        sample_weight: Any = None,
        favorable: Label = None,
        criteria: str | Criterion | Sequence[str | Criterion] | None = None,
        title: str | None = None,
    ) -> Audit:
        """Audit the same rows: which differences are significant, and between which groups.

        Parameters
        ----------
        sample_weight : array-like, optional
            Weights of the rows; those in `sample_params` are of single metrics, and not used.
        favorable : label, optional
            The label of the better outcome for people; of 0 and 1 the second is assumed.
        criteria : sequence of str or Criterion, optional
            By default all that fit.
        title : str, optional
            Of the report.

        Returns
        -------
        Audit
            Findings with tests and intervals, and a report: `evenhand.audit` of truth, prediction
            and sensitive features, with the control features as strata.

        """
        strata = {feature.name: feature.column for feature in self._sample.control}
        return audit(
            self._sample.y_true,
            self._sample.y_pred,
            sensitive_features={f.name: f.column for f in self._sample.sensitive},
            strata=strata or None,
            sample_weight=sample_weight,
            favorable=favorable,
            criteria=criteria,
            title=title,
        )

    def _shaped(self, values: Any) -> Any:
        """Reduce the result of a single function to a number, or a series by control features."""
        if not self._alone:
            return values
        return values.iloc[:, 0] if self._control_levels else values.iloc[0]

    def _quantiles(self, read: Callable[[Disaggregated], Any]) -> list[Any]:
        self._check_bootstrap()
        samples = [read(result) for result in self._resamples]
        return [self._shaped(values) for values in quantiles(samples, self._ci_quantiles or ())]

    def _check_bootstrap(self) -> None:
        if not self._resamples:
            raise InputError(
                "Could not compute confidence intervals: Bootstrapping parameters n_boot and "
                "ci_quantiles were not specified in the MetricFrame constructor.",
                "Pass both, or call audit(), whose intervals need no draws.",
            )


def _remade(state: dict[str, Any]) -> MetricFrame:
    frame = object.__new__(MetricFrame)
    vars(frame).update(state)
    return frame
