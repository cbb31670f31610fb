"""Scenario 4: half of all instances lose their network under load, as if their host became unreachable, and return."""

from __future__ import annotations

import asyncio
import time

from ..composition import SERVICES
from ..load import Load
from . import Context
from .killing import add_results
from .replacement import INSTANCES, SENDERS, compare_with_stored_data, prepare

NUMBER, TITLE = "4", "Half of the instances lose their network"
# Seconds without a network.
AWAY = 10


async def run(context: Context) -> None:
    section, composition = context.report.section(NUMBER, TITLE), context.composition
    await prepare(context)
    before, began = context.ledger.count, time.monotonic()
    load = Load(context.access, context.maker, context.ledger, context.capacity / 2, SENDERS, retries=True)
    context.reader.retries = True
    lost = context.reader.tally.failed
    async with load:
        following = asyncio.create_task(context.reader.follow(load.stopping))
        await asyncio.sleep(2 * context.pace)
        victims = [one for service in SERVICES for one in composition.instances(service)[:INSTANCES // 2]]
        addresses = {one: set(composition.networks_of(one).values()) for one in victims}
        cut = time.monotonic()
        networks = dict(zip(victims, await asyncio.gather(*(asyncio.to_thread(composition.cut, one) for one in victims)), strict=True))
        noticed = max(await asyncio.gather(*(asyncio.to_thread(composition.wait_until_gone, one, addresses[one]) for one in victims)))
        section.add("instances cut off; noticed by the balancer after", f"{len(victims)}; {noticed:.1f} s")
        await asyncio.sleep(max(0.0, AWAY * context.pace - (time.monotonic() - cut)))
        away = load.deliveries.answered
        await asyncio.gather(*(asyncio.to_thread(composition.reconnect, one, networks[one]) for one in victims))
        back = time.monotonic()
        for one in victims:
            await asyncio.to_thread(composition.wait_until_balanced, one)
        section.add("answered meanwhile; all in the balancer again after", f"{away:,}; {time.monotonic() - back:.1f} s")
        await asyncio.sleep(3 * context.pace)
        load.stopping.set()
        await following
    add_results(context, section, load, time.monotonic() - began, before, lost)
    await compare_with_stored_data(context, section)
