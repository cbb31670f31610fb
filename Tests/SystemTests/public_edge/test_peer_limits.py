"""Limits of the connections and bodies of one peer: which address counts as the peer, and that other peers are not affected."""

import gzip
import json
import select
import time
import uuid

import pytest

from SystemTests.support.ingest_process import IngestProcess

from .test_proxy_protocol import PROXY, STRANGER, Connection, binary, line, request

REFUSED = 'attribution_http_rejected_total{cause="peer_connections"}'


class Peers:
    """Open connections to a port; each has received an answer before the next one is opened."""

    def __init__(self, edge):
        self.edge, self.open = edge, []

    def __enter__(self) -> "Peers":
        return self

    def __exit__(self, *_: object) -> None:
        for connection in self.open:
            connection.socket.close()

    def is_served(self, header: bytes = b"", *, source: str = STRANGER) -> bool:
        """Opens one more connection; returns whether it is served. A refused connection is closed without an answer."""
        connection = Connection(self.edge.port, source)
        answer = connection.answer() if connection.send(header + request()) else None
        if answer is None:
            connection.socket.close()
            return False
        assert answer.status == 200, answer
        self.open.append(connection)
        return True

    def end(self, connection: Connection, header: bytes = b"", *, source: str = STRANGER) -> None:
        """Closes one, and waits until another one of the same peer is accepted."""
        self.open.remove(connection)
        connection.socket.close()
        until = time.monotonic() + 60
        while not self.is_served(header, source=source):
            assert time.monotonic() < until, "the closed connection still counts"

    def are_served_still(self) -> bool:
        return all(connection.send(request()) and connection.answer().status == 200 for connection in self.open)


def settings(text: str) -> str:
    return f"edge: {{ {text} }}\n"


