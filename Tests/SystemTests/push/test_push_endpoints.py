"""Endpoints of pushed subscriptions: secrets, failures, ends, limits, and addresses that are never connected to."""

import base64
import datetime
import json
import time

import pytest

from .receiver import Receiver
from .steps import QUICK, refused, subscribe
from .system import EVENTS, SKADNETWORK, PushSystem


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    with PushSystem(tmp_path_factory.mktemp("push"), QUICK) as running:
        yield running


def test_a_secret_is_replaced_without_a_request_that_fails(system):
    with Receiver() as receiver:
        path = subscribe(system, receiver, "rotated", types=[SKADNETWORK])
        first = receiver.secrets[path]
        system.postbacks(1)
        receiver.wait(path, 1)
        second = system.rpc("RotateEndpointSecret", subscription="rotated")["secret"]
        assert second.startswith("whsec_") and second != first
        time.sleep(2.5)
        system.postbacks(1)
        request = receiver.wait(path, 2)[-1]
        assert len(request.headers["webhook-signature"].split(" ")) == 2
        for secret in (first, second):
            Receiver.verify(secret, request)
        ended = system.rpc("RotateEndpointSecret", subscription="rotated", endOlder=True, makeNone=True)
        assert "secret" not in ended and len(ended["endpointStatus"]["secretsMadeAt"]) == 1
        receiver.secrets[path] = second
        time.sleep(2.5)
        system.postbacks(1)
        assert len(receiver.wait(path, 3)[-1].headers["webhook-signature"].split(" ")) == 1
        assert receiver.unverified == []


def test_refused_events_are_retried_and_retry_after_is_observed(system):
    seen: dict[str, list[float]] = {}

    def answer(request):
        times = seen.setdefault(request.id, [])
        times.append(time.time())
        return (503, {"Retry-After": "2"}) if len(times) == 1 else 204

    with Receiver(answer) as receiver:
        path = subscribe(system, receiver, "retried", types=[SKADNETWORK])
        system.postbacks(1)
        receiver.wait(path, 1)
        first, second = next(iter(seen.values()))
        assert second - first >= 1.9


def test_an_event_that_is_refused_for_too_long_is_dropped_and_reported(system):
    poison: list[str] = []

    def answer(request):
        if not poison:
            poison.append(request.id)
        return 400 if request.id == poison[0] else 200

    with Receiver(answer) as receiver:
        notices = subscribe(system, receiver, "told-undelivered", types=["attribution.feed.event.undelivered.v1"])
        path = subscribe(system, receiver, "poisoned", types=[SKADNETWORK])
        until = time.monotonic() + 20
        while not receiver.at(notices) and time.monotonic() < until:
            system.postbacks(2)
            time.sleep(0.5)
        event = json.loads(receiver.wait(notices, 1)[0].body)
        assert event["data"]["eventId"] == poison[0] and event["data"]["subscription"] == "poisoned"
        assert event["data"]["attempts"] > 3
        assert poison[0] not in receiver.ids(path)
        for name in ("poisoned", "told-undelivered"):
            system.rpc("DeleteSubscription", name=name)


def test_a_failing_endpoint_is_disabled_reported_enabled_and_replayed(system):
    broken = [True]
    with Receiver(lambda request: 500 if broken[0] and request.path == "/disabled" else 200) as receiver:
        notices = subscribe(system, receiver, "told-disabled", types=["attribution.feed.endpoint.disabled.v1"])
        path = subscribe(system, receiver, "disabled", types=[SKADNETWORK])
        before = time.time()
        ids = system.postbacks(5)
        found = system.wait_for_state("disabled", "disabled")
        assert "500" in found["endpointStatus"]["reason"] and found["backlog"] >= 5
        receiver.wait(notices, 1)
        notice_data = [json.loads(request.body)["data"] for request in receiver.at(notices)]
        assert [one["state"] for one in notice_data if one["subscription"] == "disabled"] == ["disabled"]
        ids += system.postbacks(3)
        broken[0] = False
        system.rpc("EnableEndpoint", subscription="disabled")
        receiver.wait(path, 8)
        assert set(receiver.ids(path)) == set(ids)
        # The event about the disabled endpoint is of another type, and is skipped later.
        system.wait_until_backlog_ends("disabled", seconds=100, left=1)
        # The replay sends all events again.
        count = len(receiver.at(path))
        replay = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(before))
        system.rpc("EnableEndpoint", subscription="disabled", replayFrom=replay)
        until = time.monotonic() + 20
        while not set(ids) <= set(receiver.ids(path)[count:]):
            assert time.monotonic() < until
            time.sleep(0.1)


