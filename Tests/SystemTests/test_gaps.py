"""Gaps in subscriptions' lives: looked up at Apple, filled by what was missed, or mended by Apple's word on the state."""

import time

APP = "com.example.app"
DAY = 86_400_000
VERIFIED, GAP = "appstore.notification.verified.v1", "appstore.subscription.gap.v1"
OBSERVED, TRANSACTION = "appstore.subscription.observed.v1", "appstore.transaction.observed.v1"


def play(system, *steps, **more) -> list[dict]:
    answer = system.control("/control/notifications/story", {"bundleId": APP, "environment": "Production", "steps": list(steps), **more})
    return answer["notifications"]


def life(system, notifications: list[dict]) -> dict:
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


def ended(system, notifications: list[dict], count: int = 1, seconds: float = 60) -> list[dict]:
    until = time.monotonic() + seconds
    while True:
        gaps = gaps_of(system, notifications)
        if len(gaps) >= count and all(gap["state"] != "suspected" for gap in gaps):
            return gaps
        assert time.monotonic() < until, gaps
        time.sleep(0.3)


def events_about(feed, notifications: list[dict], seconds: float = 2) -> list[dict]:
    """What has come by now; waits while something still comes."""
    subscription, found = notifications[0]["originalTransactionId"], []
    while received := feed.pull(wait=seconds):
        found += [event for event in received if subscription in str(event["data"])]
    return found


def test_missed_notifications_come_back_from_apple_s_history_and_close_their_gap(system):
    feed = system.subscribe([VERIFIED, GAP, OBSERVED])
    story = play(system, "buy", {"step": "cancel", "send": False}, "expire", send=True)
    gap = ended(system, story)[0]
    assert (gap["state"], gap["repairedBy"], gap["notifications"]) == ("recovered", "notifications", 1), gap
    assert gap["rule"] == "entry-required" and gap["missing"] == "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED"
    assert gap["shownBy"] == story[2]["notificationUUID"].lower() and gap["observedState"] == "expired"
    state = life(system, story)
    assert state.get("gaps", []) == [] and state.get("settledGaps", []) == [] and state["source"] == "notifications"
    assert [step["notificationType"] for step in state["notifications"]] == ["SUBSCRIBED", "DID_CHANGE_RENEWAL_STATUS", "EXPIRED"]
    events = events_about(feed, story)
    assert sorted(event["type"] for event in events) == sorted([GAP] + [VERIFIED] * 3)
    back = next(event for event in events if event["data"].get("notificationUUID") == story[1]["notificationUUID"])
    assert back["data"]["source"] == "recovery"
    feed.delete()


def test_what_apple_s_history_does_not_have_is_mended_by_the_status_and_said_to_be_lost(system):
    feed = system.subscribe([GAP, OBSERVED])
    # The renewals are older than Apple's memory, so to say: never in its history.
    lost = {"step": "renew", "send": False, "history": False}
    story = play(system, "buy", lost, {"step": "refund-declined"}, send=True)
    gap = ended(system, story)[0]
    assert (gap["state"], gap["repairedBy"], gap["observedState"]) == ("unrecoverable", "status", "active"), gap
    assert gap.get("notifications", 0) == 0 and "period-continuity" in gap["rules"]
    state = life(system, story)
    assert state["state"] == "active" and state["source"] == "status" and state.get("gaps", []) == []
    assert state["settledGaps"] == [gap["gapId"]]
    assert state["notifications"][-1]["notificationType"] == "STATUS_OBSERVED"
    events = events_about(feed, story)
    assert sorted(event["type"] for event in events) == [GAP, OBSERVED]
    observed = next(event for event in events if event["type"] == OBSERVED)
    assert observed["subject"] == APP and observed["data"]["status"] == 1 and observed["data"]["lifecycle"]["state"] == "active"
    assert observed["data"]["gap"]["id"] == gap["gapId"] and observed["data"]["renewalInfo"]["autoRenewStatus"] == 1
    feed.delete()


