"""Tests HTML reports of runs in a browser, for scripts/smoke-page and the tests."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

from browser import Browser

OPFLOW = os.environ["OPFLOW"]
WORK = pathlib.Path(os.environ["WORK"])
FOLDER = os.environ["FOLDER"]
# Whether to check the limits of time and memory.
HAS_LIMITS = os.environ["LIMITS"] != ""

# Output that does harm if the page does not escape it, with escapes for printf.
HOSTILE = r"\033[31mred </pre></script><script>window.harm = 1</script> <img src=x onerror=alert(1)> \342\200\256abc \377\n"

MANIFEST = """\
name: try <b>& "all"
max_failures: 0
tasks:
  fetch: {{ run: "sleep 1" }}
  configure: {{ needs: [fetch], run: "sleep 1" }}
  flaky: {{ needs: [fetch], run: "test -e once || {{ : >once; exit 7; }}", retry: {{ max: 2, delay: 10ms }} }}
  lint: {{ needs: [fetch], run: "exit 1", allow_failure: true }}
  compile: {{ matrix: {{ part: {{ range: [1, {compile}] }} }}, needs: [configure], run: "true" }}
  test: {{ matrix: {{ part: {{ range: [1, {test}] }} }}, needs: ["compile[part]"], run: "true" }}
  hostile: {{ needs: [configure], run: "printf '{hostile}'; exit 3" }}
  publish: {{ needs: [test, hostile], run: "true" }}
