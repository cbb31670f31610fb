"""Look-ups of the App Store Server API over RPC: parameters, verified and decoded answers, environments, Apple's errors."""

import json
import time
import uuid

import pytest

from client import Answer
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


def test_if_only_production_refuses_a_key_the_answer_says_that_the_app_was_never_released(system):
    original = story(system, "buy", environment="Sandbox")["originalTransactionId"]
    system.control("/control/faults", {"route": "production", "count": 1000, "status": 401})
    try:
        for method, message in (("GetTransactionInfo", {"transactionId": original}), ("GetRefundHistory", {"transactionId": original})):
            refused = ask(system, method, {**message, "environment": "Production"})
            assert refused.status == 400 and cause(refused)["reason"] == "APP_STORE_CONFIGURATION", refused
            assert "never released" in refused.body.decode() and cause(refused)["environment"] == "Production"
        assert get(system, "GetTransactionInfo", {"transactionId": original})["environment"] == "Sandbox"
    finally:
        system.control("/control/faults", {"clear": True})


@pytest.mark.parametrize("environment", ["Production", "Sandbox"])
def test_after_one_401_a_call_is_repeated_with_a_new_token_and_a_change_is_made_once(system, environment):
    original = story(system, "buy", environment=environment)["originalTransactionId"]
    where = {"environment": environment}

    def refused_once(method: str, route: str, message: dict, **more) -> Answer:
        system.control("/control/faults", {"route": route, "count": 1, "status": 401})
        try:
            answer = ask(system, method, {**message, **more}, key=uuid.uuid4().hex)
            assert system.control("/control/state")["faults"] == 0
            return answer
        finally:
            system.control("/control/faults", {"clear": True})

    before = len(calls(system))
    end = get(system, "GetSubscriptionStatuses", {"transactionId": original, **where})["decoded"][0]["expiresDate"]
    for method, route in (("GetSubscriptionStatuses", "subscriptionStatuses"), ("GetTransactionHistory", "transactionHistory"),
                          ("GetTransactionInfo", "transactionInfo"), ("GetRefundHistory", "refundHistory"),
                          ("FinishTransaction", "finishTransaction")):
        assert refused_once(method, route, {"transactionId": original}, **where).status == 200, method
    token = {"originalTransactionId": original, "appAccountToken": str(uuid.uuid4())}
    assert refused_once("SetAppAccountToken", "setAppAccountToken", token, **where).status == 200
    extension = {"originalTransactionId": original, "extendByDays": 7, "extendReasonCode": 1, "requestIdentifier": uuid.uuid4().hex}
    extended = refused_once("ExtendSubscriptionRenewalDate", "extendRenewalDate", extension, **where)
    assert extended.status == 200 and extended.json["response"]["effectiveDate"] == end + 7 * 86_400_000, extended
    if environment == "Production":
        # Without an environment, the sandbox is not asked because of one 401.
        assert refused_once("GetTransactionInfo", "transactionInfo", {"transactionId": original}).json["environment"] == "Production"
        assert {call["environment"] for call in calls(system)[before:]} == {"Production"}
    changes = [call["method"] for call in calls(system)[before:] if call["method"] != "GET"]
    assert changes == ["POST", "PUT", "PUT"], changes


def test_a_clock_that_is_ahead_of_apples_does_no_harm_up_to_a_minute_and_is_named_in_the_error(system):
    original = story(system, "buy")["originalTransactionId"]
    message = {"transactionId": original, "environment": "Production"}
    try:
        for seconds in (5, 45):
            system.control("/control/clock", {"offsetMilliseconds": -seconds * 1000})
            # A lifetime that was not requested before gets a new token.
            assert system.call("Signer", "CreateAppStoreServerToken", {"bundleId": APP, "lifetimeSeconds": 3600 - seconds})["token"]
            assert get(system, "GetTransactionInfo", message)["decoded"]
            system.control("/control/faults", {"route": "transactionInfo", "count": 2, "status": 401})
            refused = ask(system, "GetTransactionInfo", message)
            assert abs(int(cause(refused)["clockDifferenceSeconds"]) - seconds) <= 1, refused
        # Every token of the last twenty minutes is from the future, or has expired.
        for seconds, word in ((1800, "ahead of"), (-7200, "behind")):
            system.control("/control/clock", {"offsetMilliseconds": -seconds * 1000})
            refused = ask(system, "GetTransactionInfo", message)
            assert refused.status == 400 and cause(refused)["reason"] == "APP_STORE_CREDENTIALS", refused
            found = int(cause(refused)["clockDifferenceSeconds"])
            assert abs(found - seconds) <= 1 and f"our clock is {abs(found)} s {word} Apple's" in refused.json["message"], refused
    finally:
        system.control("/control/clock", {"offsetMilliseconds": 0})
        system.control("/control/faults", {"clear": True})
    assert get(system, "GetTransactionInfo", message)["decoded"]


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


