"""The page's server: its addresses and their responses."""

from __future__ import annotations

import re
import shutil
import socket
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from evenhand._errors import EvenhandError, InputError
from evenhand._files.files import KINDS
from evenhand._words import plain
from evenhand.app import screens
from evenhand.app.choices import Choices
from evenhand.app.desk import Desk, StoppedError, Work
from evenhand.app.guard import Guard
from evenhand.app.questions import Interview
from evenhand.app.tables import READABLE
from evenhand.standards import STANDARDS

MOST_BYTES = 8 * 2**30  # of a file that is dropped on the page
SPARE_BYTES = 2**30  # which stay free on the disk
MOST_OF_CHOICES = 2**20
LONGEST_NAME = 200
DEFECT = (
    "This is a bug in evenhand, not a fault in your file. The terminal shows where it happened."
)
STATED = re.compile(r"as in stated=\{'reference': \{'([^']+)': '([^']+)'\}\}")
SUFFIXES = tuple(suffix for kind in READABLE for suffix in KINDS[kind])


class Pages:
    """The answers to requests, about the files on a desk."""

    def __init__(self, desk: Desk, most_bytes: int = MOST_BYTES) -> None:
        self.desk, self.most_bytes = desk, most_bytes

    @property
    def routes(self) -> list[Route]:
        """Every address."""
        return [
            Route("/", self.home),
            Route("/open", self.drop, methods=["POST"]),
            Route("/static/{name}", self.static),
            Route("/files/{key}", self.screen),
            Route("/files/{key}/progress", self.progress),
            Route("/files/{key}/cancel", self.cancel, methods=["POST"]),
            Route("/files/{key}/choices", self.saved, methods=["POST"]),
            Route("/files/{key}/tests", self.tests),
            Route("/files/{key}/{form}", self.download),
            Route("/progress", self.progress),
            Route("/cancel", self.cancel, methods=["POST"]),
        ]

    def home(self, _: Request) -> Response:
        """The first page: drop a file, or continue with one."""
        files = [(key, plain(work.name)) for key, work in self.desk.files.items() if work.opened]
        return HTMLResponse(screens.home(files, SUFFIXES))

    async def drop(self, request: Request) -> Response:
        """Receive a file in pieces, and open it."""
        name = Path(request.query_params.get("name", "").replace("\\", "/")).name[-LONGEST_NAME:]
        suffix = next((end for end in SUFFIXES if name.lower().endswith(end)), None)
        if suffix is None:
            raise InputError(
                f"{name or 'This'} is not a file that can be read here; its name should end in "
                f"{', '.join(SUFFIXES)}."
            )
        path = self.desk.place(suffix)
        try:
            await self._receive(request, path, name)
            key = await run_in_threadpool(self.desk.open, path, name)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return JSONResponse({"href": f"/files/{key}"})

    async def _receive(self, request: Request, path: Path, name: str) -> None:
        remaining = min(self.most_bytes, shutil.disk_usage(path.parent).free - SPARE_BYTES)
        too_much = (
            f"{name} is too large: at most {max(remaining, 0) / 2**30:.1f} GiB can be uploaded."
        )
        announced = request.headers.get("content-length", "0")
        if not announced.isdigit() or int(announced) > remaining:
            raise InputError(f"{too_much} Start evenhand app with its path to read it in place.")
        with path.open("xb") as file:
            async for piece in request.stream():
                remaining -= len(piece)
                if remaining < 0:
                    raise InputError(too_much)
                file.write(piece)

    def static(self, request: Request) -> Response:
        """A style sheet or a script."""
        content = screens.static(request.path_params["name"])
        if content is None:
            return PlainTextResponse("There is no such file.", 404)
        text, kind = content
        return Response(text, media_type=kind)

    def screen(self, request: Request) -> Response:
        """The questions about a file and, once all are answered, the audit."""
        work = self._work(request)
        with work.turn("Looking at the columns"):
            interview = Interview(work.table, _lists(request))
        choices = interview.choices
        audit, counts, failure = None, None, ""
        if choices is not None:
            audit = work.cached_audit(choices)
            try:
                counts = work.counts(choices)
            except EvenhandError as problem:
                failure = str(problem)
        key, query = request.path_params["key"], _query(request)
        return HTMLResponse(screens.file(key, interview, query, audit, counts, failure))

    def tests(self, request: Request) -> Response:
        """The audit alone, which takes longer than counting: the page inserts it."""
        work, choices = self._chosen(request)
        return HTMLResponse(screens.tests(work.audit(choices)))

    def download(self, request: Request) -> Response:
        """An audit in one of its file formats."""
        form = request.path_params["form"]
        if form not in FORMS:
            return PlainTextResponse("There is no such file.", 404)
        work, choices = self._chosen(request)
        make, kind = FORMS[form]
        text = make(work, choices, request)
        stem = Path(work.name).name.partition(".")[0] or "audit"
        of_rule = request.query_params.get("standard")
        name = f"{stem}-{form if of_rule is None else f'{of_rule}.html'}"
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
        return Response(text, media_type=kind, headers=headers)

    async def saved(self, request: Request) -> Response:
        """The address of the page with saved choices."""
        body = bytearray()
        async for piece in request.stream():
            body += piece
            if len(body) > MOST_OF_CHOICES:
                raise InputError("These are not saved choices: the file is too large.")
        work = self._work(request)
        query = await run_in_threadpool(screens.reopened, work, bytes(body))
        key = request.path_params["key"]
        return JSONResponse({"href": f"/files/{key}?{urlencode(query, doseq=True)}"})

    def progress(self, request: Request) -> Response:
        """The current work and its progress."""
        return JSONResponse(self._working(request).progress())

    def cancel(self, request: Request) -> Response:
        """Stop the current work."""
        self._working(request).stop()
        return JSONResponse({})

    def _chosen(self, request: Request) -> tuple[Work, Choices]:
        work = self._work(request)
        with work.turn("Looking at the columns", stop=False):
            interview = Interview(work.table, _lists(request))
        if interview.choices is None:
            raise InputError(" ".join(interview.missing))
        return work, interview.choices

    def _work(self, request: Request) -> Work:
        key = request.path_params["key"]
        if key not in self.desk.files:
            raise InputError("This file is no longer open. Drop it on the first page again.")
        return self.desk.files[key]

    def _working(self, request: Request) -> Work | Desk:
        return self._work(request) if "key" in request.path_params else self.desk


