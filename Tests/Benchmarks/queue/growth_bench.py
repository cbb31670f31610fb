"""The cost of a delivery in Redis as the number of keys grows: bytes of memory and of the append-only file, and microseconds of an
accept."""

from __future__ import annotations

import math
import pathlib
import re
import time
from collections.abc import Sequence

from Benchmarks.bench import Redis, Report
from Benchmarks.ingest.ingest_bench import load_script
from Benchmarks.native.programs import Native

from . import deduplication_memory
from .queue_bench import busy

UNSYNCED = ("--appendonly", "no")
SHARDS = 256
# The bytes of a postback, and of the data that ingest stores with it.
BODY, ENVELOPE = 452, 340
PROBE = 20_000
# The natural keys of a generation at 1e9 postbacks a day: a generation lasts ten days.
KEYS_A_GENERATION = 10**10


def memory(redis: Redis) -> int:
    """The bytes of the stored data, without temporary memory of clients and of the append-only file."""
    found = dict(re.findall(r"(\w+):(\d+)", redis.cli("INFO", "memory")))
    return int(found["used_memory"]) - int(found["mem_clients_normal"]) - int(found["mem_aof_buffer"])


def script_time(redis: Redis) -> tuple[int, int]:
    found = re.search(r"cmdstat_evalsha:calls=(\d+),usec=(\d+)", redis.cli("INFO", "commandstats"))
    return (int(found[1]), int(found[2])) if found else (0, 0)


def each_shard(redis: Redis, command: str) -> None:
    redis.cli("EVAL", f"for i = 0, 255 do redis.call({command}) end", "0")


def forget(redis: Redis, seconds: float) -> None:
    """Removes queued messages and waits until records have expired, so that only the deduplication store remains."""
    each_shard(redis, "'XTRIM', string.format('{attr:%03d}:q:intake', i), 'MAXLEN', 0")
    time.sleep(seconds + 0.2)
    # Redis deletes an expired key when the key is accessed.
    redis.cli("--scan", "--count", "10000")


# Adds this number of members to one bucket of each shard, with the key names and the format that ingest passes to the script.
ADD = """math.randomseed(tonumber(ARGV[4]))
for shard = 0, 255 do
  local members = {}
  for index = 1, math.floor(tonumber(ARGV[3]) + math.random()) do
    members[index] = string.format('%d%09d', math.random(100, 922337202), math.random(0, 999999999))
  end
  if #members > 0 then redis.call('SADD', string.format('{attr:%03d}:seen:d:%d:%d', shard, ARGV[2], ARGV[1]), unpack(members)) end
end
return 'added'"""


