"""A real Prometheus scrapes services, also with TLS, and its alerts fire."""

import re
import ssl
import threading
import time
import urllib.error
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from SystemTests.support.prometheus_process import eventually, prometheus

from .files import expressions, rules, run
from .sources import default_ports

# A real Prometheus


@contextmanager
def exporter(text: str, context: ssl.SSLContext | None = None) -> Iterator[int]:
    """Serves metrics on a free loopback port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = text.encode() if self.path == "/metrics" else b""
            self.send_response(200 if body else 404)
            self.send_header("content-type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda _request, _address: None  # refused handshakes are part of the test
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def instance_text(dead: int, ends: float) -> str:
    """The metrics of an instance of verifier that the test uses."""
    return f"""# TYPE attribution_queue_dead gauge
attribution_queue_dead{{queue="intake"}} {dead}
attribution_queue_dead{{queue="tokens"}} 7
# TYPE attribution_store_connected gauge
attribution_store_connected 1
# TYPE attribution_rpc_server_requests_total counter
attribution_rpc_server_requests_total{{service="attribution.verifier.v1.VerifierService",method="VerifyBatch",code="ok"}} 5
# TYPE attribution_tls_certificate_expiry_timestamp_seconds gauge
attribution_tls_certificate_expiry_timestamp_seconds{{listener="internal"}} {ends}
"""


BALANCER_TEXT = """# TYPE haproxy_backend_active_servers gauge
haproxy_backend_active_servers{proxy="verifier"} 2
haproxy_backend_active_servers{proxy="signer"} 0
"""


def test_a_real_prometheus_scrapes_instances_evaluates_every_rule_and_fires_alerts(tmp_path: Path) -> None:
    now = time.time()
    with (
        exporter(instance_text(dead=3, ends=now + 90 * 86_400)) as first,
        exporter(instance_text(dead=3, ends=now + 3 * 86_400)) as second,
        exporter(BALANCER_TEXT) as balancer,
        prometheus(tmp_path, "prometheus.yml", {"verifier": [first, second], "balancer": [balancer]}) as server,
    ):
        def scraped() -> None:
            assert server.targets() == {
                ("attribution", "verifier", f"127.0.0.1:{first}", "up"), ("attribution", "verifier", f"127.0.0.1:{second}", "up"),
                ("balancer", "balancer", f"127.0.0.1:{balancer}", "up"),
            }

        eventually(scraped)

        def evaluated() -> None:
            loaded = [rule for group in server.ask("rules")["groups"] for rule in group["rules"]]
            assert sorted(rule["name"] for rule in loaded) == sorted(rule.get("alert") or rule["record"] for rule in rules())
            assert {(rule["health"], rule.get("lastError", "")) for rule in loaded} == {("ok", "")}

        eventually(evaluated)

        def alerted() -> dict[str, list[dict]]:
            found: dict[str, list[dict]] = {}
            for alert in server.ask("alerts")["alerts"]:
                found.setdefault(alert["labels"]["alertname"], []).append(alert)
            assert {"DeadLetters", "CertificateEnds", "NoReadyInstance", "ServiceMissing"} <= set(found)
            # Before the first scrape every service is missing.
            assert {alert["labels"]["service"] for alert in found["ServiceMissing"]} == set(default_ports()) - {"verifier"}
            return found

        found = eventually(alerted)
        # Two instances report the same queue, which gives one alert. Tokens that Apple refused give none.
        [letters] = found["DeadLetters"]
        assert (letters["labels"]["queue"], letters["labels"]["severity"], letters["state"]) == ("intake", "ticket", "pending")
        # It has no `for`, so it fires immediately, for the one instance whose certificate expires.
        [ends] = found["CertificateEnds"]
        assert ends["state"] == "firing" and ends["labels"]["instance"] == f"127.0.0.1:{second}"
        assert ends["annotations"]["summary"] == f"the internal certificate of 127.0.0.1:{second} expires within a week"
        assert re.fullmatch(r"verifier has 2d 23h \d+m \d+s left\. .*", ends["annotations"]["description"])
        assert [alert["labels"]["proxy"] for alert in found["NoReadyInstance"]] == ["signer"]
        assert "StoreAway" not in found and "InstanceDown" not in found and "BalancerDown" not in found

        # The scraped service and the RPC service in a metric's own label are distinguished.
        calls = server.vector("attribution_rpc_server_requests_total")
        assert len(calls) == 2
        for labels, _ in calls:
            assert (labels["service"], labels["rpc_service"]) == ("verifier", "attribution.verifier.v1.VerifierService")
            assert "exported_service" not in labels

        for location, expression in expressions():
            text = expression.replace("$__rate_interval", "1m").replace("$__range", "1h")
            text = re.sub(r"\$(service|instance|queue)\b", ".*", text)
            try:
                server.vector(text)
            except urllib.error.HTTPError as error:
                pytest.fail(f"{location}: {error.read().decode()}")
        assert server.vector('max by (queue) (attribution_queue_dead{service=~".*", queue="intake"})') == [({"queue": "intake"}, 3)]


def make_authority(directory: Path) -> None:
    """Creates ca.pem and ca.key."""
    made = run(
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
        "-subj", "/CN=test", "-keyout", directory / "ca.key", "-out", directory / "ca.pem",
    )
    assert made.returncode == 0, made.stderr


def make_certificate(directory: Path, name: str, dns: str) -> tuple[Path, Path]:
    certificate, key, request = (directory / f"{name}{suffix}.pem" for suffix in ("", "-key", "-request"))
    (directory / f"{name}.ext").write_text(f"subjectAltName=DNS:{dns}\n")
    for command in (
        ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}",
         "-keyout", key, "-out", request],
        ["x509", "-req", "-in", request, "-CA", directory / "ca.pem", "-CAkey", directory / "ca.key", "-CAcreateserial", "-days", "2",
         "-extfile", directory / f"{name}.ext", "-out", certificate],
    ):
        made = run("openssl", *command)
        assert made.returncode == 0, made.stderr
    return certificate, key


def test_a_real_prometheus_scrapes_over_tls_only_an_instance_with_its_services_certificate(tmp_path: Path) -> None:
    """One instance presents verifier's certificate, the other one that of signer: only the first is scraped."""
    make_authority(tmp_path)
    certificate, key = make_certificate(tmp_path, "client", "prometheus")
    (tmp_path / "certificate.pem").write_bytes(certificate.read_bytes())
    (tmp_path / "key.pem").write_bytes(key.read_bytes())

    def context(name: str) -> ssl.SSLContext:
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        made.load_cert_chain(*make_certificate(tmp_path, f"server-{name}", name))
        made.load_verify_locations(tmp_path / "ca.pem")
        made.verify_mode = ssl.CERT_REQUIRED
        return made

    text = instance_text(dead=0, ends=time.time() + 90 * 86_400)
    with (
        exporter(text, context("verifier")) as right,
        exporter(text, context("signer")) as wrong,
        exporter(BALANCER_TEXT) as balancer,
        prometheus(tmp_path, "prometheus-tls.yml", {"verifier": [right, wrong], "balancer": [balancer]}, tls=tmp_path) as server,
    ):
        def scraped() -> None:
            assert server.targets() == {
                ("attribution", "verifier", f"127.0.0.1:{right}", "up"), ("attribution", "verifier", f"127.0.0.1:{wrong}", "down"),
                ("balancer", "balancer", f"127.0.0.1:{balancer}", "up"),
            }
            [refused] = [target["lastError"] for target in server.ask("targets")["activeTargets"] if target["health"] == "down"]
            assert "certificate is valid for signer, not verifier" in refused

        eventually(scraped)
