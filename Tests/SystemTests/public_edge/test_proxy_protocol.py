"""The PROXY protocol in front of both ports: the address that a trusted proxy names counts as the peer, and no one else can name an
address."""

import json
import re
import socket
import ssl
import struct
import subprocess
import uuid

import pytest

from SystemTests.support.free_ports import free_port
from SystemTests.support.ingest_process import IngestProcess, RawConnection

from .test_balancer import HAPROXY, Balancer, post
from .test_balancer import pytestmark as needs_haproxy

PROXY, STRANGER = "127.0.0.2", "127.0.0.1"
SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
SETTINGS = ("edge:\n  trustedProxies: [127.0.0.2]\n  proxyProtocol: [public, internal]\n  peerRate: { perSecond: 0.001, burst: 3 }\n"
            "  allow: { notification: [apple] }\n")
LIMIT = 300
REFUSED = 'attribution_http_rejected_total{cause="proxy_header"}'


class Connection(RawConnection):
    """Connects from an address of this machine to the port of another address."""

    def __init__(self, port: int, source: str = PROXY):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60, source_address=(source, 0))
        self.buffer, self.ended = b"", False


@pytest.fixture(scope="module")
def edge(system, tmp_path_factory):
    with IngestProcess(system, tmp_path_factory.mktemp("proxy"), {"proxyHeaderBytes": LIMIT, "headerTime": "2s"}, settings=SETTINGS) as process:
        yield process


def line(client: str) -> bytes:
    family = "TCP6" if ":" in client else "TCP4"
    return f"PROXY {family} {client} {'::1' if ':' in client else '127.0.0.1'} 4711 443\r\n".encode()


def binary(client: str | None, more: bytes = b"", command: int = 0x21, family: int | None = None) -> bytes:
    if client is None:
        kind, block = 0, b""
    elif ":" in client:
        kind, block = 0x21, socket.inet_pton(socket.AF_INET6, client) + socket.inet_pton(socket.AF_INET6, "::1") + b"\x12\x67\x01\xbb"
    else:
        kind, block = 0x11, socket.inet_aton(client) + socket.inet_aton("127.0.0.1") + b"\x12\x67\x01\xbb"
    kind = kind if family is None else family
    return SIGNATURE + struct.pack("!BBH", command, kind, len(block + more)) + block + more


def request(path: str = "/v1/postbacks", body: bytes | None = None, headers: str = "") -> bytes:
    body = body if body is not None else json.dumps({
        "version": "4.0", "ad-network-id": "example123.skadnetwork", "transaction-id": str(uuid.uuid4()), "attribution-signature": "AA=="}).encode()
    return (
        f"POST {path} HTTP/1.1\r\nHost: edge.example\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
    ).encode() + body


def exchange(edge, header: bytes, message: bytes | None = None, *, source: str = PROXY, port: int | None = None):
    with Connection(port or edge.port, source) as connection:
        connection.send(header + (message or request()))
        return connection.answer()


def status(edge, header: bytes, message: bytes | None = None, **options) -> int | None:
    answer = exchange(edge, header, message, **options)
    return answer and answer.status


@pytest.mark.parametrize("header", [line, binary], ids=["version 1", "version 2"])
def test_the_address_in_the_header_counts_for_rate_limits(edge, header):
    third = 10 if header is line else 20
    assert [status(edge, header(f"198.51.{third}.1")) for _ in range(4)] == [200, 200, 200, 500]
    assert status(edge, header(f"198.51.{third}.2")) == 200
    assert [status(edge, header(f"2001:db8:{third}::{number}")) for number in range(4)] == [200, 200, 200, 500]
    # An IPv4 address inside IPv6 is that address.
    assert status(edge, header(f"::ffff:198.51.{third}.1")) == 500


@pytest.mark.parametrize("header", [line, binary], ids=["version 1", "version 2"])
def test_the_address_in_the_header_counts_for_allow_lists(edge, header):
    notification = request("/v1/app-store/notifications", b'{"signedPayload":"x"}')
    assert status(edge, header("17.20.30.41" if header is line else "17.20.30.42"), notification) == 200
    assert status(edge, header("18.20.30.41" if header is line else "18.20.30.42"), notification) == 403


def test_forwarded_headers_of_the_named_client_are_ignored(edge):
    """The client is no proxy: neither an HTTP header nor a second PROXY header changes its address."""
    forwarded = request(headers="X-Forwarded-For: 203.0.113.9\r\n")
    assert [status(edge, line("198.51.30.1"), forwarded) for _ in range(4)] == [200, 200, 200, 500]
    answer = exchange(edge, line("198.51.30.2") + line("203.0.113.10"))
    assert answer.status == 400


