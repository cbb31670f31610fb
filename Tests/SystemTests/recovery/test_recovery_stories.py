"""How notifications get lost and are recovered: one scenario per test."""

import calendar
import datetime
import subprocess
import time
import uuid

import pytest

from .system import APP, BARE, DAY, VERIFIED, ended, listener, make, outages, stamp, start, uuids, wait_for


@pytest.fixture
def feed(recovering):
    subscription = recovering.subscribe([VERIFIED])
    yield subscription
    subscription.delete()


def test_a_short_outage_is_left_to_apples_first_retry_and_then_only_checked(recovering, feed):
    began = time.time() - 1  # the last heartbeat was a little earlier
    recovering.service("stop", "ingest")
    missed = [make(recovering, "DID_RENEW", send=True)["notificationUUID"] for _ in range(3)]
    time.sleep(2)
    recovering.service("start", "ingest")
    back = time.time()

    assert uuids(feed.wait_for(3, seconds=40)) == sorted(missed)
    # Apple itself sent them again: nothing was requested before its retry was due.
    def retried():
        return [recovery for recovery in outages(recovering, began, "Production") if recovery["state"] == "completed"]

    found = wait_for(retried, seconds=40)
    assert len(found) == 1 and found[0]["onlyFailures"] is True, found
    assert found[0]["startedAt"] > time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(back + 7))
    assert found[0].get("accepted", 0) == 0, found
    assert feed.wait_for(1, seconds=1) == []


def test_a_long_outage_is_recovered_automatically_most_urgent_first(recovering, feed):
    began = time.time() - 1  # the last heartbeat was a little earlier
    recovering.service("stop", "ingest")
    # All of Apple's retries take six seconds.
    recovering.control("/control/time-scale", {"scale": 100_000})
    missed = [make(recovering, kind, send=True, **more)["notificationUUID"] for kind, more in [
        ("REFUND_DECLINED", {}), ("DID_RENEW", {}), ("EXPIRED", {"subtype": "VOLUNTARY"}), ("DID_RENEW", {"subtype": "BILLING_RECOVERY"})]]

    def given_up():
        return all(len(recovering.control(f"/control/notifications?notificationUUID={missing}")["notifications"][0]["sendAttempts"]) == 6
                   for missing in missed)

    assert wait_for(given_up, seconds=30)
    time.sleep(5)  # longer than an hour of the schedule that recovery uses
    recovering.control("/control/time-scale", {"scale": 360})
    recovering.service("start", "ingest")
    assert uuids(feed.wait_for(4, seconds=40)) == sorted(missed)
    found = wait_for(lambda: [recovery for recovery in outages(recovering, began, "Production")
                              if recovery.get("accepted", 0) > 0 and recovery["state"] == "completed"])
    assert sum(recovery["accepted"] for recovery in found) == 4, found
    results = {entry["result"]: entry for recovery in found for entry in recovery["sendAttemptResults"]}
    assert results["SOCKET_ISSUE"]["count"] >= 24 and "port" in results["SOCKET_ISSUE"]["diagnosis"], results
    assert feed.wait_for(1, seconds=1) == []


def test_a_recovered_notification_that_names_no_app_is_that_of_the_key_which_fetched_it(recovering, feed):
    began = time.time()
    lost = make(recovering, "TEST", "Sandbox", send=False, data={"bundleId": None})
    answer = recovering.post("/v1/app-store/notifications", {"signedPayload": lost["signedPayload"]})
    id = answer.json["id"]
    assert wait_for(lambda: recovering.call("Ingest", "GetDelivery", {"id": id}).get("reason")) == "app_not_named"
    ended(recovering, start(recovering, began - 60, time.time() + 60, "Sandbox"))
    found = [event for event in feed.wait_for(1) if event["data"]["notificationUUID"] == lost["notificationUUID"]]
    assert [event["subject"] for event in found] == [APP], found


