"""Statistics and measures answer for themselves: nobody else asks which one it is."""

import ast
from pathlib import Path

import pytest

import evenhand
from evenhand import statistics
from evenhand.measures import MEASURES
from evenhand.statistics import Statistic

ROOT = Path(evenhand.__file__).parent
FORMS = {
    name
    for name, thing in vars(statistics).items()
    if isinstance(thing, type) and issubclass(thing, Statistic) and thing is not Statistic
}
ASKS = ("isinstance", "issubclass", "type")


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
        for node in questions(ast.parse(path.read_text(encoding="utf-8")))
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
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and node.name == "Question"
    ]
    assert declared == ["benchmark", "criteria"]


def test_no_private_name_crosses_from_one_package_to_another():
    crossed = []
    for path in sorted(ROOT.rglob("*.py")):
        own = path.relative_to(ROOT).parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith(
                "evenhand"
            ):
                continue
            package = (node.module or "").split(".")[1:2]
            private = [each.name for each in node.names if each.name.startswith("_")]
            if package and package != [own] and private:
                crossed += [f"{path.relative_to(ROOT)}: {name}" for name in private]
    assert crossed == []


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
