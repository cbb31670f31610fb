"""Gaps in subscriptions' histories: looked up at Apple, and closed by missed notifications or by Apple's status."""

import base64
import json
import time

import pytest

from SystemTests.support.second_instance import second_instance
from SystemTests.support.short_lease import short_lease

APP = "com.example.app"
DAY = 86_400_000
VERIFIED, GAP = "appstore.notification.verified.v1", "appstore.subscription.gap.v1"
OBSERVED, TRANSACTION = "appstore.subscription.observed.v1", "appstore.transaction.observed.v1"


def play(system, *steps, **more) -> list[dict]:
    """Creates a story of notifications in the simulator; returns them."""
    answer = system.control("/control/notifications/story", {"bundleId": APP, "environment": "Production", "steps": list(steps), **more})
    return answer["notifications"]


def state_of(system, notifications: list[dict]) -> dict:
    return system.call("Verifier", "GetSubscriptionState", {
        "originalTransactionId": notifications[0]["originalTransactionId"], "environment": "Production"})


def gaps_of(system, notifications: list[dict]) -> list[dict]:
    subscription = notifications[0]["originalTransactionId"]
    found, token = [], None
    while True:
        page = system.call("Recovery", "ListGaps", {"bundleId": APP, "maxGaps": 2, **({"pageToken": token} if token else {})})
        assert len(page.get("gaps", [])) <= 2
        found += page.get("gaps", [])
        token = page.get("nextPageToken")
        if token is None:
            return [gap for gap in found if gap["originalTransactionId"] == subscription]


def ended(system, notifications: list[dict], seconds: float = 60) -> dict:
    until = time.monotonic() + seconds
    while True:
        gaps = gaps_of(system, notifications)
        if gaps and all(gap["state"] != "suspected" for gap in gaps):
            assert len(gaps) == 1
            return gaps[0]
        assert time.monotonic() < until, gaps
        time.sleep(0.2)


class StoriesWithGaps:
    """Stories with missing steps, and all events about them."""

    def __init__(self, system):
        self.system, self.feed = system, system.subscribe([VERIFIED, GAP, OBSERVED, TRANSACTION])
        self.events: list[dict] = []
        start = int(time.time() * 1000) - 35 * DAY
        unsent, unknown = {"send": False}, {"send": False, "history": False}
        self.missed = play(system, "buy", {"step": "cancel", **unsent}, "expire", send=True)
        # Treated as older than Apple's history, which never has it.
        self.lost = play(system, "buy", {"step": "renew", **unknown}, "refund-declined", send=True)
        # Expired for five days: one expiry is in Apple's history, for the others there is only the status.
        self.silent = play(system, "buy", "cancel", {"step": "expire", **unsent}, send=True, startDate=start)
        self.silent_lost = play(system, "buy", "cancel", {"step": "expire", **unknown}, send=True, startDate=start)
        self.silent_renewed = play(system, "buy", {"step": "renew", **unknown}, send=True, startDate=start)

    def about(self, story: list[dict], count: int) -> list[dict]:
        """Its events; waits for this number, and a moment longer."""
        def found() -> list[dict]:
            return [event for event in self.events if story[0]["originalTransactionId"] in str(event["data"])]

        until = time.monotonic() + 20
        while len(found()) < count and time.monotonic() < until:
            self.events += self.feed.pull(wait=1)
        self.events += self.feed.pull(wait=0.3)
        return found()


@pytest.fixture(scope="module")
def stories(system):
    stories = StoriesWithGaps(system)
    yield stories
    stories.feed.delete()


def test_missed_notifications_are_recovered_from_apples_history_and_close_their_gap(system, stories):
    story = stories.missed
    gap = ended(system, story)
    assert (gap["state"], gap["repairedBy"], gap["notifications"]) == ("recovered", "notifications", 1), gap
    assert gap["rule"] == "entry-required" and gap["missing"] == "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED"
    assert gap["shownBy"] == story[2]["notificationUUID"].lower() and gap["observedState"] == "expired"
    state = state_of(system, story)
    assert state.get("gaps", []) == [] and state.get("settledGaps", []) == [] and state["source"] == "notifications"
    assert [step["notificationType"] for step in state["notifications"]] == ["SUBSCRIBED", "DID_CHANGE_RENEWAL_STATUS", "EXPIRED"]
    events = stories.about(story, 4)
    assert sorted(event["type"] for event in events) == sorted([GAP] + [VERIFIED] * 3)
    back = next(event for event in events if event["data"].get("notificationUUID") == story[1]["notificationUUID"])
    assert back["data"]["source"] == "recovery"


