"""Apple's status in a notification outranks what the steps of a subscription's history lead to; a difference is a gap."""

import json
import time

import pytest

APP, DAY = "com.example.app", 86_400_000
VERIFIED, GAP = "appstore.notification.verified.v1", "appstore.subscription.gap.v1"


def play(system, *steps, **more) -> list[dict]:
    """The notifications of a story, oldest first."""
    answer = system.control("/control/notifications/story", {
        "bundleId": APP, "environment": "Production", "steps": list(steps), "send": True, **more})
    return answer["notifications"]


def say(system, story: list[dict], type: str, **more) -> dict:
    """A notification about the subscription. It has the status 1, unless `data` names another one, and the facts of the newest period."""
    return system.control("/control/notifications", {
        "bundleId": APP, "environment": "Production", "originalTransactionId": story[0]["originalTransactionId"], "send": True,
        "notificationType": "CONSUMPTION_REQUEST", **more, "payload": {"notificationType": type, **more.get("payload", {})}})


def state_of(system, story: list[dict]) -> dict:
    return system.call("Verifier", "GetSubscriptionState", {
        "originalTransactionId": story[0]["originalTransactionId"], "environment": "Production"})


class Events:
    """The events about one subscription."""

    def __init__(self, system):
        self.feed = system.subscribe([VERIFIED, GAP])
        self.events: list[dict] = []

    def pull(self, story: list[dict], seconds: float, enough) -> list[dict]:
        until = time.monotonic() + seconds
        while True:
            found = [event for event in self.events if story[0]["originalTransactionId"] in json.dumps(event["data"])]
            if enough(found) or time.monotonic() > until:
                return found
            self.events += self.feed.pull(wait=1)

    def of(self, story: list[dict], notification: dict) -> dict:
        """The lifecycle in the event of the notification."""
        def has(event: dict) -> bool:
            return event["data"].get("notificationUUID") == notification["notificationUUID"]

        found = self.pull(story, 20, lambda events: any(has(event) for event in events))
        return next(event for event in found if has(event))["data"]["lifecycle"]

    def gaps(self, story: list[dict], seconds: float) -> list[dict]:
        found = self.pull(story, seconds, lambda events: any(event["type"] == GAP for event in events))
        return [event["data"] for event in found if event["type"] == GAP]


@pytest.fixture
def events(system):
    events = Events(system)
    yield events
    events.feed.delete()


def test_after_a_lost_upgrade_the_refund_of_the_yearly_period_with_status_1_is_a_gap_and_no_end(system, events):
    lost = {"step": "upgrade", "send": False, "history": False}
    story = play(system, "buy", lost, periodDays=365, startDate=int(time.time() * 1000) - 60 * DAY)
    now, first = int(time.time() * 1000), story[0]["originalTransactionId"]
    refund = say(system, story, "REFUND", transaction={
        "transactionId": first, "productId": APP + ".monthly", "purchaseDate": now - 60 * DAY, "expiresDate": now + 305 * DAY,
        "revocationDate": now}, renewal={"renewalDate": now + 30 * DAY})
    lifecycle = events.of(story, refund)
    assert (lifecycle["state"], lifecycle["hasAccess"]) == ("active", True), lifecycle
    gap, = events.gaps(story, 20)
    assert gap["gap"]["rules"] == ["changed-fact"] and gap["gap"]["shownBy"] == refund["notificationUUID"].lower() and gap["state"] == "active"

    # Apple's answer has the transaction of the upgrade.
    def is_settled() -> bool:
        return state_of(system, story).get("settledGaps", []) == [gap["gap"]["id"]]

    until = time.monotonic() + 30
    while not is_settled() and time.monotonic() < until:
        time.sleep(0.2)
    state = state_of(system, story)
    assert is_settled() and (state["state"], state["hasAccess"], state.get("gaps", [])) == ("active", True, []), state
    assert state["transactionId"] not in (first, None) and state["productId"].endswith(".plus") and "revocationDate" not in state


def test_of_two_transactions_of_a_period_the_refund_of_the_added_one_ends_nothing_and_is_no_gap(system, events):
    story = play(system, "buy", startDate=int(time.time() * 1000) - 5 * DAY)
    now, first = int(time.time() * 1000), story[0]["originalTransactionId"]
    refund = say(system, story, "REFUND", transaction={
        "transactionId": first + "7", "purchaseDate": now - DAY, "revocationDate": now, "additionalTransactionReason": "SEAT_ADDITION"})
    lifecycle = events.of(story, refund)
    assert (lifecycle["state"], lifecycle["hasAccess"]) == ("active", True), lifecycle
    state = state_of(system, story)
    assert (state["state"], state["hasAccess"], state["transactionId"]) == ("active", True, first) and "revocationDate" not in state, state
    # Longer than the wait for late notifications.
    assert events.gaps(story, 6) == []
    assert state_of(system, story).get("gaps", []) == state_of(system, story).get("settledGaps", []) == []


def test_a_refund_under_the_next_id_is_reversed_under_the_known_one(system, events):
    story = play(system, "buy")
    now, first = int(time.time() * 1000), story[0]["originalTransactionId"]
    refund = say(system, story, "REFUND", signedDate=now, data={"status": 5}, transaction={
        "transactionId": str(int(first) + 1), "revocationDate": now})
    assert events.of(story, refund)["hasAccess"] is False
    reversal = say(system, story, "REFUND_REVERSED", signedDate=now + 1000)
    lifecycle = events.of(story, reversal)
    assert (lifecycle["state"], lifecycle["hasAccess"]) == ("active", True), lifecycle
    state = state_of(system, story)
    assert (state["state"], state["hasAccess"], state["transactionId"]) == ("active", True, first), state
    assert "revocationDate" not in state and state.get("gaps", []) == []


@pytest.mark.parametrize("status,expected,has_access", [(1, "active", True), (3, "billing-retry", False), (4, "grace-period", True)])
@pytest.mark.parametrize("type", ["REFUND", "REVOKE"])
def test_a_revocation_with_the_status_of_a_subscription_that_goes_on_is_a_gap(system, events, type, status, expected, has_access):
    story = play(system, "buy")
    now = int(time.time() * 1000)
    revoked = say(system, story, type, data={"status": status}, transaction={"revocationDate": now})
    lifecycle = events.of(story, revoked)
    assert (lifecycle["state"], lifecycle["hasAccess"]) == (expected, has_access), lifecycle
    gap, = events.gaps(story, 20)
    assert gap["gap"]["rules"] == ["changed-fact"], gap
    # The simulator answers with the status 1.
    until = time.monotonic() + 30
    while state_of(system, story)["source"] != "status" and time.monotonic() < until:
        time.sleep(0.2)
    state = state_of(system, story)
    assert (state["state"], state["hasAccess"]) == ("active", True) and "revocationDate" not in state, state


@pytest.mark.parametrize("status", [6, "5", None])
def test_a_status_that_cannot_be_used_counts_as_none(system, events, status):
    story = play(system, "buy")
    refund = say(system, story, "REFUND", data={"status": status}, transaction={"revocationDate": int(time.time() * 1000)})
    assert events.of(story, refund)["state"] == "revoked"
    assert state_of(system, story).get("gaps", []) == []
