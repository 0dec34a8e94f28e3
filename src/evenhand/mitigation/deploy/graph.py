"""A rule as an ONNX graph: scores, group and lot in; chances and the decision out."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evenhand._errors import InputError, InputTypeError, require
from evenhand.mitigation.deploy.description import (
    INTEGER_LIMIT,
    Description,
    Grouping,
    check_plain,
    plain,
)
from evenhand.mitigation.deploy.moves import Moves

OPSET, ML_OPSET, IR_VERSION = 18, 3, 9
INT64, DOUBLE = 7, 11  # of TensorProto
TAKEN = ("scores", "amount", "lot", "probabilities", "decision", "prediction")
EXACT = (1 << 53) + 1  # whole numbers that a double holds
NO_DECISION = np.iinfo(np.int64).min  # where the group is not known


def onnx_model(rule: Description) -> Any:
    """The graph as a `ModelProto`.

    Inputs are `scores` (rows × features, double), a column for each that names the group (text, or
    double), and `lot` (double); outputs are `probabilities` and `decision`.
    """
    require("onnx", purpose="Writing ONNX", extra="onnx")
    from onnx import TensorProto, helper

    check_plain(rule.classes, rule.grouping, INTEGER_LIMIT)
    graph = Graph([], [])
    inputs = [helper.make_tensor_value_info("scores", TensorProto.DOUBLE, ["rows", rule.features])]
    inputs += _group_inputs(rule.grouping)
    inputs.append(helper.make_tensor_value_info("lot", TensorProto.DOUBLE, ["rows"]))
    _probabilities(graph, rule)
    kind = _decision(graph, rule)
    outputs = [
        helper.make_tensor_value_info(
            "probabilities", TensorProto.DOUBLE, ["rows", len(rule.classes)]
        ),
        helper.make_tensor_value_info("decision", kind, ["rows"]),
    ]
    return _checked(graph, "decision rule", inputs, outputs)


def moves_model(moves: Moves) -> Any:
    """The graph as a `ModelProto`.

    Inputs are `amount` (double), a column for each that names the group (text, or double), and
    where lots decide `lot` (double); the output is `prediction`.
    """
    require("onnx", purpose="Writing ONNX", extra="onnx")
    from onnx import TensorProto, helper

    check_plain((), moves.grouping, INTEGER_LIMIT)
    graph = Graph([], [])
    inputs = [helper.make_tensor_value_info("amount", TensorProto.DOUBLE, ["rows"])]
    inputs += _group_inputs(moves.grouping)
    if moves.draws:
        inputs.append(helper.make_tensor_value_info("lot", TensorProto.DOUBLE, ["rows"]))
    _moved(graph, moves)
    outputs = [helper.make_tensor_value_info("prediction", TensorProto.DOUBLE, ["rows"])]
    return _checked(graph, "moves of predictions", inputs, outputs)


def _moved(graph: Graph, moves: Moves) -> None:
    """A row's piece is as many cuts as it reaches, its outcome as many ends as the lot does.

    The pool after the last is for rows of unknown groups, whose result is NaN.
    """

    def by_pool(table: Any, fill: float) -> str:
        return graph.constant(np.concatenate([table, np.full_like(table[:1], fill)]))

    pieces, outcomes = moves.end.shape[1:]
    pool = _pool(graph, moves.grouping)
    if moves.grouping is None:  # as many zeros as there are rows
        pool = graph.add("Cast", graph.add("Mul", "amount", graph.constant(0.0)), to=INT64)
    column = graph.add("Unsqueeze", "amount", graph.constant([1]))
    piece = _counted(graph, column, graph.add("Gather", by_pool(moves.cuts, np.inf), pool, axis=0))
    place = graph.add("Add", graph.add("Mul", pool, graph.constant(pieces)), piece)
    anchors = graph.constant(np.append(moves.anchor.ravel(), np.zeros(pieces)))
    line = graph.add("Mul", place, graph.constant(outcomes))
    if moves.draws:
        ends = np.concatenate([moves.end, np.ones_like(moves.end[:1])]).reshape(-1, outcomes)
        lot = graph.add("Unsqueeze", "lot", graph.constant([1]))
        which = _counted(graph, lot, graph.add("Gather", graph.constant(ends), place, axis=0))
        line = graph.add("Add", line, graph.add("Min", which, graph.constant(outcomes - 1)))
    start, slope = (
        graph.add("Gather", graph.constant(flat), line, axis=0)
        for flat in (
            np.append(moves.start.ravel(), np.full(pieces * outcomes, np.nan)),
            np.append(moves.slope.ravel(), np.zeros(pieces * outcomes)),
        )
    )
    distance = graph.add("Sub", "amount", graph.add("Gather", anchors, place, axis=0))
    nothing = graph.add("Sub", "amount", "amount")  # 0, and NaN where the amount is not a number
    moved = graph.add("Add", start, graph.add("Mul", slope, distance))
    graph.add("Add", moved, nothing, output="prediction")


def _counted(graph: Graph, column: str, bounds: str) -> str:
    """The number of its row's bounds that a value reaches."""
    reached = graph.add("Cast", graph.add("GreaterOrEqual", column, bounds), to=INT64)
    return graph.add("ReduceSum", reached, graph.constant([1]), keepdims=0)


