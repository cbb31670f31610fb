"""Replacement of verifyReceipt: receipts of every kind are migrated, and their histories and statuses are published on the feed, each
once."""

import hashlib
import time
import uuid

from SystemTests.support.running_system import redis_words

from .receipts import (
    APP,
    STATUS,
    TRANSACTION,
    app_receipt,
    completed,
    migrate,
    migrated,
    response,
    story,
    transaction_receipt,
)

DAY = 86_400_000


def test_receipts_of_every_kind_become_history_and_status_on_the_feed_once(system):
    feed = system.subscribe([TRANSACTION, STATUS])
    long = story(system, "buy", *["renew"] * 24, startDate=int(time.time() * 1000) - 740 * DAY)
    short = story(system, "buy", "cancel")
    old = story(system, "buy", environment="Sandbox")
    receipts = [
        {"id": "app", "appReceipt": app_receipt([long["originalTransactionId"]])},
        {"id": "response", "verifyReceiptResponse": response([short["originalTransactionId"]])},
        {"id": "legacy", "transactionReceipt": transaction_receipt(old["originalTransactionId"])},
        {"id": "same", "verifyReceiptResponse": response([long["originalTransactionId"]])},
        {"id": "empty", "appReceipt": app_receipt([])},
        {"id": "broken", "appReceipt": "bm90IGEgcmVjZWlwdA=="},
        {"id": "unknown", "verifyReceiptResponse": response(["999999999999999"])},
        {"id": "stranger", "verifyReceiptResponse": response([short["originalTransactionId"]], "com.example.other")},
        {"id": "stranger 2", "appReceipt": app_receipt([short["originalTransactionId"]], "com.example.other")}, {"id": "nothing"}]
    key = uuid.uuid4().hex
    answer = migrate(system, receipts, key)
    assert migrate(system, receipts, key) == answer
    assert {one["id"]: one["state"] for one in answer["results"]} == {
        "app": "queued", "response": "queued", "legacy": "queued", "same": "duplicate", "empty": "no-purchase", "broken": "failed",
        "unknown": "queued", "stranger": "failed", "stranger 2": "failed", "nothing": "failed"}
    assert answer["results"][0]["originalTransactionIds"] == [long["originalTransactionId"]]
    assert answer["results"][2].get("originalTransactionIds", []) == [] and answer["results"][2]["transactionIds"] == [old["originalTransactionId"]]
    assert "PKCS#7" in answer["results"][5]["error"]
    done = completed(system, answer["migrationId"])
    counts = {name: done.get(name, 0) for name in ("receipts", "duplicates", "noPurchase", "migrated", "failed", "waiting", "transactions",
                                                   "subscriptions")}
    assert counts == {"receipts": 10, "duplicates": 1, "noPurchase": 1, "migrated": 3, "failed": 5, "waiting": 0, "transactions": 27,
                      "subscriptions": 3}, done
    assert done["progress"] == 1
    failures, token = [], None
    while True:
        page = system.call("Recovery", "ListMigrationFailures", {
            "migrationId": answer["migrationId"], "maxFailures": 3, **({"pageToken": token} if token else {})})
        failures += page.get("failures", [])
        token = page.get("nextPageToken")
        if token is None:
            break
    assert {one["id"]: one["reason"] for one in failures} == {
        "broken": "malformed-receipt",
        "stranger": "wrong-app",
        "stranger 2": "wrong-app",
        "nothing": "malformed-receipt",
        "unknown": "no-transaction",
    }
    unknown = next(one for one in failures if one["id"] == "unknown")
    assert unknown["errorCode"] == 4040010 and unknown["transactionIds"] == ["999999999999999"]

    events = migrated(feed, 30)
    assert len(events) == 30 and len({event["id"] for event in events}) == 30
    transactions = [event for event in events if event["type"] == TRANSACTION]
    assert len(transactions) == 27 and {event["data"]["migrationId"] for event in transactions} == {answer["migrationId"]}
    states = {event["data"]["originalTransactionId"]: event["data"] for event in events if event["type"] == STATUS}
    assert states[short["originalTransactionId"]]["lifecycle"]["state"] == "active-not-renewing"
    assert states[old["originalTransactionId"]]["environment"] == "Sandbox"
    subscription = system.call("Verifier", "GetSubscriptionState", {
        "originalTransactionId": long["originalTransactionId"], "environment": "Production"})
    assert subscription["source"] == "status" and subscription.get("gaps", []) == []

    # The same receipts again are another migration and publish nothing new; a change since then is one event.
    again = migrate(system, receipts[:3])
    assert [one["state"] for one in again["results"]] == ["queued"] * 3
    assert completed(system, again["migrationId"])["transactions"] == 27
    assert migrated(feed, 0) == []
    story(system, "refund", originalTransactionId=short["originalTransactionId"])
    completed(system, migrate(system, receipts[1:2])["migrationId"])
    assert sorted(event["type"] for event in migrated(feed, 2)) == sorted([TRANSACTION, STATUS])
    listed = system.call("Recovery", "ListMigrations", {"bundleId": APP, "maxMigrations": 3})["migrations"]
    assert [one["migrationId"] for one in listed][1:] == [again["migrationId"], answer["migrationId"]]
    feed.delete()


