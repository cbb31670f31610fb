"""Data that the App Store signed, and that lacks members or adds new ones: it is verified if its app can be told, and kept otherwise."""

import base64
import json
import time
import uuid

import pytest

APP, APP_ID = "com.example.app", 525463029
VERIFIED, REJECTED = "appstore.notification.verified.v1", "appstore.notification.rejected.v1"
NAMELESS = {"bundleId": None, "appAppleId": None}


def made(system, kind: str = "DID_RENEW", environment: str = "Production", **more) -> dict:
    return system.control("/control/notifications", {
        "bundleId": APP, "environment": environment, "notificationType": kind, "send": False, "history": False, **more})


def decoded(jws: str) -> dict:
    part = jws.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def ended(system, id: str) -> dict:
    until = time.monotonic() + 60
    while (found := system.call("Ingest", "GetDelivery", {"id": id}))["state"] == "accepted":
        assert time.monotonic() < until, found
        time.sleep(0.05)
    return found


def posted(system, signed_payload: str, path: str = "/v1/app-store/notifications") -> dict:
    answer = system.post(path, {"signedPayload": signed_payload})
    assert answer.status == 200, answer
    return {**ended(system, answer.json["id"]), "status": answer.json["status"]}


def verified(system, signed_payload: str) -> dict:
    """The event of a notification that must be verified."""
    found = posted(system, signed_payload)
    assert found["state"] == "verified", (found, decoded(signed_payload))
    event = system.call("Events", "GetEvent", {"id": found["eventId"]})["event"]
    assert event["type"] == VERIFIED and event["subject"] == APP and event["data"]["payload"] == decoded(signed_payload), event
    return event["data"]


def judged(system, jws: str, kind: str, **more) -> dict:
    return system.call("Verifier", "VerifyAppStoreSignedData", {"signedData": jws, "kind": kind, **more})


def history(system, purchase: str) -> dict:
    return system.call("Verifier", "GetSubscriptionState", {"originalTransactionId": purchase, "environment": "Production"})


def test_a_transaction_that_names_no_app_is_valid_if_the_caller_trusts_its_source(system):
    jws = decoded(made(system, transaction={"bundleId": None})["signedPayload"])["data"]["signedTransactionInfo"]
    assert "bundleId" not in decoded(jws)
    for more in ({}, {"bundleId": APP}, {"bundleId": APP, "environment": "Production"}, {"trustedSource": True}):
        verdict = judged(system, jws, "transaction", **more)
        assert (verdict["valid"], verdict["reason"]) == (False, "app_not_named") and verdict["payload"] == decoded(jws), verdict
    for named in ({"bundleId": APP}, {"appAppleId": APP_ID}):
        verdict = judged(system, jws, "transaction", trustedSource=True, **named)
        assert verdict["valid"] and verdict["environment"] == "Production" and "known" not in verdict, verdict
    other = decoded(made(system, transaction={"bundleId": "com.example.other"})["signedPayload"])["data"]["signedTransactionInfo"]
    assert judged(system, other, "transaction", bundleId=APP, trustedSource=True)["reason"] == "wrong_app"
    items = [{"appStoreSignedData": {"signedData": jws, "kind": "transaction", "bundleId": APP, "trustedSource": trusted}}
             for trusted in (False, True)]
    results = system.call("Verifier", "VerifyBatch", {"items": items})["results"]
    assert [one["appStoreSignedData"]["valid"] for one in results] == [False, True]


