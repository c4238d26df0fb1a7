"""Replies whose bytes are odd: what a server says as it stands, before the connection is closed.

Each function takes the file's bytes and gives all that is sent. They are asked for as /raw_NAME/SIZE/SEED/FILE.
"""

import gzip
import zlib

replies = {}


def reply(function):
    replies["raw_" + function.__name__] = function
    return function


def head(*lines, status="HTTP/1.1 200 OK", end=b"\r\n"):
    return end.join(line if isinstance(line, bytes) else line.encode("utf-8", "surrogateescape")
                    for line in (status, *lines, "", ""))


def length(body):
    return f"Content-Length: {len(body)}"


def chunks(body, line=lambda count: f"{count:x}\r\n", last="0\r\n\r\n"):
    data = b""
    for start in range(0, len(body), 700):
        piece = body[start:start + 700]
        data += line(len(piece)).encode() + piece + b"\r\n"
    return data + last.encode()


CHUNKED = "Transfer-Encoding: chunked"

# --- Status lines ----------------------------------------------------------------------------------

for name, line in {
    "status_alone": "HTTP/1.1 200",
    "status_blank_behind": "HTTP/1.1 200 ",
    "status_long_phrase": "HTTP/1.1 200 " + "very " * 300 + "good",
    "status_odd_phrase": "HTTP/1.1 200 404 Not Found",
    "status_old": "HTTP/1.0 200 OK",
    "status_four_digits": "HTTP/1.1 2000 OK",
    "status_one_digit": "HTTP/1.1 2 OK",
    "status_negative": "HTTP/1.1 -200 OK",
    "status_zero": "HTTP/1.1 000 OK",
    "status_no_number": "HTTP/1.1 OK",
    "status_too_new": "HTTP/7.3 200 OK",
    "status_two_on_one": "HTTP/2 200",
    "status_no_version": "HTTP 200 OK",
    "status_long_version": "HTTP/1." + "1" * 100 + " 200 OK",
    "status_other_name": "ICY 200 OK",
    "status_small_letters": "http/1.1 200 OK",
}.items():
    replies["raw_" + name] = lambda body, line=line: head(length(body), status=line) + body


@reply
def no_head(body):
    return body


@reply
def one_byte(body):
    return b"-"


@reply
def status_unknown_success(body):
    return head(length(body), status="HTTP/1.1 299 Some Success") + body


@reply
def nothing(body):
    return b""


@reply
def blank_line_first(body):
    return b"\r\n" + head(length(body)) + body


# --- Fields ----------------------------------------------------------------------------------------

for name, lines in {
    "field_folded": ["X-One: a", "  b", "\tc"],
    "field_no_colon": ["this is no field"],
    "field_empty_name": [": nothing"],
    "field_begins_blank": ["  X-One: a"],
    "field_begins_tab": ["\tX-One: a"],
    "field_blank": [" "],
    "field_blank_name": ["  : a"],
    "field_nul_name": ["X\0One: a"],
    "field_too_long": ["X-One: " + "x" * 200_000],
    "field_nul": ["X-One: a\0b"],
    "field_long": ["X-One: " + "x" * 60_000],
    "fields_many": [f"X-{number}: {number}" for number in range(900)],
    "fields_too_many": [f"X-{number}: {'y' * 2000}" for number in range(300)],
    "field_not_text": [b"X-One: \xff\xfe\x80"],
    "field_cookie": ["Set-Cookie: a=b; path=/; domain=.example; expires=never", "Set-Cookie:"],
    "range_of_whole": ["Content-Range: bytes 5-9/10"],
    "location_of_whole": ["Location: /elsewhere"],
    "encoding_none": ["Content-Encoding: none"],
    "encoding_identity": ["Content-Encoding: identity"],
}.items():
    replies["raw_" + name] = lambda body, lines=lines: head(*lines, length(body)) + body


@reply
def carriage_returns_only(body):
    return head(length(body), end=b"\r") + body


@reply
def mixed_line_ends(body):
    return b"HTTP/1.1 200 OK\nX-One: 1\r\n" + length(body).encode() + b"\n\r\n" + body


