"""Small designs on simulated rows."""

from evenhand.benchmark import BASES, Design, Problem, Study, Treatment, treatment

SMALL = Problem("small", "simulated", rows=400)
SMALL_REGRESSION = Problem("small regression", "simulated_regression", rows=400)
CLASSIFIERS = (
    Treatment(),
    treatment("Reweight"),
    treatment("LinearPost", grid=(0.01, 0.1)),
    treatment("FairProj-KL", grid=(0.01, 0.1)),
)
REGRESSORS = (
    Treatment(),
    treatment("WassBC", grid=(1.0,)),
    treatment("LinearPost_R", grid=(0.05, 0.5)),
)


def design(*treatments, problems=(SMALL,), base="logistic", seeds=(0,)):
    return Design(
        "small",
        (
            Study(
                name="small",
                problems=problems,
                bases=(BASES[base],),
                treatments=treatments or CLASSIFIERS,
                seeds=seeds,
            ),
        ),
    )


def regression(*treatments, seeds=(0,), base="linear"):
    chosen = treatments or REGRESSORS
    return design(*chosen, problems=(SMALL_REGRESSION,), base=base, seeds=seeds)