def test_behind_several_proxies_the_header_of_the_last_one_counts(edge):
    """The first proxy's connection comes through the second: what the first proxy says in HTTP is trusted."""
    assert [status(edge, line(PROXY), request(headers="X-Forwarded-For: 203.0.113.20\r\n")) for _ in range(4)] == [200, 200, 200, 500]
    assert status(edge, line(PROXY), request(headers="X-Forwarded-For: 203.0.113.21\r\n")) == 200


def test_local_and_unknown_proxy_headers_count_as_the_proxy_and_as_no_client(edge):
    forwarded = request(headers="X-Forwarded-For: 203.0.113.30\r\n")
    assert status(edge, binary(None, command=0x20), forwarded) == 200
    assert status(edge, binary("192.0.2.9", command=0x20), forwarded) == 200
    unknown = [b"PROXY UNKNOWN\r\n", binary(None), binary("192.0.2.9", family=0x12), b"PROXY UNKNOWN 1.2.3.4 5.6.7.8 1 2\r\n"]
    # All of them have the proxy's own rate.
    assert [status(edge, header, forwarded) for header in unknown] == [200, 200, 200, 500]
    assert status(edge, binary(None, command=0x20), forwarded) == 200
    assert status(edge, binary(None, command=0x20), forwarded) == 500


def test_a_client_that_its_proxy_does_not_know_is_on_no_allow_list(system, tmp_path):
    """Not even on the proxy's own machine, and whatever its headers say."""
    text = "edge: { trustedProxies: [127.0.0.2], proxyProtocol: [public], allow: { token: [apple, 127.0.0.0/8] } }\n"
    with IngestProcess(system, tmp_path, settings=text) as process:
        def token_status(header: bytes, headers: str = "") -> int | None:
            return status(process, header, request("/v1/adservices/tokens", b"{}", headers))

        # An empty object is no token: a permitted caller gets this error.
        assert [token_status(line("17.1.2.3")), token_status(line("192.0.2.1")), token_status(binary(None, command=0x20))] == [400, 403, 400]
        for header in (b"PROXY UNKNOWN\r\n", b"PROXY UNKNOWN 17.1.2.3 5.6.7.8 1 2\r\n", binary(None), binary("17.1.2.3", family=0x12)):
            assert [token_status(header), token_status(header, "X-Forwarded-For: 17.1.2.3\r\n")] == [403, 403], header
            assert status(process, header) == 200
        assert process.metric('attribution_http_rejected_total{cause="address"}') == 9


def test_other_clients_are_served_without_a_header_and_cannot_send_one(edge):
    assert status(edge, b"", request("/v1/nothing"), source=STRANGER) == 404
    for header in (line("17.1.2.3"), binary("17.1.2.3")):
        answer = exchange(edge, header, source=STRANGER)
        assert answer is None or answer.status == 400
    assert edge.is_alive()


def test_the_internal_port_accepts_the_header_too(edge):
    readiness = b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n"
    for header in (line("192.0.2.50"), binary("192.0.2.50")):
        assert status(edge, header, readiness, port=edge.internal_port) == 200
    assert status(edge, b"", readiness, port=edge.internal_port) is None
    assert status(edge, b"", readiness, port=edge.internal_port, source=STRANGER) == 200


def test_http_2_is_served_after_the_proxy_header(edge):
    with Connection(edge.port) as connection:
        connection.send(binary("198.51.40.1") + b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))
        while len(connection.buffer) < 9:
            assert connection._more()
        assert connection.buffer[3] == 4  # SETTINGS


BROKEN = [
    request(), b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"\0" * 400, b"PROXY TCP4 1.2.3.4\r\n",
    b"PROXY TCP4 1.2.3.4 5.6.7.8 1 2\n" + request(), b"PROXY TCP4 999.2.3.4 5.6.7.8 1 2\r\n", b"PROXY TCP6 1.2.3.4 5.6.7.8 1 2\r\n",
    b"PROXY TCP4 1.2.3.4\0 5.6.7.8 1 2\r\n", b"PROXY " + b"x" * 5000, b"PROXY UNKNOWN" + b" " * 5000, binary("1.2.3.4", command=0x22),
    binary("1.2.3.4", command=0x11), binary("1.2.3.4", family=0x13), binary("1.2.3.4", family=0x41), binary("1.2.3.4", family=0x21),
    SIGNATURE + b"\x21\x11\x00\x00" + request(), binary("1.2.3.4", b"\x04\x00"),
    binary("1.2.3.4", b"\x03\x00\x04abcd"), SIGNATURE + b"\x21\x11\xff\xff" + b"A" * 70_000, SIGNATURE[:-1] + b"\r" + b"A" * 50,
]


@pytest.mark.parametrize("start", BROKEN, ids=lambda start: repr(start[:24]))
def test_a_proxy_connection_without_a_valid_header_is_closed(edge, start):
    before = edge.metric(REFUSED)
    assert status(edge, start, b"\r\n") is None
    assert edge.metric(REFUSED) == before + 1