@reply
def head_never_ends(body):
    return b"HTTP/1.1 200 OK\r\n" + length(body).encode() + b"\r\n"


# --- Lengths ---------------------------------------------------------------------------------------

for name, values in {
    "length_twice": ["{0}", "{0}"],
    "length_listed": ["{0}, {0}"],
    "length_two": ["{0}", "7"],
    "length_smaller_first": ["7", "{0}"],
    "length_negative": ["-{0}"],
    "length_plus": ["+{0}"],
    "length_hexadecimal": ["0x{0}"],
    "length_words": ["many"],
    "length_behind": ["{0} bytes"],
    "length_empty": [""],
    "length_beyond": ["9223372036854775808"],
    "length_huge": ["9" * 40],
    "length_zeros": ["000000000000000000000{0}"],
    "length_folded": ["\r\n {0}"],
    "length_short_by_one": ["{1}"],
    "length_long_by_one": ["{2}"],
}.items():
    replies["raw_" + name] = lambda body, values=values: head(*(
        "Content-Length: " + value.format(len(body), len(body) - 1, len(body) + 1)
        for value in values)) + body


@reply
def length_blank_before_colon(body):
    return head(f"Content-Length : {len(body)}") + body


@reply
def length_of_nothing(body):
    return head("Content-Length: 0") + body


@reply
def closed_by_end(body):
    return head("Connection: close") + body


@reply
def kept_alive_and_closed(body):
    return head("Connection: keep-alive") + body


# --- Chunks ----------------------------------------------------------------------------------------

for name, line in {
    "chunk_extension": lambda count: f"{count:x};name=value; other=\"a;b\"\r\n",
    "chunk_capitals": lambda count: f"{count:X}\r\n",
    "chunk_zeros": lambda count: f"{count:012x}\r\n",
    "chunk_blanks": lambda count: f"{count:x}   \r\n",
    "chunk_line_feed": lambda count: f"{count:x}\n",
    "chunk_long_extension": lambda count: f"{count:x};{'e' * 3000}\r\n",
    "chunk_prefix": lambda count: f"0x{count:x}\r\n",
    "chunk_negative": lambda count: f"-{count:x}\r\n",
    "chunk_words": lambda count: "some\r\n",
    "chunk_overflow": lambda count: "fffffffffffffffff\r\n",
    "chunk_too_long": lambda count: f"{count + 1:x}\r\n",
    "chunk_too_short": lambda count: f"{count - 1:x}\r\n",
    "chunk_empty_size": lambda count: "\r\n",
}.items():
    replies["raw_" + name] = lambda body, line=line: head(CHUNKED) + chunks(body, line)

for name, last in {
    "chunk_end_trailers": "0\r\nX-Sum: 1\r\nContent-Length: 3\r\n\r\n",
    "chunk_end_extension": "0;last\r\n\r\n",
    "chunk_end_zeros": "00000\r\n\r\n",
    "chunk_end_line_feeds": "0\n\n",
    "chunk_end_missing": "",
    "chunk_end_half": "0\r\n",
    "chunk_end_folded": "0\r\nX-Sum: 1\r\n  2\r\n\r\n",
    "chunk_end_no_field": "0\r\nnothing\r\n\r\n",
    "chunk_end_nul": "0\r\nX-Sum: a\0b\r\n\r\n",
    "chunk_end_junk": "0\r\n\r\nHTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
}.items():
    replies["raw_" + name] = lambda body, last=last: head(CHUNKED) + chunks(body, last=last)


@reply
def chunk_and_lengths(body):
    return head(CHUNKED, "Content-Length: 10", "Content-Length: 20") + chunks(body)


@reply
def chunked_old(body):
    return head(CHUNKED, status="HTTP/1.0 200 OK") + chunks(body)


@reply
def chunked_twice(body):
    return head("Transfer-Encoding: chunked, chunked") + chunks(chunks(body))


@reply
def chunked_capitals(body):
    return head("TRANSFER-encoding:   ChUnKeD  ") + chunks(body)


@reply
def chunked_not_at_all(body):
    return head(CHUNKED) + body


