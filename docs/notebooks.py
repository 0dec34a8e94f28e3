"""The tutorials as notebooks, and their figures: `python docs/notebooks.py` writes the notebooks.

A tutorial is a page whose examples are doctests, so the build runs it and compares what it prints.
The notebook of the page holds the same text and code, with the output that was compared.
"""

from __future__ import annotations

import doctest
import io
import json
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGES = sorted(page for page in (HERE / "tutorials").glob("*.md") if page.stem != "index")
GALLERY = HERE / "gallery.md"
NOTEBOOKS = HERE.parent / "examples" / "notebooks"

FENCED = re.compile(r"^```\{(\w+)\}[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"\{doc\}`([^`<]+?) <[^`>]+>`")
UNNAMED = re.compile(r"\{doc\}`([^`<]+)`")
ONLY_ON_THE_PAGE = re.compile(r"^\*Download this page.*?\n\n", re.MULTILINE | re.DOTALL)


def notebook(page: Path) -> dict[str, Any]:
    """The page as a notebook (nbformat 4.5)."""
    cells = [cell | {"id": f"{page.stem}-{at}"} for at, cell in enumerate(_cells(page))]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def written(page: Path) -> str:
    """The text of the notebook's file."""
    return json.dumps(notebook(page), indent=1, ensure_ascii=False) + "\n"


def draw(folder: Path) -> None:
    """Draw the figures of every tutorial and of the gallery, by running the page once."""
    for page in [*PAGES, GALLERY]:
        files = [folder / name for name in re.findall(r"generated/(\S+\.png)", page.read_text())]
        if not all(file.exists() and _is_newer(file, page) for file in files):
            _draw(page, files)


def _draw(page: Path, files: list[Path]) -> None:
    import matplotlib.pyplot as plt
    from matplotlib.figure import Figure

    left, namespace, drawn = iter(files), {"__name__": "__main__"}, set()
    for cell in notebook(page)["cells"]:
        if cell["cell_type"] == "code":
            with redirect_stdout(io.StringIO()):
                exec("".join(cell["source"]), namespace)
        figure = namespace.get("figure")  # pyplot does not know those of an audit
        if isinstance(figure, Figure) and figure not in drawn:
            figure.savefig(next(left), dpi=144)
            drawn.add(figure)
        plt.close("all")


def _is_newer(file: Path, page: Path) -> bool:
    return file.stat().st_mtime >= page.stat().st_mtime


def _cells(page: Path) -> Iterator[dict[str, Any]]:
    text, done = ONLY_ON_THE_PAGE.sub("", page.read_text(encoding="utf-8")), 0
    for block in FENCED.finditer(text):
        yield from _prose(text[done : block.start()], page)
        if block[1] == "doctest":
            yield from _code(block[2])
        done = block.end()
    yield from _prose(text[done:], page)


def _prose(text: str, page: Path) -> Iterator[dict[str, Any]]:
    def title(reference: re.Match[str]) -> str:
        target = (page.parent / f"{reference[1]}.md").read_text(encoding="utf-8")
        return f'"{target.partition("# ")[2].partition(chr(10))[0]}"'

    text = UNNAMED.sub(title, NAMED.sub(r"\1", text)).strip()
    if text:
        yield {"cell_type": "markdown", "metadata": {}, "source": _lines(text)}


def _code(block: str) -> Iterator[dict[str, Any]]:
    """A cell for each run of statements that ends in output, which a notebook shows below it."""
    source = ""
    for example in doctest.DocTestParser().get_examples(block):
        source += example.source
        if example.want:
            yield _code_cell(source, example.want.replace("<BLANKLINE>", ""))
            source = ""
    if source:
        yield _code_cell(source)


def _code_cell(source: str, printed: str = "") -> dict[str, Any]:
    output = {"name": "stdout", "output_type": "stream", "text": _lines(printed)}
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [output] if printed else [],
        "source": _lines(source.rstrip("\n")),
    }


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


if __name__ == "__main__":
    NOTEBOOKS.mkdir(exist_ok=True)
    for page in PAGES:
        (NOTEBOOKS / f"{page.stem}.ipynb").write_text(written(page), encoding="utf-8")
