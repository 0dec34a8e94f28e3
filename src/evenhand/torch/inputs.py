"""Reading of a batch for the penalties: invalid input is refused, omitted rows have weight 0.

Values are checked once, by their minimum and maximum. On a GPU that synchronizes with the
predictions; in a compiled or recorded step, which cannot synchronize, the device itself stops the
program.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

import torch
from evenhand._errors import InputError, InputTypeError
from torch import Tensor

HALF = (torch.float16, torch.bfloat16)  # these cannot count beyond 2,048 and 256
UNSEEN = (
    "A batch of an evenhand penalty has predictions, weights, true values or groups that cannot be "
    "used; call the penalty on it without torch.compile and CUDA graphs to read which."
)


@dataclass(frozen=True, eq=False)
class TensorRows:
    """The columns of a batch: predictions are shares (rows, classes), or numbers (rows,)."""

    predictions: Tensor
    y_true: Tensor | None
    group: Tensor  # 0 for omitted rows
    weight: Tensor  # 0 for omitted rows
    counted: Tensor  # 1 for rows with positive weight, else 0


@dataclass(frozen=True, eq=False)
class Span:
    """The minimum and maximum of some values, and their allowed range."""

    name: str
    low: Tensor
    high: Tensor
    minimum: float
    maximum: float
    way_out: str

    @property
    def inside(self) -> Tensor:
        """Whether the values are in the allowed range; NaN is not."""
        return (self.low >= self.minimum) & (self.high <= self.maximum)

    def refuse(self, low: float, high: float) -> None:
        """Raise an error if values from `low` to `high` are not in the allowed range."""
        if self.minimum <= low and high <= self.maximum:
            return
        if isfinite(low) and isfinite(high):
            raise InputError(f"{self.name} runs from {low:.6g} to {high:.6g}. {self.way_out}")
        raise InputError(f"{self.name} has NaN or infinite values. {self.way_out}")


def read_rows(
    predictions: Tensor,
    y_true: Tensor | None,
    group: Tensor,
    sample_weight: Tensor | None,
    *,
    groups: int,
    of_labels: bool,
) -> TensorRows:
    """The rows of a batch, of labels or of numbers."""
    if not isinstance(predictions, torch.Tensor):
        raise InputTypeError(f"predictions is a {type(predictions).__name__}; pass a tensor.")
    precision = torch.finfo(predictions.dtype if predictions.is_floating_point() else torch.float32)
    values = _as_floats(predictions)
    values = as_shares(values) if of_labels else _as_numbers(values)
    columns = {"group": group, "y_true": y_true, "sample_weight": sample_weight}
    for name, column in columns.items():
        _check_column(name, column, values)
    if group.is_floating_point():
        raise InputTypeError(
            f"group has the dtype {group.dtype}; groups are whole numbers from 0: group.long()."
        )
    group = group.long()
    included = group >= 0
    counted = included.to(values.dtype)
    weight = counted
    if sample_weight is not None:
        weight = torch.where(included, sample_weight.to(values.dtype), 0.0)
        counted = (weight > 0).to(values.dtype)
    mask = included[:, None] if of_labels else included
    rows = TensorRows(
        torch.where(mask, values, 0.0), None, torch.where(included, group, 0), weight, counted
    )
    spans = [_group_span(group, groups, values)]
    limit = torch.finfo(values.dtype).max ** 0.24  # its fourth power is finite
    if of_labels:
        slack = max(1e-3, 4 * precision.eps)
        supplied = slice(int(predictions.ndim == 1 or predictions.shape[1] == 1), None)
        spans += _share_spans(rows.predictions[:, supplied], included, slack)
    else:
        spans += [_number_span("predictions", rows.predictions, limit)]
    if sample_weight is not None:
        spans += _weight_spans(weight, limit)
    if y_true is not None:
        truth = torch.where(included, y_true, 0)
        if of_labels:
            spans += _truth_spans(truth, values)
            truth = truth.long()
        else:
            truth = truth.to(values.dtype)
            spans += [_number_span("y_true", truth, limit)]
        rows = TensorRows(rows.predictions, truth, rows.group, weight, counted)
    if len(group):
        _refuse(spans)
    return rows


def as_shares(predictions: Tensor) -> Tensor:
    """Predictions with a column for each class."""
    if predictions.ndim == 1:
        return torch.stack([1 - predictions, predictions], dim=1)
    if predictions.ndim != 2 or not predictions.shape[1]:
        raise InputError(
            f"predictions has the shape {tuple(predictions.shape)}; it needs a row for each row of "
            "the data, and one column or one for each class."
        )
    if predictions.shape[1] == 1:
        return torch.cat([1 - predictions, predictions], dim=1)
    return predictions


def _as_numbers(predictions: Tensor) -> Tensor:
    if predictions.ndim == 2 and predictions.shape[1] == 1:
        return predictions[:, 0]
    if predictions.ndim != 1:
        raise InputError(
            f"predictions has the shape {tuple(predictions.shape)}; numbers are in one column."
        )
    return predictions


def _as_floats(predictions: Tensor) -> Tensor:
    if predictions.is_complex():
        raise InputTypeError("predictions are complex numbers; pass real ones.")
    if not predictions.is_floating_point():
        return predictions.to(torch.get_default_dtype())
    return predictions.float() if predictions.dtype in HALF else predictions


def _check_column(name: str, column: Any, values: Tensor) -> None:
    if column is None:
        if name == "group":
            raise InputError("Pass group: a tensor with the number of each row's group.")
        return
    if not isinstance(column, torch.Tensor):
        raise InputTypeError(f"{name} is a {type(column).__name__}; pass a tensor.")
    if column.shape != values.shape[:1]:
        raise InputError(
            f"{name} has the shape {tuple(column.shape)} and predictions {len(values)} rows; pass "
            f"a tensor of the shape ({len(values)},)."
        )
    if column.device != values.device:
        raise InputError(
            f"{name} is on {column.device} and predictions on {values.device}; move one of them: "
            f"{name}.to({str(values.device)!r})."
        )


def _refuse(spans: list[Span]) -> None:
    """Raise the error of the first span with values out of range; if compiled, stop the device."""
    device = spans[0].low.device
    if torch.compiler.is_compiling() or (
        device.type == "cuda" and torch.cuda.is_current_stream_capturing()
    ):
        torch._assert_async(torch.stack([span.inside for span in spans]).all(), UNSEEN)
        return
    ends = torch.stack([end for span in spans for end in (span.low, span.high)]).tolist()
    for span, low, high in zip(spans, ends[::2], ends[1::2], strict=True):
        span.refuse(low, high)


def _ends(values: Tensor) -> tuple[Tensor, Tensor]:
    if not values.numel():
        return (values.new_zeros(()),) * 2
    low, high = torch.aminmax(values.detach())
    return low, high


def _group_span(group: Tensor, groups: int, values: Tensor) -> Span:
    low, high = _ends(group)
    way_out = (
        f"With groups={groups} they are whole numbers from 0 to {groups - 1}; negative ones leave "
        "a row out."
    )
    low, high = low.to(values.dtype), high.to(values.dtype)
    return Span("group", low, high, -inf, groups - 1, way_out)


def _share_spans(shares: Tensor, included: Tensor, slack: float) -> list[Span]:
    """The spans of probabilities in the columns that were passed, and of their sums."""
    way_out = (
        "Pass probabilities between 0 and 1: logits.softmax(1) or logits.sigmoid(), not logits. A "
        "network that has diverged gives NaN."
    )
    spans = [Span("predictions", *_ends(shares), -slack, 1 + slack, way_out)]
    if shares.shape[1] > 1:
        total = torch.where(included, shares.detach().sum(1), 1.0)
        way_out = "The probabilities of a row add up to 1: logits.softmax(1)."
        name = "The sum of each row of predictions"
        spans += [Span(name, *_ends(total), 1 - slack, 1 + slack, way_out)]
    return spans


def _number_span(name: str, values: Tensor, limit: float) -> Span:
    way_out = (
        f"Drop those rows, or divide by a scale: numbers beyond {limit:.2g} overflow in "
        f"{str(values.dtype).removeprefix('torch.')}."
    )
    return Span(name, *_ends(values), -limit, limit, way_out)


def _weight_spans(weight: Tensor, limit: float) -> list[Span]:
    way_out = (
        f"Weights are finite, not negative and at most {limit:.2g}; 0 leaves a row out. Divide "
        "larger ones by their mean."
    )
    spans = [Span("sample_weight", *_ends(weight), 0.0, limit, way_out)]
    way_out = f"Weights above 0 are at least {1 / limit:.2g}; divide them by their mean."
    positive = torch.where(weight > 0, weight, 1.0)
    return [*spans, Span("sample_weight", *_ends(positive), 1 / limit, limit, way_out)]


def _truth_spans(truth: Tensor, shares: Tensor) -> list[Span]:
    classes = shares.shape[1]
    way_out = (
        f"With {classes} classes they are whole numbers from 0 to {classes - 1}; a negative group "
        "leaves a row out."
    )
    low, high = (end.to(shares.dtype) for end in _ends(truth))
    spans = [Span("y_true", low, high, 0, classes - 1, way_out)]
    if truth.is_floating_point():
        parts = _ends(truth - truth.floor())
        low, high = (end.to(shares.dtype) for end in parts)
        spans += [Span("The fraction of y_true", low, high, 0, 0, way_out)]
    return spans
