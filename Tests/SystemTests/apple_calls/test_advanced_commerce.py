"""The server part of the Advanced Commerce API over RPC: a call is executed once for its requestReferenceId, even if a process is killed or
an answer is lost, and Apple's answers are verified."""

import json
import os
import signal
import threading
import time

import pytest

from .commerce_steps import (
    ask,
    bodies,
    bought,
    get,
    info,
    notified,
    record,
)
from .steps import APP, calls, cause, new_id, story, until


@pytest.mark.parametrize("method,body,operation,type", bodies(), ids=lambda value: value if isinstance(value, str) else "")
def test_a_call_is_verified_stored_and_linked_to_its_notification(system, method, body, operation, type):
    transaction = bought(system)
    reference = body["requestInfo"]["requestReferenceId"]
    answer = get(system, method, transaction, body)
    assert answer["environment"] == "Production" and not answer.get("repeated")
    assert answer["decoded"][0]["originalTransactionId"] == transaction and len(answer["decoded"]) == 2
    sent = calls(system, f"/{transaction}")
    assert sent[-1]["body"] == body and sent[-1]["method"] == "POST" and "/advancedCommerce/v1/" in sent[-1]["path"]
    # The repetition is answered from the record.
    again = get(system, method, transaction, body)
    assert again["repeated"] is True and again["response"] == answer["response"] and again["decoded"] == answer["decoded"]
    assert len(calls(system, f"/{transaction}")) == len(sent)
    # A UUID may be written in upper or lower case.
    upper = {**body, "requestInfo": {**body["requestInfo"], "requestReferenceId": reference.upper()}}
    assert get(system, method, transaction, upper)["response"] == answer["response"] and len(calls(system, f"/{transaction}")) == len(sent)
    # A different call with the same identifier is refused.
    other = ask(system, method, transaction, {**body, "storefront": "DEU"})
    assert other.status == 400 and cause(other)["reason"] == "REQUEST_REFERENCE_REUSED", other
    call = notified(system, reference, type)
    assert (call["operation"], call["state"], call["transactionId"], call["environment"]) == (operation, "answered", transaction, "Production")
    assert call["response"] == answer["response"]
    # The notification is joined to the call just before its event is published.
    found = until(lambda: (one := system.rpc("Events", "GetEvent", {"id": call["notifications"][0]["eventId"]})).status == 200 and one)
    event = found.json["event"]
    assert event["data"]["notificationType"] == type and event["data"]["notificationUUID"] == call["notifications"][0]["notificationUuid"]
    listed = system.call("AdvancedCommerce", "ListAdvancedCommerceCalls", {"bundleId": APP, "maxCalls": 1000})["calls"]
    entry = next(one for one in listed if one["requestReferenceId"] == reference)
    assert entry["state"] == "answered" and not {"response", "decoded", "notifications"} & set(entry)


def test_a_request_reference_id_belongs_to_the_environment_of_its_call(system):
    transaction, (_, body, _, _) = bought(system), bodies()[2]
    reference = body["requestInfo"]["requestReferenceId"]
    get(system, "CancelAdvancedCommerceSubscription", transaction, body)
    other = ask(system, "CancelAdvancedCommerceSubscription", transaction, body, "Sandbox")
    assert other.status == 400 and cause(other)["reason"] == "REQUEST_REFERENCE_REUSED", other
    # A caller that names no environment gets the answer of the call that was made.
    assert get(system, "CancelAdvancedCommerceSubscription", transaction, body, None)["repeated"] is True
    answers = {environment: system.rpc("AdvancedCommerce", "GetAdvancedCommerceCall", {
        "bundleId": APP, "requestReferenceId": reference, "environment": environment}) for environment in ("Production", "Sandbox", "Nowhere")}
    assert {environment: answer.status for environment, answer in answers.items()} == {"Production": 200, "Sandbox": 404, "Nowhere": 400}, answers
    assert '"environment"' in answers["Nowhere"].body.decode()


