"""Columns of any kind and from any library become the same codes and labels."""

import datetime
import gc
import sys
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand as eh
from evenhand._columns import encode, encoding
from evenhand._columns.codes import ROWS_AT_A_TIME, combine, factorize_few, factorize_many, union
from evenhand._columns.encoding import numbers

TEXT = ["b", "a", "ü", "b", "a long one that exceeds eight bytes", ""]

MAKERS = {
    "list": list,
    "tuple": tuple,
    "object array": lambda values: np.array(values, dtype=object),
    "fixed-width text": np.array,
    "big-endian text": lambda values: np.array(values).astype(">U40"),
    "pandas str": lambda values: pd.Series(values, dtype="str"),
    "pandas object": lambda values: pd.Series(values, dtype=object),
    "pandas category": lambda values: pd.Series(values, dtype="category"),
    "pandas arrow": lambda values: pd.Series(values, dtype=pd.ArrowDtype(pa.string())),
    "polars": pl.Series,
    "polars categorical": lambda values: pl.Series(values, dtype=pl.Categorical),
    "arrow": lambda values: pa.chunked_array([values[:2], values[2:]]),
    "arrow dictionary": lambda values: pa.chunked_array([values]).dictionary_encode(),
}
if hasattr(pa, "string_view"):
    MAKERS["arrow views"] = lambda values: pa.array(values, pa.string_view())
    MAKERS["pandas arrow views"] = lambda values: pd.Series(
        values, dtype=pd.ArrowDtype(pa.string_view())
    )
if hasattr(np.dtypes, "StringDType"):
    MAKERS["numpy text of any width"] = lambda values: np.array(
        values, np.dtypes.StringDType(na_object=None)
    )


def decoded(column):
    return [column.labels[code] for code in column.codes]


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_text_from_any_library_is_encoded_alike(make):
    column = encode(make(TEXT))
    assert decoded(column) == TEXT
    assert column.labels == tuple(sorted(set(TEXT)))


@pytest.mark.parametrize("kind", sorted(MAKERS.keys() - {"fixed-width text", "big-endian text"}))
def test_missing_text_is_none_in_any_library(kind):
    column = encode(MAKERS[kind](["x", None, "y", None]))
    assert column.labels == ("x", "y", None)
    assert column.missing == 2


@pytest.mark.parametrize("with_pandas", [True, False])
def test_objects_that_share_no_addresses_are_encoded_with_and_without_pandas(
    with_pandas, monkeypatch
):
    if not with_pandas:
        monkeypatch.delitem(sys.modules, "pandas")
    values = [f"name {i % 2000}" for i in range(4000)] + [None, float("nan"), 1, True, 1.0]
    column = encode(values)
    assert len(column.labels) == 2002
    assert decoded(column)[:4000] == values[:4000]
    assert column.missing == 2
    assert column.labels[0] == 1
    assert len(set(column.codes[-3:])) == 1


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="NumPy 2 has it")
@pytest.mark.parametrize("missing", [np.nan, pd.NA], ids=str)
def test_text_of_any_width_may_have_any_sign_of_missing(missing):
    dtype = np.dtypes.StringDType(na_object=missing)
    assert encode(np.array(["x", missing, "y", missing], dtype)).labels == ("x", "y", None)
    assert encode(np.array(["x", "y"], np.dtypes.StringDType())).labels == ("x", "y")


@pytest.mark.parametrize("dtype", [">U3", ">U2", ">U9", ">f8", ">i8", ">i4", ">M8[D]"])
def test_the_order_of_bytes_changes_nothing(dtype):
    text = {
        "U": ["AAA", "AAB"],
        "f": [0.5, -2.0],
        "i": [2**30, 5],
        "M": ["2024-01-01", "1999-12-31"],
    }
    values = np.array(text[dtype[1]] * 2).astype(dtype)
    swapped, native = encode(values), encode(values.astype(dtype.replace(">", "=")))
    assert decoded(swapped) == decoded(native)
    assert len(swapped.labels) == (1 if dtype == ">U2" else 2)


@pytest.mark.parametrize(
    "values", [["a", "b", "a"], [1, 2, 1], [1.0, 2.0, 1.0], [True, False, True]]
)
def test_what_a_mask_hides_is_missing(values):
    column = encode(np.ma.array(values, mask=[False, False, True]))
    assert decoded(column) == [*values[:2], None]
    assert encode(np.ma.array(values)).missing == 0


