"""A headless Chromium, driven over a pipe by the DevTools protocol: Python's standard library alone.

    with Browser() as browser:
        page = browser.open("report.html", width=400, dark=True)
        page.evaluate("document.title")

SPDX-License-Identifier: Apache-2.0
"""

import base64
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time


def find_chromium():
    """The path of a Chromium, or None."""
    named = os.environ.get("KILN_CHROMIUM")
    if named:
        return named
    for name in ["chromium", "chromium-browser", "google-chrome", "headless_shell"]:
        path = shutil.which(name)
        if path:
            return path
    return None


class Browser:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        # The browser reads commands from its file 3 and writes answers to its file 4.
        command_read, self.command_write = os.pipe()
        self.answer_read, answer_write = os.pipe()
        arguments = [find_chromium(), "--headless=new", "--remote-debugging-pipe", "--no-first-run",
                     "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                     f"--user-data-dir={self.folder.name}"]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")

        # 10 and up first: a pipe of ours may itself be number 3 or 4.
        def settle_pipes():
            reads, writes = os.dup(command_read), os.dup(answer_write)
            high_reads, high_writes = 60, 61
            os.dup2(reads, high_reads)
            os.dup2(writes, high_writes)
            os.dup2(high_reads, 3)
            os.dup2(high_writes, 4)

        self.process = subprocess.Popen(arguments, preexec_fn=settle_pipes, close_fds=False,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(command_read)
        os.close(answer_write)
        self.buffer = b""
        self.count = 0
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
            self.process.wait(10)
        except (OSError, EOFError, TimeoutError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.command_write)
        os.close(self.answer_read)
        self.folder.cleanup()

    def read(self):
        while b"\0" not in self.buffer:
            part = os.read(self.answer_read, 1 << 20)
            if not part:
                raise EOFError("the browser went away")
            self.buffer += part
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.command_write, data):]
        while True:
            answer = self.read()
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, path, width=1400, height=1000, dark=False):
        """A page, shown until its plots are drawn."""
        return Page(self, path, width, height, dark)


class Page:
    def __init__(self, browser, path, width, height, dark):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        attached = browser.call("Target.attachToTarget", targetId=target, flatten=True)
        self.target, self.session = target, attached["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.call(f"{domain}.enable")
        self.call("Performance.enable", timeDomain="threadTicks")
        self.width = width
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)
        self.media(dark)
        started = time.monotonic()
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        self.wait_for("document.body && (document.body.dataset.ready || "
                      "(document.getElementById('state') || {}).textContent?.includes('not be drawn'))")
        self.seconds = time.monotonic() - started

    def call(self, method, **parameters):
        return self.browser.call(method, session=self.session, **parameters)

    def media(self, dark, kind=""):
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", media=kind, features=scheme)

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True,
                           returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait_for(self, expression, seconds=60):
        end = time.monotonic() + seconds
        while not self.evaluate(expression):
            if time.monotonic() > end:
                raise TimeoutError(f"{expression} did not come true in {seconds} s")
            time.sleep(0.02)

    def thread_seconds(self):
        """Processor time of the page's main thread since it was opened: what opening takes on a
        machine that does nothing else."""
        metrics = self.call("Performance.getMetrics")["metrics"]
        return next(each["value"] for each in metrics if each["name"] == "TaskDuration")

    def faults(self):
        """What the console and the network complained about, as texts."""
        self.evaluate("0")
        texts = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            parameters = event.get("params", {})
            if event["method"] == "Runtime.exceptionThrown":
                texts.append(json.dumps(parameters["exceptionDetails"])[:500])
            elif event["method"] == "Runtime.consoleAPICalled" and parameters["type"] != "log":
                texts.append(f"{parameters['type']}: {' '.join(str(each.get('value')) for each in parameters['args'])}"[:500])
            elif event["method"] == "Log.entryAdded":
                texts.append(parameters["entry"]["text"])
            elif event["method"] == "Network.requestWillBeSent":
                url = parameters["request"]["url"]
                if not url.startswith(("file:", "data:", "blob:")):
                    texts.append(f"asked for {url[:100]}")
        return texts

    def screenshot(self, path):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": self.width, "height": min(size["height"], 12000), "scale": 1}
        image = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        pathlib.Path(path).write_bytes(base64.b64decode(image["data"]))

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
