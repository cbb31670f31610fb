"""A day's outage, recovered exactly once while fresh notifications keep arriving, an instance is killed and Apple's answers fail."""

import contextlib
import os
import signal
import time

from .system import BARE, DAY, SecondInstance, ended, make, recover_outage_of_a_day, slow_and_failing, start

SOAK = os.environ.get("ATTRIBUTION_SOAK") == "1"
MISSED = 100_000 if SOAK else 2000
FRESH = 2000 if SOAK else 60


def test_an_outage_of_a_day_is_recovered_exactly_once(recovering):
    played = recover_outage_of_a_day(recovering, MISSED, FRESH, 900 if SOAK else 90)
    events, now = played["events"], played["recovery"]
    assert len(events) == len(set(events)) and set(events) == played["wanted"], (len(events), len(played["wanted"]))
    print(f"{MISSED} missed: {played['pages']} pages answered, {now['pages']} taken in, {played['fewest']} would do; accepted {now['accepted']}, "
          f"duplicates {now.get('duplicates', 0)}, {played['seconds']:.1f} s")
    # The killed instance's requests in progress are repeated, and the last page of each slice is not full; in a small window that is
    # a larger part.
    assert played["pages"] <= 1.1 * played["fewest"] + (0 if SOAK else 48), (played["pages"], now)
    assert now["accepted"] + now.get("duplicates", 0) == now["fetched"], now


def test_a_leader_that_was_suspended_cannot_write_when_it_resumes(recovering):
    system = recovering
    first = time.time() - 9 * DAY
    make(system, "DID_RENEW", count=400, brief=True, data=BARE, send=False, signedDate=int(first * 1000), spreadMilliseconds=DAY * 500)
    slow_and_failing(system, 0, 300)
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
        # The resumed instance answers again: the pages that it had requested have arrived, and its writes were refused.
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


def test_a_cancelled_recovery_stops_and_its_notifications_remain(recovering):
    system = recovering
    first = time.time() - 20 * DAY
    make(system, "DID_RENEW", count=300, brief=True, data=BARE, send=False, signedDate=int(first * 1000), spreadMilliseconds=DAY * 500)
    slow_and_failing(system, 0, 500)
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
