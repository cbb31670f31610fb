"""An unmodified Connect client, with the JSON codec, over HTTP/1.1 and HTTP/2 in clear text."""

import concurrent.futures
import importlib
import subprocess
import sys
import time
import uuid

import pytest
from connectrpc.client import ConnectClientSync
from connectrpc.code import Code
from connectrpc.compat import google_protobuf_json_codec
from connectrpc.compression.gzip import GzipCompression
from connectrpc.errors import ConnectError
from connectrpc.method import IdempotencyLevel, MethodInfo, StreamType
from pyqwest import HTTPVersion, SyncClient, SyncHTTPTransport

from SystemTests.support.running_system import ROOT

CONTRACT = ROOT / "Shared" / "AttributionProtocol" / "Contract"


@pytest.fixture(scope="module")
def messages(tmp_path_factory):
    """The messages of the contract, generated from the .proto files by protobuf's own compiler."""
    out = tmp_path_factory.mktemp("messages")
    protos = [str(path.relative_to(CONTRACT)) for path in CONTRACT.rglob("*.proto")]
    subprocess.run([sys.executable, "-m", "grpc_tools.protoc", f"-I{CONTRACT}", f"--python_out={out}", *protos], check=True)
    sys.path.insert(0, str(out))
    return lambda service: importlib.import_module(f"attribution.{service}.v1.{service}_pb2")


def info(module, service, name, get=False):
    return MethodInfo(name=name, service_name=f"{module.DESCRIPTOR.package}.{service}", input=getattr(module, name + "Request"),
                      output=getattr(module, name + "Response"), stream_type=StreamType.UNARY,
                      idempotency_level=IdempotencyLevel.NO_SIDE_EFFECTS if get else IdempotencyLevel.UNKNOWN)


@pytest.fixture(params=[(version, gzip) for version in ("HTTP1", "HTTP2") for gzip in (True, False)],
                ids=lambda param: f"{param[0]}{'-gzip' if param[1] else ''}")
def connect(request):
    """Clients over one version of HTTP, with or without compressed requests."""
    version, gzip = request.param
    http = SyncClient(SyncHTTPTransport(http_version=getattr(HTTPVersion, version)))

    def client(system, service, **options):
        return ConnectClientSync(
            system.url(service), codec=google_protobuf_json_codec(), http_client=http,
            send_compression=GzipCompression() if gzip else None, accept_compression=None if gzip else [], **options)

    return client


def bearer(system, **more):
    return {"authorization": f"Bearer {system.token}", **more}


def sign_request(module, **changes):
    values = {"version": "4.0", "ad_network_id": "example123.skadnetwork", "source_identifier": 5239, "itunes_item_id": 525463029,
              "source_app_id": 1234567891, "fidelity_type": 1, **changes}
    return module.SignSKAdNetworkImpressionRequest(**values)


def test_a_connect_clients_call_is_answered(system, messages, connect):
    signer = messages("signer")
    answer = connect(system, "Signer").execute_unary(
        request=sign_request(signer), method=info(signer, "SignerService", "SignSKAdNetworkImpression"), headers=bearer(system))
    assert answer.signature and answer.key_id == "dev-1" and answer.itunes_item_id == 525463029
    assert abs(answer.timestamp / 1000 - time.time()) < 600


def test_a_large_batch_is_sent_and_answered(system, messages, connect):
    signer = messages("signer")
    batch = signer.SignImpressionsRequest(items=[signer.ImpressionItem(skadnetwork=sign_request(
        signer, nonce=str(uuid.uuid4()))) for _ in range(200)])  # equal items would exceed the limit of gzip's ratio
    answer = connect(system, "Signer").execute_unary(
        request=batch, method=info(signer, "SignerService", "SignImpressions"), headers=bearer(system))
    assert len(answer.results) == 200 and all(result.skadnetwork.signature for result in answer.results)


