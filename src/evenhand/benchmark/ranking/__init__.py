"""One number for each method, ranks over problems, and which methods differ significantly."""

from evenhand.benchmark.ranking.areas import Area
from evenhand.benchmark.ranking.inference import Estimate
from evenhand.benchmark.ranking.ranks import Entrant, Pair, Ranking, rank

__all__ = [
    "Area",
    "Entrant",
    "Estimate",
    "Pair",
    "Ranking",
    "rank",
]
