"""Puts load on a system while its Redis is changed, then compares the events with the answers of the senders."""

from __future__ import annotations

import asyncio
import collections
import dataclasses
import pathlib
import random
import time
from collections.abc import Callable
from typing import Any

from SystemTests.faults.account import account
from SystemTests.faults.load import GENUINE, Ledger, Maker, send_many
from SystemTests.faults.system import FaultSystem

from .redis_cluster import SLOTS

LEASE = 2
VERIFIED = "attribution.skadnetwork.postback.verified.v1"
# No message is treated as poison here: it must be finished, however often a primary is killed while a worker processes it.
QUEUES = f"lease: {LEASE}s, workerTimeout: {LEASE}s, maxDeliveries: 100000, maxAttempts: 100000, backoffCap: 1s"


@dataclasses.dataclass(frozen=True)
class Size:
    """The size of a run."""

    deliveries: int
    kills: int = 2
    senders: int = 24
    # The duration of a partition.
    seconds: float = 8
    # The maximum number of deliveries a second to each side of a partition; 0: no limit.
    rate: float = 0
    # The number of slots that are moved and moved back.
    slots: int = SLOTS // 2


# The time to move slots hardly depends on the load, because most slots have no keys: the short form moves a 32nd of them, with eight
# shards. Debug executables accept more than they can process, so the load is limited.
SHORT = Size(3_000, slots=SLOTS // 32, rate=100)


@dataclasses.dataclass
class Result:
    acknowledged: int
    posts: int
    refused: collections.Counter
    broken: int
    # Lost deliveries: acknowledged ones and those without an answer.
    lost: list[str]
    events: int
    counts: dict[str, int]
    loaded: float
    worked_off: float

    @property
    def refused_share(self) -> float:
        return sum(self.refused.values()) / self.posts


class Progress:
    """The progress of the load, and of the work during the load, from 0 to 1."""

    def __init__(self, ledger: Ledger, target: int) -> None:
        self.ledger, self.target, self.share = ledger, target, 0.0

    def wait_for_load(self, share: float, seconds: float = 600) -> None:
        until = time.monotonic() + seconds
        while self.ledger.count < share * self.target:
            if time.monotonic() > until:
                raise TimeoutError(f"{self.ledger.count} of {self.target} deliveries are acknowledged after {seconds:g} s")
            time.sleep(0.02)


Work = Callable[[Progress], None]


def make_system(folder: pathlib.Path, maker: Maker, store: Any, queues: str = "", simulated: bool = True) -> FaultSystem:
    """The five executables, with two instances of ingest and of verifier, so that shards can change their owner."""
    system = FaultSystem(folder, maker.apple_key, "{ " + QUEUES + (", " + queues if queues else "") + " }", store=store)
    apple = system.start_simulator() if simulated else {}
    for name in ("ingest", "ingest", "verifier", "verifier"):
        system.service(name, **apple)
    signer = system.service("signer")
    for name in ("asa-token-broker", "notification-recovery"):
        system.service(name, ATTRIBUTION_SIGNER_URL=f"http://127.0.0.1:{signer.port}", **apple)
    return system


def play(system: FaultSystem, maker: Maker, dice: random.Random, size: Size, work: Work, others: bool = True, losing: bool = False) -> Result:
    """Runs load until the load and `work` are finished, waits until every delivery is processed, and compares. With `others`, tokens and
    sessions are sent too. With `losing`, lost deliveries are counted; otherwise a loss fails the test."""
    ledger = Ledger()
    ports = [service.public_port for service in system.services if service.public_port]
    progress = Progress(ledger, size.deliveries)

    async def load() -> None:
        async with asyncio.TaskGroup() as group:
            beside = group.create_task(asyncio.to_thread(work, progress))
            beside.add_done_callback(lambda _: setattr(progress, "share", 1.0))
            for _ in range(size.senders):
                group.create_task(send_many(maker, ports, ledger, size.deliveries, dice.randrange(1 << 60), tokens=others, sessions=others,
                                            faults_done=lambda: progress.share))

    began = time.monotonic()
    asyncio.run(load())
    loaded = time.monotonic() - began
    system.wait_until_worked(180)
    return compare(system, ledger, loaded, time.monotonic() - began - loaded, losing)


def compare(system: FaultSystem, ledger: Ledger, loaded: float, worked_off: float, losing: bool,
            unanswered: frozenset[str] = frozenset()) -> Result:
    """Fails if an event was published twice or out of order, or a delivery has the wrong state. `unanswered` are names of postbacks that
    were sent and given up: they may have been accepted."""
    events, states = system.events(), system.states(list(ledger.deliveries))
    dead = system.unfinished()["dead"]
    assert dead == 0, f"{dead} dead letters"
    verified = [event["data"]["transactionId"] for event in events if event["type"] == VERIFIED]
    twice = [name for name, count in collections.Counter(verified).items() if count > 1]
    assert not twice, f"{len(twice)} postbacks were counted twice: {twice[:5]}"
    count, acknowledged = len(events), len(ledger.deliveries)
    lost = [id for id, state in states.items() if state == "unknown"]
    assert not lost or losing, f"{len(lost)} of {acknowledged} acknowledged deliveries are lost: {lost[:5]}"
    # Copies of a lost postback are not compared either.
    uncompared = forget(lost, states, ledger) | unanswered - {delivery.name for delivery in ledger.deliveries.values()}
    events = [event for event in events if event["type"] != VERIFIED or event["data"]["transactionId"] not in uncompared]
    return Result(acknowledged, ledger.posts, ledger.refusals, ledger.breaks, lost, count, account(events, states, ledger), loaded, worked_off)


def forget(lost: list[str], states: dict[str, str], ledger: Ledger) -> set[str]:
    """Removes lost deliveries from the comparison; returns the names of lost postbacks."""
    names = set()
    for id in lost:
        delivery = ledger.deliveries.pop(id)
        del states[id]
        if delivery.kind == GENUINE:
            names.add(delivery.name)
        if delivery.order:
            ledger.order[delivery.order].remove(delivery.name)
    return names