def remember(redis: Redis, count: int, seed: int) -> None:
    """Adds this number of keys, spread over the 65,536 buckets. The script would take minutes for millions."""
    generation = str(int(time.time()) // (10 * 86400))
    for bucket in range(256):
        answer = redis.cli("EVAL", ADD, "0", str(bucket), generation, str(count / 65_536), str(seed * 256 + bucket))
        if answer != "added":
            raise RuntimeError(answer)


def growth(native: Native, most: int) -> list[dict]:
    points = []
    with Redis(None, *UNSYNCED) as redis:
        sha1 = load_script(redis)
        each_shard(redis, "'XADD', string.format('{attr:%03d}:q:intake', i), '*', 'i', ''")
        forget(redis, 0)
        empty, keys, seed = memory(redis), 0, 0
        for goal in [part * 10**power for power in (5, 6, 7) for part in (1, 2, 5) if part * 10**power <= most]:
            if keys >= 10**6:
                remember(redis, goal - PROBE - keys, seed)
                keys = goal - PROBE
            while keys < goal - PROBE:
                # In parts, so that queued messages and records do not fill the memory.
                part = min(100_000, goal - PROBE - keys)
                seed += 1
                accept(native, redis, sha1, part, seed, body=20, record=1)
                each_shard(redis, "'XTRIM', string.format('{attr:%03d}:q:intake', i), 'MAXLEN', 0")
                keys += part
            forget(redis, 1)
            before, used, (calls, micros) = memory(redis), busy(redis.process), script_time(redis)
            seed += 1
            accept(native, redis, sha1, PROBE, seed, body=BODY, record=4)
            waiting, (after, spent) = memory(redis), script_time(redis)
            cost = (busy(redis.process) - used) / PROBE * 1e6
            keys += PROBE
            forget(redis, 4)
            points.append({"keys": keys, "bytesPerKey": (memory(redis) - empty) / keys, "bytesPerDelivery": (waiting - before) / PROBE,
                           "script": (spent - micros) / (after - calls), "redis": cost})
            print(points[-1], flush=True)
    return points


def accept(native: Native, redis: Redis, sha1: str, count: int, seed: int, *, body: int, record: int) -> None:
    run = native.accepts(redis.port, sha1, 600, count=count, seed=seed, body=body, envelope=ENVELOPE if body == BODY else 20, pipeline=4,
                         record_seconds=record, store="d", buckets=256, generation=10 * 86_400)
    if run["taken"] != count:
        raise RuntimeError(f"{run['taken']} of {count} were new")


def filled_buckets(native: Native, mean: int, buckets: int) -> dict:
    """Fills some buckets of each shard to the maximum by the accept script, and reads how Redis stores them."""
    look = """local most, whole, memory = 0, 0, 0
for shard = 0, 255 do
  for bucket = 0, tonumber(ARGV[1]) - 1 do
    local key = string.format('{attr:%03d}:seen:d:%d:%d', shard, ARGV[2], bucket)
    most = math.max(most, redis.call('SCARD', key))
    if redis.call('OBJECT', 'ENCODING', key) == 'intset' then whole = whole + 1 end
    memory = memory + redis.call('MEMORY', 'USAGE', key, 'SAMPLES', 0)
  end
end
return {most, whole, memory}"""
    with Redis(None, *UNSYNCED) as redis:
        sha1 = load_script(redis)
        count = SHARDS * buckets * mean
        for seed in range(0, count, 100_000):
            native.accepts(redis.port, sha1, 600, count=min(100_000, count - seed), seed=1 + seed, body=20, envelope=20, pipeline=16,
                           record_seconds=1, store="d", buckets=buckets, generation=10 * 86_400)
            each_shard(redis, "'XTRIM', string.format('{attr:%03d}:q:intake', i), 'MAXLEN', 0")
        most, whole, bytes_used = map(int, redis.cli("EVAL", look, "0", str(buckets), str(int(time.time()) // (10 * 86400))).split())
    return {"buckets": SHARDS * buckets, "mean": mean, "fullest": most, "integerSets": whole, "bytesPerKey": bytes_used / count}


def beyond(mean: float, most: int = 512) -> float:
    """The probability that a bucket has more members than this: digests are distributed as a Poisson process."""
    return sum(math.exp(count * math.log(mean) - mean - math.lgamma(count + 1)) for count in range(most + 1, most + 2000))


def plot(points: list[dict], path: pathlib.Path) -> None:
    """Three curves over the number of keys, as an SVG that needs no library."""
    panels = [("bytesPerKey", "Redis memory, bytes a key (logarithmic)"), ("bytesPerDelivery", "bytes a waiting delivery, its record included"),
              ("script", "accept script, µs")]
    width, height, left, top, gap = 760, 190, 70, 40, 70
    words = [(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width + left + 40} {len(panels) * (height + gap) + top}" '
             'font-family="sans-serif" font-size="13">'), '<rect width="100%" height="100%" fill="white"/>']
    low, high = (math.log10(points[at]["keys"]) for at in (0, -1))
    for number, (name, title) in enumerate(panels):
        base = top + number * (height + gap) + height
        values = [point[name] for point in points]
        if name == "bytesPerKey":
            ticks = [4 * 2**power for power in range(3 + int(math.log2(max(values) / 4)))]
        else:
            step = 10 ** math.floor(math.log10(max(values)))
            step = next(step * part for part in (0.2, 0.5, 1, 2) if max(values) / (step * part) < 6)
            ticks = [step * part for part in range(2 + int(1.1 * max(values) / step))]

        def x(keys: float) -> float:
            return left + 30 + (math.log10(keys) - low) / max(high - low, 1e-9) * (width - 50)

        def y(value: float, name: str = name, base: float = base, ticks: Sequence[float] = tuple(ticks)) -> float:
            if name == "bytesPerKey":
                return base - math.log(value / ticks[0]) / math.log(ticks[-1] / ticks[0]) * height
            return base - value / ticks[-1] * height

        words.append(f'<text x="{left}" y="{base - height - 8}" font-weight="bold">{title}</text>')
        for value in ticks:
            words.append(f'<line x1="{left}" x2="{left + width}" y1="{y(value):.1f}" y2="{y(value):.1f}" stroke="#ddd"/>'
                         f'<text x="{left - 8}" y="{y(value) + 4:.1f}" text-anchor="end">{value:,g}</text>')
        if name == "bytesPerKey":
            words.append(f'<line x1="{left}" x2="{left + width}" y1="{y(12):.1f}" y2="{y(12):.1f}" stroke="#c00" stroke-dasharray="6 4"/>'
                         f'<text x="{left + 8}" y="{y(12) - 5:.1f}" fill="#c00">at ten million: at most 12</text>')
        line = " ".join(f"{x(point['keys']):.1f},{y(point[name]):.1f}" for point in points)
        words.append(f'<polyline points="{line}" fill="none" stroke="#06c" stroke-width="2"/>')
        for point in points:
            words.append(f'<circle cx="{x(point["keys"]):.1f}" cy="{y(point[name]):.1f}" r="3.5" fill="#06c"/>'
                         f'<text x="{x(point["keys"]):.1f}" y="{y(point[name]) - 9:.1f}" text-anchor="middle" font-size="11">'
                         f'{point[name]:,.1f}</text>'
                         f'<text x="{x(point["keys"]):.1f}" y="{base + 17}" text-anchor="middle">{point["keys"]:.0e}</text>')
        words.append(f'<text x="{left + width / 2}" y="{base + 36}" text-anchor="middle">keys remembered</text>')
    path.write_text("\n".join([*words, "</svg>"]) + "\n")


def run(_binaries: pathlib.Path, quick: bool, command: str) -> Report:
    report = Report("growth", "What a delivery costs Redis as keys grow in number", command)
    with Native() as native:
        points = growth(native, 200_000 if quick else 10_000_000)
        seen_buckets = 1 << 17
        mean = KEYS_A_GENERATION / SHARDS / seen_buckets
        filled = [filled_buckets(native, round(mean), 1 if quick else 4), filled_buckets(native, 600, 1 if quick else 4)]
        deduplication_memory.report(report, native, load_script, quick)
    report.figures["filled"] = filled
    report.figures["points"] = points
    for point in points:
        report.add(f"{point['keys']:,} keys: bytes a key, a waiting delivery; script, Redis",
                   f"{point['bytesPerKey']:.1f}, {point['bytesPerDelivery']:.0f}; {point['script']:.1f} µs, {point['redis']:.1f} µs")
    if not quick:
        last = points[-1]["bytesPerKey"]
        report.add("bytes for a key at ten million", f"{last:.1f}", "at most 12", last <= 12)
    beyond_bound = report.figures["beyond"] = SHARDS * seen_buckets * beyond(mean)
    for each in filled:
        report.add(f"buckets of {each['mean']} on average: fullest; integer sets of {each['buckets']:,}; bytes a key",
                   f"{each['fullest']}; {each['integerSets']:,}; {each['bytesPerKey']:.1f}")
    report.add(f"buckets past 512 to be expected of {SHARDS * seen_buckets:,}", f"{beyond_bound:.1e}", "under 0.01", beyond_bound < 0.01)
    report.plot = lambda folder: plot(points, folder / "growth.svg")
    report.notes += [
        ("Up to a million keys, the accept script itself fills the buckets. It is called with keys that are distributed as ingest's are "
        "(accepts.c). More keys are added to the same buckets directly, in the same format. Each row ends with 20,000 calls of the script. "
        "Redis writes no file. Before the memory is read, queued messages are removed and records expire, so that the bytes for a key "
        "are those of its deduplication. They include the bucket's name, its entry in the dictionary and what the allocator rounds up."),
        f"A waiting delivery has a body of {BODY} bytes and an envelope of {ENVELOPE}; its bytes include its record and its key.",
        "The script's time is Redis' own (`commandstats`). Redis' time is its processor time for a call, with four commands in a write.",
        ("1e9 postbacks a day are 1e10 keys a generation, about 298 in each bucket with `seenBuckets: 131072`. Buckets of this size, filled "
        "by the accept script, are all integer sets. With half as many buckets they would be hash tables, several times as large."),
    ]
    return report
