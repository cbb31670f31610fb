"""TLS on both ports: versions, protocols, callers' certificates, and new certificates while connections are open."""

import contextlib
import http.client
import os
import signal
import socket
import ssl
import subprocess
import time
import uuid

import pytest

from SystemTests.support.authority import Authority
from SystemTests.support.ingest_process import IngestProcess, RawConnection

METHOD = "/attribution.ingest.v1.IngestService/GetDelivery"
UNKNOWN_DELIVERY = b'{"id":"000-' + b"0" * 32 + b'"}'


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    return tmp_path_factory.mktemp("tls")


@pytest.fixture(scope="module")
def authority(keys):
    return Authority(keys, "authority")


@pytest.fixture(scope="module")
def edge(system, keys, authority, tmp_path_factory):
    certificate, key = authority.issue("server", "DNS:edge.example,IP:127.0.0.1")
    clients = ('  - { name: spire, certificateName: "spiffe://example.com/spire", allow: ["attribution.ingest.*"] }\n'
               '  - { name: nobody, certificateName: "spiffe://example.com/nobody", allow: ["attribution.signer.*"] }\n')
    variables = {"ATTRIBUTION_TLS_CERTIFICATE": str(certificate), "ATTRIBUTION_TLS_KEY": str(key),
                 "ATTRIBUTION_TLS_CLIENT_CA": str(authority.certificate), "ATTRIBUTION_PUBLIC_TLS_CERTIFICATE": str(certificate),
                 "ATTRIBUTION_PUBLIC_TLS_KEY": str(key)}
    with IngestProcess(system, tmp_path_factory.mktemp("edge-tls"), clients=clients, variables=variables) as process:
        yield process


def context(authority, *, protocols=("http/1.1",), client: tuple | None = None, **versions) -> ssl.SSLContext:
    made = ssl.create_default_context(cafile=str(authority.certificate))
    made.set_alpn_protocols(list(protocols))
    for name, version in versions.items():
        setattr(made, name, version)
    if client:
        made.load_cert_chain(*map(str, client))
    return made


def connect(port: int, made: ssl.SSLContext) -> ssl.SSLSocket:
    return made.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=30), server_hostname="edge.example")


def serial(connection: ssl.SSLSocket) -> str:
    return connection.getpeercert()["serialNumber"]


def call(port: int, made: ssl.SSLContext, headers: dict[str, str] | None = None) -> int:
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=30, context=made)
    try:
        connection.request("POST", METHOD, UNKNOWN_DELIVERY, {"Content-Type": "application/json", **(headers or {})})
        return connection.getresponse().status
    finally:
        connection.close()


def ask(connection: ssl.SSLSocket) -> bytes:
    connection.sendall(b"POST /v1/nothing HTTP/1.1\r\nHost: edge.example\r\nContent-Length: 0\r\n\r\n")
    answer = b""
    while b"\r\n\r\n" not in answer:
        received = connection.recv(65536)
        assert received, "the connection ended"
        answer += received
    return answer.split(b"\r\n")[0]


def test_tls_1_2_and_1_3_are_accepted_and_older_versions_are_not(edge, authority):
    for port in (edge.port, edge.internal_port):
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            with connect(port, context(authority, minimum_version=version, maximum_version=version)) as connection:
                assert ask(connection).startswith(b"HTTP/1.1 ")
        older = context(authority)
        older.set_ciphers("ALL:@SECLEVEL=0")
        older.minimum_version = older.maximum_version = ssl.TLSVersion.TLSv1_1
        with pytest.raises((ssl.SSLError, OSError)):
            connect(port, older)


def test_alpn_selects_http_2_if_both_are_offered(edge, authority):
    for offered, picked in ((["h2", "http/1.1"], "h2"), (["http/1.1"], "http/1.1")):
        with connect(edge.port, context(authority, protocols=offered)) as connection:
            assert connection.selected_alpn_protocol() == picked
    body = subprocess.run(
        ["curl", "-sS", "--http2", "--cacert", str(authority.certificate), "--resolve", f"edge.example:{edge.port}:127.0.0.1", "-d", "{}",
         "-H", "Content-Type: application/json", "-w", "%{http_version} %{http_code}", "-o", "/dev/null",
         f"https://edge.example:{edge.port}/v1/postbacks"], capture_output=True, text=True, check=True).stdout
    assert body == "2 400"


