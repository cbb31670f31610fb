"""Look-ups of the App Store Server API over RPC: parameters, verified and decoded answers, environments, Apple's errors."""

import time
import uuid

import pytest

from SystemTests.recovery.system import ended, start
from SystemTests.support.running_system import redis_words

from .look_up_steps import APP, ask, calls, cause, get, story


def test_every_look_up_returns_apples_object_with_each_jws_verified_and_decoded(system):
    purchase = story(system, "buy", "renew", "refund")
    original, account = purchase["originalTransactionId"], purchase["appTransactionId"]
    statuses = get(system, "GetSubscriptionStatuses", {"transactionId": original, "environment": "Production"})
    entry = statuses["response"]["data"][0]["lastTransactions"][0]
    assert entry["originalTransactionId"] == original and statuses["environment"] == "Production"
    assert len(statuses["decoded"]) == 2 and statuses["decoded"][0]["originalTransactionId"] == original
    assert "autoRenewStatus" in statuses["decoded"][1]
    # Any id of the customer is accepted.
    assert get(system, "GetSubscriptionStatuses", {"transactionId": account})["response"]["data"]
    assert get(system, "GetSubscriptionStatuses", {"transactionId": original, "status": [1, 2]})["response"].get("data", []) == []
    assert get(system, "GetSubscriptionStatuses", {"transactionId": original, "status": [5]})["response"]["data"]

    history = get(system, "GetTransactionHistory", {"transactionId": original})
    assert [one["transactionReason"] for one in history["decoded"]] == ["PURCHASE", "RENEWAL"]
    assert len(history["response"]["signedTransactions"]) == 2 and history["response"]["hasMore"] is False
    newest = get(system, "GetTransactionHistory", {"transactionId": original, "sort": "DESCENDING"})["decoded"]
    assert [one["transactionId"] for one in newest] == [one["transactionId"] for one in reversed(history["decoded"])]
    revoked = get(system, "GetTransactionHistory", {"transactionId": original, "revoked": True, "productType": ["AUTO_RENEWABLE"]})
    assert [one["transactionId"] for one in revoked["decoded"]] == [history["decoded"][1]["transactionId"]]
    first = history["decoded"][0]
    window = {"startDate": first["purchaseDate"], "endDate": first["purchaseDate"] + 1}
    assert [one["transactionId"] for one in get(system, "GetTransactionHistory", {"transactionId": original, **window})["decoded"]] == [
        first["transactionId"]]
    # Only changes since then.
    revision = history["response"]["revision"]
    assert get(system, "GetTransactionHistory", {"transactionId": original, "revision": revision}).get("decoded", []) == []

    one = get(system, "GetTransactionInfo", {"transactionId": first["transactionId"]})
    assert one["decoded"][0]["transactionId"] == first["transactionId"]
    refunds = get(system, "GetRefundHistory", {"transactionId": original})
    assert [one["transactionId"] for one in refunds["decoded"]] == [history["decoded"][1]["transactionId"]]
    assert get(system, "GetRefundHistory", {"transactionId": original, "revision": refunds["response"]["revision"]}).get("decoded", []) == []
    app = get(system, "GetAppTransactionInfo", {"transactionId": original})
    assert app["decoded"][0]["receiptType"] == "Production" and app["decoded"][0]["appTransactionId"] == account

    invalid = get(system, "LookUpOrder", {"orderId": "MNOBODY"})
    assert invalid["response"] == {"status": 1} and invalid.get("decoded", []) == []


def without_signed_dates(payloads: list[dict]) -> list[dict]:
    """Without the times of the answers themselves."""
    return [{name: value for name, value in payload.items() if name not in ("signedDate", "receiptCreationDate")} for payload in payloads]


