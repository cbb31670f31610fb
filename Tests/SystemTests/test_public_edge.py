"""Hostile clients of ingest's public port: what RFC 9110, 9112 and 9113 and the limits of the configuration promise, byte by byte."""

import gzip
import json
import os
import threading
import time
import uuid

import pytest
from conftest import ROOT
from http2_connection import REQUEST, HTTP2Connection, replaced
from hyperframe.frame import ContinuationFrame, DataFrame, HeadersFrame, PingFrame, RstStreamFrame, SettingsFrame
from ingest_process import IngestProcess, RawConnection

SOAK = os.environ.get("ATTRIBUTION_SOAK") == "1"
CONTRACT = json.loads((ROOT / "Shared" / "AttributionProtocol" / "Contract" / "openapi.json").read_text())
MIB = 1 << 20
BODY_LIMIT, HEADER_LIMIT, COUNT_LIMIT, TARGET_LIMIT = 262_144, 16_384, 100, 8192  # Documentation/configuration.md


def ingest(system, folder, limits):
    with IngestProcess(system, folder, limits) as process:
        yield process
        assert process.is_alive(), "ingest ended: " + process.log_path.read_text(errors="replace")[-2000:]


@pytest.fixture(scope="module")
def edge(system, tmp_path_factory):
    """The documented limits."""
    yield from ingest(system, tmp_path_factory.mktemp("edge"), {"headerTime": "10s"})


@pytest.fixture(scope="module")
def hasty(system, tmp_path_factory):
    """Short times, so that nobody waits long for them."""
    yield from ingest(system, tmp_path_factory.mktemp("hasty"), {"headerTime": "1s", "bodyTime": "2s", "idleTime": "3s"})


def postback() -> bytes:
    """One that is taken in: what is wrong with it is the verifier's to say."""
    return json.dumps({"version": "4.0", "ad-network-id": "example123.skadnetwork", "transaction-id": str(uuid.uuid4()),
                       "attribution-signature": "AA=="}).encode()


def request(fields: bytes = b"", body: bytes | None = None, *, line: bytes = b"POST /v1/postbacks HTTP/1.1",
            host: bytes = b"Host: edge.example\r\n", length: bool = True) -> bytes:
    """A request whose other header fields are `fields`, each with its line's end."""
    body = postback() if body is None else body
    stated = b"Content-Length: %d\r\n" % len(body) if length else b""
    return line + b"\r\n" + host + b"Content-Type: application/json\r\n" + stated + fields + b"\r\n" + body


def chunked(body: bytes, size: bytes | None = None) -> bytes:
    return (size or b"%x" % len(body)) + b"\r\n" + body + b"\r\n0\r\n\r\n"


def exchange(edge, data: bytes) -> list:
    """All answers to these bytes until ingest closes, which a client that half-closes makes it do."""
    with RawConnection(edge.port) as connection:
        connection.send(data)
        return connection.answers_to_end()


def assert_served(edge):
    status, body = edge.post("/v1/postbacks", postback())
    assert status == 200, body


# --- framing: what two readers could read in two ways is read by none ---------------------------------------------------

TAKEN = postback()
LENGTH = len(TAKEN)


def framed(fields: bytes, body: bytes = TAKEN, **options) -> bytes:
    return request(fields, body, length=False, **options)