def test_a_subscription_is_migrated_once_and_both_spellings_of_its_notification_are_joined(system):
    transaction = story(system, "buy", environment="Sandbox")["originalTransactionId"]
    body = {**info(), "descriptors": {"displayName": "Both", "description": "Both features."}, "taxCode": "C003-00-1",
            "targetProductId": f"{APP}.aca.generic.subscription",
            "items": [{"SKU": "AD_FREE_1M", "displayName": "Ad-free", "description": "No ads."}]}
    # The service finds the environment.
    answer = get(system, "MigrateToAdvancedCommerce", transaction, body, environment=None)
    assert answer["environment"] == "Sandbox" and answer["decoded"][1]["advancedCommerceInfo"]["items"][0]["SKU"] == "AD_FREE_1M"
    reference = body["requestInfo"]["requestReferenceId"]
    assert notified(system, reference, "MIGRATION")["environment"] == "Sandbox"
    # The other spelling in Apple's documents, of a notification that does not name the call.
    system.control("/control/notifications", {
        "bundleId": APP, "environment": "Sandbox", "notificationType": "MIGRATE", "send": True,
        "transaction": {"originalTransactionId": transaction}})
    joined = [one["joinedBy"] for one in notified(system, reference, "MIGRATE")["notifications"] if one["notificationType"] == "MIGRATE"]
    assert joined == ["purchase"]
    twice = ask(system, "MigrateToAdvancedCommerce", transaction, {**body, **info()})
    assert twice.status == 404 or cause(twice).get("errorName") == "SubscriptionAlreadyMigrated", twice


# The error 5000001 says "try again". But a second attempt would be refused if the first one was executed, because its identifier was used.
@pytest.mark.parametrize("fault", [{"reset": True}, {"status": 500, "body": {"errorCode": 5000000}}, {"status": 500, "body": {"errorCode": 5000001}}])
def test_a_revocation_is_done_once_even_if_apples_answer_is_lost(system, fault):
    transaction = bought(system)
    _, body, _, _ = bodies()[3]
    system.control("/control/faults", {"route": "revocation", "count": 1, **fault})
    try:
        first = ask(system, "RevokeAdvancedCommerceSubscription", transaction, body)
        second = ask(system, "RevokeAdvancedCommerceSubscription", transaction, body)
    finally:
        system.control("/control/faults", {"clear": True})
    # After a lost answer, Apple's data about the purchase shows that the call was executed. After an error, the second call executes it.
    assert first.status == (200 if "reset" in fault else 503) and second.status == 200, (first, second)
    assert second.json["decoded"][0]["revocationDate"]
    assert [call["status"] for call in calls(system, f"/revoke/{transaction}") if call["status"] == 200] == [200]


def test_a_call_with_an_unknown_outcome_ends_when_apple_refuses_it_and_nothing_was_done(system):
    transaction = bought(system)
    _, body, _, _ = bodies()[3]

    def state() -> str:
        return record(system, body["requestInfo"]["requestReferenceId"]).json["call"]["state"]

    try:
        system.control("/control/faults", {"route": "revocation", "count": 1, "status": 500, "body": {"errorCode": 5000000}})
        assert ask(system, "RevokeAdvancedCommerceSubscription", transaction, body).status == 503 and state() == "sending"
        system.control("/control/faults", {"route": "revocation", "count": 1, "status": 400, "body": {"errorCode": 4000159}})
        assert ask(system, "RevokeAdvancedCommerceSubscription", transaction, body).status == 400 and state() == "refused"
    finally:
        system.control("/control/faults", {"clear": True})
    # The identifier may be used for another call, because Apple did not execute a call with it.
    other = {**body, "refundType": "PRORATED"}
    assert get(system, "RevokeAdvancedCommerceSubscription", transaction, other)["decoded"][0]["revocationDate"] and state() == "answered"


@pytest.mark.parametrize("status,code", [(429, 4290000), (400, 4000159)])
def test_a_call_stays_open_while_it_is_unknown_whether_it_was_executed(system, status, code):
    """Apple's data about the purchase does not show a refund, and a later refusal does not say whether the first call was executed."""
    transaction = bought(system)
    _, body, _, _ = bodies()[4]
    state = lambda: record(system, body["requestInfo"]["requestReferenceId"]).json["call"]["state"]  # noqa: E731
    try:
        system.control("/control/faults", {"route": "refundRequest", "count": 1, "status": 500, "body": {"errorCode": 5000000}})
        assert ask(system, "RequestAdvancedCommerceRefund", transaction, body).status == 503 and state() == "sending"
        system.control("/control/faults", {"route": "refundRequest", "count": 1, "status": status, "body": {"errorCode": code},
                                           **({"retryAfter": int(time.time() * 1000) + 3000} if status == 429 else {})})
        assert ask(system, "RequestAdvancedCommerceRefund", transaction, body, headers={"Connect-Timeout-Ms": "4000"}).status in (400, 429)
        assert state() == "sending"
    finally:
        system.control("/control/faults", {"clear": True})
    assert until(lambda: ask(system, "RequestAdvancedCommerceRefund", transaction, body).status == 200) and state() == "answered"