def test_a_page_that_announces_more_without_a_revision_is_not_the_end_of_the_history(system):
    original = story(system, "buy", "renew")["originalTransactionId"]
    system.control("/control/faults", {"route": "transactionHistory", "count": 1, "status": 200,
                                       "body": {"signedTransactions": [], "hasMore": True}})
    try:
        done = completed(system, migrate(system, [{"id": "one", "verifyReceiptResponse": response([original])}])["migrationId"])
    finally:
        system.control("/control/faults", {"clear": True})
    assert (done["migrated"], done["transactions"]) == (1, 2), done


def counts_key(system, migration: str) -> str:
    key, = [key for key in redis_words(system, "--scan", "--pattern", f"*:migration:{migration}*") if key.endswith(migration)]
    return key


def test_all_forms_of_verify_receipt_answers_are_read(system):
    one, two, three = (story(system, "buy")["originalTransactionId"] for _ in range(3))
    answer = migrate(system, [
        {"id": "transaction receipt", "verifyReceiptResponse": {"status": 0, "receipt": {"bid": APP, "original_transaction_id": one}}},
        {"id": "object", "verifyReceiptResponse": {"status": 0, "latest_receipt_info": {"original_transaction_id": two, "bid": APP}}},
        {"id": "number", "verifyReceiptResponse": {"latest_receipt_info": [{"original_transaction_id": int(three)}]}},
        {"id": "expired", "verifyReceiptResponse": {"status": 21006, "receipt": {"bid": APP, "original_transaction_id": one}}},
        {"id": "stranger", "verifyReceiptResponse": {"status": 0, "receipt": {"bid": "com.example.other", "original_transaction_id": one}}},
        {"id": "error", "verifyReceiptResponse": {"status": 21003}},
        {"id": "empty", "verifyReceiptResponse": {"status": 0, "receipt": {"in_app": []}}}])
    assert {result["id"]: (result["state"], result.get("originalTransactionIds", [])) for result in answer["results"]} == {
        "transaction receipt": ("queued", [one]), "object": ("queued", [two]), "number": ("queued", [three]), "expired": ("duplicate", [one]),
        "stranger": ("failed", []), "error": ("failed", []), "empty": ("no-purchase", [])}
    assert "21003" in answer["results"][5]["error"]
    done = completed(system, answer["migrationId"])
    assert (done["migrated"], done["failed"], done["noPurchase"], done["duplicates"]) == (3, 2, 1, 1), done
    failures = system.call("Recovery", "ListMigrationFailures", {"migrationId": answer["migrationId"]})["failures"]
    assert {failure["id"]: (failure["reason"], failure.get("errorCode")) for failure in failures} == {
        "stranger": ("wrong-app", None), "error": ("refused", 21003)}


def test_migrations_are_listed_page_by_page_until_they_expire(system):
    begun = [migrate(system, [{"id": "empty", "appReceipt": app_receipt([])}])["migrationId"] for _ in range(5)]

    def pages(**more) -> list[str]:
        found, token = [], None
        while True:
            page = system.call("Recovery", "ListMigrations", {"maxMigrations": 2, **more, **({"pageToken": token} if token else {})})
            assert 0 < len(page["migrations"]) <= 2, page
            found += [one["migrationId"] for one in page["migrations"]]
            token = page.get("nextPageToken")
            if token is None:
                return found

    listed = pages()
    assert listed[:5] == begun[::-1] and len(set(listed)) == len(listed)
    assert pages(bundleId=APP) == listed
    assert "migrations" not in system.call("Recovery", "ListMigrations", {"bundleId": "com.example.other"})
    # Migrations of an earlier version are only in the list of all.
    app_list, = redis_words(system, "--scan", "--pattern", f"*:recovery:migrations:{APP}")
    redis_words(system, "DEL", app_list)
    redis_words(system, "DEL", *redis_words(system, "--scan", "--pattern", "*:recovery:migrations-filed"))
    assert pages(bundleId=APP) == listed

    # Deleted migrations that are still listed are skipped, even if they are more than one page.
    for number in range(7):
        redis_words(system, "ZADD", app_list, int(time.time() * 1000), f"gone{number}")
    assert pages(bundleId=APP) == listed
    redis_words(system, "ZREM", app_list, *(f"gone{number}" for number in range(7)))

    # It began long ago and had a step just now: it stays in the list when others are added and deleted ones are removed.
    all_list, = redis_words(system, "--scan", "--pattern", "*:recovery:migrations")
    old = str(int(time.time() * 1000) - 100 * DAY)
    for key in (all_list, app_list):
        redis_words(system, "ZADD", key, "XX", old, begun[0])
        redis_words(system, "ZADD", key, old, "gone")
    migrate(system, [{"id": "empty", "appReceipt": app_receipt([])}])
    assert pages()[-1] == pages(bundleId=APP)[-1] == begun[0]
    assert [redis_words(system, "ZSCORE", key, "gone") for key in (all_list, app_list)] == [[], []]


