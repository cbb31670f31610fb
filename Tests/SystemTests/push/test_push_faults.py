"""Pushing while pushers, Redis and the receiver are killed at random: every event at least once at each endpoint, in order if requested.

ATTRIBUTION_SOAK=1 makes it long."""

import hashlib
import json
import os
import random
import signal
import threading
import time

from .receiver import Receiver, Request
from .steps import published_order
from .system import NOTIFICATION, SKADNETWORK, PushSystem

SOAK = os.environ.get("ATTRIBUTION_SOAK") == "1"
TYPES = [SKADNETWORK, NOTIFICATION]
RULES = "timeout: 2s, retryBase: 100ms, retryCap: 1s, pauseCap: 500ms, pusherTimeout: 2s"


def deliver(system: PushSystem, count: int, ended: threading.Event) -> list[bytes]:
    """Posts postbacks, and notifications of a few purchases; records the accepted bodies."""
    bodies = []
    for number in range(count):
        delivery = system.maker.notification(str(10 ** 14 + number % 7)) if number % 5 == 0 else system.maker.postback()
        until = time.monotonic() + 120
        while True:
            try:
                if system.ingest.post(delivery.path, delivery.body)[0] == 200:
                    break
            except OSError:
                pass
            assert time.monotonic() < until, "ingest takes nothing"
            time.sleep(0.05)
        bodies.append(delivery.body)
    ended.set()
    return bodies


def call(system: PushSystem, method: str, **message):
    """Retries until a verifier answers: any of them may be down at this moment."""
    until = time.monotonic() + 60
    while True:
        for verifier in system.verifiers:
            try:
                status, answer = verifier.rpc("events.v1.EventsService", method, message)
                if status == 200:
                    return answer
            except (OSError, ValueError):
                pass
        assert time.monotonic() < until, f"{method} is not answered"
        time.sleep(0.2)


def test_no_event_is_missed_and_no_order_is_broken_when_processes_are_killed(tmp_path):
    seed = int(os.environ.get("ATTRIBUTION_SEED", "0")) or random.randrange(1 << 30)
    print(f"seed {seed}")
    dice = random.Random(seed)
    count, kills = (5000, 60) if SOAK else (240, 6)
    resting = threading.Event()

    def answer(request: Request):
        # At times it refuses, or is unreachable.
        if resting.is_set():
            return 503
        return 500 if dice.random() < 0.02 else 200

    with Receiver(answer) as receiver, PushSystem(tmp_path, RULES, seed=seed, verifiers=2) as system:
        forms = {"plain": {}, "ordered": {"ordered": True}, "binary": {"form": "binary", "maxConcurrent": 3},
                 "original": {"form": "original"}}
        for name, push in forms.items():
            receiver.secrets[f"/{name}"] = system.subscribe(name, receiver.url(f"/{name}"), TYPES, **push)
        ended, bodies = threading.Event(), []
        poster = threading.Thread(target=lambda: bodies.extend(deliver(system, count, ended)))
        poster.start()
        done = 0
        while done < kills or not ended.is_set():
            time.sleep(dice.uniform(0.2, 0.8 if done < kills else 0.3))
            if done >= kills:
                continue
            done += 1
            match dice.choice(["verifier", "verifier", "verifier", "redis", "receiver", "stop"]):
                case "verifier":
                    dice.choice(system.verifiers).signal(signal.SIGKILL)
                case "redis":
                    system.redis.signal(signal.SIGKILL)
                case "receiver":
                    resting.set()
                    time.sleep(dice.uniform(0.1, 1.0))
                    resting.clear()
                case "stop":
                    # An instance that resumes after its endpoints were taken over.
                    stopped = dice.choice(system.verifiers)
                    stopped.signal(signal.SIGSTOP)
                    time.sleep(2.5)
                    stopped.signal(signal.SIGCONT)
        poster.join(300)
        assert len(bodies) == count
        for verifier in system.verifiers:
            system.wait_until_ready(verifier)
        system.wait_until_worked()
        wanted = {event["id"] for event in system.events() if event["type"] in TYPES}
        assert len(wanted) == count
        for name in forms:
            receiver.wait(f"/{name}", count, 120)
            assert set(receiver.ids(f"/{name}")) == wanted
        assert receiver.unverified == []
        digests = {hashlib.sha256(body).digest() for body in bodies}
        assert {hashlib.sha256(request.body).digest() for request in receiver.at("/original")} == digests
        first: dict[str, None] = {}
        for request in receiver.at("/ordered"):
            first.setdefault(request.id)
        published = published_order(system, wanted)
        for subject in {of for _, of in published}:
            expected = [id for id, of in published if of == subject]
            of_subject = set(expected)
            assert [id for id in first if id in of_subject] == expected, f"{subject}: order broken"
        repeats = {name: len(receiver.at(f"/{name}")) - count for name in forms}
        print(f"{count} events, {done} faults, repeats {repeats}")


