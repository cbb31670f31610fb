"""Replacement of verifyReceipt: receipts of every kind are migrated, and their histories and statuses are published on the feed, each
once."""

import base64
import contextlib
import hashlib
import json
import time
import urllib.parse
import uuid

import pytest

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
    unsigned_jws,
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


def outcome(system, receipts: list[dict], **more) -> tuple[dict, list[dict]]:
    """The counts of a migration after its end, and its failures."""
    migration = migrate(system, receipts, environment="Production", **more)["migrationId"]
    done = completed(system, migration)
    counts = {name: done.get(name, 0) for name in ("migrated", "failed", "partialFailures", "transactions", "subscriptions")}
    return counts, system.call("Recovery", "ListMigrationFailures", {"migrationId": migration}).get("failures", [])


@contextlib.contextmanager
def refusing(system, original: str, status: int, code: int, count: int = 1000, method: str = "v2/history"):
    """Apple answers with this error about one id."""
    system.control("/control/faults", {"route": f"/production/inApps/{method}/{original}", "count": count, "status": status,
                                       "body": {"errorCode": code, "errorMessage": "Refused."}})
    try:
        yield
    finally:
        system.control("/control/faults", {"clear": True})


@pytest.mark.parametrize("status,code,reason", [
    (404, 4_040_001, "no-transaction"), (404, 4_040_005, "no-transaction"), (404, 4_040_010, "no-transaction"), (400, 4_000_006, "refused"),
    (403, 4_030_099, "refused"),
])
def test_an_id_that_apple_does_not_know_or_refuses_leaves_the_other_purchases_of_the_receipt(system, status, code, reason):
    originals = [story(system, "buy")["originalTransactionId"] for _ in range(3)]
    other = story(system, "buy")["originalTransactionId"]
    with refusing(system, originals[0], status, code):
        counts, failures = outcome(system, [{"id": "three", "verifyReceiptResponse": response(originals)},
                                            {"id": "next", "verifyReceiptResponse": response([other])}])
    assert counts == {"migrated": 2, "failed": 0, "partialFailures": 1, "transactions": 3, "subscriptions": 3}, (counts, failures)
    failure, = failures
    assert (failure["id"], failure["reason"], failure["errorCode"]) == ("three", reason, code), failure
    assert failure["transactionIds"] == [originals[0]], failure
    # A receipt with no other purchase has failed.
    with refusing(system, originals[0], status, code):
        counts, failures = outcome(system, [{"id": "one", "verifyReceiptResponse": response(originals[:1])}])
    assert counts == {"migrated": 0, "failed": 1, "partialFailures": 0, "transactions": 0, "subscriptions": 0}, (counts, failures)
    assert [(one["reason"], one["transactionIds"]) for one in failures] == [(reason, originals[:1])], failures


def test_the_history_of_a_purchase_is_migrated_although_apple_refuses_its_status(system):
    original = story(system, "buy", "renew")["originalTransactionId"]
    with refusing(system, original, 400, 4_000_047, method="v1/subscriptions"):
        counts, failures = outcome(system, [{"id": "one", "verifyReceiptResponse": response([original])}])
    assert counts == {"migrated": 1, "failed": 0, "partialFailures": 1, "transactions": 2, "subscriptions": 0}, (counts, failures)
    assert [(one["reason"], one["errorCode"]) for one in failures] == [("refused", 4_000_047)], failures


def test_an_id_that_apple_knows_only_later_is_migrated(system):
    """Three look-ups: two before Apple knows it."""
    original = story(system, "buy")["originalTransactionId"]
    with refusing(system, original, 404, 4_040_010, count=2):
        counts, failures = outcome(system, [{"id": "new", "verifyReceiptResponse": response([original])}])
    assert counts == {"migrated": 1, "failed": 0, "partialFailures": 0, "transactions": 1, "subscriptions": 1} and not failures, failures