def test_a_migration_is_stored_while_receipts_wait(system):
    """It is deleted after `migrations.kept` from its last step, and not while a receipt waits."""
    kept = 90 * DAY // 1000
    original = story(system, "buy")["originalTransactionId"]
    migration = f"kept-{uuid.uuid4().hex[:8]}"

    def times_to_live() -> dict[str, int]:
        keys = redis_words(system, "--scan", "--pattern", f"*:migration:{migration}*")
        return {key.split(f":{migration}")[1]: int(redis_words(system, "TTL", key)[0]) for key in keys}

    empty = [{"id": "empty", "appReceipt": app_receipt([])}, {"id": "broken", "appReceipt": "AAAA"}]
    migrate(system, empty, migrationId=migration)
    assert {name: 0 < left <= kept for name, left in times_to_live().items()} == {"": True, ":batches": True, ":failures": True}
    # A receipt that waits: it is counted, and not queued yet.
    member = int.from_bytes(hashlib.sha256(f"{original}|".encode()).digest()[:8], "big", signed=True)
    counts, bucket = counts_key(system, migration), member % 2**64 % 4096
    redis_words(system, "SADD", f"{counts}:in:{bucket}", member)
    redis_words(system, "HINCRBY", counts, "queued", 1)
    migrate(system, empty, migrationId=migration)
    found = times_to_live()
    assert all(found[name] > kept for name in ("", ":batches", ":failures")), found
    migrate(system, [{"verifyReceiptResponse": response([original])}], migrationId=migration)
    assert completed(system, migration)["migrated"] == 1
    found = times_to_live()
    assert {name: 0 < left <= kept for name, left in found.items()} == {
        "": True, ":batches": True, ":failures": True, f":in:{bucket}": True, f":done:{bucket}": True}, found


def test_a_purchase_of_an_interrupted_call_is_migrated_by_the_next_call(system):
    """The call ended after its receipts were counted and before they were queued; the next one has another key."""
    original = story(system, "buy")["originalTransactionId"]
    migration = f"broken-{uuid.uuid4().hex[:8]}"
    migrate(system, [{"id": "empty", "appReceipt": app_receipt([])}], migrationId=migration)
    counts = counts_key(system, migration)
    member = int.from_bytes(hashlib.sha256(f"{original}|".encode()).digest()[:8], "big", signed=True)
    for words in (["SADD", f"{counts}:in:{member % 2**64 % 4096}", member], ["HINCRBY", counts, "queued", 1], ["HINCRBY", counts, "receipts", 1]):
        redis_words(system, *words)
    assert system.call("Recovery", "GetMigration", {"migrationId": migration})["migration"]["state"] == "running"
    again = migrate(system, [{"verifyReceiptResponse": response([original])}], migrationId=migration)
    assert again["results"][0]["state"] == "duplicate", again
    done = completed(system, migration, seconds=20)
    assert (done["migrated"], done["duplicates"], done["subscriptions"]) == (1, 1, 1), done


def test_a_wrong_field_of_a_migration_is_refused_by_its_name(system):
    def ask(method, message):
        return system.rpc("Recovery", method, message, key=uuid.uuid4().hex)

    one = [{"appReceipt": "AAAA"}]
    for method, message, field in (
            ("MigrateReceipts", {"receipts": one}, "bundleId"), ("MigrateReceipts", {"bundleId": APP}, "receipts"),
            ("MigrateReceipts", {"bundleId": APP, "receipts": one, "migrationId": "a b"}, "migrationId"),
            ("MigrateReceipts", {"bundleId": APP, "receipts": one, "environment": "Moon"}, "environment"),
            ("MigrateReceipts", {"bundleId": APP, "receipts": one * 1001}, "receipts"),
            ("MigrateReceipts", {"bundleId": APP, "receipts": [{"id": "x" * 257}]}, "receipts[0].id"),
            ("GetMigration", {}, "migrationId"), ("CancelMigration", {}, "migrationId"), ("CancelMigration", {"migrationId": "a b"}, "migrationId"),
            ("ListMigrations", {"maxMigrations": 0}, "maxMigrations"),
            ("ListMigrations", {"pageToken": "x"}, "pageToken"), ("ListMigrationFailures", {}, "migrationId")):
        answer = ask(method, message)
        assert answer.status == 400 and f'"{field}"' in answer.body.decode(), (method, message, answer)
    assert ask("GetMigration", {"migrationId": "nobody"}).status == 404
