"""Histories of one-time purchases from the simulator's signed notifications, read by RPC and from the feed; and the facts of a
subscription's transaction that Apple signed last."""

import json
import time

import pytest

from SystemTests.migration.receipts import TRANSACTION, completed, migrate, transaction_receipt

APP = "com.example.app"
VERIFIED, GAP = "appstore.notification.verified.v1", "appstore.subscription.gap.v1"


def made(system, type: str, purchase: str | None = None, **more) -> dict:
    """A notification about the purchase, or about a new one."""
    return system.control("/control/notifications", {
        "bundleId": APP, "environment": "Production", "notificationType": type, "send": True,
        **({"originalTransactionId": purchase} if purchase else {}), **more})


def state(system, purchase: str) -> dict:
    return system.call("Verifier", "GetOneTimePurchaseState", {"transactionId": purchase, "environment": "Production"})


def events_of(feed, purchase: str, count: int, seconds: float = 20) -> list[dict]:
    found: list[dict] = []
    until = time.monotonic() + seconds
    while len(found) < count and time.monotonic() < until:
        found += [event for event in feed.pull(wait=1) if purchase in json.dumps(event["data"])]
    return found


@pytest.mark.parametrize("product", ["Consumable", "Non-Consumable", "Non-Renewing Subscription"])
def test_each_step_of_a_one_time_purchase_has_the_resulting_state(system, product):
    feed = system.subscribe([VERIFIED])
    start = int(time.time() * 1000) - 60_000
    types = ["ONE_TIME_CHARGE", "CONSUMPTION_REQUEST", "REFUND_DECLINED", "CONSUMPTION_REQUEST", "REFUND", "REFUND_REVERSED", "REVOKE"]
    purchase = None
    for index, type in enumerate(types):
        more = {"productType": product} if purchase is None else {}
        purchase = made(system, type, purchase, signedDate=start + index * 1000, **more)["transactionId"]
    events = sorted(events_of(feed, purchase, len(types)), key=lambda event: event["data"]["signedDate"])
    lifecycles = [event["data"]["lifecycle"] for event in events]
    states = ["purchased"] * 4 + ["refunded", "purchased", "revoked"]
    assert [lifecycle["state"] for lifecycle in lifecycles] == states
    assert [lifecycle["hasAccess"] for lifecycle in lifecycles] == [True] * 4 + [False, True, False]
    assert [lifecycle["late"] for lifecycle in lifecycles] == [False] * len(types)
    assert lifecycles[4]["since"] == start + 4000
    found = state(system, purchase)
    assert found["state"] == "revoked" and found["hasAccess"] is False and found["revocationType"] == "FAMILY_REVOKE"
    assert [(step["notificationType"], step["state"], step["late"]) for step in found["notifications"]] == [
        (type, after, False) for type, after in zip(types, states, strict=True)]
    feed.delete()


def test_a_late_notification_is_flagged_and_does_not_bring_a_refunded_purchase_back(system):
    feed = system.subscribe([VERIFIED, GAP])
    now = int(time.time() * 1000)
    charge = made(system, "ONE_TIME_CHARGE", send=False, signedDate=now - 30_000)
    purchase = charge["transactionId"]
    made(system, "REFUND", purchase, signedDate=now - 20_000)
    assert [event["data"]["lifecycle"]["late"] for event in events_of(feed, purchase, 1)] == [False]
    # Signed after the refund, with facts from before it.
    old = {"signedDate": now - 25_000, "revocationDate": None, "revocationType": None}
    made(system, "CONSUMPTION_REQUEST", purchase, signedDate=now - 10_000, transaction=old)
    system.control("/control/notifications/send", {"notificationUUID": charge["notificationUUID"]})
    events = {event["data"]["notificationType"]: event["data"]["lifecycle"] for event in events_of(feed, purchase, 2)}
    assert events["ONE_TIME_CHARGE"] == {"state": "refunded", "since": now - 20_000, "hasAccess": False, "late": True}
    assert events["CONSUMPTION_REQUEST"]["state"] == "refunded" and events["CONSUMPTION_REQUEST"]["late"] is False
    assert [step["late"] for step in state(system, purchase)["notifications"]] == [True, False, False]
    # A purchase that begins in the middle of its history has no gap.
    assert events_of(feed, purchase, 1, seconds=3) == []
    feed.delete()


def test_a_transaction_that_was_looked_up_updates_the_state(system):
    feed = system.subscribe([VERIFIED, TRANSACTION])
    purchase = made(system, "ONE_TIME_CHARGE")["transactionId"]
    assert len(events_of(feed, purchase, 1)) == 1
    # Its notification is lost.
    made(system, "REFUND", purchase, send=False, history=False)
    completed(system, migrate(system, [{"id": "1", "transactionReceipt": transaction_receipt(purchase)}])["migrationId"])
    [event] = events_of(feed, purchase, 1)
    assert event["type"] == TRANSACTION and event["data"]["lifecycle"]["state"] == "refunded"
    found = state(system, purchase)
    assert found["state"] == "refunded" and found["notifications"][-1]["notificationType"] == "TRANSACTION_OBSERVED"
    feed.delete()


