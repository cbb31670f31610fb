"""A system with a feed, and readers that record the events they receive."""

from __future__ import annotations

import collections
import http.client
import json
import os
import pathlib
import random
import subprocess
import threading
import time
from typing import Any

from SystemTests.faults.load import Delivery, Maker
from SystemTests.faults.process import TOKEN, Service
from SystemTests.faults.system import FaultSystem

ROOT = pathlib.Path(__file__).resolve().parents[3]
EVENTS = "events.v1.EventsService"
NOTIFICATION = "appstore.notification.verified.v1"
POSTBACK = "attribution.skadnetwork.postback.verified.v1"


def feed_system(folder: pathlib.Path, maker: Maker, verifiers: int = 1, queues: str = "{ lease: 2s, workerTimeout: 2s }") -> FaultSystem:
    system = FaultSystem(folder, maker.apple_key, queues)
    system.service("ingest")
    for _ in range(verifiers):
        system.service("verifier")
    return system


def named(system: FaultSystem, executable: str) -> list[Service]:
    return [service for service in system.services if service.name.startswith(executable)]


def post(system: FaultSystem, *deliveries: Delivery, timeout: float = 60) -> None:
    """Posts until each is accepted."""
    for delivery in deliveries:
        until = time.monotonic() + timeout
        while True:
            try:
                status = named(system, "ingest")[0].post(delivery.path, delivery.body)[0]
                if status == 200:
                    break
            except (OSError, http.client.HTTPException):
                status = None
            assert time.monotonic() < until, status
            time.sleep(0.1)


def wait_for_events(system: FaultSystem, count: int, seconds: float = 60) -> list[dict]:
    until = time.monotonic() + seconds
    while system.event_count() < count:
        assert time.monotonic() < until, (system.event_count(), count)
        time.sleep(0.05)
    return system.events()


def call_with_retries(verifiers: list[Service], method: str, message: dict, dice: random.Random, seconds: float = 60) -> dict:
    """Calls one of them, and another one after a temporary failure."""
    until = time.monotonic() + seconds
    while True:
        try:
            status, answer = dice.choice(verifiers).rpc(EVENTS, method, message)
            if status == 200:
                return answer
            assert status in (409, 499, 503, 504), (method, status, answer)
        except (OSError, http.client.HTTPException, json.JSONDecodeError):
            status = None
        assert time.monotonic() < until, (method, status)
        time.sleep(dice.uniform(0, 0.2))


class Reader(threading.Thread):
    """Pulls, records what it processes, acknowledges. At times it drops its events as if it were killed, exceeds its lease, gives
    back events or extends their leases."""

    LEASE = 3

    def __init__(self, verifiers: list[Service], subscription: str, notes: list[str], seed: int) -> None:
        super().__init__(daemon=True)
        self.verifiers, self.subscription, self.notes, self.dice = verifiers, subscription, notes, random.Random(seed)
        self.ending = threading.Event()
        self.done: collections.Counter = collections.Counter()
        self.failure: BaseException | None = None

    def call(self, method: str, **fields: Any) -> dict:
        return call_with_retries(self.verifiers, method, {"subscription": self.subscription, **fields}, self.dice)

    def run(self) -> None:
        try:
            while not self.ending.is_set():
                self.round()
        except BaseException as error:  # noqa: BLE001 stop() raises it
            self.failure = error

    def round(self) -> None:
        # The lease begins after this time.
        leased_at = time.monotonic()
        pulled = self.call("PullEvents", maxEvents=self.dice.randint(1, 40), waitMilliseconds=300, leaseSeconds=self.LEASE).get("events", [])
        if not pulled:
            return
        fate = self.dice.random()
        if fate < 0.05:
            self.done["died"] += 1
            return
        if fate < 0.07:
            self.done["held past its lease"] += 1
            time.sleep(self.LEASE + 0.5)
            return
        if fate < 0.12:
            self.done["gave back"] += 1
            self.call("ModifyLease", ackIds=[item["ackId"] for item in pulled], leaseSeconds=0)
            return
        if fate < 0.17:
            self.done["extended"] += 1
            leased_at = time.monotonic()
            if self.call("ModifyLease", ackIds=[item["ackId"] for item in pulled], leaseSeconds=self.LEASE).get("modified", 0) < len(pulled):
                return
        for item in pulled:
            # An event that is processed after its lease may belong to another reader.
            if time.monotonic() - leased_at > self.LEASE / 2:
                self.done["was late"] += 1
                return
            self.notes.append(item["event"]["id"])
            if self.dice.random() < 0.02:
                self.done["died while it worked"] += 1
                return
            self.call("AcknowledgeEvents", ackIds=[item["ackId"]])

    def stop(self) -> None:
        self.ending.set()
        self.join(120)
        assert not self.is_alive()
        if self.failure:
            raise self.failure


