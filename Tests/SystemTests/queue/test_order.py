"""The order of a purchase's notifications: messages are verified first, so that a forgery that names a purchase cannot affect it."""

import base64
import hashlib
import hmac
import json
import random
import time

from SystemTests.faults.load import Maker
from SystemTests.faults.system import FaultSystem
from SystemTests.verifier.test_revocation import Responder, responder, system_with  # noqa: F401

VERIFIED, REJECTED = "appstore.notification.verified.v1", "appstore.notification.rejected.v1"
POSTBACK = "attribution.skadnetwork.postback.verified.v1"


def post(ingest, delivery) -> str:
    status, _, body = ingest.post(delivery.path, delivery.body)
    assert status == 200, (status, body)
    return json.loads(body)["id"]


def forged(maker: Maker, purchase: str) -> bytes:
    """A notification of that purchase with another's signature."""
    head, payload, signature = json.loads(maker.notification(purchase).body)["signedPayload"].split(".")
    spoilt = bytearray(base64.urlsafe_b64decode(signature + "=="))
    spoilt[maker.dice.randrange(len(spoilt))] ^= 1 << maker.dice.randrange(8)
    return json.dumps({"signedPayload": f"{head}.{payload}.{base64.urlsafe_b64encode(spoilt).decode().rstrip('=')}"}).encode()


def post_forgeries(ingest, maker: Maker, purchase: str, count: int) -> list[str]:
    found = []
    for _ in range(count):
        status, _, body = ingest.post("/v1/app-store/notifications", forged(maker, purchase))
        assert status == 200, (status, body)
        found.append(json.loads(body)["id"])
    return found


def wait_for(condition, seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.05)
    assert condition()


def names(system: FaultSystem) -> list[str]:
    return [event["data"]["notificationUUID"] for event in system.events() if event["type"] == VERIFIED]


def lines(system: FaultSystem) -> list[bytes]:
    return list(system.client.scan_iter("*:line:*", count=10_000))


def test_forgeries_that_name_a_purchase_do_not_enter_its_order_line(tmp_path):
    maker = Maker(random.Random(11))
    system = FaultSystem(tmp_path, maker.apple_key)
    ingest, verifier = system.service("ingest"), system.service("verifier")
    verifier.is_held = True
    with SystemWithout(system, verifier):
        genuine = [maker.notification("700000000000001") for _ in range(5)]
        post(ingest, genuine[0])
        rejected = post_forgeries(ingest, maker, "700000000000001", 200)
        for delivery in genuine[1:]:
            post(ingest, delivery)
        # No message is verified, so none is in an order line, and none waits for another.
        assert lines(system) == [] and system.unfinished()["delayed"] == 0 and system.unfinished()["ready"] == 205
        verifier.is_held = False
        system.wait_until_ready(verifier)
        system.wait_until_worked()
        assert names(system) == [delivery.name for delivery in genuine]
        assert set(system.states(rejected).values()) == {"rejected"}
        assert lines(system) == []


class SystemWithout:
    """Starts the system without one of its services, which the test starts later."""

    def __init__(self, system: FaultSystem, missing):
        self.system, self.missing = system, missing

    def __enter__(self) -> FaultSystem:
        others = [service for service in self.system.services if service is not self.missing]
        self.system.redis.start()
        self.system.wait_for_redis()
        for service in others:
            service.start()
        self.system.keeper.start()
        for service in others:
            self.system.wait_until_ready(service)
        return self.system

    def __exit__(self, *_: object) -> None:
        self.system.stop()


def purchase_in(shard: int, key: bytes, first: int) -> str:
    """A purchase whose notifications are in this shard."""
    while shard_of(f"appstore:Production:{first}", key) != shard:
        first += 1
    return str(first)


def shard_of(text: str, key: bytes) -> int:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()[0]


def test_a_hanging_responder_delays_only_the_purchase_of_its_certificate(tmp_path, responder):  # noqa: F811
    maker = Maker(random.Random(12))
    quick, slow = responder.chain("quick"), responder.chain("slow")
    system = system_with(tmp_path, maker, "required")
    ingest = system.service("ingest")
    system.service("verifier")
    with system:
        key = system.client.get("{attr:000}:digest-key")
        purchase = "700000000000001"
        shard = shard_of(f"appstore:Production:{purchase}", key)
        # The answer about the certificates of `quick` is cached from now on.
        maker.chain = quick
        known = [maker.notification("700000000000000")]
        post(ingest, known[0])
        system.wait_until_worked()
        responder.hang()
        maker.chain = slow
        waiting = [maker.notification(purchase)]
        assert int(post(ingest, waiting[0])[:3]) == shard
        wait_for(lambda: responder.hanging > 0)
        # Other messages of this shard are processed, and forgeries that name this purchase too.
        rejected = post_forgeries(ingest, maker, purchase, 200)
        maker.chain = quick
        next_one = maker.notification(purchase)
        post(ingest, next_one)
        other = purchase_in(shard, key, 700000000000002)
        known += [maker.notification(other) for _ in range(3)]
        for delivery in known[1:]:
            assert int(post(ingest, delivery)[:3]) == shard
        postbacks = []
        while len(postbacks) < 3:
            postback = maker.postback()
            if shard_of(f"skadnetwork:example123.skadnetwork:{postback.name.lower()}:0", key) == shard:
                postbacks.append(postback)
                assert int(post(ingest, postback)[:3]) == shard
        wait_for(lambda: set(system.states(rejected).values()) == {"rejected"})
        wait_for(lambda: names(system).count(known[-1].name) == 1)
        wait_for(lambda: sum(event["type"] == POSTBACK for event in system.events()) == 3)
        found = names(system)
        assert [name for name in found if name in {delivery.name for delivery in known[1:]}] == [delivery.name for delivery in known[1:]]
        assert waiting[0].name not in found and next_one.name not in found
        assert len(lines(system)) == 1
        responder.answer_again()
        wait_for(lambda: next_one.name in names(system), 120)
        found = names(system)
        assert found.index(waiting[0].name) < found.index(next_one.name)
        system.wait_until_worked()
        assert lines(system) == []
