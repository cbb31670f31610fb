"""Look-ups and writes of the App Store Server API over RPC: parameters, answers proved and decoded, environments, Apple's errors."""

import concurrent.futures
import json
import re
import time
import uuid

import pytest
from recovery_system import ended, start
from running_system import redis_words

APP = "com.example.app"
DAY = 86_400_000


def story(system, *steps, environment="Production", **more) -> dict:
    """Purchases without a word: nothing of them is sent, nor in the history that recoveries of other tests read."""
    return system.control("/control/notifications/story", {
        "bundleId": APP, "environment": environment, "steps": [{"step": step, "history": False} for step in steps], "send": False, **more})


def ask(system, method: str, message: dict, key: str | None = None):
    ASKED.update(subscriptions(json.dumps(message)))
    return system.rpc("Recovery", method, {"bundleId": APP, **message}, key=key)


def get(system, method: str, message: dict, key: str | None = None) -> dict:
    answer = ask(system, method, message, key)
    assert answer.status == 200, (method, answer)
    return answer.json


# What is asked about here. Gaps that other tests left in the same system are looked up when it suits them.
ASKED = set()


def subscriptions(text: str) -> set[str]:
    return set(re.findall(r"\b\d{15}\b", text))


def calls(system) -> list[dict]:
    """Of Apple, but for look-ups of the gaps of other tests, and for lists of messages, which ingest asks for of its own accord."""
    return [call for call in system.control("/control/app-store-calls?limit=100000")["calls"]
            if subscriptions(call["path"]) <= ASKED and not call["path"].endswith(("/notifications/history", "/messaging/message/list"))]


def cause(answer) -> dict:
    """The project's cause of an error: its reason and what is said with it."""
    for detail in answer.json.get("details", []):
        if detail["type"] == "google.rpc.ErrorInfo":
            return {"reason": detail["debug"]["reason"], **detail["debug"].get("metadata", {})}
    return {}


def test_every_look_up_answers_apple_s_object_with_each_of_its_jws_proved_and_decoded(system):
    told = story(system, "buy", "renew", "refund")
    original, account = told["originalTransactionId"], told["appTransactionId"]
    statuses = get(system, "GetSubscriptionStatuses", {"transactionId": original, "environment": "Production"})
    entry = statuses["response"]["data"][0]["lastTransactions"][0]
    assert entry["originalTransactionId"] == original and statuses["environment"] == "Production"
    assert len(statuses["decoded"]) == 2 and statuses["decoded"][0]["originalTransactionId"] == original
    assert "autoRenewStatus" in statuses["decoded"][1]
    # Any id of the customer will do.
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
    # Only what changed since.
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


def test_production_is_asked_first_and_the_sandbox_only_on_apple_s_word_and_only_where_nothing_was_said(system):
    told = story(system, "buy", environment="Sandbox")
    original = told["originalTransactionId"]
    before = len(calls(system))
    answer = get(system, "GetTransactionInfo", {"transactionId": original})
    assert answer["environment"] == "Sandbox" and answer["decoded"][0]["environment"] == "Sandbox"
    assert [(call["environment"], call["status"]) for call in calls(system)[before:]] == [("Production", 404), ("Sandbox", 200)]
    # Said is said.
    before = len(calls(system))
    refused = ask(system, "GetTransactionInfo", {"transactionId": original, "environment": "Production"})
    assert refused.status == 404 and cause(refused)["errorCode"] == "4040010" and cause(refused)["environment"] == "Production", refused
    assert [call["environment"] for call in calls(system)[before:]] == ["Production"]
    # In neither.
    nowhere = ask(system, "GetTransactionInfo", {"transactionId": "999999999999999"})
    assert nowhere.status == 404 and cause(nowhere)["environment"] == "Sandbox" and cause(nowhere)["errorName"] == "TransactionIdNotFound"
    # An order is production's alone.
    before = len(calls(system))
    assert ask(system, "LookUpOrder", {"orderId": "MX", "environment": "Sandbox"}).status == 400
    assert calls(system)[before:] == []
    # A failing production is no reason to ask the sandbox.
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
def test_a_wrong_field_is_named_and_apple_not_asked(system, method, message, field):
    before = len(calls(system))
    answer = ask(system, method, message, key=uuid.uuid4().hex)
    assert answer.status == 400 and f'"{field}"' in answer.body.decode(), answer
    assert calls(system)[before:] == []


