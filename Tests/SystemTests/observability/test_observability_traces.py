"""Traces: what services export, read with OpenTelemetry's own protobuf definitions."""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import re
import secrets
import time

import pytest

from SystemTests.faults.process import TOKEN
from SystemTests.push.receiver import Receiver
from SystemTests.push.system import SKADNETWORK, PushSystem
from SystemTests.support.signer_process import make_key

from .trace_collector import Collector, Span
from .trace_steps import SECRET, SIGNER, followed_traces, parent

# By OpenTelemetry's semantic conventions, and our own names under `attribution.`.
ATTRIBUTES = {
    "http.request.method", "http.route", "http.response.status_code", "http.request.body.size", "network.protocol.version", "error.type",
    "server.address", "server.port", "rpc.system.name", "rpc.method", "rpc.response.status_code", "messaging.system",
    "messaging.operation.name", "messaging.operation.type", "messaging.destination.name", "messaging.destination.partition.id",
    "messaging.destination.subscription.name", "messaging.message.id", "messaging.message.body.size", "cloudevents.event_type",
    "attribution.caller", "attribution.request_id", "attribution.kind", "attribution.attempt", "attribution.outcome",
    "attribution.duplicate"}
# A sender may use anything as the id of its request, also the identifier of a device.
GIVEN_ID = "6D92078A-8246-4BA4-AE5B-76104861E7DC"


@pytest.fixture(scope="module")
def collector():
    with Collector() as running:
        yield running


@pytest.fixture(scope="module")
def system(tmp_path_factory, collector):
    """Ingest, verifier and signer that record traces that their callers record, and no others."""
    folder = tmp_path_factory.mktemp("traces")
    key = make_key(tmp_path_factory.mktemp("keys") / "network.pem")
    token = folder / "service-token"
    token.touch(0o600)
    token.write_text(TOKEN)
    variables = {**collector.variables, "OTEL_TRACES_SAMPLER": "parentbased_always_off", "ATTRIBUTION_SERVICE_TOKEN_FILE": str(token)}
    networks = f"adNetworks: [ {{ id: example123.skadnetwork, keys: [ {{ id: one, path: {key}, state: active }} ] }} ]\n"
    running = TracedSystem(folder, networks, variables)
    with running:
        yield running


