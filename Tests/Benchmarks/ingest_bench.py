"""Ingest: durable accepts beside what redis-benchmark does with the same script, duplicates, and the time from a 200 to its event."""

from __future__ import annotations

import json
import pathlib
import re
import resource
import subprocess
import tempfile
import time

from bench import NO_REWRITES, TOGETHER, Redis, Report, Server, free_port, median
from native import SCRIPT, Native
from postbacks import Signer
from queue_bench import busy

ENOUGH = "queues: { backlogBound: 1000000000 }\n"
LENGTHS = """for i = 0, 255 do
  local entry = redis.call('XRANGE', string.format('{attr:%03d}:q:intake', i), '-', '+', 'COUNT', 1)[1]
  if entry then return {#entry[2][6], #entry[2][8]} end
end"""


RECORD = '{"s":"accepted","q":"intake","k":"skadnetwork-postback","a":%d,"n":0}'
# Bytes of an event, of its place in the index, and of a finished delivery's record, from one shard.
KEPT = """local events, index = '{attr:000}:events', '{attr:000}:events:index'
local size = function(key) return redis.call('MEMORY', 'USAGE', key, 'SAMPLES', 0) end
local records, many = 0, 0
for _, key in ipairs(redis.call('KEYS', '{attr:000}:r:*')) do records, many = records + size(key), many + 1 end
return {size(events) / redis.call('XLEN', events), size(index) / redis.call('HLEN', index), records / many}"""


class Ingest(Server):
    """An ingest with its public port, where its Redis runs."""

    def __init__(self, binaries: pathlib.Path, redis: Redis, configuration: str = ENOUGH):
        self.public = free_port()
        super().__init__(binaries, "ingest", configuration, core=redis.core, ATTRIBUTION_REDIS_URL=redis.url,
                         ATTRIBUTION_PUBLIC_LISTEN=f"127.0.0.1:{self.public}")


class RedisBenchmark:
    """`redis-benchmark -c 64 -P 1` with the accept script: its rate, and the core share that it and Redis took."""

    def __init__(self, redis: Redis, sha1: str, seconds: float, body: int, envelope: int):
        number = "__rand_int__"
        shard = "{attr:017}"
        name = f"{number}{number}00000000"
        # 65,536 buckets; two random numbers name a delivery, and one is its member in a bucket of that many.
        words = ["evalsha", sha1, "7", *(f"{shard}:seen:c:{generation}:{number}" for generation in (2060, 2059, 2061)),
                 f"{shard}:q:intake", f"{shard}:q:intake:delayed", f"{shard}:q:intake:payloads", f"{shard}:r:{name}",
                 f"7{number}", "1731600", "1000000000", f"017-{name}", "86400", RECORD % (time.time() * 1000), "0",
                 "skadnetwork-postback", "x" * body, "y" * envelope]
        count = 2000
        for _ in range(2):
            used, began, usage = busy(redis.process), time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
            run = subprocess.run(["redis-benchmark", "-p", str(redis.port), "-c", "64", "-P", "1", "-n", str(count), "-r", "65536", "--csv",
                                  *words], capture_output=True, text=True, check=True)
            took = time.monotonic() - began
            spent = resource.getrusage(resource.RUSAGE_CHILDREN)
            self.rate = float(re.search(r'","([\d.]+)","[\d.]+","', run.stdout.splitlines()[-1])[1])
            self.redis = (busy(redis.process) - used) / count * 1e6
            self.core = (spent.ru_utime + spent.ru_stime - usage.ru_utime - usage.ru_stime) / took
            count = int(self.rate * seconds)


def counted(redis: Redis) -> dict[str, int]:
    """What Redis has written, read and holds, bytes."""
    text = redis.cli("INFO", "everything")
    return {name: int(re.search(rf"\b{name}:(\d+)", text)[1]) for name in
            ("aof_current_size", "total_net_input_bytes", "total_net_output_bytes", "used_memory")}


