"""Instances of two builds on one Redis, replaced one by one, forward and back, under load: nothing answered 200 is lost, nothing is
counted twice, and events of one subscription stay in order. ATTRIBUTION_OLD_EXECUTABLES names a folder with the executables of a build
that knows only the first form of the store (Tests/Upgrade/build-old creates them); without it, instances of the present build work in that
form instead. Long form with ATTRIBUTION_SOAK=1: 20,000 deliveries. ATTRIBUTION_UPGRADE_SUMMARY names a file for the summary."""

import asyncio
import contextlib
import os
import pathlib
import platform
import random
import signal
import time

import pytest

from .account import account
from .load import Ledger, Maker, send_many
from .process import Service
from .system import BINARIES, FaultSystem

SEED = int(os.environ.get("ATTRIBUTION_SEED", "0")) or random.randrange(1 << 32)
OLD = os.environ.get("ATTRIBUTION_OLD_EXECUTABLES")
SOAK = os.environ.get("ATTRIBUTION_SOAK") == "1"
DELIVERIES, SENDERS = (20_000, 32) if SOAK else (2_400, 16)
FORM = "{attr:000}:form"
QUEUES = "queues.v1.QueuesService"
LIMITS = "{ lease: 2s, workerTimeout: 2s, maxDeliveries: 100000, maxAttempts: 100000, backoffCap: 1s }"
EXECUTABLES = ["verifier", "verifier", "asa-token-broker", "ingest", "ingest"]


class Deployment:
    """Instances by service and build, and the ports that senders post to."""

    def __init__(self, system: FaultSystem, simulated: dict[str, str]):
        self.system, self.simulated = system, simulated
        self.instances: list[tuple[Service, str, str]] = []
        self.ports: list[int] = []

    def add(self, executable: str, build: str) -> Service:
        binaries = pathlib.Path(OLD).resolve() if build == "old" and OLD else BINARIES
        variables = {} if executable == "verifier" else self.simulated
        service = self.system.service(executable, binaries=binaries, **variables)
        self.instances.append((service, executable, build))
        return service

    async def start(self, service: Service) -> None:
        service.start()
        await asyncio.to_thread(self.system.wait_until_ready, service)
        if service.public_port:
            self.ports.append(service.public_port)

    async def end(self, service: Service, number: signal.Signals = signal.SIGTERM) -> None:
        if service.public_port:
            self.ports.remove(service.public_port)
        self.instances = [one for one in self.instances if one[0] is not service]
        if number == signal.SIGKILL:
            service.is_held = True
            service.signal(number)
        await asyncio.to_thread(service.end)

    async def roll(self, build: str, dice: random.Random) -> None:
        """Replaces all instances of other builds, one after another; some are killed instead of stopped."""
        for service, executable, other in list(self.instances):
            if other != build:
                await self.start(self.add(executable, build))
                await asyncio.sleep(dice.uniform(0.2, 1))
                await self.end(service, signal.SIGKILL if dice.random() < 0.3 else signal.SIGTERM)

    def instance(self, executable: str, build: str) -> Service:
        return next(service for service, name, other in self.instances if name == executable and other == build)

    def call(self, method: str, message: dict) -> tuple[int, dict]:
        return self.instance("verifier", "new").rpc(QUEUES, method, message)

    async def change_form(self, form: int) -> None:
        """Changes the form of the store, and returns when all shards have it."""
        until = time.monotonic() + 60
        while True:
            # A killed worker is listed for two more leases, and a busy machine may exceed the deadline of the call.
            status, answer = await asyncio.to_thread(self.call, "SetStoreForm", {"form": form})
            if status == 200:
                break
            assert answer["code"] in ("failed_precondition", "deadline_exceeded") and time.monotonic() < until, (status, answer)
            await asyncio.sleep(0.5)
        assert answer["store"]["form"] == form, answer
        while (store := (await asyncio.to_thread(self.call, "GetStoreForm", {}))[1]["store"]).get("shardsBehind"):
            assert time.monotonic() < until, store
            await asyncio.sleep(0.2)