@pytest.mark.parametrize("environment", ["Production", "Sandbox", None])
@pytest.mark.parametrize("method", ["GetTransactionHistory", "GetAppTransactionInfo", "GetSubscriptionStatuses", "GetRefundHistory"])
def test_every_id_of_a_customer_returns_the_same_data(system, method, environment):
    """Apple's anyTransactionId: an originalTransactionId, the transactionId of a renewal or an appTransactionId."""
    purchase = story(system, "buy", "renew", "refund", environment=environment or "Production")
    original, account = purchase["originalTransactionId"], purchase["appTransactionId"]
    # Without an environment, the service queries production first, which knows the id.
    where = {"environment": environment} if environment else {}
    renewal = get(system, "GetTransactionHistory", {"transactionId": original, **where})["decoded"][-1]["transactionId"]
    assert len({original, renewal, account}) == 3
    answers = []
    for id in (original, renewal, account):
        before = len(calls(system))
        answers.append(get(system, method, {"transactionId": id, **where}))
        assert [call["path"].split("?")[0].rsplit("/", 1)[1] for call in calls(system)[before:]] == [id]
    found = [without_signed_dates(answer["decoded"]) for answer in answers]
    assert found[0] and found[0] == found[1] == found[2]
    assert {answer["environment"] for answer in answers} == {environment or "Production"}
    assert {answer["response"].get("revision") for answer in answers} == {answers[0]["response"].get("revision")}


def test_the_sandbox_is_queried_for_an_app_transaction_id_that_production_does_not_know(system):
    purchase = story(system, "buy", "refund", environment="Sandbox")
    for method in ("GetTransactionHistory", "GetAppTransactionInfo", "GetSubscriptionStatuses", "GetRefundHistory"):
        answer = get(system, method, {"transactionId": purchase["appTransactionId"]})
        assert answer["environment"] == "Sandbox" and answer["decoded"], (method, answer)


