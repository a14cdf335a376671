"""A Chromium without a window, driven over a pipe: for the pictures of the documentation and the tests of the report."""

from __future__ import annotations

import base64
import fcntl
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--remote-debugging-pipe",
)


def browser() -> str | None:
    """A Chromium, under one of its names."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page, with the network off; everything it complains about is kept.

    Chromium reads commands from file descriptor 3 and answers on 4, each a JSON text ended by a zero byte: no socket,
    no driver, no package.
    """

    def __init__(self, width: int = 1200, height: int = 900) -> None:
        program = browser()
        if program is None:
            raise RuntimeError("no Chromium was found; install it (Debian: apt-get install chromium).")
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._process, self._to, self._from = _started(program, self._profile.name)
        self._numbers, self._rest = itertools.count(1), b""
        self.problems: list[str] = []
        self.requests: list[str] = []
        self._session = ""
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")
        self._call(
            "Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=-1, uploadThroughput=-1
        )
        self.size(width, height)

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._session = ""
            self._send("Browser.close")
            self._process.wait(10)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait(10)
        for end in (self._to, self._from):
            os.close(end)
        self._profile.cleanup()

    # What a person does ---------------------------------------------------------------------

    def size(self, width: int, height: int, *, phone: bool = False) -> None:
        """The window's size; a phone also has touch and its own scale."""
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=2 if phone else 1,
            mobile=phone,
        )

    def media(self, *, kind: str = "", dark: bool = False) -> None:
        """Screen or print, and the colours that the system prefers."""
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self._call("Emulation.setEmulatedMedia", media=kind, features=features)

    def open(self, page: Path) -> None:
        """Load a file and wait until it is drawn."""
        self._call("Page.navigate", url=page.resolve().as_uri())
        self._until("document.readyState === 'complete'")
        self.value("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def value(self, expression: str) -> Any:
        """What a JavaScript expression gives."""
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", str(answer)))
        return answer["result"].get("value")

    def text(self, selector: str) -> str:
        """The visible words of an element."""
        return self.value(f"document.querySelector({json.dumps(selector)}).innerText")

    def move(self, x: float, y: float) -> None:
        """The pointer, in pixels of the window."""
        self._call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, selector: str) -> None:
        """The middle of an element, scrolled into view."""
        x, y = self.middle(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def middle(self, selector: str) -> tuple[float, float]:
        """Where an element is, once it is in view."""
        found = self.value(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'center'}});"
            " const r = e.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; })()"
        )
        return found[0], found[1]

    def picture(self, path: Path, *, whole: bool = False) -> None:
        """A PNG of the window, or of the whole page."""
        shot = self._call(
            "Page.captureScreenshot", format="png", captureBeyondViewport=whole, **self._clip(whole=whole)
        )
        path.write_bytes(base64.b64decode(shot["data"]))

    def _clip(self, *, whole: bool) -> dict[str, Any]:
        if not whole:
            return {}
        size = self.value("[document.documentElement.clientWidth, document.documentElement.scrollHeight]")
        return {"clip": {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}}

    def printed(self, path: Path) -> int:
        """A PDF of the page as printed; its number of pages."""
        data = base64.b64decode(self._call("Page.printToPDF", printBackground=True)["data"])
        path.write_bytes(data)
        return data.count(b"/Type /Page\n") or data.count(b"/Type /Page") - data.count(b"/Type /Pages")

    # The pipe -------------------------------------------------------------------------------

    def _until(self, condition: str, seconds: float = 30.0) -> None:
        end = time.monotonic() + seconds
        while not self.value(condition):
            if time.monotonic() > end:
                raise RuntimeError(f"the page never came to {condition}")
            time.sleep(0.05)

    def _send(self, method: str, **parameters: Any) -> int:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        message |= {"sessionId": self._session} if self._session else {}
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._to, data) :]
        return number

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = self._send(method, **parameters)
        while True:
            message = self._read()
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            self._note(message.get("method", ""), message.get("params", {}))

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            piece = os.read(self._from, 1 << 20)
            if not piece:
                raise RuntimeError("the browser ended before it answered.")
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\0")
        return json.loads(line)

    def _note(self, event: str, about: dict[str, Any]) -> None:
        if event == "Runtime.exceptionThrown":
            self.problems.append(about["exceptionDetails"].get("exception", {}).get("description", "exception"))
        if event == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
            self.problems.append(" ".join(str(a.get("value", a.get("description", ""))) for a in about["args"]))
        if event == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            self.problems.append(about["entry"]["text"])
        if event == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])


def _started(program: str, profile: str) -> tuple[subprocess.Popen[bytes], int, int]:
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (theirs_in, theirs_out)]  # clear of 3 and 4

    def place() -> None:
        os.dup2(high[0], 3)
        os.dup2(high[1], 4)

    process = subprocess.Popen(
        [program, *_OPTIONS, f"--user-data-dir={profile}"],
        preexec_fn=place,
        pass_fds=(3, 4),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for end in (*high, theirs_in, theirs_out):
        os.close(end)
    return process, ours_out, ours_in


if __name__ == "__main__":
    found = browser()
    print(
        f"browser for the tests of the report: {found or 'none; install Chromium (Debian: apt-get install chromium)'}"
    )
