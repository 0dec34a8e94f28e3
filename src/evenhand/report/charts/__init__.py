"""Charts as text: each a function from plain values to one inline SVG, without any library."""

from evenhand.report.charts.bars import bars
from evenhand.report.charts.curves import curves
from evenhand.report.charts.ecdf import ecdf
from evenhand.report.charts.frontier import frontier
from evenhand.report.charts.lorenz import lorenz
from evenhand.report.charts.rates import rates
from evenhand.report.charts.values import values

__all__ = ["bars", "curves", "ecdf", "frontier", "lorenz", "rates", "values"]
