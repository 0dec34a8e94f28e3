"""Which tests share a worker, where several run at once."""


def scope_of(nodeid):
    """What has to run in one worker: a file, all files of the paper, and all that is Spark's."""
    file, _, parameters = nodeid.partition("[")
    if "spark" in parameters:
        return "spark"  # so that only one worker starts it
    file = file.partition("::")[0]
    return "paper" if file.startswith("paper/") else file
