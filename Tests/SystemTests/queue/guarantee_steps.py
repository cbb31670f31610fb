"""Steps that the tests of the queue's guarantees share."""

import concurrent.futures
import json
import os
import random
import signal
import time
from collections.abc import Callable, Iterable
from typing import Any

import redis

from SystemTests.faults.account import account
from SystemTests.faults.load import Delivery, Ledger
from SystemTests.faults.process import Service
from SystemTests.faults.system import SHARDS, FaultSystem

QUEUES = "queues.v1.QueuesService"
SOAK = os.environ.get("ATTRIBUTION_SOAK") == "1"
# The long form sends this many times as many deliveries.
LOAD_FACTOR = 4 if SOAK else 1


def post(service: Service, delivery: Delivery, ledger: Ledger | None = None) -> str:
    status, _, body = service.post(delivery.path, delivery.body)
    assert status in (200, 202), (status, body)
    if ledger:
        ledger.acknowledge(delivery, json.loads(body)["id"])
    return json.loads(body)["id"]


def post_all(services: list[Service], deliveries: Iterable[Delivery], ledger: Ledger) -> None:
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda pair: post(services[pair[0] % len(services)], pair[1], ledger), enumerate(deliveries)))


def eventually(what: str, condition: Callable[[], Any], seconds: float = 60) -> Any:
    until = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < until, f"not in time: {what}"
        time.sleep(0.05)
    return found


def owned(system: FaultSystem, queue: str = "intake") -> list[int]:
    """The shards that a worker owns and has not returned."""
    owners = [system.client.get(f"{{attr:{shard:03d}}}:q:{queue}:owner") for shard in SHARDS]
    return [shard for shard, owner in zip(SHARDS, owners, strict=True) if owner and not owner.endswith(b" -")]


def pending(system: FaultSystem, queue: str = "intake") -> int:
    """Unsettled messages of shards that a worker owns."""
    return sum(system.client.xlen(f"{{attr:{shard:03d}}}:q:{queue}") for shard in owned(system, queue))


def suspend_with_pending_messages(system: FaultSystem, verifier: Service, least: int = 1) -> int:
    """Suspends the one running verifier at a moment when it has messages to settle; returns their number."""
    for _ in range(200):
        verifier.signal(signal.SIGSTOP)
        # Redis may still execute commands that the verifier has sent.
        time.sleep(0.1)
        if (unsettled := pending(system)) >= least:
            return unsettled
        verifier.signal(signal.SIGCONT)
        time.sleep(random.uniform(0, 0.02))
    raise AssertionError("the verifier never had unsettled messages")


def check(system: FaultSystem, ledger: Ledger) -> dict[str, int]:
    """Waits until the queues are empty, and checks that every acknowledged delivery has exactly one result; returns the counts."""
    system.wait_until_worked()
    return account(system.events(), system.states(list(ledger.deliveries)), ledger)


def answers(client: redis.Redis) -> bool:
    try:
        return client.ping()
    except redis.RedisError:
        return False
