"""Columns of any type from any library, as small integer codes and labels."""

from evenhand._columns.bins import Bin, cut
from evenhand._columns.codes import Column, Label
from evenhand._columns.encoding import encode

__all__ = ["Bin", "Column", "Label", "cut", "encode"]
