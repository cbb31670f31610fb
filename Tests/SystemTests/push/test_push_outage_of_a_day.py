"""An endpoint is down for a day, scaled to ten seconds: beyond its retries, until it is disabled, while others acknowledge and events that
they have settled are deleted. After it is enabled and replayed, it has everything."""

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
# Events that all have settled are deleted after half a second; others are kept for fourteen days.
QUEUES = f"acknowledgedEventTTL: 500ms, eventRetention: {14 * DAY}s"


def published(system: PushSystem) -> dict[str, str]:
    """The types of the stored events."""
    return {event["id"]: event["type"] for event in system.events()}


def trim(system: PushSystem) -> None:
    """The first trimming happens some seconds after the start of an instance."""
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
        gone = [name for name in forms if name != "on"]
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
            system.backlog_is_gone(name, left=6)
        early = set(receiver.ids("/on"))
        off.set()
        started = time.monotonic()
        began = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 1))
        time.sleep(1.1)
        deliver(20)
        for name in gone:
            system.wait_for_state(name, "disabled")
        # No attempts are made any more; new events are published, and the others settle them.
        deliver(20)
        receiver.wait("/on", 46)
        trim(system)
        wait("what all are done with is kept", lambda: not early & set(published(system)))
        deliver(4)
        receiver.wait("/on", 50)
        time.sleep(max(0, DAY - (time.monotonic() - started)))
        missed = set(receiver.ids("/on")) - early
        assert len(missed) == 44 and missed <= set(published(system)), "what they are not done with is kept"
        for name in gone:
            found = system.status(name)
            assert found["backlog"] >= 44 and found.get("dropped", 0) == 0 and not missed & set(receiver.ids(f"/{name}")), found

        off.clear()
        for name in gone:
            if name != "off-ordered":
                system.rpc("EnableEndpoint", subscription=name)
        # One subscription is replayed from the time when it was disabled.
        system.rpc("EnableEndpoint", subscription="off-ordered", replayFrom=began)
        for name in gone:
            receiver.wait(f"/{name}", 50)
            assert set(receiver.ids(f"/{name}")) == early | missed, name
            assert system.status(name)["endpointStatus"]["state"] == "enabled"
        assert receiver.unverified == []
        digests = {hashlib.sha256(body).digest() for body in bodies}
        assert {hashlib.sha256(request.body).digest() for request in receiver.at("/off-original")} == digests, "not the bytes that came"
        first: dict[str, None] = {}
        subjects = {}
        for request in receiver.at("/off-ordered"):
            first.setdefault(request.id)
            subjects[request.id] = json.loads(request.body)["subject"]
        order = published_order(system, missed)
        for subject in set(subjects.values()):
            expected = [id for id, of in order if of == subject]
            assert [id for id in first if id in set(expected)] == expected, f"{subject}: order broken"
        # Then nothing prevents their deletion any longer.
        for name in gone:
            system.backlog_is_gone(name, left=10)
        trim(system)
        wait("delivered events are kept", lambda: not missed & set(published(system)))
        assert all(system.status(name).get("dropped", 0) == 0 for name in forms)
