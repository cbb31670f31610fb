"""Receipts as devices have them, and the steps of a migration from the call to the feed."""

import base64
import json
import time
import uuid
from typing import Any

from client import Subscription
from SystemTests.support.running_system import System

APP = "com.example.app"
TRANSACTION, STATUS = "appstore.transaction.observed.v1", "appstore.subscription.observed.v1"


def story(system: System, *steps: str, environment: str = "Production", **more: Any) -> dict:
    """Purchases that neither send notifications nor appear in the history that recoveries of other tests read."""
    return system.control("/control/notifications/story", {
        "bundleId": APP, "environment": environment, "steps": [{"step": step, "history": False} for step in steps], "send": False, **more})


def der(tag: int, *parts: bytes) -> bytes:
    content = b"".join(parts)
    length = len(content)
    if length < 128:
        return bytes([tag, length]) + content
    size = (length.bit_length() + 7) // 8
    return bytes([tag, 0x80 | size]) + length.to_bytes(size, "big") + content


def attribute(kind: int, value: bytes) -> bytes:
    return der(0x30, der(0x02, kind.to_bytes(2, "big")), der(0x02, b"\x01"), der(0x04, value))


def app_receipt(originals: list[str], bundle_id: str = APP, more: bytes = b"") -> str:
    """An app receipt: PKCS#7 with a purchase for each id, and no signature, because it is not checked. `more` is an opaque value."""
    purchases = [attribute(17, der(0x31, attribute(1705, der(0x0C, one.encode())), attribute(1703, der(0x0C, one.encode()))))
                 for one in originals]
    payload = der(0x31, attribute(2, der(0x0C, bundle_id.encode())), attribute(4, der(0x04, more)), *purchases)
    data = der(0x30, bytes.fromhex("06092a864886f70d010701"), der(0xA0, der(0x04, payload)))
    signed = der(0x30, der(0x02, b"\x01"), der(0x31), data)
    return base64.b64encode(der(0x30, bytes.fromhex("06092a864886f70d010702"), der(0xA0, signed))).decode()


def unsigned_jws(payload: dict) -> str:
    """A JWS whose signature is wrong. In place of a receipt it is not checked."""
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in ({"alg": "ES256"}, payload)) + ".AAAA"


def transaction_receipt(transaction: str) -> str:
    inner = base64.b64encode(f'{{\n\t"transaction-id" = "{transaction}";\n\t"bid" = "{APP}";\n}}'.encode()).decode()
    return base64.b64encode(f'{{\n\t"signature" = "AAAA";\n\t"purchase-info" = "{inner}";\n\t"pod" = "100";\n}}'.encode()).decode()


def response(originals: list[str], bundle_id: str = APP) -> dict:
    """An answer of Apple's verifyReceipt with a purchase for each id."""
    return {"status": 0, "environment": "Production", "receipt": {"bundle_id": bundle_id, "in_app": []},
            "latest_receipt_info": [{"original_transaction_id": one, "transaction_id": one, "product_id": "p"} for one in originals]}


def migrate(system: System, receipts: list[dict], key: str | None = None, **more: Any) -> dict:
    """Starts a migration; `key` is its idempotency key."""
    return system.call("Recovery", "MigrateReceipts", {"bundleId": APP, "receipts": receipts, **more}, key=key or uuid.uuid4().hex)


def completed(system: System, migration: str, seconds: float = 60) -> dict:
    """Waits until a migration is completed; returns it."""
    until = time.monotonic() + seconds
    while True:
        found = system.call("Recovery", "GetMigration", {"migrationId": migration})["migration"]
        if found["state"] == "completed":
            return found
        assert time.monotonic() < until, found
        time.sleep(0.2)


def outcome(system: System, receipts: list[dict], **more: Any) -> tuple[dict, list[dict]]:
    """The counts of a migration after its end, and its failures."""
    migration = migrate(system, receipts, environment="Production", **more)["migrationId"]
    done = completed(system, migration)
    counts = {name: done.get(name, 0) for name in ("migrated", "failed", "partialFailures", "transactions", "subscriptions")}
    return counts, system.call("Recovery", "ListMigrationFailures", {"migrationId": migration}).get("failures", [])


def migrated(feed: Subscription, count: int, seconds: float = 20) -> list[dict]:
    """Waits for this number of events of migrations; returns them and any that follow immediately, without events of other tests."""
    found: list[dict] = []
    until = time.monotonic() + seconds
    while len(found) < count and time.monotonic() < until:
        found += [event for event in feed.pull(wait=1) if "migrationId" in event["data"]]
    return found + [event for event in feed.pull(wait=1) if "migrationId" in event["data"]]


def cancel(system: System, migration: str) -> dict:
    return system.call("Recovery", "CancelMigration", {"migrationId": migration})["migration"]


def counts(stdout: str) -> dict:
    """The values of a migration's table, by their names."""
    return {" ".join(words[:-1]): words[-1] for words in (line.split() for line in stdout.splitlines()) if len(words) > 1}
