"""fairlearn's constraints: bounds on the rates or losses of groups."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from evenhand._errors import InputError

OF_PARITY = """

    Parameters
    ----------
    difference_bound : float, default None
        How far a group's rate may be from that of everyone; None is 0.01.
    ratio_bound : float, default None
        A bound on ratios, which is refused.
    ratio_bound_slack : float, default 0.0
        What is added to that bound, refused as well.

    """
OF_LOSS = """

    Parameters
    ----------
    min_val, max_val : float
        The range.

    """
KEEP = "Import it from fairlearn where you need it."


class UtilityParity:
    """A constraint on selection rates of groups; subclasses say among which people."""

    criterion: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        cls.__doc__ = f"{cls.__doc__}{OF_PARITY}"

    def __init__(
        self,
        *,
        difference_bound: float | None = None,
        ratio_bound: float | None = None,
        ratio_bound_slack: float = 0.0,
    ) -> None:
        if not self.criterion:
            raise InputError(f"{type(self).__name__} has no counterpart in evenhand. {KEEP}")
        if ratio_bound is not None or ratio_bound_slack:
            raise InputError(
                "evenhand's reduction bounds differences of rates, not ratios: pass "
                f"difference_bound= in place of ratio_bound={ratio_bound!r}. {KEEP}"
            )
        self.difference_bound = 0.01 if difference_bound is None else difference_bound


class DemographicParity(UtilityParity):
    """The same share of every group is selected."""

    criterion = "statistical_parity"


class EqualizedOdds(UtilityParity):
    """The same share of every group is selected among those of each true label."""

    criterion = "equalized_odds"


class TruePositiveRateParity(UtilityParity):
    """The same share of every group is selected among those whose true label is 1."""

    criterion = "equal_opportunity"


class FalsePositiveRateParity(UtilityParity):
    """The same share of every group is selected among those whose true label is 0."""

    criterion = "predictive_equality"


class ErrorRateParity(UtilityParity):
    """Equal error rates, which evenhand's reduction does not bound: it is refused."""


class _Loss:
    """A loss of values that are clipped to a range."""

    name: ClassVar[Literal["square", "absolute"]]

    def __init_subclass__(cls) -> None:
        cls.__doc__ = f"{cls.__doc__}{OF_LOSS}"

    def __init__(self, min_val: float, max_val: float) -> None:
        self.min_val, self.max_val = min_val, max_val


class SquareLoss(_Loss):
    """The squared error of values that are clipped to a range."""

    name = "square"


class AbsoluteLoss(_Loss):
    """The absolute error of values that are clipped to a range."""

    name = "absolute"


class BoundedGroupLoss:
    """A constraint on the largest loss of a group, for `GridSearch`.

    Parameters
    ----------
    loss : SquareLoss or AbsoluteLoss
        What is averaged.
    upper_bound : float, default None
        Not used by a grid search, in fairlearn and here.

    """

    def __init__(self, loss: Any, *, upper_bound: float | None = None) -> None:
        if not isinstance(loss, _Loss):
            raise InputError(f"loss must be a SquareLoss or an AbsoluteLoss, not {loss!r}.")
        self.loss, self.upper_bound = loss, upper_bound
