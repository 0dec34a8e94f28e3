"""Access control: this browser, on this machine, from our own page.

A page of another site can make a browser send requests to this machine, and a name of another site
can be made to point to it. So the host must be ours, a request that says where it comes from must
come from here, and everything needs a cookie that only the first link gives.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}
GO_ON = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>evenhand</title><link rel="icon" href="data:,">
<meta http-equiv="refresh" content="0; url={first}"></head>
<body><p><a href="{first}">Go on</a></p></body></html>
"""
NO_LINK = (
    "Open this page with the link that the command printed. A link works once: start evenhand app "
    "again for a new one."
)


class Guard:
    """Pass requests on to the application, or refuse them with a reason."""

    def __init__(self, application: Application, port: int, first: str = "/") -> None:
        self.application, self.first = application, first
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self.cookie = f"evenhand-{port}"
        self.secret = secrets.token_urlsafe(32)
        self.token: str | None = secrets.token_urlsafe(32)
        self.link = f"http://127.0.0.1:{port}/?token={self.token}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.application(scope, receive, send)
            return

        async def sealed(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                present = {name for name, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    *(
                        (name.lower().encode(), value.encode())
                        for name, value in HEADERS.items()
                        if name.lower().encode() not in present
                    ),
                ]
            await send(message)

        request = Request(scope)
        answer = self.refusal(request) or self.entrance(request)
        if answer is None:
            await self.application(scope, receive, sealed)
        else:
            await answer(scope, receive, sealed)

    def refusal(self, request: Request) -> Response | None:
        """Why a request is not from our page on this machine."""
        host = request.headers.get("host", "")
        if host not in self.hosts:
            return PlainTextResponse("This is not the address of this page.", 421)
        origin = request.headers.get("origin")
        site = request.headers.get("sec-fetch-site", "same-origin")
        from_here = origin == f"http://{host}"
        if request.method not in ("GET", "HEAD") and not from_here:
            return PlainTextResponse("Only this page may send that.", 403)
        if origin is not None and not from_here:
            return PlainTextResponse("Only this page may ask for that.", 403)
        if site not in ("same-origin", "none") and request.url.path != "/":
            return PlainTextResponse("Only this page may ask for that.", 403)
        return None

    def entrance(self, request: Request) -> Response | None:
        """The cookie for the link, which works once; or a refusal of those without one."""
        cookie = request.cookies.get(self.cookie, "")
        if secrets.compare_digest(cookie.encode(), self.secret.encode()):
            return None
        token = request.query_params.get("token", "")
        is_ours = self.token and secrets.compare_digest(token.encode(), self.token.encode())
        if request.url.path != "/" or request.method != "GET" or not is_ours:
            return PlainTextResponse(NO_LINK, 403)
        self.token = None
        # The page goes on by itself: a redirect from elsewhere would send no strict cookie.
        answer = HTMLResponse(GO_ON.format(first=self.first))
        answer.set_cookie(self.cookie, self.secret, path="/", httponly=True, samesite="strict")
        return answer