def test_writes_need_a_key_and_are_done_once_under_it(system):
    told = story(system, "buy")
    original = told["originalTransactionId"]
    token = str(uuid.uuid4())
    message = {"originalTransactionId": original, "appAccountToken": token}
    for method in ("SetAppAccountToken", "ExtendSubscriptionRenewalDate", "ExtendRenewalDatesForAllSubscribers", "SendConsumptionInformation",
                   "RequestTestNotification", "MigrateReceipts"):
        unkeyed = ask(system, method, {})
        assert unkeyed.status == 400 and cause(unkeyed)["reason"] == "IDEMPOTENCY_KEY_REQUIRED", (method, unkeyed)
    key = uuid.uuid4().hex
    before = len(calls(system))
    assert get(system, "SetAppAccountToken", message, key)["environment"] == "Production"
    again = ask(system, "SetAppAccountToken", message, key)
    assert again.status == 200 and again.headers["Idempotency-Replayed"] == "true"
    assert len(calls(system)) == before + 1
    other = ask(system, "SetAppAccountToken", {**message, "appAccountToken": str(uuid.uuid4())}, key)
    assert other.status == 400 and cause(other)["reason"] == "IDEMPOTENCY_KEY_REUSED"
    assert get(system, "GetTransactionInfo", {"transactionId": original})["decoded"][0]["appAccountToken"] == token
    # Only an original id may be named; Apple says so with its number.
    renewal = story(system, "buy", "renew")["notifications"][1]["transactionId"]
    refused = ask(system, "SetAppAccountToken", {"originalTransactionId": renewal, "appAccountToken": token}, uuid.uuid4().hex)
    assert refused.status == 400 and cause(refused)["errorCode"] == "4000187", refused
    assert cause(refused)["errorName"] == "TransactionIdNotOriginalTransactionId"


VERSION_1 = {"customerConsented": True, "sampleContentProvided": False, "appAccountToken": "", "consumptionStatus": 2, "platform": 1,
             "deliveryStatus": 0, "accountTenure": 7, "playTime": 3, "lifetimeDollarsPurchased": 7, "lifetimeDollarsRefunded": 1,
             "userStatus": 1, "refundPreference": 2}
VERSION_2 = {"customerConsented": True, "sampleContentProvided": False, "deliveryStatus": "DELIVERED", "consumptionPercentage": 67932,
             "refundPreference": "GRANT_PRORATED"}


@pytest.mark.parametrize("version,body,wrong", [
    (1, VERSION_1, [("accountTenure", 8), ("platform", None), ("appAccountToken", "x"),
     ("sampleContentProvided", 1), ("deliveryStatus", "DELIVERED")]),
    (2, VERSION_2, [("deliveryStatus", 0), ("consumptionPercentage", 100_001), ("consumptionPercentage", 1.5), ("refundPreference", 1),
                    ("customerConsented", False), ("platform", 1)])])
def test_consumption_information_of_both_versions_is_checked_and_sent(system, version, body, wrong):
    transaction = story(system, "buy", "consumption-request")["notifications"][0]["transactionId"]
    for field, value in wrong:
        changed = {**body, field: value}
        answer = ask(system, "SendConsumptionInformation", {"transactionId": transaction, "version": version, "consumption": changed},
                     uuid.uuid4().hex)
        assert answer.status == 400 and f'"consumption.{field}"' in answer.body.decode(), (field, answer)
    before = len(calls(system))
    sent = get(system, "SendConsumptionInformation", {"transactionId": transaction, "version": version, "consumption": body}, uuid.uuid4().hex)
    assert sent["environment"] == "Production"
    call = calls(system)[before:]
    assert [(one["method"], one["path"].split("?")[0].rsplit("/inApps/", 1)[1], one["status"]) for one in call] == [
        ("PUT", f"v{version}/transactions/consumption/{transaction}", 202)]


def test_one_subscription_is_extended_once_also_when_apple_s_answer_is_lost(system):
    told = story(system, "buy")
    original = told["originalTransactionId"]
    before = get(system, "GetSubscriptionStatuses", {"transactionId": original})["decoded"][0]["expiresDate"]
    message = {"originalTransactionId": original, "extendByDays": 10, "extendReasonCode": 1, "requestIdentifier": "sorry-1"}
    # Apple does it, and its answer never comes.
    system.control("/control/faults", {"route": "extendRenewalDate", "count": 1, "reset": True})
    try:
        key = uuid.uuid4().hex
        lost = ask(system, "ExtendSubscriptionRenewalDate", message, key)
        answer = lost if lost.status == 200 else ask(system, "ExtendSubscriptionRenewalDate", message, key)
        assert answer.status == 200, answer
    finally:
        system.control("/control/faults", {"clear": True})
    assert answer.json["response"]["success"] is True and answer.json["response"]["originalTransactionId"] == original
    assert answer.json["response"]["effectiveDate"] == before + 10 * DAY
    assert get(system, "GetSubscriptionStatuses", {"transactionId": original})["decoded"][0]["expiresDate"] == before + 10 * DAY
    # A second one is another request; a third in a year is too many.
    second = get(system, "ExtendSubscriptionRenewalDate", {**message, "requestIdentifier": "sorry-2"}, uuid.uuid4().hex)
    assert second["response"]["effectiveDate"] == before + 20 * DAY
    third = ask(system, "ExtendSubscriptionRenewalDate", {**message, "requestIdentifier": "sorry-3"}, uuid.uuid4().hex)
    assert third.status == 400 and cause(third)["errorCode"] == "4030005", third
    assert cause(third)["errorName"] == "SubscriptionMaxExtension" and cause(third)["status"] == "403"


