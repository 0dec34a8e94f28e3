"""Statistics and measures answer for themselves, packages by their faces, and walks are short."""

import ast
import sys
from functools import cache
from itertools import groupby
from pathlib import Path

import narwhals as nw
import numpy as np
import pandas as pd
import pytest

import evenhand
from evenhand import statistics
from evenhand._data.data import Data
from evenhand._data.evidence import Evidence
from evenhand.measures import MEASURES
from evenhand.statistics import Statistic

ROOT = Path(evenhand.__file__).parent
FORMS = {
    name
    for name, thing in vars(statistics).items()
    if isinstance(thing, type) and issubclass(thing, Statistic) and thing is not Statistic
}
OURS = "evenhand."
ASKS = ("isinstance", "issubclass", "type")


@cache
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def files_outside(package):
    paths = sorted(ROOT.rglob("*.py"))
    return [path for path in paths if path.relative_to(ROOT).parts[0] != package]


def words(node):
    """Names, attributes and keys in an expression."""
    nodes = list(ast.walk(node))
    found = {each.id for each in nodes if isinstance(each, ast.Name)}
    found |= {each.attr for each in nodes if isinstance(each, ast.Attribute)}
    keys = (each.slice for each in nodes if isinstance(each, ast.Subscript))
    return found | {key.value for key in keys if isinstance(key, ast.Constant)}


def questions_of_class(tree):
    """Where a form of statistic is asked for, by a call, a case or a comparison of types."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and words(node.func) & {*ASKS}:
            asked = set().union(*(words(each) for each in node.args[1:]), set())
        elif isinstance(node, ast.MatchClass):
            asked = words(node.cls)
        elif isinstance(node, ast.Compare) and "type" in words(node.left):
            asked = set().union(*(words(each) for each in node.comparators))
        else:
            continue
        if asked & FORMS:
            yield node


def questions_of_name(tree):
    """Where a measure is compared with a named one."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Compare):
            continue
        sides = [node.left, *node.comparators]
        about = [side for side in sides if any("measure" in str(word) for word in words(side))]
        others = [side for side in sides if side not in about]
        named = set().union(*(words(side) for side in others), set())
        for side in others:
            named |= {each.value for each in ast.walk(side) if isinstance(each, ast.Constant)}
        if about and named & {*MEASURES}:
            yield node


def places(package, questions):
    return [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in files_outside(package)
        for node in questions(tree_of(path))
    ]


@pytest.mark.slow
def test_only_statistics_know_which_form_of_statistic_one_is():
    assert places("statistics", questions_of_class) == []


@pytest.mark.slow
def test_only_measures_know_which_measure_one_is():
    assert places("measures", questions_of_name) == []


def test_a_question_is_one_class_beside_that_of_stored_designs():
    declared = [
        path.relative_to(ROOT).parts[0]
        for path in sorted(ROOT.rglob("*.py"))
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ClassDef) and node.name == "Question"
    ]
    assert declared == ["benchmark", "criteria"]


@pytest.mark.slow
def test_no_private_name_crosses_from_one_package_to_another():
    crossed = []
    for path in sorted(ROOT.rglob("*.py")):
        own = path.relative_to(ROOT).parts[0].removesuffix(".py")
        for node in ast.walk(tree_of(path)):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith(
                "evenhand"
            ):
                continue
            package = (node.module or "").split(".")[1:2]
            private = [each.name for each in node.names if each.name.startswith("_")]
            if package and package != [own] and private:
                crossed += [f"{path.relative_to(ROOT)}: {name}" for name in private]
    assert crossed == []


# Modules of packages that others may import; all else is had from the package itself.
FACES = {
    "_audit": "api examination explore finding gate obstacles questions",
    "_columns": "bins codes encoding",
    "_compare": "compare",
    "_data": (
        "amounts areas counting counts data dataframes distributions doors evidence group_by "
        "groups models once places probable rankings rereading roles rows sql summaries surveys "
        "tallies tasks"
    ),
    "_files": "files passes text_files",
    "_frontier": "amounts standing",
    "_uncertainty": (
        "chance clusters many_groups curves differences errors estimates geometry homogeneity "
        "influence interval monte_carlo needed paired pooling rates reference replicates"
    ),
    "_unknown": "answers bounds",
    "app": "desk server",
    "benchmark": "boards.splits figures figures.theme scoring.floors sections tables",
    "criteria": "catalogue compared criterion evaluation questions terms",
    "datasets": "catalogue draws fetch loader task",
    "measures": "aggregates",
    "mitigation": (
        "_fields _lots amount_rule base_models crossfit.advice crossfit.calibration "
        "crossfit.objective crossfit.rows crossfit.tracing deploy deploy.description "
        "group_reader methods optimal transport.outcomes transport.parity transport.plan "
        "transport.wasserstein"
    ),
    "report": "audit formats groups markdown rendering watch",
    "standards": "document sample tables",
    "statistics": "arithmetic catalogue sums",
    "torch": "constraint penalty shared training",
    "watch": "document storage",
}