def test_the_id_of_xcodes_receipts_is_told_without_a_call_and_leaves_the_other_purchases(system):
    original = story(system, "buy")["originalTransactionId"]
    before = len(system.control("/control/app-store-calls?limit=100000")["calls"])
    answer = migrate(system, [
        {"id": "alone", "appReceipt": app_receipt(["0"])}, {"id": "mixed", "verifyReceiptResponse": response(["0", original])},
        {"id": "legacy", "transactionReceipt": transaction_receipt("0")}, {"id": "signed", "appReceipt": unsigned_jws({
            "transactionId": "3", "originalTransactionId": "3", "bundleId": APP, "environment": "Xcode"})}])
    assert [(one["id"], one["state"]) for one in answer["results"]] == [
        ("alone", "failed"), ("mixed", "queued"), ("legacy", "failed"), ("signed", "failed")], answer
    assert "Xcode" in answer["results"][0]["error"]
    done = completed(system, answer["migrationId"])
    assert (done["migrated"], done["failed"], done["partialFailures"], done["transactions"]) == (1, 3, 1, 1), done
    failures = system.call("Recovery", "ListMigrationFailures", {"migrationId": answer["migrationId"]})["failures"]
    assert {one["id"]: (one["reason"], one.get("transactionIds", [])) for one in failures} == {
        "alone": ("xcode-receipt", []), "legacy": ("xcode-receipt", []), "signed": ("xcode-receipt", []), "mixed": ("xcode-receipt", ["0"])}
    paths = [call["path"] for call in system.control("/control/app-store-calls?limit=100000")["calls"][before:]]
    assert [path for path in paths if path.endswith(("/0", "/3"))] == [] and len([path for path in paths if original in path]) == 2, paths
    # Nor is there a call about it for the caller of another method.
    for method, field in (("GetTransactionHistory", "transactionId"), ("FinishTransaction", "transactionId"),
                          ("SetAppAccountToken", "originalTransactionId")):
        refused = system.rpc("Recovery", method, {"bundleId": APP, field: "0", "appAccountToken": str(uuid.uuid4())}
                             if method == "SetAppAccountToken" else {"bundleId": APP, field: "0"}, key=uuid.uuid4().hex)
        assert refused.status == 400 and f'"{field}"' in refused.body.decode() and "Xcode" in refused.body.decode(), refused


def test_signed_data_in_place_of_a_receipt_is_looked_up_by_its_ids(system):
    purchase = story(system, "buy", "renew")
    original, account = purchase["originalTransactionId"], purchase["appTransactionId"]
    notification = purchase["notifications"][1]
    found = system.call("Recovery", "GetTransactionHistory", {"bundleId": APP, "transactionId": original})["response"]
    signed_app = system.call("Recovery", "GetAppTransactionInfo", {"bundleId": APP, "transactionId": original})["response"]
    statuses = system.call("Recovery", "GetSubscriptionStatuses", {"bundleId": APP, "transactionId": original})["response"]
    status = statuses["data"][0]["lastTransactions"][0]
    texts = {"transaction": found["signedTransactions"][1], "renewal": status["signedRenewalInfo"], "notification": notification["signedPayload"],
             "body": json.dumps({"signedPayload": notification["signedPayload"]}), "history": json.dumps(found),
             "app": signed_app["signedAppTransactionInfo"]}
    for field in ("appReceipt", "transactionReceipt"):
        for name, text in texts.items():
            answer = migrate(system, [{"id": name, field: text}], environment="Production")
            result, = answer["results"]
            ids = result.get("transactionIds", []) if name == "app" else result.get("originalTransactionIds", [])
            assert result["state"] == "queued" and ids == ([account] if name == "app" else [original]), result
            done = completed(system, answer["migrationId"])
            assert (done["migrated"], done["transactions"], done["subscriptions"]) == (1, 2, 1), (name, done)
            extracted = system.call("Verifier", "ExtractTransactionIds", {field: text})
            assert (extracted["transactionIds"] if name == "app" else extracted["originalTransactionIds"]) == ids, (name, extracted)
    stranger = unsigned_jws({"transactionId": "3", "originalTransactionId": "3", "bundleId": "com.example.other", "environment": "Production"})
    assert [one["reason"] for one in outcome(system, [{"appReceipt": stranger}])[1]] == ["wrong-app"]


