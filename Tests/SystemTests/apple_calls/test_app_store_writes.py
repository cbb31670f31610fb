"""Writes of the App Store Server API over RPC: done once under their key, and extensions whose result is checked."""

import concurrent.futures
import datetime
import time
import uuid

import pytest

from .look_up_steps import APP, ask, calls, cause, get, story

DAY = 86_400_000


def test_writes_require_an_idempotency_key_and_are_done_once_under_it(system):
    purchase = story(system, "buy")
    original = purchase["originalTransactionId"]
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
    # Only an original id may be named; Apple's error has a number for that.
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
    message = {"transactionId": transaction, "version": version, "requestedAt": rfc3339(time.time() - 60)}
    for field, value in wrong:
        answer = ask(system, "SendConsumptionInformation", {**message, "consumption": {**body, field: value}}, uuid.uuid4().hex)
        assert answer.status == 400 and f'"consumption.{field}"' in answer.body.decode(), (field, answer)
    before = len(calls(system))
    sent = get(system, "SendConsumptionInformation", {**message, "consumption": body}, uuid.uuid4().hex)
    assert sent["environment"] == "Production"
    call = calls(system)[before:]
    assert [(one["method"], one["path"].split("?")[0].rsplit("/inApps/", 1)[1], one["status"]) for one in call] == [
        ("PUT", f"v{version}/transactions/consumption/{transaction}", 202)]


