"""Scenario 6: `compose down` leaves only named volumes, and `up` continues with their data."""

from __future__ import annotations

import asyncio
import time

from SystemTests.faults.load import Connection, Delivery

from ..feed import ask, settle, states
from . import Context
from .paths import set_token_answers

NUMBER, TITLE = "6", "Down and up again"


async def run(context: Context) -> None:
    section, composition, reader = context.report.section(NUMBER, TITLE), context.composition, context.reader
    connection = Connection([composition.ports["public"]], context.maker.dice)
    last = context.maker.postback()
    status, answer = await connection.post(last)
    if status != 200:
        raise RuntimeError(f"a postback was refused: {status}")
    context.ledger.acknowledge(last, answer["id"])
    await settle(reader)
    event = next(event for event in reversed(reader.events.values()) if event["data"].get("transactionId") == last.name)
    known = len(reader.events)
    volumes = set(composition.engine.volumes(composition.project))
    began = time.monotonic()
    connection.close()
    await asyncio.to_thread(composition.down)
    down = time.monotonic() - began
    left = [one.name for one in composition.engine.containers(composition.project)]
    networks = composition.engine.networks(composition.project)
    section.add("down: seconds; containers and networks left", f"{down:.0f}; {len(left)}, {len(networks)}", "none",
                not left and not networks)
    after = set(composition.engine.volumes(composition.project))
    named = set(composition.named_volumes())
    section.add("named volumes left", f"{len(after)}: {', '.join(sorted(name.removeprefix(composition.project + '_') for name in after))}",
                "those of the file", after == volumes and after <= named)
    began = time.monotonic()
    await asyncio.to_thread(composition.bring_up)
    await asyncio.to_thread(composition.wait_until_served)
    await asyncio.to_thread(set_token_answers, context)
    section.add("up again: seconds until all serve", f"{time.monotonic() - began:.0f}")

    caller, events = context.access.caller("ingest"), context.access.caller("verifier")
    state = await ask(caller, "ingest", "GetDelivery", {"id": answer["id"]})
    section.add("a delivery of before", state["state"], "verified", state["state"] == "verified")
    found = await ask(events, "events", "GetEvent", {"id": event["id"]})
    section.add("its event", found["event"]["type"], "the same", found["event"]["data"] == event["data"])
    again = await post(connection, last)
    section.add("the same postback sent again", again["status"], "duplicate", again["status"] == "duplicate")
    next_one = context.maker.postback()
    context.ledger.acknowledge(next_one, (await post(connection, next_one))["id"])
    pulled_again = reader.repeated
    await settle(reader)
    fresh = [one["data"].get("transactionId") for one in list(reader.events.values())[known:]]
    section.add("what the subscription pulls after a new postback", f"{len(fresh)} event, {reader.repeated - pulled_again} again",
                "that one alone", fresh == [next_one.name] and reader.repeated == pulled_again)
    sample = context.maker.dice.sample(list(context.ledger.deliveries), min(300, len(context.ledger.deliveries)))
    known_states = await states(context.access, sample)
    section.add("deliveries of before, known", f"{len(known_states)} of {len(sample)} asked", "all", len(known_states) == len(sample))
    for one in (caller, events, connection):
        one.close()


async def post(connection: Connection, delivery: Delivery) -> dict:
    status, answer = await connection.post(delivery)
    if status != 200:
        raise RuntimeError(f"a postback was refused: {status}")
    return answer
