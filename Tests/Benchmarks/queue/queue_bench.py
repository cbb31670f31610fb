"""The path of a delivery: its durable acceptance, and the queue's worker compared with the verifier's batch RPC."""

from __future__ import annotations

import http.client
import itertools
import json
import os
import pathlib
import subprocess
import tempfile
import time

from Benchmarks.bench import LOAD_CORE, NATIVE, NO_REWRITES, TOKEN, Redis, Report, Server, Wrk, free_port, median, openssl_speed, shown
from Benchmarks.ingest.postbacks import Signer
from Benchmarks.native.programs import Native

VERIFIER = "attribution.verifier.v1.VerifierService"


def call(server: Server, path: str, message: dict) -> dict:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("POST", f"/{path}", json.dumps(message),
                       {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"})
    answer = json.loads(connection.getresponse().read())
    connection.close()
    return answer


TICK = os.sysconf("SC_CLK_TCK")


def busy(process: subprocess.Popen) -> float:
    """The processor time of the process in seconds."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


COUNT_EVENTS = "local n = 0 for i = 0, 255 do n = n + redis.call('XLEN', string.format('{attr:%03d}:events', i)) end return n"


def events(redis: Redis) -> int:
    return int(redis.cli("EVAL", COUNT_EVENTS, "0"))


# The worker's rate relative to the batch RPC on one core: the minimum, and the target.
WORKER_BESIDE_BATCH, WORKER_AIM = 0.70, 0.80


def post_all(binaries: pathlib.Path, native: Native, redis: Redis, postbacks: pathlib.Path, count: int,
             settings: str = "") -> None:
    """Posts all postbacks to an ingest, which adds them to the queue."""
    public = free_port()
    with Server(binaries, "ingest", settings, ATTRIBUTION_REDIS_URL=redis.url, ATTRIBUTION_PUBLIC_LISTEN=f"127.0.0.1:{public}"):
        answers = native.load(public, 300, bodies=postbacks)["answers"]
        if answers != count:
            raise RuntimeError(f"{answers} of {count} postbacks were accepted")


def event_counts(redis: Redis, count: int) -> list[tuple[float, int]]:
    """The number of events over time, until all are published or none came for three seconds. The queries must not use the worker's
    core."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {int(LOAD_CORE)})
    try:
        counts = [(time.monotonic(), events(redis))]
        moved = counts[0][0]
        while counts[-1][1] < count and time.monotonic() - moved < 3:
            time.sleep(0.1)
            if (now := events(redis)) != counts[-1][1]:
                moved = time.monotonic()
                counts.append((moved, now))
    finally:
        os.sched_setaffinity(0, cores)
    return counts


def worked_off(binaries: pathlib.Path, native: Native, signer: Signer, postbacks: pathlib.Path, count: int,
               batch_seconds: int, settings: str = "") -> dict[str, float]:
    """Measures a round: the worker processes the queued messages; then, if `batch_seconds` is not 0, verifier verifies batches of the same
    postbacks. Verifier has one core; Redis and the load have the other. `settings` is added to the configuration of both services."""
    with Redis(LOAD_CORE, *NO_REWRITES) as redis:
        post_all(binaries, native, redis, postbacks, count, settings)
        used = busy(redis.process)
        with Server(binaries, "verifier", signer.configuration + settings, ATTRIBUTION_REDIS_URL=redis.socket_url) as server:
            # The worker was fully loaded between the first sample, when it was already running, and the last but one, when it was not
            # finished yet.
            counts = event_counts(redis, count)
            last = counts[-1][1]
            if last < 0.9 * count or len(counts) < 3:
                raise RuntimeError(f"{last} events of {count} postbacks, in {len(counts)} samples")
            (began, first), (ended, done) = counts[0], counts[-2]
            found = {"rate": (done - first) / (ended - began), "verifier": busy(server.process) / last * 1e6,
                     "redis": (busy(redis.process) - used) / last * 1e6}
            if batch_seconds:
                with postbacks.open() as lines:
                    items = [{"skadnetworkPostback": {"postback": json.loads(line)}} for line in itertools.islice(lines, 1000)]
                results = call(server, f"{VERIFIER}/VerifyBatch", {"items": items})["results"]
                assert all(result["skadnetworkPostback"]["valid"] for result in results), results[0]
                found["batch"] = Wrk(server.url, NATIVE / "verify.lua", batch_seconds, connections=2,
                                     variables={"POSTBACK": str(postbacks), "ITEMS": "1000"}).rate * 1000
            return found


def check_worker(report: Report, rounds: list[dict[str, float]]) -> list[float]:
    """Adds the ratio of the worker's rate to the batch's to the report."""
    ratios = [one["rate"] / one["batch"] for one in rounds]
    report.add("VerifyBatch on one core: verdicts a second", f"{median([one['batch'] for one in rounds]):,.0f}")
    report.add("the queue's worker on one core, Redis on the other: events a second", f"{median([one['rate'] for one in rounds]):,.0f}")
    report.add("ratio", shown(ratios), f"at least {WORKER_BESIDE_BATCH:.2f}, aim {WORKER_AIM:.2f}", median(ratios) >= WORKER_BESIDE_BATCH)
    return ratios


def worker(report: Report, binaries: pathlib.Path, signer: Signer, count: int, rounds: int) -> None:
    found, generic = [], []
    with Native() as native, tempfile.TemporaryDirectory() as folder:
        # Each round has its own Redis, so that all can use the same messages.
        postbacks = pathlib.Path(folder) / "postbacks"
        signer.write(postbacks, count)
        for _ in range(rounds):
            found.append(worked_off(binaries, native, signer, postbacks, count, 5))
            generic.append(openssl_speed("ecdsap256", 3)[1])
    report.add("`openssl speed`: P-256 verifications a second on that core", f"{median(generic):,.0f}")
    ratios = check_worker(report, found)
    rates, ours, redises = ([one[name] for one in found] for name in ("rate", "verifier", "redis"))
    beside = [rate / speed for rate, speed in zip(rates, generic, strict=True)]
    report.figures["worker"] = {"batch": [one["batch"] for one in found], "worker": rates, "ratio": ratios, "verifier": ours,
                                "redis": redises, "openssl": generic, "ratioToOpenSSL": beside}
    report.add("the worker beside `openssl speed`", shown(beside), "at least 0.72", median(beside) >= 0.72)
    report.add("processor time for an event: verifier, Redis", f"{median(ours):.0f} µs, {median(redises):.0f} µs")


def run(binaries: pathlib.Path, quick: bool, command: str) -> Report:
    report = Report("queue", "The queue: speed", command)
    signer = Signer()
    worker(report, binaries, signer, 10_000 if quick else 100_000, 1 if quick else 5)
    report.notes += [
        ("The worker processes 100,000 different postbacks that wait in the queue, and reaches Redis by its socket, as with Deploy/up. A batch "
        "is 1,000 of them, each time the next 1,000, two batches at a time."),
        ("The target of 0.72 of `openssl speed` is 0.80, the aim of the worker, of 0.90, the aim of a batch. A verdict takes half of OpenSSL's time "
        "or less here, so that a batch exceeds its aim by far. If an event takes Redis' only thread as long as it takes the verifier, each of the "
        "two waits for the other in turn."),
        ("Redis syncs its append-only file before each answer (`appendfsync always`). Its rewriting is off, because a rewrite uses a core at "
        "unpredictable times."),
    ]
    return report
