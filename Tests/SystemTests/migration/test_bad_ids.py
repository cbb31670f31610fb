"""Ids and signed transactions of a receipt that cannot be used: they are told one by one, and the others are migrated."""

import contextlib
import uuid

import pytest

from .receipts import (
    APP,
    STATUS,
    TRANSACTION,
    app_receipt,
    completed,
    migrate,
    migrated,
    outcome,
    response,
    story,
    transaction_receipt,
    unsigned_jws,
)


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