def test_410_ends_an_endpoint_immediately(system):
    with Receiver(lambda request: 410 if request.path == "/gone" else 200) as receiver:
        notices = subscribe(system, receiver, "told-gone", types=["attribution.feed.endpoint.disabled.v1"])
        subscribe(system, receiver, "gone", types=[SKADNETWORK])
        system.postbacks(1)
        found = system.wait_for_state("gone", "gone")
        assert "410" in found["endpointStatus"]["reason"]
        assert json.loads(receiver.wait(notices, 1)[0].body)["data"]["state"] == "gone"
        count = len(receiver.refused)
        system.postbacks(3)
        time.sleep(1)
        assert len(receiver.refused) == count


def test_redirects_are_not_followed(system):
    with Receiver(lambda request: (307, {"Location": "/elsewhere"}) if request.path == "/redirected" else 200) as receiver:
        subscribe(system, receiver, "redirected", types=[SKADNETWORK])
        system.postbacks(1)
        until = time.monotonic() + 10
        while not receiver.refused:
            assert time.monotonic() < until
            time.sleep(0.05)
        time.sleep(0.5)
        assert receiver.at("/elsewhere") == []
        assert system.verifier.metric("attribution_push_requests_total") > 0
        system.rpc("DeleteSubscription", name="redirected")


def test_a_wrong_push_setting_is_refused_by_its_name(system):
    def creation(**push):
        return refused(system, "CreateSubscription", name="wrong", push=push)["message"] + json.dumps(
            refused(system, "CreateSubscription", name="wrong", push=push))

    assert "push.url" in creation()
    assert "push.url" in creation(url="ftp://example.com/")
    assert "push.url" in creation(url="http://10.0.0.1/")
    assert "push.url" in creation(url="https://[::ffff:192.168.0.1]/")
    assert "push.url" in creation(url="https://user:secret@example.com/")
    assert "push.url" in creation(url="https://2852039166/")
    assert "push.form" in creation(url="https://example.com/", form="xml")
    assert "push.maxPerSecond" in creation(url="https://example.com/", maxPerSecond=0)
    assert "push.maxConcurrent" in creation(url="https://example.com/", maxConcurrent=65)
    answer = refused(system, "CreateSubscription", name="wrong", types=["appstore.subscription.gap.v1"],
                     push={"url": "https://example.com/", "form": "original"})
    assert "types[0]" in json.dumps(answer)


def test_a_pushed_subscription_is_not_pulled_and_the_other_way_round(system):
    system.subscribe("only-pushed", "https://example.com/", start="now")
    assert "SUBSCRIPTION_IS_PUSHED" in json.dumps(refused(system, "PullEvents", subscription="only-pushed"))
    system.rpc("CreateSubscription", name="only-pulled", start="now")
    assert "SUBSCRIPTION_IS_PULLED" in json.dumps(refused(system, "EnableEndpoint", subscription="only-pulled"))
    for name in ("only-pushed", "only-pulled"):
        system.rpc("DeleteSubscription", name=name)


def test_an_endpoint_in_a_private_network_is_never_connected_to(tmp_path):
    """The address is checked after the name is resolved: localhost is a name."""
    with Receiver() as receiver, PushSystem(tmp_path, "timeout: 2s, allowedAddresses: [10.9.8.7], retryBase: 100ms, pauseCap: 200ms") as system:
        system.subscribe("inside", f"http://localhost:{receiver.port}/", types=[SKADNETWORK])
        system.postbacks(1)
        until = time.monotonic() + 10
        while "not allowed" not in system.status("inside")["endpointStatus"].get("lastError", ""):
            assert time.monotonic() < until, system.status("inside")
            time.sleep(0.1)
        assert receiver.accepted == [] and receiver.refused == []


def test_a_secret_is_returned_again_only_to_the_same_call(system):
    def create(key: str, url: str = "https://example.com/hook") -> tuple[int, dict]:
        return system.verifier.rpc(EVENTS, "CreateSubscription", {
            "name": "again", "start": "now", "push": {"url": url, "form": "binary"}}, key=key)

    status, first = create("one-call")
    assert status == 200 and len(base64.b64decode(first["secret"].removeprefix("whsec_"))) == 32
    assert create("one-call") == (200, first)
    status, again = create("another-call")
    assert status == 200 and "secret" not in again and again["subscription"]["name"] == "again"
    assert "SUBSCRIPTION_DIFFERS" in json.dumps(create("a-third-call", "https://example.com/other"))
    assert first["secret"] not in json.dumps(system.status("again")) + system.verifier.log()
    system.rpc("DeleteSubscription", name="again")