def test_a_masked_label_weight_or_score_is_refused_and_a_masked_group_named():
    full, hidden = np.array([1, 0, 1, 0]), np.ma.array([1, 0, 1, 0], mask=[0, 0, 0, 1])
    with pytest.raises(ValueError, match="y_pred has 1 missing labels"):
        eh.tally(full, hidden, sensitive_features=[*"aabb"])
    with pytest.raises(ValueError, match="1 of 4 rows has no value of 'group'"):
        eh.tally(full, full, sensitive_features=hidden)
    with pytest.raises(ValueError, match="sample_weight has 1 value that is not finite"):
        eh.tally(full, full, sensitive_features=[*"aabb"], sample_weight=hidden)
    scores = np.ma.array(np.full((4, 2), 0.5), mask=np.eye(4, 2))
    with pytest.raises(ValueError, match="y_score has values that are not finite"):
        eh.evaluate("performance_parity", full, y_score=scores, sensitive_features=full, g="auroc")
    with pytest.raises(ValueError, match="Row 0 of probabilities"):
        eh.tally(full, scores, classes=[0, 1], sensitive_features=full)


@pytest.mark.slow
@given(
    st.lists(
        st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=9),
        min_size=1,
    ),
    st.sampled_from([*MAKERS]),
    st.data(),
)
def test_order_of_bytes_library_and_mask_tell_the_same_rows_apart(values, kind, data):
    made = MAKERS[kind](values)
    assert decoded(encode(made)) == values
    if isinstance(made, np.ndarray) and made.dtype.kind != "T":
        hidden = data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
        seen = [None if hide else value for value, hide in zip(values, hidden, strict=True)]
        assert decoded(encode(np.ma.array(made, mask=hidden))) == seen


@pytest.mark.slow
def test_encoding_objects_keeps_nothing_alive():
    """Without the garbage collector: what is kept would be freed by it only."""
    gc.collect()
    gc.disable()
    try:
        tracemalloc.start()
        for _ in range(10):
            encode(np.array(["a", "b"] * 50_000, dtype=object))
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        gc.enable()
    assert kept < 100_000  # a single column has 800,000 bytes


def test_the_addresses_of_objects_cannot_be_written():
    values = np.array(["a", "b"], dtype=object)
    with pytest.raises(ValueError, match="read-only"):
        encoding._addresses(values)[0] = 0


def test_objects_are_hashed_where_addresses_mean_nothing(monkeypatch):
    monkeypatch.setattr(encoding, "HAS_ADDRESSES", False)
    monkeypatch.setattr(encoding, "_addresses", None)
    assert decoded(encode(["b", "a", None, "b"])) == ["b", "a", None, "b"]


def test_an_arrow_array_need_not_be_chunked():
    assert encode(pa.array(["b", "a", None])).labels == ("a", "b", None)
    assert numbers(pa.array([1.0, 2.0])).tolist() == [1.0, 2.0]


@pytest.mark.slow
def test_more_labels_than_sixteen_bits_number_are_told_apart():
    values = [f"name {i}" for i in range(70_000)] * 2
    column = encode(pa.chunked_array([values]))
    assert len(column.labels) == 70_000
    assert decoded(column) == values


@pytest.mark.parametrize("text", ["a", "ab", "abc", "abcd", "abcdefghi", "\U0010ffff" * 3])
def test_fixed_width_text_of_any_width_is_told_apart(text):
    values = np.array([text, text[:-1], text[::-1] + "", ""])
    assert decoded(encode(values)) == values.tolist()


@pytest.mark.parametrize(
    "values",
    [
        np.array([3, 1, 3], dtype=np.int8),
        np.array([10**12, -5, 10**12]),
        np.array([2**63, 1, 2**63], dtype=np.uint64),
        np.array([0.5, -0.25, 0.5]),
        np.array([True, False, True]),
        np.array(["2024-01-02", "2023-05-06", "2024-01-02"], dtype="datetime64[D]"),
        np.array([b"yes", b"no", b"yes"]),
        np.array([0.0, -1.0, -0.0]),
        pd.Series([3, 1, 3], dtype="Int64"),
        pl.Series([3, 1, 3]),
        pa.chunked_array([[3, 1, 3]]),
        pl.Series(
            [datetime.date(2024, 1, 2), datetime.date(2023, 5, 6), datetime.date(2024, 1, 2)]
        ),
    ],
    ids=lambda values: f"{type(values).__module__.split('.')[0]} {getattr(values, 'dtype', '')}",
)
def test_any_dtype_gives_two_sorted_labels(values):
    column = encode(values)
    assert column.codes.tolist() == [1, 0, 1]
    assert list(column.labels) == sorted(column.labels)
    first = values[0].as_py() if isinstance(values, pa.ChunkedArray) else values[0]
    assert column.labels[1] == first


