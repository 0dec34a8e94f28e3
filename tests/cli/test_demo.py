import webbrowser

import pytest
from click.testing import CliRunner

from evenhand.cli import demo as module
from evenhand.cli.demo import demo


@pytest.mark.slow
def test_the_demo_ends_in_a_report_and_says_where_it_is(folder, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    result = CliRunner().invoke(demo, ["--html", "r.html", "--open"])
    assert result.exit_code == 0, result.stderr
    assert f"The report is in {folder / 'r.html'}" in result.stdout
    page = (folder / "r.html").read_text()
    assert "UCI Adult" in page
    assert opened == [(folder / "r.html").as_uri()]


def test_a_report_that_cannot_be_written_is_an_error_after_the_table(folder, monkeypatch):
    class Found:
        def document(self):
            return {}

        def to_html(self):
            return "page"

    monkeypatch.setattr(module, "audited_adult", Found)
    monkeypatch.setattr(module, "show", lambda *given: None)
    result = CliRunner().invoke(demo, ["--html", "/dev/full"])
    assert result.exit_code == 4
    assert result.stderr == "Error: /dev/full was not written: No space left on device.\n"
