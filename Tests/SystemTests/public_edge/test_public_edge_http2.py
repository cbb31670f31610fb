"""Hostile clients of ingest's public port over HTTP/2: the requirements of RFC 9113 and the configured limits hold."""

import json
import os
import threading
import time

import pytest
from hyperframe.frame import ContinuationFrame, DataFrame, HeadersFrame, PingFrame, RstStreamFrame, SettingsFrame

from SystemTests.support.http2_connection import REQUEST, HTTP2Connection, replaced

from .edge import BODY_LIMIT, COUNT_LIMIT, LENGTH, MIB, POSTBACK, TARGET_LIMIT, assert_served, padded, postback

SOAK = os.environ.get("ATTRIBUTION_SOAK") == "1"


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


def test_a_body_over_http_2_is_accepted_at_the_limit_and_refused_one_byte_above(edge):
    for size, status in ((BODY_LIMIT, 200), (BODY_LIMIT + 1, 413)):
        for stated in ([], [("content-length", str(size))]):
            with HTTP2Connection(edge.port) as connection:
                connection.send(connection.headers(1, REQUEST + stated))
                connection.send_body(1, padded(size))
                assert connection.status(1) == status, (size, stated)
                assert connection.windows[1] <= 4 * BODY_LIMIT


def test_targets_and_header_counts_over_http_2_are_accepted_at_their_limits_and_refused_above(edge):
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
def test_a_malformed_request_over_http_2_is_not_accepted(edge, fields):
    with HTTP2Connection(edge.port) as connection:
        connection.send(connection.request(1, POSTBACK, fields))
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
def test_a_broken_frame_closes_the_connection_with_an_error_code(edge, data):
    with HTTP2Connection(edge.port) as connection:
        connection.send(data)
        connection.wait_for_end()
        assert connection.goaway, "no GOAWAY, or one without an error"
    assert_served(edge)


def test_unknown_http_2_frames_and_settings_are_ignored(edge):
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


def forced_resets(connection, count):
    """Makes the server send resets: the client opens each stream and sends it an invalid, empty window update."""
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


def answers_without_a_window(connection, count):
    for index in range(count):
        if not connection.send(connection.headers(1 + 2 * index, replaced(":path", "/v1/nothing"), end_stream=True)):
            return


ATTACKS = {
    "rapid reset": (rapid_reset, None), "whole requests reset": (rapid_whole_requests, None), "made to reset": (forced_resets, None),
    "headers without end": (headers_without_end, None), "empty continuations": (empty_continuations, None),
    "pings": (repeated(lambda _: PingFrame(0, b"12345678").serialize()), None),
    "settings": (repeated(lambda _: SettingsFrame(0, settings={4: 65535}).serialize()), None),
    "resets of one stream": (repeated(lambda _: RstStreamFrame(1, error_code=8).serialize()), None),
    "priorities": (repeated(lambda _: bytes([0, 0, 5, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 9])), None),
    "empty data": (empty_data, None), "a compression bomb": (compression_bomb, None), "streams without end": (streams_without_end, None),
    "answers without a window": (answers_without_a_window, {4: 0}),
}


@pytest.mark.parametrize("attack,settings", ATTACKS.values(), ids=ATTACKS.keys())
def test_a_flood_over_http_2_is_cheap_and_does_not_affect_others(edge, attack, settings):
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


def test_slow_headers_over_http_2_close_the_connection(edge_with_short_timeouts):
    with HTTP2Connection(edge_with_short_timeouts.port) as connection:
        connection.send(connection.headers(1, end_headers=False))
        until = time.monotonic() + 60
        while connection.send(ContinuationFrame(1, b"").serialize()):
            assert time.monotonic() < until, "ingest waits for ever"
            time.sleep(0.1)
        connection.wait_for_end()