@pytest.mark.parametrize("product", [None, "Non-Consumable"])
def test_a_refund_whose_transaction_names_no_app_is_applied(system, product):
    start = int(time.time() * 1000) - 60_000
    bought = (made(system, "ONE_TIME_CHARGE", signedDate=start, productType=product) if product
              else made(system, "SUBSCRIBED", subtype="INITIAL_BUY", signedDate=start))
    assert verified(system, bought["signedPayload"])["lifecycle"]["hasAccess"] is True
    purchase = bought["originalTransactionId"]
    refund = made(system, "REFUND", originalTransactionId=purchase, signedDate=start + 1000,
                  transaction={"bundleId": None, "environment": None}, renewal={"environment": None}, data={"status": 5} if not product else {})
    data = verified(system, refund["signedPayload"])
    assert data["known"] is True and "bundleId" not in data["transactionInfo"] and data["environment"] == "Production"
    assert data["lifecycle"]["hasAccess"] is False and data["lifecycle"]["state"] in ("revoked", "refunded"), data["lifecycle"]


@pytest.mark.parametrize("missing", ["type", "originalTransactionId"])
def test_a_refund_of_a_subscription_without_renewal_information_is_applied(system, missing):
    start = int(time.time() * 1000) - 60_000
    bought = made(system, "SUBSCRIBED", subtype="INITIAL_BUY", signedDate=start)
    assert verified(system, bought["signedPayload"])["lifecycle"]["hasAccess"] is True
    purchase = bought["originalTransactionId"]
    refund = made(system, "REFUND", originalTransactionId=purchase, signedDate=start + 1000, transaction={missing: None},
                  data={"status": 5, "signedRenewalInfo": None})
    data = verified(system, refund["signedPayload"])
    assert "renewalInfo" not in data and missing not in data["transactionInfo"]
    assert data["lifecycle"]["state"] == "revoked" and data["lifecycle"]["hasAccess"] is False, data
    assert history(system, purchase)["state"] == "revoked"


def test_data_of_another_kind_or_app_is_not_taken_for_renewal_information_or_a_realtime_request(system):
    other = decoded(made(system, transaction={"bundleId": "com.example.other"})["signedPayload"])["data"]["signedTransactionInfo"]
    for kind in ("renewalInfo", "realtimeRequest"):
        for more in ({"bundleId": APP}, {"bundleId": APP, "environment": "Production", "trustedSource": True}):
            verdict = judged(system, other, kind, **more)
            assert (verdict["valid"], verdict["reason"]) == (False, "malformed"), verdict
    strange = made(system, renewal={"bundleId": "com.example.other"})
    assert posted(system, strange["signedPayload"])["reason"] == "wrong_app"


def test_a_notification_without_its_own_members_is_verified_by_the_app_that_it_names(system):
    data = verified(system, made(system, payload={"notificationUUID": None, "notificationType": None})["signedPayload"])
    assert data["known"] is False and "lifecycle" not in data


@pytest.mark.parametrize("part,info", [("transaction", "transactionInfo"), ("renewal", "renewalInfo")])
def test_a_nested_part_that_lacks_nearly_everything_is_left_out(system, part, info):
    whole = decoded(made(system)["signedPayload"])["data"]
    names = decoded(whole["signedTransactionInfo" if part == "transaction" else "signedRenewalInfo"])
    bare = made(system, **{part: {name: None for name in names if name not in ("originalTransactionId", "signedDate")}})
    data = verified(system, bare["signedPayload"])
    assert data["known"] is False and info not in data and "lifecycle" not in data
    assert {"transactionInfo", "renewalInfo"} - {info} <= data.keys()


def test_a_transaction_of_another_app_inside_a_notification_stays_rejected(system):
    for holder in ("data", "unclaimInfo"):
        strange = made(system, "REFUND", holder=holder, transaction={"bundleId": "com.example.other"})
        assert posted(system, strange["signedPayload"])["reason"] == "wrong_app"


