"""Subscriptions that are pushed: real executables, real receivers, signatures verified by `standardwebhooks`."""

import base64
import datetime
import hashlib
import json
import os
import random
import subprocess
import sys
import time

import pytest
from fault_system import ROOT, free_port
from push_receiver import Receiver
from push_system import EVENTS, NOTIFICATION, SKADNETWORK, PushSystem

# Apple's key, as it is published.
PUBLISHED = (
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEWdp8GPcGqmhgzEFj9Z2nSpQVddayaPe4FMzqM9wib1+aHaaIzoHoLN9zW4K8y4SPykE3YVK3sVqW6Af0lfx3gg==")
# What takes days takes seconds.
QUICK = "timeout: 2s, retryBase: 100ms, retryCap: 500ms, pauseCap: 500ms, retryFor: 3s, disableAfter: 4s"


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    with PushSystem(tmp_path_factory.mktemp("push"), QUICK) as running:
        yield running


def subscribe(system: PushSystem, receiver: Receiver, name: str, **more) -> str:
    path = more.pop("path", f"/{name}")
    more.setdefault("start", "now")
    receiver.secrets[path] = system.subscribe(name, receiver.url(path), **more)
    return path


def refused(system: PushSystem, method: str, **message) -> dict:
    status, answer = system.verifier.rpc(EVENTS, method, message)
    assert status >= 400, answer
    return answer


def test_a_genuine_postback_is_pushed_in_three_forms_and_verified(system):
    # Apple's own example, with Apple's own signature, is for the shipped keys: here one is made with the tests' key.
    with Receiver() as receiver:
        paths = {form: subscribe(system, receiver, f"form-{form}", types=[SKADNETWORK], form=form)
                 for form in ("structured", "binary", "original")}
        postback = system.maker.postback()
        system.post(postback, "application/json; charset=utf-8")
        taken = {form: receiver.wait(path, 1)[0] for form, path in paths.items()}
        assert receiver.unverified == []
        event = json.loads(taken["structured"].body)
        assert taken["structured"].headers["content-type"] == "application/cloudevents+json; charset=utf-8"
        assert event["specversion"] == "1.0" and event["data"]["postback"]["transaction-id"] == postback.name
        assert {request.id for request in taken.values()} == {event["id"]}
        binary = taken["binary"]
        assert {name[3:]: value for name, value in binary.headers.items() if name.startswith("ce-")} == {
            key: value for key, value in event.items() if key not in ("data", "datacontenttype")}
        assert binary.headers["content-type"] == "application/json" and json.loads(binary.body) == event["data"]
        original = taken["original"]
        assert hashlib.sha256(original.body).digest() == hashlib.sha256(postback.body).digest()
        assert original.headers["content-type"] == "application/json; charset=utf-8"
        for form in paths:
            system.backlog_is_gone(f"form-{form}")
        until = time.monotonic() + 10
        while "lastSuccess" not in system.status("form-binary")["endpointStatus"]:
            assert time.monotonic() < until
            time.sleep(0.1)


def test_the_bytes_of_a_notification_are_pushed_as_they_came(system):
    with Receiver() as receiver:
        path = subscribe(system, receiver, "original-notifications", types=[NOTIFICATION], form="original")
        notification = system.maker.notification()
        spaced = json.dumps(json.loads(notification.body), indent=3).encode()
        assert system.ingest.post("/v1/app-store/notifications", spaced, "application/json")[0] == 200
        again = system.maker.notification()
        assert system.ingest.post("/v1/app-store/notifications", again.body, "application/json")[0] == 200
        requests = receiver.wait(path, 2)
        assert {hashlib.sha256(request.body).hexdigest() for request in requests} == {
            hashlib.sha256(body).hexdigest() for body in (spaced, again.body)}
        system.rpc("DeleteSubscription", name="original-notifications")


def test_original_bytes_are_kept_only_while_a_subscription_asks_for_them(system):
    def kept() -> int:
        return sum(1 for shard in range(256) for _, fields in system.client.xrange(f"{{attr:{shard:03d}}}:events") if b"o" in fields)

    for listed in system.rpc("ListSubscriptions").get("subscriptions", []):
        if listed.get("push", {}).get("form") == "original":
            system.rpc("DeleteSubscription", name=listed["name"])
    before = kept()
    with Receiver() as receiver:
        path = subscribe(system, receiver, "kept-all", types=[SKADNETWORK])
        system.postbacks(2)
        receiver.wait(path, 2)
        assert kept() == before
        original = subscribe(system, receiver, "kept", form="original")
        assert system.status("kept")["types"] == sorted([
            SKADNETWORK, NOTIFICATION, "attribution.adattributionkit.postback.verified.v1"])
        system.postbacks(3)
        receiver.wait(original, 3)
        assert kept() == before + 3
        system.rpc("UpdateEndpoint", subscription="kept", push={"form": "structured"})
        ids = system.postbacks(1)
        receiver.wait(original, 4)
        assert kept() == before + 3 and ids[0] in receiver.ids(original)


def test_apples_own_example_reaches_a_receiver_of_three_lines_and_its_bytes_a_partner(tmp_path):
    genuine = (ROOT / "Deploy" / "genuine-postback.json").read_bytes()
    with PushSystem(tmp_path, apple_key=PUBLISHED) as system, Receiver() as partner:
        port = free_port()
        secret = system.subscribe("three-lines", f"http://127.0.0.1:{port}/", [SKADNETWORK])
        path = subscribe(system, partner, "partner", types=[SKADNETWORK], form="original")
        with subprocess.Popen([sys.executable, ROOT / "Examples" / "receiver" / "receiver.py", str(port)], stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "ATTRIBUTION_WEBHOOK_SECRET": secret}) as receiver:
            try:
                assert system.ingest.post("/v1/postbacks", genuine)[0] == 200
                assert receiver.stdout.readline() == (
                    f"skadnetwork:com.example:6aafb7a5-0170-41b5-bbe4-fe71dedf1e30:{json.loads(genuine)['postback-sequence-index']} {SKADNETWORK}\n")
            finally:
                receiver.terminate()
        assert hashlib.sha256(partner.wait(path, 1)[0].body).digest() == hashlib.sha256(genuine).digest()
        assert partner.unverified == []


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


