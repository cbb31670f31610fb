"""Histories of subscriptions from the simulator's signed notifications, read by RPC and from the feed."""

import json
import random
import time

import pytest

APP = "com.example.app"
VERIFIED, GAP = "appstore.notification.verified.v1", "appstore.subscription.gap.v1"


def play(system, *steps, **more) -> list[dict]:
    """The notifications of a story, oldest first."""
    answer = system.control("/control/notifications/story", {"bundleId": APP, "environment": "Production", "steps": list(steps), **more})
    return answer["notifications"]


def state_of(system, notifications: list[dict]) -> dict:
    return system.call("Verifier", "GetSubscriptionState", {
        "originalTransactionId": notifications[0]["originalTransactionId"], "environment": "Production"})


def events_of(feed, notifications: list[dict], count: int, seconds: float = 20) -> list[dict]:
    subscription = notifications[0]["originalTransactionId"]
    found: list[dict] = []
    until = time.monotonic() + seconds
    while len(found) < count and time.monotonic() < until:
        found += [event for event in feed.pull(wait=1) if subscription in json.dumps(event["data"])]
    return found


def test_a_whole_subscription_history_is_returned_step_by_step(system):
    feed = system.subscribe([VERIFIED])
    story = play(system, "buy", "renew", "grace", "recover", "cancel", "expire", "resubscribe", "refund", send=True)
    events = events_of(feed, story, len(story))
    assert [event["data"]["lifecycle"]["state"] for event in sorted(events, key=lambda event: event["data"]["signedDate"])] == [
        "active", "active", "grace-period", "active", "active-not-renewing", "expired", "active", "revoked"]
    state = state_of(system, story)
    assert state["state"] == "revoked" and state["hasAccess"] is False and state.get("gaps", []) == []
    assert [(step["notificationType"], step.get("subtype"), step["state"]) for step in state["notifications"]] == [
        ("SUBSCRIBED", "INITIAL_BUY", "active"), ("DID_RENEW", None, "active"), ("DID_FAIL_TO_RENEW", "GRACE_PERIOD", "grace-period"),
        ("DID_RENEW", "BILLING_RECOVERY", "active"), ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", "active-not-renewing"),
        ("EXPIRED", "VOLUNTARY", "expired"), ("SUBSCRIBED", "RESUBSCRIBE", "active"), ("REFUND", None, "revoked")]
    feed.delete()


def test_arrival_order_and_repeats_change_only_the_flags(system):
    story = play(system, "buy", "fail", "recover", "cancel", "resume", "cancel", "expire", send=False)
    feed = system.subscribe([VERIFIED])
    order = list(story) + story[:3]
    random.Random(7).shuffle(order)
    for notification in order:
        system.control("/control/notifications/send", {"notificationUUID": notification["notificationUUID"]})
    events = events_of(feed, story, len(story))
    assert len(events) == len(story)
    state = state_of(system, story)
    assert state["state"] == "expired" and state.get("gaps", []) == []
    assert [step["notificationUUID"].lower() for step in state["notifications"]] == [
        notification["notificationUUID"].lower() for notification in story]
    late = {step["notificationUUID"]: step["late"] for step in state["notifications"]}
    assert any(late.values()) and not all(late.values())
    for event in events:
        assert event["data"]["lifecycle"]["late"] == late[event["data"]["notificationUUID"].lower()]
    feed.delete()


def test_a_missing_step_becomes_one_gap_event_and_a_late_one_in_time_none(system):
    feed = system.subscribe([GAP])
    missed = play(system, "buy", {"step": "cancel", "send": False}, "expire", send=True)
    repaired = play(system, "buy", {"step": "cancel", "send": False}, "expire", send=True)
    # It arrives before the wait for late notifications is over.
    system.control("/control/notifications/send", {"notificationUUID": repaired[1]["notificationUUID"]})
    events = events_of(feed, missed, 1)
    assert len(events) == 1
    gap = events[0]["data"]
    assert gap["originalTransactionId"] == missed[0]["originalTransactionId"] and gap["gap"]["rules"] == ["entry-required"]
    # The state shows the same gap, unless Apple was queried already and the gap is closed.
    assert state_of(system, missed).get("gaps", [gap["gap"]]) == [gap["gap"]]
    assert events[0]["subject"] == APP and gap["state"] == "expired"
    assert gap["gap"]["shownBy"] == missed[2]["notificationUUID"].lower()
    assert events_of(feed, repaired, 1, seconds=5) == []
    assert state_of(system, repaired).get("gaps", []) == []
    # The late notification of the first one closes its gap too.
    system.control("/control/notifications/send", {"notificationUUID": missed[1]["notificationUUID"]})
    until = time.monotonic() + 10
    while state_of(system, missed).get("gaps") and time.monotonic() < until:
        time.sleep(0.1)
    assert state_of(system, missed).get("gaps", []) == []
    feed.delete()


