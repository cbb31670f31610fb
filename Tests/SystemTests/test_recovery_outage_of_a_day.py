"""A day's outage, recovered exactly once while fresh notifications keep arriving, an instance is killed and Apple's answers fail."""

import contextlib
import os
import signal
import threading
import time

import pytest
from recovery_system import APP, VERIFIED, SecondInstance, ended, recovery_system, start

SOAK = os.environ.get("ATTRIBUTION_SOAK") == "1"
MISSED = 100_000 if SOAK else 2000
FRESH = 2000 if SOAK else 60
DAY = 86400


@pytest.fixture(scope="module")
def recovering(tmp_path_factory):
    with recovery_system(tmp_path_factory.mktemp("day")) as running:
        yield running


def missed_ones(system, first: float) -> set[str]:
    """Notifications of a day, evenly, with nothing but themselves: their signatures are checked, their purchases are another test's."""
    made: set[str] = set()
    kinds = [("DID_RENEW", None, 0.6), ("EXPIRED", "VOLUNTARY", 0.1), ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", 0.3)]
    for type, subtype, share in kinds:
        wanted = round(MISSED * share)
        while wanted > 0:
            count = min(5000, wanted)
            # Each batch over the whole day; batches a little apart.
            answer = system.control("/control/notifications", {
                "bundleId": APP, "environment": "Production", "notificationType": type, **({"subtype": subtype} if subtype else {}),
                "count": count, "brief": True, "signedDate": int(first * 1000) + len(made) % 977, "spreadMilliseconds": DAY * 1000 - 1000,
                "data": {"signedTransactionInfo": None, "signedRenewalInfo": None, "status": None}, "send": False})
            made |= set(answer["notifications"])
            wanted -= count
    assert len(made) == MISSED
    return made


def drain(system, feed, expected: int, seconds: float) -> list[str]:
    """The UUIDs of the notifications that became events, as often as they did."""
    seen: dict[str, str] = {}
    until = time.monotonic() + seconds
    while len(seen) < expected and time.monotonic() < until:
        for event in feed.pull(most=1000, wait=2):
            seen[event["id"]] = event["data"]["payload"]["notificationUUID"]
    for event in feed.pull(most=1000, wait=2):
        seen[event["id"]] = event["data"]["payload"]["notificationUUID"]
    return list(seen.values())


def answered(system) -> int:
    """Pages that Apple gave; what a scripted failure answered in its place is not among them."""
    calls = system.control("/control/app-store-calls?limit=1000000")["calls"]
    return sum(1 for call in calls if call["path"].endswith("/notifications/history") and call["status"] == 200)


def test_a_days_outage_comes_back_exactly_once(recovering):
    system = recovering
    first = time.time() - 3 * DAY
    missed = missed_ones(system, first)
    fresh = system.control("/control/notifications", {
        "bundleId": APP, "environment": "Production", "notificationType": "DID_RENEW", "count": FRESH, "send": False})["notifications"]
    feed = system.subscribe([VERIFIED])
    second = SecondInstance(system)
    halt = threading.Event()

    def keep_arriving():
        for notification in fresh:
            assert system.post("/v1/app-store/notifications", {"signedPayload": notification["signedPayload"]}).status == 200
            if halt.wait(0.02):
                pass

    arriving = threading.Thread(target=keep_arriving)
    before = answered(system)
    try:
        # Each answer takes Apple a while, and one in ten fails.
        system.control("/control/faults", {"route": "notificationHistory", "percentage": 10, "seed": 5, "status": 500,
                                           "body": {"errorCode": 5000000, "errorMessage": "An unknown error occurred."}})
        system.control("/control/faults", {"route": "notificationHistory", "percentage": 100, "delayMilliseconds": 40})
        arriving.start()
        recovery = start(system, first, first + DAY)
        watcher = second if not second.leads() else None

        def progress():
            if watcher is None:
                return system.call("Recovery", "GetRecovery", {"recoveryId": recovery})
            return watcher.call("GetRecovery", {"recoveryId": recovery})

        while (now := progress())["state"] == "running" and now.get("fetched", 0) < MISSED * 0.3:
            time.sleep(0.1)
        assert now["state"] == "running", now
        # The leader dies with pages under way.
        os.kill(system.pid("notification-recovery") if watcher else second.process.pid, signal.SIGKILL)
        killed = time.monotonic()
        while (now := progress())["state"] == "running" and time.monotonic() < killed + (600 if SOAK else 90):
            time.sleep(0.2)
        assert now["state"] == "completed" and now["progress"] == 1, now
        pages = answered(system) - before
        arriving.join()
        uuids = drain(system, feed, MISSED + FRESH, 600 if SOAK else 90)
        wanted = missed | {notification["notificationUUID"] for notification in fresh}
        assert len(uuids) == len(set(uuids)) and set(uuids) == wanted, (len(uuids), len(wanted))
        fewest = -(-MISSED // 20)
        print(f"{MISSED} missed, {pages} pages answered, {fewest} would do: {pages / fewest:.3f}; accepted {now['accepted']}, "
              f"duplicates {now.get('duplicates', 0)}")
        # What was under way in the killed instance is asked for again; of a small window that is a larger part.
        assert pages <= 1.1 * fewest + (0 if SOAK else 32), (pages, fewest)
        assert now["accepted"] + now.get("duplicates", 0) == now["fetched"], now
    finally:
        halt.set()
        system.control("/control/faults", {"clear": True})
        second.end()
        system.service("start", "notification-recovery")
        feed.delete()


def test_a_leader_that_was_frozen_can_write_nothing_when_it_wakes(recovering):
    system = recovering
    first = time.time() - 9 * DAY
    system.control("/control/notifications", {
        "bundleId": APP, "environment": "Production", "notificationType": "DID_RENEW", "count": 400, "brief": True, "send": False,
        "signedDate": int(first * 1000), "spreadMilliseconds": DAY * 500,
        "data": {"signedTransactionInfo": None, "signedRenewalInfo": None, "status": None}})
    system.control("/control/faults", {"route": "notificationHistory", "percentage": 100, "delayMilliseconds": 300})
    frozen = system.pid("notification-recovery")
    second = None
    try:
        recovery = start(system, first, first + DAY)
        while system.call("Recovery", "GetRecovery", {"recoveryId": recovery}).get("pages", 0) < 2:
            time.sleep(0.05)
        os.kill(frozen, signal.SIGSTOP)
        second = SecondInstance(system)
        until = time.monotonic() + 60
        while (now := second.call("GetRecovery", {"recoveryId": recovery}))["state"] == "running" and time.monotonic() < until:
            time.sleep(0.2)
        assert now["state"] == "completed" and second.leads(), now
        os.kill(frozen, signal.SIGCONT)
        # It answers again, and had time to try: its pages under way have come, and its writes were refused.
        after = ended(system, recovery)
        log = "left to the app's next leader"
        until = time.monotonic() + 30
        while log not in system.log("notification-recovery") and time.monotonic() < until:
            time.sleep(0.1)
        assert log in system.log("notification-recovery")
        assert second.call("GetRecovery", {"recoveryId": recovery}) == after == now
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(frozen, signal.SIGCONT)
        system.control("/control/faults", {"clear": True})
        if second is not None:
            second.end()


def test_a_cancelled_recovery_stops_and_keeps_what_it_has(recovering):
    system = recovering
    first = time.time() - 20 * DAY
    system.control("/control/notifications", {
        "bundleId": APP, "environment": "Production", "notificationType": "DID_RENEW", "count": 300, "brief": True, "send": False,
        "signedDate": int(first * 1000), "spreadMilliseconds": DAY * 500,
        "data": {"signedTransactionInfo": None, "signedRenewalInfo": None, "status": None}})
    system.control("/control/faults", {"route": "notificationHistory", "percentage": 100, "delayMilliseconds": 500})
    try:
        recovery = start(system, first, first + DAY)
        while system.call("Recovery", "GetRecovery", {"recoveryId": recovery}).get("pages", 0) < 2:
            time.sleep(0.05)
        answer = system.call("Recovery", "CancelRecovery", {"recoveryId": recovery})["recovery"]
        assert answer["state"] == "cancelled" and 40 <= answer["fetched"] < 300 and answer["progress"] < 1, answer
        time.sleep(1)
        assert ended(system, recovery)["fetched"] == answer["fetched"]
    finally:
        system.control("/control/faults", {"clear": True})