def drain(verifiers: list[Service], subscription: str, notes: list[str], dice: random.Random, seconds: float = 300) -> None:
    """Reads until nothing is left, including events that other readers had leased."""
    until = time.monotonic() + seconds
    while True:
        message = {"subscription": subscription, "maxEvents": 500, "leaseSeconds": 30}
        pulled = call_with_retries(verifiers, "PullEvents", message, dice).get("events", [])
        for item in pulled:
            notes.append(item["event"]["id"])
        if pulled:
            call_with_retries(verifiers, "AcknowledgeEvents", {"subscription": subscription, "ackIds": [item["ackId"] for item in pulled]}, dice)
        elif int(call_with_retries(verifiers, "GetSubscription", {"name": subscription}, dice)["subscription"].get("backlog", 0)) == 0:
            return
        assert time.monotonic() < until, call_with_retries(verifiers, "GetSubscription", {"name": subscription}, dice)
        time.sleep(0 if pulled else 0.2)


def first_seen(notes: list[str]) -> list[str]:
    """The events that a reader that remembers ids processed, each once."""
    return list(dict.fromkeys(notes))


def purchases(events: list[dict]) -> dict[str, list[str]]:
    """The ids of notifications by their purchase, in the order of their shard, which is that of acceptance."""
    found = collections.defaultdict(list)
    for event in events:
        if event["type"] == NOTIFICATION:
            found[event["data"]["transactionInfo"]["originalTransactionId"]].append(event["id"])
    return found


def assert_in_order(notes: list[str], events: list[dict], *, kills: int | None = None) -> int:
    """Checks that no event of a purchase was processed before an earlier one, and returns the number of purchases. A reader that
    acknowledges each event may process only its last one twice. A reader that acknowledges in batches (`kills`: how often it or a service
    was killed) may start again at an earlier event after each kill, and must then continue from there."""
    lines = purchases(events)
    position = {id: (purchase, number) for purchase, ids in lines.items() for number, id in enumerate(ids)}
    last: dict[str, int] = {}
    begun_again: collections.Counter = collections.Counter()
    for id in notes:
        if id in position:
            purchase, number = position[id]
            before = last.get(purchase, -1)
            assert number <= before + 1, (purchase, number, before)
            if kills is None:
                assert number >= before, (purchase, number, before)
            elif number <= before:
                begun_again[purchase] += 1
                assert begun_again[purchase] <= kills, (purchase, number, before, kills)
            last[purchase] = number
    return len(lines)


def swift_consumer() -> pathlib.Path:
    """The Swift example. In the long form it is built as its own package, as users do."""
    if os.environ.get("ATTRIBUTION_SOAK") != "1":
        return ROOT / ".build" / os.environ.get("BUILD_CONFIGURATION", "debug") / "example-consumer"
    scratch = ROOT / ".build" / "examples-swift"
    words = ["swift", "build", "--package-path", ROOT / "Examples" / "swift", "--scratch-path", scratch]
    run = subprocess.run(words, capture_output=True, text=True, timeout=900, check=False)
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-2000:]
    assert "warning:" not in run.stdout, run.stdout
    return scratch / "debug" / "consumer"


def consumer_environment(verifier: Service, folder: pathlib.Path) -> dict[str, str]:
    token = folder / "token"
    token.write_text(TOKEN + "\n")
    return {**os.environ, "ATTRIBUTION_VERIFIER_URL": f"http://127.0.0.1:{verifier.port}", "ATTRIBUTION_TOKEN_FILE": str(token)}
