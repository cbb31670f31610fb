"""Pushed events a second compared with a bare libcurl loop, kills of the pusher, and unresponsive endpoints."""

from __future__ import annotations

import json
import pathlib
import signal
import statistics
import time
import uuid
from http.client import HTTPConnection

from Benchmarks.bench import NO_REWRITES, TOGETHER, TOKEN, Redis, Report, Server, shown

from .feed import TYPE, Feed, Receiver, event

CONFIGURATION = "push: { allowsHTTP: true, allowedAddresses: [127.0.0.0/8], pusherTimeout: 2s, endpoints: 2000 }\n"
CONCURRENCY = 64
# Subscriptions without a reader.
UNREAD = 50


def call(server: Server, method: str, message: dict) -> dict:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("POST", f"/attribution.events.v1.EventsService/{method}", json.dumps(message), {
        "Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}", "Idempotency-Key": uuid.uuid4().hex})
    answer = connection.getresponse()
    body = json.loads(answer.read())
    if answer.status != 200:
        raise RuntimeError(f"{method}: {body}")
    return body


def subscribe(server: Server, receiver: Receiver, name: str, path: str, start: str = "beginning", **push: object) -> None:
    call(server, "CreateSubscription", {"name": name, "types": [TYPE], "start": start, "push": {"url": receiver.url(path), **push}})


def verifier(binaries: pathlib.Path, store: Redis) -> Server:
    return Server(binaries, "verifier", CONFIGURATION, TOGETHER, ATTRIBUTION_REDIS_URL=store.socket_url, ATTRIBUTION_VERIFIER_ROLES="push")


def wait(receiver: Receiver, path: str, count: int, seconds: float, before: int = 0) -> list[tuple[str, int]]:
    """Waits for this number of events at a path; `before` is the number of posts that arrived at other paths before."""
    until = time.monotonic() + seconds
    while True:
        received = receiver.received(path) if receiver.count() >= before + count else []
        if len({id for id, _ in received}) >= count:
            return received
        if time.monotonic() > until:
            raise RuntimeError(f"{path} received {len(received)} of {count}")
        time.sleep(0.3)


