#!/usr/bin/env python3
"""A slow HTTP server for jobs/downloads.yaml and jobs/nightly.yaml, with generated measurements.

  python3 jobs/serve.py [--port N] [--speed BYTES] [--nights N]

It listens on localhost, on port 8641 by default (0: any free port). It limits each file to 1.2
MB/s by default (0: no limit), so that you have time to press Ctrl-C and to resume. Unlike
http.server, it supports range requests (Range, If-Range), which a resume sends. It logs each
request.

/nights.tsv lists the nights (3 by default) with the hash of each file. More nights do not change
the existing ones.
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
    """Returns `count` rows of day, station and value, and the seed of the next table."""
    rows = []
    for row in range(count):
        # A linear congruential generator: the same numbers with every version of Python.
        number = (number * 1103515245 + 12345) % 2**31
        rows.append(f"{row % 28 + 1},{number >> 16 & 7},{number % 400 - 100}\n")
    return "".join(rows).encode(), number


def archive(seed):
    """Returns a tar file with one table per month, the same bytes for the same seed."""
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
    index = ["night\tsha256\n"]
    for night in range(1, count + 1):
        name = f"2026-03-{night:02}"
        # Every fourth night has few rows, as if the instrument had failed.
        data, _ = table(100 + night, ROWS_A_NIGHT if night % 4 else 20)
        files[f"/nights/{name}.csv"] = data
        index.append(f"{name}\t{hashlib.sha256(data).hexdigest()}\n")
    files["/nights.tsv"] = "".join(index).encode()
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
        first = self.first_byte(len(data), etag)
        self.start(206 if first else 200, etag, len(data) - first, first, len(data))
        self.send(data[first:])

    def first_byte(self, size, etag):
        """Returns the first byte of the requested range; 0 for the whole file."""
        requested = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if not requested or int(requested[1]) >= size or self.headers.get("If-Range", etag) != etag:
            return 0
        return int(requested[1])

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
            # The client closed the connection.
            pass


def main():
    parser = argparse.ArgumentParser(
        description="Serves the files of jobs/downloads.yaml and jobs/nightly.yaml on localhost.")
    parser.add_argument("--port", type=int, default=8641,
                        help="port (default: 8641; 0: any free port)")
    parser.add_argument("--speed", type=int, default=1_200_000,
                        help="bytes per second and file (default: 1200000; 0: no limit)")
    parser.add_argument("--nights", type=int, choices=range(1, 32), default=3, metavar="N",
                        help="number of nights (default: 3)")
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
