"""Ingest, verifier and Redis for one test of pushing; all deliveries are valid."""

from __future__ import annotations

import pathlib
import random
import time

from SystemTests.faults.load import Delivery, Maker
from SystemTests.faults.process import Service
from SystemTests.faults.system import FaultSystem

EVENTS = "events.v1.EventsService"
SKADNETWORK = "attribution.skadnetwork.postback.verified.v1"
NOTIFICATION = "appstore.notification.verified.v1"


class PushSystem(FaultSystem):
    """`push` is added to the configuration's `push`, which has what all tests need; `queues` is added to its `queues`."""

    def __init__(self, folder: pathlib.Path, push: str = "", seed: int = 1, verifiers: int = 1, apple_key: str = "",
                 queues: str = "", **variables: str) -> None:
        self.maker = Maker(random.Random(seed))
        addresses = "" if "allowedAddresses" in push else ", allowedAddresses: [127.0.0.0/8]"
        rules = "push: { allowsHTTP: true" + addresses + (f", {push}" if push else "") + " }\n"
        timing = "{ lease: 2s, workerTimeout: 2s" + (f", {queues}" if queues else "") + " }"
        super().__init__(folder, apple_key or self.maker.apple_key, timing, more=rules)
        self.ingest = self.service("ingest")
        self.verifiers = [self.service("verifier", **variables) for _ in range(verifiers)]

    @property
    def verifier(self) -> Service:
        return self.verifiers[0]

    def rpc(self, method: str, **message: object) -> dict:
        return self.verifier.call(EVENTS, method, message)

    def subscribe(self, name: str, url: str, types: list[str] | None = None, **more: object) -> str:
        """Returns the secret of a new push subscription. `filter` and `start` are those of the request, everything else is the
        endpoint's."""
        request = {key: more.pop(key) for key in ("filter", "start", "startTime") if key in more}
        answer = self.rpc("CreateSubscription", name=name, types=types or [], push={"url": url, **more}, **request)
        return answer["secret"]

    def status(self, name: str) -> dict:
        return self.rpc("GetSubscription", name=name)["subscription"]

    def wait_for_state(self, name: str, state: str, seconds: float = 30) -> dict:
        until = time.monotonic() + seconds
        while (found := self.status(name))["endpointStatus"]["state"] != state:
            assert time.monotonic() < until, found
            time.sleep(0.1)
        return found

    def post(self, delivery: Delivery, content_type: str = "application/json") -> None:
        for _ in range(100):
            try:
                if self.ingest.post(delivery.path, delivery.body, content_type)[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.1)
        raise AssertionError("ingest does not take a delivery")

    def postbacks(self, count: int) -> list[str]:
        """Posts new postbacks; returns the ids of their events."""
        made = [self.maker.postback() for _ in range(count)]
        for delivery in made:
            self.post(delivery)
        return [event_id(delivery) for delivery in made]

    def wait_until_backlog_ends(self, name: str, seconds: float = 30, left: int = 0) -> None:
        """Waits until at most `left` events of a subscription are unsettled. Events that it does not want are skipped once a minute."""
        until = time.monotonic() + seconds
        while (found := self.status(name).get("backlog", 0)) > left:
            assert time.monotonic() < until, f"{found} events are not settled"
            time.sleep(0.1)


def event_id(delivery: Delivery) -> str:
    return f"skadnetwork:example123.skadnetwork:{delivery.name}:0"
