"""A design as one writes it down, for the help of the command."""

EXAMPLE = """\
name = "hiring"
seeds = 5
bases = ["logistic", "boosting"]

[problems.hiring]            # a file, with its columns
source = "hiring.parquet"
target = "hired"
sensitive = ["sex"]

[problems.adult]             # a task of `evenhand datasets list`

[methods.Reweight]

[methods.LinearPost]
constraints = ["statistical_parity", "equalized_odds"]
grid = [0.001, 0.01, 0.1]

[methods.mine]               # your own estimator
estimator = "mypackage.fair:MyClassifier"
stage = "post"
hyperparameter = "strength"
grid = [0.1, 1.0]

[[questions]]                # beside the usual ones
criterion = "equal_opportunity"
measure = "pq"
p = 0.5
"""
