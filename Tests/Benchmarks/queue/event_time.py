"""From posts to events with every process on the machine's cores: events a second, and the time from a 200 to its event."""

from __future__ import annotations

import pathlib
import tempfile
import time

from Benchmarks.bench import NO_REWRITES, TOGETHER, Redis, Report, Server, median, shown
from Benchmarks.ingest.postbacks import Signer
from Benchmarks.ingest.process import Ingest, counted, grown
from Benchmarks.native.programs import Native

from .queue_bench import busy, events

# The bytes of an event, of its entry in the index, and of a finished delivery's record, in one shard.
KEPT = """local events, index = '{attr:000}:events', '{attr:000}:events:index'
local size = function(key) return redis.call('MEMORY', 'USAGE', key, 'SAMPLES', 0) end
local records, many = 0, 0
for _, key in ipairs(redis.call('KEYS', '{attr:000}:r:*')) do records, many = records + size(key), many + 1 end
return {size(events) / redis.call('XLEN', events), size(index) / redis.call('HLEN', index), records / many}"""

# Events of one in this number of shards are observed.
WATCHED = 16
# How the processes run while the time to the event is measured, by the core that they get.
WAYS = {None: "Redis on a port of loopback", TOGETHER: "Redis on a socket, no process preempts another, as with Deploy/up"}
# A round's 99th percentile also depends on the host: the median of fewer rounds varies from run to run.
ROUNDS = 9
# The maximum ratio of the time from 200 to event to a bare accept's time in the same round.
TARGETS = {"p50": 2.5, "p99": 4}
NOTES = [
    "As with Deploy/up, Redis, ingest and verifier are started with chrt --batch 0; the client and the program that waits for events are not.",
    ("Answers and events are timed by the kernel when they arrive at their client's socket. The time of an accept begins when its request was "
    "due. The time from 200 to event ends when the event arrives at a program that waits at Redis for 16 of the 256 shards, with a connection "
    "for each; it is 0 if the event arrived before the 200."),
    ("A bare accept is one while no verifier runs, at the same rate, in the same round. The p99 is compared with the p99 of the bare accept, "
    "because occasional delays of the host are in both. Both ratios are computed in each round, and their median counts."),
]


def noted(file: pathlib.Path) -> dict[str, int]:
    """The times of answers or events by delivery id; see load.c and observe.c."""
    return {name: int(at) for name, at in map(str.split, file.read_text().splitlines())}


def whole_way(binaries: pathlib.Path, native: Native, signer: Signer, bodies: pathlib.Path, count: int, sizes: bool = False,
              directory: str | None = None) -> dict:
    """From posts to events at the maximum rate: events a second until the last event was published, and the processor time of each process
    for one; with `sizes`, also the bytes that each left in Redis. `directory` is that of Redis' files; the default is the temporary one."""
    with Redis(None, *NO_REWRITES, directory=directory) as redis, Ingest(binaries, redis) as ingest, \
            Server(binaries, "verifier", signer.configuration, core=None, ATTRIBUTION_REDIS_URL=redis.url) as verifier:
        processes = {"ingest": ingest.process, "verifier": verifier.process, "redis": redis.process}
        used = {name: busy(process) for name, process in processes.items()}
        began, before = time.monotonic(), counted(redis)
        native.load(ingest.public, 120, bodies=bodies)
        while events(redis) < count:
            if time.monotonic() - began > 120:
                raise RuntimeError("events are missing")
            time.sleep(0.05)
        found = {"rate": count / (time.monotonic() - began)}
        found["spent"] = {name: (busy(process) - used[name]) / count * 1e6 for name, process in processes.items()}
        if sizes:
            time.sleep(1)
            event, index, record = map(int, redis.cli("EVAL", KEPT, "0").split())
            found["bytes"] = {**grown(redis, before, count), "event": event, "index": index, "record": record}
        return found


