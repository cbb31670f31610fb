"""Events that are pushed: real executables, real receivers, signatures verified by `standardwebhooks`."""

import hashlib
import json
import os
import random
import subprocess
import sys
import time

import pytest

from SystemTests.faults.system import ROOT
from SystemTests.support.free_ports import free_port

from .receiver import Receiver
from .steps import QUICK, published_order, refused, subscribe
from .system import EVENTS, NOTIFICATION, SKADNETWORK, PushSystem

# Apple's published key.
PUBLISHED = (
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEWdp8GPcGqmhgzEFj9Z2nSpQVddayaPe4FMzqM9wib1+aHaaIzoHoLN9zW4K8y4SPykE3YVK3sVqW6Af0lfx3gg==")


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    with PushSystem(tmp_path_factory.mktemp("push"), QUICK) as running:
        yield running


def test_a_genuine_postback_is_pushed_in_three_forms_and_verified(system):
    # Apple's own example, with Apple's own signature, needs the shipped keys; here one is created with the tests' key.
    with Receiver() as receiver:
        paths = {form: subscribe(system, receiver, f"form-{form}", types=[SKADNETWORK], form=form)
                 for form in ("structured", "binary", "original")}
        postback = system.maker.postback()
        system.post(postback, "application/json; charset=utf-8")
        received = {form: receiver.wait(path, 1)[0] for form, path in paths.items()}
        assert receiver.unverified == []
        event = json.loads(received["structured"].body)
        assert received["structured"].headers["content-type"] == "application/cloudevents+json; charset=utf-8"
        assert event["specversion"] == "1.0" and event["data"]["postback"]["transaction-id"] == postback.name
        assert {request.id for request in received.values()} == {event["id"]}
        binary = received["binary"]
        assert {name[3:]: value for name, value in binary.headers.items() if name.startswith("ce-")} == {
            key: value for key, value in event.items() if key not in ("data", "datacontenttype")}
        assert binary.headers["content-type"] == "application/json" and json.loads(binary.body) == event["data"]
        original = received["original"]
        assert hashlib.sha256(original.body).digest() == hashlib.sha256(postback.body).digest()
        assert original.headers["content-type"] == "application/json; charset=utf-8"
        for form in paths:
            system.wait_until_backlog_ends(f"form-{form}")
        until = time.monotonic() + 10
        while "lastSuccess" not in system.status("form-binary")["endpointStatus"]:
            assert time.monotonic() < until
            time.sleep(0.1)


def test_the_original_bytes_of_a_notification_are_pushed(system):
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


def test_original_bytes_are_stored_only_while_a_subscription_requests_them(system):
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


def test_apples_example_reaches_the_example_receiver_and_its_original_bytes_a_partner(tmp_path):
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


def test_a_filter_pushes_only_events_of_its_types_networks_apps_and_environments(system):
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


def test_events_of_a_subject_are_pushed_in_order(system):
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


def test_a_rate_limit_of_an_endpoint_is_observed(system):
    with Receiver() as receiver:
        path = subscribe(system, receiver, "slow", types=[SKADNETWORK], maxPerSecond=10, maxConcurrent=4)
        system.postbacks(25)
        times = [request.at for request in receiver.wait(path, 25)]
        assert times[-1] - times[0] >= 2.2


def test_a_change_to_the_original_form_pushes_no_unverified_bytes(system):
    system.subscribe("all-types", "https://example.com/", start="now")
    answer = refused(system, "UpdateEndpoint", subscription="all-types", push={"form": "original"})
    assert "push.form" in json.dumps(answer)
    assert system.status("all-types")["push"]["form"] == "structured"
    system.rpc("DeleteSubscription", name="all-types")


def test_only_existing_subscriptions_request_original_bytes(system):
    def requesters() -> set[str]:
        return {requester.decode().split(" ")[0] for requester in system.client.smembers("{attr:007}:events:originals")}

    def create(**more: object) -> tuple[int, dict]:
        return system.verifier.rpc(EVENTS, "CreateSubscription", {
            "name": "asks", "types": [SKADNETWORK], "push": {"url": "https://example.com/", "form": "original"}, **more})

    assert create(startEventId="none")[0] == 404 and "asks" not in requesters()
    assert create()[0] == 200 and create()[0] == 200 and "asks" in requesters()
    assert create(start="now")[0] == 409 and "asks" in requesters()
    for form in ("structured", "original", "original"):
        system.rpc("UpdateEndpoint", subscription="asks", push={"form": form})
        assert ("asks" in requesters()) == (form == "original")
    system.rpc("UpdateEndpoint", subscription="asks", push={"maxConcurrent": 2})
    assert "asks" in requesters()
    system.rpc("DeleteSubscription", name="asks")
    assert "asks" not in requesters()
