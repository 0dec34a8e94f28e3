"""A workbook of Excel is the table on its first sheet."""

import zipfile
from xml.sax.saxutils import escape

import pytest

from evenhand._files import excel
from evenhand._files.excel import sheet
from evenhand._files.files import connect
from evenhand.app.tables import Opened

SPACE = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
CELLS = """
<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="inlineStr"><is>
<t>sex</t></is></c><c r="D1" t="str"><v>new</v></c></row>
<row r="2"><c r="A2"><v>1</v></c><c r="B2"><v>0.25</v></c><c r="C2" t="s"><v>2</v></c>
<c r="D2" t="b"><v>1</v></c></row>
<row r="3"/>
<row r="4"><c r="A4"><v>0.0</v></c><c r="C4" t="s"><v>3</v></c><c r="D4" t="b"><v>0</v></c></row>
<row r="5"><c r="A5"><v>0</v></c><c r="B5" t="e"><v>#N/A</v></c><c r="C5" t="s"><v>3</v></c></row>
"""
TEXTS = ["y", "score", "F & <b>", "007", 1000 * "x"]


def workbook(path, cells=CELLS, first="sheet2"):
    """A workbook whose first sheet lies in a file with another number."""
    texts = "".join(f"<si><t>{escape(text)}</t></si>" for text in TEXTS)
    parts = {
        "xl/workbook.xml": f'<workbook {SPACE} xmlns:r="{OFFICE}"><sheets>'
        '<sheet name="b" r:id="r2"/><sheet name="a" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}">'
        '<Relationship Id="r1" Target="worksheets/sheet1.xml"/>'
        f'<Relationship Id="r2" Target="worksheets/{first}.xml"/></Relationships>',
        "xl/sharedStrings.xml": f"<sst {SPACE}>{texts}</sst>",
        "xl/worksheets/sheet1.xml": f"<worksheet {SPACE}><sheetData/></worksheet>",
        "xl/worksheets/sheet2.xml": f"<worksheet {SPACE}><sheetData>{cells}</sheetData>"
        "</worksheet>",
    }
    with zipfile.ZipFile(path, "w") as book:
        for name, text in parts.items():
            book.writestr(name, text)
    return path


def test_cells_are_what_stands_in_them(tmp_path):
    names, rows = sheet(workbook(tmp_path / "book.xlsx"))
    assert names == ["y", "score", "sex", "new"]
    assert rows == [
        ["1", "0.25", "F & <b>", "true"],
        ["0", None, "007", "false"],
        ["0", None, "007", None],
    ]


def test_a_workbook_opens_as_any_other_file(tmp_path):
    opened = Opened(workbook(tmp_path / "book.xlsx"), "book.xlsx", connect(tmp_path))
    kinds = [(column.name, column.kind, column.missing) for column in opened.columns]
    assert kinds == [
        ("y", "whole numbers", 0),
        ("score", "numbers", 2),
        ("sex", "text", 0),
        ("new", "yes or no", 1),
    ]
    opened.database.close()


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        ("", "empty"),
        ('<row><c t="s"><v>0</v></c><c t="s"><v>0</v></c></row>', "twice"),
        (
            '<row><c t="s"><v>0</v></c></row><row><c><v>1</v></c><c><v>2</v></c></row>',
            "more values",
        ),
        ('<row><c t="s"><v>99</v></c></row>', "cannot be read"),
        ("<row>", "cannot be read"),
    ],
)
def test_a_workbook_that_is_no_table_is_refused(tmp_path, cells, problem):
    with pytest.raises(ValueError, match=problem):
        sheet(workbook(tmp_path / "book.xlsx", cells))


LONG = "<row>" + '<c t="s"><v>4</v></c>' * 20 + "</row>"
WIDE = '<row><c r="ZZZ2"><v>1</v></c></row>'


@pytest.mark.parametrize("cells", ["<row/>" * 300, WIDE, LONG], ids=["rows", "columns", "texts"])
def test_a_small_workbook_that_fills_the_memory_is_refused(tmp_path, monkeypatch, cells):
    """Empty rows, empty cells before the last one, and one text in many cells take few bytes."""
    monkeypatch.setattr(excel, "MOST_UNPACKED", 15_000)
    path = workbook(tmp_path / "book.xlsx", cells)
    assert sum(entry.file_size for entry in zipfile.ZipFile(path).infolist()) < 15_000
    with pytest.raises(ValueError, match="more than 2 GiB"):
        sheet(path)


def test_what_is_no_workbook_is_refused(tmp_path):
    (tmp_path / "book.xlsx").write_bytes(b"PK not a zip")
    with pytest.raises(ValueError, match="cannot be read as a workbook"):
        sheet(tmp_path / "book.xlsx")