def test_a_call_that_was_interrupted_before_its_record_is_not_repeated(system):
    transaction = bought(system)
    _, body, _, _ = bodies()[3]
    system.control("/control/faults", {"route": "revocation", "count": 1, "delayMilliseconds": 60_000})
    try:
        caller = threading.Thread(target=_quietly, args=(system, transaction, body))
        caller.start()
        until(lambda: calls(system, f"/revoke/{transaction}"))
        os.kill(system.pid("notification-recovery"), signal.SIGKILL)
        caller.join(30)
        system.service("stop", "notification-recovery")
        system.service("start", "notification-recovery")
        answer = until(lambda: (one := ask(system, "RevokeAdvancedCommerceSubscription", transaction, body)).status == 200 and one)
    finally:
        system.control("/control/faults", {"clear": True})
    assert answer.json["repeated"] is True and answer.json["decoded"][0]["revocationDate"], answer
    assert len(calls(system, f"/revoke/{transaction}")) == 1
    assert record(system, body["requestInfo"]["requestReferenceId"]).json["call"]["state"] == "answered"


def _quietly(system, transaction: str, body: dict) -> None:
    try:
        ask(system, "RevokeAdvancedCommerceSubscription", transaction, body, headers={"Connect-Timeout-Ms": "4000"})
    except OSError:
        return


def test_an_answer_that_fails_verification_is_not_returned(system):
    transaction = bought(system)
    _, body, _, _ = bodies()[2]
    genuine = system.control("/control/notifications", {"bundleId": APP, "environment": "Production", "notificationType": "TEST"})["signedPayload"]
    header, payload, signature = genuine.split(".")
    system.control("/control/faults", {"route": "cancellation", "count": 1, "status": 200, "body": {
        "signedTransactionInfo": f"{header}.{payload}.{'A' * len(signature)}", "signedRenewalInfo": genuine}})
    try:
        forged = ask(system, "CancelAdvancedCommerceSubscription", transaction, body)
    finally:
        system.control("/control/faults", {"clear": True})
    assert forged.status == 500 and cause(forged)["reason"] == "SIGNED_DATA_INVALID", forged
    assert record(system, body["requestInfo"]["requestReferenceId"]).json["call"]["state"] == "sending"
    assert get(system, "CancelAdvancedCommerceSubscription", transaction, body)["decoded"][1]["autoRenewStatus"] == 0
    log = system.log("notification-recovery")
    assert genuine not in log and "eyJ" not in log


def test_a_refusal_of_apple_has_an_error_name_and_frees_the_identifier(system):
    plain = story(system, "buy")["originalTransactionId"]
    _, body, _, _ = bodies()[2]
    refused = ask(system, "CancelAdvancedCommerceSubscription", plain, body)
    assert refused.status == 400 and cause(refused)["errorName"] == "SubscriptionNotEligible", refused
    call = record(system, body["requestInfo"]["requestReferenceId"]).json["call"]
    assert call["state"] == "refused" and call["errorName"] == "SubscriptionNotEligible"
    # Nothing was done, so another request may use the identifier.
    assert get(system, "CancelAdvancedCommerceSubscription", bought(system), body)["decoded"][1]["autoRenewStatus"] == 0
    unknown = ask(system, "CancelAdvancedCommerceSubscription", "999999999999999", {**body, **info()})
    assert unknown.status == 404 and cause(unknown)["errorName"] == "TransactionIdNotFound", unknown


def changed(index: int, **more) -> dict:
    body = json.loads(json.dumps(bodies()[index][1]))
    return {key: value for key, value in {**body, **more}.items() if value is not None}


ITEM = {"SKU": "A", "refundReason": "LEGAL", "refundType": "FULL", "revoke": True}


