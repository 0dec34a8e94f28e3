"""Nobody but our own page, in the browser that opened the link, is answered."""

import re

import pytest

from app.asking import ask
from app.test_questions import DECIDED, form, opened
from evenhand.app.guard import Guard
from evenhand.app.server import application

OURS = "http://127.0.0.1:8000"


@pytest.fixture
def guard(desk):
    return Guard(application(desk, most_bytes=1000), 8000)


@pytest.fixture
def cookie(guard):
    first = ask(guard, "/", {"token": guard.token})
    assert first.status == 200
    return {"cookie": first.headers["set-cookie"].partition(";")[0]}


def test_nothing_is_shown_without_the_link(guard):
    for path in ("/", "/files/1", "/static/app.js", "/progress"):
        assert ask(guard, path).status == 403
    assert ask(guard, "/", {"token": "guessed"}).status == 403


def test_the_link_works_once_and_gives_a_strict_cookie(guard):
    token = guard.token
    first = ask(guard, "/", {"token": token})
    assert first.status == 200
    assert token not in first.headers["set-cookie"]
    assert re.search("HttpOnly.*SameSite=strict", first.headers["set-cookie"])
    assert ask(guard, "/", {"token": token}).status == 403


def test_the_page_opens_with_the_cookie(guard, cookie):
    page = ask(guard, "/", headers=cookie)
    assert page.status == 200
    assert "Drop a file" in page.text


@pytest.mark.parametrize("host", ["evil.example:8000", "127.0.0.1:9", "127.0.0.1", ""])
def test_a_name_that_was_made_to_point_here_is_refused(guard, cookie, host):
    assert ask(guard, "/", headers={**cookie, "host": host}).status == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "http://127.0.0.1:9000", "sec-fetch-site": "same-site"},
        {"origin": "null"},
        {},
    ],
)
def test_other_sites_cannot_send_a_file(guard, cookie, headers):
    sent = ask(guard, "/open", {"name": "a.csv"}, method="POST", headers={**cookie, **headers})
    assert sent.status == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_other_sites_cannot_read_or_embed(guard, cookie, site):
    headers = {**cookie, "sec-fetch-site": site}
    assert ask(guard, "/files/1", headers=headers).status == 403


@pytest.mark.parametrize("path", ["/", "/static/app.js", "/files/7", "/nothing"])
def test_every_answer_carries_the_strict_policy(guard, cookie, path):
    headers = ask(guard, path, headers=cookie).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"


def test_a_page_holds_no_script_or_style_of_its_own(guard, cookie):
    page = ask(guard, "/", headers=cookie).text
    assert not re.search(r"<script>|<style|\son\w+=|https?://", page)


@pytest.mark.parametrize(
    ("name", "body", "problem"),
    [
        ("a.exe", b"x", "not a file that can be read"),
        ("", b"x", "not a file that can be read"),
        ("a.csv", b"x" * 2000, "too large"),
        ("a.csv", b"", "is empty"),
        ("a.csv", b"y,p,g\n", "no rows"),
        ("a.csv", "y,ä\n1,é\n".encode("latin-1"), "UTF-8"),
        ("a.parquet", b"PAR1 not really", "a.parquet"),
        ("../../etc/passwd.csv", b"a,a\n1,2\n", "passwd.csv"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_by_its_own_name(
    guard, cookie, desk, name, body, problem
):
    headers = {**cookie, "origin": OURS, "content-length": str(len(body))}
    sent = ask(guard, "/open", {"name": name}, method="POST", headers=headers, body=body)
    assert sent.status == 422
    assert problem in sent.text
    assert str(desk.folder) not in sent.text
    assert not list(desk.folder.iterdir())
    assert not desk.files


def test_a_body_longer_than_announced_is_cut_off(guard, cookie, desk):
    headers = {**cookie, "origin": OURS, "content-length": "10"}
    sent = ask(guard, "/open", {"name": "a.csv"}, method="POST", headers=headers, body=b"x" * 2000)
    assert (sent.status, list(desk.folder.iterdir())) == (422, [])


def test_the_page_of_a_rule_says_what_it_still_needs(desk, loans, tmp_path):
    work = opened(desk, loans, tmp_path)
    pages, (key,) = application(desk), desk.files
    asked = {**form(work.table, DECIDED), "standard": "lending"}
    refused = ask(pages, f"/files/{key}/standard.html", asked)
    assert refused.status == 422
    assert "State it, as in sex=M" in refused.text
    page = ask(pages, f"/files/{key}/standard.html", {**asked, "state": "reference=sex=M"})
    assert page.status == 200
    assert page.headers["content-disposition"].endswith("loans-lending.html")
