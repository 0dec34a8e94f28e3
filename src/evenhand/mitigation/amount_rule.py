"""A rule for predicted amounts, as a value: lines for each group, exportable from Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand._columns.encoding import finite
from evenhand._errors import InputError
from evenhand.mitigation.deploy import (
    Grouping,
    Moves,
    moves_model,
    moves_query,
    moves_source,
    moves_words,
)
from evenhand.mitigation.deploy.description import check_plain
from evenhand.mitigation.deploy.stored import (
    check_grouping,
    grouping_of,
    listed,
    restored,
    stored,
    whole_rule,
)

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

FORMAT = "evenhand amount rule 1"
MOST_PIECES = 5000  # of a group, in an export
MOST_NUMBERS = 1 << 24  # of a rule that is read, if every group had as many as the largest


@dataclass(frozen=True, eq=False, repr=False)
class AmountRule:
    """Moves the predictions of each group along lines; where they split, one is drawn at random.

    `rule_` of the regressors that move predictions by group: what it says of a base prediction and
    a group is what their `predict` does.

    Parameters
    ----------
    moves : Moves
        Cuts, lines and chances of each group.

    Examples
    --------
    >>> import numpy as np
    >>> from evenhand.mitigation import BarycenterRegressor, GivenScores
    >>> X = np.array([[0, 1.0], [0, 2.0], [1, 5.0], [1, 8.0]])
    >>> rule = BarycenterRegressor(GivenScores(1), group=0).fit(X, X[:, 1]).rule_
    >>> rule.amounts(np.array([1.5, 6.0]), np.array([0, 1]))
    array([4.        , 3.66666667])

    """

    moves: Moves

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.moves.pools} groups, {self.pieces} pieces at most>"

    @property
    def pieces(self) -> int:
        """The most pieces that a group has."""
        return int(np.isfinite(self.moves.cuts).sum(axis=1).max()) + 1

    @property
    def draws(self) -> bool:
        """Whether any prediction is random."""
        return self.moves.draws

    def amounts(self, before: Any, codes: Codes | None = None, lots: Any = None) -> Floats:
        """The new values of predictions.

        Parameters
        ----------
        before : array-like of shape (n_rows,)
            Predictions of the base model.
        codes : ndarray of shape (n_rows,), default None
            The places of their groups; None where the rule is for everyone.
        lots : array-like of shape (n_rows,), default None
            Their lots, from 0 to 1; None gives what is expected over lots.

        Returns
        -------
        ndarray of shape (n_rows,)
            The new predictions.

        """
        values = finite(before, "the prediction")
        pool = np.zeros(len(values), np.intp) if codes is None else np.asarray(codes, np.intp)
        if lots is None:
            return self.moves.expected(values, pool)
        return self.moves.amounts(values, pool, np.asarray(lots, np.float64))

    def simplified(self, tolerance: float) -> AmountRule:
        """The same with fewer pieces, with predictions off by at most `tolerance`.

        Parameters
        ----------
        tolerance : float
            By how much predictions may differ.

        Returns
        -------
        AmountRule
            Lines through some of the old knots. A rule with steps or random draws is unchanged.

        """
        moves = self.moves
        if moves.end.shape[2] > 1 or not moves.slope.any() or self.pieces < 3:
            return self
        lines = []
        for pool in range(moves.pools):
            cuts = moves.cuts[pool][np.isfinite(moves.cuts[pool])]
            images = moves.expected(cuts, np.full(len(cuts), pool))
            knots = _knots(cuts, images, tolerance)
            ends = moves.slope[pool, 0, 0], moves.slope[pool, len(cuts), 0]
            lines.append((cuts[knots], images[knots], *ends))
        return AmountRule(broken_lines(lines, moves.grouping))

    def explain(self) -> str:
        """The rule in plain English.

        Returns
        -------
        str
            A line for each group: what is added, or what five amounts become.

        """
        return moves_words(self.moves)

    def to_sql(
        self,
        dialect: str = "duckdb",
        *,
        table: str = "people",
        amount: str = "prediction_before",
        group: str | Sequence[str] | None = None,
        row_id: str | Sequence[str] | None = None,
        key: int | str | None = None,
    ) -> str:
        """The rule as a query over a table of predictions; it needs SQLGlot to be written.

        Parameters
        ----------
        dialect : str, default "duckdb"
            As of `DecisionRule.to_sql`.
        table : str, default "people"
            The table or view.
        amount : str, default "prediction_before"
            The column of the base model's predictions.
        group : str or sequence of str, default None
            The columns that name the group, where they have other names than at fit.
        row_id : str or sequence of str, default None
            The column of the ids, whose lots decide; needed where lots do.
        key : int or str, default None
            The key of the draws: `key_` of a fitted model.

        Returns
        -------
        str
            A query that gives all columns of the table and `prediction`, and where lots decide
            `lot`. A row whose group is not known, or that has no amount, has no prediction.

        Raises
        ------
        InputError
            If a group has more than 5,000 pieces: see `simplified`.

        """
        self._check_size()
        return moves_query(
            self.moves, dialect, table=table, amount=amount, group=group, row_id=row_id, key=key
        )

    def to_onnx(self) -> Any:
        """The rule as an ONNX model; it needs onnx.

        Its inputs are `amount` (double), one for each column that names the group (text, or
        double), and where lots decide `lot` (double); its output is `prediction`, NaN where the
        group is not known.

        Returns
        -------
        onnx.ModelProto
            The model; `SerializeToString` gives its bytes.

        """
        self._check_size()
        return moves_model(self.moves)

    def to_python(self) -> str:
        """The rule as source of Python functions that need nothing but Python.

        Returns
        -------
        str
            Source that defines `predict(amount, group, person, key)`, and `pool` and `lot`.

        """
        self._check_size()
        return moves_source(self.moves)

    def to_json(self) -> str:
        """The rule as text that any language can read: cuts and lines of each group.

        Returns
        -------
        str
            By group its cuts and, piece by piece, an anchor and the outcomes (end of the lots,
            start, slope): an amount becomes start + slope · (amount − anchor).

        """
        grouping = self.moves.grouping
        content: dict[str, Any] = {"format": FORMAT, "groups": None}
        if grouping is not None:
            content["groups"] = asdict(grouping)
        content["rules"] = [
            {"cuts": cuts, "pieces": [{"anchor": at, "outcomes": lines} for at, lines in pieces]}
            for cuts, pieces in map(self.moves.listed, range(self.moves.pools))
        ]
        return stored(content)

    @classmethod
    def from_json(cls, text: str) -> AmountRule:
        """The rule that `to_json` wrote.

        Parameters
        ----------
        text : str
            What it wrote.

        Returns
        -------
        AmountRule
            The same rule.

        Raises
        ------
        InputError
            If the text is not a rule, has no checksum, is too large, or was damaged since.

        """
        with whole_rule():
            content = restored(text, FORMAT)
            grouping = grouping_of(content)
            pools = [(rule["cuts"], rule["pieces"]) for rule in listed(content["rules"])]
            moves = replace(_padded(pools), grouping=grouping)
            if grouping is None and moves.pools != 1:
                raise InputError("The rule is damaged: it has several groups, and none is named.")
            if grouping is not None:
                check_plain((), grouping)
                check_grouping(grouping, moves.pools)
        return cls(moves)

    def _check_size(self) -> None:
        if self.pieces > MOST_PIECES:
            raise InputError(
                f"A group has {self.pieces:,} pieces, more than the {MOST_PIECES:,} that are "
                "written down. rule_.simplified(tolerance) has fewer; or fit in bins, support=100."
            )


def _padded(pools: Sequence[tuple[Any, Any]]) -> Moves:
    """Cuts and pieces of each pool as arrays, all as long as the longest."""
    pieces = max(len(pieces_of_pool) for _, pieces_of_pool in pools)
    outcomes = max(
        len(piece["outcomes"]) for _, pieces_of_pool in pools for piece in pieces_of_pool
    )
    if len(pools) * pieces * outcomes > MOST_NUMBERS:
        raise InputError("The rule is too large to be read.")
    cuts = np.full((len(pools), pieces - 1), np.inf)
    anchor = np.zeros((len(pools), pieces))
    lines = np.zeros((len(pools), pieces, outcomes, 3))
    lines[..., 0] = 1.0
    for pool, (edges, pieces_of_pool) in enumerate(pools):
        cuts[pool, : len(edges)] = edges
        for place, piece in enumerate(pieces_of_pool):
            anchor[pool, place] = piece["anchor"]
            rows_of_piece = np.array(piece["outcomes"], dtype=np.float64)
            lines[pool, place, : len(rows_of_piece)] = rows_of_piece
            if rows_of_piece[-1, 0] != 1 or (np.diff(rows_of_piece[:, 0], prepend=0) < 0).any():
                raise InputError("The rule is damaged: the ends of its lots do not rise to 1.")
        if len(pieces_of_pool) != len(edges) + 1 or (np.diff(edges) < 0).any():
            raise InputError("The rule is damaged: its pieces do not fit its cuts.")
    if not all(np.isfinite(part).all() for part in (anchor, lines)):
        raise InputError("The rule is damaged: some of its numbers are infinite.")
    return Moves(cuts, anchor, *np.moveaxis(lines, -1, 0))


def shifts(by: Floats, grouping: Grouping | None) -> Moves:
    """A constant is added in each group.

    >>> shifts(np.array([1.0, -1.0]), None).amounts(np.zeros(2), np.array([0, 1]), np.zeros(2))
    array([ 1., -1.])
    """
    shape = (len(by), 1, 1)
    zeros, ones = np.zeros((len(by), 1)), np.ones(shape)
    return Moves(np.empty((len(by), 0)), zeros, ones, by.reshape(shape), ones, grouping)


def broken_lines(
    lines: Sequence[tuple[Floats, Floats, float, float]], grouping: Grouping | None
) -> Moves:
    """Lines through knots, given by group as (places, images, slope before, slope after)."""
    size = max(len(places) for places, *_ in lines)
    cuts = np.full((len(lines), size), np.inf)
    anchor, start, slope = (np.zeros((len(lines), size + 1)) for _ in range(3))
    for at, (places, images, before, after) in enumerate(lines):
        count = len(places)
        cuts[at, :count] = places
        anchor[at, : count + 1] = places[np.maximum(np.arange(count + 1) - 1, 0)]
        start[at, : count + 1] = images[np.maximum(np.arange(count + 1) - 1, 0)]
        slope[at, : count + 1] = [before, *(np.diff(images) / np.diff(places)), after]
    ones = np.ones((len(lines), size + 1, 1))
    return Moves(cuts, anchor, ones, start[:, :, None], slope[:, :, None], grouping)


def outcomes(
    pieces: Sequence[tuple[Floats, Sequence[tuple[Floats, Floats]]]], grouping: Grouping | None
) -> Moves:
    """Random values, given by group as (cuts, and of each piece (ends of the lots, values))."""
    size = max(len(cuts) for cuts, _ in pieces)
    width = max(len(ends) for _, pieces_of_pool in pieces for ends, _ in pieces_of_pool)
    cuts = np.full((len(pieces), size), np.inf)
    end, start = np.ones((len(pieces), size + 1, width)), np.zeros((len(pieces), size + 1, width))
    for at, (places, pieces_of_pool) in enumerate(pieces):
        cuts[at, : len(places)] = places
        for piece, (ends, values) in enumerate(pieces_of_pool):
            end[at, piece, : len(ends)] = ends
            start[at, piece] = values[-1]
            start[at, piece, : len(values)] = values
    anchor = np.zeros((len(pieces), size + 1))
    return Moves(cuts, anchor, end, start, np.zeros_like(start), grouping)


def _knots(places: Floats, images: Floats, tolerance: float) -> list[int]:
    """Some of the knots: lines through them are within `tolerance` of all others.

    From the last knot kept, the slopes that pass every later knot closely enough are an interval
    that shrinks; the next is kept where a line to it would leave it.
    """
    knots, low, high = [0], -np.inf, np.inf
    for at in range(1, len(places)):
        run, rise = places[at] - places[knots[-1]], images[at] - images[knots[-1]]
        if not low <= rise / run <= high:
            knots.append(at - 1)
            low, high = -np.inf, np.inf
            run, rise = places[at] - places[at - 1], images[at] - images[at - 1]
        low, high = max(low, (rise - tolerance) / run), min(high, (rise + tolerance) / run)
    return [*knots, len(places) - 1] if len(places) > 1 else knots