def test_filters_by_type_network_app_and_environment(system):
    with Receiver() as receiver:
        wanted = subscribe(system, receiver, "filter-network", filter={"adNetworkIds": ["example123.skadnetwork"]})
        others = subscribe(system, receiver, "filter-other", filter={"adNetworkIds": ["other456.skadnetwork"]})
        app = subscribe(system, receiver, "filter-app", filter={"apps": ["com.example.app"]}, types=[NOTIFICATION])
        sandbox = subscribe(system, receiver, "filter-sandbox", filter={"environments": ["sandbox"]})
        ids = system.postbacks(3)
        system.post(system.maker.notification())
        receiver.wait(wanted, 3)
        assert set(receiver.ids(wanted)) == set(ids)
        receiver.wait(app, 1)
        assert receiver.ids(others) == [] and receiver.ids(sandbox) == []


def test_what_is_refused_is_tried_again_and_retry_after_is_honoured(system):
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


def test_an_event_that_is_refused_for_too_long_is_given_up_and_told(system):
    poison: list[str] = []

    def answer(request):
        if not poison:
            poison.append(request.id)
        return 400 if request.id == poison[0] else 200

    with Receiver(answer) as receiver:
        told = subscribe(system, receiver, "told-undelivered", types=["attribution.feed.event.undelivered.v1"])
        path = subscribe(system, receiver, "poisoned", types=[SKADNETWORK])
        until = time.monotonic() + 20
        while not receiver.at(told) and time.monotonic() < until:
            system.postbacks(2)
            time.sleep(0.5)
        event = json.loads(receiver.wait(told, 1)[0].body)
        assert event["data"]["eventId"] == poison[0] and event["data"]["subscription"] == "poisoned"
        assert event["data"]["attempts"] > 3
        assert poison[0] not in receiver.ids(path)
        for name in ("poisoned", "told-undelivered"):
            system.rpc("DeleteSubscription", name=name)


