"""A page in a real browser, without a screen: what it shows, what it says on its console, and what it asks for."""

from __future__ import annotations

import base64
import json
import shutil
import time
from importlib import resources
from pathlib import Path
from urllib.parse import urlsplit

CHROMIUM = next((found for name in ("chromium", "google-chrome", "chrome") if (found := shutil.which(name))), None)
DRIVER = shutil.which("chromedriver")
SCREENSHOTS = Path(__file__).resolve().parents[2] / "build" / "screenshots"
WIDE, NARROW = (1440, 900), (390, 844)
_PATIENCE = 60.0
_ITS_OWN = ("chrome:", "chrome-untrusted:")  # the schemes of the browser's own pages


class Browser:
    """One Chromium for all pages of a test session."""

    def __init__(self, folder: Path) -> None:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
            options.add_argument(argument)
        options.add_argument(f"--user-data-dir={folder / 'profile'}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(DRIVER))
        self.driver.set_page_load_timeout(_PATIENCE)
        self._folder = folder

    def open(self, html: str, fragment: str = "", *, size: tuple[int, int] = WIDE, dark: bool = False) -> None:
        """Show a page, and wait until its charts are drawn."""
        path = self._folder / "report.html"
        path.write_text(html, encoding="utf-8")
        self.logged()  # what the page before had said
        self.driver.get("about:blank")
        self.look(size=size, dark=dark)
        self.driver.get(f"{path.as_uri()}{fragment}")
        if self.run("return document.querySelector('.plot') !== null"):
            self.until("return document.documentElement.dataset.charts === 'drawn'")

    def look(self, *, size: tuple[int, int] = WIDE, dark: bool = False, medium: str = "") -> None:
        """Set the width and height in pixels, the colours that are preferred, and the medium."""
        width, height = size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        preferred = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": medium, "features": [preferred]})

    def run(self, script: str, *arguments: object) -> object:
        """Return what a script returns in the page."""
        return self.driver.execute_script(script, *arguments)

    def until(self, script: str) -> None:
        """Wait until a script returns something true."""
        deadline = time.monotonic() + _PATIENCE
        while not self.run(script):
            assert time.monotonic() < deadline, f"still not: {script}; {self.logged()}"
            time.sleep(0.05)

    def logged(self) -> list[str]:
        """Return what the console got since the last time."""
        return [f"{entry['level']}: {entry['message']}" for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Return the addresses asked for since the last time, but for the page itself.

        The browser's own first page asks for its parts for as long as it likes, also after a page of ours is shown.
        """
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        sent = [event["params"] for event in events if event["method"] == "Network.requestWillBeSent"]
        asked = [each["request"]["url"] for each in sent if not each["documentURL"].startswith(_ITS_OWN)]
        return [url for url in asked if not (url.startswith("about:") or urlsplit(url).path.endswith("/report.html"))]

    def barriers(self) -> list[dict[str, object]]:
        """Return what axe finds that keeps people out; the marks of charts, hundreds of one kind, are not looked at."""
        source = (resources.files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")
        self.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": source})  # whatever the page's policy
        self.driver.set_script_timeout(3 * _PATIENCE)
        found = self.driver.execute_async_script(
            "const done = arguments[0]; axe.run({ exclude: [['.plot .role-mark']] }, { resultTypes: ['violations'] })"
            ".then(found => done(found.violations), error => done([{ id: `${error}`, impact: 'critical', nodes: [] }]))"
        )
        return list(found)

    def keep(self, name: str) -> None:
        """Keep a picture of the page, as long as it is up to a limit."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        width, height = self.run(
            "return [innerWidth, Math.min(document.documentElement.scrollHeight, arguments[0])]", 7_000
        )
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        found = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})
        (SCREENSHOTS / f"{name}.png").write_bytes(base64.b64decode(found["data"]))

    def close(self) -> None:
        """End the browser."""
        self.driver.quit()
