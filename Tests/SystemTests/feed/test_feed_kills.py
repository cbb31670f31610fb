"""No event of the feed is lost and no order is broken, whatever is killed meanwhile: readers that pull, and readers with the client
library. Seeded; prints its counts. Long form with ATTRIBUTION_SOAK=1: 100,000 events and 40 kills for each."""

import asyncio
import collections
import os
import random
import signal
import subprocess
import threading
import time

from SystemTests.faults.load import Connection, Ledger, Maker, deliver
from SystemTests.faults.system import FaultSystem

from .readers import (
    NOTIFICATION,
    POSTBACK,
    Reader,
    assert_in_order,
    call_with_retries,
    consumer_environment,
    drain,
    feed_system,
    first_seen,
    named,
    swift_consumer,
)

SEED = int(os.environ.get("ATTRIBUTION_SEED", "0")) or random.randrange(1 << 32)
SOAK = os.environ.get("ATTRIBUTION_SOAK") == "1"
DELIVERIES, KILLS = (100_000, 40) if SOAK else (900, 6)
# Seconds within which accepted messages are processed, and published events are read.
TIMEOUT = 1_800 if SOAK else 300
SENDERS, PURCHASES = 8, 12
BOTH = [POSTBACK, NOTIFICATION]


class Load:
    """Sends postbacks, and notifications of some purchases, one sender for each purchase, while processes are killed."""

    def __init__(self, system: FaultSystem, maker: Maker, dice: random.Random, victims: list[str]):
        self.system, self.maker, self.dice, self.victims = system, maker, dice, victims
        self.ledger = Ledger()
        self.killed: collections.Counter = collections.Counter()
        self.more: list = []

    async def send(self, seed: int, purchases: list[str]) -> None:
        dice = random.Random(seed)
        connection = Connection([service.public_port for service in named(self.system, "ingest")], dice)
        while self.ledger.count < DELIVERIES or sum(self.killed.values()) < KILLS:
            if self.ledger.count > DELIVERIES * (sum(self.killed.values()) + 1) / (KILLS + 1):
                await asyncio.sleep(0.05)
            genuine = self.maker.notification(dice.choice(purchases)) if dice.random() < 0.4 else self.maker.postback()
            await deliver(connection, genuine, self.ledger)
        connection.close()

    async def kill(self) -> None:
        for number in range(KILLS):
            while self.ledger.count < DELIVERIES * (number + 0.5) / (KILLS + 1):
                await asyncio.sleep(0.02)
            name = self.victims[number % len(self.victims)]
            chosen = self.dice.choice([one for one in [self.system.redis, *self.system.services, *self.more] if one.name.startswith(name)])
            chosen.signal(signal.SIGKILL)
            self.killed[name] += 1
            await asyncio.sleep(self.dice.uniform(0, 0.5))

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(SENDERS):
                own = [str(10 ** 14 + purchase) for purchase in range(PURCHASES) if purchase % SENDERS == number] or [str(2 * 10 ** 14 + number)]
                group.create_task(self.send(self.dice.randrange(1 << 60), own))
            group.create_task(self.kill())


def wait_until_settled(system: FaultSystem, ledger: Ledger, seconds: float = TIMEOUT) -> list[dict]:
    """Every accepted delivery is an event; without those about histories of purchases."""
    until = time.monotonic() + seconds
    system.wait_for_redis()
    while True:
        events = [event for event in system.events() if event["type"] in BOTH]
        if len(events) == len(ledger.deliveries):
            return events
        assert time.monotonic() < until and len(events) < len(ledger.deliveries), (len(events), len(ledger.deliveries))
        time.sleep(0.5)


def create(verifiers, dice, name: str, **fields) -> None:
    call_with_retries(verifiers, "CreateSubscription", {"name": name, **fields}, dice)