class Story:
    """The steps of the deployment, spread over the load."""

    def __init__(self, deployment: Deployment, ledger: Ledger, dice: random.Random):
        self.deployment, self.ledger, self.dice = deployment, ledger, dice
        self.share = 0.0
        self.log: list[str] = []

    async def forth(self) -> None:
        await self.deployment.roll("new", self.dice)

    async def back(self) -> None:
        await self.deployment.roll("old", self.dice)

    async def half_forth(self) -> None:
        """Replaces one instance of each executable."""
        for executable in dict.fromkeys(EXECUTABLES):
            await self.deployment.start(self.deployment.add(executable, "new"))
            await self.deployment.end(self.deployment.instance(executable, "old"))

    async def form_2_refused(self) -> None:
        status, answer = await asyncio.to_thread(self.deployment.call, "SetStoreForm", {"form": 2})
        assert status == 400 and answer["code"] == "failed_precondition", (status, answer)
        status, answer = await asyncio.to_thread(self.deployment.call, "GetStoreForm", {})
        store = answer["store"]
        assert store["form"] == 1 and store["newestForm"] == 2 and store["outdatedWorkers"], store

    async def form_2(self) -> None:
        await self.deployment.change_form(2)

    async def form_1(self) -> None:
        await self.deployment.change_form(1)

    async def intruder(self) -> None:
        """Runs one verifier and one ingest of the older build together with the owners of shards. No delivery may be lost or counted twice.
        But the older ingest enters notifications into their order lines when it accepts them, so that the order of notifications is not
        kept if both builds accept them."""
        started = [self.deployment.add(executable, "old") for executable in ("verifier", "ingest")]
        if OLD:
            self.ledger.unordered_ports.add(started[1].public_port)
        for service in started:
            await self.deployment.start(service)
        await asyncio.sleep(3)
        for service in started:
            await self.deployment.end(service)

    async def run(self) -> None:
        plan = [
            ("half the instances replaced", self.half_forth),
            # Without the executables there is no older build.
            *([("the newer form refused while older workers live", self.form_2_refused)] if OLD else []),
            ("all replaced", self.forth),
            ("all back", self.back),
            ("all replaced again", self.forth),
            ("form 2", self.form_2),
            (f"{'an older' if OLD else 'another'} verifier and ingest started in form 2 and ended", self.intruder),
            ("form 1", self.form_1),
            ("all back again", self.back),
            ("all replaced once more", self.forth),
            ("form 2 again", self.form_2),
        ]
        began = time.monotonic()
        for number, (what, step) in enumerate(plan):
            while self.ledger.count < DELIVERIES * (number + 0.5) / (len(plan) + 1):
                await asyncio.sleep(0.02)
            await step()
            self.share = (number + 0.99) / len(plan)
            self.log.append(f"{time.monotonic() - began:.0f} s, {self.ledger.count:,} acknowledged: {what}")
            print(self.log[-1], flush=True)
        self.share = 1.0


async def play(system: FaultSystem, maker: Maker, dice: random.Random, simulated: dict[str, str]) -> tuple[Ledger, Story]:
    await asyncio.to_thread(system.redis.start)
    await asyncio.to_thread(system.wait_for_redis)
    if not OLD:
        system.client.set(FORM, "1")
    deployment = Deployment(system, simulated)
    for executable in EXECUTABLES:
        await deployment.start(deployment.add(executable, "old"))
    system.keeper.start()
    assert system.client.get(FORM) == (None if OLD else b"1")
    ledger = Ledger()
    story = Story(deployment, ledger, dice)
    async with asyncio.TaskGroup() as group:
        for _ in range(SENDERS):
            group.create_task(send_many(
                maker, deployment.ports, ledger, DELIVERIES, dice.randrange(1 << 60), sessions=True, faults_done=lambda: story.share))
        group.create_task(story.run())
    await asyncio.to_thread(system.wait_until_worked, 240)
    return ledger, story