def grown(redis: Redis, before: dict[str, int], count: int) -> dict[str, float]:
    """By how much each grew for each of so many deliveries."""
    return {name: (value - before[name]) / count for name, value in counted(redis).items()}


def load_script(redis: Redis) -> str:
    with SCRIPT.open("rb") as source:
        return subprocess.run(["redis-cli", "-p", str(redis.port), "-x", "script", "load"], stdin=source, capture_output=True, text=True,
                              check=True).stdout.strip()


def speed(report: Report, binaries: pathlib.Path, native: Native, seconds: float, rounds: int) -> float:
    with Redis(None, *NO_REWRITES) as redis, Ingest(binaries, redis) as ingest:
        native.load(ingest.public, 1)
        body, envelope = map(int, redis.cli("EVAL", LENGTHS, "0").split())
    rounds_of = {name: [] for name in ("ceiling", "spread", "accepts", "duplicates")}
    costs = {name: [] for name in ("ceiling redis", "ceiling client", "redis", "ingest", "client", "p50")}
    for number in range(rounds):
        with Redis(None, *NO_REWRITES) as redis:
            ceiling = RedisBenchmark(redis, load_script(redis), seconds, body, envelope)
            rounds_of["ceiling"].append(ceiling.rate)
            costs["ceiling redis"].append(ceiling.redis)
            costs["ceiling client"].append(ceiling.core)
        with Redis(None, *NO_REWRITES) as redis:
            rounds_of["spread"].append(native.accepts(redis.port, load_script(redis), seconds, body=body, envelope=envelope)["rate"])
        with Redis(None, *NO_REWRITES) as redis, Ingest(binaries, redis) as ingest:
            native.load(ingest.public, 1, seed=number + 1000)
            used, before = (busy(redis.process), busy(ingest.process)), counted(redis)
            run = native.load(ingest.public, seconds, seed=number + 1)
            rounds_of["accepts"].append(run["rate"])
            costs["redis"].append((busy(redis.process) - used[0]) / run["answers"] * 1e6)
            costs["ingest"].append((busy(ingest.process) - used[1]) / run["answers"] * 1e6)
            costs["client"].append(run["core"])
            sizes = grown(redis, before, run["answers"])
            costs["p50"].append(run["p50"])
            # A few bodies, sent again and again, as a sender does that was not answered in time.
            native.load(ingest.public, 1, seed=7, repeat=1000)
            rounds_of["duplicates"].append(native.load(ingest.public, seconds, seed=7, repeat=1000)["rate"])
    ratios = [ours / theirs for ours, theirs in zip(rounds_of["accepts"], rounds_of["ceiling"])]
    spread = [ours / theirs for ours, theirs in zip(rounds_of["accepts"], rounds_of["spread"])]
    again = [ours / first for ours, first in zip(rounds_of["duplicates"], rounds_of["accepts"])]
    report.figures["speed"] = {**rounds_of, "ratio": ratios, "ratioToSpread": spread, "costs": costs, "payload": [body, envelope],
                               "bytes": sizes}
    report.add("redis-benchmark -c 64 -P 1, the accept script: a second", f"{median(rounds_of['ceiling']):,.0f}")
    report.add("the same script, keys spread over 256 shards (accepts.c)", f"{median(rounds_of['spread']):,.0f}")
    report.add("ingest, 64 connections: durable accepts a second", f"{median(rounds_of['accepts']):,.0f}")
    ratio = median(ratios)
    report.add("ratio to redis-benchmark", f"{ratio:.2f} ({min(ratios):.2f}–{max(ratios):.2f})", "at least 0.40, aim 0.60", ratio >= 0.40)
    report.add("ratio to the spread keys", f"{median(spread):.2f} ({min(spread):.2f}–{max(spread):.2f})")
    report.add("duplicates a second", f"{median(rounds_of['duplicates']):,.0f}")
    report.add("duplicates beside accepts", f"{median(again):.2f} ({min(again):.2f}–{max(again):.2f})", "at least 1", median(again) >= 1)
    report.add("processor time for an accept: ingest, Redis", f"{median(costs['ingest']):.0f} µs, {median(costs['redis']):.0f} µs")
    report.add("  Redis under redis-benchmark", f"{median(costs['ceiling redis']):.0f} µs")
    report.add("of a core: the load's client, redis-benchmark", f"{median(costs['client']):.2f}, {median(costs['ceiling client']):.2f}")
    report.add("bytes for an accept: append-only file, to Redis",
               f"{sizes['aof_current_size']:,.0f}, {sizes['total_net_input_bytes']:,.0f}")
    return median(rounds_of["accepts"])


