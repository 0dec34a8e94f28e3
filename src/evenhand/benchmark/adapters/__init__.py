"""Methods of other libraries, as a benchmark calls them: a base model, and the group's column.

A design names them as `[methods."fairlearn.ThresholdOptimizer"]`; a library is imported when its
method is fitted. They show how little a method of one's own needs: `fit`, `predict` and, where it
decides at random, the chances in `predict_proba`.
"""

from evenhand.benchmark.adapters import aif360, fairlearn, fairret, oxonfair
from evenhand.mitigation.methods import Method

ADAPTERS: dict[str, Method] = {
    method.name: method
    for library in (fairlearn, aif360, oxonfair, fairret)
    for method in library.METHODS
}

__all__ = ["ADAPTERS"]
