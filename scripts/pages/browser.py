"""Controls a headless Chromium over a pipe with the DevTools protocol: no network, no packages."""

import base64
import fcntl
import json
import os
import select
import subprocess
import time


class Browser:
    """A browser with one page. Collects messages of its console in `complaints`."""

    def __init__(self, program, folder):
        ask, self.commands = os.pipe()
        self.answers, tell = os.pipe()
        # Chromium expects the pipe at the file descriptors 3 and 4.
        ask, tell = (fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (ask, tell))

        def place():
            os.dup2(ask, 3)
            os.dup2(tell, 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--remote-debugging-pipe", f"--user-data-dir={folder}", "about:blank"],
            preexec_fn=place, pass_fds=(3, 4), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(ask)
        os.close(tell)
        self.buffer = b""
        self.number = 0
        self.session = None
        self.complaints = []
        self.requests = []
        self.loaded = False
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def send(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.commands, data):]
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def receive(self, patience=60):
        """Returns the next message, and records the events that the tests need."""
        end = time.monotonic() + patience
        while b"\0" not in self.buffer:
            if not select.select([self.answers], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError(f"no message from the browser for {patience} s")
            data = os.read(self.answers, 1 << 16)
            if not data:
                raise RuntimeError("the browser has exited")
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(text)
        event = message.get("params", {})
        match message.get("method"):
            case "Runtime.consoleAPICalled":
                self.complaints.append(str([a.get("value", a.get("description")) for a in event["args"]]))
            case "Runtime.exceptionThrown":
                detail = event["exceptionDetails"]
                self.complaints.append(detail.get("exception", {}).get("description", detail["text"]))
            case "Log.entryAdded":
                self.complaints.append(event["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requests.append(event["request"]["url"])
            case "Page.loadEventFired":
                self.loaded = True
        return message

    def open(self, path):
        self.loaded = False
        self.send("Page.navigate", url=f"file://{path}")
        while not self.loaded:
            self.receive()

    def value(self, expression):
        """Returns the value of a JavaScript expression; waits for a promise."""
        result = self.send(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"]["description"])
        return result["result"].get("value")

    def settle(self):
        """Waits until the page has been drawn."""
        self.value(
            "new Promise((done) => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(() => done(1)))))")

    def show(self, width=1280, height=900, scheme="light", media=""):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.send("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, path):
        data = self.send("Page.captureScreenshot", captureBeyondViewport=False)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def paper(self):
        return base64.b64decode(self.send("Page.printToPDF", printBackground=True)["data"])

    def key(self, key):
        text = key if len(key) == 1 else "\r" if key == "Enter" else ""
        for kind in ("keyDown", "keyUp"):
            extra = {"text": text} if kind == "keyDown" and text else {}
            codes = {"Escape": 27, "Enter": 13, "Tab": 9, "ArrowLeft": 37, "ArrowUp": 38,
                     "ArrowRight": 39, "ArrowDown": 40, "Home": 36}
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode=codes.get(key, 0), **extra)

    def pointer(self, kind, x, y, **more):
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y):
        self.pointer("mouseMoved", x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self.pointer(kind, x, y, button="left", buttons=1, clickCount=1)

    def close(self):
        self.session = None
        try:
            self.send("Browser.close")
        except (RuntimeError, BrokenPipeError, TimeoutError):
            pass
        self.process.wait(30)
