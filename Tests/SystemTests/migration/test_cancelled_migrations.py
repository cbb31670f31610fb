"""A migration is cancelled: its waiting purchases are not looked up, and other migrations continue."""

import time
import uuid

from .receipts import APP, app_receipt, cancel, completed, migrate, response, story

QUEUES = "attribution.queues.v1.QueuesService"


def counted(migration: dict) -> int:
    return sum(migration.get(name, 0) for name in ("duplicates", "noPurchase", "migrated", "failed", "waiting", "cancelled"))


def test_a_running_migration_is_cancelled_and_others_continue(system):
    """Receipts whose call to Apple was sent are finished and counted, the others are not sent; no message becomes a dead letter."""
    ids = [story(system, "buy")["originalTransactionId"] for _ in range(60)]
    # Apple does not know most of these purchases, but each needs a call.
    ids += [str(880_000_000_000_000 + number) for number in range(240)]
    migration, other = f"cut-{uuid.uuid4().hex[:8]}", f"on-{uuid.uuid4().hex[:8]}"
    receipts = [{"id": one, "verifyReceiptResponse": response([one])} for one in ids] + [{"id": "empty", "appReceipt": app_receipt([])}]
    elsewhere = story(system, "buy")["originalTransactionId"]

    def calls_to_apple(ids: list[str]) -> int:
        calls = system.control("/control/app-store-calls?limit=1000000")["calls"]
        return sum(1 for call in calls if call["path"].endswith(tuple("/" + one for one in ids)))

    system.control("/control/faults", {"route": "appStoreServer", "percentage": 100, "delayMilliseconds": 200})
    key = uuid.uuid4().hex
    try:
        started = migrate(system, receipts, key, migrationId=migration)
        until = time.monotonic() + 60
        while (found := system.call("Recovery", "GetMigration", {"migrationId": migration})["migration"]).get("migrated", 0) == 0:
            assert time.monotonic() < until, found
            time.sleep(0.05)
        migrate(system, [{"id": "other", "verifyReceiptResponse": response([elsewhere])}], migrationId=other)
        cut = cancel(system, migration)
        assert cut["state"] == "cancelled" and cut.get("waiting", 0) == 0 and cut["cancelled"] > 0 and 0 < cut["progress"] < 1, cut
        assert cut["receipts"] == 301 == counted(cut), cut
        assert completed(system, other)["migrated"] == 1
        until = time.monotonic() + 60
        while (left := system.call(QUEUES, "ListQueues", {"queue": "migrations"}, base=system.url("Recovery"))["queues"][0]) and left.get(
            "depth", 0
        ) + left.get("delayed", 0) > 0:
            assert time.monotonic() < until, left
            time.sleep(0.1)
    finally:
        system.control("/control/faults", {"clear": True})
    assert left.get("dead", 0) == 0, left
    calls = calls_to_apple(ids)
    # A second call has the same effect and the same answer as the first.
    again = cancel(system, migration)
    assert again == cancel(system, migration) == system.call("Recovery", "GetMigration", {"migrationId": migration})["migration"]
    assert again["cancelledAt"] == cut["cancelledAt"] and again["state"] == "cancelled"
    assert counted(again) == again["receipts"] == 301 and 0 < again["cancelled"] <= cut["cancelled"], (cut, again)
    assert again["migrated"] + again.get("failed", 0) + again["cancelled"] == 300, again
    listed = {one["migrationId"]: one for one in system.call("Recovery", "ListMigrations", {"bundleId": APP})["migrations"]}
    assert listed[migration] == again and listed[other]["state"] == "completed"
    # Nothing is added to it. An earlier call that is repeated gets the same answer and changes nothing.
    refused = system.rpc("Recovery", "MigrateReceipts", {"bundleId": APP, "receipts": receipts[:1], "migrationId": migration}, key=uuid.uuid4().hex)
    assert refused.status == 400 and "MIGRATION_CANCELLED" in refused.body.decode(), refused
    assert migrate(system, receipts, key, migrationId=migration) == started
    assert calls_to_apple(ids) == calls and cancel(system, migration) == again
    # The omitted receipts are added to another migration.
    assert migrate(system, receipts[-2:-1], migrationId=f"{migration}-2")["results"][0]["state"] == "queued"


def test_ended_and_unknown_migrations_are_not_cancelled(system):
    original = story(system, "buy")["originalTransactionId"]
    done = completed(system, migrate(system, [{"verifyReceiptResponse": response([original])}])["migrationId"])
    after = cancel(system, done["migrationId"])
    assert after == done and after["state"] == "completed" and "cancelled" not in after
    # Receipts can still be added to it.
    assert migrate(system, [{"id": "empty", "appReceipt": app_receipt([])}], migrationId=done["migrationId"])["results"][0]["state"] == "no-purchase"
    unknown = system.rpc("Recovery", "CancelMigration", {"migrationId": "nobody"})
    assert unknown.status == 404 and '"migrationId"' in unknown.body.decode(), unknown