class TracedSystem(PushSystem):
    """A push system whose services have `variables`, with a signer that ingest calls."""

    def __init__(self, folder, networks: str, variables: dict[str, str]):
        super().__init__(folder, **variables)
        configuration = folder / "configuration.yaml"
        configuration.write_text(configuration.read_text() + networks)
        self.signer = self.service("signer", **variables)
        self.ingest.environment |= {**variables, "ATTRIBUTION_SIGNER_URL": f"http://127.0.0.1:{self.signer.port}"}

    def ask(self, port: int, path: str, body: bytes, **headers: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            connection.request("POST", path, body, {
                "Content-Type": "application/json", **{name.replace("_", "-"): text for name, text in headers.items()}})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def public(self, path: str, body: bytes, **headers: str) -> tuple[int, bytes]:
        return self.ask(self.ingest.public_port, path, body, **headers)


def assert_one_tree(spans: list[Span], root: str) -> None:
    """Every span is below the caller's span, directly or through others; none begins before its parent."""
    by_id = {span.id: span for span in spans}
    assert len(by_id) == len(spans)
    for span in spans:
        assert span.start <= span.end
        at = span
        for _ in range(len(spans) + 1):
            if at.parent == root:
                break
            assert at.parent in by_id, f"{at.name} has a parent that nobody told of"
            # The processes have the same clock here.
            assert by_id[at.parent].start <= at.start
            at = by_id[at.parent]
        assert at.parent == root, "a circle"


def test_one_postback_is_one_trace_from_the_request_to_the_push(system, collector):
    header, trace = parent()
    with Receiver() as receiver:
        path = f"/traced?key={SECRET}"
        receiver.secrets[path] = system.subscribe("traced", receiver.url(path), [SKADNETWORK])
        postback = system.maker.postback()
        assert system.public(postback.path, postback.body, traceparent=header)[0] == 200
        pushed = receiver.wait(path, 1)[0]
        collector.wait(lambda all: sum(span.trace == trace for span in all) >= 4)
        spans = collector.trace(trace)
    assert_one_tree(spans, header.split("-")[2])
    named = {span.name: span for span in spans}
    assert {(span.service, span.kind) for span in spans} == {
        ("ingest", "server"), ("ingest", "producer"), ("verifier", "consumer"), ("verifier", "client")}, named
    server, send, process, push = (next(span for span in spans if span.kind == kind)
                                   for kind in ("server", "producer", "consumer", "client"))
    assert (send.parent, process.parent, push.parent) == (server.id, send.id, process.id)
    assert server.attributes["http.response.status_code"] == 200 and server.attributes["http.request.method"] == "POST"
    assert server.name == f"POST {server.attributes['http.route']}"
    assert (send.name, process.name) == ("send intake", "process intake")
    assert send.attributes["messaging.message.id"] == process.attributes["messaging.message.id"]
    assert process.attributes["attribution.outcome"] == "verified" and push.attributes["http.response.status_code"] == 200
    assert push.attributes["messaging.destination.subscription.name"] == "traced"
    # The receiver of the event continues the trace.
    assert pushed.headers["traceparent"] == f"00-{trace}-{push.id}-01"
    assert json.loads(pushed.body)["data"]["traceparent"] == f"00-{trace}-{process.id}-01"


def test_a_trace_that_the_caller_does_not_sample_is_not_recorded(system, collector):
    header, trace = parent(sampled=False)
    followed, marker = parent()
    with Receiver() as receiver:
        receiver.secrets["/unsampled"] = system.subscribe("unsampled", receiver.url("/unsampled"), [SKADNETWORK], start="now")
        postback = system.maker.postback()
        assert system.public(postback.path, postback.body, traceparent=header)[0] == 200
        without = system.maker.postback()
        assert system.public(without.path, without.body)[0] == 200
        pushed = receiver.wait("/unsampled", 2)
        assert all("traceparent" not in request.headers for request in pushed)
        # The trace context is passed on, for later services that record it.
        assert any(json.loads(request.body)["data"]["traceparent"].startswith(f"00-{trace}-") for request in pushed)
        # Later recorded spans have arrived, so these would have arrived too.
        last = system.maker.postback()
        assert system.public(last.path, last.body, traceparent=followed)[0] == 200
        collector.wait(lambda all: any(span.trace == marker and span.name == "POST" for span in all))
    assert collector.trace(trace) == [] and {span.trace for span in collector.spans} <= followed_traces


def test_a_call_of_another_service_is_part_of_the_trace(system, collector):
    kept = system.signer.call("signer.v1.SignerService", "SignSKAdNetworkWebImpression", {
        "version": "4.0", "adNetworkId": "example123.skadnetwork", "sourceIdentifier": 5239, "itunesItemId": 525463029, "deferred": True})
    header, trace = parent()
    body = {"source_domain": "example.com", "source_engagement_type": "click_to_App_Store", "source_nonce": kept["attributionSourceNonce"],
            "version": "4.0"}
    assert (
        system.public("/.well-known/skadnetwork/get-signed-payload", json.dumps(body).encode(), traceparent=header, X_Request_Id=GIVEN_ID)[0] == 200
    )
    collector.wait(lambda all: sum(span.trace == trace for span in all) >= 3)
    spans = collector.trace(trace)
    assert_one_tree(spans, header.split("-")[2])
    public, call, answer = (next(span for span in spans if (span.service, span.kind) == pair)
                            for pair in (("ingest", "server"), ("ingest", "client"), ("signer", "server")))
    assert (call.parent, answer.parent) == (public.id, call.id)
    assert call.name == answer.name == f"{SIGNER}/SignDeferredSKAdNetworkWebImpression" == answer.attributes["rpc.method"]
    assert answer.attributes["rpc.system.name"] == "connectrpc" and answer.attributes["attribution.caller"] == "internal"
    assert len(spans) == 3


def test_a_token_is_one_trace_including_the_call_to_apple(tmp_path):
    with Collector() as collector, Receiver() as receiver:
        variables = {**collector.variables, "OTEL_TRACES_SAMPLER": "parentbased_always_off"}
        running = PushSystem(tmp_path / "tokens", **variables)
        configuration = running.folder / "configuration.yaml"
        configuration.write_text(configuration.read_text() + "adServices: { firstCallDelay: 0s }\n")
        broker = running.service("asa-token-broker", **variables, **running.start_simulator())
        running.ingest.environment |= variables
        with running:
            running.wait_until_ready(broker)
            receiver.secrets["/tokens"] = running.subscribe("tokens", receiver.url("/tokens"), ["attribution.adservices.resolved.v1"])
            header, trace = parent()
            token = base64.b64encode(secrets.token_bytes(96)).decode()
            body = json.dumps({"token": token, "bundleId": "com.example.app", "attStatus": 3,
                               "requestedAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())})
            connection = http.client.HTTPConnection("127.0.0.1", running.ingest.public_port, timeout=30)
            connection.request("POST", "/v1/adservices/tokens", body, {"Content-Type": "application/json", "traceparent": header})
            answer = connection.getresponse()
            assert answer.status in (200, 202), answer.read()
            connection.close()
            receiver.wait("/tokens", 1)
            collector.wait(lambda all: any(span.trace == trace and span.kind == "client" and span.service == "verifier" for span in all)
                           and any(span.trace == trace and span.kind == "consumer" for span in all))
            spans = collector.trace(trace)
    assert_one_tree(spans, header.split("-")[2])
    apple = next(span for span in spans if (span.service, span.kind) == ("asa-token-broker", "client"))
    work = next(span for span in spans if span.name == "process tokens")
    assert apple.parent == work.id and apple.name == "POST" and apple.attributes["http.response.status_code"] == 200
    assert apple.attributes["server.address"] == "127.0.0.1"
    text = b"".join(collector.bodies).decode()
    assert token not in text and hashlib.sha256(token.encode()).hexdigest() not in text


def test_the_span_of_a_failed_call_has_the_error(system, collector):
    header, trace = parent()
    status, _ = system.ask(system.signer.port, f"/{SIGNER}/SignSKAdNetworkImpression", b'{"version":"9"}', traceparent=header,
                           Authorization=f"Bearer {TOKEN}")
    assert status == 400
    collector.wait(lambda all: any(span.trace == trace for span in all))
    [span] = collector.trace(trace)
    assert span.attributes["rpc.response.status_code"] == "invalid_argument"
    # A caller's error is not an error of the server.
    assert not span.is_error and "error.type" not in span.attributes


def test_span_names_are_documented_and_contain_no_secret(system, collector):
    # The same for a rejected postback, and for one at an ad network's own URL with data that a device would send about itself.
    device = "AEBE52E7-03EE-455A-B3C4-E57283966239"
    for path in ("/v1/postbacks/example999.skadnetwork", "/v1/postbacks"):
        header, trace = parent()
        forged = json.loads(system.maker.postback().body) | {"idfa": device}
        assert system.public(path, json.dumps(forged).encode(), traceparent=header, X_Forwarded_For="203.0.113.7", X_Request_Id=device,
                             User_Agent=device, Cookie=SECRET)[0] == 200
        collector.wait(lambda all, trace=trace: any(span.trace == trace and span.kind == "consumer" for span in all))
    assert {name for span in collector.spans for name in span.attributes} <= ATTRIBUTES
    text = b"".join(collector.bodies).decode()
    for word in (SECRET, GIVEN_ID, device, device.lower(), TOKEN, "203.0.113.7", "example999", "transaction"):
        assert word not in text, word
    assert all(re.fullmatch(r"[A-Z]+ /[a-zA-Z0-9./{}-]+", span.name) for span in collector.spans
               if span.kind == "server" and span.service == "ingest")
    about = collector.spans[-1].resource
    assert about["service.namespace"] == "apple-attribution" and about["service.version"] and about["service.instance.id"]


def test_requests_of_strangers_are_sampled_within_the_limit(tmp_path, system):
    with Collector() as collector:
        limited = system.service("ingest", **collector.variables, OTEL_TRACES_SAMPLER="parentbased_always_off")
        configuration = tmp_path / "configuration.yaml"
        configuration.write_text((system.folder / "configuration.yaml").read_text() + "traces: { publicParents: 0 }\n")
        limited.environment |= {"ATTRIBUTION_CONFIG": str(configuration)}
        limited.start()
        system.wait_until_ready(limited)
        header, trace = parent()
        postback = system.maker.postback()
        assert system.ask(limited.public_port, postback.path, postback.body, traceparent=header)[0] == 200
        limited.end()
        assert collector.trace(trace) == []