def test_a_missed_notification_is_recovered_by_its_transaction(recovering, feed):
    began = time.time()
    lost = make(recovering, "DID_RENEW", "Sandbox", send=True, url="http://127.0.0.1:9/nobody")
    other = make(recovering, "DID_RENEW", "Sandbox", send=False)
    progress = ended(recovering, start(recovering, began - 60, time.time() + 60, "Sandbox", transactionId=lost["transactionId"]))
    assert (progress["state"], progress["pages"], progress["fetched"], progress["accepted"]) == ("completed", 1, 1, 1), progress
    assert uuids(feed.wait_for(1, settle=1)) == [lost["notificationUUID"]] != [other["notificationUUID"]]


def test_a_stored_notification_that_was_answered_500_counts_once(recovering, feed):
    """Ingest accepted it, and a proxy before it answered 500: Apple sends it again, and lists it as a failure."""
    def stored_but_refused(body):
        assert recovering.post("/v1/app-store/notifications", body).status == 200
        return 500

    began = time.time()
    with listener(stored_but_refused) as port:
        sent = make(recovering, "DID_RENEW", "Sandbox", send=True, url=f"http://127.0.0.1:{port}/")
    assert [attempt["sendAttemptResult"] for attempt in sent["sendAttempts"]] == ["UNSUCCESSFUL_HTTP_RESPONSE_CODE"]
    assert uuids(feed.wait_for(1)) == [sent["notificationUUID"]]
    progress = ended(recovering, start(
        recovering, began - 1, time.time() + 60, "Sandbox", onlyFailures=True, transactionId=sent["transactionId"]))
    assert (progress["state"], progress["fetched"], progress.get("accepted", 0), progress["duplicates"]) == ("completed", 1, 0, 1)
    assert feed.wait_for(1, seconds=2) == []


def test_a_recovered_notification_is_inserted_at_its_time_in_the_history(recovering, feed):
    story = recovering.control("/control/notifications/story", {
        "bundleId": APP, "environment": "Production", "send": True,
        "steps": ["buy", {"step": "cancel", "send": False}, "expire"]})
    purchase = {"originalTransactionId": story["originalTransactionId"], "environment": "Production"}
    assert len(feed.wait_for(2)) == 2
    before = recovering.call("Verifier", "GetSubscriptionState", purchase)
    assert [step.get("subtype") for step in before["notifications"]] == ["INITIAL_BUY", "VOLUNTARY"]
    made = [notification["signedDate"] / 1000 for notification in story["notifications"]]
    progress = ended(recovering, start(
        recovering, min(made) - 60, max(made) + 60, transactionId=story["originalTransactionId"]))
    assert (progress["accepted"], progress["duplicates"]) == (1, 2), progress
    event, = feed.wait_for(1)
    assert event["data"]["lifecycle"]["late"] is True
    after = recovering.call("Verifier", "GetSubscriptionState", purchase)
    assert [step.get("subtype") for step in after["notifications"]] == ["INITIAL_BUY", "AUTO_RENEW_DISABLED", "VOLUNTARY"]
    assert after["state"] == before["state"] == "expired" and after.get("gaps", []) == []


def test_a_wrong_certificate_is_reported_from_apples_delivery_attempts(recovering, feed, tmp_path):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=wrong.example",
         "-days", "2", "-keyout", tmp_path / "key.pem", "-out", tmp_path / "certificate.pem"], check=True, capture_output=True)
    both = tmp_path / "both.pem"
    both.write_text((tmp_path / "certificate.pem").read_text() + (tmp_path / "key.pem").read_text())
    began = time.time()
    with listener(lambda _body: 200, both) as port:
        lost = make(recovering, "DID_RENEW", "Sandbox", send=True, url=f"https://127.0.0.1:{port}/")
    progress = ended(recovering, start(
        recovering, began - 1, time.time() + 60, "Sandbox", onlyFailures=True, transactionId=lost["transactionId"]))
    result, = progress["sendAttemptResults"]
    assert result["result"] in ("TLS_ISSUE", "SSL_ISSUE") and result["count"] == 1, progress
    assert "certificate" in result["diagnosis"]
    assert progress["undelivered"] == 1 and result["firstAttemptAt"] == result["lastAttemptAt"], progress
    assert began - 1 < datetime.datetime.fromisoformat(result["firstAttemptAt"]).timestamp() < time.time() + 1, progress
    assert "certificate" in recovering.log("notification-recovery")
    assert uuids(feed.wait_for(1)) == [lost["notificationUUID"]]


