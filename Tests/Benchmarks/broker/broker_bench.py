"""The broker: its calls a second, compared with a bare libcurl multi loop."""

from __future__ import annotations

import pathlib
import subprocess
import tempfile
import time

from Benchmarks.bench import LOAD_CORE, NATIVE, SERVER_CORE, Redis, Report, Server, free_port, median, pinned
from Benchmarks.queue.queue_bench import busy

from .backlog import APP, Simulator, count_events, post_tokens, stamp

RECORD = {"status": 200, "body": {
    "attribution": True, "orgId": 40669820, "campaignId": 542370539, "conversionType": "Download", "claimType": "Click",
    "adGroupId": 542317095, "countryOrRegion": "US", "keywordId": 87675432, "adId": 542317136,
    "supplyPlacement": "APPSTORE_SEARCH_RESULTS"}}
CONCURRENCY = 256


def ceiling(folder: pathlib.Path, apple: Simulator, count: int) -> float:
    """The calls a second of a bare libcurl multi loop."""
    program = folder / "multi"
    if not program.exists():
        subprocess.run(["cc", "-O2", "-o", program, NATIVE / "multi.c", "-lcurl"], check=True)
    run = subprocess.run(pinned(LOAD_CORE, [program, apple.url, apple.ca, count, CONCURRENCY, 64]), stdout=subprocess.PIPE, text=True,
                         check=True, timeout=300)
    return float(run.stdout.split()[0])


def broker(binaries: pathlib.Path, apple: Simulator, count: int, round_: int) -> tuple[float, float, float]:
    """The broker's events a second, and the seconds of processor time that it and its Redis use for a thousand."""
    configuration = f"adServices: {{ rate: 100000, rateBurst: 10000, concurrency: {CONCURRENCY} }}\n"
    with Redis(LOAD_CORE) as redis:
        public = free_port()
        with Server(binaries, "ingest", "", core=None, ATTRIBUTION_REDIS_URL=redis.url,
                    ATTRIBUTION_PUBLIC_LISTEN=f"127.0.0.1:{public}"):
            requested_at = stamp(time.time() * 1000 - 60_000)
            post_tokens(public, [
                (f'{{"token":"{round_:02d}{number:0318d}","bundleId":"{APP}","attStatus":0,"requestedAt":"{requested_at}"}}').encode()
                for number in range(count)])
        used = busy(redis.process)
        with Server(binaries, "asa-token-broker", configuration, core=LOAD_CORE, ATTRIBUTION_REDIS_URL=redis.url,
                    ATTRIBUTION_ADSERVICES_URL=apple.url, ATTRIBUTION_CA_FILE=str(apple.ca)) as server:
            began, first = time.monotonic(), count_events(redis)
            while (done := count_events(redis)) < count:
                if time.monotonic() - began > 240:
                    raise RuntimeError(f"{done} events of {count} tokens")
                time.sleep(0.1)
            seconds = time.monotonic() - began
            return (count - first) / seconds, busy(server.process) / count * 1e6, (busy(redis.process) - used) / count * 1e6


def speed(report: Report, binaries: pathlib.Path, count: int, rounds: int) -> None:
    bare, ours, processor, store = [], [], [], []
    for round_ in range(rounds):
        with tempfile.TemporaryDirectory() as folder, Simulator(binaries, SERVER_CORE) as apple:
            apple.answer(RECORD)
            ceiling(pathlib.Path(folder), apple, count // 10)
            bare.append(ceiling(pathlib.Path(folder), apple, count))
            rate, broker_time, redis_time = broker(binaries, apple, count, round_)
            ours.append(rate)
            processor.append(broker_time)
            store.append(redis_time)
    ratios = [one / other for one, other in zip(ours, bare, strict=True)]
    report.figures["speed"] = {"libcurl": bare, "broker": ours, "ratio": ratios, "broker_us": processor, "redis_us": store}
    report.add("a bare libcurl multi loop on one core: calls a second", f"{median(bare):,.0f}")
    report.add("the broker on that core, its Redis beside it: tokens a second", f"{median(ours):,.0f}")
    report.add("ratio", f"{median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})", "at least 0.70", median(ratios) >= 0.70)
    report.add("processor time for a token: broker, Redis", f"{median(processor):.0f} µs, {median(store):.0f} µs")


def run(binaries: pathlib.Path, quick: bool, command: str) -> Report:
    report = Report("broker", "The token broker: speed", command)
    speed(report, binaries, 4_000 if quick else 30_000, 1 if quick else 3)
    report.notes += [
        ("The simulator has one core, the caller the other: the bare loop, and then the broker with its Redis, which writes every "
        "step to the disk before it answers."),
        (f"Each has at most {CONCURRENCY} calls in progress. The simulator answers immediately. Apple takes longer, so that a broker in "
        "production is limited by waiting and not by its processor."),
    ]
    return report