def throughput(binaries: pathlib.Path, count: int, rounds: int) -> tuple[list[float], list[float], list[float]]:
    """Events a second of ours, of the bare loop, and of ours with additional subscriptions without a reader, in turn."""
    ours, bare, beside_unread = [], [], []
    body = event(0, 50, Feed(0).chance)[2]
    with Redis(TOGETHER, *NO_REWRITES) as store, Receiver() as receiver:
        feed = Feed(store.port)
        feed.publish(count)
        with verifier(binaries, store) as server:
            def one(name: str) -> float:
                before = receiver.count()
                subscribe(server, receiver, name, f"/{name}", maxConcurrent=CONCURRENCY)
                times = [at for _, at in wait(receiver, f"/{name}", count, 600, before)]
                call(server, "DeleteSubscription", {"name": name})
                time.sleep(0.5)
                # The first posts begin before the window is full, so the range from a tenth to the end is measured.
                tenth = times[len(times) // 10]
                return (len(times) - len(times) // 10) / ((times[-1] - tenth) / 1e9)

            for number in range(rounds):
                ours.append(one(f"fast-{number}"))
                bare.append(receiver.bare(f"/bare-{number}", count, CONCURRENCY, body))
                time.sleep(0.5)
                for unread in range(UNREAD):
                    call(server, "CreateSubscription", {"name": f"unread-{unread}", "types": [TYPE], "start": "beginning"})
                beside_unread.append(one(f"beside-{number}"))
                for unread in range(UNREAD):
                    call(server, "DeleteSubscription", {"name": f"unread-{unread}"})
    return ours, bare, beside_unread


def kills(binaries: pathlib.Path, count: int, kills: int) -> dict[str, int]:
    """Kills the pusher during the run, and counts missing, reordered and repeated events."""
    with Redis(TOGETHER, *NO_REWRITES) as store, Receiver() as receiver:
        feed = Feed(store.port)
        feed.publish(count)
        server = verifier(binaries, store)
        try:
            subscribe(server, receiver, "plain", "/plain", maxConcurrent=CONCURRENCY)
            subscribe(server, receiver, "ordered", "/ordered", ordered=True, maxConcurrent=CONCURRENCY)
            for number in range(kills):
                while receiver.count() < 2 * count * (number + 1) / (kills + 2):
                    time.sleep(0.05)
                server.process.send_signal(signal.SIGKILL)
                server.process.wait()
                server.__exit__()
                server = verifier(binaries, store)
            plain, ordered = wait(receiver, "/plain", count, 900), wait(receiver, "/ordered", count, 900)
        finally:
            server.__exit__()
        first: dict[str, None] = {}
        for id, _ in ordered:
            first.setdefault(id)
        broken = 0
        for line in feed.in_order().values():
            of = set(line)
            broken += sum(1 for one, other in zip([id for id in first if id in of], line, strict=False) if one != other)
        missed = sum(len(feed.published.keys() - {id for id, _ in received}) for received in (plain, ordered))
        return {"missed": missed, "broken": broken, "repeated": len(plain) + len(ordered) - 2 * count}


def hanging(binaries: pathlib.Path, endpoints: int, hang: int, rounds: int) -> float:
    """The 99th percentile of the milliseconds from an event's publication to its arrival at responsive endpoints, while others hang."""
    with Redis(TOGETHER, *NO_REWRITES) as store, Receiver() as receiver, verifier(binaries, store) as server:
        feed = Feed(store.port)
        for number in range(endpoints):
            subscribe(server, receiver, f"many-{number}", f"/hang-{number}" if number < hang else f"/take-{number}", "now")
        feed.publish(1)
        takers = range(hang, endpoints)
        wait(receiver, f"/take-{endpoints - 1}", 1, 120)
        time.sleep(3)
        for _ in range(rounds):
            feed.publish(1)
            time.sleep(0.5)
        for number in (takers[0], takers[-1]):
            wait(receiver, f"/take-{number}", rounds + 1, 120)
        time.sleep(2)
        first = next(iter(feed.published))
        delays = []
        with receiver.notes.open() as notes:
            for line in notes:
                path, id, at = line.split(" ")
                id = id.replace("%2E", ".")
                if path.startswith("/take") and id != first:
                    delays.append(int(at) / 1e6 - feed.published[id][1])
        if len(delays) < rounds * len(takers):
            raise RuntimeError(f"{len(delays)} of {rounds * len(takers)} came")
        return statistics.quantiles(delays, n=100)[98]


def run(binaries: pathlib.Path, quick: bool, command: str) -> Report:
    report = Report("push", "Events pushed to endpoints", command)
    count, rounds, killed = (5_000, 1, 2) if quick else (100_000, 3, 10)
    endpoints, hang, events = (100, 20, 10) if quick else (1000, 200, 60)
    ours, bare, beside_unread = throughput(binaries, count, rounds)
    ratio = statistics.median(one / other for one, other in zip(ours, bare, strict=True))
    report.add("events pushed a second to one endpoint, 64 at a time", shown(ours, ",.0f"))
    report.add("a bare libcurl multi loop, the same receiver", shown(bare, ",.0f"))
    report.add("ours beside it", f"{ratio:.2f}", "at least 0.7", ratio >= 0.7)
    unread = statistics.median(one / other for one, other in zip(beside_unread, ours, strict=True))
    report.add(f"the same while {UNREAD} subscriptions are read by nobody, beside without them", f"{unread:.2f}")
    found = kills(binaries, count, killed)
    report.add(f"of {count:,} events to two endpoints, pusher killed {killed} times: missed", str(found["missed"]), "0", found["missed"] == 0)
    report.add("out of order for their subject", str(found["broken"]), "0", found["broken"] == 0)
    report.add("posted again", str(found["repeated"]))
    without = hanging(binaries, endpoints, 0, events)
    beside = hanging(binaries, endpoints, hang, events)
    report.add(f"{endpoints:,} endpoints: p99 from publication to arrival", f"{without:.0f} ms")
    report.add(f"the same at the others while {hang} hang", f"{beside:.0f} ms", "at most 2 times", beside <= 2 * without)
    report.notes.append(
        "Receiver, Redis, pusher and, in turn, the bare loop share the machine. The bare loop posts one body and signs nothing; the pusher reads "
        "each event from Redis, signs it, and writes its progress to the disk. Structured form, HTTP/1.1 in clear text.")
    report.figures = {"ours": ours, "bare": bare, "ratio": ratio, "unread": unread, **found, "p99": {"without": without, "hanging": beside}}
    return report
