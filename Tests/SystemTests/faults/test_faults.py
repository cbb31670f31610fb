"""Nothing answered 200 is lost and nothing is counted twice, whatever is killed, stopped, filled or cut meanwhile. Seeded; prints its
counts. Long form with ATTRIBUTION_SOAK=1: 200,000 deliveries and 60 faults; ATTRIBUTION_FAULT_SUMMARY names a file for its summary."""

import asyncio
import collections
import os
import pathlib
import platform
import random
import signal
import time

from .account import account
from .load import Ledger, Maker, send_many
from .process import Proxy
from .system import BINARIES, FaultSystem

SEED = int(os.environ.get("ATTRIBUTION_SEED", "0")) or random.randrange(1 << 32)
SOAK = os.environ.get("ATTRIBUTION_SOAK") == "1"
DELIVERIES, FAULTS, SENDERS = (200_000, 60, 64) if SOAK else (3_000, 12, 24)
LEASE = 2


class Faults:
    def __init__(self, system: FaultSystem, proxies: dict[str, Proxy], dice: random.Random):
        self.system, self.proxies, self.dice = system, proxies, dice
        self.done = collections.Counter()
        self.running: list[asyncio.Task] = []
        # The progress, from 0 to 1.
        self.share = 0.0
        self.kinds = {
            "kill -9 of ingest": self.kill("ingest"), "kill -9 of verifier": self.kill("verifier"), "kill -9 of broker": self.kill("asa"),
            "kill -9 of Redis": self.kill("redis"), "SIGTERM of ingest": self.kill("ingest", signal.SIGTERM),
            "SIGTERM of verifier": self.kill("verifier", signal.SIGTERM), "verifier stopped past its lease": self.stop_verifier,
            "Redis stopped": self.stop_redis, "CLIENT PAUSE": self.pause_redis, "disk full": self.fill_disk,
            "replies to senders cut": self.cut("public"), "replies of Redis cut": self.cut("redis")}

    def random_process(self, name: str):
        return self.dice.choice([one for one in [self.system.redis, *self.system.services] if one.name.startswith(name)])

    def kill(self, name: str, number: signal.Signals = signal.SIGKILL):
        async def run() -> None:
            self.random_process(name).signal(number)
            await asyncio.sleep(self.dice.uniform(0, 0.5))
        return run

    async def stop_verifier(self) -> None:
        one = self.random_process("verifier")
        one.signal(signal.SIGSTOP)
        await asyncio.sleep(LEASE * self.dice.uniform(1.2, 2.2))
        one.signal(signal.SIGCONT)

    async def stop_redis(self) -> None:
        self.system.redis.signal(signal.SIGSTOP)
        # Six seconds are longer than a service waits for an answer.
        await asyncio.sleep(self.dice.choice([0.5, 2, 6]) if SOAK else 1)
        self.system.redis.signal(signal.SIGCONT)

    async def pause_redis(self) -> None:
        length = self.dice.choice([500, 2000, 4000]) if SOAK else 800
        mode = self.dice.choice(["ALL", "WRITE"])
        try:
            await asyncio.to_thread(self.system.client.execute_command, "CLIENT", "PAUSE", length, mode)
        except Exception:  # noqa: BLE001 an earlier fault may have ended Redis
            await asyncio.to_thread(self.system.wait_for_redis)
            await asyncio.to_thread(self.system.client.execute_command, "CLIENT", "PAUSE", length, mode)
        await asyncio.sleep(length / 1000)

    async def fill_disk(self) -> None:
        await asyncio.to_thread(self.system.wait_for_redis)
        before = self.system.redis.starts
        self.system.fill_disk(self.dice.randrange(20_000))
        until = time.monotonic() + 20
        again = time.monotonic() + 2
        while self.system.redis.starts == before and time.monotonic() < until:
            await asyncio.sleep(0.02)
            # After a rewrite, Redis writes to a new, short file: the limit is set again.
            if time.monotonic() > again:
                self.system.fill_disk(self.dice.randrange(2_000))
                again = time.monotonic() + 2
        assert self.system.redis.starts > before, "Redis did not notice that its disk is full"
        # It restarts on a disk that is still full.
        self.system.fill_disk(self.dice.randrange(2_000))
        await asyncio.sleep(self.dice.uniform(0.2, 1))
        self.system.free_disk()

    def cut(self, name: str):
        async def run() -> None:
            until = time.monotonic() + 20
            while await self.proxies[name].cut() == 0 and time.monotonic() < until:
                await asyncio.sleep(0.2)
        return run

    async def run(self, ledger: Ledger) -> None:
        plan = list(self.kinds) * -(-FAULTS // len(self.kinds))
        plan = plan[:FAULTS]
        began = time.monotonic()
        self.dice.shuffle(plan)
        for number, kind in enumerate(plan):
            # Spread over the load. One in five happens together with the next.
            while ledger.count < DELIVERIES * (number + 0.5) / (FAULTS + 1):
                await asyncio.sleep(0.02)
            task = asyncio.create_task(self.kinds[kind]())
            if self.dice.random() > 0.2:
                await task
            else:
                await asyncio.sleep(0.1)
                self.running.append(task)
            self.done[kind] += 1
            self.share = (number + 0.99) / FAULTS
            print(f"{time.monotonic() - began:6.1f} s  {ledger.count:7,} acknowledged, after: {kind}", flush=True)
        await asyncio.gather(*self.running)
        self.share = 1.0



async def play(system: FaultSystem, maker: Maker, dice: random.Random, proxies: dict[str, Proxy]) -> tuple[Ledger, Faults]:
    for proxy in proxies.values():
        await proxy.start()
    await asyncio.to_thread(system.start)
    ledger, faults = Ledger(), Faults(system, proxies, dice)
    ports = [service.public_port for service in system.services if service.public_port] + [proxies["public"].port]
    async with asyncio.TaskGroup() as group:
        for _ in range(SENDERS):
            group.create_task(send_many(maker, ports, ledger, DELIVERIES, dice.randrange(1 << 60), sessions=True, faults_done=lambda: faults.share))
        group.create_task(faults.run(ledger))
    await asyncio.to_thread(system.wait_for_redis)
    await asyncio.to_thread(system.wait_until_worked, 240)
    for proxy in proxies.values():
        await proxy.stop()
    return ledger, faults


def test_acknowledged_deliveries_exist_exactly_once_after_random_failures(tmp_path):
    print(f"seed {SEED}")
    dice = random.Random(SEED)
    maker = Maker(dice)
    # No message is treated as poison here: it must be finished, however often its workers are killed.
    system = FaultSystem(
        tmp_path, maker.apple_key, f"{{ lease: {LEASE}s, workerTimeout: {LEASE}s, maxDeliveries: 100000, maxAttempts: 100000, backoffCap: 1s }}"
    )
    proxies = {"redis": Proxy(system.redis_port, random.Random(dice.random()))}
    simulated = system.start_simulator()
    system.service("ingest", **simulated)
    proxied_ingest = system.service("ingest", proxies["redis"].port, **simulated)
    system.service("verifier")
    system.service("verifier")
    system.service("verifier", proxies["redis"].port)
    proxies["public"] = Proxy(proxied_ingest.public_port, random.Random(dice.random()))
    system.service("asa-token-broker", **simulated)
    began = time.monotonic()
    try:
        ledger, faults = asyncio.run(play(system, maker, dice, proxies))
        loaded = time.monotonic() - began
        events = system.events()
        counts = account(events, system.states(list(ledger.deliveries)), ledger)
        without_consent = [entry["body"] for entry in system.control("/control/sessions?limit=10000000")["sessions"]
                           if entry["host"].startswith("analytics.")]
        identified = [body for body in without_consent if "idfa" in body or body.get("parameters")]
        assert not identified, f"{len(identified)} of {len(without_consent)} sessions without consent contain an identifier"
        left = system.unfinished()
        assert left["dead"] == 0, left
        starts = {one.name: one.starts for one in [system.redis, *system.services]}
    finally:
        system.stop()
    assert sum(faults.done.values()) == FAULTS and len(ledger.deliveries) >= DELIVERIES
    summary = report(ledger, faults, counts, starts, len(events), loaded)
    print(summary)
    if path := os.environ.get("ATTRIBUTION_FAULT_SUMMARY"):
        pathlib.Path(path).write_text(summary)


def report(ledger: Ledger, faults: Faults, counts: dict[str, int], starts: dict[str, int], events: int, seconds: float) -> str:
    def table(heads: tuple[str, str], rows) -> str:
        return "\n".join([f"| {heads[0]} | {heads[1]} |", "| --- | --- |", *(f"| {name} | {value:,} |" for name, value in rows)])

    cuts = {name: proxy.cuts for name, proxy in faults.proxies.items()}
    return f"""# The fault test

What `Tests/SystemTests/faults/test_faults.py` printed at the end of its {"long" if SOAK else "short"} form: real executables
({"debug" if BINARIES.name == "debug" else "release"}), a real Redis (`appendfsync always`), two instances of ingest, three of verifier, one
broker; {SENDERS} senders that repeat until they are answered 200, as Apple does. Each number is counted by the test, from what was
acknowledged on one side and from what lies in Redis on the other. It fails when they differ.

Again: `ATTRIBUTION_SOAK=1 ATTRIBUTION_SEED={SEED} .build/venv/bin/python -m pytest -s Tests/SystemTests/faults/test_faults.py`
(the seed fixes the faults, their order and the deliveries, not the moments at which they meet).

| | |
| --- | --- |
| seed | {SEED} |
| deliveries acknowledged | {len(ledger.deliveries):,} |
| requests sent for them | {ledger.posts:,} |
| refused (500, 503) and sent again | {sum(ledger.refusals.values()):,} |
| broken off and sent again | {ledger.breaks:,} |
| events | {events:,} |
| **acknowledged and lost** | **0** |
| **counted twice** | **0** |
| **out of order within an original transaction id** | **0** |
| dead letters | 0 |
| seconds, machine | {seconds:,.0f}, {os.cpu_count()} cores, {platform.machine()} |

{table(("what was acknowledged and found", "count"), counts.items())}

{table(("fault", "count"), [*sorted(faults.done.items()), ("**together**", sum(faults.done.values()))])}

Replies cut in the middle: {cuts["public"]} to senders, {cuts["redis"]} of Redis. A full disk is a limit on the
length of Redis' log, in the middle of a write; it ends Redis, which cannot go on after a failed write with `appendfsync always`.

{table(("process", "starts"), starts.items())}
"""