def test_a_replay_misses_no_event_while_the_pusher_is_killed(tmp_path):
    with Receiver() as receiver, PushSystem(tmp_path, RULES, verifiers=2) as system:
        receiver.secrets["/replayed"] = system.subscribe("replayed", receiver.url("/replayed"), [SKADNETWORK])
        before = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 1))
        ids = set(system.postbacks(40))
        receiver.wait("/replayed", 40)
        for _ in range(3):
            count = len(receiver.at("/replayed"))
            call(system, "SeekSubscription", subscription="replayed", time=before)
            time.sleep(0.3)
            random.choice(system.verifiers).signal(signal.SIGKILL)
            until = time.monotonic() + 60
            while not ids <= set(receiver.ids("/replayed")[count:]):
                assert time.monotonic() < until, "not all is posted again"
                time.sleep(0.1)


def test_endpoints_that_hang_do_not_delay_others(tmp_path):
    """Some of many endpoints never answer: the others accept all events while the first requests to these still hang."""
    endpoints, hanging, events = (1000, 200, 20) if SOAK else (30, 6, 10)
    with Receiver(lambda request: None if request.path.startswith("/hang") else 200) as receiver, \
            PushSystem(tmp_path, "timeout: 60s") as system:
        for number in range(endpoints):
            path = f"/hang-{number}" if number < hanging else f"/take-{number}"
            system.subscribe(f"many-{number}", receiver.url(path), [SKADNETWORK], start="now", maxConcurrent=2)
        ids = set(system.postbacks(events))
        for number in range(hanging, endpoints):
            receiver.wait(f"/take-{number}", events, 50)
            assert set(receiver.ids(f"/take-{number}")) == ids
        assert system.verifier.metric("attribution_push_requests_total") >= events * (endpoints - hanging)


def test_instances_share_endpoints_and_only_those_with_the_role_push(tmp_path):
    # No instance may be considered dead here, however slow the machine is: its posts in progress would be repeated.
    rules = RULES.replace("pusherTimeout: 2s", "pusherTimeout: 30s")
    with Receiver() as receiver, PushSystem(tmp_path, rules, ATTRIBUTION_VERIFIER_ROLES="verify") as system:
        for number in range(20):
            system.subscribe(f"role-{number}", receiver.url(f"/role-{number}"), [SKADNETWORK])
        system.postbacks(3)
        system.wait_until_worked()
        time.sleep(2)
        assert receiver.accepted == []
        pushers = [system.service("verifier", ATTRIBUTION_VERIFIER_ROLES="push") for _ in range(2)]
        for pusher in pushers:
            pusher.start()
            system.wait_until_ready(pusher)
        for number in range(20):
            receiver.wait(f"/role-{number}", 3)
        until = time.monotonic() + 20
        while not all(0 < pusher.metric("attribution_push_endpoints") < 20 for pusher in pushers) or sum(
                pusher.metric("attribution_push_endpoints") for pusher in pushers) != 20:
            assert time.monotonic() < until, [pusher.metric("attribution_push_endpoints") for pusher in pushers]
            time.sleep(0.2)
        assert all(pusher.metric("attribution_queue_processed_total") == 0 for pusher in pushers)
        # An instance that ends normally: nothing is posted twice, and the other continues.
        pushers[0].end()
        system.postbacks(3)
        for number in range(20):
            receiver.wait(f"/role-{number}", 6)
            assert len(receiver.at(f"/role-{number}")) == 6
        assert json.loads(receiver.at("/role-0")[0].body)["type"] == SKADNETWORK


def test_pushers_that_join_share_the_endpoints_and_no_event_is_missed(tmp_path):
    endpoints = 300 if SOAK else 40
    with Receiver() as receiver, PushSystem(tmp_path, RULES, verifiers=3) as system:
        _first, *later = system.verifiers
        for verifier in later:
            verifier.signal(signal.SIGSTOP)
        names = [f"shared-{number}" for number in range(endpoints)]
        for name in names:
            receiver.secrets[f"/{name}"] = system.subscribe(name, receiver.url(f"/{name}"), [SKADNETWORK], start="now")

        def wait_until_held(fewest: list[int]) -> None:
            pushers = system.verifiers[:len(fewest)]
            until = time.monotonic() + 90
            while True:
                owned = [pusher.metric("attribution_push_endpoints") for pusher in pushers]
                if sum(owned) == endpoints and all(one >= least for one, least in zip(owned, fewest, strict=False)):
                    return
                assert time.monotonic() < until, owned
                time.sleep(0.2)

        wait_until_held([endpoints])
        ids = system.postbacks(3)
        for number, verifier in enumerate(later, start=2):
            verifier.signal(signal.SIGCONT)
            # There are events while endpoints change their owner.
            for _ in range(5):
                ids += system.postbacks(1)
                time.sleep(0.2)
            wait_until_held([endpoints // (3 * number)] * number)
            ids += system.postbacks(1)
        for name in names:
            receiver.wait(f"/{name}", len(ids), 60)
            assert set(receiver.ids(f"/{name}")) == set(ids)
        assert receiver.unverified == []
