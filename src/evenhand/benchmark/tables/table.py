"""A table in words, as Markdown, LaTeX or comma-separated values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand._errors import InputError
from evenhand._writing import write_whole

LATEX = {
    "\\": r"\textbackslash{}",
    **{mark: rf"\{mark}" for mark in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "−": "$-$",
    "–": "--",
    "×": r"$\times$",
    "±": r"$\pm$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "†": r"\dag{}",
    "²": "$^2$",
    "τ": r"$\tau$",
    "α": r"$\alpha$",
}


@dataclass(frozen=True)
class Table:
    """A table in words.

    Parameters
    ----------
    name : str
        Its address on the page.
    title : str
        What it shows.
    head : tuple of str
        The names of the columns.
    rows : tuple of tuples of str
        The cells.
    note : str, default ""
        A sentence below it.
    numeric : frozenset of int, default frozenset()
        Which columns hold numbers.

    Examples
    --------
    >>> Table("sizes", "Sizes", ("Data", "Rows"), (("people", "300"),)).head
    ('Data', 'Rows')

    """

    name: str
    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    numeric: frozenset[int] = frozenset()

    def to_markdown(self) -> str:
        r"""As a Markdown table with its title and note.

        >>> print(Table("sizes", "Sizes", ("Data", "Rows"), (("a|b", "300"),)).to_markdown())
        ### Sizes
        <BLANKLINE>
        | Data | Rows |
        | --- | --- |
        | a\|b | 300 |
        <BLANKLINE>
        """
        rule = ["---:" if at in self.numeric else "---" for at in range(len(self.head))]
        lines = [self.head, tuple(rule), *self.rows]
        cells = [" | ".join(cell.replace("|", "\\|") for cell in line) for line in lines]
        body = "\n".join(f"| {line} |" for line in cells)
        return f"### {self.title}\n\n{body}\n" + (f"\n{self.note}\n" if self.note else "")

    def to_latex(self) -> str:
        r"""As a LaTeX table; the document needs the package booktabs.

        >>> r"a\_b & 300" in Table("sizes", "Sizes", ("Data", "Rows"), (("a_b", "300"),)).to_latex()
        True
        """
        note = f"\n{self.note}" if self.note else ""
        text = self._frame(_latex).to_latex(
            index=False,
            escape=False,  # it knows no signs of mathematics
            column_format="".join("lr"[at in self.numeric] for at in range(len(self.head))),
            caption=_latex(f"{self.title}.{note}"),
            label=f"tab:{self.name}",
        )
        return str(text.replace("\n", "\n\\centering\n", 1))

    def to_csv(self) -> str:
        """As comma-separated values, the head first.

        >>> print(Table("sizes", "Sizes", ("Data", "Rows"), (("a, b", "300"),)).to_csv(), end="")
        Data,Rows
        "a, b",300
        """
        return str(self._frame(str).to_csv(index=False, lineterminator="\n"))

    def _frame(self, written: Callable[[str], str]) -> Any:
        rows = [[written(cell) for cell in row] for row in self.rows]
        import pandas as pd

        return pd.DataFrame(rows, columns=[written(name) for name in self.head], dtype=object)


def write_tables(
    tables: Iterable[Table], folder: str | Path, formats: Sequence[str] = ("tex", "md", "csv")
) -> list[Path]:
    """Write tables as LaTeX, Markdown and CSV files, each under its name.

    Parameters
    ----------
    tables : iterable of Table
        What is written.
    folder : str or Path
        Made if it is not there.
    formats : sequence of {"tex", "md", "csv"}, default all
        Which files.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    ValueError
        If there is no such format.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> table = Table("sizes", "Sizes", ("Data", "Rows"), (("people", "300"),))
    >>> with TemporaryDirectory() as folder:
    ...     [path.name for path in write_tables([table], folder)]
    ['sizes.tex', 'sizes.md', 'sizes.csv']

    """
    writers = {"tex": Table.to_latex, "md": Table.to_markdown, "csv": Table.to_csv}
    for kind in formats:
        if kind not in writers:
            raise InputError(f"Tables are written as {', '.join(writers)}, not as {kind!r}.")
    Path(folder).mkdir(parents=True, exist_ok=True)
    paths = []
    for table in tables:
        for kind in formats:
            path = Path(folder) / f"{table.name}.{kind}"
            write_whole(path, writers[kind](table))
            paths.append(path)
    return paths


def _latex(text: str) -> str:
    r"""Text with what LaTeX would read as a command made harmless.

    >>> _latex("50 % of a_b")
    '50 \\% of a\\_b'
    """
    return "".join(LATEX.get(mark, mark) for mark in text)
