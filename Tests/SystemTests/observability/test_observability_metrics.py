"""Metrics of running services: both text formats, conventions of names, exemplars, and a real Prometheus that scrapes them."""

from __future__ import annotations

import http.client
import pathlib
import re
import secrets
import subprocess
import time

import pytest
import yaml
from prometheus_client import parser
from prometheus_client.openmetrics import parser as openmetrics

from SystemTests.faults.process import TOKEN, Service
from SystemTests.faults.system import ROOT
from SystemTests.push.receiver import Receiver
from SystemTests.push.system import SKADNETWORK, PushSystem
from SystemTests.support.prometheus_process import PROMETHEUS, eventually, prometheus

from .trace_collector import Collector

OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
# The header that Prometheus sends.
ACCEPT = "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"


@pytest.fixture(scope="module")
def collector():
    with Collector() as running:
        yield running


@pytest.fixture(scope="module")
def system(tmp_path_factory, collector):
    running = PushSystem(tmp_path_factory.mktemp("metrics"), **collector.variables)
    running.ingest.environment |= collector.variables
    running.signer = running.service("signer", **collector.variables)
    with running:
        yield running


def scrape(service: Service, accept: str = "") -> tuple[str, str]:
    """The content type and the text."""
    connection = http.client.HTTPConnection(service.host, service.port, timeout=10)
    try:
        connection.request("GET", "/metrics", headers={"Accept": accept} if accept else {})
        answer = connection.getresponse()
        assert answer.status == 200
        return answer.getheader("Content-Type"), answer.read().decode()
    finally:
        connection.close()


def post(service: Service, path: str, body: bytes, port: int | None = None, **headers: str) -> int:
    connection = http.client.HTTPConnection(service.host, port or service.public_port, timeout=10)
    try:
        connection.request("POST", path, body, {"Content-Type": "application/json", **headers})
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


def work(system: PushSystem, header: str) -> None:
    """One postback with the caller's `traceparent`, which is pushed."""
    with Receiver() as receiver:
        name = f"m{secrets.token_hex(4)}"
        receiver.secrets[f"/{name}"] = system.subscribe(name, receiver.url(f"/{name}"), [SKADNETWORK], start="now")
        postback = system.maker.postback()
        assert post(system.ingest, postback.path, postback.body, traceparent=header) == 200
        receiver.wait(f"/{name}", 1)
        system.wait_until_backlog_ends(name)


def test_both_formats_have_the_same_values_and_follow_conventions(system):
    work(system, f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01")
    for service in (system.ingest, system.verifier, system.signer):
        # A metric may have its first value between the two answers.
        for _ in range(5):
            kind, text = scrape(service)
            assert kind == "text/plain; version=0.0.4; charset=utf-8"
            plain = {family.name: family for family in parser.text_string_to_metric_families(text)}
            kind, text_with_exemplars = scrape(service, ACCEPT)
            assert kind == OPEN_METRICS
            # The parser is strict: names, order, numbers, the end.
            full = {family.name: family for family in openmetrics.text_string_to_metric_families(text_with_exemplars)}
            if set(plain) == set(full):
                break
        assert set(plain) == set(full)
        for name, family in full.items():
            assert {sample.name for sample in family.samples} == {sample.name for sample in plain[name].samples}
            assert family.documentation
            # Base units: nothing is in milliseconds, minutes or megabytes.
            assert not re.search(r"_(ms|milliseconds?|minutes?|hours?|kb|mb|kilobytes|megabytes|percent)(_|$)", name), name
            assert name.startswith(("attribution_", "process_"))
        # Prometheus' own check of names.
        checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, timeout=60, check=False)
        assert checked.returncode == 0, checked.stdout + checked.stderr


def test_a_histogram_has_an_exemplar_with_the_trace(system, collector):
    trace = secrets.token_hex(16)
    work(system, f"00-{trace}-{secrets.token_hex(8)}-01")
    found = {}
    for service in (system.ingest, system.verifier):
        for family in openmetrics.text_string_to_metric_families(scrape(service, ACCEPT)[1]):
            for sample in family.samples:
                if sample.exemplar and sample.exemplar.labels["trace_id"] == trace:
                    assert sample.name.endswith("_bucket") and sample.exemplar.value <= float(sample.labels["le"])
                    assert abs(float(sample.exemplar.timestamp) - time.time()) < 60
                    found[family.name] = sample.exemplar.labels["span_id"]
    assert set(found) == {"attribution_public_duration_seconds", "attribution_queue_wait_seconds", "attribution_queue_process_seconds",
                          "attribution_push_request_duration_seconds", "attribution_push_delay_seconds"}
    # Each exemplar is an exported span.
    collector.wait(lambda all: set(found.values()) <= {span.id for span in all})
    assert "trace_id" not in scrape(system.ingest)[1]