FAULTY = {
    "length and chunked": framed(b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n" % LENGTH, chunked(TAKEN)),
    "chunked and length": framed(b"Transfer-Encoding: chunked\r\nContent-Length: %d\r\n" % LENGTH, chunked(TAKEN)),
    "two lengths that differ": framed(b"Content-Length: %d\r\nContent-Length: %d\r\n" % (LENGTH, LENGTH - 1)),
    "a list of lengths that differ": framed(b"Content-Length: %d, %d\r\n" % (LENGTH, LENGTH - 1)),
    "a length with a plus": framed(b"Content-Length: +%d\r\n" % LENGTH),
    "a negative length": framed(b"Content-Length: -%d\r\n" % LENGTH),
    "a hexadecimal length": framed(b"Content-Length: 0x%x\r\n" % LENGTH),
    "a length with a space inside": framed(b"Content-Length: 1 %d\r\n" % LENGTH),
    "a length with a fraction": framed(b"Content-Length: %d.0\r\n" % LENGTH),
    "an empty length": framed(b"Content-Length: \r\n"),
    "a length past 64 bits": framed(b"Content-Length: %d\r\n" % ((1 << 64) + LENGTH)),
    "a length far past 64 bits": framed(b"Content-Length: " + b"9" * 400 + b"\r\n"),
    "a space before a length's colon": framed(b"Content-Length : %d\r\n" % LENGTH),
    "a space before an encoding's colon": framed(b"Transfer-Encoding : chunked\r\n", chunked(TAKEN)),
    "an unknown encoding": framed(b"Transfer-Encoding: xchunked\r\n", chunked(TAKEN)),
    "gzip as the last encoding": framed(b"Transfer-Encoding: chunked, gzip\r\n", chunked(TAKEN)),
    "chunked twice": framed(b"Transfer-Encoding: chunked, chunked\r\n", chunked(TAKEN)),
    "two encodings": framed(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", chunked(TAKEN)),
    "an encoding behind a vertical tab": framed(b"Transfer-Encoding: \x0bchunked\r\n", chunked(TAKEN)),
    "an encoding with a NUL": framed(b"Transfer-Encoding: chunked\x00\r\n", chunked(TAKEN)),
    "a folded length": framed(b"Content-Length:\r\n %d\r\n" % LENGTH),
    "a folded encoding": framed(b"Transfer-Encoding:\r\n chunked\r\n", chunked(TAKEN)),
    "a folded field": request(b"X-A: b\r\n c\r\n", TAKEN),
    "a folded first line": b"POST /v1/postbacks HTTP/1.1\r\n X: y\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % LENGTH + TAKEN,
    "a line's end without its carriage return": request(b"X-A: b\nX-C: d\r\n", TAKEN),
    "a head of bare line feeds": request(b"", TAKEN).split(b"\r\n\r\n")[0].replace(b"\r\n", b"\n") + b"\n\n" + TAKEN,
    "a bare carriage return in a value": request(b"X-A: b\rc\r\n", TAKEN),
    "a NUL in a value": request(b"X-A: b\x00c\r\n", TAKEN),
    "a field without a colon": request(b"X-A\r\n", TAKEN),
    "a field without a name": request(b": x\r\n", TAKEN),
    "a field's name with a space": request(b"X A: b\r\n", TAKEN),
    "a field's name with a control": request(b"X\x01A: b\r\n", TAKEN),
    "a chunk's length with a plus": framed(b"Transfer-Encoding: chunked\r\n", chunked(TAKEN, b"+%x" % LENGTH)),
    "a negative chunk": framed(b"Transfer-Encoding: chunked\r\n", chunked(TAKEN, b"-%x" % LENGTH)),
    "a chunk's length with 0x": framed(b"Transfer-Encoding: chunked\r\n", chunked(TAKEN, b"0x%x" % LENGTH)),
    "a chunk's length past 64 bits": framed(b"Transfer-Encoding: chunked\r\n", chunked(TAKEN, b"1%016x" % LENGTH)),
    "an empty chunk's length": framed(b"Transfer-Encoding: chunked\r\n", b"\r\n" + TAKEN + b"\r\n0\r\n\r\n"),
    "a chunk longer than said": framed(b"Transfer-Encoding: chunked\r\n", chunked(TAKEN, b"%x" % (LENGTH - 1))),
    "a chunk's end that is none": framed(b"Transfer-Encoding: chunked\r\n", b"%x\r\n" % LENGTH + TAKEN + b"XX0\r\n\r\n"),
    "chunks between bare line feeds": framed(b"Transfer-Encoding: chunked\r\n", b"%x\n" % LENGTH + TAKEN + b"\n0\n\n"),
    "a chunk's extension with a line feed": framed(b"Transfer-Encoding: chunked\r\n", chunked(TAKEN, b"%x;a\nb" % LENGTH)),
    "HTTP/1.2": request(b"", TAKEN, line=b"POST /v1/postbacks HTTP/1.2"),
    "HTTP/2.0 on the line": request(b"", TAKEN, line=b"POST /v1/postbacks HTTP/2.0"),
    "HTTP/1.10": request(b"", TAKEN, line=b"POST /v1/postbacks HTTP/1.10"),
    "http in lower case": request(b"", TAKEN, line=b"POST /v1/postbacks http/1.1"),
    "no version": request(b"", TAKEN, line=b"POST /v1/postbacks"),
    "a space in the target": request(b"", TAKEN, line=b"POST /v1/post backs HTTP/1.1"),
    "a method that is no token": request(b"", TAKEN, line=b"PO(ST /v1/postbacks HTTP/1.1"),
    "TLS": bytes.fromhex("160301020001000001fc0303") + bytes(200),
    "no HTTP at all": bytes(range(256)) * 4 + b"\r\n\r\n",
}


@pytest.mark.parametrize("data", FAULTY.values(), ids=FAULTY.keys())
def test_faulty_framing_is_a_400_and_the_end_of_the_connection(edge, data):
    # A whole request stands behind it: whoever reads the first one in another way would answer that one too.
    answers = exchange(edge, data + request())
    assert [answer.status for answer in answers] in ([400], [501]), answers
    assert answers[0].headers["connection"] == "close"


ODD = {
    "as it should be": request(b"", TAKEN),
    "empty lines in front": b"\r\n\r\n" + request(b"", TAKEN),
    "chunked in capitals": framed(b"TRANSFER-ENCODING: CHUNKED\r\n", chunked(TAKEN)),
    "many chunks": framed(b"Transfer-Encoding: chunked\r\n", b"".join(b"1\r\n%c\r\n" % byte for byte in TAKEN) + b"0\r\n\r\n"),
    "a chunk's extension": framed(b"Transfer-Encoding: chunked\r\n", chunked(TAKEN, b'%x;name="a value"' % LENGTH)),
    "leading zeros of a chunk": framed(b"Transfer-Encoding: chunked\r\n", chunked(TAKEN, b"000000%x" % LENGTH)),
    "a trailer": framed(b"Transfer-Encoding: chunked\r\n", b"%x\r\n" % LENGTH + TAKEN + b"\r\n0\r\nX-Sum: 5\r\n\r\n"),
    "leading zeros of a length": framed(b"Content-Length: 000%d\r\n" % LENGTH),
    "spaces before a length": framed(b"Content-Length: \t  %d\r\n" % LENGTH),
    "no space after a colon": framed(b"Content-Length:%d\r\n" % LENGTH),
    "an empty value": request(b"X-A:\r\n", TAKEN),
    "spaces around a value": request(b"X-A: \t b \t \r\n", TAKEN),
    "bytes past ASCII in a value": request(b"X-A: \xc3\xa4\xff\r\n", TAKEN),
    "a query": request(b"", TAKEN, line=b"POST /v1/postbacks?a=b HTTP/1.1"),
}


@pytest.mark.parametrize("data", ODD.values(), ids=ODD.keys())
def test_odd_but_right_framing_is_taken_and_the_next_request_too(edge, data):
    answers = exchange(edge, data + request(b"Connection: close\r\n"))
    assert [answer.status for answer in answers] == [200, 200], answers


def test_http_1_0_is_answered_and_closed_unless_it_asks_for_more(edge):
    line = b"POST /v1/postbacks HTTP/1.0"
    assert [answer.status for answer in exchange(edge, request(line=line, host=b"") + request())] == [200]
    kept = request(b"Connection: keep-alive\r\n", line=line, host=b"") + request(b"Connection: close\r\n")
    assert [answer.status for answer in exchange(edge, kept)] == [200, 200]


# --- sizes, exactly -----------------------------------------------------------------------------------------------------

def padded(size: int) -> bytes:
    body = postback()
    return body[:-1] + b" " * (size - len(body)) + b"}"


def deflated(body: bytes) -> bytes:
    return gzip.compress(body, 9)


def head_of(size: int, count: int | None = None) -> bytes:
    """A request whose field lines have this many bytes together, and are this many."""
    body = postback()
    fields = [b"Host: edge.example\r\n", b"Content-Type: application/json\r\n", b"Content-Length: %d\r\n" % len(body),
              b"Connection: close\r\n"]
    for index in range((count or 10) - len(fields) - 1):
        fields.append(b"X-%d: a\r\n" % index)
    fields.append(b"X-Pad: " + b"p" * (size - sum(map(len, fields)) - 9) + b"\r\n")
    assert sum(map(len, fields)) == size
    return b"POST /v1/postbacks HTTP/1.1\r\n" + b"".join(fields) + b"\r\n" + body


def test_headers_at_their_limits_and_one_past(edge):
    def status(data):
        answers = exchange(edge, data)
        assert len(answers) == 1 and answers[0].headers["connection"] == "close"
        return answers[0].status

    assert status(head_of(HEADER_LIMIT)) == 200
    assert status(head_of(HEADER_LIMIT + 1) + request()) == 431
    assert status(head_of(4096, COUNT_LIMIT)) == 200
    assert status(head_of(4096, COUNT_LIMIT + 1) + request()) == 431
    target = b"/v1/postbacks?a="
    target += b"b" * (TARGET_LIMIT - len(target))
    close = b"Connection: close\r\n"
    assert status(request(close, line=b"POST %s HTTP/1.1" % target)) == 200
    assert status(request(close, line=b"POST %sb HTTP/1.1" % target) + request()) == 414


LINE = b"POST /v1/postbacks HTTP/1.1\r\nHost: a\r\n"
ENDLESS = {
    "fields": (LINE, b"X-A: " + b"a" * 1000 + b"\r\n"), "one field": (LINE + b"X-A: ", b"a" * 1000), "short fields": (LINE, b"X:\r\n"),
    "a field's name": (LINE, b"a" * 1000), "a method": (b"", b"P" * 1000), "a target": (b"POST /v1/", b"a" * 1000),
    "trailers": (framed(b"Transfer-Encoding: chunked\r\n", b"2\r\n{}\r\n0\r\n"), b"X-A: " + b"a" * 200 + b"\r\n"),
    "one trailer": (framed(b"Transfer-Encoding: chunked\r\n", b"2\r\n{}\r\n0\r\nX-A: "), b"a" * 1000),
}


@pytest.mark.parametrize("start,piece", ENDLESS.values(), ids=ENDLESS.keys())
def test_a_head_without_end_is_refused_long_before_it_fills_memory(edge, start, piece):
    before = edge.memory()
    with RawConnection(edge.port) as connection:
        connection.send(start)
        sent = 0
        while sent < 64 * MIB and connection.send(piece * 64):
            sent += len(piece) * 64
        assert sent < 64 * MIB, "ingest took it all"
        answers = connection.answers_to_end()
    assert [answer.status for answer in answers] in ([431], [400], []), answers
    assert edge.memory() - before < 16 * MIB
    assert_served(edge)


@pytest.mark.parametrize("start,piece", [
    (framed(b"Transfer-Encoding: chunked\r\n", b"5;a="), b"a" * 1000), (framed(b"Transfer-Encoding: chunked\r\n", b""), b"0" * 1000),
    (b"", b"\r\n" * 500), (framed(b"Transfer-Encoding: chunked\r\n", b"", line=b"POST /v1/nothing HTTP/1.1"), b"3e8\r\n" + b"a" * 1000 + b"\r\n"),
], ids=["a chunk's extension", "a chunk's length", "empty lines", "a body for nobody"])
def test_what_counts_for_nothing_and_has_no_end_costs_no_memory_and_ends(hasty, start, piece):
    before = hasty.memory()
    with RawConnection(hasty.port) as connection:
        connection.send(start)
        until = time.monotonic() + 60
        while connection.send(piece * 64):
            assert time.monotonic() < until, "ingest takes it for ever"
        assert [answer.status for answer in connection.answers_to_end()] in ([408], [500], [400], [404], [])
    assert hasty.memory() - before < 16 * MIB
    assert_served(hasty)


def test_bodies_at_their_limit_and_one_past(edge):
    exact, over = padded(BODY_LIMIT), padded(BODY_LIMIT + 1)
    pack = b"Content-Encoding: gzip\r\n"
    for name, ready in {
        "length": lambda body: request(b"Connection: close\r\n", body),
        "chunked": lambda body: framed(b"Connection: close\r\nTransfer-Encoding: chunked\r\n", chunked(body)),
    }.items():
        for body, status in ((exact, 200), (over, 413)):
            answers = exchange(edge, ready(body))
            assert [answer.status for answer in answers] == [status], (name, len(body), answers)
    # Random bytes: what inflates to the limit must not pass the bound on gzip's ratio first.
    noise = os.urandom(100_000).hex().encode()
    for size, status in ((BODY_LIMIT, 200), (BODY_LIMIT + 1, 413)):
        body = postback()[:-1] + b',"x":"' + noise + b'"'
        body += b" " * (size - len(body) - 1) + b"}"
        answers = exchange(edge, request(b"Connection: close\r\n" + pack, deflated(body)))
        assert [answer.status for answer in answers] == [status], (size, answers)


def test_a_body_too_long_is_refused_by_its_length_alone(edge):
    for length in (BODY_LIMIT + 1, 1 << 40, (1 << 63) - 1):
        with RawConnection(edge.port) as connection:
            connection.send(framed(b"Content-Length: %d\r\nExpect: 100-continue\r\n" % length, b""))
            answer = connection.answer()
            assert answer.status == 413 and answer.json["code"] == "resource_exhausted", answer


def test_a_body_without_end_is_refused_and_no_longer_read(edge):
    before = edge.memory()
    piece = b"10000\r\n" + b" " * 65536 + b"\r\n"
    with RawConnection(edge.port) as connection:
        connection.send(framed(b"Transfer-Encoding: chunked\r\n", b""))
        until = time.monotonic() + 60
        while connection.send(piece):
            assert time.monotonic() < until, "ingest takes it for ever"
        assert [answer.status for answer in connection.answers_to_end()] in ([413], [])
    assert edge.memory() - before < 16 * MIB
    assert_served(edge)


def test_expect_continue_is_answered_before_the_body_is_sent(edge):
    body = postback()
    with RawConnection(edge.port) as connection:
        connection.send(framed(b"Expect: 100-continue\r\nContent-Length: %d\r\n" % len(body), b""))
        assert connection.answer().status == 100
        connection.send(body)
        assert connection.answer().status == 200


# --- JSON and gzip ------------------------------------------------------------------------------------------------------

def notification(extra: bytes) -> bytes:
    return b'{"signedPayload":"%s","x":%s}' % (uuid.uuid4().hex.encode(), extra)


def test_json_at_its_depth_and_count_and_one_past(edge):
    path = "/v1/app-store/notifications"
    for levels, status in ((31, 200), (32, 400), (20_000, 400)):  # beside the object they are in
        assert edge.post(path, notification(b"[" * levels + b"]" * levels))[0] == status, levels
        nested = b'{"a":' * (levels - 1) + b"{}" + b"}" * (levels - 1)
        assert edge.post(path, notification(nested))[0] == status, levels
    for elements, status in ((19_997, 200), (19_998, 400)):  # beside the document, signedPayload and x
        answer = edge.post(path, notification(b"[" + b",".join([b"1"] * elements) + b"]"))
        assert answer[0] == status, (elements, answer)


@pytest.mark.parametrize("extra", [
    b"1e999999999", b"-", b"01", b"1.", b"0x1", b"NaN", b"Infinity", b"+1", b"nul", b'"\x01"', b'"\\ud800"', b'"\\udc00\\ud800"', b'"\xff"',
    b'"\xc0\x80"', b'"\xed\xa0\x80"', b"1,", b"[1,]", b'{"a":1,"a":2}', b"{}}", b"1}\x00", b"/**/1", b"'a'", b"9" * 200_000],
    ids=lambda extra: repr(extra[:20]))
def test_what_is_no_json_is_refused(edge, extra):
    status, body = edge.post("/v1/app-store/notifications", notification(extra))
    assert status in ((200, 400) if extra.startswith((b"1e", b"9")) else (400,)), (extra[:40], body)


def test_gzip_that_inflates_to_much_or_is_none_is_refused(edge):
    before = edge.memory()
    bombs = [gzip.compress(bytes(64 * MIB), 9), gzip.compress(gzip.compress(bytes(200 * MIB), 9), 9),
             deflated(postback()[:-1] + b" " * 250_000 + b"}")]
    for bomb in bombs:
        assert len(bomb) < BODY_LIMIT
        status, body = edge.post("/v1/postbacks", bomb, {"Content-Encoding": "gzip"})
        assert status in (400, 413), body
    assert edge.post("/v1/postbacks", bombs[0], {"Content-Encoding": "gzip"})[0] == 413
    assert edge.post("/v1/postbacks", bombs[2], {"Content-Encoding": "gzip"})[0] == 413
    good = deflated(postback())
    for broken in (good[:-1], good[:-8], good[:10], good[:-8] + bytes(8), good[:-4] + bytes(4), b"\x1f\x8b", good[1:], postback()):
        status, body = edge.post("/v1/postbacks", broken, {"Content-Encoding": "gzip"})
        assert status == 400, (broken[:20], body)
    for encoding in ("deflate", "br", "gzip, gzip"):
        status, body = edge.post("/v1/postbacks", good, {"Content-Encoding": encoding})
        assert status in (400, 415), (encoding, body)
    assert edge.post("/v1/postbacks", good, {"Content-Encoding": "GZIP"})[0] == 200
    assert edge.memory() - before < 32 * MIB


# --- slow clients -------------------------------------------------------------------------------------------------------

def drip(connection: RawConnection, piece: bytes, pause: float = 0.05) -> None:
    """Sends a piece at a time until ingest has enough; the patience of the socket bounds it."""
    until = time.monotonic() + 60
    connection.socket.settimeout(pause)
    while time.monotonic() < until:
        if not connection.send(piece):
            break
        try:
            received = connection.socket.recv(65536)
        except TimeoutError:
            continue
        except ConnectionResetError:
            received = b""
        connection.buffer += received
        if not received:
            connection.ended = True
        break
    else:
        pytest.fail("ingest never had enough")
    connection.socket.settimeout(60)


SLOW = {
    "a method": (b"", b"P"),
    "a target": (b"POST /v1/", b"a"),
    "a field's name": (b"POST /v1/postbacks HTTP/1.1\r\nHost: a\r\n", b"X"),
    "fields": (b"POST /v1/postbacks HTTP/1.1\r\nHost: a\r\n", b"X: y\r\n"),
    "a body": (framed(b"Content-Length: 200000\r\n", b""), b" "),
    "chunks": (framed(b"Transfer-Encoding: chunked\r\n", b""), b"1\r\n \r\n"),
    "a chunk's extension": (framed(b"Transfer-Encoding: chunked\r\n", b""), b"5;aaaaaa"),
    "HTTP/2's preface": (b"PRI * HTTP/2.0\r\n", b""),
    "a body that is refused": (request(line=b"POST /v1/nothing HTTP/1.1", length=False, fields=b"Content-Length: 200000\r\n", body=b""), b" "),
}


@pytest.mark.parametrize("start,piece", SLOW.values(), ids=SLOW.keys())
def test_what_comes_too_slowly_ends(hasty, start, piece):
    with RawConnection(hasty.port) as connection:
        connection.send(start)
        drip(connection, piece)
        statuses = [answer.status for answer in connection.answers_to_end()]
    assert statuses in ([], [408], [500], [400], [404]), statuses
    assert_served(hasty)


def test_who_says_nothing_is_left_without_a_word(hasty):
    with RawConnection(hasty.port) as connection:
        assert connection.answers_to_end() == []
    with RawConnection(hasty.port) as connection:
        connection.send(request())
        assert connection.answer().status == 200
        assert connection.answers_to_end() == [], "a word here would be taken for the answer to the next request"


def test_many_slow_clients_do_not_keep_a_quick_one_waiting(hasty):
    slow = [RawConnection(hasty.port) for _ in range(300)]
    try:
        for index, connection in enumerate(slow):
            connection.send(request()[:40] if index % 2 else framed(b"Content-Length: 1000\r\n", b"{"))
        for _ in range(20):
            assert_served(hasty)
        for connection in slow:
            assert [answer.status for answer in connection.answers_to_end()] in ([], [408], [500])
    finally:
        for connection in slow:
            connection.socket.close()


# --- order --------------------------------------------------------------------------------------------------------------

def test_what_is_sent_ahead_is_answered_in_order(edge):
    count = 400
    bodies = [request(b"X-Request-Id: ahead-%d\r\n" % index, line=b"POST %s HTTP/1.1" % (
        b"/v1/nothing" if index % 3 == 1 else b"/v1/postbacks"), body=postback() if index % 3 else b"{}") for index in range(count)]
    with RawConnection(edge.port) as connection:
        threading.Thread(target=connection.send, args=(b"".join(bodies),), daemon=True).start()
        for index in range(count):
            answer = connection.answer()
            assert answer.headers["x-request-id"] == f"ahead-{index}"
            assert answer.status == (400, 404, 200)[index % 3], (index, answer)


def test_a_request_cut_off_is_not_taken(edge):
    for cut in (1, 30, 200, LENGTH):
        data = request()
        with RawConnection(edge.port) as connection:
            connection.send(data[:-cut])
            connection.socket.shutdown(1)
            assert [answer.status for answer in connection.answers_to_end()] in ([], [400])


# --- what is served where -------------------------------------------------------------------------------------------------

EXAMPLES = {"{adNetworkId}": "example123.skadnetwork", "{installId}": "a", "{bundleId}": "com.example.app"}


def concrete(path: str) -> str:
    for name, value in EXAMPLES.items():
        path = path.replace(name, value)
    return path


OPERATIONS = [(concrete(path), method.upper(), "public" in operation["tags"]) for path, item in CONTRACT["paths"].items()
              for method, operation in item.items()]
ADMINISTRATION = [("/livez", "GET"), ("/startupz", "GET"), ("/readyz", "GET"), ("/metrics", "GET"), ("/grpc.health.v1.Health/Check", "POST"),
                  ("/benchmark.echo/Echo", "POST"), ("/debug/pprof", "GET")]


def test_no_call_and_no_administration_on_the_public_port(edge, system):
    headers = {"Authorization": f"Bearer {system.token}", "Connect-Protocol-Version": "1"}
    calls = [(path, method) for path, method, public in OPERATIONS if not public] + ADMINISTRATION
    assert len(calls) > 60
    for path, method in calls:
        for shape in (path, path + "/", "/" + path, "/v1/.." + path, path.replace("/", "/./", 1), path.replace(".", "%2e", 1),
                      "/v1/postbacks/.." + path, path.replace("/", "//")):
            status, _ = edge.post(shape, b"{}", headers, method=method)
            # A postback for the ad network "..", whose body is none.
            assert status == 404 or (shape.startswith("/v1/postbacks") and status in (400, 405)), (method, shape, status)


def test_no_public_route_on_an_internal_port(edge, system):
    headers = {"Authorization": f"Bearer {system.token}"}
    routes = [(path, method) for path, method, public in OPERATIONS if public]
    assert len(routes) == 12
    ports = [edge.internal_port, *(system.port_base + offset for offset in range(10, 15))]
    for path, method in routes:
        for port in ports:
            for shape in (path, path.rstrip("/"), path.rstrip("/") + "/"):
                assert edge.post(shape, postback(), headers, method=method, port=port)[0] == 404, (port, shape)


def test_each_public_route_is_served_with_and_without_its_slash_and_by_its_method_alone(edge):
    for path, method, public in OPERATIONS:
        if not public:
            continue
        stem = path.rstrip("/")
        for shape in (stem, stem + "/"):
            for other in ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
                with RawConnection(edge.port) as connection:
                    connection.send(b"%s %s HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1\r\nConnection: close\r\n\r\n{"
                                    % (other.encode(), shape.encode()))
                    if other == "HEAD":  # no body follows, whatever length is stated
                        head = b""
                        while received := connection.socket.recv(65536):
                            head += received
                        assert head.startswith(b"HTTP/1.1 405 ") and head.endswith(b"\r\n\r\n"), head
                        continue
                    answer = connection.answer()
                assert answer.status == (400 if other == method else 405), (other, shape, answer)
                if other != method:
                    assert answer.headers["allow"] == method


def test_neither_port_serves_the_other_ones_routes_over_http_2(edge, system):
    authorization = ("authorization", f"Bearer {system.token}")
    for port, shapes in ((edge.port, [path for path, _, public in OPERATIONS if not public] + [path for path, _ in ADMINISTRATION]),
                         (edge.internal_port, [path for path, _, public in OPERATIONS if public])):
        with HTTP2Connection(port) as connection:
            for index, path in enumerate(shapes):
                connection.send(connection.request(1 + 2 * index, b"{}", [*replaced(":path", path), authorization]))
                assert connection.status(1 + 2 * index) == 404, path


# --- HTTP/2 ---------------------------------------------------------------------------------------------------------------

def test_http_2_is_served_and_a_cancelled_stream_disturbs_no_other(edge):
    with HTTP2Connection(edge.port) as connection:
        body = postback()
        connection.send(connection.headers(1) + connection.headers(3))
        connection.send(RstStreamFrame(3, error_code=8).serialize())
        connection.send(connection.request(5, postback()))
        assert connection.status(5) == 200
        connection.send(DataFrame(1, body, flags=["END_STREAM"]).serialize())
        assert connection.status(1) == 200 and json.loads(connection.bodies[1])["status"] == "accepted"


def test_a_hundred_streams_at_once_are_all_answered(edge):
    with HTTP2Connection(edge.port) as connection:
        streams = [1 + 2 * index for index in range(100)]
        connection.send(b"".join(connection.headers(stream) for stream in streams))
        connection.send(b"".join(DataFrame(stream, postback(), flags=["END_STREAM"]).serialize() for stream in streams))
        assert [connection.status(stream) for stream in streams] == [200] * 100


def test_bodies_over_http_2_at_their_limit_and_one_past(edge):
    for size, status in ((BODY_LIMIT, 200), (BODY_LIMIT + 1, 413)):
        for stated in ([], [("content-length", str(size))]):
            with HTTP2Connection(edge.port) as connection:
                connection.send(connection.headers(1, REQUEST + stated))
                connection.send_body(1, padded(size))
                assert connection.status(1) == status, (size, stated)
                assert connection.windows[1] <= 4 * BODY_LIMIT


def test_targets_and_counts_over_http_2_at_their_limit_and_one_past(edge):
    target = "/v1/postbacks?a="
    for size, status in ((TARGET_LIMIT, 200), (TARGET_LIMIT + 1, 414)):
        with HTTP2Connection(edge.port) as connection:
            connection.send(connection.request(1, postback(), replaced(":path", target + "b" * (size - len(target)))))
            assert connection.status(1) == status
    # Some servers count the authority as a field and some do not.
    for count, status in ((COUNT_LIMIT - 1, 200), (COUNT_LIMIT + 2, 431)):
        with HTTP2Connection(edge.port) as connection:
            fields = REQUEST + [(f"x-{index}", "a") for index in range(count - 1)]  # one is the content type
            connection.send(connection.request(1, postback(), fields))
            assert connection.status(1) == status


MALFORMED = {
    **{f"no {name}": replaced(name, None) for name in (":method", ":scheme", ":path")},
    **{f"{field[0]} twice": [field, *REQUEST] for field in REQUEST[:4]},
    "a pseudo-field behind a field": [*replaced(":path", None), (":path", "/v1/postbacks")],
    "an unknown pseudo-field": [(":frob", "a"), *REQUEST],
    "a response's pseudo-field": [(":status", "200"), *REQUEST],
    "an empty path": replaced(":path", ""),
    "a line's end in the path": replaced(":path", "/v1/postbacks HTTP/1.1\r\nx-a: b"),
    "a space in the method": replaced(":method", "PO ST"),
    "a line's end in the method": replaced(":method", "POST / HTTP/1.1\r\nx-a: b"),
    "a name with a capital": [*REQUEST, ("X-A", "b")],
    "a name with a space": [*REQUEST, ("x a", "b")],
    "a name with a colon": [*REQUEST, ("x:a", "b")],
    "a name with a NUL": [*REQUEST, ("x\0", "b")],
    "an empty name": [*REQUEST, ("", "b")],
    **{f"a value with {value!r}": [*REQUEST, ("x-a", f"a{value}b")] for value in ("\r", "\n", "\0", "\r\nx-b: c")},
    **{f"a field {name}": [*REQUEST, (name, "close")] for name in ("connection", "keep-alive", "proxy-connection", "upgrade")},
    "chunked": [*REQUEST, ("transfer-encoding", "chunked")],
    "TE other than trailers": [*REQUEST, ("te", "gzip")],
    "a length too long": [*REQUEST, ("content-length", str(LENGTH + 1))],
    "a length too short": [*REQUEST, ("content-length", str(LENGTH - 1))],
    "a negative length": [*REQUEST, ("content-length", "-1")],
    "a hexadecimal length": [*REQUEST, ("content-length", "0x98")],
    "a length past 64 bits": [*REQUEST, ("content-length", str((1 << 64) + LENGTH))],
    "two lengths that differ": [*REQUEST, ("content-length", str(LENGTH)), ("content-length", str(LENGTH + 1))],
}


@pytest.mark.parametrize("fields", MALFORMED.values(), ids=MALFORMED.keys())
def test_a_malformed_request_over_http_2_is_not_taken(edge, fields):
    with HTTP2Connection(edge.port) as connection:
        connection.send(connection.request(1, TAKEN, fields))
        status = connection.status(1)
        assert status in (None, 400, 413), status
        if status is None:
            assert 1 in connection.resets or connection.goaway


BROKEN = {
    "data of a stream that was never opened": DataFrame(5, b"x").serialize(),
    "a reset of a stream that was never opened": RstStreamFrame(5, error_code=8).serialize(),
    "a stream of the server's": bytes([0, 0, 4, 1, 5, 0, 0, 0, 2]) + b"\x82\x86\x84\x41",
    "a push": bytes([0, 0, 4, 5, 4, 0, 0, 0, 1, 0, 0, 0, 2]),
    "an empty window update": bytes([0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
    "a window past its end": bytes([0, 0, 4, 8, 0, 0, 0, 0, 0, 0x7F, 255, 255, 255]),
    "a setting past its end": bytes([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 255, 255, 255, 255]),
    "a setting cut off": bytes([0, 0, 5, 4, 0, 0, 0, 0, 0, 0, 4, 255, 255, 255]),
    "a ping cut off": bytes([0, 0, 7, 6, 0, 0, 0, 0, 0]) + b"1234567",
    "a frame past the largest": bytes([0, 0x80, 1, 0, 0, 0, 0, 0, 1]) + bytes(0x8001),
    "padding longer than its frame": bytes([0, 0, 2, 1, 0x0D, 0, 0, 0, 1, 9, 0]),
    "compression that is none": bytes([0, 0, 4, 1, 5, 0, 0, 0, 1]) + b"\xff\xff\xff\xff",
    "a continuation of nothing": ContinuationFrame(1, b"x", flags=["END_HEADERS"]).serialize(),
    "a frame between headers": bytes([0, 0, 1, 1, 0, 0, 0, 0, 1, 0x82]) + PingFrame(0, b"12345678").serialize(),
    "HTTP/1.1 behind the preface": b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_frame_ends_the_connection_and_says_why(edge, data):
    with HTTP2Connection(edge.port) as connection:
        connection.send(data)
        connection.wait_for_end()
        assert connection.goaway, "no GOAWAY, or one without an error"
    assert_served(edge)


def test_what_http_2_does_not_know_is_passed_over(edge):
    with HTTP2Connection(edge.port) as connection:
        connection.send(bytes([0, 0, 3, 0xFA, 0, 0, 0, 0, 0]) + b"abc" + SettingsFrame(0, settings={0xF0F0: 7}).serialize())
        connection.send(connection.request(1, postback(), [*REQUEST, ("te", "trailers")]))
        assert connection.status(1) == 200


def rapid_reset(connection, count):
    for first in range(0, count, 50):
        streams = [1 + 2 * (first + index) for index in range(50)]
        if not connection.send(b"".join(
                connection.headers(stream) + RstStreamFrame(stream, error_code=8).serialize() for stream in streams)):
            return


def rapid_whole_requests(connection, count):
    for first in range(0, count, 50):
        streams = [1 + 2 * (first + index) for index in range(50)]
        if not connection.send(b"".join(
                connection.request(stream, postback()) + RstStreamFrame(stream, error_code=8).serialize() for stream in streams)):
            return


def made_to_reset(connection, count):
    """The server is made to reset: each stream is opened and given an empty window update."""
    for first in range(0, count, 50):
        streams = [1 + 2 * (first + index) for index in range(50)]
        if not connection.send(b"".join(connection.headers(stream) + bytes([0, 0, 4, 8, 0]) + stream.to_bytes(4, "big") + bytes(4)
                                        for stream in streams)):
            return


def headers_without_end(connection, count):
    connection.send(connection.headers(1, end_headers=False))
    piece = connection.encoder.encode([("x-a", "b" * 1000)], huffman=False) * 10
    for _ in range(count):
        if not connection.send(ContinuationFrame(1, piece).serialize()):
            return


def repeated(make):
    def attack(connection, count):
        data = b"".join(make(connection) for _ in range(100))
        for _ in range(count // 10):
            if not connection.send(data):
                return

    return attack


def empty_continuations(connection, count):
    connection.send(connection.headers(1, end_headers=False))
    repeated(lambda _: ContinuationFrame(1, b"").serialize())(connection, count)


def empty_data(connection, count):
    connection.send(connection.headers(1))
    repeated(lambda _: DataFrame(1, b"").serialize())(connection, count)


def compression_bomb(connection, count):
    """A long value once, then references to it."""
    value = ("x-bomb", "b" * 3900)
    connection.send(connection.headers(1, [*REQUEST, value], end_stream=True))
    reference = connection.encoder.encode([value], huffman=False)
    assert len(reference) == 1
    for index in range(1, count // 100):
        block = connection.encoder.encode(REQUEST, huffman=False) + reference * 15_000
        if not connection.send(HeadersFrame(1 + 2 * index, block, flags=["END_HEADERS", "END_STREAM"]).serialize()):
            return


def streams_without_end(connection, count):
    for index in range(count):
        if not connection.send(connection.headers(1 + 2 * index)):
            return


def answers_nobody_lets_through(connection, count):
    for index in range(count):
        if not connection.send(connection.headers(1 + 2 * index, replaced(":path", "/v1/nothing"), end_stream=True)):
            return


ATTACKS = {
    "rapid reset": (rapid_reset, None), "whole requests reset": (rapid_whole_requests, None), "made to reset": (made_to_reset, None),
    "headers without end": (headers_without_end, None), "empty continuations": (empty_continuations, None),
    "pings": (repeated(lambda _: PingFrame(0, b"12345678").serialize()), None),
    "settings": (repeated(lambda _: SettingsFrame(0, settings={4: 65535}).serialize()), None),
    "resets of one stream": (repeated(lambda _: RstStreamFrame(1, error_code=8).serialize()), None),
    "priorities": (repeated(lambda _: bytes([0, 0, 5, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 9])), None),
    "empty data": (empty_data, None), "a compression bomb": (compression_bomb, None), "streams without end": (streams_without_end, None),
    "answers without a window": (answers_nobody_lets_through, {4: 0}),
}


@pytest.mark.parametrize("attack,settings", ATTACKS.values(), ids=ATTACKS.keys())
def test_a_flood_over_http_2_costs_little_and_nobody_else_notices(edge, attack, settings):
    before = edge.memory()
    for _ in range(20 if SOAK else 3):
        connections = [HTTP2Connection(edge.port, settings) for _ in range(4)]
        attackers = [threading.Thread(target=attack, args=(connection, 20_000 if SOAK else 4_000)) for connection in connections]
        for attacker in attackers:
            attacker.start()
        for _ in range(5):
            assert_served(edge)
        for attacker in attackers:
            attacker.join()
        for connection in connections:
            connection.__exit__()
    assert edge.is_alive() and edge.memory() - before < 64 * MIB
    assert_served(edge)


def test_headers_over_http_2_that_come_too_slowly_end(hasty):
    with HTTP2Connection(hasty.port) as connection:
        connection.send(connection.headers(1, end_headers=False))
        until = time.monotonic() + 60
        while connection.send(ContinuationFrame(1, b"").serialize()):
            assert time.monotonic() < until, "ingest waits for ever"
            time.sleep(0.1)
        connection.wait_for_end()
