"""A headless Chromium, controlled through a pipe (the DevTools protocol); uses only Python's standard library.

Used by the tests of the report's page and by tools/report/picture.
"""

import base64
import json
import os
import pathlib
import shutil
import subprocess
import tempfile


class Page:
    """One page in a browser of its own. `complaints` lists errors while the page was open, `requests` the files that the page
    loaded, `dialogs` the texts of its dialogs, which are closed."""

    def __init__(self, path, width=1280, height=900, dark=False):  # a file, or an address with its scheme
        self.complaints = []
        self.requests = []
        self.dialogs = []
        self.url = path if "://" in str(path) else pathlib.Path(path).resolve().as_uri()
        self._width = width
        self._events = []
        self._sent = 0
        self._session = None
        self._folder = tempfile.mkdtemp(prefix="warpfold-browser-")
        self._start()
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        # Processor time of the page's thread, so that other work of the machine does not count.
        self.call("Performance.enable", timeDomain="threadTicks")
        self.size(width, height)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=self.url)
        self._wait_for("Page.loadEventFired")
        self.evaluate("globalThis.drawCharts?.()")  # a report draws only visible charts; other pages have none

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._in.close()
        self._process.terminate()
        self._process.wait()
        self._out.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def evaluate(self, expression):
        """Returns the value of a JavaScript expression; waits for a promise."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError("in the page: " + json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def processor_seconds(self):
        """Returns the seconds that the page's thread has used so far."""
        metrics = self.call("Performance.getMetrics")["metrics"]
        return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")

    def screenshot(self, height=None, scale=1):
        """Returns the page as PNG: the whole page, or its first `height` pixels."""
        height = height or self.evaluate("document.documentElement.scrollHeight")
        clip = {"x": 0, "y": 0, "width": self._width, "height": height, "scale": scale}
        return self._picture(clip)

    def screenshot_of(self, selector, scale=1):
        """Returns the area of an element as PNG."""
        box = self.evaluate(
            f"(() => {{ const b = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
            "return {x: b.x + scrollX, y: b.y + scrollY, width: b.width, height: b.height}; })()"
        )
        return self._picture({**box, "scale": scale})

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", printBackground=False)["data"])

    def _send(self, method, **parameters):
        self._sent += 1
        message = {"id": self._sent, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._in.write(json.dumps(message).encode() + b"\0")
        self._in.flush()
        return message["id"]

    def call(self, method, **parameters):
        sent = self._send(method, **parameters)
        while True:
            answer = self._receive()
            if answer.get("id") == sent:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def _picture(self, clip):
        return base64.b64decode(self.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)["data"])

    def _start(self):
        # Chromium reads commands from file 3 and answers on file 4.
        commands, self_in = os.pipe()
        self_out, answers = os.pipe()
        flags = ["--headless", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-extensions"]
        flags += ["--disable-dev-shm-usage", "--remote-debugging-pipe", "--user-data-dir=" + self._folder]
        if os.geteuid() == 0:
            flags.append("--no-sandbox")  # Chromium's sandbox refuses to work for root
        line = 'exec "$0" "$@" 3<&{} 4>&{}'.format(commands, answers)
        self._process = subprocess.Popen(
            ["bash", "-c", line, "chromium", *flags],
            pass_fds=(commands, answers),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(commands)
        os.close(answers)
        self._in = os.fdopen(self_in, "wb")
        self._out = os.fdopen(self_out, "rb")

    def _receive(self):
        raw = b""
        while not raw.endswith(b"\0"):
            waiting = self._out.peek(1)
            if not waiting:
                raise RuntimeError("the browser ended")
            end = waiting.find(b"\0")
            raw += self._out.read(len(waiting) if end < 0 else end + 1)
        message = json.loads(raw[:-1])
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _wait_for(self, method):
        while method not in self._events:
            self._receive()

    def _note(self, method, parameters):
        if method is None:
            return
        self._events.append(method)
        if method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.complaints.append(f"console {parameters['type']}: {parameters['args']}")
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(f"exception: {parameters['exceptionDetails']}")
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.complaints.append(f"log: {parameters['entry']['text']}")
        elif method == "Page.javascriptDialogOpening":
            self.dialogs.append(parameters["message"])
            self._send("Page.handleJavaScriptDialog", accept=False)
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