def test_requests_of_strangers_create_no_new_series(system):
    def series() -> set[str]:
        return {line.rsplit(" ", 1)[0] for service in (system.ingest, system.verifier)
                for line in scrape(service)[1].splitlines() if not line.startswith("#")}

    def attack(number_of_round: int) -> None:
        for number in range(20):
            word = f"x{number_of_round}-{number}-{secrets.token_hex(4)}"
            for path in (f"/{word}", f"/v1/postbacks/{word}", f"/v1/app-store/notifications/{word}", f"/v1/adservices/tokens/{word}",
                         f"/v1/sessions/{word}/att-status"):
                post(system.ingest, path, b'{"version":"%s"}' % word.encode(), **{"X-Request-Id": word, "User-Agent": word})
            for path, body in ((word, b"{}"), ("VerifySKAdNetworkPostback", b'{"postback":{"version":"%s"}}' % word.encode())):
                post(system.verifier, f"/attribution.verifier.v1.VerifierService/{path}", body, port=system.verifier.port,
                     Authorization=f"Bearer {TOKEN}")

    attack(1)
    before = series()
    attack(2)
    system.wait_until_worked()
    after = series()
    assert not {one for one in after if re.search(r"x[12]-\d+-", one)}
    # Series of subscriptions and of Redis' commands appear with their first use; they do not matter here.
    new = {one for one in after - before if not one.startswith(("attribution_feed_", "attribution_store_", "attribution_trace_"))}
    assert len(new) < 20, new


def test_an_accepted_delivery_is_counted_once(system):
    name = 'attribution_queue_enqueued_total{queue="intake"}'

    def accepted() -> list[float]:
        return [float(line.rsplit(" ", 1)[1]) for service in (system.ingest, system.verifier)
                for line in scrape(service)[1].splitlines() if line.startswith(name)]

    before = accepted()
    postback = system.maker.postback()
    for _ in range(3):
        assert post(system.ingest, postback.path, postback.body) == 200
    # Ingest accepts it, verifier only works it, and the repeats are duplicates.
    assert accepted() == [before[0] + 1, before[1]]


def rules_that_fire_soon(folder: pathlib.Path) -> pathlib.Path:
    """The shipped rules, with a `for` of a second."""
    rules = yaml.safe_load((PROMETHEUS / "alerts.yml").read_text())
    for group in rules["groups"]:
        for rule in group["rules"]:
            if "for" in rule:
                rule["for"] = "1s"
    path = folder / "alerts.yml"
    path.write_text(yaml.safe_dump(rules))
    return path


def test_a_real_prometheus_scrapes_the_services_and_an_alert_fires_and_ends(system, tmp_path):
    trace = secrets.token_hex(16)
    work(system, f"00-{trace}-{secrets.token_hex(8)}-01")
    ports = {"ingest": [system.ingest.port], "verifier": [system.verifier.port], "signer": [system.signer.port]}
    with prometheus(tmp_path, "prometheus.yml", ports, rules=rules_that_fire_soon(tmp_path)) as server:
        def scraped() -> None:
            assert {(service, health) for _, service, _, health in server.targets()} == {(service, "up") for service in ports}
            rules = [rule for group in server.ask("rules")["groups"] for rule in group["rules"]]
            assert len(rules) > 40 and {rule["health"] for rule in rules} == {"ok"}

        eventually(scraped)
        # The histogram has the exemplar of a traced request, so it was scraped as OpenMetrics.
        now = time.time()

        def exemplar() -> None:
            found = server.ask("query_exemplars", query="attribution_public_duration_seconds_bucket", start=str(now - 600), end=str(now + 60))
            assert trace in {item["labels"]["trace_id"] for series in found for item in series["exemplars"]}

        eventually(exemplar)

        def firing() -> dict[str, dict]:
            return {alert["labels"]["alertname"] + ":" + alert["labels"].get("service", ""): alert
                    for alert in server.ask("alerts")["alerts"] if alert["state"] == "firing"}

        # Two services and the balancer are missing in this partial system, and nothing else is wrong.
        eventually(lambda: assert_equal(set(firing()), {
            "BalancerDown:", "ServiceMissing:asa-token-broker", "ServiceMissing:notification-recovery"}))
        system.redis.is_held = True
        system.redis.process.kill()
        system.redis.process.wait()
        try:
            found = eventually(lambda: {name: firing()[name] for name in ("StoreAway:ingest", "StoreAway:verifier")}, 60)
            alert = found["StoreAway:verifier"]
            assert alert["labels"]["severity"] == "page" and alert["labels"]["instance"] == f"127.0.0.1:{system.verifier.port}"
            page = ROOT / alert["annotations"]["runbook_url"]
            assert page.read_text().startswith("# StoreAway\n")
        finally:
            system.redis.is_held = False
        eventually(lambda: assert_equal({name for name in firing() if name.startswith("StoreAway")}, set()), 60)


def assert_equal(found: object, expected: object) -> None:
    assert found == expected, (found, expected)