# Of so many shards the events of one are watched.
WATCHED = 16


def noted(file: pathlib.Path) -> dict[str, int]:
    """By delivery id, when its answer or its event came; see load.c and observe.c."""
    return {name: int(at) for name, at in map(str.split, file.read_text().splitlines())}


# How the processes run where the time to the event is measured, by the core that they are given.
WAYS = {None: "Redis on a port of loopback", TOGETHER: "Redis on a socket, none takes another's turn, as with Deploy/up"}
COUNT_EVENTS = "local n = 0 for i = 0, 255 do n = n + redis.call('XLEN', string.format('{attr:%03d}:events', i)) end return n"


def event_time(report: Report, binaries: pathlib.Path, native: Native, full: float, seconds: float, rounds: int) -> None:
    """The maximum is that of the whole way, with every process on the machine's cores: where the events keep up with the accepts."""
    signer = Signer()
    with tempfile.TemporaryDirectory() as folder:
        bodies, times = pathlib.Path(folder) / "postbacks", pathlib.Path(folder) / "times"
        count = int(full * 2)
        signer.write(bodies, count)
        with Redis(None, *NO_REWRITES) as redis, Ingest(binaries, redis) as ingest, \
                Server(binaries, "verifier", signer.configuration, core=None, ATTRIBUTION_REDIS_URL=redis.url):
            began, before = time.monotonic(), counted(redis)
            native.load(ingest.public, 60, bodies=bodies)
            while int(redis.cli("EVAL", COUNT_EVENTS, "0")) < count:
                if time.monotonic() - began > 120:
                    raise RuntimeError("events are missing")
                time.sleep(0.05)
            most = count / (time.monotonic() - began)
            time.sleep(1)
            sizes = grown(redis, before, count)
            event, index, record = map(int, redis.cli("EVAL", KEPT, "0").split())
        rate = most / 2
        found = {way: [] for way in WAYS}
        for _ in range(rounds):
            for way in WAYS:
                found[way].append(half(binaries, native, signer, rate, seconds, bodies, times, way))

    def shown(values: list[float], format: str = ".2f") -> str:
        return f"{median(values):{format}} ({min(values):{format}}–{max(values):{format}})"

    report.figures["event"] = {"most": most, "rate": rate, "rounds": found[None], "roundsTogether": found[TOGETHER],
                               "bytes": {**sizes, "event": event, "index": index, "record": record}}
    report.add("bytes of the whole way: append-only file, Redis memory", f"{sizes['aof_current_size']:,.0f}, {sizes['used_memory']:,.0f}")
    report.add("  of these an event, its place in the index, a record", f"{event:,}, {index:,}, {record:,}")
    report.add("  to and from Redis", f"{sizes['total_net_input_bytes']:,.0f}, {sizes['total_net_output_bytes']:,.0f}")
    report.add("the whole way, from posts to events, both cores: a second", f"{most:,.0f}")
    for way, title in WAYS.items():
        report.add(f"at half of that, {title}", "")
        for what, name in (("bare accept", "bare"), ("accept beside the verifier's work", "beside")):
            for part in ("p50", "p99"):
                report.add(f"  {what}, {part}", f"{shown([one[name][part] for one in found[way]])} ms")
        samples = sum(one["samples"] for one in found[way])
        for part, most_times in (("p50", 3), ("p99", 10)):
            # How many times the bare accept's median, in each round.
            ratios = [one[part] / one["bare"]["p50"] for one in found[way]]
            report.add(f"  from 200 to event ({samples:,} samples), {part}", f"{shown([one[part] for one in found[way]])} ms")
            report.add("    beside the bare accept's p50", f"{shown(ratios, '.1f')} times", f"at most {most_times}",
                       median(ratios) <= most_times)