@pytest.mark.parametrize("change", [
    {"payload": {"notificationType": "A_NEW_TYPE"}}, {"payload": {"notificationType": None}}, {"payload": {"notificationType": 5}},
    {"payload": {"notificationType": "UNCLAIM_SEATS"}, "holder": "unclaimInfo"},
    {"payload": {"notificationType": "UNCLAIM_SEATS", "unclaimInfo": {"unclaimSeatIds": ["3db5c98d-8acf-4e29-831e-8e1f82f9f6e9"]}}},
    {"holder": "somethingData"}, {"payload": {"somethingData": {}}}, {"payload": {"somethingData": {"bundleId": "com.example.other"}}},
], ids=json.dumps)
def test_what_this_version_does_not_know_is_published_whole_and_changes_no_history(system, change):
    start = int(time.time() * 1000) - 60_000
    bought = made(system, "SUBSCRIBED", subtype="INITIAL_BUY", signedDate=start)
    assert verified(system, bought["signedPayload"])["known"] is True
    purchase = bought["originalTransactionId"]
    before = history(system, purchase)
    unknown = made(system, "EXPIRED", originalTransactionId=purchase, signedDate=start + 1000, **change)
    data = verified(system, unknown["signedPayload"])
    assert data["known"] is False and "lifecycle" not in data and data["transactionInfo"]["originalTransactionId"] == purchase
    after = history(system, purchase)
    assert (after["state"], after["notifications"]) == (before["state"], before["notifications"])
    assert judged(system, unknown["signedPayload"], "notification")["known"] is False


def test_a_notification_that_names_no_app_anywhere_is_kept_with_its_own_reason(system):
    feed = system.subscribe([REJECTED])
    unnamed = [made(system, "TEST", data=NAMELESS), made(system, "UNCLAIM_SEATS", holder="unclaimInfo", data=NAMELESS,
                                                         transaction={"bundleId": None}), made(system, "TEST", payload={"data": None})]
    for one in unnamed:
        for path in ("/v1/app-store/notifications", f"/v1/app-store/notifications/{APP}"):
            found = posted(system, one["signedPayload"], path)
            assert (found["state"], found["reason"]) == ("rejected", "app_not_named"), found
            assert base64.b64decode(found["body"]).decode() == one["signedPayload"]
    events = [event["data"] for event in feed.wait_for(6) if event["data"]["reason"] == "app_not_named"]
    feed.delete()
    assert {event["claimedNotificationUUID"] for event in events} == {one["notificationUUID"] for one in unnamed}


@pytest.mark.parametrize("environment", ["Production", "Sandbox"])
def test_the_app_is_told_by_what_is_there(system, environment):
    for change in ({"data": {"appAppleId": None}}, {"data": {"bundleId": None, "appAppleId": APP_ID}},
                   {"data": {**NAMELESS, "environment": None}},
                   {"data": {**NAMELESS, "environment": None}, "payload": {"bundleId": APP, "environment": environment}},
                   {"data": {"bundleId": 5, "appAppleId": str(APP_ID)}}, {"holder": "newInfo", "data": NAMELESS}):
        data = verified(system, made(system, environment=environment, **change)["signedPayload"])
        assert data["environment"] == environment, (change, data)
    for id in (7, 424242):
        strange = made(system, "TEST", environment, data={"bundleId": None, "appAppleId": id})
        assert posted(system, strange["signedPayload"])["reason"] == "wrong_app"


@pytest.mark.parametrize("change", [
    {"payload": {name: value}} for name in ("signedDate", "subtype", "version") for value in (None, [1], {"a": 1})] + [
    {"data": {name: value}} for name in ("status", "bundleVersion", "environment", "signedRenewalInfo") for value in (None, ["x"])] + [
    {"transaction": {name: value}} for name in ("productId", "type", "purchaseDate", "signedDate", "transactionId", "originalTransactionId",
                                                "expiresDate", "newMember") for value in (None, {"a": [1]})] + [
    {"renewal": {name: value}} for name in ("environment", "originalTransactionId", "autoRenewStatus", "signedDate") for value in (None, [])],
    ids=json.dumps)
def test_no_other_member_is_needed(system, change):
    data = verified(system, made(system, **change)["signedPayload"])
    assert data["notificationType"] == "DID_RENEW" and data["environment"] == "Production"
    for name in ("subtype", "signedDate"):
        assert isinstance(data.get(name), (str, int, type(None))), data


