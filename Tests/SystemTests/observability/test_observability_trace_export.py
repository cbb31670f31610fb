"""Export of traces: settings, collectors that hang or refuse, and the spans that are left when a process ends."""

from __future__ import annotations

import http.client
import time

import pytest

from SystemTests.support.bare_service import BareService

from .trace_collector import Collector
from .trace_steps import SECRET, call, parent, signer


@pytest.fixture(scope="module")
def collector():
    with Collector() as running:
        yield running


def metrics(service: BareService, accept: str = "") -> str:
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=10)
    try:
        connection.request("GET", "/metrics", headers={"Accept": accept} if accept else {})
        return connection.getresponse().read().decode()
    finally:
        connection.close()


def metric(service: BareService, name: str) -> float:
    return next(float(line.rsplit(" ", 1)[1]) for line in metrics(service).splitlines() if line.startswith(name + " "))


def wait_for_metric(service: BareService, name: str, least: float, seconds: float = 30) -> None:
    until = time.monotonic() + seconds
    while metric(service, name) < least:
        assert time.monotonic() < until, f"{name} is {metric(service, name)}"
        time.sleep(0.05)


DROPPED = 'attribution_trace_spans_dropped_total{cause="%s"}'


def test_exports_have_the_configured_headers_and_resource_attributes(tmp_path):
    secret = tmp_path / "header"
    secret.touch(0o600)
    secret.write_text(f"Authorization: Bearer {SECRET}\n")
    with Collector() as collector, signer(
            tmp_path, f"traces: {{ endpoint: '{collector.url}', sampling: 1, interval: 50ms, headerFile: {secret} }}\n",
            OTEL_RESOURCE_ATTRIBUTES="deployment.environment.name=tests,host.name=a%20b", OTEL_EXPORTER_OTLP_HEADERS="x-tenant=one") as service:
        service.wait_for("/readyz", 200)
        assert call(service) == 200
        [span] = collector.wait(bool)
        assert span.parent == "" and span.resource["deployment.environment.name"] == "tests" and span.resource["host.name"] == "a b"
        assert collector.headers[0]["authorization"] == f"Bearer {SECRET}" and collector.headers[0]["x-tenant"] == "one"
        assert SECRET not in service.log()


def test_remaining_spans_are_exported_when_the_process_ends(tmp_path):
    with Collector() as collector:
        with signer(tmp_path, f"traces: {{ endpoint: '{collector.url}', sampling: 1, interval: 5m }}\n") as service:
            service.wait_for("/readyz", 200)
            for _ in range(3):
                assert call(service) == 200
            assert collector.exports == 0
        assert len(collector.wait(lambda all: len(all) == 3)) == 3


def test_a_collector_that_hangs_delays_no_call_and_dropped_spans_are_counted(tmp_path):
    with Collector(lambda: None) as collector, signer(
            tmp_path, f"traces: {{ endpoint: '{collector.url}', sampling: 1, interval: 50ms, queue: 5, batch: 2 }}\n") as service:
        service.wait_for("/readyz", 200)
        assert call(service) == 200
        collector.wait_for_exports(1)
        # One or two spans are under way and five are in the queue; the others are dropped.
        for _ in range(20):
            assert call(service) == 200
        assert metric(service, DROPPED % "queue_full") >= 14
        assert metric(service, "attribution_trace_spans_waiting") == 5
        service.process.terminate()
        assert service.process.wait(30) == 0


def test_spans_are_sent_again_when_the_collector_is_busy(tmp_path):
    answers = iter([503, 429, 200])
    with Collector(lambda: next(answers, 200)) as collector, signer(
            tmp_path, f"traces: {{ endpoint: '{collector.url}', sampling: 1, interval: 50ms }}\n") as service:
        service.wait_for("/readyz", 200)
        assert call(service) == 200
        collector.wait(lambda all: len(all) == 1)
        assert collector.exports == 3 and len(set(collector.bodies)) == 1
        wait_for_metric(service, "attribution_trace_spans_exported_total", 1)


def test_spans_that_the_collector_refuses_are_counted(tmp_path):
    answers = iter([400, (200, {"partialSuccess": {"rejectedSpans": "1", "errorMessage": "no"}})])
    with Collector(lambda: next(answers, 200)) as collector, signer(
            tmp_path, f"traces: {{ endpoint: '{collector.url}', sampling: 1, interval: 50ms }}\n") as service:
        service.wait_for("/readyz", 200)
        for count in (1, 2):
            assert call(service) == 200
            wait_for_metric(service, DROPPED % "refused", count)
        assert metric(service, "attribution_trace_spans_exported_total") == 0


@pytest.mark.parametrize("settings, variables, words", [
    ("traces: { endpoint: 'collector:4318' }", {}, "traces.endpoint: must be a URL"),
    ("traces: { endpoint: 'http://127.0.0.1:1', sampling: 2 }", {}, "traces.sampling: must be 0"),
    ("", {"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4317"}, "OTEL_EXPORTER_OTLP_ENDPOINT: must be a URL"),
    ("", {"OTEL_TRACES_SAMPLER": "jaeger_remote"}, "OTEL_TRACES_SAMPLER: must be"),
    ("", {"OTEL_TRACES_SAMPLER_ARG": "half"}, "OTEL_TRACES_SAMPLER_ARG: must be 0 to 1"),
    ("", {"OTEL_BSP_MAX_QUEUE_SIZE": "0"}, "OTEL_BSP_MAX_QUEUE_SIZE: must be 1"),
    ("traces: { endpoint: 'http://127.0.0.1:1', headerFile: absent }", {}, "traces.headerFile"),
])
def test_a_wrong_trace_setting_prevents_the_start_and_is_named(tmp_path, settings, variables, words):
    service = signer(tmp_path, settings + "\n", **variables)
    ended = service.command()
    assert ended.returncode == 78 and words in ended.stderr, ended.stderr


def test_without_a_collector_nothing_is_recorded(tmp_path):
    with signer(tmp_path) as service:
        service.wait_for("/readyz", 200)
        assert call(service, parent()[0]) == 200
        assert "attribution_trace_" not in metrics(service)
