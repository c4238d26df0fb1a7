"""A server whose every path misbehaves in its own way.

GET /NAME/SIZE/SEED/FILE answers as behaviour NAME with SIZE bytes made from SEED. Behaviours that go
wrong "once" count the requests of their whole path.

Prints its ports (IPv4, IPv6, and TLS where a certificate was given) on one line, and serves until
standard input ends. For each line there, the beginning of a path, it prints the requests for such
paths so far as JSON: path, headers, and how many bytes of body were sent. Nothing here waits for a clock but `paced`: a stall lasts until the client
leaves.
"""

import gzip
import json
import random
import socket
import ssl
import struct
import sys
import threading

import raw_replies

DATE = "Wed, 01 Jan 2020 00:00:00 GMT"
LATER = "Thu, 02 Jan 2020 00:00:00 GMT"
lock = threading.Lock()
log = []
counts = {}
ports = {}
# Waited for by what keeps a pace.
never = threading.Event()


def payload(size, seed):
    pattern = bytes((i * 7 + (i >> 8) * 13 + seed * 31) & 255 for i in range(65536))
    blocks = []
    for block in range((size + 65535) // 65536):
        shift = (block * 5 + seed) & 255
        blocks.append(bytes(pattern[shift:] + pattern[:shift]))
    return b"".join(blocks)[:size]


class Left(Exception):
    """This side has sent what it wanted to; the connection is to be closed."""


class Request:
    def __init__(self, sock, line, headers, name, size, seed, number):
        self.sock = sock
        self.line = line
        self.headers = headers
        self.name = name
        self.size = size
        self.seed = seed
        self.number = number  # from 1, of this path
        self.body = payload(size, seed)
        self.entry = None
        self.pause = 0

    # What goes over the wire.

    def raw(self, data):
        self.sock.sendall(data)

    def head(self, status, fields=(), version="1.1"):
        lines = [f"HTTP/{version} {status}"] + [f"{name}: {value}" for name, value in fields]
        self.raw(("\r\n".join(lines) + "\r\n\r\n").encode())

    def send(self, data):
        view = memoryview(data)
        while view:
            count = self.sock.send(view[:65536])
            self.entry["sent"] += count
            view = view[count:]
            if self.pause:
                never.wait(self.pause * count / 65536)

    def reset(self):
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raise Left

    def stall(self):
        # Until the client leaves.
        while self.sock.recv(65536):
            pass
        raise Left

    # What was asked.

    @property
    def start(self):
        value = self.headers.get("range", "")
        return int(value[6:].split("-")[0]) if value.startswith("bytes=") else None

    def fields(self, etag='"v1"', date=DATE):
        found = [("Accept-Ranges", "bytes")]
        if etag:
            found.append(("ETag", etag))
        if date:
            found.append(("Last-Modified", date))
        return found

    # The right answer, and what most wrong ones are made of.

    def good(self, etag='"v1"', date=DATE, body=None, limit=None, honours_if_range=True):
        """Sends all, or `limit` bytes at most before the connection is closed."""
        body = self.body if body is None else body
        fields = self.fields(etag, date)
        if self.start is None and (
            (etag and self.headers.get("if-none-match") == etag)
            or (date and "if-none-match" not in self.headers
                and self.headers.get("if-modified-since") == date)
        ):
            self.head("304 Not Modified", fields)
            return
        start = self.start
        condition = self.headers.get("if-range")
        if honours_if_range and condition and condition not in (etag, date):
            start = None
        if start is not None and start >= len(body):
            self.head("416 Range Not Satisfiable",
                      [("Content-Range", f"bytes */{len(body)}"), ("Content-Length", "0")])
            return
        part = body[start or 0:]
        fields.append(("Content-Length", len(part)))
        if start is None:
            self.head("200 OK", fields)
        else:
            fields.append(("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}"))
            self.head("206 Partial Content", fields)
        self.send(part if limit is None else part[:limit])
        if limit is not None and limit < len(part):
            raise Left

    def partial(self, first, last, total, fields=(), length=None, body=None):
        body = self.body if body is None else body
        part = body[first:last + 1]
        self.head("206 Partial Content", list(fields) + [
            ("Content-Range", f"bytes {first}-{last}/{total}"),
            ("Content-Length", len(part) if length is None else length)])
        self.send(part)

    def half_first(self):
        """Breaks off in the middle, the first time. True when it did not."""
        if self.number == 1:
            self.good(limit=self.size // 2)
        return True

    def chunk(self, data):
        self.raw(f"{len(data):x}\r\n".encode())
        self.send(data)
        self.raw(b"\r\n")


behaviours = {}


def behaviour(function):
    behaviours[function.__name__] = function
    return function


def once(function):
    """The first answer is wrong, every later one right."""

    def answer(request):
        if request.number == 1:
            function(request)
        else:
            request.good()

    behaviours[function.__name__] = answer
    return answer


def after_half(function):
    """The first answer breaks off in the middle; what follows is the behaviour's own."""

    def answer(request):
        if request.half_first():
            function(request)

    behaviours[function.__name__] = answer
    return answer


# --- Whole files -----------------------------------------------------------------------------------


@behaviour
def plain(r):
    r.good()


@behaviour
def paced(r):
    """As plain, so many megabytes a second as the file's name begins with."""
    speed = int(r.line.split(" ")[1].split("/")[4].split("-")[0]) * 1_000_000
    # What the system holds for the client is as good as sent.
    r.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
    r.pause = 65536 / speed
    r.good()


@behaviour
def gated(r):
    """As plain, once somebody has opened the FIFO of X-Gate for writing and closed it."""
    with open(r.headers["x-gate"]) as gate:
        gate.read()
    r.good()


@behaviour
def half_gated(r):
    """As plain, with the second half once somebody has opened the FIFO of X-Gate and closed it."""
    r.head("200 OK", r.fields() + [("Content-Length", r.size)])
    r.send(r.body[:r.size // 2])
    with open(r.headers["x-gate"]) as gate:
        gate.read()
    r.send(r.body[r.size // 2:])


@behaviour
def just_modified(r):
    """Nothing but a date, which is that of the answer."""
    if r.headers.get("if-modified-since"):
        r.head("304 Not Modified")
    else:
        r.head("200 OK", [("Date", DATE), ("Last-Modified", DATE), ("Content-Length", r.size)])
        r.send(r.body)


@behaviour
def no_ranges(r):
    r.head("200 OK", [("Content-Length", r.size)])
    r.send(r.body)


@behaviour
def tiny_writes(r):
    r.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    r.head("200 OK", [("Content-Length", r.size)])
    for i in range(0, r.size, 997):
        r.send(r.body[i:i + 997])


@behaviour
def drip_head(r):
    r.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for byte in f"HTTP/1.1 200 OK\r\nContent-Length: {r.size}\r\n\r\n".encode():
        r.raw(bytes([byte]))
    r.send(r.body)


@behaviour
def chunked(r):
    r.head("200 OK", [("Transfer-Encoding", "chunked")])
    for i in range(0, r.size, 10_000):
        r.chunk(r.body[i:i + 10_000])
    r.raw(b"0\r\n\r\n")


@behaviour
def chunked_trailers(r):
    r.head("200 OK", [("Transfer-Encoding", "chunked"), ("Trailer", "X-Sum")])
    r.chunk(r.body)
    r.raw(b"0\r\nX-Sum: 1\r\nETag: \"other\"\r\n\r\n")


@behaviour
def chunked_and_length(r):
    r.head("200 OK", [("Content-Length", 5), ("Transfer-Encoding", "chunked")])
    r.chunk(r.body)
    r.raw(b"0\r\n\r\n")


@behaviour
def old_server(r):
    r.head("200 OK", version="1.0")
    r.send(r.body)
    raise Left


@behaviour
def interim_answers(r):
    r.raw(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n"
          b"Content-Length: 3\r\n\r\n")
    r.good()


@behaviour
def line_feeds_only(r):
    r.raw(f"HTTP/1.1 200 OK\ncontent-length:{r.size}\netag:\"v1\"\n\n".encode())
    r.send(r.body)


@behaviour
def odd_spelling(r):
    r.raw(f"HTTP/1.1 200\r\ncOnTeNt-LeNgTh:    {r.size}   \r\nX: a\r\n  folded\r\n\r\n".encode())
    r.send(r.body)


@behaviour
def longer_than_said(r):
    r.head("200 OK", [("Content-Length", r.size)])
    r.send(r.body + b"x" * 5000)
    raise Left


@behaviour
def whole_as_part(r):
    r.partial(0, r.size - 1, r.size)


@behaviour
def non_authoritative(r):
    r.head("203 Non-Authoritative Information", [("Content-Length", r.size)])
    r.send(r.body)


@behaviour
def gzip_unasked(r):
    data = gzip.compress(r.body)
    r.head("200 OK", [("Content-Encoding", "gzip"), ("Content-Length", len(data))])
    r.send(data)


@behaviour
def gzip_unasked_chunked(r):
    data = gzip.compress(r.body)
    r.head("200 OK", [("Content-Encoding", "x-gzip"), ("Transfer-Encoding", "chunked")])
    r.chunk(data)
    r.raw(b"0\r\n\r\n")


@behaviour
def gzip_unasked_half(r):
    data = gzip.compress(r.body)
    fields = [("Content-Encoding", "gzip"), ("ETag", '"gz"')]
    start = r.start or 0
    if r.number == 1:
        r.head("200 OK", fields + [("Content-Length", len(data))])
        r.send(data[:len(data) // 2])
        raise Left
    if r.start is None:
        r.head("200 OK", fields + [("Content-Length", len(data))])
    else:
        r.head("206 Partial Content", fields + [
            ("Content-Length", len(data) - start),
            ("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")])
    r.send(data[start:])


@behaviour
def gzip_resumed_plain(r):
    """First half of the encoded content, then ranges of the plain one."""
    if r.number == 1:
        data = gzip.compress(r.body, 0)
        r.head("200 OK", [("Content-Encoding", "gzip"), ("ETag", '"v1"'),
                          ("Content-Length", len(data))])
        r.send(data[:len(data) // 2])
        raise Left
    r.good(honours_if_range=False)


@behaviour
def gzip_is_the_file(r):
    r.head("200 OK", [("Content-Encoding", "x-gzip"), ("Content-Length", r.size)])
    r.send(r.body)


# --- Breaking off ----------------------------------------------------------------------------------


@behaviour
def truncated_once(r):
    r.good(limit=r.size // 2 if r.number == 1 else None)


@behaviour
def truncated_ever(r):
    r.good(limit=r.size // 4 + 1)


@behaviour
def truncated_no_validators(r):
    r.good(etag=None, date=None, limit=r.size // 2 if r.number == 1 else None)


@behaviour
def truncated_weak_etag(r):
    r.good(etag='W/"v1"', date=None, limit=r.size // 2 if r.number == 1 else None)


@behaviour
def truncated_date_only(r):
    r.good(etag=None, limit=r.size // 2 if r.number == 1 else None)


@behaviour
def truncated_last_byte(r):
    r.good(limit=r.size - 1 if r.number == 1 else None)


@behaviour
def reset_in_body(r):
    if r.number == 1:
        r.head("200 OK", r.fields() + [("Content-Length", r.size)])
        r.send(r.body[:r.size // 2])
        r.reset()
    r.good()


@once
def reset_before_head(r):
    r.reset()


@once
def close_before_head(r):
    raise Left


@once
def close_in_head(r):
    r.raw(b"HTTP/1.1 200 OK\r\nContent-Le")
    raise Left


@once
def close_after_head(r):
    r.head("200 OK", r.fields() + [("Content-Length", r.size)])
    raise Left


@once
def chunked_no_end(r):
    r.head("200 OK", r.fields() + [("Transfer-Encoding", "chunked")])
    r.chunk(r.body[:r.size // 2])
    raise Left


@once
def chunked_whole_no_end(r):
    r.head("200 OK", r.fields() + [("Transfer-Encoding", "chunked")])
    r.chunk(r.body)
    raise Left


@behaviour
def cut_without_word(r):
    """The connection ends, and TLS does not say that it is to."""
    r.head("200 OK", version="1.0")
    r.send(r.body[:r.size // 2])
    socket.socket(fileno=r.sock.detach()).close()
    raise Left


@behaviour
def chunked_never_ends(r):
    r.head("200 OK", [("Transfer-Encoding", "chunked")])
    r.chunk(r.body[:r.size // 2])
    raise Left


@once
def chunked_cut_in_chunk(r):
    r.head("200 OK", r.fields() + [("Transfer-Encoding", "chunked")])
    r.raw(f"{r.size:x}\r\n".encode())
    r.send(r.body[:r.size // 3])
    raise Left


@once
def chunked_bad_size(r):
    r.head("200 OK", r.fields() + [("Transfer-Encoding", "chunked")])
    r.chunk(r.body[:1000])
    r.raw(b"zebra\r\n")
    raise Left


@behaviour
def old_server_cut(r):
    """Closes too early, and nothing but the hash can tell."""
    if r.number == 1:
        r.head("200 OK", [("ETag", '"v1"')], version="1.0")
        r.send(r.body[:r.size // 2])
        raise Left
    r.good()


@once
def stall_before_head(r):
    r.stall()


@once
def stall_in_body(r):
    r.head("200 OK", r.fields() + [("Content-Length", r.size)])
    r.send(r.body[:r.size // 2])
    r.stall()


def part_from(r, first, last, fields=()):
    """What it says of a part is true, but the part need not be what was asked for."""
    if r.start is None or not first <= last < r.size:
        r.good()
    else:
        r.partial(first, last, r.size, list(fields))


def cut_chunks(r, length):
    start = r.start or 0
    fields = r.fields() + [("Transfer-Encoding", "chunked")]
    if r.start is None:
        r.head("200 OK", fields)
    else:
        r.head("206 Partial Content",
               fields + [("Content-Range", f"bytes {start}-{r.size - 1}/{r.size}")])
    r.chunk(r.body[start:start + max(1, length)])
    raise Left


# Each takes a number of bytes to do something with.
moods = [
    lambda r, count: r.good(limit=count),
    lambda r, count: r.good(limit=count, honours_if_range=False),
    cut_chunks,
    lambda r, count: r.reset(),
    lambda r, count: r.head("503 Busy", [("Content-Length", 0)]),
    lambda r, count: r.head("500 Upset", [("Content-Length", 0)]),
    lambda r, count: no_ranges(r),
    lambda r, count: part_from(r, (r.start or 0) + 1 + count // 9, r.size - 1, r.fields()),
    lambda r, count: part_from(r, max(0, (r.start or 0) - count), r.size - 1, r.fields()),
    lambda r, count: part_from(r, r.start or 0, (r.start or 0) + count // 3, r.fields()),
    lambda r, count: part_from(r, r.start or 0, r.size - 1),
    lambda r, count: r.raw(b"HTTP/1.1 103 Early Hints\r\nETag: \"x\"\r\n\r\n") or r.good(),
]


@behaviour
def moody(r):
    """Misbehaves in another way at each request, as the seed has it; from the fifth on all is well."""
    draw = random.Random(r.seed * 100 + r.number)
    mood = draw.choice(moods)
    count = draw.randrange(r.size)
    if r.number < 5:
        mood(r, count)
    else:
        r.good()


# --- Parts -----------------------------------------------------------------------------------------


@after_half
def part_ignored(r):
    r.head("200 OK", r.fields() + [("Content-Length", r.size)])
    r.send(r.body)


@after_half
def part_earlier(r):
    if r.start is None:
        r.good()
    else:
        r.partial(max(0, r.start - 1000), r.size - 1, r.size, r.fields())


@after_half
def part_earlier_other_bytes(r):
    """What comes again is not what came first."""
    other = payload(r.size, r.seed + 1)
    if r.start is None:
        r.good()
    else:
        r.partial(max(0, r.start - 1000), r.size - 1, r.size, r.fields(), body=other)


@after_half
def part_later(r):
    if r.start is None:
        r.good()
    else:
        r.partial(r.start + 1000, r.size - 1, r.size, r.fields())


@after_half
def part_other_total(r):
    if r.start is None:
        r.good()
    else:
        r.partial(r.start, r.size - 1, r.size + 5, r.fields())


@after_half
def part_no_range_field(r):
    if r.start is None:
        r.good()
    else:
        part = r.body[r.start:]
        r.head("206 Partial Content", r.fields() + [("Content-Length", len(part))])
        r.send(part)


@after_half
def part_mad_range_field(r):
    if r.start is None:
        r.good()
    else:
        part = r.body[r.start:]
        r.head("206 Partial Content", r.fields() + [
            ("Content-Range", "bytes banana"), ("Content-Length", len(part))])
        r.send(part)


@after_half
def part_wrong_length(r):
    if r.start is None:
        r.good()
    else:
        r.head("206 Partial Content", r.fields() + [
            ("Content-Range", f"bytes {r.start}-{r.size - 1}/{r.size}"),
            ("Content-Length", r.size)])
        r.send(r.body)


@after_half
def part_too_long(r):
    if r.start is None:
        r.good()
    else:
        r.head("206 Partial Content", r.fields() + [
            ("Content-Range", f"bytes {r.start}-{r.size - 1}/{r.size}"),
            ("Connection", "close")])
        r.send(r.body[r.start:] + b"y" * 3000)
        raise Left


@after_half
def part_multipart(r):
    if r.start is None:
        r.good()
    else:
        data = b"--b\r\nContent-Range: bytes 0-9/99\r\n\r\n0123456789\r\n--b--\r\n"
        r.head("206 Partial Content", [
            ("Content-Type", "multipart/byteranges; boundary=b"), ("Content-Length", len(data))])
        r.send(data)


@after_half
def part_in_pieces(r):
    if r.start is None:
        r.good()
    elif r.start >= r.size:
        r.good()
    else:
        r.partial(r.start, min(r.size, r.start + 40_000) - 1, r.size, r.fields())


@after_half
def part_star_total(r):
    if r.start is None or r.start >= r.size:
        r.good()
    else:
        r.partial(r.start, r.size - 1, "*", r.fields())


def whole_alone(r, status, fields=()):
    """Serves the whole, and answers with a status and no body where a part is asked for."""
    if r.start is None:
        r.good()
    else:
        r.head(status, [*fields, ("Content-Length", 0)])


@after_half
def part_refused(r):
    whole_alone(r, "416 Range Not Satisfiable", [("Content-Range", f"bytes */{r.size}")])


@after_half
def part_refused_no_total(r):
    whole_alone(r, "416 Range Not Satisfiable")


@after_half
def part_refused_lying_total(r):
    """Says that the part is all there is, after it had promised more."""
    whole_alone(r, "416 Range Not Satisfiable", r.fields() + [
        ("Content-Range", f"bytes */{r.start}")])


def rest_as_whole(r, fields):
    if r.start is None:
        r.good()
    else:
        part = r.body[r.start:]
        r.head("200 OK", fields + [("Content-Length", len(part))])
        r.send(part)


@after_half
def part_called_whole(r):
    rest_as_whole(r, r.fields())


@after_half
def part_called_whole_and_named(r):
    rest_as_whole(r, [("Content-Range", f"bytes {r.start}-{r.size - 1}/{r.size}")])


@after_half
def part_closes_early(r):
    """Parts whose length only the connection's end tells, and which ends too early."""
    if r.start is None or r.number > 3:
        r.good()
    else:
        r.head("206 Partial Content", r.fields() + [
            ("Content-Range", f"bytes {r.start}-{r.size - 1}/{r.size}"), ("Connection", "close")])
        r.send(r.body[r.start:r.start + 1000])
        raise Left


@after_half
def part_error(r):
    """No parts today."""
    whole_alone(r, "501 Not Implemented")


@after_half
def part_fails(r):
    """Parts make it fail, whatever else it can."""
    whole_alone(r, "500 Internal Server Error")


@after_half
def part_condition_refused(r):
    whole_alone(r, "412 Precondition Failed")


@after_half
def part_no_version(r):
    """The rest of another file of that length, without a word on its version."""
    other = payload(r.size, r.seed + 1)
    if r.start is None:
        r.good(etag='"v2"', body=other)
    else:
        r.partial(r.start, r.size - 1, r.size, body=other)


# --- Files that change -----------------------------------------------------------------------------


@after_half
def changed_etag(r):
    r.good(etag='"v2"', date=LATER, body=payload(r.size, r.seed + 1))


@after_half
def changed_etag_ignored(r):
    r.good(etag='"v2"', date=LATER, body=payload(r.size, r.seed + 1), honours_if_range=False)


@behaviour
def changed_date_ignored(r):
    if r.number == 1:
        r.good(etag=None, limit=r.size // 2)
    r.good(etag=None, date=LATER, body=payload(r.size, r.seed + 1), honours_if_range=False)


@after_half
def changed_total(r):
    r.good(body=payload(r.size + 77, r.seed + 1), honours_if_range=False)


@behaviour
def changed_silently(r):
    """No validator, and the same length."""
    if r.number == 1:
        r.good(etag=None, date=None, limit=r.size // 2)
    r.good(etag=None, date=None, body=payload(r.size, r.seed + 1))


# --- Answers that are no file ----------------------------------------------------------------------


def status(name, line, fields=(), always=False):
    def answer(r):
        if always or r.number == 1:
            r.head(line, list(fields) + [("Content-Length", 5)])
            r.send(b"sorry")
        else:
            r.good()

    behaviours[name] = answer


for number in (408, 425, 429, 500, 502, 503, 504, 520, 202):
    status(f"once_{number}", f"{number} Later")
for number in (400, 401, 403, 404, 407, 410, 451):
    status(f"always_{number}", f"{number} No", always=True)
status("always_500", "500 Broken", always=True)
status("retry_after", "503 Busy", [("Retry-After", "7")])
status("retry_after_date", "429 Slow Down", [("Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT")])
status("redirect_nowhere", "302 Found", always=True)
status("redirect_file", "302 Found", [("Location", "file:///etc/passwd")], always=True)
status("redirect_ftp", "302 Found", [("Location", "ftp://127.0.0.1/x")], always=True)
status("redirect_rubbish", "302 Found", [("Location", "http://[::zz/")], always=True)
status("whole_part_refused", "416 Range Not Satisfiable", always=True)


@behaviour
def no_content(r):
    r.head("204 No Content")


@behaviour
def unasked_304(r):
    r.head("304 Not Modified", [("ETag", '"v1"')])


@behaviour
def unasked_part(r):
    r.partial(10, 99, r.size)


@behaviour
def forbidden_long(r):
    r.head("403 Forbidden", [("Content-Length", 1 << 30)])
    while True:
        r.send(b"no " * 20_000)


@once
def huge_head(r):
    r.raw(b"HTTP/1.1 200 OK\r\nX-Big: " + b"x" * 400_000 + b"\r\n")
    r.good()


@once
def no_http(r):
    r.raw(b"SSH-2.0-OpenSSH_9.0\r\n" + b"x" * 100)
    raise Left


@once
def mad_length(r):
    r.raw(b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n")
    r.send(r.body)
    raise Left


@once
def negative_length(r):
    r.raw(b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n")
    r.send(r.body)
    raise Left


@once
def two_lengths(r):
    r.raw(f"HTTP/1.1 200 OK\r\nContent-Length: 10\r\nContent-Length: {r.size}\r\n\r\n".encode())
    r.send(r.body)
    raise Left


@behaviour
def other_bytes(r):
    r.good(body=payload(r.size, r.seed + 9))


@behaviour
def needs_password(r):
    # user:pa ss
    if r.headers.get("authorization") == "Basic dXNlcjpwYSBzcw==":
        r.good()
    else:
        r.head("401 Unauthorized", [("WWW-Authenticate", "Basic"), ("Content-Length", 0)])


@behaviour
def needs_token(r):
    if r.headers.get("x-token") == "secret" and r.headers.get("accept") == "application/x":
        r.good()
    else:
        r.head("401 Unauthorized", [("Content-Length", 0)])


# --- Redirects: /redirect_CODE/… and the like lead to /plain/… ---------------------------------------


def redirecting(name, line, location):
    def answer(r):
        path = r.line.split(" ")[1]
        r.head(line, [("Location", location(r, path)), ("Content-Length", 4)])
        r.send(b"over")

    behaviours[name] = answer


def elsewhere(r, path, name="plain"):
    return "/" + name + "/" + path.split("/", 2)[2]


for code in (300, 301, 302, 303, 307, 308):
    redirecting(f"redirect_{code}", f"{code} Over There", elsewhere)
redirecting("redirect_absolute", "302 Found",
            lambda r, path: f"http://127.0.0.1:{ports['plain']}" + elsewhere(r, path))
redirecting("redirect_relative", "302 Found",
            lambda r, path: f"../../../truncated_once/{r.size}/{r.seed}/./x/../file?a=b c#part")
redirecting("redirect_other_host", "302 Found",
            lambda r, path: f"http://localhost:{ports['plain']}" + elsewhere(r, path, "shows_headers"))
redirecting("redirect_loop", "302 Found", lambda r, path: path)
redirecting("redirect_downgrade", "302 Found",
            lambda r, path: f"http://127.0.0.1:{ports['plain']}" + elsewhere(r, path))


@behaviour
def redirect_no_end(r):
    """The body of the redirect does not come, and the connection stays."""
    path = r.line.split(" ")[1]
    r.head("302 Found", [("Location", elsewhere(r, path)), ("Content-Length", 100)])
    r.stall()


@behaviour
def redirect_not_closed(r):
    path = r.line.split(" ")[1]
    r.head("302 Found", [("Location", elsewhere(r, path)), ("Connection", "close")])
    r.stall()


@behaviour
def identity_no_end(r):
    r.head("200 OK", [("Transfer-Encoding", "identity"), ("Content-Length", r.size)])
    r.send(r.body)
    r.stall()


@behaviour
def refusal_no_end(r):
    r.head("403 Forbidden", [("Content-Length", 100)])
    r.stall()


def raw(function):
    def answer(r):
        r.raw(function(r.body))
        raise Left

    return answer


for name, function in raw_replies.replies.items():
    behaviours[name] = raw(function)


def raw_redirect(name):
    def answer(r):
        path = r.line.split(" ")[1]
        r.raw(raw_replies.redirect(name, path.split("/", 2)[2], f"127.0.0.1:{ports['plain']}"))

    return answer


for name in raw_replies.redirects:
    behaviours["redirect_raw_" + name] = raw_redirect(name)


@behaviour
def redirect_chain(r):
    if r.number < 45:
        path = r.line.split(" ")[1]
        r.head("302 Found", [("Location", path), ("Content-Length", 0)])
    else:
        r.good()


@behaviour
def shows_headers(r):
    r.good()


# --- The machinery ---------------------------------------------------------------------------------


def read_head(reader):
    line = reader.readline().decode("latin-1").strip()
    headers = {}
    while True:
        field = reader.readline().decode("latin-1")
        if field in ("\r\n", "\n", ""):
            return line, headers
        name, _, value = field.partition(":")
        headers[name.strip().lower()] = value.strip()


def serve(sock, connection):
    reader = sock.makefile("rb")
    try:
        while True:
            line, headers = read_head(reader)
            if not line:
                return
            url = line.split(" ")[1]
            proxied = url.startswith("http://")
            path = "/" + url.split("/", 3)[3] if proxied else url
            parts = path.split("/")
            if len(parts) < 5 or parts[1] not in behaviours:
                sock.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                continue
            with lock:
                key = path.split("?")[0]
                counts[key] = counts.get(key, 0) + 1
                request = Request(sock, line, headers, parts[1], int(parts[2]), int(parts[3]),
                                  counts[key])
                request.entry = {"path": path, "headers": headers, "sent": 0,
                                 "connection": connection, "proxied": proxied}
                log.append(request.entry)
            behaviours[parts[1]](request)
    except (Left, OSError, ValueError):
        pass
    finally:
        reader.close()
        say_goodbye(sock)
        sock.close()


def say_goodbye(sock):
    """Tells the other side of TLS that nothing more comes."""
    if isinstance(sock, ssl.SSLSocket) and sock.fileno() >= 0:
        try:
            sock.unwrap()
        except (OSError, ValueError):
            pass


def listen(family, address, wrap=None):
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((address, 0))
    listener.listen(64)

    def accept():
        number = 0
        while True:
            sock, _ = listener.accept()
            number += 1
            if wrap:
                try:
                    sock = wrap(sock)
                except (OSError, ssl.SSLError):
                    continue
            threading.Thread(target=serve, args=(sock, f"{address}-{number}"), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listener.getsockname()[1]


def main():
    ports["plain"] = listen(socket.AF_INET, "127.0.0.1")
    try:
        ports["six"] = listen(socket.AF_INET6, "::1")
    except OSError:
        ports["six"] = 0
    ports["tls"] = 0
    if len(sys.argv) > 1:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[1], sys.argv[2])
        ports["tls"] = listen(socket.AF_INET, "127.0.0.1",
                              lambda sock: context.wrap_socket(sock, server_side=True))
    print(ports["plain"], ports["six"], ports["tls"], flush=True)
    for prefix in sys.stdin:
        with lock:
            found = [entry for entry in log if entry["path"].startswith(prefix.strip())]
            print(json.dumps(found), flush=True)


main()