@pytest.mark.parametrize(
    "values",
    [
        [1, None, 2],
        np.array([1.0, np.nan, 2.0]),
        pd.Series([1, pd.NA, 2], dtype="Int64"),
        pl.Series([1, None, 2]),
        pa.chunked_array([[1, None, 2]]),
        [1.0, float("nan"), 2.0],
    ],
)
def test_missing_numbers_are_none_in_any_library(values):
    assert encode(values).labels == (1, 2, None)


def test_labels_that_are_equal_are_one():
    assert encode([1, 1.0, True, np.int64(1)]).labels == (1,)


def test_unobserved_categories_are_no_labels():
    assert encode(pd.Categorical(["a", "c"], categories=["a", "b", "c"])).labels == ("a", "c")
    assert encode(pd.Series(["a", "c"], dtype=pd.CategoricalDtype(list("abc")))).labels == (
        "a",
        "c",
    )


def test_a_label_that_cannot_be_hashed_is_named():
    with pytest.raises(TypeError, match=r"holds \[1\], which cannot name"):
        encode(np.array([[1], "a"], dtype=object))
    with pytest.raises(TypeError, match=r"holds \('a', \[1\]\), which cannot name"):
        encode([("a", [1])])
    many = np.array([*map(str, range(3000)), {}], dtype=object)
    with pytest.raises(TypeError, match=r"holds \{\}, which cannot name"):
        encode(many)


def test_a_table_is_not_a_column():
    with pytest.raises(ValueError, match=r"one column; its shape is \(2, 2\)"):
        encode(np.ones((2, 2)), "y_true")


@pytest.mark.slow
@given(st.lists(st.one_of(st.text(max_size=20), st.integers(), st.none()), max_size=60))
def test_encoding_loses_nothing(values):
    assert decoded(encode(values)) == values


@pytest.mark.slow
@given(st.lists(st.text(st.characters(exclude_characters="\0"), max_size=12), min_size=1))
def test_fixed_width_text_equals_text_of_objects(values):
    fixed = encode(np.array(values))
    assert decoded(fixed) == values


@pytest.mark.parametrize("distinct", [3, 1000, 1025, 30_000])
def test_factorizing_is_exact_across_chunks(distinct):
    rng = np.random.default_rng(0)
    known = rng.integers(0, 2**64, distinct, dtype=np.uint64)
    words = known[np.sort(rng.integers(0, distinct, 2 * ROWS_AT_A_TIME + 17))]
    codes, found = factorize_few(words) or factorize_many(words)
    assert (found[codes] == words).all()
    assert len(np.unique(found)) == len(found)


def test_a_word_first_seen_in_the_last_row_is_found():
    words = np.zeros(3 * ROWS_AT_A_TIME, np.uint64)
    words[-1] = 7
    codes, known = factorize_few(words) or factorize_many(words)
    assert known[codes[-1]] == 7
    assert known[codes[0]] == 0


def test_combining_many_wide_columns_does_not_overflow():
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 5000, 20_000).astype(np.uint16) for _ in range(6)]
    codes, rows = combine([(column, 5000) for column in columns])
    pairs = np.stack(columns, axis=1)
    assert (pairs[rows][codes] == pairs).all()


def test_union_sorts_numbers_text_tuples_and_puts_missing_last():
    assert union([None, "b"], ["a", 2], [("x", 1)], [1.5]) == (1.5, 2, "a", "b", ("x", 1), None)


def test_numbers_are_read_from_any_library():
    for values in (
        [1, 2.5],
        pd.Series([1, 2.5]),
        pl.Series([1.0, 2.5]),
        pa.chunked_array([[1.0, 2.5]]),
    ):
        assert numbers(values).tolist() == [1.0, 2.5]


def test_text_is_not_numbers():
    with pytest.raises(TypeError, match="y_pred must be numbers; it holds 'a'"):
        numbers(["a", "b"], "y_pred")
