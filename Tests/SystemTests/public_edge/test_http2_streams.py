"""HTTP/2: a faulty stream affects no other stream, and slow or missing input ends in a timeout."""

import json
import signal
import time
import uuid

import pytest
from hyperframe.frame import ContinuationFrame, DataFrame, HeadersFrame, PingFrame, RstStreamFrame

from SystemTests.support.http2_connection import REQUEST, HTTP2Connection, replaced
from SystemTests.support.ingest_process import IngestProcess, RawConnection

REFUSED, ENHANCE_YOUR_CALM = 7, 11
STREAMS = 128  # Documentation/configuration.md


def postback() -> bytes:
    return json.dumps({"version": "4.0", "ad-network-id": "example123.skadnetwork", "transaction-id": str(uuid.uuid4()),
                       "attribution-signature": "AA=="}).encode()


@pytest.fixture(scope="module")
def edge(system, tmp_path_factory):
    with IngestProcess(system, tmp_path_factory.mktemp("streams"), {"headerTime": "1s", "bodyTime": "20s", "idleTime": "2s"}) as process:
        yield process
        assert process.is_alive(), process.log()[-2000:]


def test_128_streams_are_accepted_and_only_the_next_one_is_refused(edge):
    with HTTP2Connection(edge.port).acknowledge() as connection:
        open_streams = [1 + 2 * index for index in range(STREAMS)]
        refused = open_streams[-1] + 2
        connection.send(b"".join(connection.headers(stream) for stream in [*open_streams, refused]))
        connection.wait(lambda: refused in connection.resets)
        assert connection.resets == {refused: REFUSED} and connection.settings[3] == STREAMS
        # One stream ends, and another one is possible.
        connection.send(DataFrame(1, postback(), flags=["END_STREAM"]).serialize())
        assert connection.status(1) == 200
        connection.send(connection.request(refused + 2, postback()))
        assert connection.status(refused + 2) == 200
        connection.send(b"".join(DataFrame(stream, postback(), flags=["END_STREAM"]).serialize() for stream in open_streams[1:]))
        assert [connection.status(stream) for stream in open_streams[1:]] == [200] * (STREAMS - 1)
        assert connection.goaway is None


def test_a_client_that_keeps_exceeding_the_stream_limit_is_disconnected(edge):
    with HTTP2Connection(edge.port).acknowledge() as connection:
        for index in range(STREAMS + 250):
            if not connection.send(connection.headers(1 + 2 * index)):
                break
        connection.wait_for_end()
        assert connection.goaway == ENHANCE_YOUR_CALM
    assert edge.metric('attribution_http_rejected_total{cause="streams"}') > 200


@pytest.mark.parametrize("fields", [
    [*REQUEST, ("X-Upper", "a")], [*REQUEST, ("connection", "close")], replaced(":path", None), replaced(":method", None),
    [*REQUEST, (":path", "/v1/postbacks")], [*REQUEST, ("content-length", "5")], [("a", "b"), *REQUEST],
])
def test_a_malformed_stream_disturbs_no_other(edge, fields):
    with HTTP2Connection(edge.port) as connection:
        connection.send(connection.headers(1))
        for number in range(20):
            connection.send(connection.request(3 + 2 * number, b"{}", fields))
        connection.wait(lambda: len(connection.resets) == 20)
        connection.send(DataFrame(1, postback(), flags=["END_STREAM"]).serialize())
        assert connection.status(1) == 200
        connection.send(connection.request(99, postback()))
        assert connection.status(99) == 200 and connection.goaway is None


def test_pings_within_a_call_are_answered_and_so_is_the_call(edge):
    with HTTP2Connection(edge.port) as connection:
        connection.send(connection.headers(1))
        for _ in range(100):
            connection.send(PingFrame(0, b"12345678").serialize())
        connection.wait(lambda: connection.pings == 100)
        connection.send(DataFrame(1, postback(), flags=["END_STREAM"]).serialize())
        assert connection.status(1) == 200 and connection.goaway is None


def test_headers_over_the_limit_get_431_and_the_next_stream_is_served(edge):
    with HTTP2Connection(edge.port).acknowledge() as connection:
        for index, (size, status) in enumerate([(15_000, 200), (17_000, 431), (30_000, 431), (15_000, 200)]):
            stream = 1 + 2 * index
            block = connection.encoder.encode([*REQUEST, ("x-pad", "p" * size)], huffman=False)
            frames = [HeadersFrame(stream, block[:16_000]).serialize()]
            frames += [ContinuationFrame(stream, block[at:at + 16_000]).serialize() for at in range(16_000, len(block), 16_000)]
            last = bytearray(frames[-1])
            last[4] |= 4  # END_HEADERS
            connection.send(b"".join(frames[:-1]) + bytes(last) + DataFrame(stream, postback(), flags=["END_STREAM"]).serialize())
            assert connection.status(stream) == status
        assert connection.goaway is None