def half(binaries: pathlib.Path, native: Native, signer: Signer, rate: float, seconds: float, bodies: pathlib.Path,
         times: pathlib.Path, way: str | None) -> dict:
    """A round: bare accepts at the rate, then the same with the verifier at work, and how long the events took; each after a second that
    is not measured."""
    with Redis(way, *NO_REWRITES) as redis, Ingest(binaries, redis) as ingest:
        native.load(ingest.public, 1, rate=rate, seed=3)
        bare = native.load(ingest.public, seconds, rate=rate)
    first, events = bodies.with_suffix(".first"), times.with_suffix(".events")
    signer.write(first, int(rate))
    signer.write(bodies, int(rate * (seconds + 1)))
    with Redis(way, *NO_REWRITES) as redis, Ingest(binaries, redis) as ingest, \
            Server(binaries, "verifier", signer.configuration, core=way, ATTRIBUTION_REDIS_URL=redis.url):
        with native.observed(redis.port, WATCHED, events):
            time.sleep(1)
            native.load(ingest.public, 1, rate=rate, bodies=first)
            run = native.load(ingest.public, seconds, rate=rate, bodies=bodies, times=times)
            time.sleep(2)
    seen, answered = noted(events), {name: at for name, at in noted(times).items() if int(name[:3]) % WATCHED == 0}
    if missing := answered.keys() - seen.keys():
        raise RuntimeError(f"no event for {len(missing)} of {len(answered)} answers")
    waited = sorted((seen[name] - at) / 1e6 for name, at in answered.items())
    p50, p99 = (max(0.0, waited[int(share * (len(waited) - 1))]) for share in (0.5, 0.99))
    return {"bare": bare, "beside": run, "p50": p50, "p99": p99, "samples": len(waited)}


def run(binaries: pathlib.Path, quick: bool, command: str) -> Report:
    report = Report("ingest", "Ingest: speed", command)
    with Native() as native:
        full = speed(report, binaries, native, 1 if quick else 5, 1 if quick else 5)
        event_time(report, binaries, native, full, 2 if quick else 8, 1 if quick else 5)
    report.notes += [
        "Every process runs on the same two cores, pinned nowhere, on both sides of each ratio: ingest, Redis and the client for ours, "
        "Redis and redis-benchmark for the ceiling. Each figure is the median of interleaved rounds on a fresh Redis, the range beside it.",
        "Redis syncs its append-only file before each answer (`appendfsync always`); its rewriting is off, since a rewrite takes a core at "
        "moments of its own.",
        "redis-benchmark calls the script as ingest does, with as long a body and envelope, 65,536 buckets and no delivery twice, but with "
        "one stream where ingest has 256 and with last and next generations that never hold: its random numbers cannot name 256 streams "
        "and millions of deliveries at once. One stream stays in the processor's caches. accepts.c does the same with ingest's spread.",
        "As with Deploy/up: Redis, ingest and verifier are started with chrt --batch 0; the client and what waits for events are not.",
        "Times are those at which answers and events came to their client's socket, by the kernel's note of it: that of an accept runs from "
        "when its request was due, that from 200 to event from the 200 to the event's coming to one that waits at Redis (for 16 of the 256 "
        "shards, each with a connection). An event that was there before its 200 counts as waited for no time.",
    ]
    return report