def test_an_endpoint_that_fails_for_long_is_disabled_told_enabled_and_replayed(system):
    broken = [True]
    with Receiver(lambda request: 500 if broken[0] and request.path == "/disabled" else 200) as receiver:
        told = subscribe(system, receiver, "told-disabled", types=["attribution.feed.endpoint.disabled.v1"])
        path = subscribe(system, receiver, "disabled", types=[SKADNETWORK])
        before = time.time()
        ids = system.postbacks(5)
        found = system.wait_for_state("disabled", "disabled")
        assert "500" in found["endpointStatus"]["reason"] and found["backlog"] >= 5
        receiver.wait(told, 1)
        told_of = [json.loads(request.body)["data"] for request in receiver.at(told)]
        assert [one["state"] for one in told_of if one["subscription"] == "disabled"] == ["disabled"]
        ids += system.postbacks(3)
        broken[0] = False
        system.rpc("EnableEndpoint", subscription="disabled")
        receiver.wait(path, 8)
        assert set(receiver.ids(path)) == set(ids)
        # What told of the end is not wanted.
        system.backlog_is_gone("disabled", seconds=100, left=1)
        # Once more, all of it.
        count = len(receiver.at(path))
        replay = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(before))
        system.rpc("EnableEndpoint", subscription="disabled", replayFrom=replay)
        until = time.monotonic() + 20
        while not set(ids) <= set(receiver.ids(path)[count:]):
            assert time.monotonic() < until
            time.sleep(0.1)


def test_410_ends_an_endpoint_at_once(system):
    with Receiver(lambda request: 410 if request.path == "/gone" else 200) as receiver:
        told = subscribe(system, receiver, "told-gone", types=["attribution.feed.endpoint.disabled.v1"])
        subscribe(system, receiver, "gone", types=[SKADNETWORK])
        system.postbacks(1)
        found = system.wait_for_state("gone", "gone")
        assert "410" in found["endpointStatus"]["reason"]
        assert json.loads(receiver.wait(told, 1)[0].body)["data"]["state"] == "gone"
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


def test_the_events_of_a_subject_follow_one_another(system):
    dice = random.Random(5)
    under_way: dict[str, int] = {}
    overlaps: list[str] = []

    def answer(request):
        subject = json.loads(request.body)["subject"]
        with receiver.lock:
            under_way[subject] = under_way.get(subject, 0) + 1
            if under_way[subject] > 1:
                overlaps.append(subject)
        time.sleep(0.002)
        with receiver.lock:
            under_way[subject] -= 1
        return 503 if dice.random() < 0.1 else 200

    with Receiver(answer) as receiver:
        path = subscribe(system, receiver, "ordered", types=[SKADNETWORK, NOTIFICATION], ordered=True, maxConcurrent=16)
        posted: list[str] = []
        for number in range(40):
            posted += system.postbacks(1)
            if number % 4 == 0:
                system.post(system.maker.notification("100000000000001"))
        receiver.wait(path, 50, 60)
        assert overlaps == []
        published = published_order(system, {request.id for request in receiver.at(path)})
        first: dict[str, None] = {}
        for request in receiver.at(path):
            first.setdefault(request.id)
        for subject in ("example123.skadnetwork", "com.example.app"):
            expected = [id for id, of in published if of == subject]
            assert [id for id in first if id in set(expected)] == expected


def published_order(system: PushSystem, ids: set[str]) -> list[tuple[str, str]]:
    """Events and their subjects in the order in which they were published."""
    entries = []
    for shard in range(256):
        for entry, fields in system.client.xrange(f"{{attr:{shard:03d}}}:events"):
            milliseconds, number = entry.split(b"-")
            event = json.loads(fields[b"e"])
            if event["id"] in ids:
                entries.append((int(milliseconds), int(number), shard, event["id"], event["subject"]))
    return [(id, subject) for *_, id, subject in sorted(entries)]