def test_hundreds_of_calls_of_curl_over_http_2_are_not_treated_as_an_attack(edge, system, authority, tmp_path):
    """As our services call each other. curl may reset a stream after it has received the whole answer: no harm, and no attack."""
    call = "\n".join(["http2", f'cacert = "{authority.certificate}"', f'header = "Authorization: Bearer {system.token}"',
                      'header = "Content-Type: application/json"', f'data = "@{tmp_path / "body"}"', "silent", "show-error",
                      f'url = "https://127.0.0.1:{edge.internal_port}{METHOD}"',
                      'output = "/dev/null"', 'write-out = "%{http_version} %{http_code}\\n"'])
    (tmp_path / "body").write_bytes(UNKNOWN_DELIVERY)
    count = 400  # more than the limit of resets of an HTTP/2 connection
    configuration = tmp_path / "calls"
    configuration.write_text("\nnext\n".join([call] * count))
    configuration.chmod(0o600)
    run = subprocess.run(["curl", "--parallel", "--parallel-max", "20", "--config", str(configuration)], capture_output=True, text=True,
                         timeout=300, check=False)
    assert run.returncode == 0 and run.stdout.split("\n") == ["2 404"] * count + [""], run.stderr[-2000:]


def test_a_clear_text_connection_is_closed_without_an_answer(edge):
    with RawConnection(edge.port) as connection:
        connection.send(b"POST /v1/postbacks HTTP/1.1\r\nHost: edge.example\r\nContent-Length: 0\r\n\r\n")
        received = b"x"
        while received:
            try:
                received = connection.socket.recv(65536)
            except ConnectionResetError:
                break
            assert not received.startswith(b"HTTP")
    assert edge.metric('attribution_http_rejected_total{cause="tls"}') > 0


def test_a_connection_without_a_handshake_is_closed(system, keys, authority, tmp_path):
    certificate, key = authority.issue("slow", "DNS:edge.example")
    variables = {"ATTRIBUTION_PUBLIC_TLS_CERTIFICATE": str(certificate), "ATTRIBUTION_PUBLIC_TLS_KEY": str(key)}
    with IngestProcess(system, tmp_path, {"headerTime": "1s"}, variables=variables) as process, RawConnection(process.port) as connection:
        connection.send(bytes.fromhex("16030102000100"))
        assert connection.socket.recv(1) == b""


def test_a_caller_is_identified_by_its_certificate(edge, system, authority):
    token = {"Authorization": f"Bearer {system.token}"}
    named = context(authority, client=authority.issue("spire", "URI:spiffe://example.com/spire"))
    assert call(edge.internal_port, named) == 404  # a call that was permitted: there is no such delivery
    assert call(edge.internal_port, context(authority)) == 401
    assert call(edge.internal_port, context(authority), token) == 404
    # Both methods, and not the same caller.
    assert call(edge.internal_port, named, token) == 401
    assert call(edge.internal_port, named, {"Authorization": "Bearer wrong"}) == 401
    stranger = context(authority, client=authority.issue("stranger", "URI:spiffe://example.com/stranger"))
    assert call(edge.internal_port, stranger) == 401
    nobody = context(authority, client=authority.issue("nobody", "URI:spiffe://example.com/nobody"))
    assert call(edge.internal_port, nobody) == 403
    # The name must not be accepted from a DNS name or the subject.
    dns = context(authority, client=authority.issue("spiffe:example.com.spire", "DNS:spiffe.example.com"))
    assert call(edge.internal_port, dns) == 401


def test_a_certificate_of_another_authority_is_refused(edge, authority, keys):
    forged = Authority(keys, f"forger-{uuid.uuid4().hex[:6]}").issue("forged", "URI:spiffe://example.com/spire")
    with pytest.raises((ssl.SSLError, OSError, http.client.HTTPException)):
        call(edge.internal_port, context(authority, client=forged))


