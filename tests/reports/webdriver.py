"""A headless Chromium, driven through chromedriver's HTTP protocol (W3C WebDriver, https://www.w3.org/TR/webdriver2/)."""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.checker.export.tools import require

SECONDS = 60
ARGUMENTS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars",
)  # fmt: skip
KEYS = {"ArrowLeft": "\ue012", "ArrowRight": "\ue014", "Home": "\ue011", "End": "\ue010", "Tab": "\ue004"}
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # the driver is on this machine


def require_browser() -> tuple[str, str]:
    """The browser and its driver; skips the test without them, fails where PODRACE_TOOLS=required."""
    found = [shutil.which(name) for name in ("chromium", "chromedriver")]
    require([name for name, path in zip(("chromium", "chromedriver"), found, strict=True) if path is None])
    chromium, chromedriver = found
    assert chromium is not None
    assert chromedriver is not None
    return chromium, chromedriver


class Browser:
    """One session: each call is one command of the protocol."""

    def __init__(self, address: str) -> None:
        self.address = address

    def command(self, method: str, path: str, body: object = None) -> Any:
        """Send a command; gives its value. An error of the driver is a RuntimeError."""
        data = json.dumps(body or {}).encode() if method == "POST" else None
        request = urllib.request.Request(
            f"{self.address}{path}", data, {"Content-Type": "application/json"}, method=method
        )
        try:
            with _DIRECT.open(request, timeout=SECONDS) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def open(self, path: Path) -> None:
        """Load a file."""
        self.command("POST", "/url", {"url": path.as_uri()})

    def run(self, script: str, *arguments: object) -> Any:
        """The value of a function body in the page."""
        return self.command("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def press(self, *keys: str) -> None:
        """Press and release keys, by the names that the browser gives them."""
        actions = [{"type": kind, "value": KEYS[key]} for key in keys for kind in ("keyDown", "keyUp")]
        self.command("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def click(self, selector: str) -> None:
        """Click on the first element that a CSS selector finds."""
        element = self.command("POST", "/element", {"using": "css selector", "value": selector})
        self.command("POST", f"/element/{element[_ELEMENT]}/click")

    def resize(self, width: int, height: int) -> None:
        """Give the page this size, also below the least of a window."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.devtools("Emulation.setDeviceMetricsOverride", **metrics)

    def prefer(self, scheme: str, medium: str = "screen") -> None:
        """Light or dark, on the screen or in print."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.devtools("Emulation.setEmulatedMedia", media=medium, features=features)

    def devtools(self, command: str, **parameters: object) -> Any:
        """A command of Chromium's own protocol."""
        return self.command("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def screenshot(self, path: Path, whole: bool = False) -> None:
        """Write what can be seen, or the whole page, as PNG."""
        picture = self.devtools("Page.captureScreenshot", captureBeyondViewport=whole, format="png")["data"]
        path.write_bytes(base64.b64decode(picture))

    def log(self) -> list[dict[str, Any]]:
        """What the browser has written to its console since the last call."""
        found: list[dict[str, Any]] = self.command("POST", "/se/log", {"type": "browser"})
        return found


@contextmanager
def browsing(folder: Path) -> Iterator[Browser]:
    """A browser whose profile lives in this folder; driver and browser end with it."""
    chromium, chromedriver = require_browser()
    port = _free_port()
    with (folder / "driver.log").open("wb") as log:
        driver = subprocess.Popen([chromedriver, f"--port={port}"], stdout=log, stderr=log)
    try:
        browser = Browser(f"http://127.0.0.1:{port}")
        _wait(browser, driver)
        options = {"binary": chromium, "args": [*ARGUMENTS, f"--user-data-dir={folder / 'profile'}"]}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        session = browser.command("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        browser.address += f"/session/{session['sessionId']}"
        try:
            yield browser
        finally:
            browser.command("DELETE", "")
    finally:
        driver.terminate()
        driver.wait(SECONDS)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait(browser: Browser, driver: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if driver.poll() is not None:
            raise RuntimeError(f"chromedriver ended with {driver.returncode}")
        try:
            if browser.command("GET", "/status")["ready"]:
                return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError("chromedriver does not answer")