def test_silence_past_the_end_is_noticed_by_itself_and_ended_by_apple_s_word(system):
    feed = system.subscribe([VERIFIED, GAP, OBSERVED, TRANSACTION])
    start = int(time.time() * 1000) - 35 * DAY
    # It expired five days ago. One expiry is in Apple's history, of the other only the status tells.
    known = play(system, "buy", {"step": "cancel"}, {"step": "expire", "send": False}, send=True, startDate=start)
    lost = play(system, "buy", {"step": "cancel"}, {"step": "expire", "send": False, "history": False}, send=True, startDate=start)
    renewed = play(system, "buy", {"step": "renew", "send": False, "history": False}, send=True, startDate=start)
    gap = ended(system, known)[0]
    assert gap["rules"] == ["silence"] and gap["missing"] == "DID_RENEW or EXPIRED" and gap["shownBy"] == ""
    assert (gap["state"], gap["repairedBy"], gap["observedState"]) == ("recovered", "notifications", "expired"), gap
    gap = ended(system, lost)[0]
    assert (gap["state"], gap["repairedBy"], gap["observedState"]) == ("unrecoverable", "status", "expired"), gap
    assert life(system, lost)["state"] == "expired" and life(system, lost).get("gaps", []) == []
    gap = ended(system, renewed)[0]
    assert (gap["repairedBy"], gap["observedState"]) == ("status", "active"), gap
    state = life(system, renewed)
    assert state["state"] == "active" and state["hasAccess"] is True and state["source"] == "status"
    events = feed.wait_for(1, settle=2)
    mine = {story[0]["originalTransactionId"]: [] for story in (known, lost, renewed)}
    for event in events:
        original = event["data"].get("originalTransactionId") or event["data"]["transactionInfo"]["originalTransactionId"]
        mine[original].append(event["type"])
    assert sorted(mine[known[0]["originalTransactionId"]]) == sorted([GAP, VERIFIED, VERIFIED, VERIFIED])
    assert sorted(mine[lost[0]["originalTransactionId"]]) == sorted([VERIFIED, VERIFIED, GAP, OBSERVED])
    # The period that was renewed without a word is on the feed too, as a transaction.
    assert sorted(mine[renewed[0]["originalTransactionId"]]) == sorted([VERIFIED, GAP, OBSERVED, TRANSACTION])
    feed.delete()


def test_a_gap_waits_for_apple_and_for_a_killed_instance_and_is_settled_once(system):
    feed = system.subscribe([GAP, OBSERVED, VERIFIED])
    system.control("/control/faults", {"route": "subscriptionStatuses", "count": 2, "status": 500, "body": {"errorCode": 5000000}})
    system.control("/control/faults", {"route": "notificationHistory", "count": 4, "reset": True})
    story = play(system, "buy", {"step": "cancel", "send": False, "history": False}, "expire", send=True)
    until = time.monotonic() + 30
    while not gaps_of(system, story) and time.monotonic() < until:
        time.sleep(0.1)
    system.service("kill", "notification-recovery")
    system.service("start", "notification-recovery")
    try:
        gap = ended(system, story, seconds=120)[0]
    finally:
        system.control("/control/faults", {"clear": True})
    assert (gap["state"], gap["repairedBy"]) == ("unrecoverable", "status"), gap
    assert sorted(event["type"] for event in events_about(feed, story)) == sorted([GAP, VERIFIED, VERIFIED, OBSERVED])
    feed.delete()


def test_fields_of_list_gaps_are_named(system):
    for message, field in (({}, "bundleId"), ({"bundleId": APP, "maxGaps": 0}, "maxGaps"), ({"bundleId": APP, "maxGaps": 1001}, "maxGaps"),
                           ({"bundleId": APP, "pageToken": "x"}, "pageToken"), ({"bundleId": APP, "state": "lost"}, "state")):
        answer = system.rpc("Recovery", "ListGaps", message)
        assert answer.status == 400 and f'"{field}"' in answer.body.decode(), answer
    assert system.rpc("Recovery", "ListGaps", {"bundleId": "com.example.other"}).status == 404
