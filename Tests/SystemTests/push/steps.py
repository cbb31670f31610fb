"""Steps that the tests of pushed subscriptions share."""

import json
from typing import Any

from .receiver import Receiver
from .system import EVENTS, PushSystem

# Settings of `push` whose times are seconds instead of days.
QUICK = "timeout: 2s, retryBase: 100ms, retryCap: 500ms, pauseCap: 500ms, retryFor: 3s, disableAfter: 4s"


def subscribe(system: PushSystem, receiver: Receiver, name: str, **more: Any) -> str:
    """Creates a subscription whose endpoint is a path of the receiver; returns the path."""
    path = more.pop("path", f"/{name}")
    more.setdefault("start", "now")
    receiver.secrets[path] = system.subscribe(name, receiver.url(path), **more)
    return path


def refused(system: PushSystem, method: str, **message: Any) -> dict:
    """Calls a method that must fail; returns the error."""
    status, answer = system.verifier.rpc(EVENTS, method, message)
    assert status >= 400, answer
    return answer


def published_order(system: PushSystem, ids: set[str]) -> list[tuple[str, str]]:
    """The ids and subjects of these events in the order of publication."""
    entries = []
    for shard in range(256):
        for entry, fields in system.client.xrange(f"{{attr:{shard:03d}}}:events"):
            milliseconds, number = entry.split(b"-")
            event = json.loads(fields[b"e"])
            if event["id"] in ids:
                entries.append((int(milliseconds), int(number), shard, event["id"], event["subject"]))
    return [(id, subject) for *_, id, subject in sorted(entries)]