def _lists(request: Request) -> dict[str, list[str]]:
    return {key: request.query_params.getlist(key) for key in request.query_params}


def _query(request: Request) -> str:
    return urlencode(list(request.query_params.multi_items()))


def _standard(work: Work, choices: Choices, request: Request) -> str:
    name = request.query_params.get("standard", "")
    if name not in STANDARDS:
        raise InputError("Choose the rule whose page you want to fill in.")
    statements = (text.partition("=") for text in request.query_params.getlist("state"))
    try:
        return work.audit(choices).to_html(
            standard=name, stated={key: value for key, _, value in statements}
        )
    except InputError as failure:
        raise InputError(STATED.sub(r"as in \1=\2", str(failure))) from failure


def _rule(work: Work, choices: Choices, request: Request) -> str:
    from evenhand.app.rule import rule_sql  # takes seconds to import

    return rule_sql(choices, work.counted(choices), _lists(request))


Form = Callable[[Work, Choices, Request], str]
FORMS: Mapping[str, tuple[Form, str]] = {
    "report.html": (lambda work, choices, _: work.audit(choices).to_html(), "text/html"),
    "report.md": (lambda work, choices, _: work.audit(choices).to_markdown(), "text/markdown"),
    "report.json": (lambda work, choices, _: work.audit(choices).to_json(), "application/json"),
    "standard.html": (_standard, "text/html"),
    "rule.sql": (_rule, "application/sql"),
    "choices.toml": (lambda _, choices, __: choices.toml, "application/toml"),
    "audit.py": (lambda _, choices, __: choices.python, "text/x-python"),
}


def _failed(request: Request, failure: Exception, status: int = 422) -> Response:
    """The response to an invalid request of the user, in words."""
    text = str(failure)
    if request.method == "POST":
        return JSONResponse({"problem": text}, status)
    return HTMLResponse(screens.problem(text), status)


def _stopped(request: Request, _: Exception) -> Response:
    return _failed(request, Exception("Stopped."), 409)


def _broken(request: Request, _: Exception) -> Response:
    """The response to an error of ours; the terminal shows where."""
    return _failed(request, Exception(DEFECT), 500)


def _gone(_: Request, __: Exception) -> Response:
    return PlainTextResponse("", 400)


def application(desk: Desk, most_bytes: int = MOST_BYTES) -> Starlette:
    """The application that answers, without its guard."""
    handlers: dict[Any, Callable[[Request, Exception], Response | Awaitable[Response]]] = {
        EvenhandError: _failed,
        StoppedError: _stopped,
        ClientDisconnect: _gone,
        Exception: _broken,
    }
    return Starlette(routes=Pages(desk, most_bytes).routes, exception_handlers=handlers)


def serve(
    file: str | None,
    port: int,
    reading: Callable[[Callable[[], str], Desk], str],
    announce: Callable[[str], None],
) -> None:
    """Serve the page until it is stopped; the link is announced once it works.

    `reading` opens the file, and reports progress.
    """
    desk = Desk()
    try:
        with socket.socket() as listening:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listening.bind(("127.0.0.1", port))
            except OSError as failure:
                raise InputError(f"Port {port} cannot be used: {failure.strerror}.") from failure
            first = "/"
            if file is not None:
                first = f"/files/{reading(lambda: desk.open(Path(file), file), desk)}"
            guard = Guard(application(desk), listening.getsockname()[1], first)
            config = uvicorn.Config(
                guard,
                log_level="error",
                access_log=False,
                server_header=False,
                lifespan="off",
                timeout_graceful_shutdown=1,
            )
            listening.listen()
            announce(guard.link)
            uvicorn.Server(config).run(sockets=[listening])
    finally:
        desk.close()
