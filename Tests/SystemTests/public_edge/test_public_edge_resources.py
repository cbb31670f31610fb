"""A client cannot use up the descriptors, connections or memory of ingest's public port, whether with unread answers, bodies that never
arrive, compression bombs or wrong lengths; and a request needs exactly one valid host."""

import contextlib
import gzip
import json
import os
import pathlib
import select
import signal
import socket
import subprocess
import time
import uuid

import pytest
from hyperframe.frame import DataFrame

from SystemTests.support.http2_connection import REQUEST, HTTP2Connection
from SystemTests.support.ingest_process import IngestProcess, RawConnection

from .edge import LENGTH, MIB, POSTBACK, assert_served, chunked, exchange, framed, postback, request

# All clients here have the same address. test_peer_limits.py tests the limits of one address.


def send_without_reading(edge, block, limit=32 * MIB):
    """Sends until ingest reads no more, and never reads an answer. Returns the number of sent bytes, and the memory of ingest."""
    with socket.create_connection(("127.0.0.1", edge.port)) as peer:
        peer.setblocking(False)
        sent, quiet = 0, 0
        while sent < limit and quiet < 10:
            if select.select([], [peer], [], 0.5)[1]:
                try:
                    sent += peer.send(block[sent % len(block):])
                except BlockingIOError:
                    continue
                except ConnectionError:
                    break
                quiet = 0
            else:
                quiet += 1
        return sent, edge.memory()


def test_unread_answers_do_not_fill_memory(system, tmp_path):
    with IngestProcess(system, tmp_path, {}) as edge:
        before = edge.memory()
        sent, after = send_without_reading(edge, b"GET /v1/nothing HTTP/1.1\r\nHost: a\r\n\r\n" * 2000)
        assert after - before < 32 * MIB, (sent, before >> 20, after >> 20)


def test_an_unsupported_upgrade_does_not_block_the_connection(edge):
    upgrade = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"
    # Ingest answers and closes the connection, because its parser may treat the following bytes as another protocol.
    for _ in range(2):
        with RawConnection(edge.port, 5) as connection:
            connection.send(request(upgrade))
            answer = connection.answer()
            assert answer.status == 200 and answer.headers.get("connection") == "close"


@pytest.mark.parametrize("host", [b"", b"Host: a\r\nHost: b\r\n", b"Host: a b\r\n", b"Host: a/b\r\n", b"Host: a,b\r\n", b"Host: u@a\r\n"])
def test_a_request_without_exactly_one_valid_host_gets_400(edge, host):
    assert [answer.status for answer in exchange(edge, request(b"Connection: close\r\n", host=host))] == [400]


def test_a_request_target_in_absolute_form_is_accepted(edge):
    line = b"POST http://edge.example/v1/postbacks HTTP/1.1"
    assert [answer.status for answer in exchange(edge, request(b"Connection: close\r\n", line=line))] == [200]


def test_chunked_in_http_1_0_ends_the_connection(edge):
    faulty = framed(b"Transfer-Encoding: chunked\r\nConnection: keep-alive\r\n", chunked(POSTBACK), line=b"POST /v1/postbacks HTTP/1.0", host=b"")
    assert len(exchange(edge, faulty + request(b"Connection: close\r\n"))) == 1


@pytest.mark.parametrize("length", [1 << 63, (1 << 64) - 1])
def test_an_excessive_content_length_is_refused_immediately(edge, length):
    with RawConnection(edge.port, 5) as connection:
        connection.send(framed(b"Content-Length: %d\r\n" % length, b""))
        assert connection.answer().status in (400, 413)


@pytest.mark.parametrize("fields", [b"broken\r\n", b"X-Pad: " + b"p" * 17_000 + b"\r\n"])
def test_a_refusal_below_the_routes_has_a_request_id_too(edge, fields):
    assert exchange(edge, request(fields))[0].headers.get("x-request-id")


def test_connections_over_the_limit_are_not_served(system, tmp_path):
    with IngestProcess(system, tmp_path, {"connections": 20}) as edge:
        kept = [RawConnection(edge.port) for _ in range(60)]
        served = 0
        for connection in kept:
            connection.socket.settimeout(1)
            with contextlib.suppress(TimeoutError):
                served += connection.send(request()) and connection.answer() is not None
        for connection in kept:
            connection.socket.close()
        assert served <= 20
        # Ingest learns of each closed connection separately, of some perhaps after the next one is opened.
        wait_until_served(edge, 0.1)


def wait_until_served(edge: IngestProcess, pause: float) -> None:
    until = time.monotonic() + 60
    while True:
        assert edge.is_alive(), edge.log_path.read_text(errors="replace")[-300:]
        try:
            return assert_served(edge)
        except OSError:
            assert time.monotonic() < until, "never served again"
            time.sleep(pause)


