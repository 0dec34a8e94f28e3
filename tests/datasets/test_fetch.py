import hashlib
import sys
import zipfile
from pathlib import Path

import pytest

import evenhand
from evenhand.datasets import FetchError, File, download
from evenhand.datasets.fetch import data_dir, fetch

from .conftest import half, page, status, whole

CONTENT = b"age,sex\n" + b"39,Male\n" * 60_000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".lock")


def test_a_file_is_downloaded_once(server, tmp_path):
    server.serve(CONTENT, whole)
    assert fetch(server.file(sha256=SHA256)).read_bytes() == CONTENT
    assert fetch(server.file(sha256=SHA256)) == tmp_path / "rows.csv"
    assert len(server.asked) == 1
    assert left_in(tmp_path) == ["rows.csv"]


def test_a_cached_file_with_another_hash_is_downloaded_again(server, tmp_path):
    (tmp_path / "rows.csv").write_bytes(b"damaged")
    server.serve(CONTENT, whole)
    assert fetch(server.file(sha256=SHA256)).read_bytes() == CONTENT


def test_a_connection_that_drops_is_resumed(server, monkeypatch):
    monkeypatch.setattr(download, "CHUNK", 1 << 10)
    server.serve(CONTENT, half, whole)
    assert fetch(server.file(sha256=SHA256)).read_bytes() == CONTENT
    assert "Range" not in server.asked[0]
    assert int(server.asked[1]["Range"][6:-1]) > len(CONTENT) // 3


def test_a_part_left_by_an_earlier_run_is_resumed(server, tmp_path):
    (tmp_path / "rows.csv.part").write_bytes(CONTENT[:1000])
    (tmp_path / "rows.csv.part.etag").write_text('"v1"')
    server.serve(CONTENT, whole)
    assert fetch(server.file(sha256=SHA256)).read_bytes() == CONTENT
    assert server.asked[0]["Range"] == "bytes=1000-"


def test_a_part_of_another_version_is_not_resumed(server, tmp_path):
    (tmp_path / "rows.csv.part").write_bytes(b"x" * 1000)
    (tmp_path / "rows.csv.part.etag").write_text('"v0"')
    server.serve(CONTENT, whole)
    assert fetch(server.file()).read_bytes() == CONTENT


def test_a_file_that_always_breaks_off_is_not_cached(server, tmp_path, monkeypatch):
    monkeypatch.setattr(download, "CHUNK", 1 << 10)
    server.serve(CONTENT, half)
    with pytest.raises(FetchError, match=r"broke off: [\d,]+ of 480,008 bytes.*Run again"):
        fetch(server.file(sha256=SHA256))
    assert len(server.asked) == download.ATTEMPTS
    assert not (tmp_path / "rows.csv").exists()


def test_a_wrong_hash_is_refused_and_nothing_is_kept(server, tmp_path):
    server.serve(CONTENT + b"40,Female\n", whole)
    with pytest.raises(FetchError, match=rf"does not have the expected sha256 {SHA256}"):
        fetch(server.file(sha256=SHA256))
    assert left_in(tmp_path) == []


@pytest.mark.parametrize("sha256", [None, SHA256])
def test_a_web_page_in_place_of_the_file_is_refused(server, tmp_path, sha256):
    server.serve(CONTENT, page)
    with pytest.raises(FetchError, match=r"answered with a web page in place of rows\.csv"):
        fetch(server.file(sha256=sha256))
    assert left_in(tmp_path) == []
    assert len(server.asked) == 1


def test_a_truncated_archive_is_refused_even_without_length_and_hash(server, tmp_path):
    with zipfile.ZipFile(tmp_path / "good.zip", "w") as archive:
        archive.writestr("rows.csv", CONTENT)
    content = (tmp_path / "good.zip").read_bytes()[:-50]

    def without_length(handler, content):
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(content)

    server.serve(content, without_length)
    with pytest.raises(FetchError, match="is not a zip file; it was deleted"):
        fetch(server.file("rows.zip"))
    assert left_in(tmp_path) == ["good.zip"]


def test_a_missing_page_is_not_asked_for_twice(server, tmp_path):
    server.serve(CONTENT, status(404))
    with pytest.raises(FetchError, match=r"refused rows\.csv: 404.*By hand: open http"):
        fetch(server.file())
    assert len(server.asked) == 1
    assert left_in(tmp_path) == []


def test_a_busy_server_is_asked_again(server):
    server.serve(CONTENT, status(503), status(503), whole)
    assert fetch(server.file()).read_bytes() == CONTENT


def test_downloads_can_be_refused(server, tmp_path, monkeypatch):
    server.serve(CONTENT, whole)
    monkeypatch.setenv("EVENHAND_OFFLINE", "1")
    with pytest.raises(FetchError, match=r"rows\.csv is not here, and EVENHAND_OFFLINE is set"):
        fetch(server.file(sha256=SHA256))
    assert not server.asked
    assert not list(tmp_path.iterdir())
    monkeypatch.setenv("EVENHAND_OFFLINE", "0")
    assert fetch(server.file(sha256=SHA256)).read_bytes() == CONTENT
    monkeypatch.setenv("EVENHAND_OFFLINE", "1")
    assert fetch(server.file(sha256=SHA256)) == tmp_path / "rows.csv"


def test_being_offline_is_said_with_the_steps_to_do_by_hand(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    monkeypatch.delenv("EVENHAND_OFFLINE")
    monkeypatch.setattr(download, "PAUSE_S", 0.0)
    file = File(name="rows.csv", url="http://127.0.0.1:9/rows.csv")
    with pytest.raises(FetchError, match=r"are you offline\? By hand: .*save it as .*rows\.csv"):
        fetch(file)


def test_a_folder_that_cannot_be_written_is_named(server, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path / "file"))
    server.serve(CONTENT, whole)
    with pytest.raises(FetchError, match=r"rows\.csv cannot be written to .*file"):
        fetch(server.file())


def test_a_file_without_an_address_is_not_downloaded(server):
    with pytest.raises(FetchError, match=r"rows\.csv does not exist, and it cannot be downloaded"):
        fetch(File(name="rows.csv"))


def test_the_cache_is_the_platforms_unless_told_otherwise(monkeypatch):
    monkeypatch.delenv("EVENHAND_DATA", raising=False)
    assert data_dir().name == "evenhand"
    monkeypatch.setenv("EVENHAND_DATA", "~/elsewhere")
    assert data_dir() == Path.home() / "elsewhere"


def test_a_missing_package_is_named_with_the_extra_that_brings_it(server, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match=r'needs pooch: pip install "evenhand\[data\]"'):
        fetch(server.file())


def test_a_file_that_cannot_be_had_is_an_error_of_ours_and_of_the_system():
    assert issubclass(FetchError, evenhand.EvenhandError)
    assert issubclass(FetchError, OSError)
