"""What a delivery costs Redis as keys grow in number: bytes of memory and of the append-only file, and microseconds of an accept."""

from __future__ import annotations

import math
import pathlib
import random
import re
import time

from bench import Redis, Report
from ingest_bench import load_script
from native import Native
from queue_bench import busy

FASTER = ("--appendfsync", "no", "--auto-aof-rewrite-percentage", "0")
SHARDS = 256
# Of a postback, and of what ingest keeps beside it.
BODY, ENVELOPE = 452, 340
PROBE = 20_000
# Of a generation, at 1e9 postbacks a day: each has an idempotency key and a natural key, and a generation lasts ten days.
KEYS_A_GENERATION = 2 * 10**10


def memory(redis: Redis) -> int:
    """Bytes of what is kept, without what clients and the append-only file take for a moment."""
    found = dict(re.findall(r"(\w+):(\d+)", redis.cli("INFO", "memory")))
    return int(found["used_memory"]) - int(found["mem_clients_normal"]) - int(found["mem_aof_buffer"])


def script_time(redis: Redis) -> tuple[int, int]:
    found = re.search(r"cmdstat_evalsha:calls=(\d+),usec=(\d+)", redis.cli("INFO", "commandstats"))
    return (int(found[1]), int(found[2])) if found else (0, 0)


def each_shard(redis: Redis, command: str) -> None:
    redis.cli("EVAL", "for i = 0, 255 do redis.call(%s) end" % command, "0")


def forget(redis: Redis) -> None:
    """Takes the queued messages away and waits until the records have run out. What stays is what is remembered."""
    each_shard(redis, "'XTRIM', string.format('{attr:%03d}:q:intake', i), 'MAXLEN', 0")
    before, now = 1 << 62, int(redis.cli("DBSIZE"))
    while now < before:
        time.sleep(1.5)
        before, now = now, int(redis.cli("DBSIZE"))


def growth(native: Native, most: int) -> list[dict]:
    points = []
    with Redis(None, *FASTER) as redis:
        sha1 = load_script(redis)
        each_shard(redis, "'XADD', string.format('{attr:%03d}:q:intake', i), '*', 'i', ''")
        forget(redis)
        empty, keys, seed = memory(redis), 0, 0
        for goal in [part * 10**power for power in (5, 6, 7) for part in (1, 2, 5) if part * 10**power <= most]:
            while keys < goal - PROBE:
                # A part at a time: what is queued and the records must not fill the memory.
                part = min(100_000, goal - PROBE - keys)
                seed += 1
                accept(native, redis, sha1, part, seed, body=20, record=1)
                each_shard(redis, "'XTRIM', string.format('{attr:%03d}:q:intake', i), 'MAXLEN', 0")
                keys += part
            forget(redis)
            held, used, (calls, micros) = memory(redis), busy(redis.process), script_time(redis)
            seed += 1
            accept(native, redis, sha1, PROBE, seed, body=BODY, record=4)
            waiting, (after, spent) = memory(redis), script_time(redis)
            cost = (busy(redis.process) - used) / PROBE * 1e6
            keys += PROBE
            forget(redis)
            points.append({"keys": keys, "bytesPerKey": (memory(redis) - empty) / keys, "bytesPerDelivery": (waiting - held) / PROBE,
                           "script": (spent - micros) / (after - calls), "redis": cost})
            print(points[-1], flush=True)
    return points


def accept(native: Native, redis: Redis, sha1: str, count: int, seed: int, *, body: int, record: int) -> None:
    run = native.accepts(redis.port, sha1, 600, count=count, seed=seed, body=body, envelope=ENVELOPE if body == BODY else 20, pipeline=4,
                         record_seconds=record)
    if run["taken"] != count:
        raise RuntimeError(f"{run['taken']} of {count} were new")


def fullest_bucket(buckets: int, keys: int, shards: int = 1) -> tuple[int, float]:
    """Throws a shard's keys into its buckets: the fullest one, and the mean. A bucket holds whole numbers up to 512 of them."""
    random.seed(20)
    each = keys / SHARDS / buckets
    fullest = 0
    for _ in range(buckets * shards):
        fullest = max(fullest, poisson(each))
    return fullest, each


def poisson(mean: float) -> int:
    # As many keys as there are, each into one of as many buckets, are so spread; the normal's tail is too thin this far out.
    count, product, step = 0, 1.0, 500.0
    left = mean
    while True:
        count += 1
        product *= random.random() or 1e-300
        while product < 1 and left > 0:
            if left > step:
                product *= math.exp(step)
                left -= step
            else:
                product *= math.exp(left)
                left = 0
        if product <= 1:
            return count - 1


