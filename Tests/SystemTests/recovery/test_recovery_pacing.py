"""Behaviour towards Apple: all instances together observe its rate limits, wait for its delays, and pause while it fails."""

import time
import uuid

from .system import BARE, DAY, SecondInstance, answered, ended, make, metric, start, wait_for

APP = {"bundleId": "com.example.app", "environment": "Sandbox"}


def test_all_instances_share_one_rate_limit(recovering):
    """The settings allow one status of a test notification an hour; the excess request does not reach Apple."""
    def calls_to_apple() -> int:
        calls = recovering.control("/control/app-store-calls?limit=1000000")["calls"]
        return sum(1 for call in calls if "/notifications/test/" in call["path"])

    second = SecondInstance(recovering)
    try:
        before = calls_to_apple()
        request = {**APP, "testNotificationToken": "11111111-2222-3333-4444-555555555555_1"}
        first = recovering.rpc("Recovery", "GetTestNotificationStatus", request)
        assert first.status != 429 and calls_to_apple() == before + 1, first
        refused = recovering.rpc("Recovery", "GetTestNotificationStatus", request, base=f"http://127.0.0.1:{second.port}")
        assert refused.status == 429 and b"APP_STORE_RATE_LIMITED" in refused.body, refused
        again = recovering.rpc("Recovery", "GetTestNotificationStatus", request)
        assert again.status == 429 and calls_to_apple() == before + 1, again
        # The limit is the service's own and not Apple's, and the error says so.
        for answer in (refused, again):
            assert b"our own limit" in answer.body and b"4290000" not in answer.body and b'"status"' not in answer.body, answer
    finally:
        second.end()


def test_a_429_of_apple_delays_requests_and_loses_nothing(recovering):
    first = time.time() - 30 * DAY
    missed = make(recovering, "DID_RENEW", count=160, brief=True, data=BARE, send=False, signedDate=int(first * 1000),
                  spreadMilliseconds=DAY * 1000)["notifications"]
    # An hour of the limit is a second.
    recovering.control("/control/time-scale", {"scale": 3600})
    recovering.control("/control/rate-limits", {"endpoint": "notificationHistory", "perHour": 5})
    try:
        progress = ended(recovering, start(recovering, first, first + DAY))
        assert progress["state"] == "completed" and progress["accepted"] == len(set(missed)) == 160, progress
        calls = recovering.control("/control/app-store-calls?limit=1000000")["calls"]
        assert any(call["status"] == 429 for call in calls)
    finally:
        recovering.control("/control/rate-limits", {"endpoint": "notificationHistory", "perHour": None})
        recovering.control("/control/time-scale", {"scale": 360})


def test_recovery_pauses_while_apple_fails_and_continues_afterwards(recovering):
    first = time.time() - 40 * DAY
    make(recovering, "DID_RENEW", count=30, brief=True, data=BARE, send=False, signedDate=int(first * 1000),
         spreadMilliseconds=DAY * 1000)
    waits = 'attribution_app_store_waits_total{reason="breaker"}'
    before = metric(recovering, waits)
    recovering.control("/control/faults", {"route": "notificationHistory", "percentage": 100, "status": 503})
    try:
        recoveries = [start(recovering, first - index, first + DAY) for index in range(3)]
        assert wait_for(lambda: metric(recovering, waits) > before, seconds=60)
        assert answered(recovering, first - DAY, first + DAY) == 0
        failing = recovering.call("Recovery", "GetRecovery", {"recoveryId": recoveries[0]})
        assert failing["state"] == "running" and failing["lastError"], failing
    finally:
        recovering.control("/control/faults", {"clear": True})
    for recovery in recoveries:
        progress = ended(recovering, recovery, seconds=90)
        assert progress["state"] == "completed" and progress["fetched"] == 30 and "lastError" not in progress, progress


def test_a_failing_sandbox_does_not_delay_recoveries_of_production(recovering):
    first = time.time() - 50 * DAY
    missed = make(recovering, "DID_RENEW", data=BARE, send=False, signedDate=int(first * 1000))["notificationUUID"]
    recovering.control("/control/faults", {"route": "sandbox", "percentage": 100, "status": 500, "body": {"errorCode": 5000000}})
    now = time.time()
    stuck = [start(recovering, now - 600 - index, now - 300, "Sandbox") for index in range(6)]
    try:
        def failing():
            return sum("lastError" in recovering.call("Recovery", "GetRecovery", {"recoveryId": one}) for one in stuck) >= 4

        # The maximum number that are processed at a time.
        assert wait_for(failing)
        progress = ended(recovering, start(recovering, first - 60, first + 60), seconds=20)
        assert (progress["state"], progress["accepted"]) == ("completed", 1), (missed, progress)
    finally:
        recovering.control("/control/faults", {"clear": True})
        for one in stuck:
            recovering.call("Recovery", "CancelRecovery", {"recoveryId": one}, key=uuid.uuid4().hex)
    # Recoveries that never had a turn can be cancelled like the others.
    assert {ended(recovering, one)["state"] for one in stuck} <= {"cancelled", "completed"}