def test_a_gap_without_history_is_closed_by_the_status_and_reported_as_lost(system, stories):
    story = stories.lost
    gap = ended(system, story)
    assert (gap["state"], gap["repairedBy"], gap["observedState"]) == ("unrecoverable", "status", "active"), gap
    assert gap.get("notifications", 0) == 0 and "period-continuity" in gap["rules"]
    state = state_of(system, story)
    assert state["state"] == "active" and state["source"] == "status" and state.get("gaps", []) == []
    assert state["settledGaps"] == [gap["gapId"]]
    assert state["notifications"][-1]["notificationType"] == "STATUS_OBSERVED"
    events = stories.about(story, 5)
    # The period that was renewed without a notification is also on the feed, as a transaction.
    assert sorted(event["type"] for event in events) == sorted([VERIFIED, VERIFIED, GAP, OBSERVED, TRANSACTION])
    observed = next(event for event in events if event["type"] == OBSERVED)
    assert observed["subject"] == APP and observed["data"]["status"] == 1 and observed["data"]["lifecycle"]["state"] == "active"
    assert observed["data"]["gap"]["id"] == gap["gapId"] and observed["data"]["renewalInfo"]["autoRenewStatus"] == 1


def test_silence_after_the_expiry_is_detected_and_resolved_by_apples_status(system, stories):
    gap = ended(system, stories.silent)
    assert gap["rules"] == ["silence"] and gap["missing"] == "DID_RENEW or EXPIRED" and "shownBy" not in gap
    assert (gap["state"], gap["repairedBy"], gap["observedState"]) == ("recovered", "notifications", "expired"), gap
    gap = ended(system, stories.silent_lost)
    assert (gap["state"], gap["repairedBy"], gap["observedState"]) == ("unrecoverable", "status", "expired"), gap
    state = state_of(system, stories.silent_lost)
    assert state["state"] == "expired" and state.get("gaps", []) == []
    gap = ended(system, stories.silent_renewed)
    assert (gap["repairedBy"], gap["observedState"]) == ("status", "active"), gap
    state = state_of(system, stories.silent_renewed)
    assert state["state"] == "active" and state["hasAccess"] is True and state["source"] == "status"
    for story, expected in ((stories.silent, [GAP, VERIFIED, VERIFIED, VERIFIED]), (stories.silent_lost, [VERIFIED, VERIFIED, GAP, OBSERVED]),
                            (stories.silent_renewed, [VERIFIED, GAP, OBSERVED, TRANSACTION])):
        assert sorted(event["type"] for event in stories.about(story, 4)) == sorted(expected)


def test_two_instances_look_each_gap_up_once(system):
    with second_instance(system, "notification-recovery"), second_instance(system, "verifier"):
        stories = [play(system, "buy", {"step": "cancel", "send": False, "history": False}, "expire", send=True) for _ in range(6)]
        for story in stories:
            assert ended(system, story)["state"] == "unrecoverable"
    calls = [call["path"] for call in system.control("/control/app-store-calls?limit=100000")["calls"]]
    for story in stories:
        assert len([path for path in calls if path.endswith("/inApps/v1/subscriptions/" + story[0]["originalTransactionId"])]) == 1


def test_a_gap_survives_failures_of_apple_and_a_killed_instance_and_is_settled_once(system):
    with short_lease(system, "notification-recovery"):
        feed = system.subscribe([GAP, OBSERVED, VERIFIED])
        system.control("/control/faults", {"route": "subscriptionStatuses", "count": 2, "status": 500, "body": {"errorCode": 5000000}})
        system.control("/control/faults", {"route": "notificationHistory", "count": 4, "reset": True})
        story = play(system, "buy", {"step": "cancel", "send": False, "history": False}, "expire", send=True)
        until = time.monotonic() + 30
        while not gaps_of(system, story) and time.monotonic() < until:
            time.sleep(0.1)
        try:
            system.service("kill", "notification-recovery")
            system.service("start", "notification-recovery")
            gap = ended(system, story, seconds=120)
        finally:
            system.control("/control/faults", {"clear": True})
        assert (gap["state"], gap["repairedBy"]) == ("unrecoverable", "status"), gap
        events = [event for event in feed.wait_for(4, settle=1) if story[0]["originalTransactionId"] in str(event["data"])]
        assert sorted(event["type"] for event in events) == sorted([GAP, VERIFIED, VERIFIED, OBSERVED])
        feed.delete()


def inner(notification: dict, name: str) -> str:
    """A JWS in a notification."""
    payload = notification["signedPayload"].split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["data"][name]


def broken(jws: str) -> str:
    head, payload, signature = jws.split(".")
    return f"{head}.{payload}.{signature[::-1]}"


