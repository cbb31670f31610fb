"""Reads the feed as a subscriber, and compares it with the ledger of answers."""

from __future__ import annotations

import asyncio
import collections
import re
import time

from SystemTests.faults.account import account
from SystemTests.faults.load import Ledger

from .load import RETRY_AFTER, Tally
from .rpc_caller import Access, Caller

QUEUES = ("intake", "tokens", "sessions")


async def ask(caller: Caller, service: str, method: str, message: dict, tries: int = 20) -> dict:
    """Calls an RPC until it succeeds."""
    for left in reversed(range(tries)):
        try:
            status, answer = await caller.call(service, method, message)
        except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
            status, answer = 0, {"error": repr(error)}
        if status == 200:
            return answer
        if left == 0 or status in (400, 401, 403, 404):
            break
        await asyncio.sleep(RETRY_AFTER)
    raise RuntimeError(f"{method}: {status} {answer}")


class Reader:
    """A reader that pulls and acknowledges continuously, repeats a failed call once, and stores every event by its id."""

    def __init__(self, access: Access, name: str) -> None:
        self.access, self.name = access, name
        self.events: dict[str, dict] = {}
        # The position of each event in the feed, from its `ackId`: the shard, and the position in the shard's stream.
        self.positions: dict[str, tuple[int, ...]] = {}
        # Events that were pulled again because an acknowledgement was lost with its verifier: the feed guarantees at-least-once delivery.
        self.repeated = 0
        self.tally = Tally()
        self.retries = True

    async def subscribe(self) -> None:
        await ask(self.access.caller("verifier"), "events", "CreateSubscription", {"name": self.name, "start": "now"})

    async def follow(self, stopping: asyncio.Event) -> None:
        caller = self.access.caller("verifier")
        try:
            while not stopping.is_set():
                if not await self.pull(caller, 500):
                    await asyncio.sleep(0.2)
        finally:
            caller.close()

    async def pull(self, caller: Caller, wait: int, most: int = 500) -> int:
        answer = await self._call_with_one_retry(caller, "PullEvents", {
            "subscription": self.name, "maxEvents": most, "waitMilliseconds": wait, "leaseSeconds": 20})
        received = (answer or {}).get("events", [])
        for one in received:
            self.repeated += one["event"]["id"] in self.events
            self.events[one["event"]["id"]] = one["event"]
            self.positions[one["event"]["id"]] = tuple(map(int, re.split("[.-]", one["ackId"])[:3]))
        if received:
            await self._call_with_one_retry(caller, "AcknowledgeEvents", {"subscription": self.name, "ackIds": [one["ackId"] for one in received]})
        return len(received)

    async def _call_with_one_retry(self, caller: Caller, method: str, message: dict) -> dict | None:
        self.tally.sent += 1
        for attempt in (1, 2):
            try:
                status, answer = await caller.call("events", method, message)
            except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
                status, answer = type(error).__name__, {}
            if status == 200:
                self.tally.answered += 1
                return answer
            if attempt == 1 and self.retries:
                self.tally.retried[str(status)] += 1
                await asyncio.sleep(RETRY_AFTER)
            else:
                break
        self.tally.fail(str(status), f"{method} {str(answer)[:200]}")
        return None


async def settle(reader: Reader, seconds: float = 90) -> float:
    """Waits until the queues are empty and the reader has all events. Events of a pull whose answer was lost are delivered again when
    their lease expires; until then they are part of the subscription's backlog."""
    began, caller, quiet = time.monotonic(), reader.access.caller("verifier"), 0
    try:
        while quiet < 2:
            pulled = await reader.pull(caller, 300, 1000)
            queues = (await ask(caller, "queues", "ListQueues", {}))["queues"]
            waiting = {queue["name"]: sum(int(queue.get(part, 0)) for part in ("depth", "inFlight", "delayed"))
                       for queue in queues if queue["name"] in QUEUES}
            subscriptions = (await ask(caller, "events", "ListSubscriptions", {}))["subscriptions"]
            waiting["feed"] = sum(int(one.get("backlog", 0)) for one in subscriptions if one["name"] == reader.name)
            quiet = quiet + 1 if not pulled and not any(waiting.values()) else 0
            if time.monotonic() - began > seconds:
                raise TimeoutError(f"not worked off in {seconds:g} s: {waiting}")
    finally:
        caller.close()
    return time.monotonic() - began


async def states(access: Access, ids: list[str], callers: int = 24) -> dict[str, str]:
    """The states of all deliveries, queried one by one."""
    left, found = collections.deque(ids), {}

    async def work() -> None:
        caller = access.caller("ingest")
        while left:
            id = left.popleft()
            found[id] = (await ask(caller, "ingest", "GetDelivery", {"id": id}))["state"]
        caller.close()

    async with asyncio.TaskGroup() as group:
        for _ in range(callers):
            group.create_task(work())
    return found


async def compare(reader: Reader, ledger: Ledger, final: dict[str, str]) -> dict[str, int]:
    """Fails if the feed and the deliveries' states differ from the answers: lost, duplicated, out of order, in a wrong state. States
    that were found before are final and not queried again."""
    final |= await states(reader.access, [id for id in ledger.deliveries if id not in final])
    # In the order of the feed: an event that was pulled again after a lost acknowledgement arrived later than its position.
    return account(sorted(reader.events.values(), key=lambda event: reader.positions[event["id"]]), dict(final), ledger)
