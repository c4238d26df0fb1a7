"""Makes a page from a text file, for jobs/dev.yaml.

  site.py build TEXT FOLDER    builds the page once
  site.py watch TEXT FOLDER    rebuilds it whenever TEXT changes
  site.py serve FOLDER PORT    serves it
  site.py read URL             fetches it every second and reports changes
"""

import functools
import html
import http.server
import os
import sys
import time
import urllib.request


def build(source, folder):
    os.makedirs(folder, exist_ok=True)
    lines = []
    with open(source) as text:
        for line in text.read().splitlines():
            tag = "h1" if line.startswith("# ") else "p"
            lines.append(f"<{tag}>{html.escape(line.removeprefix('# '))}</{tag}>")
    with open(f"{folder}/index.html.part", "w") as page:
        page.write("\n".join(["<!doctype html>", *lines, ""]))
    os.replace(f"{folder}/index.html.part", f"{folder}/index.html")
    print(f"built a page of {len(lines)} lines")


def watch(source, folder):
    stamp = os.stat(source).st_mtime_ns
    print(f"watching {source}")
    while True:
        time.sleep(0.2)
        now = os.stat(source).st_mtime_ns
        if now != stamp:
            stamp = now
            build(source, folder)


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_request(self, code="-", size="-"):
        if code != http.HTTPStatus.OK:
            super().log_request(code, size)


def serve(folder, port):
    handler = functools.partial(Handler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), handler) as server:
        print(f"serving {folder} at http://127.0.0.1:{port}/")
        server.serve_forever()


def read(url):
    shown = None
    while True:
        with urllib.request.urlopen(url) as answer:
            page = answer.read().decode()
        if page != shown:
            print(f"the {'first' if shown is None else 'new'} page has {len(page.split())} words")
            shown = page
        time.sleep(1)


if __name__ == "__main__":
    {"build": build, "watch": watch, "serve": serve, "read": read}[sys.argv[1]](*sys.argv[2:])