def _checked(graph: Graph, name: str, inputs: list[Any], outputs: list[Any]) -> Any:
    from onnx import checker, helper

    graph_proto = helper.make_graph(graph.nodes, name, inputs, outputs, graph.constants)
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
    model = helper.make_model(graph_proto, opset_imports=opsets, producer_name="evenhand")
    model.ir_version = IR_VERSION
    checker.check_model(model)
    return model


class Graph(NamedTuple):
    """Nodes and constants, as they are added."""

    nodes: list[Any]
    constants: list[Any]

    def constant(self, values: Any, dtype: Any = None) -> str:
        """Add a constant array, and return its name."""
        from onnx import TensorProto, helper, numpy_helper

        name = f"evenhand_constant_{len(self.constants)}"
        array = np.asarray(values, dtype)
        if array.dtype.kind == "i":
            array = array.astype(np.int64)  # whatever an integer is on this machine
        if array.dtype.kind in "UO":
            texts = [text.encode() for text in array.ravel().tolist()]
            tensor = helper.make_tensor(name, TensorProto.STRING, array.shape, texts)
        else:
            tensor = numpy_helper.from_array(array, name)
        self.constants.append(tensor)
        return name

    def add(
        self, kind: str, *inputs: str, output: str = "", domain: str = "", **options: Any
    ) -> str:
        """Add a node, and return the name of its output."""
        from onnx import helper

        name = output or f"evenhand_value_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], domain=domain, **options))
        return name


def _probabilities(graph: Graph, rule: Description) -> None:
    """The chances of each row.

    The pool after the last is that of rows whose group is not known, or whose scores are no
    probabilities: all its chances are NaN.
    """
    nowhere = graph.constant(rule.pools)
    pool = graph.add("Where", _sound(graph, rule), _pool(graph, rule.grouping), nowhere)
    (_by_steps if rule.has_steps else _by_prices)(graph, rule, pool)


def _by_steps(graph: Graph, rule: Description, pool: str) -> None:
    """A row's step is as many cuts as its score is above."""
    steps = [rule.steps(own) for own in range(rule.pools)]
    width = max(len(cuts) for cuts, _ in steps)
    cuts = np.full((rule.pools + 1, width), np.inf)
    chances = np.full((rule.pools + 1, width + 1, 2), np.nan)
    for own, (places, values) in enumerate(steps):
        cuts[own, : len(places)], chances[own, : len(values)] = places, values
    score = graph.add("Gather", "scores", graph.constant([1]), axis=1)
    cuts_of_row = graph.add("Gather", graph.constant(cuts), pool, axis=0)
    above = graph.add("Cast", graph.add("Greater", score, cuts_of_row), to=INT64)
    step = graph.add("ReduceSum", above, graph.constant([1]), keepdims=0)
    place = graph.add("Add", graph.add("Mul", pool, graph.constant(width + 1)), step)
    table = graph.constant(chances.reshape(-1, 2))
    graph.add("Gather", table, place, axis=0, output="probabilities")


def _by_prices(graph: Graph, rule: Description, pool: str) -> None:
    """Every rule of a row's pool decides for the cheapest class; the chances are their shares.

    Costs are added up feature by feature, as everywhere else, so that rounding is the same.
    """
    prices, share = np.moveaxis(rule.prices, 0, 1), rule.share.T  # by pool
    prices = np.concatenate([prices, np.zeros_like(prices[:1])])
    share = np.concatenate([share, np.full_like(share[:1], np.nan)])
    shares = graph.add("Gather", graph.constant(share), pool, axis=0)
    costs = ""
    for place in range(rule.features):
        score = graph.add("Gather", "scores", graph.constant([place]), axis=1)
        column = graph.add("Unsqueeze", score, graph.constant([2]))
        mine = graph.add("Gather", graph.constant(prices[:, :, place]), pool, axis=0)
        cost = graph.add("Mul", column, mine)
        costs = graph.add("Add", costs, cost) if costs else cost
    winner = graph.add("ArgMin", costs, axis=2, keepdims=1)
    labels = graph.constant(np.arange(len(rule.classes)), np.int64)
    won = graph.add("Cast", graph.add("Equal", winner, labels), to=DOUBLE)
    weighed = graph.add("Mul", won, graph.add("Unsqueeze", shares, graph.constant([2])))
    axis = graph.constant([1])
    graph.add("ReduceSum", weighed, axis, keepdims=0, output="probabilities")


def _sound(graph: Graph, rule: Description) -> str:
    """Whether all scores of a row are within their bounds; NaN is not."""
    lowest, highest = rule.bounds
    low = graph.add("GreaterOrEqual", "scores", graph.constant(lowest))
    high = graph.add("LessOrEqual", "scores", graph.constant(highest))
    sound = graph.add("Cast", graph.add("And", low, high), to=INT64)
    count = graph.add("ReduceSum", sound, graph.constant([1]), keepdims=0)
    return graph.add("Equal", count, graph.constant(rule.features))