@pytest.mark.parametrize("method,message", [
    ("GetTransactionInfo", {}), ("FinishTransaction", {}), ("SetAppAccountToken", {"appAccountToken": str(uuid.UUID(int=1))}),
    ("SendConsumptionInformation", {"consumption": {"customerConsented": True, "sampleContentProvided": False, "deliveryStatus": "DELIVERED"},
                                    "requestedAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}),
])
def test_calls_about_one_transaction_pass_on_apples_refusal_of_an_app_transaction_id(system, method, message):
    account = story(system, "buy")["appTransactionId"]
    field = "originalTransactionId" if method == "SetAppAccountToken" else "transactionId"
    refused = ask(system, method, {field: account, "environment": "Production", **message}, key=uuid.uuid4().hex)
    assert refused.status == 400 and cause(refused)["errorCode"] == "4000048", refused
    assert cause(refused)["errorName"] == "AppTransactionIdNotSupported"


def test_the_sandbox_is_queried_only_if_production_does_not_know_the_id_and_no_environment_is_given(system):
    purchase = story(system, "buy", environment="Sandbox")
    original = purchase["originalTransactionId"]
    before = len(calls(system))
    answer = get(system, "GetTransactionInfo", {"transactionId": original})
    assert answer["environment"] == "Sandbox" and answer["decoded"][0]["environment"] == "Sandbox"
    assert [(call["environment"], call["status"]) for call in calls(system)[before:]] == [("Production", 404), ("Sandbox", 200)]
    # An environment in the request is used.
    before = len(calls(system))
    refused = ask(system, "GetTransactionInfo", {"transactionId": original, "environment": "Production"})
    assert refused.status == 404 and cause(refused)["errorCode"] == "4040010" and cause(refused)["environment"] == "Production", refused
    assert [call["environment"] for call in calls(system)[before:]] == ["Production"]
    # Unknown in both environments.
    nowhere = ask(system, "GetTransactionInfo", {"transactionId": "999999999999999"})
    assert nowhere.status == 404 and cause(nowhere)["environment"] == "Sandbox" and cause(nowhere)["errorName"] == "TransactionIdNotFound"
    # Orders exist only in production.
    before = len(calls(system))
    assert ask(system, "LookUpOrder", {"orderId": "MX", "environment": "Sandbox"}).status == 400
    assert calls(system)[before:] == []
    # If production fails, the sandbox is not queried.
    system.control("/control/faults", {"route": "production", "count": 9, "status": 500, "body": {"errorCode": 5000000}})
    try:
        before = len(calls(system))
        failed = ask(system, "GetTransactionInfo", {"transactionId": original})
        assert failed.status == 503 and cause(failed)["reason"] == "APP_STORE_UNAVAILABLE", failed
        assert {call["environment"] for call in calls(system)[before:]} <= {"Production"}
    finally:
        system.control("/control/faults", {"clear": True})


@pytest.mark.parametrize("method,message,field", [
    ("GetSubscriptionStatuses", {}, "transactionId"), ("GetSubscriptionStatuses", {"transactionId": "1", "status": [6]}, "status"),
    ("GetSubscriptionStatuses", {"transactionId": "1", "environment": "Xcode"}, "environment"),
    ("GetTransactionInfo", {"transactionId": ""}, "transactionId"), ("GetAppTransactionInfo", {}, "transactionId"),
    ("GetTransactionHistory", {"transactionId": "1", "sort": "UP"}, "sort"),
    ("GetTransactionHistory", {"transactionId": "1", "productType": ["CAR"]}, "productType"),
    ("GetTransactionHistory", {"transactionId": "1", "startDate": 5, "endDate": 5}, "startDate"),
    ("GetTransactionHistory", {"transactionId": "1", "endDate": -1}, "endDate"),
    ("GetTransactionHistory", {"transactionId": "1", "inAppOwnershipType": "STOLEN"}, "inAppOwnershipType"),
    ("GetTransactionHistory", {"transactionId": "1", "productId": [""]}, "productId"),
    ("GetTransactionHistory", {"transactionId": "1", "subscriptionGroupIdentifier": [""]}, "subscriptionGroupIdentifier"),
    ("GetRefundHistory", {"transactionId": "1", "revision": ""}, "revision"), ("LookUpOrder", {}, "orderId"),
    ("ExtendSubscriptionRenewalDate", {"extendByDays": 1, "requestIdentifier": "a"}, "originalTransactionId"),
    ("ExtendSubscriptionRenewalDate", {"originalTransactionId": "1", "extendByDays": 0, "requestIdentifier": "a"}, "extendByDays"),
    ("ExtendSubscriptionRenewalDate", {"originalTransactionId": "1", "extendByDays": 91, "requestIdentifier": "a"}, "extendByDays"),
    ("ExtendSubscriptionRenewalDate", {"originalTransactionId": "1", "extendByDays": 90, "extendReasonCode": 4, "requestIdentifier": "a"},
     "extendReasonCode"),
    ("ExtendSubscriptionRenewalDate", {"originalTransactionId": "1", "extendByDays": 1, "requestIdentifier": "a" * 129}, "requestIdentifier"),
    ("ExtendRenewalDatesForAllSubscribers", {"extendByDays": 1, "requestIdentifier": str(uuid.uuid4()), "productId": "p"}, "environment"),
    ("ExtendRenewalDatesForAllSubscribers", {"environment": "Sandbox", "extendByDays": 1, "requestIdentifier": "a", "productId": "p"},
     "requestIdentifier"),
    ("ExtendRenewalDatesForAllSubscribers", {"environment": "Sandbox", "extendByDays": 1, "requestIdentifier": str(uuid.uuid4())}, "productId"),
    ("ExtendRenewalDatesForAllSubscribers", {"environment": "Sandbox", "extendByDays": 1, "requestIdentifier": str(uuid.uuid4()),
                                             "productId": "p", "storefrontCountryCodes": ["US"]}, "storefrontCountryCodes"),
    ("ExtendRenewalDatesForAllSubscribers", {"environment": "Sandbox", "extendByDays": 1, "requestIdentifier": str(uuid.uuid4()),
                                             "productId": "p", "storefrontCountryCodes": []}, "storefrontCountryCodes"),
    ("ListRecoveries", {"maxRecoveries": 0}, "maxRecoveries"), ("ListRecoveries", {"pageToken": "x"}, "pageToken"),
    ("GetRenewalDateExtensionStatus", {"environment": "Sandbox", "productId": "p", "requestIdentifier": "a"}, "requestIdentifier"),
    ("GetRenewalDateExtensionStatus", {"environment": "Sandbox", "requestIdentifier": str(uuid.uuid4())}, "productId"),
    ("SendConsumptionInformation", {"transactionId": "1"}, "consumption"),
    ("SendConsumptionInformation", {"transactionId": "1", "version": 3, "consumption": {}}, "version"),
    ("SendConsumptionInformation", {"transactionId": "1", "consumption": {"customerConsented": False}}, "consumption.customerConsented"),
    ("SetAppAccountToken", {"originalTransactionId": "1", "appAccountToken": "me"}, "appAccountToken"),
    ("SetAppAccountToken", {"appAccountToken": str(uuid.uuid4())}, "originalTransactionId"),
    ("RequestTestNotification", {}, "environment"), ("GetTestNotificationStatus", {"environment": "Sandbox"}, "testNotificationToken"),
])
def test_a_wrong_field_is_refused_by_its_name_before_apple_is_called(system, method, message, field):
    before = len(calls(system))
    answer = ask(system, method, message, key=uuid.uuid4().hex)
    assert answer.status == 400 and f'"{field}"' in answer.body.decode(), answer
    assert calls(system)[before:] == []


def test_a_rate_limit_is_returned_with_apples_delay_and_an_unknown_error_number_is_passed_on(system):
    original = story(system, "buy", environment="Sandbox")["originalTransactionId"]
    until = int(time.time() * 1000) + 3_000_000
    system.control("/control/faults", {"route": "refundHistory", "count": 1, "status": 429, "body": {"errorCode": 4290000},
                                       "headers": {"Retry-After": str(until)}})
    limited = ask(system, "GetRefundHistory", {"transactionId": original, "environment": "Sandbox"})
    assert limited.status == 429 and cause(limited)["reason"] == "APP_STORE_RATE_LIMITED", limited
    assert 2900 <= int(limited.headers["Retry-After"]) <= 3001
    system.control("/control/faults", {"route": "appTransactionInfo", "count": 1, "status": 400,
                                       "body": {"errorCode": 4009999, "errorMessage": "Something new."}})
    new = ask(system, "GetAppTransactionInfo", {"transactionId": original, "environment": "Sandbox"})
    assert new.status == 400 and cause(new)["errorCode"] == "4009999" and new.json["message"] == "Something new.", new
    # An error of Apple's that says "try again" is retried.
    system.control("/control/faults", {"route": "transactionInfo", "count": 2, "status": 404, "body": {"errorCode": 4040002}})
    assert get(system, "GetTransactionInfo", {"transactionId": original, "environment": "Sandbox"})["decoded"]


def test_recoveries_are_listed_page_by_page(system):
    first = time.time() - 600
    begun = [start(system, first + index, first + index + 60, "Sandbox") for index in range(5)]
    for one in begun:
        ended(system, one)

    def pages(**more) -> list[str]:
        found, token = [], None
        while True:
            page = system.call("Recovery", "ListRecoveries", {"maxRecoveries": 2, **more, **({"pageToken": token} if token else {})})
            assert 0 < len(page["recoveries"]) <= 2, page
            found += [one["recoveryId"] for one in page["recoveries"]]
            token = page.get("nextPageToken")
            if token is None:
                assert len(set(found)) == len(found)
                return [one for one in found if one in begun]

    assert pages() == pages(bundleId=APP) == begun[::-1]
    assert "recoveries" not in system.call("Recovery", "ListRecoveries", {"bundleId": "com.example.other"})
    # Recoveries of an earlier version are only in the list of all.
    redis_words(system, "DEL", *redis_words(system, "--scan", "--pattern", f"*:recovery:index:{APP}"))
    redis_words(system, "DEL", *redis_words(system, "--scan", "--pattern", "*:recovery:index-filed"))
    assert pages(bundleId=APP) == begun[::-1]
