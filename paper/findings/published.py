"""What our repairs of published code change, and a column that should not be learned from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from evenhand.benchmark.sections import Finding, Verdict
from paper.design import PUBLISHED, WITH_PREDICTION
from paper.findings.criteria import BASE_OF, OURS
from paper.findings.estimates import Estimate, at_most, estimate
from paper.findings.values import part
from paper.words import Kind, name_of

if TYPE_CHECKING:
    from evenhand.benchmark import Results

QUESTION = "Published and repaired"
SAME = 0.01  # of MPD, up to which two settings are called alike
SCORES: dict[Kind, tuple[str, str]] = {
    "classification": ("statistical_parity.mpd", "accuracy"),
    "regression": ("strong_parity.mpd", "rmse"),
}
REPAIRS = {
    "FairProj-KL": "a slip in the ridge of the published code",
    "FairRR": "flips that are drawn once, where ours are expected ones",
    "FairReg": "losses that are clipped to [0, 1]",
    "WassBC": "ranks from one half of the rows and quantiles from the other",
    "LinearPost_R": "12 bins on Communities & Crime and 36 on LawSchool, where ours has 500",
}


def mended(results: Results, wide: Any) -> Iterator[Finding]:
    """How much SP by MPD changes where a method does what was published."""
    kinds = {row["problem"]: row["kind"] for row in results.problems.to_pylist()}
    for name in sorted(PUBLISHED):
        method = name.removesuffix(", published")
        for problem in [one for one in kinds if one in set(wide["problem"])]:
            kind = kinds[problem]
            score, performance = SCORES[kind]
            here = part(wide, problem, BASE_OF[kind], "all")
            gap = _difference(here, name, method, score)
            if gap is None:
                continue
            cost = _difference(here, name, method, performance)
            word = "accuracy" if performance == "accuracy" else "RMSE"
            told = (
                f"The published setting has {REPAIRS[method]}. Averaged over the settings, SP by "
                f"MPD differs by {_signed(gap)} with it, and {word} by {_signed(cost)}."
            )
            claim = f"{method} as published is as even as repaired (SP by MPD within {SAME:g})"
            verdict, where = _alike(gap), name_of(problem)
            yield Finding(QUESTION, claim, where, verdict, *gap, sentence=told, source=OURS)


def column(wide: Any) -> Iterator[Finding]:
    """What the output of somebody's model, as a feature, does to the linear model on LawSchool."""
    score, performance = SCORES["regression"]
    both = []
    for problem in ("law_school", WITH_PREDICTION.name):
        rows = part(wide, problem, BASE_OF["regression"], "all")
        both.append(rows[rows["method"] == "Base"].drop_duplicates("seed").set_index("seed"))
    without, included = both
    if without.empty or included.empty:
        return
    gap = estimate((included[score] - without[score]).dropna())
    told = (
        f"With dnn_bar_pass_prediction as a feature, RMSE of Base is "
        f"{included[performance].mean():.3f} and SP by MPD {included[score].mean():.2f}; without "
        f"it, as everywhere else here, {without[performance].mean():.3f} and "
        f"{without[score].mean():.2f}."
    )
    claim = "With a column of bar predictions LawSchool is the same problem (SP by MPD within 0.01)"
    yield Finding(QUESTION, claim, "LawSchool", _alike(gap), *gap, sentence=told, source=OURS)


def _difference(here: Any, first: str, second: str, score: str) -> Estimate | None:
    """First less second, over the same settings, by split; None where there are none."""
    keys = ["constraint", "hyperparameter", "seed"]
    sides = [here[here["method"] == name].set_index(keys)[score] for name in (first, second)]
    apart = (sides[0] - sides[1]).dropna()
    return estimate(apart.groupby("seed").mean()) if len(apart) else None


def _alike(gap: Estimate) -> Verdict:
    """Whether a difference is small in either direction."""
    above, below = at_most(gap, SAME), at_most(Estimate(-gap.value, -gap.high, -gap.low), SAME)
    if "differs" in (above, below):
        return "differs"
    return "agrees" if above == below == "agrees" else "cannot tell"


def _signed(found: Estimate | None) -> str:
    """A difference with its sign and interval.

    >>> _signed(Estimate(0.0123, 0.01, 0.02))
    '+0.0123 (0.0100 to 0.0200)'
    """
    if found is None:
        return "nothing that is known"
    ends = "" if found.low != found.low else f" ({found.low:.4f} to {found.high:.4f})"
    return f"{found.value:+.4f}{ends}".replace("-", "−")
