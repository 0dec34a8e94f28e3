"""Which questions belong together: a criterion by MPD, Gini and PQ, raw and transformed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paper.design import WITH_PREDICTION
from paper.families import ALL, ODDS, PARITY
from paper.words import Kind, sizes_of

if TYPE_CHECKING:
    from evenhand.benchmark import Results

OURS = "ours"  # the source of claims that the paper does not make
BASE_OF: dict[Kind, str] = {"classification": "logistic", "regression": "linear"}


@dataclass(frozen=True)
class Asked:
    """A criterion of the paper: the names of its questions by measure.

    `plain` and `exp` are PQ of the values as they are and of their exponentials.
    """

    name: str
    kind: Kind
    family: str
    mpd: str
    gini: str
    pq: str
    plain: str
    exp: str

    @property
    def integral(self) -> bool:
        """Whether cut points are added up, which keeps no order between measures."""
        return self.mpd.startswith("wasserstein_parity")

    @property
    def questions(self) -> tuple[str, ...]:
        """All of them."""
        return tuple(dict.fromkeys((self.mpd, self.gini, self.pq, self.plain, self.exp)))


def _classified(name: str, family: str, by_mpd: str, by_others: str) -> Asked:
    pq = f"{by_others}.pq"
    mpd, gini, exp = f"{by_mpd}.mpd", f"{by_others}.gini", f"{pq} transform=exp"
    return Asked(name, "classification", family, mpd, gini, pq, pq, exp)


def _regressed(name: str, criterion: str) -> Asked:
    mpd, gini, pq = (f"{criterion}.{measure}" for measure in ("mpd", "gini", "pq"))
    return Asked(name, "regression", ALL, mpd, gini, pq, pq, f"{pq} transform=exp")


ASKED = (
    _classified("SP", PARITY, "statistical_parity", "statistical_parity"),
    _classified("EO", ODDS, "equalized_odds", "average_odds"),
    Asked(
        "SP",
        "regression",
        ALL,
        "strong_parity.mpd",
        "strong_parity.gini",
        "strong_parity.pq",
        "strong_parity.pq tau=0.05",
        "strong_parity.pq",
    ),
    _regressed("SP (W)", "wasserstein_parity"),
    _regressed("SP (weak)", "weak_parity"),
    Asked(
        "EO",
        "regression",
        ALL,
        "performance_parity.mpd g=mse",
        "performance_parity.gini transform=exp g=mse",
        "performance_parity.pq transform=exp g=mse",
        "performance_parity.pq g=mse",
        "performance_parity.pq transform=exp g=mse",
    ),
)


def problems_of(results: Results, kind: Kind) -> list[str]:
    """The problems of a kind, without those that are one task with many numbers of groups.

    LawSchool with somebody's prediction as a feature is not the paper's either.
    """
    return [
        row["problem"]
        for row in results.problems.to_pylist()
        if row["kind"] == kind
        and not sizes_of(row["problem"])[1]
        and row["problem"] != WITH_PREDICTION.name
    ]


def about(results: Results, problem: str) -> dict[str, object]:
    """All that is stored of a problem's rows."""
    for row in results.problems.to_pylist():
        if row["problem"] == problem:
            return dict(json.loads(row["about"] or "{}"))
    return {}


def groups_of(results: Results, problem: str) -> int:
    """How many groups a problem has."""
    return len(about(results, problem).get("groups", ()))  # type: ignore[arg-type]
