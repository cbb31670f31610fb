"""Sizes, depths and times on ingest's public port, exactly at the configured limits and just above them."""

import gzip
import os
import time
import uuid

import pytest

from SystemTests.support.ingest_process import RawConnection

from .edge import BODY_LIMIT, COUNT_LIMIT, HEADER_LIMIT, MIB, TARGET_LIMIT, assert_served, chunked, exchange, framed, padded, postback, request


def deflated(body: bytes) -> bytes:
    return gzip.compress(body, 9)


def head_of(size: int, count: int | None = None) -> bytes:
    """A request with this number of field lines, which have this number of bytes together."""
    body = postback()
    fields = [b"Host: edge.example\r\n", b"Content-Type: application/json\r\n", b"Content-Length: %d\r\n" % len(body),
              b"Connection: close\r\n"]
    for index in range((count or 10) - len(fields) - 1):
        fields.append(b"X-%d: a\r\n" % index)
    fields.append(b"X-Pad: " + b"p" * (size - sum(map(len, fields)) - 9) + b"\r\n")
    assert sum(map(len, fields)) == size
    return b"POST /v1/postbacks HTTP/1.1\r\n" + b"".join(fields) + b"\r\n" + body


def test_headers_and_targets_are_accepted_at_their_limits_and_refused_above(edge):
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
def test_an_endless_header_block_is_refused_before_it_fills_memory(edge, start, piece):
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
def test_endless_ignored_input_uses_no_memory_and_is_closed(edge_with_short_timeouts, start, piece):
    before = edge_with_short_timeouts.memory()
    with RawConnection(edge_with_short_timeouts.port) as connection:
        connection.send(start)
        until = time.monotonic() + 60
        while connection.send(piece * 64):
            assert time.monotonic() < until, "ingest takes it for ever"
        assert [answer.status for answer in connection.answers_to_end()] in ([408], [500], [400], [404], [])
    assert edge_with_short_timeouts.memory() - before < 16 * MIB
    assert_served(edge_with_short_timeouts)


def test_a_body_is_accepted_at_the_limit_and_refused_one_byte_above(edge):
    exact, over = padded(BODY_LIMIT), padded(BODY_LIMIT + 1)
    pack = b"Content-Encoding: gzip\r\n"
    for name, ready in {
        "length": lambda body: request(b"Connection: close\r\n", body),
        "chunked": lambda body: framed(b"Connection: close\r\nTransfer-Encoding: chunked\r\n", chunked(body)),
    }.items():
        for body, status in ((exact, 200), (over, 413)):
            answers = exchange(edge, ready(body))
            assert [answer.status for answer in answers] == [status], (name, len(body), answers)
    # Random bytes, so that data that inflates to the limit does not exceed the limit of gzip's ratio first.
    noise = os.urandom(100_000).hex().encode()
    for size, status in ((BODY_LIMIT, 200), (BODY_LIMIT + 1, 413)):
        body = postback()[:-1] + b',"x":"' + noise + b'"'
        body += b" " * (size - len(body) - 1) + b"}"
        answers = exchange(edge, request(b"Connection: close\r\n" + pack, deflated(body)))
        assert [answer.status for answer in answers] == [status], (size, answers)


def test_a_body_is_refused_by_its_content_length(edge):
    for length in (BODY_LIMIT + 1, 1 << 40, (1 << 63) - 1):
        with RawConnection(edge.port) as connection:
            connection.send(framed(b"Content-Length: %d\r\nExpect: 100-continue\r\n" % length, b""))
            answer = connection.answer()
            assert answer.status == 413 and answer.json["code"] == "resource_exhausted", answer


def test_an_endless_body_is_refused_and_not_read_further(edge):
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


def test_json_is_accepted_at_its_limits_and_refused_above(edge):
    path = "/v1/app-store/notifications"
    for levels, status in ((31, 200), (32, 400), (20_000, 400)):  # plus the enclosing object
        assert edge.post(path, notification(b"[" * levels + b"]" * levels))[0] == status, levels
        nested = b'{"a":' * (levels - 1) + b"{}" + b"}" * (levels - 1)
        assert edge.post(path, notification(nested))[0] == status, levels
    for elements, status in ((19_997, 200), (19_998, 400)):  # plus the document, signedPayload and x
        answer = edge.post(path, notification(b"[" + b",".join([b"1"] * elements) + b"]"))
        assert answer[0] == status, (elements, answer)


@pytest.mark.parametrize("extra", [
    b"1e999999999", b"-", b"01", b"1.", b"0x1", b"NaN", b"Infinity", b"+1", b"nul", b'"\x01"', b'"\\ud800"', b'"\\udc00\\ud800"', b'"\xff"',
    b'"\xc0\x80"', b'"\xed\xa0\x80"', b"1,", b"[1,]", b'{"a":1,"a":2}', b"{}}", b"1}\x00", b"/**/1", b"'a'", b"9" * 200_000],
    ids=lambda extra: repr(extra[:20]))
def test_invalid_json_is_refused(edge, extra):
    status, body = edge.post("/v1/app-store/notifications", notification(extra))
    assert status in ((200, 400) if extra.startswith((b"1e", b"9")) else (400,)), (extra[:40], body)


def test_gzip_that_inflates_too_far_or_is_invalid_is_refused(edge):
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
    """Sends a piece every `pause` seconds until ingest answers or closes the connection; fails after a minute."""
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
def test_the_connection_of_a_slow_request_is_closed(edge_with_short_timeouts, start, piece):
    with RawConnection(edge_with_short_timeouts.port) as connection:
        connection.send(start)
        drip(connection, piece)
        statuses = [answer.status for answer in connection.answers_to_end()]
    assert statuses in ([], [408], [500], [400], [404]), statuses
    assert_served(edge_with_short_timeouts)


def test_an_idle_connection_is_closed_without_an_answer(edge_with_short_timeouts):
    with RawConnection(edge_with_short_timeouts.port) as connection:
        assert connection.answers_to_end() == []
    with RawConnection(edge_with_short_timeouts.port) as connection:
        connection.send(request())
        assert connection.answer().status == 200
        assert connection.answers_to_end() == [], "a word here would be taken for the answer to the next request"


def test_many_slow_clients_do_not_delay_a_fast_one(edge_with_short_timeouts):
    slow = [RawConnection(edge_with_short_timeouts.port) for _ in range(300)]
    try:
        for index, connection in enumerate(slow):
            connection.send(request()[:40] if index % 2 else framed(b"Content-Length: 1000\r\n", b"{"))
        for _ in range(20):
            assert_served(edge_with_short_timeouts)
        for connection in slow:
            assert [answer.status for answer in connection.answers_to_end()] in ([], [408], [500])
    finally:
        for connection in slow:
            connection.socket.close()