def test_no_delivery_is_lost_or_counted_twice_while_instances_of_two_builds_replace_each_other(tmp_path):
    print(f"seed {SEED}")
    dice = random.Random(SEED)
    maker = Maker(dice)
    system = FaultSystem(tmp_path, maker.apple_key, LIMITS)
    began = time.monotonic()
    try:
        ledger, story = asyncio.run(play(system, maker, dice, system.start_simulator()))
        seconds = time.monotonic() - began
        events = system.events()
        counts = account(events, system.states(list(ledger.deliveries)), ledger)
        counts["subscriptions that the older ingest got in form 2, whose order is not checked"] = len(ledger.unordered)
        left = system.unfinished()
        assert left["dead"] == 0, left
        assert system.client.get(FORM) == b"2"
    finally:
        system.stop()
    summary = report(ledger, story, counts, len(events), seconds)
    print(summary)
    if path := os.environ.get("ATTRIBUTION_UPGRADE_SUMMARY"):
        pathlib.Path(path).write_text(summary)


@pytest.mark.parametrize("form", ["3", "1000"])
def test_a_service_does_not_start_with_a_form_that_its_build_does_not_know(tmp_path, form):
    system = FaultSystem(tmp_path, Maker(random.Random(1)).apple_key)
    try:
        system.redis.start()
        system.wait_for_redis()
        system.client.set(FORM, form)
        system.client.set("{attr:000}:digest-key", b"k" * 32)
        service = system.service("verifier")
        service.start()
        assert service.process.wait(30) == 69
        assert f"has form {form}, and this build knows forms 1 and 2" in service.log()
    finally:
        system.stop()


def test_the_form_is_read_and_changed_by_rpc(tmp_path):
    with contextlib.ExitStack() as stack:
        system = FaultSystem(tmp_path, Maker(random.Random(1)).apple_key)
        service = system.service("verifier")
        stack.enter_context(system)
        store = service.call(QUEUES, "GetStoreForm", {})["store"]
        assert store["form"] == 2 and store["newestForm"] == 2 and not store.get("outdatedWorkers"), store
        for message, field in [({}, "form"), ({"form": 3}, "form"), ({"form": 0}, "form")]:
            status, answer = service.rpc(QUEUES, "SetStoreForm", message)
            assert status == 400 and answer["code"] == "invalid_argument" and field in str(answer), answer
        assert service.call(QUEUES, "SetStoreForm", {"form": 1})["store"]["form"] == 1
        assert service.call(QUEUES, "SetStoreForm", {"form": 2})["store"]["form"] == 2


def report(ledger: Ledger, story: Story, counts: dict[str, int], events: int, seconds: float) -> str:
    def table(rows) -> str:
        return "\n".join(["| | |", "| --- | --- |", *(f"| {name} | {value} |" for name, value in rows)])

    steps = "\n".join(f"1. {line}" for line in story.log)
    older = "executables of commit d81daac" if OLD else "the present build working in form 1"
    configuration = os.environ.get("BUILD_CONFIGURATION", "debug")
    return f"""# The upgrade test

What `Tests/SystemTests/faults/test_upgrade.py` printed at the end of its {"long" if SOAK else "short"} form: two instances of ingest,
two of verifier and one broker on one Redis (`appendfsync always`), replaced one by one under the load of {SENDERS} senders that repeat until they
are answered 200. The older build is {older}, and all are {configuration} executables.
Three in ten of the replaced instances are killed instead of being stopped. The test counts each number twice, in what was acknowledged and in
what is in Redis, and fails if they differ.

Again: `BUILD_CONFIGURATION={configuration} Tests/Upgrade/build-old`, then
`ATTRIBUTION_SOAK=1 BUILD_CONFIGURATION={configuration} ATTRIBUTION_OLD_EXECUTABLES={OLD or ""} \
ATTRIBUTION_SEED={SEED} .build/venv/bin/python -m pytest -s Tests/SystemTests/faults/test_upgrade.py`

{table([("seed", SEED), ("deliveries acknowledged", f"{len(ledger.deliveries):,}"), ("requests sent for them", f"{ledger.posts:,}"),
        ("refused (500, 503) and sent again", f"{sum(ledger.refusals.values()):,}"), ("broken off and sent again", f"{ledger.breaks:,}"),
        ("events", f"{events:,}"), ("**acknowledged and lost**", "**0**"), ("**counted twice**", "**0**"),
        ("**out of order within an original transaction id**", "**0**"), ("dead letters", 0),
        ("seconds, machine", f"{seconds:,.0f}, {os.cpu_count()} cores, {platform.machine()}")])}

{table([(name, f"{value:,}") for name, value in counts.items()])}

What happened meanwhile, with the seconds since the load began:

{steps}
"""