def test_an_unknown_purchase_is_not_found_and_a_wrong_field_is_refused_by_its_name(system):
    def ask(message):
        return system.rpc("Verifier", "GetOneTimePurchaseState", message)

    assert ask({"transactionId": "nobody", "environment": "Production"}).status == 404
    for message, field in (({}, "transactionId"), ({"transactionId": "1"}, "environment"),
                           ({"transactionId": "1", "environment": "Moon"}, "environment"),
                           ({"transactionId": "1" * 65, "environment": "Sandbox"}, "transactionId")):
        answer = ask(message)
        assert answer.status == 400 and f'"{field}"' in answer.body.decode(), answer


@pytest.mark.parametrize("is_late", [False, True])
def test_the_refund_of_a_restored_non_consumable_is_that_of_all_its_transactions(system, is_late):
    """A restore has a transaction of its own, which names the first one as its original."""
    feed = system.subscribe([VERIFIED])
    now = int(time.time() * 1000)
    charge = made(system, "ONE_TIME_CHARGE", productType="Non-Consumable", send=not is_late, signedDate=now - 30_000)
    first, restored = charge["transactionId"], str(int(charge["transactionId"]) + 1)
    made(system, "REFUND", first, signedDate=now - 20_000, transaction={"transactionId": restored, "originalTransactionId": first})
    if is_late:
        system.control("/control/notifications/send", {"notificationUUID": charge["notificationUUID"]})
    events = {event["data"]["notificationType"]: event["data"]["lifecycle"] for event in events_of(feed, first, 2)}
    assert events["REFUND"]["state"] == "refunded" and events["REFUND"]["hasAccess"] is False
    assert events["ONE_TIME_CHARGE"]["late"] is is_late
    for id in (first, restored):
        found = state(system, id)
        assert (found["state"], found["hasAccess"]) == ("refunded", False), found
        assert [step["notificationType"] for step in found["notifications"]] == ["ONE_TIME_CHARGE", "REFUND"]
    # The reversal under the first id is that of both.
    made(system, "REFUND_REVERSED", first, signedDate=now - 10_000)
    events_of(feed, first, 1)
    assert [state(system, id)["state"] for id in (first, restored)] == ["purchased", "purchased"]
    feed.delete()


@pytest.mark.parametrize("product", ["Consumable", "Non-Consumable", "Non-Renewing Subscription"])
def test_a_refund_whose_transaction_does_not_name_its_type_is_applied(system, product):
    feed = system.subscribe([VERIFIED])
    now = int(time.time() * 1000)
    purchase = made(system, "ONE_TIME_CHARGE", productType=product, signedDate=now - 30_000)["transactionId"]
    made(system, "REFUND", purchase, signedDate=now - 20_000, transaction={"type": None})
    events = {event["data"]["notificationType"]: event["data"].get("lifecycle") for event in events_of(feed, purchase, 2)}
    assert events["REFUND"]["state"] == "refunded" and events["REFUND"]["hasAccess"] is False, events
    assert state(system, purchase)["state"] == "refunded"
    # A step of an unknown purchase tells nothing.
    unknown = made(system, "ONE_TIME_CHARGE", transaction={"type": None}, signedDate=now - 20_000)
    [event] = events_of(feed, unknown["notificationUUID"], 1)
    assert "lifecycle" not in event["data"]
    feed.delete()


@pytest.mark.parametrize("is_first", [False, True])
def test_the_refund_of_a_restored_non_consumable_that_does_not_name_the_original_is_that_of_all(system, is_first):
    feed = system.subscribe([VERIFIED])
    now = int(time.time() * 1000)
    first = made(system, "ONE_TIME_CHARGE", productType="Non-Consumable", signedDate=now - 30_000)["transactionId"]
    restored = str(int(first) + 1)
    assert len(events_of(feed, first, 1)) == 1

    def named():
        return made(system, "CONSUMPTION_REQUEST", first, signedDate=now - 25_000,
                    transaction={"transactionId": restored, "originalTransactionId": first})

    def refunded():
        return made(system, "REFUND", first, signedDate=now - 20_000, transaction={"transactionId": restored, "originalTransactionId": None})

    for make in (refunded, named) if is_first else (named, refunded):
        [event] = events_of(feed, make()["notificationUUID"], 1)
    assert event["data"]["lifecycle"]["state"] == "refunded", event["data"]
    for id in (first, restored):
        found = state(system, id)
        assert (found["state"], found["hasAccess"]) == ("refunded", False), found
        assert [step["notificationType"] for step in found["notifications"]] == ["ONE_TIME_CHARGE", "CONSUMPTION_REQUEST", "REFUND"]
    feed.delete()


