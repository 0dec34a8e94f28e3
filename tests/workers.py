"""Which tests share a worker, where several run at once, and which of them start first."""

# Few tests that take long: browsers, servers, other processes, whole runs and compilers. Were they
# started last, one worker would end long after the others.
LONG = (
    *("paper", "tests/app/", "tests/benchmark/", "tests/cli/", "tests/report/", "tests/standards/"),
    *("tests/torch/", "tests/test_action.py", "tests/test_fault_injection.py"),
    *("tests/test_fuzz.py", "tests/test_recipes.py", "tests/mitigation/test_estimators.py"),
    *("spark", "mlflow", "dask"),
)


# Files that import what takes seconds, which one worker then does for all of them.
TOGETHER = {
    "mlflow": ("tests/test_one_answer.py", "tests/compat/test_mlflow.py"),
    "dask": ("tests/benchmark/test_cluster.py", "tests/benchmark/test_howto.py"),
}


def scope_of(nodeid):
    """What has to run in one worker: a file, files that share much, and all that is Spark's."""
    file, _, parameters = nodeid.partition("[")
    if "spark" in parameters:
        return "spark"  # so that only one worker starts it
    file = file.partition("::")[0]
    if file.startswith("paper/"):
        return "paper"
    return next((scope for scope, files in TOGETHER.items() if file in files), file)


def by_start(work):
    """Scopes with their tests, in the order of their start: the long ones, then by number."""
    return sorted(work, key=lambda scope: (not scope.startswith(LONG), -len(work[scope])))