def test_an_idle_connection_gets_goaway_and_is_closed(edge):
    with HTTP2Connection(edge.port) as connection:
        connection.send(connection.request(1, postback()))
        assert connection.status(1) == 200
        connection.wait_for_end()
        assert connection.goaway == 0 and connection.last_stream == 1


def test_a_slow_header_block_closes_the_connection_even_after_earlier_requests(edge):
    with HTTP2Connection(edge.port) as connection:
        connection.send(connection.request(1, postback()))
        assert connection.status(1) == 200
        connection.send(connection.headers(3, end_headers=False))
        until = time.monotonic() + 60
        while connection.send(ContinuationFrame(3, b"").serialize()) and not connection.ended:
            assert time.monotonic() < until, "ingest waits for ever"
            time.sleep(0.2)
        connection.wait_for_end()
    with RawConnection(edge.port) as connection:
        body = postback()
        whole = b"POST /v1/postbacks HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
        for _ in range(2):
            connection.send(whole)
            assert connection.answer().status == 200
        until = time.monotonic() + 60
        for byte in whole:
            assert time.monotonic() < until, "ingest waits for ever"
            if not connection.send(bytes([byte])):
                break
            time.sleep(0.05)
            connection.socket.setblocking(False)
            try:
                connection.buffer += connection.socket.recv(65536)
                break
            except BlockingIOError:
                pass
            finally:
                connection.socket.settimeout(60)
        answers = connection.answers_to_end()
        assert [answer.status for answer in answers] == [408]


def test_bodies_that_are_refused_early_do_not_reduce_the_window_of_other_streams(edge):
    """Each refused body uses a part of the connection's window, which must be returned."""
    large = b"x" * 300_000
    with HTTP2Connection(edge.port) as connection:
        for index in range(20):
            stream = 1 + 4 * index
            connection.send(connection.headers(stream))
            connection.send_body(stream, large)
            assert connection.status(stream) == 413
            connection.send(connection.request(stream + 2, postback()))
            assert connection.status(stream + 2) == 200
        assert connection.goaway is None


def test_the_body_of_an_answered_request_is_ignored(edge):
    with HTTP2Connection(edge.port) as connection:
        connection.send(connection.headers(1, replaced(":path", "/v1/nothing")))
        assert connection.status(1) == 404
        connection.send_body(1, b"x" * 100_000)
        connection.send(connection.request(3, postback()))
        assert connection.status(3) == 200 and 1 not in connection.resets


def test_running_requests_are_finished_when_the_service_stops(system, tmp_path):
    with IngestProcess(system, tmp_path) as process, HTTP2Connection(process.port) as connection:
        connection.send(connection.headers(1))
        connection.send(connection.request(3, postback()))
        assert connection.status(3) == 200
        process.process.send_signal(signal.SIGTERM)
        connection.wait(lambda: connection.goaway is not None)
        assert connection.goaway == 0
        connection.send(DataFrame(1, postback(), flags=["END_STREAM"]).serialize())
        assert connection.status(1) == 200
        connection.wait_for_end()
        assert process.process.wait(60) == 0


def test_a_call_whose_stream_is_reset_frees_its_resources(edge, system):
    """The verifier's long poll: its caller cancels it repeatedly on one connection."""
    port = int(system.url("Events").rsplit(":", 1)[1])
    system.call("Events", "CreateSubscription", {"name": "streams", "start": "now", "types": ["appstore.subscription.gap.v1"]})
    pull = json.dumps({"subscription": "streams", "maxEvents": 1, "waitMilliseconds": 30_000}).encode()
    fields = [*replaced(":path", "/attribution.events.v1.EventsService/PullEvents"), ("authorization", f"Bearer {system.token}")]
    with HTTP2Connection(port) as connection:
        for index in range(150):
            connection.send(connection.request(1 + 2 * index, pull, fields))
            connection.send(RstStreamFrame(1 + 2 * index, error_code=8).serialize())
        listing = replaced(":path", "/attribution.events.v1.EventsService/ListSubscriptions", fields)
        connection.send(connection.request(1001, b"{}", listing))
        assert connection.status(1001) == 200 and connection.goaway is None
    system.rpc("Events", "DeleteSubscription", {"name": "streams"}, key=uuid.uuid4().hex)