def test_pull_loses_nothing_and_keeps_order_while_everything_is_killed(tmp_path):
    print(f"seed {SEED}")
    dice = random.Random(SEED)
    maker = Maker(random.Random(SEED + 1))
    system = feed_system(tmp_path, maker, verifiers=2)
    with system:
        verifiers = named(system, "verifier")
        create(verifiers, dice, "all", types=BOTH)
        create(verifiers, dice, "ordered", types=[NOTIFICATION], filter={"apps": ["com.example.app"], "environments": ["production"]},
               ordered=True)
        create(verifiers, dice, "filtered", types=BOTH, filter={"adNetworkIds": ["example123.skadnetwork"], "apps": ["525463029"]})
        create(verifiers, dice, "sought", types=BOTH)
        create(verifiers, dice, "unread", types=BOTH)
        notes: dict[str, list[str]] = {name: [] for name in ("all", "ordered", "filtered", "sought", "unread")}
        readers = [Reader(verifiers, name, notes[name], dice.randrange(1 << 60))
                   for name in ("all", "ordered", "filtered", "sought") for _ in range(3)]
        for reader in readers:
            reader.start()
        load = Load(system, maker, dice, ["verifier", "redis", "verifier", "ingest"])
        asyncio.run(load.run())
        events = wait_until_settled(system, load.ledger)
        # The subscription seeks back to the middle, by an event and then by a time, while its readers continue.
        middle = sorted(events, key=lambda event: event["time"])[len(events) // 2]
        mark = len(notes["sought"])
        call_with_retries(verifiers, "SeekSubscription", {"subscription": "sought", "eventId": middle["id"]}, dice)
        time.sleep(1)
        call_with_retries(verifiers, "SeekSubscription", {"subscription": "sought", "time": "2000-01-01T00:00:00Z"}, dice)
        time.sleep(2)
        for reader in readers:
            reader.stop()
        for name, noted in notes.items():
            drain(verifiers, name, noted, dice, TIMEOUT)
        by_type = {kind: {event["id"] for event in events if event["type"] == kind} for kind in (POSTBACK, NOTIFICATION)}
        every = by_type[POSTBACK] | by_type[NOTIFICATION]
        expected = {"all": every, "ordered": by_type[NOTIFICATION], "filtered": by_type[POSTBACK], "sought": every, "unread": every}
        for name, ids in expected.items():
            assert set(notes[name]) == ids, (name, len(ids - set(notes[name])), len(set(notes[name]) - ids))
            assert len(first_seen(notes[name])) == len(ids)
        assert set(notes["sought"][mark:]) == every, "set back to before all, it gets all again"
        assert len(notes["unread"]) == len(every), "what nobody disturbed comes once"
        lines = assert_in_order(notes["ordered"], events)
        fates = sum((reader.done for reader in readers), collections.Counter())
        print(f"{len(events)} events, {lines} purchases in order, killed {dict(load.killed)}, readers {dict(fates)}, "
              f"handed out again {({name: len(all) - len(set(all)) for name, all in notes.items()})}")


class Consumer:
    """The Swift example, restarted when it ends; all of them write to one file, each line with one call."""

    def __init__(self, number: int, command, environment: dict, output, log):
        self.name, self.command, self.environment, self.output, self.log = f"consumer-{number}", command, environment, output, log
        self.ending = threading.Event()
        self.process = self.begin()
        self.starts = 1
        self.keeper = threading.Thread(target=self.keep, daemon=True)
        self.keeper.start()

    def begin(self) -> subprocess.Popen:
        return subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=self.output, stderr=self.log, env=self.environment)

    def keep(self) -> None:
        while not self.ending.wait(0.1):
            if self.process.poll() is not None:
                self.process = self.begin()
                self.starts += 1

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def stop(self) -> None:
        self.ending.set()
        self.keeper.join()
        # A library that waits for a verifier's answer ends with its timeout.
        self.process.send_signal(signal.SIGINT)
        try:
            assert self.process.wait(30) == 0
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def test_the_client_library_loses_nothing_and_keeps_order_while_everything_is_killed(tmp_path):
    print(f"seed {SEED}")
    dice = random.Random(SEED)
    maker = Maker(random.Random(SEED + 2))
    command = swift_consumer()
    system = feed_system(tmp_path, maker, verifiers=2)
    with system:
        verifiers = named(system, "verifier")
        create(verifiers, dice, "all", types=BOTH)
        create(verifiers, dice, "ordered", types=[NOTIFICATION], ordered=True)
        consumers = []
        with (tmp_path / "consumers.log").open("ab") as log:
            for number, name in enumerate(["all", "all", "ordered", "ordered"]):
                output = (tmp_path / name).open("ab")
                consumers.append(Consumer(number, [command, name], consumer_environment(verifiers[number % 2], tmp_path), output, log))
            load = Load(system, maker, dice, ["consumer", "verifier", "redis", "consumer"])
            load.more = consumers
            asyncio.run(load.run())
            events = wait_until_settled(system, load.ledger)
            until = time.monotonic() + TIMEOUT
            # Leases of killed consumers expire first.
            while any(int(call_with_retries(verifiers, "GetSubscription", {"name": name}, dice)["subscription"].get("backlog", 0))
                      for name in ("all", "ordered")):
                assert time.monotonic() < until, (tmp_path / "consumers.log").read_text()[-2000:]
                time.sleep(0.3)
            for consumer in consumers:
                consumer.stop()
        every = {event["id"] for event in events}
        notes = {name: [line.split()[0] for line in (tmp_path / name).read_text().splitlines()] for name in ("all", "ordered")}
        assert set(notes["all"]) == every
        assert set(notes["ordered"]) == {event["id"] for event in events if event["type"] == NOTIFICATION}
        lines = assert_in_order(notes["ordered"], events, kills=sum(load.killed.values()))
        print(f"{len(events)} events, {lines} purchases in order, killed {dict(load.killed)}, starts {[one.starts for one in consumers]}, "
              f"worked again {({name: len(all) - len(set(all)) for name, all in notes.items()})}")