def test_an_answer_whose_signed_data_fails_verification_is_not_returned(system):
    original = story(system, "buy")["originalTransactionId"]
    forged = system.control("/control/notifications", {
        "bundleId": APP, "environment": "Production", "notificationType": "DID_RENEW", "forge": "root", "send": False})["signedPayload"]
    system.control("/control/faults", {"route": "transactionInfo", "count": 1, "status": 200, "body": {"signedTransactionInfo": forged}})
    answer = ask(system, "GetTransactionInfo", {"transactionId": original})
    assert answer.status == 500 and answer.json["code"] == "data_loss", answer
    assert cause(answer)["reason"] == "SIGNED_DATA_INVALID" and cause(answer)["kind"] == "transaction", json.dumps(answer.json)


def nameless(system, original: str) -> str:
    """Adds a one-time purchase that names no app to the customer's purchases; returns its transaction id."""
    return system.control("/control/notifications", {
        "bundleId": APP, "environment": "Production", "notificationType": "ONE_TIME_CHARGE", "originalTransactionId": original, "send": False,
        "history": False, "transaction": {"bundleId": None}})["transactionId"]


def test_a_transaction_that_names_no_app_is_returned_and_named(system):
    original = story(system, "buy", "renew")["originalTransactionId"]
    id = nameless(system, original)
    problem = {"index": 0, "reason": "app_not_named"}
    info = get(system, "GetTransactionInfo", {"transactionId": id})
    assert info["problems"] == [problem] and info["decoded"][0]["transactionId"] == id and "bundleId" not in info["decoded"][0]
    history = get(system, "GetTransactionHistory", {"transactionId": original})
    assert history["problems"] == [{**problem, "index": 2}] and [one["transactionId"] for one in history["decoded"]][2] == id, history
    assert "problems" not in get(system, "GetTransactionHistory", {"transactionId": original, "productType": ["AUTO_RENEWABLE"]})
    system.control("/control/notifications", {
        "bundleId": APP, "environment": "Production", "notificationType": "REFUND", "originalTransactionId": id, "send": False, "history": False})
    refunds = get(system, "GetRefundHistory", {"transactionId": original})
    assert refunds["problems"] == [problem] and refunds["decoded"][0]["transactionId"] == id, refunds
    signed = info["response"]["signedTransactionInfo"]
    for route, method, message, body in (
            ("orderLookup", "LookUpOrder", {"orderId": "MX"}, {"status": 0, "signedTransactions": [signed]}),
            ("subscriptionStatuses", "GetSubscriptionStatuses", {"transactionId": original}, {"data": [{"lastTransactions": [
                {"originalTransactionId": id, "status": 1, "signedTransactionInfo": signed}]}]})):
        system.control("/control/faults", {"route": route, "count": 1, "status": 200, "body": body})
        answer = get(system, method, message)
        assert answer["problems"] == [problem] and answer["decoded"][0]["transactionId"] == id, (method, answer)


def test_signed_data_that_fails_verification_leaves_the_rest_of_an_answer(system):
    original = story(system, "buy", "renew", "refund")["originalTransactionId"]

    def broken(jws: str) -> str:
        head, payload, signature = jws.split(".")
        return f"{head}.{payload}.{signature[::-1]}"

    history = get(system, "GetTransactionHistory", {"transactionId": original})
    statuses = get(system, "GetSubscriptionStatuses", {"transactionId": original})
    first, second = history["response"]["signedTransactions"]
    entry = statuses["response"]["data"][0]["lastTransactions"][0]
    for route, method, message, body, places in (
            ("transactionHistory", "GetTransactionHistory", {}, {**history["response"], "signedTransactions": [broken(first), second]}, [0]),
            ("refundHistory", "GetRefundHistory", {}, {"signedTransactions": [second, "x", broken(first)], "revision": "r", "hasMore": False}, [1, 2]),
            ("orderLookup", "LookUpOrder", {"orderId": "MX"}, {"status": 0, "signedTransactions": [second, broken(first)]}, [1]),
            ("subscriptionStatuses", "GetSubscriptionStatuses", {}, {"data": [{"lastTransactions": [
                {**entry, "signedRenewalInfo": broken(entry["signedRenewalInfo"])}]}]}, [1])):
        message = message or {"transactionId": original}
        system.control("/control/faults", {"route": route, "count": 1, "status": 200, "body": body})
        answer = get(system, method, {**message, "environment": "Production"})
        assert [one.get("index", 0) for one in answer["problems"]] == places, (method, answer["problems"])
        assert {one["reason"] for one in answer["problems"]} <= {"bad_signature", "malformed_signature", "malformed_jws"}, answer["problems"]
        assert [bool(one) for one in answer["decoded"]] == [place not in places for place in range(len(answer["decoded"]))], answer["decoded"]
        assert answer["response"] == body
    # If nothing can be used, that is an error.
    system.control("/control/faults", {"route": "refundHistory", "count": 1, "status": 200, "body": {
        "signedTransactions": [broken(first), broken(second)], "revision": "r", "hasMore": False}})
    nothing = ask(system, "GetRefundHistory", {"transactionId": original, "environment": "Production"})
    assert nothing.status == 500 and cause(nothing)["reason"] == "SIGNED_DATA_INVALID", nothing


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