def test_a_mass_extension_is_begun_once_and_its_status_can_be_asked(system):
    product = f"{APP}.mass{uuid.uuid4().hex[:8]}"
    for _ in range(3):
        story(system, "buy", environment="Sandbox", productId=product)
    story(system, "buy", "cancel", environment="Sandbox", productId=product)
    identifier = str(uuid.uuid4())
    message = {"environment": "Sandbox", "productId": product, "extendByDays": 5, "extendReasonCode": 3, "requestIdentifier": identifier,
               "storefrontCountryCodes": ["USA", "DEU"]}
    begun = get(system, "ExtendRenewalDatesForAllSubscribers", message, uuid.uuid4().hex)
    assert begun["response"]["requestIdentifier"] == identifier and begun["environment"] == "Sandbox"
    status = {"environment": "Sandbox", "productId": product, "requestIdentifier": identifier}
    assert get(system, "GetRenewalDateExtensionStatus", status)["response"] == {"requestIdentifier": identifier, "complete": False}
    system.control("/control/time-scale", {"scale": 1_000_000})
    try:
        time.sleep(0.05)
        done = get(system, "GetRenewalDateExtensionStatus", status)["response"]
    finally:
        system.control("/control/time-scale", {"scale": 1})
    assert done["complete"] is True and (done["succeededCount"], done["failedCount"]) == (3, 1), done
    unknown = ask(system, "GetRenewalDateExtensionStatus", {**status, "requestIdentifier": str(uuid.uuid4())})
    assert unknown.status == 404 and cause(unknown)["errorCode"] == "4040009"


def test_a_mass_extension_whose_answer_is_lost_is_not_begun_again(system):
    product = f"{APP}.mass{uuid.uuid4().hex[:8]}"
    story(system, "buy", environment="Sandbox", productId=product)

    def extend(identifier: str):
        return ask(system, "ExtendRenewalDatesForAllSubscribers", {
            "environment": "Sandbox", "productId": product, "extendByDays": 5, "requestIdentifier": identifier}, uuid.uuid4().hex)

    def begun(identifier: str) -> int:
        return sum(1 for call in calls(system) if call["method"] == "POST" and call.get("body", {}).get("requestIdentifier") == identifier)

    # Apple begins it, and its answer never comes: Apple says that it has it.
    identifier = str(uuid.uuid4())
    system.control("/control/faults", {"route": "massExtend", "count": 1, "reset": True})
    try:
        for _ in range(2):
            answer = extend(identifier)
            assert answer.status == 200 and answer.json["response"] == {"requestIdentifier": identifier}, answer
        assert begun(identifier) == 1
        # Nor can Apple be asked at once: it is asked before anything is done again.
        identifier = str(uuid.uuid4())
        system.control("/control/faults", {"route": "massExtend", "count": 1, "reset": True})
        system.control("/control/faults", {"route": "massExtendStatus", "count": 3, "status": 500, "body": {"errorCode": 5000000}})
        assert extend(identifier).status == 503
        assert extend(identifier).status == 200 and begun(identifier) == 1
        # Apple never had it: it is begun.
        identifier = str(uuid.uuid4())
        system.control("/control/faults", {"route": "massExtend", "count": 1, "status": 500, "body": {"errorCode": 5000000}})
        assert extend(identifier).status == 503
        assert extend(identifier).status == 200 and begun(identifier) == 1
    finally:
        system.control("/control/faults", {"clear": True})


def expires(system, original: str) -> int:
    return get(system, "GetSubscriptionStatuses", {"transactionId": original, "environment": "Production"})["decoded"][0]["expiresDate"]


