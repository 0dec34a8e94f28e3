"""Gate a build: fail when a disparity is surely larger than you allow.

A nightly job writes its predictions to a file; `evenhand audit` decides by the confidence interval,
not by the value alone. Its exit status is what a build needs: 0 to pass, 1 for a violation, 2 where
there is nothing to judge, 3 where the rows are too few. In a workflow the last line would be the
command itself.
"""

import subprocess
import sys

import numpy as np
import pandas as pd

COMMAND = ["audit", "predictions.csv", "--target", "repaid", "--prediction", "granted"]
ASKED = ["--criterion", "equal_opportunity", "--criterion", "accuracy_parity", "--measure", "mpd"]
GATES = ["--fail-if", "equal_opportunity.mpd > 0.10", "--fail-if", "accuracy_parity.mpd > 0.20"]


def main() -> None:
    rng = np.random.default_rng(0)
    region = rng.choice(["north", "south"], 4000)
    repaid = rng.random(4000) < 0.6
    chance = np.where(repaid, np.where(region == "north", 0.9, 0.65), 0.2)
    granted = rng.random(4000) < chance
    rows = {"region": region, "repaid": repaid.astype(int), "granted": granted.astype(int)}
    pd.DataFrame(rows).to_csv("predictions.csv", index=False)

    command = [sys.executable, "-m", "evenhand", *COMMAND, "--group", "region"]
    done = subprocess.run([*command, *ASKED, *GATES], capture_output=True, text=True, check=False)
    print(done.stdout)
    meaning = {
        0: "it may ship",
        1: "it must not ship",
        2: "there was nothing to judge",
        3: "nobody can tell yet",
    }
    print(f"Exit status {done.returncode}: {meaning[done.returncode]}.")


if __name__ == "__main__":
    main()
