"""Columns of anything, from anywhere, as small integer codes and labels."""

from evenhand.columns.column import Column, Label
from evenhand.columns.encoding import encode
from evenhand.columns.intervals import Interval, cut

__all__ = ["Column", "Interval", "Label", "cut", "encode"]