class EventTime:
    """Rounds at one rate: bare accepts, then the same with a running verifier, and the time of the events. The first second of each
    is not measured."""

    def __init__(self, binaries: pathlib.Path, native: Native, signer: Signer, rate: float, seconds: float, folder: pathlib.Path) -> None:
        self.binaries, self.native, self.signer, self.rate, self.seconds = binaries, native, signer, rate, seconds
        self.first, self.bodies, self.answers, self.events = (folder / name for name in ("first", "bodies", "answers", "events"))
        # Each round has its own Redis, so that all can send the same postbacks.
        signer.write(self.first, int(rate))
        signer.write(self.bodies, int(rate * (seconds + 1)))

    def round(self, way: str | None) -> dict:
        with Redis(way, *NO_REWRITES) as redis, Ingest(self.binaries, redis) as ingest:
            self.native.load(ingest.public, 1, rate=self.rate, seed=3)
            bare = self.native.load(ingest.public, self.seconds, rate=self.rate)
        with Redis(way, *NO_REWRITES) as redis, Ingest(self.binaries, redis) as ingest, \
                Server(self.binaries, "verifier", self.signer.configuration, core=way, ATTRIBUTION_REDIS_URL=redis.url) as verifier:
            processes = {"ingest": ingest.process, "verifier": verifier.process, "redis": redis.process}
            with self.native.observed(redis.port, WATCHED, self.events):
                time.sleep(1)
                self.native.load(ingest.public, 1, rate=self.rate, bodies=self.first)
                used = {name: busy(process) for name, process in processes.items()}
                run = self.native.load(ingest.public, self.seconds, rate=self.rate, bodies=self.bodies, times=self.answers)
                # A part of a second is enough for the last events, because little processor time is used without load.
                time.sleep(2)
            spent = {name: (busy(process) - used[name]) / run["answers"] * 1e6 for name, process in processes.items()}
        seen = noted(self.events)
        answered = {name: at for name, at in noted(self.answers).items() if int(name[:3]) % WATCHED == 0}
        if missing := answered.keys() - seen.keys():
            raise RuntimeError(f"no event for {len(missing)} of {len(answered)} answers")
        waited = sorted((seen[name] - at) / 1e6 for name, at in answered.items())
        p50, p99 = (max(0.0, waited[int(share * (len(waited) - 1))]) for share in (0.5, 0.99))
        return {"bare": bare, "beside": run, "p50": p50, "p99": p99, "samples": len(waited), "spent": spent}


def add_rounds(report: Report, found: dict[str | None, list[dict]]) -> None:
    """Adds the rounds of each way to the report, with their targets."""
    for way, title in WAYS.items():
        rounds = found[way]
        report.add(f"at half of that, {title}", "")
        for what, name in (("bare accept", "bare"), ("accept beside the verifier's work", "beside")):
            for part in ("p50", "p99"):
                report.add(f"  {what}, {part}", f"{shown([one[name][part] for one in rounds])} ms")
        samples = sum(one["samples"] for one in rounds)
        for part, most in TARGETS.items():
            report.add(f"  from 200 to event ({samples:,} samples), {part}", f"{shown([one[part] for one in rounds])} ms")
            ratios = [one[part] / one["bare"][part] for one in rounds]
            report.add(f"    beside the bare accept's own {part}", f"{shown(ratios, '.1f')} times", f"at most {most}", median(ratios) <= most)
        beside = [one["p99"] / one["bare"]["p50"] for one in rounds]
        report.add("    that p99 beside the bare accept's p50", f"{shown(beside, '.1f')} times")
        spent = [f"{median([one['spent'][name] for one in rounds]):.0f}" for name in ("ingest", "verifier", "redis")]
        report.add("  processor time for accept and event: ingest, verifier, Redis", " µs, ".join(spent) + " µs")


def measure(report: Report, binaries: pathlib.Path, native: Native, full: float, seconds: float, rounds: int) -> None:
    """Half of the maximum rate of the whole path is used, with every process on the machine's cores: events keep up with the accepts."""
    signer = Signer()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        bodies, count = folder / "postbacks", int(full * 2)
        signer.write(bodies, count)
        whole = whole_way(binaries, native, signer, bodies, count, sizes=True)
        most, sizes = whole["rate"], whole["bytes"]
        times = EventTime(binaries, native, signer, most / 2, seconds, folder)
        found = {way: [] for way in WAYS}
        for _ in range(rounds):
            for way in WAYS:
                found[way].append(times.round(way))
    report.figures["event"] = {"most": most, "rate": most / 2, "rounds": found[None], "roundsTogether": found[TOGETHER], "bytes": sizes}
    report.add("bytes of the whole way: append-only file, Redis memory", f"{sizes['aof_current_size']:,.0f}, {sizes['used_memory']:,.0f}")
    report.add("  of these an event, its entry in the index, a record", f"{sizes['event']:,}, {sizes['index']:,}, {sizes['record']:,}")
    report.add("  to and from Redis", f"{sizes['total_net_input_bytes']:,.0f}, {sizes['total_net_output_bytes']:,.0f}")
    report.add("the whole way, from posts to events, both cores: a second", f"{most:,.0f}")
    add_rounds(report, found)
