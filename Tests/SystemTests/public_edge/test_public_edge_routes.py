"""The routes of each of ingest's ports, and requests that they do not serve."""

import json

from SystemTests.support.http2_connection import HTTP2Connection, replaced
from SystemTests.support.ingest_process import RawConnection
from SystemTests.support.running_system import ROOT

from .edge import assert_served, postback

CONTRACT = json.loads((ROOT / "Shared" / "AttributionProtocol" / "Contract" / "openapi.json").read_text())
# --- routes of each port --------------------------------------------------------------------------------------------------

EXAMPLES = {"{adNetworkId}": "example123.skadnetwork", "{installId}": "a", "{bundleId}": "com.example.app"}


def concrete(path: str) -> str:
    for name, value in EXAMPLES.items():
        path = path.replace(name, value)
    return path


OPERATIONS = [(concrete(path), method.upper(), "public" in operation["tags"]) for path, item in CONTRACT["paths"].items()
              for method, operation in item.items()]
ADMINISTRATION = [("/livez", "GET"), ("/startupz", "GET"), ("/readyz", "GET"), ("/metrics", "GET"), ("/grpc.health.v1.Health/Check", "POST"),
                  ("/benchmark.echo/Echo", "POST"), ("/debug/pprof", "GET")]


def test_the_public_port_serves_no_rpc_and_no_administration(edge, system):
    headers = {"Authorization": f"Bearer {system.token}", "Connect-Protocol-Version": "1"}
    calls = [(path, method) for path, method, public in OPERATIONS if not public] + ADMINISTRATION
    assert len(calls) > 60
    for path, method in calls:
        for shape in (path, path + "/", "/" + path, "/v1/.." + path, path.replace("/", "/./", 1), path.replace(".", "%2e", 1),
                      "/v1/postbacks/.." + path, path.replace("/", "//")):
            status, _ = edge.post(shape, b"{}", headers, method=method)
            # A postback for the ad network "..", with an invalid body.
            assert status == 404 or (shape.startswith("/v1/postbacks") and status in (400, 405)), (method, shape, status)


def test_internal_ports_serve_no_public_route(edge, system):
    headers = {"Authorization": f"Bearer {system.token}"}
    routes = [(path, method) for path, method, public in OPERATIONS if public]
    assert len(routes) == 12
    ports = [edge.internal_port, *(system.port_base + offset for offset in range(10, 15))]
    for path, method in routes:
        for port in ports:
            for shape in (path, path.rstrip("/"), path.rstrip("/") + "/"):
                assert edge.post(shape, postback(), headers, method=method, port=port)[0] == 404, (port, shape)


def test_a_report_of_private_click_measurement_is_no_postback(edge):
    """An app that requests copies of postbacks in its Info.plist gets these reports too, at another path."""
    name = 'attribution_queue_enqueued_total{queue="intake"}'
    before = edge.metric(name)
    report = {"source_engagement_type": "click", "source_site": "example.com", "source_id": 4, "attributed_on_site": "example.org",
              "trigger_data": 5, "version": 1}
    for path in ("/.well-known/private-click-measurement/report-attribution", "/.well-known/private-click-measurement/report-attribution/"):
        for body in (json.dumps(report).encode(), postback()):
            assert edge.post(path, body)[0] == 404
    assert edge.metric(name) == before
    assert_served(edge)
    assert edge.metric(name) == before + 1


def test_each_public_route_is_served_with_and_without_a_slash_and_only_with_its_method(edge):
    for path, method, public in OPERATIONS:
        if not public:
            continue
        stem = path.rstrip("/")
        for shape in (stem, stem + "/"):
            for other in ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
                with RawConnection(edge.port) as connection:
                    connection.send(b"%s %s HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1\r\nConnection: close\r\n\r\n{"
                                    % (other.encode(), shape.encode()))
                    if other == "HEAD":  # no body follows, though a length is given
                        head = b""
                        while received := connection.socket.recv(65536):
                            head += received
                        assert head.startswith(b"HTTP/1.1 405 ") and head.endswith(b"\r\n\r\n"), head
                        continue
                    answer = connection.answer()
                assert answer.status == (400 if other == method else 405), (other, shape, answer)
                if other != method:
                    assert answer.headers["allow"] == method


def test_neither_port_serves_the_routes_of_the_other_over_http_2(edge, system):
    authorization = ("authorization", f"Bearer {system.token}")
    for port, shapes in ((edge.port, [path for path, _, public in OPERATIONS if not public] + [path for path, _ in ADMINISTRATION]),
                         (edge.internal_port, [path for path, _, public in OPERATIONS if public])):
        with HTTP2Connection(port) as connection:
            for index, path in enumerate(shapes):
                connection.send(connection.request(1 + 2 * index, b"{}", [*replaced(":path", path), authorization]))
                assert connection.status(1 + 2 * index) == 404, path