def test_an_unknown_subscription_is_not_found_and_a_wrong_field_is_refused_by_its_name(system):
    def ask(message):
        return system.rpc("Verifier", "GetSubscriptionState", message)

    assert ask({"originalTransactionId": "nobody", "environment": "Production"}).status == 404
    for message, field in (({}, "originalTransactionId"), ({"originalTransactionId": "1"}, "environment"),
                           ({"originalTransactionId": "1", "environment": "Moon"}, "environment"),
                           ({"originalTransactionId": "1" * 65, "environment": "Sandbox"}, "originalTransactionId")):
        answer = ask(message)
        assert answer.status == 400 and f'"{field}"' in answer.body.decode(), answer


def migrated(system, story: list[dict], *, send: bool = True) -> tuple[dict, dict]:
    """The subscription continues under a new id and ends there."""
    now = max(int(time.time() * 1000), *(notification["signedDate"] for notification in story))
    one = {"bundleId": APP, "environment": "Production", "send": send, "renewal": {"autoRenewStatus": 0},
           "transaction": {"previousOriginalTransactionId": story[0]["originalTransactionId"]}}
    migration = system.control("/control/notifications", {**one, "notificationType": "MIGRATION", "signedDate": now + 1000})
    end = system.control("/control/notifications", {
        **one, "notificationType": "EXPIRED", "subtype": "VOLUNTARY", "signedDate": now + 2000,
        "originalTransactionId": migration["originalTransactionId"]})
    return migration, end


def wait_for(condition, seconds: float = 20):
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.1)
    assert condition()


def test_a_migration_joins_the_histories_of_both_ids(system):
    story = play(system, "buy", "cancel", send=True)
    migration, _end = migrated(system, story)
    old, new = story[0]["originalTransactionId"], migration["originalTransactionId"]
    assert old != new
    # Nothing is known about the new id before the migration is reported.
    wait_for(lambda: len(state_of(system, story)["notifications"]) == 4 and state_of(system, [migration])["state"] == "expired")
    for known in (story, [migration]):
        state = state_of(system, known)
        assert state["state"] == "expired" and state.get("gaps", []) == [] and state["originalTransactionIds"] == [old, new]
        assert [(step["notificationType"], step["originalTransactionId"], step["state"]) for step in state["notifications"]] == [
            ("SUBSCRIBED", old, "active"), ("DID_CHANGE_RENEWAL_STATUS", old, "active-not-renewing"),
            ("MIGRATION", new, "active-not-renewing"), ("EXPIRED", new, "expired")]
    assert state_of(system, story)["transactionId"] == state_of(system, [migration])["transactionId"]


def test_a_step_under_the_old_id_that_comes_after_the_migration_closes_the_gap_under_the_new_one(system):
    feed = system.subscribe([VERIFIED])
    story = play(system, "buy", {"step": "cancel", "send": False}, send=True)
    migration, end = migrated(system, story, send=False)
    old, new = story[0]["originalTransactionId"], migration["originalTransactionId"]
    for notification in (end, migration, story[1]):
        system.control("/control/notifications/send", {"notificationUUID": notification["notificationUUID"]})
        uuid = notification["notificationUUID"].lower()
        wait_for(lambda uuid=uuid: uuid in json.dumps(state_of(system, story)).lower())
    events = {event["data"]["notificationUUID"].lower(): event["data"]["lifecycle"] for event in events_of(feed, story, 4)}
    late = events[story[1]["notificationUUID"].lower()]
    assert late["late"] is True and late["continuedAs"] == new and late["state"] == "expired" and late["hasAccess"] is False
    assert events[migration["notificationUUID"].lower()]["previousOriginalTransactionId"] == old
    state = state_of(system, story)
    assert state["state"] == "expired" and state.get("gaps", []) == []
    feed.delete()