@pytest.mark.parametrize("type", ["REFUND_DECLINED", "CONSUMPTION_REQUEST"])
def test_a_non_consumable_that_was_bought_again_after_its_refund_stays_purchased(system, type):
    feed = system.subscribe([VERIFIED])
    now = int(time.time() * 1000)
    first = made(system, "ONE_TIME_CHARGE", productType="Non-Consumable", signedDate=now - 100_000)["transactionId"]
    revoked = {"revocationDate": now - 90_000, "revocationType": "REFUND_FULL"}
    again = {"transactionId": str(int(first) + 5), "originalTransactionId": first, "type": "Non-Consumable", "purchaseDate": now - 51_000,
             "revocationDate": None, "revocationType": None, "revocationReason": None}
    for kind, age, transaction in (("REFUND", 90_000, revoked), ("ONE_TIME_CHARGE", 50_000, again), (type, 10_000, revoked)):
        made(system, kind, first, signedDate=now - age, transaction=transaction)
    assert len(events_of(feed, first, 4)) == 4
    found = state(system, first)
    assert (found["state"], found["hasAccess"]) == ("purchased", True), found
    assert [step["state"] for step in found["notifications"]] == ["purchased", "refunded", "purchased", "purchased"]
    feed.delete()


def test_transactions_of_a_consumable_are_purchases_of_their_own(system):
    feed = system.subscribe([VERIFIED])
    first = made(system, "ONE_TIME_CHARGE")["transactionId"]
    other = str(int(first) + 1)
    made(system, "REFUND", first, transaction={"transactionId": other, "originalTransactionId": first})
    events_of(feed, first, 2)
    assert [state(system, id)["state"] for id in (first, other)] == ["purchased", "refunded"]
    feed.delete()


def test_a_revocation_with_another_date_and_no_type_is_the_known_one(system):
    feed = system.subscribe([VERIFIED])
    now = int(time.time() * 1000)
    purchase = made(system, "ONE_TIME_CHARGE", signedDate=now - 40_000)["transactionId"]
    made(system, "REVOKE", purchase, signedDate=now - 30_000)
    made(system, "REFUND_DECLINED", purchase, signedDate=now - 20_000, transaction={"revocationDate": now - 25_000, "revocationType": None})
    events = events_of(feed, purchase, 3)
    assert {event["data"]["notificationType"]: event["data"]["lifecycle"]["state"] for event in events} == {
        "ONE_TIME_CHARGE": "purchased", "REVOKE": "revoked", "REFUND_DECLINED": "revoked"}
    since = next(event["data"]["lifecycle"]["since"] for event in events if event["data"]["notificationType"] == "REVOKE")
    assert all(event["data"]["lifecycle"]["since"] == since for event in events if event["data"]["notificationType"] != "ONE_TIME_CHARGE")
    found = state(system, purchase)
    assert found["state"] == "revoked" and found["revocationType"] == "FAMILY_REVOKE" and found["hasAccess"] is False
    feed.delete()


@pytest.mark.parametrize("status,expected", [(None, "revoked"), (5, "revoked"), (1, "active")])
def test_a_subscriptions_facts_from_before_a_refund_do_not_undo_it_but_apples_status_does(system, status, expected):
    feed = system.subscribe([VERIFIED])
    now = int(time.time() * 1000)
    bought = made(system, "SUBSCRIBED", subtype="INITIAL_BUY", signedDate=now - 40_000)
    purchase = bought["originalTransactionId"]
    made(system, "REFUND", purchase, signedDate=now - 30_000)
    old = {"signedDate": now - 35_000, "revocationDate": None, "revocationType": None}
    made(system, "REFUND_DECLINED", purchase, signedDate=now - 20_000, transaction=old, data={"status": status})
    events = events_of(feed, purchase, 3)
    assert {event["data"]["notificationType"]: event["data"]["lifecycle"]["state"] for event in events} == {
        "SUBSCRIBED": "active", "REFUND": "revoked", "REFUND_DECLINED": expected}

    # Apple's answer to the look-up of the difference has the status 5.
    def subscription() -> dict:
        return system.call("Verifier", "GetSubscriptionState", {"originalTransactionId": purchase, "environment": "Production"})

    until = time.monotonic() + 30
    while subscription()["state"] != "revoked" and time.monotonic() < until:
        time.sleep(0.2)
    assert subscription()["state"] == "revoked" and "revocationDate" in subscription()
    assert len(subscription().get("settledGaps", [])) == (1 if status == 1 else 0)
    feed.delete()
