"""Ingest: durable accepts compared with redis-benchmark running the same script, duplicates, and the time from a 200 to its event."""

from __future__ import annotations

import pathlib
import re
import resource
import subprocess
import time

from Benchmarks.bench import NO_REWRITES, Redis, Report, median, shown
from Benchmarks.native.programs import SCRIPT, Native
from Benchmarks.queue import event_time
from Benchmarks.queue.queue_bench import busy

from .process import ENOUGH, Ingest, counted, grown

# The lengths of a waiting message's body and of its envelope.
LENGTHS = """for i = 0, 255 do
  local entry = redis.call('XRANGE', string.format('{attr:%03d}:q:intake', i), '-', '+', 'COUNT', 1)[1]
  if entry then
    local length = {}
    for at = 1, #entry[2], 2 do length[entry[2][at]] = #entry[2][at + 1] end
    return {length.b, length.a}
  end
end"""


RECORD = '{"s":"accepted","q":"intake","k":"skadnetwork-postback","a":%d,"n":0}'


class RedisBenchmark:
    """`redis-benchmark -c 64 -P 1` with the accept script: its rate, and the share of a core that it and Redis used."""

    def __init__(self, redis: Redis, sha1: str, seconds: float, body: int, envelope: int) -> None:
        number = "__rand_int__"
        shard = "{attr:017}"
        name = f"{number}{number}00000000"
        # 65,536 buckets. Two random numbers name a delivery; one of them is its member in one of these buckets.
        words = ["evalsha", sha1, "7", *(f"{shard}:seen:c:{generation}:{number}" for generation in (2060, 2059, 2061)),
                 f"{shard}:q:intake", f"{shard}:q:intake:delayed", f"{shard}:q:intake:payloads", f"{shard}:r:{name}",
                 f"7{number}", "1731600", "1000000000", f"017-{name}", "86400", RECORD % (time.time() * 1000), "0",
                 "skadnetwork-postback", "x" * body, "y" * envelope, "4096"]
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


def load_script(redis: Redis) -> str:
    with SCRIPT.open("rb") as source:
        return subprocess.run(["redis-cli", "-p", str(redis.port), "-x", "script", "load"], stdin=source, capture_output=True, text=True,
                              check=True).stdout.strip()


def accept_round(binaries: pathlib.Path, native: Native, seconds: float, number: int, repeats: bool = False,
                 settings: str = "") -> dict:
    """Durable accepts at the maximum rate, with every process on the machine's cores: accepts a second, and the processor time of each
    process. `settings` is added to ingest's configuration."""
    with Redis(None, *NO_REWRITES) as redis, Ingest(binaries, redis, ENOUGH + settings) as ingest:
        native.load(ingest.public, 1, seed=number + 1000)
        used, before = (busy(redis.process), busy(ingest.process)), counted(redis)
        run = native.load(ingest.public, seconds, seed=number + 1)
        found = {"rate": run["rate"], "p50": run["p50"], "client": run["core"],
                 "redis": (busy(redis.process) - used[0]) / run["answers"] * 1e6,
                 "ingest": (busy(ingest.process) - used[1]) / run["answers"] * 1e6,
                 "bytes": grown(redis, before, run["answers"])}
        if repeats:
            # A few bodies are sent repeatedly, as by a sender that got no answer in time.
            native.load(ingest.public, 1, seed=7, repeat=1000)
            found["duplicates"] = native.load(ingest.public, seconds, seed=7, repeat=1000)["rate"]
        return found


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
        ours = accept_round(binaries, native, seconds, number, repeats=True)
        sizes = ours["bytes"]
        rounds_of["accepts"].append(ours["rate"])
        rounds_of["duplicates"].append(ours["duplicates"])
        for name in ("redis", "ingest", "client", "p50"):
            costs[name].append(ours[name])
    ratios = [ours / theirs for ours, theirs in zip(rounds_of["accepts"], rounds_of["ceiling"], strict=True)]
    spread = [ours / theirs for ours, theirs in zip(rounds_of["accepts"], rounds_of["spread"], strict=True)]
    again = [ours / first for ours, first in zip(rounds_of["duplicates"], rounds_of["accepts"], strict=True)]
    report.figures["speed"] = {**rounds_of, "ratio": ratios, "ratioToSpread": spread, "costs": costs, "payload": [body, envelope],
                               "bytes": sizes}
    report.add("redis-benchmark -c 64 -P 1, the accept script: a second", f"{median(rounds_of['ceiling']):,.0f}")
    report.add("the same script, keys spread over 256 shards (accepts.c)", f"{median(rounds_of['spread']):,.0f}")
    report.add("ingest, 64 connections: durable accepts a second", f"{median(rounds_of['accepts']):,.0f}")
    report.add("ratio to redis-benchmark", shown(ratios), "at least 0.40, aim 0.60", median(ratios) >= 0.40)
    report.add("ratio to the spread keys", shown(spread))
    report.add("duplicates a second", f"{median(rounds_of['duplicates']):,.0f}")
    report.add("duplicates beside accepts", shown(again), "at least 1", median(again) >= 1)
    report.add("processor time for an accept: ingest, Redis", f"{median(costs['ingest']):.0f} µs, {median(costs['redis']):.0f} µs")
    report.add("  Redis under redis-benchmark", f"{median(costs['ceiling redis']):.0f} µs")
    report.add("of a core: the load's client, redis-benchmark", f"{median(costs['client']):.2f}, {median(costs['ceiling client']):.2f}")
    report.add("bytes for an accept: append-only file, to Redis",
               f"{sizes['aof_current_size']:,.0f}, {sizes['total_net_input_bytes']:,.0f}")
    return median(rounds_of["accepts"])


def run(binaries: pathlib.Path, quick: bool, command: str) -> Report:
    report = Report("ingest", "Ingest: speed", command)
    with Native() as native:
        full = speed(report, binaries, native, 1 if quick else 5, 1 if quick else 5)
        event_time.measure(report, binaries, native, full, 2 if quick else 8, 1 if quick else event_time.ROUNDS)
    report.notes += [
        ("Every process runs on the same two cores, pinned nowhere, on both sides of each ratio: ingest, Redis and the client for ours, "
        "Redis and redis-benchmark for the ceiling. Each figure is the median of interleaved rounds on a fresh Redis, the range beside it."),
        ("Redis syncs its append-only file before each answer (`appendfsync always`); its rewriting is off, because a rewrite uses a core at "
        "unpredictable times."),
        ("redis-benchmark calls the script as ingest does, with a body and an envelope of the same length, 65,536 buckets and no delivery twice. "
        "It has one stream instead of 256 and empty buckets for the last and the next generation, because its random numbers cannot name 256 "
        "streams and millions of deliveries. One stream stays in the processor's caches. accepts.c calls the script with ingest's 256 shards."),
        *event_time.NOTES,
    ]
    return report
