"""How often a scan of subgroups flags one that is alike, and how often one that was planted.

python benchmarks/scan.py
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import evenhand as eh
from evenhand._audit.subgroups import Subgroup, ranked
from evenhand._audit.views import views_of

WORLDS, ROWS, ERROR = 400, 6000, 0.05
SIZES = (8, 12)  # values of the two columns; the k-th is 1 / k as frequent as the first
Weights = Callable[[NDArray[np.int64], np.random.Generator], NDArray[np.float64] | None]


def by_outcome(selected: NDArray[np.int64], _: np.random.Generator) -> NDArray[np.float64]:
    """Ten for the selected, one for the others."""
    return np.where(selected == 1, 10.0, 1.0)


def by_chance(selected: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Lognormal, whatever the outcome."""
    return rng.lognormal(0, 0.8, len(selected))


def by_both(selected: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Lognormal, and five times as much for the selected."""
    return by_chance(selected, rng) * np.where(selected == 1, 5.0, 1.0)


WEIGHTS: dict[str, Weights] = {
    "none": lambda *_: None,
    "10 for the selected": by_outcome,
    "lognormal": by_chance,
    "lognormal, 5 × for the selected": by_both,
}


def people(rng: np.random.Generator) -> dict[str, NDArray[np.int64]]:
    """Two columns with values from common to rare."""
    shares = [1 / np.arange(1, size + 1) for size in SIZES]
    return {
        f"column {i}": rng.choice(len(share), ROWS, p=share / share.sum())
        for i, share in enumerate(shares)
    }


def scan(
    rate: float,
    weights: Weights,
    rng: np.random.Generator,
    more: float = 0.0,
    control: str = "familywise",
) -> list[Subgroup]:
    """A scan in which values 1 and 1 of the columns are selected more often, by `more`."""
    columns = people(rng)
    planted = (columns["column 0"] == 1) & (columns["column 1"] == 1)
    chosen = (rng.random(ROWS) < rate + more * planted).astype(np.int64)
    truth = (rng.random(ROWS) < 0.3).astype(np.int64)
    weight = weights(chosen, rng)
    evidence = eh.Data(
        truth, chosen, sensitive_features=columns, sample_weight=weight, favorable=1
    ).counted
    return ranked(list(views_of(evidence, 2)), ERROR, control)


def losses(sigma: float, rng: np.random.Generator) -> list[Subgroup]:
    """A scan of a regression whose errors are lognormal and alike in all groups."""
    columns, error = people(rng), rng.lognormal(0, sigma, ROWS)
    evidence = eh.Data(
        error,
        np.zeros(ROWS) + rng.normal(0, 1e-6, ROWS),
        sensitive_features=columns,
        task="regression",
    ).counted
    return ranked(list(views_of(evidence, 2)), ERROR)


def flags(subgroups: list[Subgroup]) -> bool:
    """Whether any is flagged."""
    return any(subgroup.flagged for subgroup in subgroups)


def found(subgroups: list[Subgroup]) -> bool:
    """Whether the planted subgroup is flagged in what was planted."""
    return any(
        s.flagged and s.label == (1, 1) and s.statistic.startswith("selection") for s in subgroups
    )


def main() -> None:
    rng = np.random.default_rng(0)
    print(
        "| subgroups alike: selection rate | weights | scans that flag any |\n| --- | --- | --- |"
    )
    for rate in (0.01, 0.1, 0.5, 0.95):
        for name, weights in WEIGHTS.items():
            share = np.mean([flags(scan(rate, weights, rng)) for _ in range(WORLDS)])
            print(f"| {rate} | {name} | {share:.3f} |", flush=True)
    print("\n| lognormal errors, σ | scans that flag any |\n| --- | --- |")
    for sigma in (0.25, 0.5, 1.0):
        share = np.mean([flags(losses(sigma, rng)) for _ in range(WORLDS)])
        print(f"| {sigma} | {share:.3f} |", flush=True)
    print("\n| planted | of family | by discovery |\n| --- | --- | --- |")
    for more in (0.1, 0.15, 0.2):
        shares = [
            np.mean(
                [found(scan(0.3, WEIGHTS["none"], rng, more, control)) for _ in range(WORLDS // 4)]
            )
            for control in ("familywise", "false_discovery")
        ]
        print(f"| {more} | {shares[0]:.2f} | {shares[1]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
