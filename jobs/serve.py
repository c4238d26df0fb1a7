#!/usr/bin/env python3
"""The server of jobs/downloads.yaml and jobs/nightly.yaml: hands out made-up measurements.

  python3 jobs/serve.py [--port N] [--speed BYTES] [--nights N]

It listens on this machine only, at port 8641 unless told otherwise (0: any), and sends each file at
1.2 MB a second unless told otherwise (0: as fast as it can), so that there is time to watch, to press
Ctrl-C and to resume. Parts of a file can be asked for (Range, If-Range), which a resume does, and
http.server cannot. Each request is told in a line.

/nights.tsv lists as many nights as it is told to have (3), with the sum of each; more of them do not change
those that were there.
"""
import argparse
import hashlib
import http.server
import io
import re
import tarfile
import time

MONTHS = 12
ROWS = 50_000
CHUNK = 32 * 1024
ROWS_A_NIGHT = 20_000


def table(number, count):
    """So many rows of day, station and value, and the number that the next table goes on from."""
    rows = []
    for row in range(count):
        # Numbers that look like chance (a linear congruential generator).
        number = (number * 1103515245 + 12345) % 2**31
        rows.append(f"{row % 28 + 1},{number >> 16 & 7},{number % 400 - 100}\n")
    return "".join(rows).encode(), number


def archive(seed):
    """A tar file of a table for each month, the same bytes at every call."""
    number = seed
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for month in range(1, MONTHS + 1):
            data, number = table(number, ROWS)
            entry = tarfile.TarInfo(f"{month:02}.csv")
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return file.getvalue()


def make_files():
    files = {"/north.tar": archive(1), "/south.tar": archive(2)}
    sums = [f"{hashlib.sha256(data).hexdigest()}  {name[1:]}\n" for name, data in files.items()]
    files["/SHA256SUMS"] = "".join(sums).encode()
    return files


def make_nights(count):
    files = {}
    sheet = ["night\tsha256\n"]
    for night in range(1, count + 1):
        name = f"2026-03-{night:02}"
        # In the fourth of them the instrument failed early.
        data, _ = table(100 + night, ROWS_A_NIGHT if night % 4 else 20)
        files[f"/nights/{name}.csv"] = data
        sheet.append(f"{name}\t{hashlib.sha256(data).hexdigest()}\n")
    files["/nights.tsv"] = "".join(sheet).encode()
    return files


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    files = make_files()
    speed = 0

    def do_GET(self):
        data = self.files.get(self.path)
        if data is None:
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        etag = '"' + hashlib.sha256(data).hexdigest()[:16] + '"'
        if self.headers.get("If-None-Match") == etag:
            self.start(304, etag, 0)
            return
        first = self.asked_from(len(data), etag)
        self.start(206 if first else 200, etag, len(data) - first, first, len(data))
        self.send(data[first:])

    def asked_from(self, size, etag):
        """The first byte that is asked for; 0 for the whole."""
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if not asked or int(asked[1]) >= size or self.headers.get("If-Range", etag) != etag:
            return 0
        return int(asked[1])

    def start(self, status, etag, length, first=0, size=0):
        self.send_response(status)
        self.send_header("ETag", etag)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(length))
        if status == 206:
            self.send_header("Content-Range", f"bytes {first}-{size - 1}/{size}")
        self.end_headers()

    def send(self, data):
        began = time.monotonic()
        for start in range(0, len(data), CHUNK):
            self.wfile.write(data[start : start + CHUNK])
            if self.speed:
                early = start / self.speed - (time.monotonic() - began)
                time.sleep(max(0, early))

    def log_message(self, format, *arguments):
        part = self.headers.get("Range", "") if hasattr(self, "headers") else ""
        print(format % arguments, part, flush=True)

    def handle(self):
        try:
            super().handle()
        except OSError:
            # Whoever asked has gone.
            pass


def main():
    parser = argparse.ArgumentParser(description="serves the files of jobs/downloads.yaml and nightly.yaml")
    parser.add_argument("--port", type=int, default=8641)
    parser.add_argument("--speed", type=int, default=1_200_000, help="bytes a second")
    parser.add_argument("--nights", type=int, choices=range(1, 32), default=3, metavar="N",
                        help="how many nights there are")
    options = parser.parse_args()
    Handler.files.update(make_nights(options.nights))
    Handler.speed = options.speed
    server = http.server.ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    print(f"serving at http://127.0.0.1:{server.server_port}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