def test_what_became_of_an_extension_is_remembered_until_it_is_known(system):
    original = story(system, "buy")["originalTransactionId"]
    before = expires(system, original)
    message = {"originalTransactionId": original, "extendByDays": 10, "requestIdentifier": "unknown-1"}
    try:
        system.control("/control/faults", {"route": "extendRenewalDate", "count": 1, "status": 500, "body": {"errorCode": 5000000}})
        assert ask(system, "ExtendSubscriptionRenewalDate", message, uuid.uuid4().hex).status == 503
        # Asked again, now with the environment, it is refused: that says nothing of the first time.
        system.control("/control/faults", {"route": "extendRenewalDate", "count": 1, "status": 403, "body": {"errorCode": 4030004}})
        assert ask(system, "ExtendSubscriptionRenewalDate", {**message, "environment": "Production"}, uuid.uuid4().hex).status == 400
    finally:
        system.control("/control/faults", {"clear": True})
    # Which Apple does late, so to say.
    get(system, "ExtendSubscriptionRenewalDate", {**message, "requestIdentifier": "late"}, uuid.uuid4().hex)
    for more in ({}, {"environment": "Production"}):
        done = get(system, "ExtendSubscriptionRenewalDate", {**message, **more}, uuid.uuid4().hex)
        assert done["response"]["effectiveDate"] == before + 10 * DAY, done
    assert expires(system, original) == before + 10 * DAY


def test_a_renewal_is_not_taken_for_the_extension(system):
    """A month of Apple's is thirty days here, and so is the extension."""
    told = story(system, "buy", startDate=int(time.time() * 1000) - 30 * DAY + 120_000)
    original = told["originalTransactionId"]
    message = {"originalTransactionId": original, "extendByDays": 30, "requestIdentifier": "unknown-2"}
    system.control("/control/faults", {"route": "extendRenewalDate", "count": 1, "status": 500, "body": {"errorCode": 5000000}})
    try:
        assert ask(system, "ExtendSubscriptionRenewalDate", message, uuid.uuid4().hex).status == 503
    finally:
        system.control("/control/faults", {"clear": True})
    before = expires(system, original)
    story(system, "renew", originalTransactionId=original)
    renewed = expires(system, original)
    assert abs(renewed - before - 30 * DAY) < 7_200_000
    done = get(system, "ExtendSubscriptionRenewalDate", message, uuid.uuid4().hex)
    assert done["response"]["effectiveDate"] == renewed + 30 * DAY == expires(system, original), done


def test_two_calls_for_one_extension_are_one_request_to_apple(system):
    original = story(system, "buy")["originalTransactionId"]
    before = expires(system, original)
    message = {"originalTransactionId": original, "extendByDays": 3, "requestIdentifier": "together"}
    system.control("/control/faults", {"route": "extendRenewalDate", "count": 2, "delayMilliseconds": 1000})
    try:
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda _: ask(system, "ExtendSubscriptionRenewalDate", message, uuid.uuid4().hex), range(4)))
    finally:
        system.control("/control/faults", {"clear": True})
    assert sorted(answer.status for answer in answers) == [200, 503, 503, 503], answers
    assert {cause(answer)["reason"] for answer in answers if answer.status == 503} == {"EXTENSION_UNDER_WAY"}
    again = get(system, "ExtendSubscriptionRenewalDate", message, uuid.uuid4().hex)
    assert again["response"]["effectiveDate"] == before + 3 * DAY == expires(system, original)


def test_a_rate_limit_is_told_with_apple_s_delay_and_unknown_numbers_come_through(system):
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
    # What Apple asks to try again is tried again.
    system.control("/control/faults", {"route": "transactionInfo", "count": 2, "status": 404, "body": {"errorCode": 4040002}})
    assert get(system, "GetTransactionInfo", {"transactionId": original, "environment": "Sandbox"})["decoded"]


def test_an_answer_whose_signed_data_cannot_be_proved_is_not_handed_on(system):
    original = story(system, "buy")["originalTransactionId"]
    forged = system.control("/control/notifications", {
        "bundleId": APP, "environment": "Production", "notificationType": "DID_RENEW", "forge": "root", "send": False})["signedPayload"]
    system.control("/control/faults", {"route": "transactionInfo", "count": 1, "status": 200, "body": {"signedTransactionInfo": forged}})
    answer = ask(system, "GetTransactionInfo", {"transactionId": original})
    assert answer.status == 500 and answer.json["code"] == "data_loss", answer
    assert cause(answer)["reason"] == "SIGNED_DATA_INVALID" and cause(answer)["kind"] == "transaction", json.dumps(answer.json)


def test_recoveries_are_listed_page_by_page(system):
    first = time.time() - 600
    begun = [start(system, first + place, first + place + 60, "Sandbox") for place in range(5)]
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
    # Those of an earlier version stand in the list of all alone.
    redis_words(system, "DEL", *redis_words(system, "--scan", "--pattern", f"*:recovery:index:{APP}"))
    redis_words(system, "DEL", *redis_words(system, "--scan", "--pattern", "*:recovery:index-filed"))
    assert pages(bundleId=APP) == begun[::-1]