def test_an_unannounced_price_is_a_gap_until_the_announcement_arrives(system):
    reported = play(system, "buy", "price-accepted", "renew", send=True)
    silent = play(system, "buy", {"step": "price-accepted", "send": False}, "renew", send=True)
    wait_for(lambda: len(state_of(system, reported)["notifications"]) == 3 and len(state_of(system, silent)["notifications"]) == 2)
    assert state_of(system, reported).get("gaps", []) == []
    for gap in state_of(system, silent).get("gaps", []):
        # Unless Apple was queried already and the gap is closed.
        assert gap["rules"] == ["changed-fact"] and gap["missing"] == "PRICE_INCREASE"
    system.control("/control/notifications/send", {"notificationUUID": silent[1]["notificationUUID"]})
    wait_for(lambda: not state_of(system, silent).get("gaps") and len(state_of(system, silent)["notifications"]) >= 3)


@pytest.mark.parametrize("step,days", [("cancel", 30), ("grace", 46)])
def test_access_ends_at_the_date_that_apple_named_whether_or_not_a_notification_comes(system, step, days):
    feed = system.subscribe([VERIFIED])
    # The period of 30 days, or the 16 days of grace after it, ended an hour ago.
    story = play(system, "buy", step, send=True, startDate=int(time.time() * 1000) - days * 86_400_000 - 3_600_000)
    last = story[-1]["notificationUUID"]
    event = next(event for event in events_of(feed, story, 2) if event["data"]["notificationUUID"] == last)
    assert event["data"]["lifecycle"]["hasAccess"] is False, event["data"]["lifecycle"]
    state = state_of(system, story)
    assert state["hasAccess"] is False and state["state"] != "expired", state
    feed.delete()


@pytest.mark.parametrize("is_known", [True, False])
def test_the_refund_of_an_older_period_does_not_end_the_subscription(system, is_known):
    """The first period is refunded in the second. The renewal was missed, or nothing at all was received before the refund."""
    feed = system.subscribe([VERIFIED])
    story = play(system, {"step": "buy", "history": is_known}, {"step": "renew", "send": False, "history": False}, send=is_known)
    now, first = int(time.time() * 1000), story[0]["originalTransactionId"]
    # A period of the simulator has 30 days.
    refund = system.control("/control/notifications", {
        "bundleId": APP, "environment": "Production", "originalTransactionId": first, "send": True,
        "notificationType": "CONSUMPTION_REQUEST", "payload": {"notificationType": "REFUND"},
        "transaction": {"transactionId": first, "purchaseDate": now - 30 * 86_400_000, "expiresDate": now - 1000, "revocationDate": now}})
    event = next(event for event in events_of(feed, story, 1 + is_known) if event["data"]["notificationType"] == "REFUND")
    assert event["data"]["payload"]["data"]["status"] == 1
    assert event["data"]["lifecycle"]["state"] == "active" and event["data"]["lifecycle"]["hasAccess"] is True
    state = state_of(system, story)
    assert state["state"] == "active" and state["hasAccess"] is True and state.get("transactionId") != first
    shown = [gap["shownBy"] for gap in state.get("gaps", [])] + state.get("settledGaps", [])
    assert shown == [refund["notificationUUID"].lower()]
    feed.delete()


def test_a_downgrade_names_the_product_of_the_next_period(system):
    story = play(system, "buy", "downgrade", send=True)
    wait_for(lambda: len(state_of(system, story)["notifications"]) == 2)
    state = state_of(system, story)
    assert state["autoRenewProductId"] == state["productId"] + ".lite"
    system.control("/control/notifications", {
        "bundleId": APP, "environment": "Production", "notificationType": "DID_CHANGE_RENEWAL_PREF", "send": True,
        "originalTransactionId": story[0]["originalTransactionId"]})
    wait_for(lambda: state_of(system, story)["autoRenewProductId"] == state["productId"])