def test_a_method_that_only_reads_can_be_called_by_get(system, messages, connect):
    signer = messages("signer")
    answer = connect(system, "Signer").execute_unary(
        request=signer.ListSigningKeysRequest(ad_network_id="example123.skadnetwork"),
        method=info(signer, "SignerService", "ListSigningKeys", get=True), headers=bearer(system), use_get=True)
    assert [key.key_id for key in answer.keys] == ["dev-1"]


def test_an_error_has_its_code_message_and_details(system, messages, connect):
    signer = messages("signer")
    with pytest.raises(ConnectError) as caught:
        connect(system, "Signer").execute_unary(
            request=sign_request(signer, fidelity_type=7), method=info(signer, "SignerService", "SignSKAdNetworkImpression"),
            headers=bearer(system))
    assert caught.value.code == Code.INVALID_ARGUMENT and "fidelityType" in caught.value.message
    assert caught.value.details, "the field's place is a detail"
    with pytest.raises(ConnectError) as caught:
        connect(system, "Signer").execute_unary(
            request=sign_request(signer, ad_network_id="nobody99.skadnetwork"),
            method=info(signer, "SignerService", "SignSKAdNetworkImpression"), headers=bearer(system))
    assert caught.value.code == Code.NOT_FOUND


def test_a_caller_without_permission_is_refused(system, messages, connect):
    signer = messages("signer")
    with pytest.raises(ConnectError) as caught:
        connect(system, "Signer").execute_unary(
            request=signer.ListSigningKeysRequest(), method=info(signer, "SignerService", "ListSigningKeys"),
            headers={"authorization": "Bearer wrong"})
    assert caught.value.code == Code.UNAUTHENTICATED


def test_a_method_that_does_not_exist_is_unimplemented(system, messages, connect):
    recovery = messages("recovery")
    known = info(recovery, "NotificationRecoveryService", "ListGaps")
    absent = MethodInfo(name="NoSuchMethod", service_name=known.service_name, input=known.input, output=known.output,
                        stream_type=StreamType.UNARY, idempotency_level=IdempotencyLevel.UNKNOWN)
    with pytest.raises(ConnectError) as caught:
        connect(system, "Recovery").execute_unary(
            request=recovery.ListGapsRequest(bundle_id="com.example.app"), method=absent, headers=bearer(system))
    assert caught.value.code == Code.UNIMPLEMENTED


def test_the_server_ends_a_call_at_its_deadline_and_a_wait_before_it(system, messages, connect):
    events = messages("events")
    name = f"c-{uuid.uuid4().hex[:8]}"
    client = connect(system, "Events")
    client.execute_unary(request=events.CreateSubscriptionRequest(name=name, start="now"),
                         method=info(events, "EventsService", "CreateSubscription"), headers=bearer(system))
    # Less than the feed needs to read every shard and answer, so the server stops by itself.
    answer = system.rpc("Events", "PullEvents", {"subscription": name, "waitMilliseconds": 20000},
                        headers={"Connect-Timeout-Ms": "1"})
    assert answer.status == 504 and answer.json["code"] == "deadline_exceeded", answer
    assert system.rpc("Events", "PullEvents", {"subscription": name}, headers={"Connect-Timeout-Ms": "x"}).status == 400
    pulled = client.execute_unary(
        request=events.PullEventsRequest(subscription=name, wait_milliseconds=20000),
        method=info(events, "EventsService", "PullEvents"), headers=bearer(system), timeout_ms=1500)
    assert len(pulled.events) == 0, "waiting ends inside the caller's time"


def test_each_of_many_concurrent_calls_on_few_connections_gets_its_own_answer(system, messages, connect):
    signer = messages("signer")
    client = connect(system, "Signer")
    method = info(signer, "SignerService", "SignSKAdNetworkImpression")

    def one(index):
        return client.execute_unary(request=sign_request(signer, source_identifier=1000 + index), method=method,
                                    headers=bearer(system)).source_identifier

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        assert list(pool.map(one, range(100))) == [1000 + index for index in range(100)]