"""

findings = 0


def expect(is_so, what):
    global findings
    if not is_so:
        findings += 1
        print(f"smoke-page: {what}")


def make(count):
    """Makes a run of about `count` tasks and its page."""
    place = WORK / str(count)
    place.mkdir()
    half = max(1, (count - 6) // 2)
    hostile = HOSTILE.replace("\\", "\\\\").replace('"', '\\"')
    (place / "opflow.yaml").write_text(
        MANIFEST.format(compile=half, test=half, hostile=hostile))
    run = subprocess.run([OPFLOW, "run", "--quiet"], cwd=place, capture_output=True, text=True)
    expect(run.returncode == 1, f"the run of {count} tasks exited with {run.returncode}: {run.stderr}")
    before = time.monotonic()
    subprocess.run([OPFLOW, "report", "html", "-o", "run.html"], cwd=place, check=True)
    seconds = time.monotonic() - before
    # Measured in a separate process, because the previous run may have used more memory.
    peak = int(subprocess.run(
        [sys.executable, "-c",
         "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL);"
         "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)", OPFLOW, "report", "html"],
        cwd=place, check=True, capture_output=True, text=True).stdout) / 1024
    page = place / "run.html"
    size = page.stat().st_size / 1e6
    expect(seconds <= 2 or not HAS_LIMITS, f"{count} tasks: the page took {seconds:.2f} s to make")
    expect(peak <= 200 or not HAS_LIMITS, f"{count} tasks: the page took {peak:.0f} MiB to make")
    expect(size <= 5, f"{count} tasks: the page has {size:.2f} MB")
    return page, 6 + 2 * half, f"made in {seconds:.2f} s with {peak:.0f} MiB, {size:.2f} MB"


def visit(browser, page, count):
    """Uses all controls of the page. Returns the time of the first paint in milliseconds."""
    def element(words):
        return browser.value(words)

    def cell(column):
        return element(f"[...document.querySelectorAll('#table tbody td:nth-child({column})')].map((c) => c.textContent)")

    def note(is_so, what):
        expect(is_so, f"{count} tasks: {what}")

    def picture(name, is_still=False):
        if not is_still:
            browser.settle()
        if FOLDER:
            browser.picture(f"{FOLDER}/{count}-{name}.png")

    browser.show()
    browser.open(page)
    browser.settle()
    picture("light")
    paint = element("new Promise((done) => new PerformanceObserver((list) => done(list.getEntries()[0].startTime))"
                    ".observe({ type: 'paint', buffered: true }))")
    note(paint <= 1000 or not HAS_LIMITS, f"first paint after {paint:.0f} ms")

    note(element("document.querySelectorAll('section[hidden]').length") == 0, "a section is hidden")
    note("window.harm = 1</script>" in element("document.querySelector('#failures pre').textContent"),
         "the output of the failed task is not shown as text")
    note(element("typeof window.harm") == "undefined", "the output of a task ran as a script")
    note(len(cell(1)) == min(100, count), f"the table has {len(cell(1))} rows")

    element("document.getElementById('find').focus()")
    for letter in "hostile":
        browser.key(letter)
    note(cell(1) == ["hostile"], f"the search for a name finds {cell(1)[:3]}")
    element("document.getElementById('find').value = ''")
    element("(which.value = [...which.options].find((o) => o.text.startsWith('failures')).value, which.dispatchEvent(new Event('change')))")
    note(cell(1) == ["hostile"], f"the filter for failures shows {cell(1)[:3]}")
    element("(which.value = 0, which.dispatchEvent(new Event('change')))")
    element("[...document.querySelectorAll('#table th button')].find((b) => b.textContent.startsWith('duration')).click()")
    note(set(cell(1)[:2]) == {"fetch", "configure"}, f"sorted by time, {cell(1)[:2]} come first")
    note(element("document.querySelector('#table th[aria-sort]').getAttribute('aria-sort')") == "descending",
         "aria-sort has the wrong order")

    element("document.querySelector('#table tbody button').focus()")
    browser.key("Enter")
    note(not element("detail.hidden") and "Attempts" in element("detail.textContent"), "Enter does not open a task")
    browser.key("Escape")
    note(element("detail.hidden") and element("document.activeElement.closest('#table') !== null"),
         "Escape does not close a task and restore the focus")

    element("document.getElementById('time').scrollIntoView()")
    browser.settle()
    note(element("(() => { const c = document.getElementById('lanes'); return c.getContext('2d')"
                 ".getImageData(0, 0, c.width, c.height).data.some((v) => v > 0); })()"), "the timeline is blank")
    whole = element("span.textContent")
    element("document.getElementById('lanes').focus()")
    browser.key("+")
    browser.key("ArrowRight")
    note(element("span.textContent") != whole, "the timeline does not zoom by key")
    browser.key("0")
    note(element("span.textContent") == whole, "the timeline does not zoom out by key")
    box = element("(({ x, y }) => [x, y])(document.getElementById('lanes').getBoundingClientRect())")
    browser.pointer("mouseWheel", box[0] + 300, box[1] + 8, deltaX=0, deltaY=-400, modifiers=2)
    browser.settle()
    note(element("span.textContent") != whole, "the timeline does not zoom by wheel")
    browser.key("ArrowDown")
    note(not element("detail.hidden"), "the down arrow does not select a task")
    picture("zoom")
    browser.key("Escape")
    browser.key("0")

    nodes = "document.querySelectorAll('#plane .node').length"
    folded = element(nodes)
    element("document.querySelector('#plane .group')?.click()")
    note(element(nodes) > folded, "the graph does not unfold")
    element("document.getElementById('graph').scrollIntoView()")
    picture("graph")
    element("document.querySelector('#folds button')?.click()")
    note(element(nodes) == folded, "the graph does not fold")

    browser.show(scheme="dark")
    element("window.scrollTo(0, 0)")
    picture("dark")
    browser.show(width=400)
    picture("narrow")
    note(element("document.documentElement.scrollWidth") <= 400, "the page is wider than a narrow screen")
    paper = browser.paper()
    note(paper.startswith(b"%PDF"), "the page cannot be printed")
    if shutil.which("pdftotext"):
        text = subprocess.run(["pdftotext", "-layout", "-", "-"], input=paper, capture_output=True, check=True).stdout
        sheets = text.decode().split("\f")
        first = next((place for place, sheet in enumerate(sheets) if re.search(r"^ *Tasks$", sheet, re.M)), len(sheets))
        # Each printed page of the table repeats the header row.
        further = [sheet for sheet in sheets[first + 1 :] if re.search(r"succeeded", sheet)]
        note(all(re.search(r"^ *task +state", sheet, re.M) for sheet in further),
             "a printed page of the table has no header row")
        if count >= 1000:
            note(len(further) > 0, "the printed table has only one page")
    if FOLDER:
        pathlib.Path(f"{FOLDER}/{count}.pdf").write_bytes(paper)
    browser.show()

    for complaint in browser.complaints:
        note(False, f"console message: {complaint}")
    others = {url for url in browser.requests if not url.endswith("/run.html")}
    note(not others, f"requests for {others}")
    # The content security policy must have an effect.
    element("document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.harm = 1' }))")
    note(element("typeof window.harm") == "undefined", "the content security policy allows other scripts")
    browser.complaints.clear()

    browser.send("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(page)
    words = element("document.body.innerText")
    note("hostile failed: exit 3" in words and "window.harm = 1" in words, "without scripts, the failure is not shown")
    picture("without-scripts", is_still=True)
    browser.send("Emulation.setScriptExecutionDisabled", value=False)
    return paint


def main():
    for count in (int(word) for word in os.environ["COUNTS"].split(",")):
        page, tasks, made = make(count)
        browser = Browser(os.environ["BROWSER"], WORK / f"browser-{count}")
        try:
            paint = visit(browser, page, tasks)
        finally:
            browser.close()
        print(f"{tasks} tasks: {made}, first paint after {paint:.0f} ms")
    print("smoke-page: passed" if findings == 0 else f"smoke-page: {findings} findings")
    return 1 if findings else 0


sys.exit(main())
