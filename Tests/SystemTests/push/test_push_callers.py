"""Which callers may set a push endpoint."""

import hashlib
import http.client
import json
import uuid

import pytest

from SystemTests.support.bare_service import BareRedis, BareService

EVENTS = "attribution.events.v1.EventsService"
CLIENTS = """
clients:
  - { name: reader, tokenSHA256: "%s", allow: [%s] }
  - { name: pusher, tokenSHA256: "%s", allow: [%s] }
push: { allowsHTTP: true, allowedAddresses: [127.0.0.0/8] }
"""


def client(token: str, *methods: str) -> tuple[str, str]:
    return hashlib.sha256(token.encode()).hexdigest(), ", ".join(f"{EVENTS}/{method}" for method in methods)


def call(port: int, token: str, method: str, message: dict) -> tuple[int, dict]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("POST", f"/{EVENTS}/{method}", json.dumps(message),
                       {"Content-Type": "application/json", "Authorization": f"Bearer {token}", "Idempotency-Key": str(uuid.uuid4())})
    answer = connection.getresponse()
    found = answer.status, json.loads(answer.read())
    connection.close()
    return found


@pytest.fixture(scope="module")
def verifier(tmp_path_factory):
    folder = tmp_path_factory.mktemp("callers")
    configuration = CLIENTS % (*client("token-of-the-reader-0123456789", "CreateSubscription", "PullEvents", "GetSubscription"),
                               *client("token-of-the-pusher-0123456789", "CreateSubscription", "UpdateEndpoint"))
    with BareRedis(folder / "redis") as redis, \
            BareService(folder, "verifier", configuration, ATTRIBUTION_REDIS_URL=f"redis://127.0.0.1:{redis.port}/0") as service:
        service.wait_for("/readyz", 200)
        yield service


def test_a_caller_that_may_only_read_cannot_have_events_sent_elsewhere(verifier):
    token = "token-of-the-reader-0123456789"
    assert call(verifier.port, token, "CreateSubscription", {"name": "pulled"})[0] == 200
    push = {"url": "http://127.0.0.1:9/hook"}
    status, answer = call(verifier.port, token, "CreateSubscription", {"name": "pushed", "push": push})
    assert status == 403 and answer["code"] == "permission_denied" and answer["message"].startswith("push: ")
    assert call(verifier.port, token, "GetSubscription", {"name": "pushed"})[0] == 404
    assert call(verifier.port, token, "UpdateEndpoint", {"subscription": "pulled", "push": push})[0] == 403


def test_a_caller_that_may_change_endpoints_may_name_one(verifier):
    status, answer = call(verifier.port, "token-of-the-pusher-0123456789", "CreateSubscription",
                          {"name": "endpoint", "push": {"url": "http://127.0.0.1:9/hook"}})
    assert status == 200 and answer["secret"].startswith("whsec_")