@pytest.mark.parametrize("change", [
    lambda text: base64.b64encode(text.encode()).decode(), lambda text: text.replace("+", " "),
    lambda text: text.replace("+", "-").replace("/", "_").rstrip("="), lambda text: text.rstrip("="),
    lambda text: "\r\n".join(text[start:start + 64] for start in range(0, len(text), 64)), lambda text: f'"{text}"',
    lambda text: urllib.parse.quote(text, safe=""),
], ids=["encoded twice", "blanks", "url alphabet", "no padding", "lines", "quotes", "escaped"])
def test_a_receipt_is_read_although_its_text_was_changed_on_the_way(system, change):
    original = story(system, "buy")["originalTransactionId"]
    texts = {"appReceipt": app_receipt([original], more=b"\xfb\xef\xbe\xff" * 3), "transactionReceipt": transaction_receipt(original)}
    # Versions of the app are among the attributes that receipts have; this one has characters that the alphabets do not share.
    assert "+" in texts["appReceipt"] and "/" in texts["appReceipt"]
    for field, text in texts.items():
        extracted = system.call("Verifier", "ExtractTransactionIds", {field: change(text)})
        assert original in extracted.get("originalTransactionIds", []) + extracted.get("transactionIds", []), extracted
        counts, failures = outcome(system, [{"id": field, field: change(text)}])
        assert counts["migrated"] == 1 and not failures, (field, counts, failures)


def test_a_transaction_that_names_no_app_or_cannot_be_verified_leaves_the_others_of_the_receipt(system):
    feed = system.subscribe([TRANSACTION, STATUS])
    original = story(system, "buy", "renew")["originalTransactionId"]
    # Apple's history of the customer gets a one-time purchase that names no app.
    nameless = system.control("/control/notifications", {
        "bundleId": APP, "environment": "Production", "notificationType": "ONE_TIME_CHARGE", "originalTransactionId": original, "send": False,
        "history": False, "transaction": {"bundleId": None}})["transactionId"]
    counts, failures = outcome(system, [{"id": "one", "verifyReceiptResponse": response([original])}])
    assert counts == {"migrated": 1, "failed": 0, "partialFailures": 1, "transactions": 3, "subscriptions": 1}, (counts, failures)
    assert [(one["id"], one["reason"], one["transactionIds"]) for one in failures] == [("one", "app-not-named", [nameless])], failures
    events = {event["data"].get("transactionId"): event for event in migrated(feed, 4) if event["type"] == TRANSACTION}
    assert len(events) == 3 and events[nameless]["subject"] == events[nameless]["data"]["bundleId"] == APP
    assert "bundleId" not in events[nameless]["data"]["transactionInfo"]

    # A transaction whose signature is wrong.
    found = system.call("Recovery", "GetTransactionHistory", {"bundleId": APP, "transactionId": original})["response"]
    head, payload, signature = found["signedTransactions"][1].split(".")
    found["signedTransactions"][1] = ".".join([head, payload, signature[::-1]])
    route = f"/production/inApps/v2/history/{original}"
    system.control("/control/faults", {"route": route, "count": 1000, "status": 200, "body": found})
    try:
        counts, failures = outcome(system, [{"id": "one", "verifyReceiptResponse": response([original])}])
        assert counts == {"migrated": 1, "failed": 0, "partialFailures": 2, "transactions": 2, "subscriptions": 1}, (counts, failures)
        reasons = {one["reason"]: one for one in failures}
        assert set(reasons) == {"app-not-named", "signed-data-invalid"}, failures
        assert "number 2" in reasons["signed-data-invalid"]["message"] and reasons["signed-data-invalid"]["transactionIds"] == [original]
    finally:
        system.control("/control/faults", {"clear": True})
    # If nothing can be used, the receipt has failed.
    found["signedTransactions"] = [found["signedTransactions"][1]]
    system.control("/control/faults", {"route": route, "count": 1000, "status": 200, "body": found})
    system.control("/control/faults", {"route": f"/production/inApps/v1/subscriptions/{original}", "count": 1000, "status": 200,
                                       "body": {"data": []}})
    try:
        counts, failures = outcome(system, [{"id": "one", "verifyReceiptResponse": response([original])}])
        assert counts["failed"] == 1 and [one["reason"] for one in failures] == ["signed-data-invalid"], (counts, failures)
    finally:
        system.control("/control/faults", {"clear": True})
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