def test_connections_are_limited_per_peer(system, tmp_path):
    with IngestProcess(system, tmp_path, settings=settings("peerConnections: 3")) as edge, Peers(edge) as peers:
        assert [peers.is_served() for _ in range(5)] == [True] * 3 + [False] * 2
        assert edge.metric(REFUSED) == 2
        assert [peers.is_served(source="127.0.0.9") for _ in range(4)] == [True] * 3 + [False]
        assert peers.are_served_still()
        peers.end(peers.open[0])
        assert not peers.is_served()
        # The internal port is for the operator's own systems, which are few and have many connections.
        kept = [Connection(edge.internal_port, STRANGER) for _ in range(8)]
        for connection in kept:
            connection.send(b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert [connection.answer().status for connection in kept] == [200] * 8
        for connection in kept:
            connection.socket.close()


def test_connections_without_a_request_count_towards_the_limit_of_their_peer(system, tmp_path):
    with IngestProcess(system, tmp_path, settings=settings("peerConnections: 2")) as edge, Peers(edge) as peers:
        silent = [Connection(edge.port, STRANGER) for _ in range(2)]
        # They are accepted one after the other, by several threads: the third is refused after both were accepted.
        until = time.monotonic() + 60
        while peers.is_served():
            peers.open.pop().socket.close()
            assert time.monotonic() < until
        for connection in silent:
            connection.socket.close()


@pytest.mark.parametrize("header", [line, binary], ids=["version 1", "version 2"])
def test_behind_a_proxy_the_client_that_it_names_is_the_peer(system, tmp_path, header):
    text = settings("trustedProxies: [127.0.0.2], proxyProtocol: [public], peerConnections: 2")
    with IngestProcess(system, tmp_path, settings=text) as edge, Peers(edge) as peers:
        def served(client: str) -> bool:
            return peers.is_served(header(client), source=PROXY)

        assert [served("198.51.100.1") for _ in range(3)] == [True, True, False]
        # An IPv4 address inside IPv6 is that address; a /64 of IPv6 is one peer, as for rates.
        assert not served("::ffff:198.51.100.1")
        assert [served(f"2001:db8:1:1::{number}") for number in range(1, 4)] == [True, True, False]
        assert served("198.51.100.2") and served("2001:db8:1:2::1")
        assert edge.metric(REFUSED) == 3 and edge.metric('attribution_http_rejected_total{cause="proxy_header"}') == 0
        # A peer that connects without the proxy is counted by the address of the connection.
        assert [peers.is_served() for _ in range(3)] == [True, True, False]
        assert peers.are_served_still()
        peers.end(peers.open[0], header("198.51.100.1"), source=PROXY)
        assert not served("198.51.100.1")


def test_connections_of_a_proxy_do_not_count_as_one_peer(system, tmp_path):
    """Its own connections, those of unknown clients, and those that another proxy forwards through it."""
    text = settings("trustedProxies: [127.0.0.2, 10.0.0.0/8], proxyProtocol: [public], peerConnections: 1")
    with IngestProcess(system, tmp_path, settings=text) as edge, Peers(edge) as peers:
        for header in (binary(None, command=0x20), b"PROXY UNKNOWN\r\n", binary(None), line(PROXY), line("10.1.2.3")):
            assert [peers.is_served(header, source=PROXY) for _ in range(3)] == [True] * 3, header
        assert edge.metric(REFUSED) == 0


def test_a_proxy_that_forwards_client_addresses_does_not_count_as_one_peer(system, tmp_path):
    with IngestProcess(system, tmp_path, settings=settings("trustedProxies: [127.0.0.2], peerConnections: 1")) as edge, Peers(edge) as peers:
        assert [peers.is_served(source=PROXY) for _ in range(5)] == [True] * 5
        assert [peers.is_served() for _ in range(2)] == [True, False]


# --- bodies -------------------------------------------------------------------------------------------------------------

# How a peer is named: the settings for it, and for each number of a peer the source address, the PROXY header and the HTTP header.
WAYS = {
    "directly": ("peerBodyMemory: 2500", lambda number: (f"127.0.0.{10 + number}", b"", b"")),
    "by header": ("trustedProxies: [127.0.0.2], peerBodyMemory: 2500",
                  lambda number: (PROXY, b"", b"X-Forwarded-For: 198.51.100.%d\r\n" % number)),
    "by the PROXY protocol": ("trustedProxies: [127.0.0.2], proxyProtocol: [public], peerBodyMemory: 2500",
                              lambda number: (PROXY, binary(f"198.51.100.{number}"), b"")),
}


def postback(length: int) -> bytes:
    body = json.dumps({"version": "4.0", "ad-network-id": "example123.skadnetwork", "transaction-id": str(uuid.uuid4()),
                       "attribution-signature": "AA=="}).encode()
    return body[:-1] + b" " * (length - len(body)) + b"}"


def head(length: int, fields: bytes = b"") -> bytes:
    return b"POST /v1/postbacks HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n" % length + fields + b"\r\n"


@pytest.mark.parametrize("way", WAYS)
def test_request_bodies_are_limited_per_peer(system, tmp_path, way):
    text, peer = WAYS[way]
    with IngestProcess(system, tmp_path, settings=settings(text)) as edge:
        def begun(number: int, body: bytes) -> Connection:
            """Opens a connection and sends a request without its last byte."""
            source, header, fields = peer(number)
            connection = Connection(edge.port, source)
            connection.send(header + head(len(body), fields) + body[:-1])
            return connection

        bodies = [postback(1000) for _ in range(5)]
        first = [begun(1, body) for body in bodies[:3]]
        # Two bodies are within the limit.
        refused = select.select([one.socket for one in first], [], [], 60)[0]
        assert len(refused) == 1
        others = [begun(2, body) for body in bodies[3:]]
        for connection, body in zip(first + others, bodies, strict=True):
            if connection.socket in refused:
                answer = connection.answer()
                assert answer.status == 500 and b"OVERLOADED" in answer.body and "retry-after" in answer.headers
            else:
                connection.send(body[-1:])
                assert connection.answer().status == 200
            connection.socket.close()
        assert edge.metric('attribution_http_rejected_total{cause="peer_body_memory"}') == 1
        assert edge.metric('attribution_http_rejected_total{cause="body_memory"}') == 0
        # The bytes of an answered request no longer count.
        for _ in range(5):
            last = begun(1, bodies[0])
            last.send(bodies[0][-1:])
            assert last.answer().status == 200
            last.socket.close()


def test_bodies_from_a_proxy_without_a_client_address_do_not_count_as_one_peer(system, tmp_path):
    text = settings("trustedProxies: [127.0.0.2], proxyProtocol: [public], peerBodyMemory: 1")
    with IngestProcess(system, tmp_path, settings=text) as edge:
        def status(header: bytes, source: str = PROXY) -> int:
            with Connection(edge.port, source) as connection:
                connection.send(header + request())
                return connection.answer().status

        assert [status(header) for header in (binary(None, command=0x20), b"PROXY UNKNOWN\r\n", line(PROXY))] == [200] * 3
        assert [status(line("198.51.100.1")), status(b"", STRANGER)] == [500, 500]


@pytest.mark.parametrize("missing", [0, 1])
def test_the_inflated_size_of_a_body_counts_towards_the_peers_limit(system, tmp_path, missing):
    body = postback(5000)
    packed = gzip.compress(body)
    with IngestProcess(system, tmp_path, settings=settings(f"peerBodyMemory: {len(body) + len(packed) - missing}")) as edge:
        status, answer = edge.post("/v1/postbacks", packed, {"Content-Encoding": "gzip"})
        assert status == (500 if missing else 200), answer
        assert edge.metric('attribution_http_rejected_total{cause="peer_body_memory"}') == missing


@pytest.mark.parametrize("text", ["peers: 512", "peerConnections: 0"], ids=["not set", "0"])
def test_by_default_one_peer_may_use_all_connections(system, tmp_path, text):
    with IngestProcess(system, tmp_path, {"connections": 6}, settings=settings(text)) as edge, Peers(edge) as peers:
        assert [peers.is_served() for _ in range(6)] == [True] * 6
        assert edge.metric(REFUSED) == 0


@pytest.mark.parametrize("key", ["peerConnections", "peerBodyMemory"])
def test_a_wrong_peer_limit_prevents_the_start_and_is_named(system, tmp_path, key):
    process = IngestProcess(system, tmp_path, settings=settings(f"{key}: -1"))
    assert process.process.wait(60) == 78
    assert f"cannot start: edge.{key}: " in process.log()
