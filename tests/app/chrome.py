"""A real browser, driven over a pipe by the DevTools protocol: no other package is needed."""

import base64
import json
import os
import subprocess
import sys
import time
from itertools import count
from pathlib import Path

from report.browser import BROWSER, FLAGS

SECONDS = 240
# The browser reads its commands from descriptor 3 and writes to 4, which may be taken as yet.
WIRED = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 100) for end in sys.argv[1:3]]
for at, end in enumerate(ends, 3):
    os.dup2(end, at)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Chrome:
    """A browser without a window, with a profile of its own, showing one page."""

    def __init__(self, folder: Path, *, width=1280, height=900, dark=False):
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        command = [BROWSER, *FLAGS, "--remote-debugging-pipe", f"--user-data-dir={folder / 'who'}"]
        self.process = subprocess.Popen(
            [sys.executable, "-c", WIRED, str(to_browser), str(from_browser), *command],
            pass_fds=(to_browser, from_browser),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._ids, self._left = count(1), b""
        self.problems, self.events = [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "DOM"):
            self.call(f"{domain}.enable")
        self.begin(folder)
        self.resize(width, height)
        if dark:
            self.prefer("dark")

    def begin(self, folder: Path):
        """Show an empty page, remember no problem, and download to this folder."""
        self.folder = folder
        self.go("about:blank")
        self.until("location.href === 'about:blank'")
        self.problems, self.events = [], []
        self.call(
            "Browser.setDownloadBehavior",
            behavior="allow",
            downloadPath=str(folder / "downloads"),
            eventsEnabled=True,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)
        os.close(self._in)
        os.close(self._out)

    def call(self, method, **params):
        """The result of a method of the protocol."""
        number = next(self._ids)
        message = {"id": number, "method": method, "params": params}
        own = method.startswith(("Target.", "Browser."))
        if getattr(self, "session", None) and not own:
            message["sessionId"] = self.session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            told = self._next()
            if told.get("id") == number:
                assert "error" not in told, f"{method}: {told['error']}"
                return told["result"]
            self._heard(told)

    def _next(self):
        while b"\0" not in self._left:
            piece = os.read(self._in, 1 << 20)
            assert piece, "the browser has ended"
            self._left += piece
        message, _, self._left = self._left.partition(b"\0")
        return json.loads(message)

    def _heard(self, told):
        method, params = told.get("method", ""), told.get("params", {})
        self.events.append((method, params))
        if method == "Runtime.exceptionThrown":
            self.problems.append(params["exceptionDetails"]["exception"].get("description", ""))
        if method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.problems.append(params["entry"]["text"])

    def resize(self, width, height):
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **size)

    def prefer(self, scheme):
        """Let the system ask for dark or light pages, or, by an empty text, for neither."""
        asked = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=asked)

    def go(self, url):
        self.call("Page.navigate", url=url)

    def ask(self, script):
        """What an expression on the page is worth; a promise is waited for."""
        found = self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def until(self, script):
        """Wait until an expression on the page holds."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            try:
                if self.ask(f"Boolean({script})"):
                    return
            except AssertionError:
                pass  # between two pages there is none to ask
            time.sleep(0.2)
        raise AssertionError(
            f"{script} does not hold; {self.problems} on\n{self.ask('document.body.innerText')}"
        )

    def choose_file(self, selector, path):
        """Put a file into a field, as a person does who chooses it."""
        node = self.call("DOM.getDocument")["root"]["nodeId"]
        found = self.call("DOM.querySelector", nodeId=node, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", files=[str(path)], nodeId=found)

    def drop(self, selector, path):
        """Drop a file on a part of the page."""
        box = self.ask(
            f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2])"
            f"(document.querySelector({selector!r}).getBoundingClientRect())"
        )
        data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.call("Input.dispatchDragEvent", type=kind, x=box[0], y=box[1], data=data)

    def saved(self, name):
        """The text of a file that was downloaded."""
        path, end = self.folder / "downloads" / name, time.monotonic() + SECONDS
        while time.monotonic() < end:
            # A browser fills a file under another name and renames it when it is whole.
            if path.exists():
                return path.read_text(encoding="utf-8")
            self.ask("1")
            time.sleep(0.2)
        raise AssertionError(f"{name} was not downloaded: {list((self.folder).rglob('*'))[:20]}")

    def picture(self, path):
        """A picture of the whole page."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 6000)}
        got = self.call(
            "Page.captureScreenshot", captureBeyondViewport=True, clip={**clip, "scale": 1}
        )
        path.write_bytes(base64.b64decode(got["data"]))