def imports_of_rooms():
    """Each import of a room of another package: the file, the package and the room."""
    for path in sorted(ROOT.rglob("*.py")):
        own = path.relative_to(ROOT).parts[0].removesuffix(".py")
        for node in ast.walk(tree_of(path)):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith(OURS):
                continue
            package, *inner = node.module.removeprefix(OURS).split(".")
            if package == own or own == "__init__":  # the face of them all
                continue
            names = [] if inner else [each.name for each in node.names]
            rooms = [name for name in names if is_room(package, name)] or [".".join(inner)]
            yield from ((path.relative_to(ROOT), package, room) for room in rooms if room)


def is_room(package, name):
    """Whether a name that is imported from a package is a module of it, and no thing of its own."""
    if not (ROOT / package / f"{name}.py").exists():
        return False
    imports = (
        node
        for node in ast.walk(tree_of(ROOT / package / "__init__.py"))
        if isinstance(node, ast.ImportFrom) and node.module != f"{OURS}{package}"
    )
    return all(alias.name != name for node in imports for alias in node.names)


@pytest.mark.slow
def test_packages_import_each_other_by_their_faces_alone():
    found = {(package, room) for _, package, room in imports_of_rooms()}
    known = {(package, room) for package, rooms in FACES.items() for room in rooms.split()}
    further = [one for one in imports_of_rooms() if one[1:] not in known]
    assert further == [], "import these from the package, or make the room one of its faces"
    assert known - found == set(), "nobody imports these from outside any more"


@pytest.mark.parametrize(
    ("text", "finder"),
    [
        ("isinstance(statistic, P | Ratio)", questions_of_class),
        ("isinstance(one, (E, int))", questions_of_class),
        ("type(one) is Ratio", questions_of_class),
        ("match one:\n    case Average():\n        pass", questions_of_class),
        ("settings.measure == 'pq'", questions_of_name),
        ("measure is gini", questions_of_name),
        ("finding['measure'] != 'mpd'", questions_of_name),
        ("measure in (mpd, shortfall)", questions_of_name),
    ],
)
def test_such_a_question_is_found(text, finder):
    assert list(finder(ast.parse(text)))


class Walk:
    """Which of our functions are entered, and with what: one thing, or anything of these kinds."""

    def __init__(self, thing=None, kinds=()):
        self.thing, self.kinds, self.files, self.stays = thing, kinds, set(), []

    def __enter__(self):
        sys.setprofile(self._event)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)

    def _event(self, frame, event, _):
        code = frame.f_code
        if event == "call" and Path(code.co_filename).is_relative_to(ROOT):
            self.files.add(code.co_filename)
            given = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + 2]
            if any(self._holds(frame.f_locals.get(name)) for name in given):
                self.stays.append(code)

    @property
    def rooms(self):
        """The files in the order in which they are entered, by functions not passed before."""
        files = [Path(code.co_filename).stem for code in dict.fromkeys(self.stays)]
        return [file for file, _ in groupby(files)]

    def _holds(self, value):
        if isinstance(value, list | tuple | dict):
            values = value.values() if isinstance(value, dict) else value
            return any(map(self._holds, values))
        if isinstance(value, self.kinds):
            return True
        native = value.to_native() if isinstance(value, nw.DataFrame) else value
        return native is not None and native is self.thing


def audited(table):
    names = {"y_true": "y", "y_pred": "p", "sensitive_features": "g"}
    return evenhand.audit(data=table, **names, favorable=1)


@pytest.fixture
def people():
    random = np.random.default_rng(0)
    table = pd.DataFrame({"y": random.integers(0, 2, 300), "p": random.integers(0, 2, 300)})
    return table.assign(g=random.choice(["a", "b", "c"], 300))


def test_a_table_is_handed_on_few_times_until_it_is_counted(people):
    audited(people)
    with Walk(people) as walk:
        audited(people)
    assert 3 <= len(walk.stays) <= 30, walk.stays


@pytest.mark.slow
def test_data_go_through_few_rooms_until_all_is_found(people):
    scores = np.random.default_rng(1).random(len(people))
    table = people.assign(s=scores, h=people["p"].astype(str), k=people["y"].astype(str))
    names = {"y_true": "y", "y_pred": "p", "y_score": "s", "sensitive_features": ["g", "h", "k"]}
    with Walk(kinds=(Data, Evidence)) as walk:
        evenhand.audit(data=table, **names, favorable=1, fail_if="error_parity > 0.5")
    assert {"data", "tables", "examination", "curves"} <= set(walk.rooms)
    assert len(walk.rooms) <= 30, walk.rooms


@pytest.mark.slow
def test_a_page_is_written_in_few_files(people):
    audited(people).to_html()
    audit = audited(people)
    with Walk() as walk:
        audit.to_html()
    assert 30 <= len(walk.files) <= 70, sorted(walk.files)