def test_services_require_and_present_certificates_among_each_other(system, authority, tmp_path):
    certificate, key = authority.issue("strict", "DNS:edge.example,URI:spiffe://example.com/strict")
    variables = {"ATTRIBUTION_TLS_CERTIFICATE": str(certificate), "ATTRIBUTION_TLS_KEY": str(key),
                 "ATTRIBUTION_TLS_CLIENT_CA": str(authority.certificate), "ATTRIBUTION_TLS_CLIENT_CERTIFICATE": "required"}
    process = IngestProcess(system, tmp_path, variables=variables)
    try:
        shown = context(authority, client=(certificate, key))
        until = time.monotonic() + 60
        while True:
            try:
                with connect(process.internal_port, shown) as connection:
                    assert ask(connection) == b"HTTP/1.1 404 Not Found"
                break
            except OSError:
                assert time.monotonic() < until and process.is_alive(), process.log()
                time.sleep(0.05)
        # Refused with an alert or by closing the connection.
        with contextlib.suppress(OSError), connect(process.internal_port, context(authority)) as connection:
            connection.sendall(b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
            assert not connection.recv(1)
    finally:
        process.__exit__()


def wait_for(condition) -> None:
    until = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < until, "it did not come"
        time.sleep(0.1)


@pytest.mark.parametrize("hang_up", [False, True], ids=["by itself", "on SIGHUP"])
def test_a_new_certificate_is_used_without_interrupting_connections(edge, authority, keys, hang_up):
    made = context(authority)
    with connect(edge.port, made) as standing:
        first = serial(standing)
        assert ask(standing).startswith(b"HTTP/1.1 404")
        authority.issue("server", "DNS:edge.example,IP:127.0.0.1")
        if hang_up:
            os.kill(edge.process.pid, signal.SIGHUP)

        def is_new() -> bool:
            with connect(edge.port, made) as fresh:
                return serial(fresh) != first and ask(fresh).startswith(b"HTTP/1.1 404")

        wait_for(is_new)
        assert ask(standing).startswith(b"HTTP/1.1 404") and serial(standing) == first
    for listener in ("public", "internal"):
        assert edge.metric(f'attribution_tls_reloads_total{{listener="{listener}",outcome="applied"}}') > 0
        assert edge.metric(f'attribution_tls_certificate_expiry_timestamp_seconds{{listener="{listener}"}}') > time.time() + 86_400


BROKEN = {
    "no certificate": lambda certificate, _key, _: certificate.write_text("nothing"),
    "another key": lambda _certificate, key, authority: (authority.issue("other", "DNS:x")[1].replace(key)),
    "a key that others may read": lambda _certificate, key, _: key.chmod(0o644),
    "no key": lambda _certificate, key, _: key.unlink(),
    "an expired certificate": lambda _certificate, _key, authority: authority.issue("server", "DNS:edge.example", days=-1),
}


@pytest.mark.parametrize("breaking", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_new_certificate_is_reported_and_the_previous_one_stays_in_use(edge, authority, keys, breaking):
    refused = 'attribution_tls_reloads_total{listener="public",outcome="refused"}'
    made = context(authority)
    with connect(edge.port, made) as connection:
        first = serial(connection)
    before = edge.metric(refused)
    try:
        breaking(keys / "server.pem", keys / "server.key", authority)
        os.kill(edge.process.pid, signal.SIGHUP)
        wait_for(lambda: edge.metric(refused) > before)
        with connect(edge.port, made) as connection:
            assert serial(connection) == first and ask(connection).startswith(b"HTTP/1.1 404")
        assert "the changed certificate was refused; the previous one stays in use" in edge.log()
    finally:
        authority.issue("server", "DNS:edge.example,IP:127.0.0.1")
        os.kill(edge.process.pid, signal.SIGHUP)

    def is_restored() -> bool:
        with connect(edge.port, made) as connection:
            return serial(connection) != first

    wait_for(is_restored)


@pytest.mark.parametrize("variables,named", [
    ({"ATTRIBUTION_TLS_CERTIFICATE": "/nowhere"}, "ATTRIBUTION_TLS_KEY"),
    ({"ATTRIBUTION_PUBLIC_TLS_CERTIFICATE": "/nowhere", "ATTRIBUTION_PUBLIC_TLS_KEY": "/nowhere"}, "ATTRIBUTION_PUBLIC_TLS_CERTIFICATE"),
    ({"ATTRIBUTION_TLS_CLIENT_CA": "/nowhere"}, "ATTRIBUTION_TLS_CLIENT_CA"),
    ({"ATTRIBUTION_TLS_CLIENT_CERTIFICATE": "required"}, "ATTRIBUTION_TLS_CLIENT_CERTIFICATE"),
])
def test_a_wrong_tls_setting_prevents_the_start_and_is_named(system, tmp_path, variables, named):
    process = IngestProcess(system, tmp_path, variables=variables)
    assert process.process.wait(60) == 78
    assert f"cannot start: {named}: " in process.log()