@reply
def transfer_identity(body):
    return head("Transfer-Encoding: identity", length(body)) + body


@reply
def transfer_unknown(body):
    return head("Transfer-Encoding: gobbledegook") + body


@reply
def transfer_gzip(body):
    return head("Transfer-Encoding: gzip, chunked") + chunks(gzip.compress(body))


@reply
def transfer_gzip_alone(body):
    data = gzip.compress(body)
    return head("Transfer-Encoding: gzip", length(data)) + data


# --- Interim answers -------------------------------------------------------------------------------


@reply
def interim_many(body):
    return b"".join(head(f"Link: <{n}>", status="HTTP/1.1 103 Early Hints") for n in range(12)) \
        + head(length(body)) + body


@reply
def interim_with_length(body):
    return head("Content-Length: 5", status="HTTP/1.1 100 Continue") + head(length(body)) + body


@reply
def interim_only(body):
    return head(status="HTTP/1.1 100 Continue")


@reply
def switching(body):
    return head("Upgrade: other", status="HTTP/1.1 101 Switching Protocols") + body


# --- Encodings -------------------------------------------------------------------------------------


def encoded(name, coding, encode):
    def answer(body):
        data = encode(body)
        return head(f"Content-Encoding: {coding}", length(data)) + data

    replies["raw_" + name] = answer


def raw_deflate(body):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(body) + packer.flush()


encoded("gzip_two_members", "gzip", lambda body: gzip.compress(body[:900]) + gzip.compress(body[900:]))
encoded("gzip_small_letters", "GZip", gzip.compress)
encoded("gzip_and_identity", "identity, gzip", gzip.compress)
encoded("gzip_broken", "gzip", lambda body: gzip.compress(body)[:-12] + b"x" * 12)
encoded("gzip_cut", "gzip", lambda body: gzip.compress(body)[:-9])
encoded("gzip_not_at_all", "gzip", lambda body: body)
encoded("gzip_without_bound", "gzip", lambda body: gzip.compress(bytes(80 << 20), 1))
encoded("gzip_junk_behind", "gzip", lambda body: gzip.compress(body) + b"junk behind it")
encoded("deflate", "deflate", zlib.compress)
encoded("deflate_raw", "deflate", raw_deflate)
encoded("deflate_broken", "deflate", lambda body: zlib.compress(body)[:-4] + b"abcd")
encoded("encoding_twice", "deflate, gzip", lambda body: gzip.compress(zlib.compress(body)))
encoded("encoding_thrice", "gzip, gzip, deflate",
        lambda body: zlib.compress(gzip.compress(gzip.compress(body))))
encoded("encoding_twice_cut", "deflate, gzip", lambda body: gzip.compress(zlib.compress(body)[:-9]))
encoded("encoding_unknown", "rot13", lambda body: body)


# --- Redirects: each leads to /plain/SIZE/SEED/FILE ---------------------------------------------------

redirects = {
    "space": "/plain/{rest}?a b c",
    "two_slashes": "//{host}/plain/{rest}",
    "dots": "../.././../plain/{rest}",
    "dots_inside": "/a/b/../../plain/./{rest}",
    "query_only_host": "http://{host}/plain/{rest}?",
    "fragment": "/plain/{rest}#part",
    "not_ascii": "/plain/{rest}?gr\u00fcn",
    "latin": "/plain/{rest}?gr\udcfcn",
    "blanks_around": "   /plain/{rest}   ",
    "capitals": "HTTP://{host}/plain/{rest}",
    "three_slashes": "http:///{host}/plain/{rest}",
    "one_slash": "http:/{host}/plain/{rest}",
    "user": "http://somebody:secret@{host}/plain/{rest}",
    "two_fields": "/plain/{rest}\r\nLocation: /always_404/{rest}",
    "tab": "\t/plain/{rest}",
    "encoded_dots": "/plain/{rest}?%2e%2e/%zz",
}


def redirect(name, rest, host):
    location = redirects[name].format(rest=rest, host=host)
    return head("Location: " + location, "Content-Length: 4", status="HTTP/1.1 302 Found") + b"over"