@pytest.mark.parametrize("kind", ["nameless", "renewal", "broken"])
def test_signed_data_that_is_not_as_expected_does_not_hold_up_the_look_up_of_a_gap(system, kind):
    feed = system.subscribe([GAP, OBSERVED, TRANSACTION])
    missing = {"send": False, "history": False}
    story = play(system, {"step": "buy", **missing}, {"step": "renew", **missing, "transaction": {"bundleId": None}},
                 {"step": "refund-declined", **missing}, send=False)
    original = story[0]["originalTransactionId"]
    nameless, other, renewal = inner(story[1], "signedTransactionInfo"), inner(story[2], "signedTransactionInfo"), inner(
        story[2], "signedRenewalInfo")
    status = {"nameless": {"signedTransactionInfo": nameless, "signedRenewalInfo": renewal},
              "renewal": {"signedTransactionInfo": other, "signedRenewalInfo": broken(renewal)},
              "broken": {"signedTransactionInfo": broken(other), "signedRenewalInfo": renewal}}[kind]
    for path, body in (
            (f"/production/inApps/v1/subscriptions/{original}", {"data": [{"lastTransactions": [
                {"originalTransactionId": original, "status": 1, **status}]}]}),
            (f"/production/inApps/v2/history/{original}", {"signedTransactions": [broken(other), nameless], "hasMore": False, "revision": "r"})):
        system.control("/control/faults", {"route": path, "count": 100, "status": 200, "body": body})
    try:
        for one in (story[0], story[2]):
            system.control("/control/notifications/send", {"notificationUUID": one["notificationUUID"]})
        gap = ended(system, story)
    finally:
        system.control("/control/faults", {"clear": True})
    assert gap["state"] == "unrecoverable", gap
    # What is wrong is told; the transaction that names no app is on the feed.
    assert "number 1" in gap["lastError"] or kind == "broken", gap
    expected = [GAP, TRANSACTION] + ([OBSERVED] if kind != "broken" else [])
    events = [event for event in feed.wait_for(len(expected), settle=2) if original in str(event["data"])]
    assert sorted(event["type"] for event in events) == sorted(expected), events
    found = next(event for event in events if event["type"] == TRANSACTION)["data"]
    assert found["bundleId"] == APP and "bundleId" not in found["transactionInfo"] and found["gapId"] == gap["gapId"]
    if kind == "broken":
        assert "cannot be verified" in gap["lastError"] and "repairedBy" not in gap, gap
    else:
        assert gap["repairedBy"] == "status" and gap["observedState"] == "active", gap
        observed = next(event for event in events if event["type"] == OBSERVED)["data"]
        assert ("renewalInfo" in observed) is (kind == "nameless") and observed["bundleId"] == APP
    feed.delete()


def test_list_gaps_refuses_a_wrong_field_by_its_name(system):
    for message, field in (({}, "bundleId"), ({"bundleId": APP, "maxGaps": 0}, "maxGaps"), ({"bundleId": APP, "maxGaps": 1001}, "maxGaps"),
                           ({"bundleId": APP, "pageToken": "x"}, "pageToken"), ({"bundleId": APP, "state": "lost"}, "state")):
        answer = system.rpc("Recovery", "ListGaps", message)
        assert answer.status == 400 and f'"{field}"' in answer.body.decode(), answer
    assert system.rpc("Recovery", "ListGaps", {"bundleId": "com.example.other"}).status == 404


def test_interrupted_paging_is_not_mistaken_for_a_complete_history(system):
    system.control("/control/faults", {"route": "notificationHistory", "count": 1, "status": 200,
                                       "body": {"notificationHistory": [], "hasMore": True}})
    try:
        gap = ended(system, play(system, "buy", {"step": "cancel", "send": False}, "expire", send=True))
    finally:
        system.control("/control/faults", {"clear": True})
    assert (gap["state"], gap["repairedBy"], gap["notifications"]) == ("recovered", "notifications", 1), gap


def test_a_permanent_refusal_of_apple_ends_the_look_up_with_its_error_number(system):
    def refused(code: int) -> tuple[list[dict], dict]:
        system.control("/control/faults", {"route": "subscriptionStatuses", "count": 1, "status": code // 10_000,
                                           "body": {"errorCode": code, "errorMessage": "Refused."}})
        try:
            story = play(system, "buy", {"step": "cancel", "send": False, "history": False}, "expire", send=True)
            return story, ended(system, story, seconds=30)
        finally:
            system.control("/control/faults", {"clear": True})

    story, gap = refused(4_000_006)
    assert gap["state"] == "unrecoverable" and "4000006" in gap["lastError"], gap
    # It is settled in the history too, so the next notification of the subscription does not report it again.
    state = state_of(system, story)
    assert state["settledGaps"] == [gap["gapId"]] and state.get("gaps", []) == [], state
    system.control("/control/notifications", {
        "bundleId": APP, "environment": "Production", "notificationType": "SUBSCRIBED", "subtype": "RESUBSCRIBE", "send": True,
        "originalTransactionId": story[0]["originalTransactionId"]})
    until = time.monotonic() + 20
    while state_of(system, story)["state"] != "active":
        assert time.monotonic() < until
        time.sleep(0.1)
    assert gaps_of(system, story) == [gap]
    # An account that Apple does not know has the same effect as an unknown transaction.
    _, gap = refused(4_040_001)
    assert gap["state"] == "unrecoverable" and "4040001" not in gap.get("lastError", ""), gap