@pytest.mark.parametrize("environment", ["Pre Prod", "a:b"])
def test_an_environment_that_nobody_knows_is_rejected_once_and_later_notifications_of_its_purchase_are_worked(system, environment):
    start = int(time.time() * 1000) - 60_000
    bought = made(system, "SUBSCRIBED", subtype="INITIAL_BUY", signedDate=start)
    assert verified(system, bought["signedPayload"])["lifecycle"]["state"] == "active"
    purchase, named = bought["originalTransactionId"], {part: {"environment": environment} for part in ("data", "transaction", "renewal")}
    feed = system.subscribe([REJECTED])
    strange = made(system, "CONSUMPTION_REQUEST", originalTransactionId=purchase, signedDate=start + 1000, **named)
    found = posted(system, strange["signedPayload"])
    assert (found["state"], found["reason"]) == ("rejected", "wrong_environment"), found
    assert base64.b64decode(found["body"]).decode() == strange["signedPayload"]
    later = made(system, "REFUND", originalTransactionId=purchase, signedDate=start + 2000, data={"status": 5})
    assert verified(system, later["signedPayload"])["lifecycle"]["state"] == "revoked"
    # The order of deliveries of a purchase depends on its environment, so these two are one after the other, and of the same shard.
    again = made(system, "CONSUMPTION_REQUEST", originalTransactionId=purchase, signedDate=start + 3000, **named)
    assert posted(system, again["signedPayload"])["reason"] == "wrong_environment"
    events = [event["data"]["claimedNotificationUUID"] for event in feed.wait_for(2)]
    feed.delete()
    assert sorted(events) == sorted([strange["notificationUUID"], again["notificationUUID"]])


def test_a_notification_without_a_uuid_counts_once(system):
    start = int(time.time() * 1000) - 60_000
    bought = made(system, "SUBSCRIBED", subtype="INITIAL_BUY", signedDate=start, payload={"notificationUUID": None})
    data = verified(system, bought["signedPayload"])
    assert "notificationUUID" not in data and data["lifecycle"]["state"] == "active"
    first = posted(system, bought["signedPayload"])
    again = posted(system, bought["signedPayload"], f"/v1/app-store/notifications/{APP}")
    assert first["status"] == "duplicate" and first["eventId"] == again["eventId"] and ":payload-" in first["eventId"]
    assert len(history(system, bought["originalTransactionId"])["notifications"]) == 1
    other = posted(system, made(system, "SUBSCRIBED", payload={"notificationUUID": None})["signedPayload"])
    assert other["state"] == "verified" and other["eventId"] != first["eventId"]


def test_a_transaction_with_many_items_is_verified(system):
    items = [{"SKU": f"item-{number}", "description": "x" * 60} for number in range(1000)]
    long = made(system, transaction={"advancedCommerceInfo": {"items": items, "requestReferenceId": str(uuid.uuid4())}})
    jws = decoded(long["signedPayload"])["data"]["signedTransactionInfo"]
    assert len(jws) > 100_000
    assert verified(system, long["signedPayload"])["transactionInfo"] == decoded(jws)
    assert judged(system, jws, "transaction")["valid"]


@pytest.mark.parametrize("kind", ["transaction", "renewalInfo"])
def test_the_caller_tells_an_environment_that_is_missing(system, kind):
    member = {"transaction": "signedTransactionInfo", "renewalInfo": "signedRenewalInfo"}[kind]
    missing = {"transaction": {"environment": None}, "renewal": {"environment": None}}
    jws = decoded(made(system, **missing)["signedPayload"])["data"][member]
    verdict = judged(system, jws, kind, bundleId=APP, environment="Sandbox")
    assert verdict["valid"] and verdict["environment"] == "Sandbox", verdict
    verdict = judged(system, jws, kind, bundleId=APP)
    assert (verdict["valid"], verdict["reason"]) == (False, "wrong_environment")