def test_a_range_older_than_180_days_is_reported_and_the_rest_is_recovered(recovering, feed):
    now = time.time()
    gone = make(recovering, "DID_RENEW", send=False, signedDate=int((now - 190 * DAY) * 1000))
    kept = make(recovering, "DID_RENEW", send=False, signedDate=int((now - 179 * DAY) * 1000))
    progress = ended(recovering, start(recovering, now - 200 * DAY, now - 178 * DAY))
    assert progress["state"] == "completed" and progress["accepted"] == 1, progress
    uncovered, = progress["uncovered"]
    assert uncovered["startDate"].startswith(time.strftime("%Y-%m-%dT%H:%M", time.gmtime(now - 200 * DAY)))
    assert uncovered["endDate"].startswith(time.strftime("%Y-%m-%d", time.gmtime(now - 180 * DAY)))
    assert uuids(feed.wait_for(1, settle=1)) == [kept["notificationUUID"]] != [gone["notificationUUID"]]

    nothing = ended(recovering, start(recovering, now - 300 * DAY, now - 290 * DAY))
    assert nothing["state"] == "completed" and nothing.get("pages", 0) == 0 and len(nothing["uncovered"]) == 1, nothing


def test_a_filter_recovers_only_its_type_and_subtype(recovering, feed):
    day = time.time() - 20 * DAY
    kinds = [("DID_RENEW", None), ("DID_RENEW", "BILLING_RECOVERY"), ("EXPIRED", "VOLUNTARY"), ("EXPIRED", "BILLING_RETRY")]
    made = {(kind, subtype): make(recovering, kind, "Sandbox", **({"subtype": subtype} if subtype else {}), data=BARE, send=False,
                                  signedDate=int(day * 1000))["notificationUUID"] for kind, subtype in kinds}
    for kind, subtype in kinds[:3]:
        recovery = start(recovering, day - 60, day + 60, "Sandbox", notificationType=kind, **({"notificationSubtype": subtype} if subtype else {}))
        progress = ended(recovering, recovery)
        assert (progress["state"], progress["fetched"], progress["accepted"]) == ("completed", 1, 1), progress
        assert uuids(feed.wait_for(1, settle=0.5)) == [made[kind, subtype]]


def test_an_impossible_filter_is_refused_without_calling_apple(recovering):
    now = time.time()
    for more, field in (({"notificationType": "DID_RENEW", "notificationSubtype": "VOLUNTARY"}, "notificationSubtype"),
                        ({"notificationType": "SUBSCRIBED"}, "notificationSubtype"), ({"notificationSubtype": "VOLUNTARY"}, "notificationSubtype"),
                        ({"notificationType": "DID_RENEW", "transactionId": "1"}, "transactionId")):
        answer = recovering.rpc("Recovery", "StartRecovery", {
            "bundleId": APP, "environment": "Sandbox", "startDate": stamp(now - 60), "endDate": stamp(now), **more}, key=uuid.uuid4().hex)
        assert answer.status == 400 and f'"{field}"' in answer.body.decode(), answer


def test_scheduled_recoveries_run_for_each_environment(recovering):
    """Frequently for notifications that Apple could not deliver, once a day for all of the last four days."""
    def turns(environment: str) -> dict[bool, dict]:
        recoveries = recovering.call("Recovery", "ListRecoveries", {"bundleId": APP, "maxRecoveries": 1000}).get("recoveries", [])
        return {recovery.get("onlyFailures", False): recovery for recovery in recoveries
                if recovery["origin"] == "schedule" and recovery["environment"] == environment and recovery["state"] == "completed"}

    def length(recovery: dict) -> int:
        first, last = (calendar.timegm(time.strptime(recovery[name][:19], "%Y-%m-%dT%H:%M:%S")) for name in ("startDate", "endDate"))
        assert last <= time.time(), recovery
        return last - first

    for environment in ("Production", "Sandbox"):
        assert wait_for(lambda environment=environment: len(turns(environment)) == 2), turns(environment)
        found = turns(environment)
        assert length(found[False]) == 4 * DAY and found[False]["endDate"][11:19] == "00:00:00", found[False]
        # The value that Deploy/up configures.
        assert length(found[True]) == DAY and found[True]["endDate"][14:19] == "00:00", found[True]
