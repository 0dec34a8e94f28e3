"""Charts: those that figures share are data with an SVG painter, the others inline SVG at once."""

from evenhand.report.charts.bars import bars
from evenhand.report.charts.curves import curves
from evenhand.report.charts.ecdf import ecdf
from evenhand.report.charts.frontier import Tradeoff
from evenhand.report.charts.lorenz import lorenz
from evenhand.report.charts.rates import Rates
from evenhand.report.charts.scatter import Scatter
from evenhand.report.charts.times import Band
from evenhand.report.charts.values import Values
from evenhand.report.charts.waterfall import Step, Waterfall

__all__ = [
    "Band",
    "Rates",
    "Scatter",
    "Step",
    "Tradeoff",
    "Values",
    "Waterfall",
    "bars",
    "curves",
    "ecdf",
    "lorenz",
]