@pytest.mark.parametrize("index,more,field", [
    (2, {"requestInfo": None}, "requestInfo"), (2, {"requestInfo": {}}, "requestInfo.requestReferenceId"),
    (2, {"requestInfo": {"requestReferenceId": "x"}}, "requestInfo.requestReferenceId"),
    (2, {"requestInfo": {"requestReferenceId": new_id(), "appAccountToken": "me"}}, "requestInfo.appAccountToken"),
    (2, {"storefront": "US"}, "storefront"), (2, {"store": "USA"}, "store"),
    (0, {"descriptors": {"effective": "NOW", "displayName": "a"}}, "descriptors.effective"),
    (0, {"descriptors": {"effective": "IMMEDIATELY"}}, "descriptors.displayName"),
    (0, {"descriptors": {"effective": "IMMEDIATELY", "displayName": "a" * 31}}, "descriptors.displayName"),
    (0, {"descriptors": {"effective": "IMMEDIATELY", "description": "a" * 46}}, "descriptors.description"),
    (0, {"items": [{"currentSKU": "a" * 129, "SKU": "b", "effective": "IMMEDIATELY"}]}, "items[0].currentSKU"),
    (0, {"items": []}, "items"), (0, {"taxCode": "C3"}, "taxCode"), (0, {"items": None, "descriptors": None}, "items"),
    (1, {"items": [{"SKU": "A", "price": 1095}]}, "items[0].price"), (1, {"items": [{"SKU": "A", "price": -10}]}, "items[0].price"),
    (1, {"currency": "JPY", "items": [{"SKU": "A", "price": 310_950}]}, "items[0].price"), (1, {"currency": "usd"}, "currency"),
    (1, {"items": [{"SKU": "A", "price": 10}, {"SKU": "A", "price": 20}]}, "items[1].SKU"),
    (1, {"items": [{"SKU": "A", "price": 10, "dependentSKUs": ["A"]}]}, "items[0].dependentSKUs"),
    (1, {"items": [{"SKU": "A", "price": 10, "dependentSKUs": ["B"]}, {"SKU": "B", "price": 10, "dependentSKUs": ["C"]}]}, "items[1].dependentSKUs"),
    (3, {"refundType": "CUSTOM"}, "refundType"), (3, {"refundReason": "BORED"}, "refundReason"),
    (3, {"refundReason": "SIMULATE_REFUND_DECLINE"}, "refundReason"), (3, {"refundRiskingPreference": None}, "refundRiskingPreference"),
    (4, {"items": [{**ITEM, "refundAmount": 10}]}, "items[0].refundAmount"),
    (4, {"items": [{**ITEM, "refundType": "CUSTOM"}]}, "items[0].refundAmount"),
    (4, {"items": [{**ITEM, "refundType": "CUSTOM", "refundAmount": 0}]}, "items[0].refundAmount"),
    (4, {"items": [{**ITEM, "revoke": "yes"}]}, "items[0].revoke"),
])
def test_a_wrong_field_is_refused_by_its_name_before_apple_is_called(system, index, more, field):
    method = bodies()[index][0]
    before = len(calls(system, "/advancedCommerce/"))
    answer = ask(system, method, "1", changed(index, **more))
    assert answer.status == 400 and f'"request.{field}"' in answer.body.decode(), answer
    assert len(calls(system, "/advancedCommerce/")) == before


def test_a_transaction_can_be_finished_repeatedly_and_a_wrong_id_is_refused_before_apple_is_called(system):
    transaction = story(system, "buy")["originalTransactionId"]
    for _ in range(2):
        answer = system.rpc("Recovery", "FinishTransaction", {"bundleId": APP, "transactionId": transaction})
        assert answer.status == 200 and answer.json["environment"] == "Production", answer
    assert [(call["method"], call["status"]) for call in calls(system, f"/{transaction}/finish")] == [("POST", 200)] * 2
    before = len(calls(system, "/finish"))
    for wrong in ({}, {"transactionId": ""}, {"transactionId": "a b/c"}, {"transactionId": "1" * 257}):
        answer = system.rpc("Recovery", "FinishTransaction", {"bundleId": APP, **wrong})
        assert answer.status == 400 and '"transactionId"' in answer.body.decode(), answer
    assert len(calls(system, "/finish")) == before