def test_a_header_of_the_maximum_length_is_accepted_and_a_longer_one_is_not(edge):
    def padded(length: int) -> bytes:
        return binary("198.51.50.1", struct.pack("!BH", 4, length - 31) + bytes(length - 31))

    assert len(padded(LIMIT)) == LIMIT and status(edge, padded(LIMIT)) == 200
    assert status(edge, padded(LIMIT + 1)) is None


@pytest.mark.parametrize("header", [line("198.51.60.1"), binary("198.51.60.2")], ids=["version 1", "version 2"])
def test_a_header_may_arrive_in_parts_but_must_arrive_in_time(edge, header):
    with Connection(edge.port) as connection:
        connection.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in header + request():
            connection.send(bytes([byte]))
        assert connection.answer().status == 200
    before = edge.metric(REFUSED)
    with Connection(edge.port) as connection:
        connection.send(header[:-1])
        assert connection.answer() is None
    assert edge.metric(REFUSED) == before + 1


@pytest.mark.parametrize("settings,limits,named", [
    ("edge: { proxyProtocol: public }\n", None, "edge.proxyProtocol"),
    ("edge: { trustedProxies: [10.0.0.1], proxyProtocol: [outside] }\n", None, "edge.proxyProtocol"),
    ("", {"proxyHeaderBytes": 106}, "limits.proxyHeaderBytes"), ("", {"proxyHeaderBytes": 65_552}, "limits.proxyHeaderBytes"),
])
def test_a_wrong_proxy_setting_prevents_the_start_and_is_named(system, tmp_path, settings, limits, named):
    process = IngestProcess(system, tmp_path, limits, settings=settings)
    assert process.process.wait(60) == 78
    assert f"cannot start: {named}: " in process.log()


# --- behind a real proxy ------------------------------------------------------------------------------------------------

RATED = "edge: {{ trustedProxies: [127.0.0.1], proxyProtocol: [public], peerRate: {{ perSecond: 0.001, burst: {burst} }} }}\n"


def postback() -> bytes:
    return request().split(b"\r\n\r\n", 1)[1]


@needs_haproxy
@pytest.mark.parametrize("word", ["send-proxy", "send-proxy-v2"])
def test_behind_the_balancer_each_client_has_its_own_rate(system, tmp_path, word):
    """Deploy/haproxy's own configuration, with this word for the servers of the public port."""
    with IngestProcess(system, tmp_path, settings=RATED.format(burst=5)) as process:
        instances = [(process.port, process.internal_port), (free_port(), free_port())]
        with Balancer(tmp_path, instances, public_servers=word) as balancer:
            def statuses(source: str, count: int) -> list[int]:
                return [post(balancer.connection(source), "/v1/postbacks", postback(), {"X-Forwarded-For": f"203.0.113.{number}"})[0]
                        for number in range(count)]

            assert statuses("127.0.0.3", 6) == [200] * 5 + [500]
            assert statuses("127.0.0.4", 1) == [200]
        assert process.metric(REFUSED) == 0


@needs_haproxy
def test_where_tls_ends_at_ingest_the_header_comes_in_front_of_it(system, tmp_path):
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj", "/CN=edge.example", "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    key.chmod(0o600)
    port = free_port()
    variables = {"ATTRIBUTION_PUBLIC_TLS_CERTIFICATE": str(certificate), "ATTRIBUTION_PUBLIC_TLS_KEY": str(key)}
    with IngestProcess(system, tmp_path, settings=RATED.format(burst=3), variables=variables) as process:
        configuration = tmp_path / "haproxy.cfg"
        configuration.write_text(
            "defaults\n  mode tcp\n  timeout connect 5s\n  timeout client 60s\n  timeout server 60s\n"
            f"listen through\n  bind 127.0.0.1:{port}\n  server one 127.0.0.1:{process.port} send-proxy-v2 proxy-v2-options crc32c,ssl,unique-id\n")
        proxy = subprocess.Popen([HAPROXY, "-f", configuration], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            context = ssl.create_default_context(cafile=certificate)
            context.check_hostname = False

            def answer(source: str) -> bytes:
                while True:
                    try:
                        raw = socket.create_connection(("127.0.0.1", port), timeout=60, source_address=(source, 0))
                        break
                    except ConnectionRefusedError:
                        assert proxy.poll() is None
                with context.wrap_socket(raw) as secure:
                    secure.sendall(request(headers="X-Forwarded-For: 203.0.113.7\r\nConnection: close\r\n"))
                    received = b""
                    while more := secure.recv(65536):
                        received += more
                return received

            answers = [answer("127.0.0.5") for _ in range(4)]
            assert [int(re.match(rb"HTTP/1.1 (\d+)", one).group(1)) for one in answers] == [200, 200, 200, 500]
            assert answer("127.0.0.6").startswith(b"HTTP/1.1 200 ")
        finally:
            proxy.kill()
            proxy.wait()
