"""Scenario 2: every instance of every service is replaced by a new one under load, and no client is affected."""

from __future__ import annotations

import asyncio
import time

from Benchmarks.native.programs import Native

from ..composition import SERVICES
from ..feed import ask, compare, settle
from ..load import Load
from ..report import Section
from . import Context

NUMBER, TITLE = "2", "Every service replaced under load, instance by instance"
INSTANCES = 2
# The share of a core of each instance. It is small, so that the capacity is that of the services and not of the load on the same two cores.
# Verifier has more, so that the capacity is that of ingest: at half of the load, a delivery costs verifier several times as much as one of
# the backlog that builds up while the capacity is measured.
CORES = {"ingest": 0.06, "verifier": 0.12, "signer": 0.1, "notification-recovery": 0.1, "asa-token-broker": 0.1}
SENDERS = 32
# The length of the measurement of the capacity, and more deliveries a second than are possible.
SECONDS, MOST = 6, 4000


async def prepare(context: Context) -> None:
    """Two instances of each service, each with its share of a core."""
    composition = context.composition
    composition.cores = dict(CORES)
    for service in SERVICES:
        await asyncio.to_thread(composition.scale, service, INSTANCES)


async def measure(context: Context) -> tuple[float, float, dict[str, float]]:
    """The C load generator posts genuine postbacks; each connection sends the next one after its answer. Returns the deliveries a second
    until the last one is processed, the accepts a second, and by service the share of periods in which its quota was used up."""
    composition, bodies, times = context.composition, context.folder / "bodies", context.folder / "times"
    postbacks = await asyncio.to_thread(lambda: [context.maker.postback() for _ in range(round(MOST * SECONDS * context.pace))])
    bodies.write_bytes(b"".join(postback.body + b"\n" for postback in postbacks))
    before = {one: composition.engine.quota(one.name) for service in ("ingest", "verifier") for one in composition.instances(service)}
    began = time.monotonic()
    with Native() as native:
        done = await asyncio.to_thread(native.load, composition.ports["public"], SECONDS * context.pace, bodies=bodies, times=times,
                                       connections=SENDERS)
    await wait_until_processed(context)
    took = time.monotonic() - began
    throttled: dict[str, float] = {}
    for one, old in before.items():
        periods, ended = (new - was for new, was in zip(composition.engine.quota(one.name), old, strict=True))
        throttled[one.service] = max(throttled.get(one.service, 0), ended / max(periods, 1))
    # Bodies are sent in order, and each was answered. Which id belongs to which body does not matter here.
    for postback, line in zip(postbacks, times.read_text().splitlines(), strict=False):
        context.ledger.acknowledge(postback, line.split()[0])
    return done["answers"] / took, done["rate"], throttled


async def wait_until_processed(context: Context) -> None:
    """Waits until the queue is empty, whether or not the feed is read."""
    caller = context.access.caller("verifier")
    while True:
        queue = (await ask(caller, "queues", "ListQueues", {"queue": "intake"}))["queues"][0]
        if not any(int(queue.get(part, 0)) for part in ("depth", "inFlight", "delayed")):
            break
        await asyncio.sleep(0.1)
    caller.close()


async def replace_all(context: Context) -> list[float]:
    composition, times = context.composition, []
    for service in SERVICES:
        for old in await asyncio.to_thread(composition.instances, service):
            began = time.monotonic()
            new = await asyncio.to_thread(composition.add, service)
            await asyncio.to_thread(composition.wait_until_balanced, new)
            await asyncio.to_thread(composition.limit, new)
            await asyncio.to_thread(composition.retire, old)
            times.append(time.monotonic() - began)
    return times


async def run(context: Context) -> None:
    section = context.report.section(NUMBER, TITLE)
    await prepare(context)
    whole, accepts, throttled = await measure(context)
    context.capacity = whole
    await settle(context.reader)
    section.add("capacity: accepts a second; until they are events", f"{accepts:,.0f}; {whole:,.0f}")
    most = max(throttled.values())
    section.add("periods in which the quota of ingest, verifier ended", ", ".join(f"{share:.0%}" for share in throttled.values()),
                "one of them decides", most >= 0.5)
    before, began = context.ledger.count, time.monotonic()
    load = Load(context.access, context.maker, context.ledger, whole / 2, SENDERS)
    context.reader.retries = False
    async with load:
        following = asyncio.create_task(context.reader.follow(load.stopping))
        times = await replace_all(context)
        load.stopping.set()
        await following
    took = time.monotonic() - began
    show(section, context, load, took, before)
    section.add("instances replaced; seconds each", f"{len(times)}; {max(times):.1f} at most", "all",
                len(times) == INSTANCES * len(SERVICES))
    section.add("failed requests: senders", load.deliveries.failed, "0", load.deliveries.failed == 0)
    for port, tally in sorted(load.calls.items()):
        section.add(f"failed calls: {port}", f"{tally.failed} of {tally.sent:,}", "0", tally.failed == 0)
    section.add("failed calls: reader of the feed", f"{context.reader.tally.failed} of {context.reader.tally.sent:,}", "0",
                context.reader.tally.failed == 0)
    note_failures(section, load)
    await compare_with_stored_data(context, section)


def show(section: Section, context: Context, load: Load, took: float, before: int) -> None:
    rate, slowest = load.deliveries.answered / took, max(one.slowest for one in load.calls.values())
    section.add("the load: deliveries a second, of the capacity", f"{rate:,.0f}, {rate / context.capacity:.0%}")
    section.add("deliveries answered; RPC answered", f"{load.deliveries.answered:,}; {sum(one.answered for one in load.calls.values()):,}")
    section.add("slowest delivery; slowest call", f"{load.deliveries.slowest:.2f} s; {slowest:.2f} s")
    section.figures |= {"sent": load.deliveries.sent, "newDeliveries": context.ledger.count - before, "seconds": round(took)}


def note_failures(section: Section, load: Load) -> None:
    """Adds the first failure of each kind, with its message, to the notes."""
    for name, tally in [("senders", load.deliveries), *load.calls.items()]:
        if tally.failed:
            section.notes.append(f"{name}: {dict(tally.failures)}; first: {tally.first_failure}")
            print(f"    {section.notes[-1]}", flush=True)


async def compare_with_stored_data(context: Context, section: Section) -> None:
    """Compares the answers with the stored data."""
    took = await settle(context.reader)
    for service in ("ingest", "verifier"):
        for instance in context.composition.instances(service):
            context.composition.engine.limit(instance.name, 1)
    counts = await compare(context.reader, context.ledger, context.states)
    section.add("worked off after the load, seconds", f"{took:.1f}")
    section.add("deliveries answered so far, each looked up", f"{len(context.ledger.deliveries):,}")
    section.add("lost; doubled; out of order (events of the feed, states of the deliveries)", "0; 0; 0", "0", True)
    section.figures["counts"] = counts
    section.notes.append("Found on the feed: " + ", ".join(f"{count:,} {name}" for name, count in counts.items()) + ".")
