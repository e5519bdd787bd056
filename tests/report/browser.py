"""A headless Chromium, driven through a pipe by its DevTools protocol: no driver and no package needed."""

import base64
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
TOLD = ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled")

# Chromium takes commands from descriptor 3 and answers on 4.
PLUG = """
import fcntl, os, sys
commands, answers = (fcntl.fcntl(int(n), fcntl.F_DUPFD, 10) for n in sys.argv[1:3])
os.dup2(commands, 3)
os.dup2(answers, 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


def executable():
    """The browser, or None if there is none."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One page at a time."""

    def __init__(self, profile: Path):
        commands, self.write_end = os.pipe()
        self.read_end, answers = os.pipe()
        flags = [
            "--headless=new",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--remote-debugging-pipe",
        ]
        flags += ["--no-sandbox"] if os.geteuid() == 0 else []
        plugged = [sys.executable, "-c", PLUG, str(commands), str(answers)]
        self.process = subprocess.Popen(
            [*plugged, executable(), *flags, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(commands, answers),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(commands)
        os.close(answers)
        self.pending = b""
        self.count = 0
        self.session = None
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method, **params):
        """A command and its answer; events in between are kept."""
        self.count += 1
        message = {"id": self.count, "method": method, "params": params}
        message |= {} if self.session is None else {"sessionId": self.session}
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self.count:
                assert "error" not in answer, answer["error"]
                return answer["result"]
            self.events.append(answer)

    def _read(self):
        """The next message, however long it takes; a browser that is gone closes its end."""
        while b"\0" not in self.pending:
            part = os.read(self.read_end, 1 << 20)
            assert part, "the browser has gone"
            self.pending += part
        message, _, self.pending = self.pending.partition(b"\0")
        return json.loads(message)

    def open(self, path: Path, width=1280, height=900, scheme="light"):
        """Show a file, until it has loaded."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events.clear()
        self.call("Page.navigate", url=path.as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self._read())

    def do(self, script):
        """The value of a JavaScript expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def key(self, name):
        """Press a key, as a user does."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=KEYS[name])

    def move(self, x, y):
        """Move the pointer."""
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def complaints(self):
        """What the page has written to the console, exceptions and refusals."""
        return [event["params"] for event in self.events if event["method"] in TOLD]

    def requests(self):
        """The addresses it asked for."""
        return [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]

    def screenshot(self, path: Path):
        """A PNG of the page as it is seen."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def close(self):
        """End it."""
        self.process.terminate()
        self.process.wait()
        os.close(self.read_end)
        os.close(self.write_end)


KEYS = {"ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35, "Escape": 27, "Tab": 9}
