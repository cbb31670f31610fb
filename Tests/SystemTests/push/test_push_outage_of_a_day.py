"""Endpoints are down for a day, scaled to ten seconds, and are disabled when their retries end. Meanwhile another subscription acknowledges
its events. When the endpoints are enabled and replayed, they get every event that they missed."""

import hashlib
import json
import threading
import time

from .receiver import Receiver
from .steps import published_order
from .system import NOTIFICATION, SKADNETWORK, PushSystem

DAY = 10
TYPES = [SKADNETWORK, NOTIFICATION]
RULES = "timeout: 1s, retryBase: 100ms, retryCap: 1s, pauseCap: 500ms, pusherTimeout: 2s, retryFor: 3s, disableAfter: 4s"
# An event that all subscriptions have settled is deleted after half a second; other events are kept for fourteen days.
QUEUES = f"acknowledgedEventTTL: 500ms, eventRetention: {14 * DAY}s"


def published(system: PushSystem) -> dict[str, str]:
    """The types of the stored events."""
    return {event["id"]: event["type"] for event in system.events()}


def trim(system: PushSystem) -> None:
    """Restarts all verifiers, because a verifier deletes old events for the first time some seconds after its start."""
    for verifier in system.verifiers:
        verifier.end()
        verifier.is_held = False
        verifier.start()
        system.wait_until_ready(verifier)


def wait(what: str, condition, seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, what
        time.sleep(0.1)


def test_an_endpoint_that_is_down_for_a_day_loses_no_event(tmp_path):
    off = threading.Event()

    def answer(request):
        return 503 if off.is_set() and request.path.startswith("/off") else 200

    with Receiver(answer) as receiver, PushSystem(tmp_path, RULES, verifiers=2, queues=QUEUES) as system:
        forms = {"off-plain": {}, "off-ordered": {"ordered": True}, "off-original": {"form": "original"}, "on": {"form": "original"}}
        for name, push in forms.items():
            receiver.secrets[f"/{name}"] = system.subscribe(name, receiver.url(f"/{name}"), TYPES, **push)
        unreachable = [name for name in forms if name != "on"]
        bodies: list[bytes] = []

        def deliver(count: int) -> None:
            for number in range(count):
                made = system.maker.notification(str(10 ** 14 + number % 3)) if number % 2 else system.maker.postback()
                system.post(made)
                bodies.append(made.body)

        deliver(6)
        for name in forms:
            receiver.wait(f"/{name}", 6)
        for name in forms:
            system.wait_until_backlog_ends(name, left=6)
        early = set(receiver.ids("/on"))
        off.set()
        started = time.monotonic()
        began = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 1))
        time.sleep(1.1)
        deliver(20)
        for name in unreachable:
            system.wait_for_state(name, "disabled")
        # Disabled endpoints get no attempts. New events are published, and the subscription `on` settles them.
        deliver(20)
        receiver.wait("/on", 46)
        trim(system)
        wait("events that all have settled are kept", lambda: not early & set(published(system)))
        deliver(4)
        receiver.wait("/on", 50)
        time.sleep(max(0, DAY - (time.monotonic() - started)))
        missed = set(receiver.ids("/on")) - early
        assert len(missed) == 44 and missed <= set(published(system)), "unsettled events are missing"
        for name in unreachable:
            found = system.status(name)
            assert found["backlog"] >= 44 and found.get("dropped", 0) == 0 and not missed & set(receiver.ids(f"/{name}")), found

        off.clear()
        for name in unreachable:
            if name != "off-ordered":
                system.rpc("EnableEndpoint", subscription=name)
        # One subscription is replayed from the time when it was disabled.
        system.rpc("EnableEndpoint", subscription="off-ordered", replayFrom=began)
        for name in unreachable:
            receiver.wait(f"/{name}", 50)
            assert set(receiver.ids(f"/{name}")) == early | missed, name
            assert system.status(name)["endpointStatus"]["state"] == "enabled"
        assert receiver.unverified == []
        digests = {hashlib.sha256(body).digest() for body in bodies}
        received = {hashlib.sha256(request.body).digest() for request in receiver.at("/off-original")}
        assert received == digests, "other bytes than those that were delivered"
        first: dict[str, None] = {}
        subjects = {}
        for request in receiver.at("/off-ordered"):
            first.setdefault(request.id)
            subjects[request.id] = json.loads(request.body)["subject"]
        order = published_order(system, missed)
        for subject in set(subjects.values()):
            expected = [id for id, of in order if of == subject]
            assert [id for id in first if id in set(expected)] == expected, f"{subject}: order broken"
        # All subscriptions have settled the events now, so that they are deleted.
        for name in unreachable:
            system.wait_until_backlog_ends(name, left=10)
        trim(system)
        wait("delivered events are kept", lambda: not missed & set(published(system)))
        assert all(system.status(name).get("dropped", 0) == 0 for name in forms)