def test_a_rate_is_kept(system):
    with Receiver() as receiver:
        path = subscribe(system, receiver, "slow", types=[SKADNETWORK], maxPerSecond=10, maxConcurrent=4)
        system.postbacks(25)
        times = [request.at for request in receiver.wait(path, 25)]
        assert times[-1] - times[0] >= 2.2


def test_requests_name_the_field_that_is_wrong(system):
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
    """The name is resolved first, and judged then: localhost is a name."""
    with Receiver() as receiver, PushSystem(tmp_path, "timeout: 2s, allowedAddresses: [10.9.8.7], retryBase: 100ms, pauseCap: 200ms") as system:
        system.subscribe("inside", f"http://localhost:{receiver.port}/", types=[SKADNETWORK])
        system.postbacks(1)
        until = time.monotonic() + 10
        while "not allowed" not in system.status("inside")["endpointStatus"].get("lastError", ""):
            assert time.monotonic() < until, system.status("inside")
            time.sleep(0.1)
        assert receiver.taken == [] and receiver.refused == []


def test_a_secret_is_told_again_only_to_the_same_call(system):
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


def test_a_410_of_the_server_before_does_not_end_the_one_that_replaces_it(system):
    def answer(request):
        if request.path == "/moved-old":
            asked.append(request.id)
            time.sleep(1.5)
            return 410
        return 200

    asked: list[str] = []
    with Receiver(answer) as receiver:
        told = subscribe(system, receiver, "told-moved", types=["attribution.feed.endpoint.disabled.v1"])
        subscribe(system, receiver, "moved", path="/moved-old", types=[SKADNETWORK])
        receiver.secrets["/moved-new"] = receiver.secrets["/moved-old"]
        ids = system.postbacks(1)
        until = time.monotonic() + 20
        while not asked:
            assert time.monotonic() < until
            time.sleep(0.02)
        system.rpc("UpdateEndpoint", subscription="moved", push={"url": receiver.url("/moved-new")})
        receiver.wait("/moved-new", 1)
        assert set(receiver.ids("/moved-new")) == set(ids) and receiver.unverified == []
        assert system.status("moved")["endpointStatus"]["state"] == "enabled"
        assert all(json.loads(request.body)["data"]["subscription"] != "moved" for request in receiver.at(told))
        for name in ("moved", "told-moved"):
            system.rpc("DeleteSubscription", name=name)


def test_enabling_ends_a_wait_that_the_endpoint_asked_for(system):
    asked: list[str] = []

    def answer(request):
        asked.append(request.id)
        return (503, {"Retry-After": "40000"}) if len(asked) == 1 else 200

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


def test_bounds_of_an_endpoint_can_be_taken_back(system):
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


def test_an_update_to_the_original_form_brings_no_bytes_that_were_not_proved(system):
    system.subscribe("all-types", "https://example.com/", start="now")
    answer = refused(system, "UpdateEndpoint", subscription="all-types", push={"form": "original"})
    assert "push.form" in json.dumps(answer)
    assert system.status("all-types")["push"]["form"] == "structured"
    system.rpc("DeleteSubscription", name="all-types")


def test_original_bytes_are_asked_for_by_live_subscriptions_alone(system):
    def askings() -> set[str]:
        return {asking.decode().split(" ")[0] for asking in system.client.smembers("{attr:007}:events:originals")}

    def create(**more: object) -> tuple[int, dict]:
        return system.verifier.rpc(EVENTS, "CreateSubscription", {
            "name": "asks", "types": [SKADNETWORK], "push": {"url": "https://example.com/", "form": "original"}, **more})

    assert create(startEventId="none")[0] == 404 and "asks" not in askings()
    assert create()[0] == 200 and create()[0] == 200 and "asks" in askings()
    assert create(start="now")[0] == 409 and "asks" in askings()
    for form in ("structured", "original", "original"):
        system.rpc("UpdateEndpoint", subscription="asks", push={"form": form})
        assert ("asks" in askings()) == (form == "original")
    system.rpc("UpdateEndpoint", subscription="asks", push={"maxConcurrent": 2})
    assert "asks" in askings()
    system.rpc("DeleteSubscription", name="asks")
    assert "asks" not in askings()
