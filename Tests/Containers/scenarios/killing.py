"""Scenario 3: one instance of each service is killed without warning under load, then Redis."""

from __future__ import annotations

import asyncio
import time

from ..composition import SERVICES, Instance
from ..load import Load
from ..report import Section
from . import Context
from .replacement import SENDERS, compare_with_stored_data, note_failures, prepare, show

NUMBER, TITLE = "3", "One of each killed under load"


async def kill(context: Context, instance: Instance) -> float:
    """Returns the seconds until the balancer uses the instance again."""
    composition, began = context.composition, time.monotonic()
    before = await asyncio.to_thread(composition.engine.process, instance.name)
    await asyncio.to_thread(composition.engine.kill, instance.name)
    while await asyncio.to_thread(composition.engine.process, instance.name) in (0, before):
        if time.monotonic() - began > 30:
            raise TimeoutError(f"{instance.name} did not come back by its restart policy")
        await asyncio.sleep(0.1)
    await asyncio.sleep(1)
    await asyncio.to_thread(composition.wait_until_balanced, instance)
    await asyncio.to_thread(composition.limit, instance)
    return time.monotonic() - began


async def run(context: Context) -> None:
    section = context.report.section(NUMBER, TITLE)
    await prepare(context)
    before, began = context.ledger.count, time.monotonic()
    load = Load(context.access, context.maker, context.ledger, context.capacity / 2, SENDERS, retries=True)
    context.reader.retries = True
    lost = context.reader.tally.failed
    async with load:
        following = asyncio.create_task(context.reader.follow(load.stopping))
        await asyncio.sleep(2 * context.pace)
        for service in SERVICES:
            victim = (await asyncio.to_thread(context.composition.instances, service))[0]
            seen = sum(load.deliveries.retried.values()), sum(tally.retried.total() for tally in load.calls.values())
            took = await kill(context, victim)
            await asyncio.sleep(2 * context.pace)
            refused = sum(load.deliveries.retried.values()) - seen[0]
            retried = sum(tally.retried.total() for tally in load.calls.values()) - seen[1]
            section.add(f"{service}: back after; senders refused; calls retried", f"{took:.1f} s; {refused}; {retried}")
        load.stopping.set()
        await following
    add_results(context, section, load, time.monotonic() - began, before, lost)
    await kill_redis(context, section)
    await compare_with_stored_data(context, section)


async def kill_redis(context: Context, section: Section) -> None:
    """There is only one Redis, and no delivery is accepted without it. Only senders run, because a caller's one retry would come too
    early."""
    load = Load(context.access, context.maker, context.ledger, context.capacity / 2, SENDERS, retries=True, callers=False)
    engine = context.composition.engine
    async with load:
        await asyncio.sleep(1)
        name, before = context.composition.instances("redis")[0].name, load.deliveries.answered
        process = await asyncio.to_thread(engine.process, name)
        await asyncio.to_thread(engine.kill, name)
        began = time.monotonic()
        while await asyncio.to_thread(engine.process, name) in (0, process) or load.deliveries.answered < before + 200:
            if time.monotonic() - began > 40:
                raise TimeoutError("deliveries are not taken in again after Redis was killed")
            await asyncio.sleep(0.1)
        took = time.monotonic() - began
        await asyncio.sleep(2 * context.pace)
    refused = ", ".join(f"{count} × {status}" for status, count in sorted(load.deliveries.retried.items())) or "none"
    section.add("Redis: 200 deliveries more after; senders refused", f"{took:.1f} s; {refused}")
    section.add("senders meanwhile: anything else", load.deliveries.failed, "0", load.deliveries.failed == 0)
    note_failures(section, load)
    for service in SERVICES:
        for instance in context.composition.instances(service):
            await asyncio.to_thread(context.composition.wait_until_balanced, instance)


def add_results(context: Context, section: Section, load: Load, took: float, before: int, lost: int) -> None:
    show(section, context, load, took, before)
    refused = ", ".join(f"{count} × {status}" for status, count in sorted(load.deliveries.retried.items())) or "none"
    section.add("senders: refused with 500 or 503, sent again", refused)
    section.add("senders: anything else", load.deliveries.failed, "0", load.deliveries.failed == 0)
    retried = [f"{count} × {port} {what}" for port, tally in sorted(load.calls.items()) for what, count in tally.retried.items()]
    section.add("calls that needed their one retry", ", ".join(retried) or "none")
    failed = sum(tally.failed for tally in load.calls.values())
    section.add("calls that failed with one retry", f"{failed} of {sum(tally.sent for tally in load.calls.values()):,}", "0", failed == 0)
    reader = context.reader.tally.failed - lost
    section.add("the same of the reader of the feed", reader, "0", reader == 0)
    if reader:
        section.notes.append(f"reader: {context.reader.tally.first_failure}")
    note_failures(section, load)