def _pool(graph: Graph, grouping: Grouping | None) -> str:
    """The place of each row's group; that after the last if it is unknown."""
    if grouping is None:
        return graph.constant([0])
    codes, sizes, places = [], [], []
    for place, column in enumerate(grouping.columns):
        name = _input_name(column)
        values = [plain(label[place]) for label in grouping.labels]
        edges = grouping.cuts.get(column)
        if edges is not None:
            categories: list[Any] = list(range(len(edges) + 1))
            codes.append(_binned(graph, name, edges))
        else:
            categories = list(dict.fromkeys(values))
            codes.append(_coded(graph, name, categories))
        sizes.append(len(categories) + 1)
        places.append([categories.index(value) for value in values])
    table = np.full(sizes, len(grouping.labels), np.int64)
    table[tuple(np.array(places))] = np.arange(len(grouping.labels))
    steps = np.append(np.cumprod(sizes[:0:-1])[::-1], 1).astype(np.int64)
    index = graph.add("Mul", codes[0], graph.constant(steps[0]))
    for code, step in zip(codes[1:], steps[1:], strict=True):
        index = graph.add("Add", index, graph.add("Mul", code, graph.constant(step)))
    return graph.add("Gather", graph.constant(table.ravel()), index, axis=0)


def _coded(graph: Graph, name: str, categories: list[Any]) -> str:
    """The place of each value among the categories; that after the last if it is none of them."""
    codes = list(range(len(categories)))
    if _is_text(categories):
        return graph.add(
            "LabelEncoder",
            name,
            domain="ai.onnx.ml",
            keys_strings=categories,
            values_int64s=codes,
            default_int64=len(categories),
        )
    if any(isinstance(value, str) for value in categories):
        raise InputTypeError(f"The column {name!r} holds text and numbers; ONNX has no such type.")
    values = graph.constant([float(plain(value, EXACT)) for value in categories])
    column = graph.add("Unsqueeze", name, graph.constant([1]))
    is_equal = graph.add("Cast", graph.add("Equal", column, values), to=INT64)
    offsets = graph.constant([code - len(categories) for code in codes], np.int64)
    moved = graph.add(
        "ReduceSum", graph.add("Mul", is_equal, offsets), graph.constant([1]), keepdims=0
    )
    return graph.add("Add", moved, graph.constant(len(categories), np.int64))


def _binned(graph: Graph, name: str, edges: tuple[float, ...]) -> str:
    """The number of edges below each value."""
    column = graph.add("Unsqueeze", name, graph.constant([1]))
    above = graph.add(
        "Cast", graph.add("Greater", column, graph.constant(edges, np.float64)), to=INT64
    )
    return graph.add("ReduceSum", above, graph.constant([1]), keepdims=0)


def _decision(graph: Graph, rule: Description) -> int:
    """Add the class selected by the draw; return the type of the labels."""
    from onnx import TensorProto

    classes = len(rule.classes)
    ends = graph.add("CumSum", "probabilities", graph.constant(1, np.int64))
    total = graph.add("Gather", ends, graph.constant(classes - 1, np.int64), axis=1)
    place = graph.add("Unsqueeze", graph.add("Mul", "lot", total), graph.constant([1]))
    passed = graph.add("GreaterOrEqual", place, ends)
    count = graph.add(
        "ReduceSum", graph.add("Cast", passed, to=INT64), graph.constant([1]), keepdims=0
    )
    capped = graph.add("Min", count, graph.constant(classes - 1, np.int64))
    nowhere = graph.constant(classes, np.int64)
    chosen = graph.add("Where", graph.add("IsNaN", total), nowhere, capped)
    labels = [plain(label) for label in rule.classes]
    if "" in labels:
        raise InputError("The label '' means no decision in ONNX: rename it.")
    if _is_text(labels):
        names, kind = graph.constant(np.array([*labels, ""], object)), TensorProto.STRING
    elif all(isinstance(label, int) for label in labels):
        names = graph.constant([*map(int, labels), NO_DECISION], np.int64)
        kind = TensorProto.INT64
    else:
        names, kind = graph.constant([*map(float, labels), np.nan]), TensorProto.DOUBLE
    graph.add("Gather", names, chosen, axis=0, output="decision")
    return int(kind)


def _group_inputs(grouping: Grouping | None) -> list[Any]:
    if grouping is None:
        return []
    return [_group_input(grouping, place) for place in range(len(grouping.columns))]


def _group_input(grouping: Grouping, place: int) -> Any:
    from onnx import TensorProto, helper

    name = grouping.columns[place]
    text = name not in grouping.cuts and _is_text([label[place] for label in grouping.labels])
    kind = TensorProto.STRING if text else TensorProto.DOUBLE
    return helper.make_tensor_value_info(_input_name(name), kind, ["rows"])


def _input_name(column: str) -> str:
    """The name of a column, unless it is reserved."""
    return f"group_{column}" if not column or column in TAKEN else column


def _is_text(values: list[Any]) -> bool:
    return all(isinstance(value, str) for value in values)