def test_ingest_serves_again_after_it_ran_out_of_descriptors(system, tmp_path):
    with IngestProcess(system, tmp_path, {}) as edge:
        descriptors = pathlib.Path(f"/proc/{edge.process.pid}/fd")
        used = len(list(descriptors.iterdir()))
        subprocess.run(["prlimit", "--pid", str(edge.process.pid), f"--nofile={used + 50}:"], check=True)
        many = [socket.create_connection(("127.0.0.1", edge.port)) for _ in range(200)]
        time.sleep(1)
        for one in many:
            one.close()
        wait_until_served(edge, 1)
        time.sleep(5)
        assert edge.is_alive()


def test_the_configured_json_limits_hold_on_the_public_port(system, tmp_path):
    with IngestProcess(system, tmp_path, {"jsonDepth": 5, "jsonValues": 10}) as edge:
        assert edge.post("/v1/app-store/notifications", b'{"signedPayload":"a","x":' + b"[" * 5 + b"]" * 5 + b"}")[0] == 400
        assert edge.post("/v1/app-store/notifications", b'{"signedPayload":"b","x":[1,1,1,1,1,1,1,1,1,1,1,1]}')[0] == 400


def test_a_missing_body_is_answered_with_the_status_after_which_its_sender_retries(edge_with_short_timeouts):
    with HTTP2Connection(edge_with_short_timeouts.port) as connection:
        connection.send(connection.headers(1))
        assert connection.status(1) == 500
    with RawConnection(edge_with_short_timeouts.port) as connection:
        connection.send(framed(b"Content-Length: 1000\r\n", b"{"))
        assert [answer.status for answer in connection.answers_to_end()] == [500]
    # The App Store repeats a notification after 503. SDKs understand a time-out.
    for path, status in ((b"/v1/app-store/notifications", 503), (b"/v1/adservices/tokens", 408)):
        with RawConnection(edge_with_short_timeouts.port) as connection:
            connection.send(framed(b"Content-Length: 1000\r\n", b"{", line=b"POST " + path + b" HTTP/1.1"))
            assert [answer.status for answer in connection.answers_to_end()] == [status]


@pytest.mark.parametrize("field", [("content-length", f"+{LENGTH}"), ("content-length", "")])
def test_a_malformed_content_length_over_http_2_is_refused(edge, field):
    with HTTP2Connection(edge.port) as connection:
        connection.send(connection.request(1, POSTBACK, [*REQUEST, field]))
        assert connection.status(1) in (None, 400)


def test_unfinished_bodies_of_all_connections_share_one_limit(system, tmp_path):
    with IngestProcess(system, tmp_path, {"bodyMemory": 300_000}) as edge:
        part = b"{" + b" " * 99_999
        unfinished = [RawConnection(edge.port) for _ in range(2)]
        try:
            for connection in unfinished:
                connection.send(framed(b"Content-Length: 200000\r\n", part))
            with HTTP2Connection(edge.port) as http2:
                for stream in (1, 3, 5):
                    http2.send(http2.headers(stream))
                    for _ in range(3):
                        http2.wait(lambda: http2.windows[0] >= 16_000)
                        http2.windows[0] -= 16_000
                        http2.send(DataFrame(stream, b" " * 16_000).serialize())
                # The third stream's body exceeds the limit, and is answered before its end.
                assert http2.status(5) == 500 and not {1, 3} & set(http2.statuses)
                with RawConnection(edge.port) as late:
                    late.send(framed(b"Content-Length: 200000\r\n", b" " * 150_000))
                    answer = late.answer()
                assert edge.metric('attribution_http_rejected_total{cause="body_memory"}') == 2
            # A device sends again only after 500.
            assert answer.status == 500 and int(answer.headers["retry-after"]) >= 1, answer
        finally:
            for connection in unfinished:
                connection.socket.close()
        assert_served(edge)
        with RawConnection(edge.port) as again:
            again.send(request())
            assert again.answer().status == 200


def wait_until_read(connection: RawConnection) -> None:
    """Waits until the process at the other end has read all sent bytes, according to the kernel's list of sockets."""
    ours, theirs = (f"0100007F:{port:04X}" for port in (connection.socket.getsockname()[1], connection.socket.getpeername()[1]))
    until = time.monotonic() + 20
    while True:
        rows = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
        queues = {row[1]: row[4] for row in rows if {row[1], row[2]} == {ours, theirs}}
        assert len(queues) == 2, "the connection is gone"
        if set(queues.values()) == {"00000000:00000000"}:
            return
        assert time.monotonic() < until, "ingest does not read"
        time.sleep(0.01)


