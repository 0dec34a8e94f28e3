"""A request to an application, without a server or a network."""

import asyncio
from typing import NamedTuple
from urllib.parse import urlencode


class Answer(NamedTuple):
    status: int
    headers: dict
    text: str


def ask(application, path, query=None, *, method="GET", headers=None, body=b"", port=8000):
    """What the application answers."""
    sent = []
    own = {"host": f"127.0.0.1:{port}", **(headers or {})}
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": urlencode(query or {}, doseq=True).encode(),
        "headers": [(k.lower().encode(), v.encode()) for k, v in own.items() if v is not None],
        "server": ("127.0.0.1", port),
        "client": ("127.0.0.1", 50000),
    }
    pieces = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive():
        return pieces.pop(0) if pieces else {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    asyncio.run(application(scope, receive, send))
    start = next(one for one in sent if one["type"] == "http.response.start")
    text = b"".join(one.get("body", b"") for one in sent if one["type"] == "http.response.body")
    found = {name.decode().lower(): value.decode() for name, value in start["headers"]}
    return Answer(start["status"], found, text.decode("utf-8"))