def rfc3339(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def test_consumption_information_needs_a_request_of_the_last_twelve_hours(system):
    body = {"customerConsented": True, "sampleContentProvided": False, "deliveryStatus": "DELIVERED"}

    def send(transaction: str, consumption: dict = body, **more):
        return ask(system, "SendConsumptionInformation", {"transactionId": transaction, "consumption": consumption, **more}, uuid.uuid4().hex)

    def received(hours: float) -> str:
        """A purchase with a request that was signed so many hours ago and that verifier has processed."""
        feed = system.subscribe(["appstore.notification.verified.v1"])
        # The request is a day after the purchase.
        made = story(system, "buy", "consumption-request", environment="Sandbox", send=True,
                     startDate=int((time.time() - hours * 3600) * 1000) - DAY)["notifications"][1]
        until = time.monotonic() + 20
        while made["notificationUUID"].lower() not in str(feed.pull(wait=1)).lower():
            assert time.monotonic() < until
        feed.delete()
        return made["transactionId"]

    def sent() -> list[tuple]:
        return [(call["environment"], call["status"]) for call in calls(system) if "/consumption/" in call["path"]]

    # No request is known: nothing is sent, unless the caller has the request.
    unrequested = story(system, "buy", environment="Sandbox")["notifications"][0]["transactionId"]
    before = len(sent())
    refused = send(unrequested)
    assert refused.status == 400 and cause(refused)["reason"] == "CONSUMPTION_REQUEST_UNKNOWN", refused
    refused = send(unrequested, requestedAt=rfc3339(time.time() - 13 * 3600))
    assert refused.status == 400 and cause(refused)["reason"] == "CONSUMPTION_REQUEST_TOO_OLD", refused
    refused = send(unrequested, requestedAt=rfc3339(time.time() + 3600))
    assert refused.status == 400 and '"requestedAt"' in refused.body.decode(), refused
    late = received(13)
    refused = send(late)
    assert refused.status == 400 and cause(refused)["reason"] == "CONSUMPTION_REQUEST_TOO_OLD", refused
    requested = received(1)
    refused = send(requested, {**body, "consumptionPercentage": 50_000})
    assert refused.status == 400 and '"consumption.consumptionPercentage"' in refused.body.decode(), refused
    assert len(sent()) == before
    # The environment of the request is called.
    assert send(requested).json["environment"] == "Sandbox"
    assert sent()[before:] == [("Sandbox", 202)]
    assert send(unrequested, requestedAt=rfc3339(time.time() - 3600), environment="Sandbox").status == 200


@pytest.mark.parametrize("kind", ["Consumable", "Non-Consumable", "Non-Renewing Subscription"])
def test_consumption_information_that_does_not_fit_the_product_is_refused_by_its_field_before_it_is_sent(system, kind):
    app = {"bundleId": APP, "environment": "Sandbox"}
    bought = system.control("/control/notifications", {
        **app, "notificationType": "ONE_TIME_CHARGE", "productType": kind, "send": False, "history": False})["transactionId"]
    feed = system.subscribe(["appstore.notification.verified.v1"])
    made = system.control("/control/notifications", {
        **app, "notificationType": "CONSUMPTION_REQUEST", "originalTransactionId": bought, "send": True, "history": False})
    until = time.monotonic() + 20
    while made["notificationUUID"].lower() not in str(feed.pull(wait=1)).lower():
        assert time.monotonic() < until
    feed.delete()
    before = len(calls(system))

    def send(consumption: dict, version: int = 2):
        return ask(system, "SendConsumptionInformation", {"transactionId": bought, "version": version, "consumption": consumption}, uuid.uuid4().hex)

    without = {name: value for name, value in VERSION_2.items() if name != "consumptionPercentage"}
    for body in (without, {**without, "consumptionPercentage": 0}):
        refused = send(body)
        assert refused.status == 400 and '"consumption.consumptionPercentage"' in refused.body.decode(), refused
        assert "must be above 0" in refused.body.decode() and "GRANT_FULL or DECLINE" in refused.body.decode(), refused
    if kind != "Consumable":
        refused = send(VERSION_1, version=1)
        assert refused.status == 400 and '"version"' in refused.body.decode() and "must be 2" in refused.body.decode(), refused
    assert calls(system)[before:] == []
    assert send(VERSION_2).status == 200
    assert len(calls(system)[before:]) == 1


def test_a_subscription_is_extended_once_even_if_apples_answer_is_lost(system):
    purchase = story(system, "buy")
    original = purchase["originalTransactionId"]
    before = get(system, "GetSubscriptionStatuses", {"transactionId": original})["decoded"][0]["expiresDate"]
    message = {"originalTransactionId": original, "extendByDays": 10, "extendReasonCode": 1, "requestIdentifier": "sorry-1"}
    # Apple carries it out, and its answer is lost.
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
    # A second one is a new request; a third one within a year is refused.
    second = get(system, "ExtendSubscriptionRenewalDate", {**message, "requestIdentifier": "sorry-2"}, uuid.uuid4().hex)
    assert second["response"]["effectiveDate"] == before + 20 * DAY
    third = ask(system, "ExtendSubscriptionRenewalDate", {**message, "requestIdentifier": "sorry-3"}, uuid.uuid4().hex)
    assert third.status == 400 and cause(third)["errorCode"] == "4030005", third
    assert cause(third)["errorName"] == "SubscriptionMaxExtension" and cause(third)["status"] == "403"


def test_a_mass_extension_is_started_once_and_its_status_can_be_queried(system):
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


def test_a_mass_extension_whose_answer_is_lost_is_not_started_again(system):
    product = f"{APP}.mass{uuid.uuid4().hex[:8]}"
    story(system, "buy", environment="Sandbox", productId=product)

    def extend(identifier: str):
        return ask(system, "ExtendRenewalDatesForAllSubscribers", {
            "environment": "Sandbox", "productId": product, "extendByDays": 5, "requestIdentifier": identifier}, uuid.uuid4().hex)

    def begun(identifier: str) -> int:
        return sum(1 for call in calls(system) if call["method"] == "POST" and call.get("body", {}).get("requestIdentifier") == identifier)

    # Apple starts it, and its answer is lost: a query to Apple shows that it exists.
    identifier = str(uuid.uuid4())
    system.control("/control/faults", {"route": "massExtend", "count": 1, "reset": True})
    try:
        for _ in range(2):
            answer = extend(identifier)
            assert answer.status == 200 and answer.json["response"] == {"requestIdentifier": identifier}, answer
        assert begun(identifier) == 1
        # The query to Apple fails too: it is repeated before anything is done again.
        identifier = str(uuid.uuid4())
        system.control("/control/faults", {"route": "massExtend", "count": 1, "reset": True})
        system.control("/control/faults", {"route": "massExtendStatus", "count": 3, "status": 500, "body": {"errorCode": 5000000}})
        assert extend(identifier).status == 503
        assert extend(identifier).status == 200 and begun(identifier) == 1
        # Apple never received it, so it is started.
        identifier = str(uuid.uuid4())
        system.control("/control/faults", {"route": "massExtend", "count": 1, "status": 500, "body": {"errorCode": 5000000}})
        assert extend(identifier).status == 503
        assert extend(identifier).status == 200 and begun(identifier) == 1
    finally:
        system.control("/control/faults", {"clear": True})


def expires(system, original: str) -> int:
    return get(system, "GetSubscriptionStatuses", {"transactionId": original, "environment": "Production"})["decoded"][0]["expiresDate"]


def test_the_request_of_an_extension_is_stored_until_its_outcome_is_known(system):
    original = story(system, "buy")["originalTransactionId"]
    before = expires(system, original)
    message = {"originalTransactionId": original, "extendByDays": 10, "requestIdentifier": "unknown-1"}
    try:
        system.control("/control/faults", {"route": "extendRenewalDate", "count": 1, "status": 500, "body": {"errorCode": 5000000}})
        assert ask(system, "ExtendSubscriptionRenewalDate", message, uuid.uuid4().hex).status == 503
        # The second call, with the environment, is refused. That does not show whether the first one was executed.
        system.control("/control/faults", {"route": "extendRenewalDate", "count": 1, "status": 403, "body": {"errorCode": 4030004}})
        assert ask(system, "ExtendSubscriptionRenewalDate", {**message, "environment": "Production"}, uuid.uuid4().hex).status == 400
    finally:
        system.control("/control/faults", {"clear": True})
    # Apple does it late in this test.
    get(system, "ExtendSubscriptionRenewalDate", {**message, "requestIdentifier": "late"}, uuid.uuid4().hex)
    for more in ({}, {"environment": "Production"}):
        done = get(system, "ExtendSubscriptionRenewalDate", {**message, **more}, uuid.uuid4().hex)
        assert done["response"]["effectiveDate"] == before + 10 * DAY, done
    assert expires(system, original) == before + 10 * DAY


def test_a_renewal_is_not_mistaken_for_the_extension(system):
    """A month of Apple's is thirty days here, and so is the extension."""
    purchase = story(system, "buy", startDate=int(time.time() * 1000) - 30 * DAY + 120_000)
    original = purchase["originalTransactionId"]
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


def test_two_calls_for_the_same_extension_make_one_request_to_apple(system):
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
