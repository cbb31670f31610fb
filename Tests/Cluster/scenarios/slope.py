"""Part 5: accepts and events a second with one, two and three primaries, each limited to the same share of a core."""

from __future__ import annotations

import contextlib
import pathlib
import random
import time

from Benchmarks.native.programs import Native
from Containers.report import Section, median
from SystemTests.faults.load import Maker
from SystemTests.faults.process import Service
from SystemTests.faults.system import BINARIES, SHARDS, FaultSystem

from ..control_group import PERIOD, ControlGroup, reason_against
from ..loaded_run import Size
from ..redis_cluster import RedisCluster, wait_for
from ..redis_node import Settings

NUMBER, TITLE = "5", "Throughput with one, two and three primaries"
COUNTS, ROUNDS = (1, 2, 3), 5
# The share of a core: so small that three primaries, and not the services and the load on the same two cores, are the bottleneck.
SHARE = 0.02 if BINARIES.name == "release" else 0.006
# Deliveries of a round: enough to keep three primaries busy for some seconds. All rounds have the same number, so that a shard always has
# the same concurrency.
POSTBACKS = round(300_000 * SHARE)
# Connections for each primary. Redis answers concurrent commands together, with one write to its disk.
CONNECTIONS = 64
LEAST = 0.9
QUEUES = "{ backlogBound: 1000000000 }"
# No rewrite of the append-only file, because one would change the result of a round.
SETTINGS = Settings(more=("--auto-aof-rewrite-percentage", "0"))


class Deployment:
    """One ingest and one verifier on this number of primaries."""

    def __init__(self, folder: pathlib.Path, maker: Maker, count: int, groups: contextlib.ExitStack) -> None:
        self.folder, self.maker, self.count = folder, maker, count
        self.cluster = RedisCluster(folder / "cluster", count, 0, SETTINGS)
        self.system = FaultSystem(folder, maker.apple_key, QUEUES, store=self.cluster)
        self.ingest, self.verifier = self.system.service("ingest"), self.system.service("verifier")
        groups.enter_context(self.system)
        self.groups = [groups.enter_context(ControlGroup(SHARE)) for _ in self.cluster.nodes]
        for node, group in zip(self.cluster.nodes, self.groups, strict=False):
            group.add(node.pid)

    def measure(self, native: Native) -> tuple[float, float]:
        """Accepts a second while nothing is processed, then events a second of the accepted deliveries."""
        many = POSTBACKS
        bodies = self.folder / "bodies"
        bodies.write_bytes(b"\n".join(self.maker.postback().body for _ in range(many)))
        ask(self.verifier, "PauseQueue")
        # Workers read the flag a few times a second.
        time.sleep(1)
        accepts = native.load(self.ingest.public_port, 60, bodies=bodies, connections=CONNECTIONS * self.count)["rate"]
        before, began = self.system.event_count(), int(time.time() * 1000)
        ask(self.verifier, "ResumeQueue")
        wait_for("all is worked", lambda: self.system.event_count() - before >= many, 120, every=1)
        # From the first fifth to the fourth, because all primaries have work during this time.
        times = self.times_of_events(began)
        first, last = round(0.2 * many), round(0.8 * many)
        events = 1000 * (last - first) / (times[last] - times[first])
        return accepts, events

    def times_of_events(self, since: int) -> list[int]:
        """Milliseconds since 1970, from the events' ids in their streams. The reading is not limited by a quota."""
        for group in self.groups:
            group.lift()
        keys = [f"{{attr:{shard:03d}}}:events" for shard in SHARDS]
        found = [entry for entries in self.cluster.client.run([(key, ("XRANGE", key, since, "+")) for key in keys]) for entry, _ in entries]
        for group in self.groups:
            group.set(SHARE)
        return sorted(int(entry.split(b"-")[0]) for entry in found)


def ask(verifier: Service, method: str) -> None:
    verifier.call("queues.v1.QueuesService", method, {"queue": "intake"})


def run(section: Section, folder: pathlib.Path, _size: Size, seed: int) -> None:
    if reason := reason_against():
        raise RuntimeError(reason)
    maker = Maker(random.Random(seed))
    accepts: dict[int, list[float]] = {count: [] for count in COUNTS}
    events: dict[int, list[float]] = {count: [] for count in COUNTS}
    with contextlib.ExitStack() as stack, Native() as native:
        deployments = {count: Deployment(folder / str(count), maker, count, stack) for count in COUNTS}
        # An unmeasured run first: connections, scripts and buckets exist when the first round begins.
        for deployment in deployments.values():
            deployment.measure(native)
        for number in range(ROUNDS):
            for count in COUNTS if number % 2 == 0 else reversed(COUNTS):
                figures = deployments[count].measure(native)
                accepts[count].append(figures[0])
                events[count].append(figures[1])
    section.add("of a core for each primary", f"{SHARE:g}")
    for what, rounds in (("accepts", accepts), ("events", events)):
        medians = {count: median(values) for count, values in rounds.items()}
        for count, values in rounds.items():
            section.add(f"{what} a second, {count} primar{'ies' if count > 1 else 'y'}: median, rounds",
                        f"{medians[count]:,.0f} ({min(values):,.0f}–{max(values):,.0f})")
        for count in COUNTS[1:]:
            ratio = medians[count] / medians[1] / count
            section.add(f"  of linear, from 1 to {count}", f"{ratio:.2f}", f"at least {LEAST}", ratio >= LEAST)
    section.figures |= {"share": SHARE, "accepts": accepts, "events": events}
    section.notes += [
        (f"Each primary has the same fixed share of a core (a quota of periods of "
         f"{PERIOD // 1000} ms), so that three of them, the services and the load fit "
        "into this machine and Redis decides. Slots are dealt so that each primary has as many of the 256 shards as the others; the "
        "equal ranges of `redis-cli --cluster create` give 80, 85 and 91 of three, 0.94 of linear at best."),
        (f"A round posts {POSTBACKS:,} postbacks over {CONNECTIONS} connections for each primary while the queue is paused, and then works "
        "them: events are counted from the first fifth to the fourth, by their places in the streams. Rounds go up and down in the number of "
        "primaries."),
    ]