def plot(points: list[dict], path: pathlib.Path) -> None:
    """Three curves over the number of keys, as an SVG that needs nothing to be drawn with."""
    panels = [("bytesPerKey", "Redis memory, bytes a key", 14), ("bytesPerDelivery", "bytes a waiting delivery, its record included", None),
              ("script", "accept script, µs", None)]
    width, height, left, top, gap = 760, 190, 70, 40, 70
    words = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width + left + 40} {len(panels) * (height + gap) + top}" '
             'font-family="sans-serif" font-size="13">', '<rect width="100%" height="100%" fill="white"/>']
    low, high = (math.log10(points[at]["keys"]) for at in (0, -1))
    for number, (name, title, limit) in enumerate(panels):
        base = top + number * (height + gap) + height
        values = [point[name] for point in points]
        most = 1.15 * max(values + ([limit] if limit else []))
        def x(keys: float) -> float:
            return left + (math.log10(keys) - low) / max(high - low, 1e-9) * width
        def y(value: float) -> float:
            return base - value / most * height
        words.append(f'<text x="{left}" y="{base - height - 8}" font-weight="bold">{title}</text>')
        for part in range(5):
            value = most * part / 4
            words.append(f'<line x1="{left}" x2="{left + width}" y1="{y(value):.1f}" y2="{y(value):.1f}" stroke="#ddd"/>'
                         f'<text x="{left - 8}" y="{y(value) + 4:.1f}" text-anchor="end">{value:,.0f}</text>')
        if name == "bytesPerKey":
            words.append(f'<line x1="{left}" x2="{left + width}" y1="{y(12):.1f}" y2="{y(12):.1f}" stroke="#c00" stroke-dasharray="6 4"/>'
                         f'<text x="{left + width}" y="{y(12) - 5:.1f}" text-anchor="end" fill="#c00">at most 12 at ten million</text>')
        line = " ".join(f"{x(point['keys']):.1f},{y(point[name]):.1f}" for point in points)
        words.append(f'<polyline points="{line}" fill="none" stroke="#06c" stroke-width="2"/>')
        for point in points:
            words.append(f'<circle cx="{x(point["keys"]):.1f}" cy="{y(point[name]):.1f}" r="3.5" fill="#06c"/>'
                         f'<text x="{x(point["keys"]):.1f}" y="{y(point[name]) - 9:.1f}" text-anchor="middle" font-size="11">'
                         f'{point[name]:,.1f}</text>'
                         f'<text x="{x(point["keys"]):.1f}" y="{base + 17}" text-anchor="middle">{point["keys"]:.0e}</text>')
        words.append(f'<text x="{left + width / 2}" y="{base + 36}" text-anchor="middle">keys remembered</text>')
    path.write_text("\n".join(words + ["</svg>"]) + "\n")


def run(binaries: pathlib.Path, quick: bool, command: str) -> Report:
    report = Report("growth", "What a delivery costs Redis as keys grow in number", command)
    with Native() as native:
        points = growth(native, 200_000 if quick else 10_000_000)
    report.figures["points"] = points
    for point in points:
        report.add(f"{point['keys']:,} keys: bytes a key, a waiting delivery; script, Redis",
                   f"{point['bytesPerKey']:.1f}, {point['bytesPerDelivery']:.0f}; {point['script']:.1f} µs, {point['redis']:.1f} µs")
    if not quick:
        last = points[-1]["bytesPerKey"]
        report.add("bytes for an idempotency key at ten million", f"{last:.1f}", "at most 12", last <= 12)
    for buckets, keys in ((256, 10**7), (1 << 18, KEYS_A_GENERATION), (1 << 17, KEYS_A_GENERATION)):
        fullest, mean = fullest_bucket(buckets, keys)
        report.figures[f"buckets {buckets}"] = {"keys": keys, "mean": mean, "fullest": fullest}
        report.add(f"{keys:.0e} keys a generation, seenBuckets {buckets:,}: mean, fullest", f"{mean:.0f}, {fullest}",
                   "at most 512" if buckets != 1 << 17 else "too few: beyond 512", fullest <= 512 if buckets != 1 << 17 else None)
    report.plot = lambda folder: plot(points, folder / "growth.svg")
    report.notes += [
        "Filled by the accept script itself, called with the keys that ingest makes (accepts.c), on a Redis that does not sync; queued "
        "messages are taken away and records run out before the memory is looked at, so that a key's bytes are those of what is remembered, "
        "its bucket's name, its dictionary's entry and what the allocator rounds up included.",
        f"A waiting delivery has a body of {BODY} bytes and an envelope of {ENVELOPE}; with it its record and its key.",
        "The script's time is Redis' own (`commandstats`); Redis' is its processor time for an accept, four commands in a write.",
        "The fullest bucket: as many buckets as one shard has, each with a Poisson number of keys, which is how digests spread.",
    ]
    return report
