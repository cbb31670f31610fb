"""Ingest's resident memory under ten minutes of full load."""

from __future__ import annotations

import pathlib
import time

from Benchmarks.bench import Redis, Report, median
from Benchmarks.native.programs import Native

from .process import Ingest

CONFIGURATION = "queues: { backlogBound: 1000000000, deliveryRecordTTL: 10s }\n"
EMPTY_QUEUES = "for i = 0, 255 do redis.call('XTRIM', string.format('{attr:%03d}:q:intake', i), 'MAXLEN', 0) end"


def run(binaries: pathlib.Path, quick: bool, command: str) -> Report:
    report = Report("soak", "Ingest: memory under full load", command)
    seconds, part = (20, 2) if quick else (600, 10)
    samples, rates = [], []
    with Native() as native, Redis() as redis, Ingest(binaries, redis, CONFIGURATION) as ingest:
        idle = ingest.resident()
        began, answers = time.monotonic(), 0
        while time.monotonic() - began < seconds:
            run = native.load(ingest.public, part, seed=1 + len(samples))
            # No worker processes the queue here, so accepted messages must not fill the machine's memory.
            redis.cli("EVAL", EMPTY_QUEUES, "0")
            answers += run["answers"]
            rates.append(run["rate"])
            samples.append(ingest.resident()["VmRSS"])
    early = median(samples[len(samples) // 10:len(samples) // 10 * 3])
    late = median(samples[-(len(samples) // 10 * 2):])
    grown = late / early - 1
    report.figures["memory"] = {"idle": idle, "samples": samples, "rates": rates, "answers": answers}
    report.add("accepts, all answered 200", f"{answers:,} in {seconds} s")
    report.add("resident, idle", f"{idle['VmRSS']:.0f} MiB")
    report.add("resident in the second and third tenth, and in the last two", f"{early:.1f} MiB, {late:.1f} MiB", "grows less than 5 %",
               grown < 0.05)
    report.add("the most that was seen", f"{max(samples):.1f} MiB")
    report.notes += [
        ("64 connections, each with its next request as soon as it has its answer; a sample of the resident memory after each "
        f"{part} seconds. Redis syncs before each answer and rewrites its file when it has doubled."),
    ]
    return report