def test_a_410_of_the_former_server_does_not_end_the_new_one(system):
    def answer(request):
        if request.path == "/moved-old":
            attempts.append(request.id)
            time.sleep(1.5)
            return 410
        return 200

    attempts: list[str] = []
    with Receiver(answer) as receiver:
        notices = subscribe(system, receiver, "told-moved", types=["attribution.feed.endpoint.disabled.v1"])
        subscribe(system, receiver, "moved", path="/moved-old", types=[SKADNETWORK])
        receiver.secrets["/moved-new"] = receiver.secrets["/moved-old"]
        ids = system.postbacks(1)
        until = time.monotonic() + 20
        while not attempts:
            assert time.monotonic() < until
            time.sleep(0.02)
        system.rpc("UpdateEndpoint", subscription="moved", push={"url": receiver.url("/moved-new")})
        receiver.wait("/moved-new", 1)
        assert set(receiver.ids("/moved-new")) == set(ids) and receiver.unverified == []
        assert system.status("moved")["endpointStatus"]["state"] == "enabled"
        assert all(json.loads(request.body)["data"]["subscription"] != "moved" for request in receiver.at(notices))
        for name in ("moved", "told-moved"):
            system.rpc("DeleteSubscription", name=name)


def test_enabling_ends_a_retry_after_wait(system):
    attempts: list[str] = []

    def answer(request):
        attempts.append(request.id)
        return (503, {"Retry-After": "40000"}) if len(attempts) == 1 else 200

    with Receiver(answer) as receiver:
        path = subscribe(system, receiver, "silent", types=[SKADNETWORK])
        ids = system.postbacks(1)
        until = time.monotonic() + 20
        while "failingSince" not in system.status("silent")["endpointStatus"]:
            assert time.monotonic() < until
            time.sleep(0.1)
        assert receiver.at(path) == []
        asked_until = datetime.datetime.fromisoformat(system.status("silent")["endpointStatus"]["retryAt"])
        assert 39_900 < asked_until.timestamp() - time.time() <= 40_000
        answered = system.rpc("EnableEndpoint", subscription="silent")["subscription"]["endpointStatus"]
        assert answered["state"] == "enabled" and "failingSince" not in answered and "retryAt" not in answered
        receiver.wait(path, 1)
        assert receiver.ids(path) == ids
        system.rpc("DeleteSubscription", name="silent")


def test_limits_of_an_endpoint_can_be_removed(system):
    system.subscribe("bounded", "https://example.com/", start="now", maxPerSecond=5, maxConcurrent=3)
    cleared = system.rpc("UpdateEndpoint", subscription="bounded", clear=["maxPerSecond"])["subscription"]["push"]
    assert "maxPerSecond" not in cleared and cleared["maxConcurrent"] == 3
    cleared = system.rpc("UpdateEndpoint", subscription="bounded", push={"maxPerSecond": 7}, clear=["maxConcurrent"])["subscription"]["push"]
    assert cleared["maxPerSecond"] == 7 and cleared["maxConcurrent"] == 8
    for wrong, field in (({"clear": ["url"]}, "clear[0]"), ({"push": {"maxPerSecond": 1}, "clear": ["maxConcurrent", "maxPerSecond"]}, "clear[1]"),
                         ({}, "push")):
        assert field in json.dumps(refused(system, "UpdateEndpoint", subscription="bounded", **wrong))
    assert system.status("bounded")["push"]["maxPerSecond"] == 7
    system.rpc("DeleteSubscription", name="bounded")


def test_a_third_secret_is_refused_while_two_sign(system):
    first = system.subscribe("two-secrets", "https://example.com/", start="now")
    second = system.rpc("RotateEndpointSecret", subscription="two-secrets")["secret"]
    assert "ENDPOINT_SECRETS_EXHAUSTED" in json.dumps(refused(system, "RotateEndpointSecret", subscription="two-secrets"))
    assert len(system.status("two-secrets")["endpointStatus"]["secretsMadeAt"]) == 2
    third = system.rpc("RotateEndpointSecret", subscription="two-secrets", endOlder=True)
    assert len({first, second, third["secret"]}) == 3 and len(third["endpointStatus"]["secretsMadeAt"]) == 1
    system.rpc("DeleteSubscription", name="two-secrets")