def test_bodies_that_wait_for_redis_count_towards_the_memory_limit(system, tmp_path):
    with IngestProcess(system, tmp_path, {"bodyMemory": 300_000}) as edge:
        posts = [RawConnection(edge.port) for _ in range(3)]
        redis = system.pid("redis")
        os.kill(redis, signal.SIGSTOP)
        try:
            for post in posts:
                body = json.dumps({**json.loads(postback()), "padding": "x" * 140_000}).encode()
                post.send(framed(b"Content-Length: %d\r\n" % len(body), body))
                # Pieces of two bodies that arrive at the same moment may both be refused.
                if post is not posts[2]:
                    wait_until_read(post)
            # All are complete; two are within the limit.
            refused = select.select([post.socket for post in posts], [], [], 20)[0]
            assert len(refused) == 1
        finally:
            os.kill(redis, signal.SIGCONT)
        try:
            answers = [(post.socket in refused, post.answer()) for post in posts]
        finally:
            for post in posts:
                post.socket.close()
        assert all(answer.status == (500 if was_refused else 200) for was_refused, answer in answers), answers
        assert edge.metric('attribution_http_rejected_total{cause="body_memory"}') == 1
        assert_served(edge)


GZIP = b"Content-Encoding: gzip\r\n"


def bomb(size: int) -> tuple[bytes, bytes]:
    """A body of this length that any public route accepts, also as gzip: small, but within the limit of gzip's ratio."""
    body = {**json.loads(postback()), "signedPayload": uuid.uuid4().hex, "noise": os.urandom(size // 75).hex()}
    text = json.dumps(body).encode()
    text = text[:-1] + b" " * (size - len(text)) + b"}"
    packed = gzip.compress(text, 9)
    assert len(text) == size and size / 100 < len(packed) < size / 30
    return text, packed


@pytest.mark.parametrize("missing", [0, 1])
def test_inflated_and_received_bytes_both_count_towards_the_memory_limit(system, tmp_path, missing):
    """On every route and with both protocols: a body at the limit is accepted; the sender of a body one byte above it must repeat it."""
    body, packed = bomb(200_000)
    with IngestProcess(system, tmp_path, {"bodyMemory": len(body) + len(packed) - missing}) as edge:
        headers = {"Content-Encoding": "gzip"}
        for path, refused in (("/v1/postbacks", 500), ("/v1/app-store/notifications", 503)):
            status, answer = edge.post(path, packed, headers)
            assert status == (refused if missing else 200), answer
            assert not missing or b"OVERLOADED" in answer
        with HTTP2Connection(edge.port) as http2:
            http2.send(http2.request(1, packed, [*REQUEST, ("content-encoding", "gzip")]))
            assert http2.status(1) == (500 if missing else 200)
        # The internal port applies the same limit. Within the limit it inflates these bytes, and answers that they are no valid message.
        status, answer = edge.post("/attribution.ingest.v1.IngestService/GetDelivery", packed,
                                   {**headers, "Authorization": f"Bearer {system.token}"}, port=edge.internal_port)
        assert status == (503 if missing else 400), answer
        assert edge.metric('attribution_http_rejected_total{cause="body_memory"}') == 4 * missing
        # All bytes of answered requests are free again.
        for _ in range(5):
            assert edge.post("/v1/postbacks", gzip.compress(postback()), headers)[0] == 200


def test_many_small_compression_bombs_together_cannot_exceed_the_limit(system, tmp_path):
    """Each is far below every limit of a single body. Together they are inflated only up to the limit of memory."""
    bombs = [bomb(200_000)[1] for _ in range(40)]
    with IngestProcess(system, tmp_path, {"bodyMemory": 2_000_000}) as edge:
        before, redis = edge.memory(), system.pid("redis")
        posts = [RawConnection(edge.port) for _ in bombs]
        answers = {}
        os.kill(redis, signal.SIGSTOP)
        try:
            for post, packed in zip(posts, bombs, strict=True):
                post.send(request(GZIP, packed))
            # Compressed, all of them are far below the limit; inflated, nine are within it.
            assert sum(map(len, bombs)) < 400_000
            while len(answers) < 31:
                ready = select.select([post.socket for post in posts if post not in answers], [], [], 20)[0]
                assert ready, len(answers)
                for post in posts:
                    if post.socket in ready:
                        answers[post] = post.answer()
            assert {answer.status for answer in answers.values()} == {500} and len(answers) == 31
        finally:
            os.kill(redis, signal.SIGCONT)
        assert [post.answer().status for post in posts if post not in answers] == [200] * 9
        assert edge.metric('attribution_http_rejected_total{cause="body_memory"}') == 31
        for post in posts:
            post.socket.close()
        assert edge.memory() - before < 32 * MIB
        assert_served(edge)
