"""How notifications get lost, and how each comes back: one story a test."""

import base64
import calendar
import contextlib
import os
import random
import statistics
import subprocess
import threading
import time
import uuid

import pytest
from recovery_system import APP, BARE, DAY, VERIFIED, ended, listener, make, metric, outages, recovery_system, stamp, start, uuids, wait_for
from running_system import redis_words


@pytest.fixture
def feed(recovering):
    subscription = recovering.subscribe([VERIFIED])
    yield subscription
    subscription.delete()


def test_a_short_outage_is_left_to_apples_first_retry_and_then_only_looked_after(recovering, feed):
    began = time.time() - 1  # the last heartbeat lies a little before
    recovering.service("stop", "ingest")
    missed = [make(recovering, "DID_RENEW", send=True)["notificationUUID"] for _ in range(3)]
    time.sleep(2)
    recovering.service("start", "ingest")
    back = time.time()

    assert uuids(feed.wait_for(3, seconds=40)) == sorted(missed)
    # They came from Apple itself: nothing was asked for before its retry was due.
    def looked():
        return [recovery for recovery in outages(recovering, began, "Production") if recovery["state"] == "completed"]

    found = wait_for(looked, seconds=40)
    assert len(found) == 1 and found[0]["onlyFailures"] is True, found
    assert found[0]["startedAt"] > time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(back + 7))
    assert found[0].get("accepted", 0) == 0, found
    assert feed.wait_for(1, seconds=1) == []


def test_a_long_outage_beyond_the_retries_is_recovered_by_itself_most_urgent_first(recovering, feed):
    began = time.time() - 1  # the last heartbeat lies a little before
    recovering.service("stop", "ingest")
    # All of Apple's retries pass in six seconds.
    recovering.control("/control/time-scale", {"scale": 100_000})
    missed = [make(recovering, kind, send=True, **more)["notificationUUID"] for kind, more in [
        ("REFUND_DECLINED", {}), ("DID_RENEW", {}), ("EXPIRED", {"subtype": "VOLUNTARY"}), ("DID_RENEW", {"subtype": "BILLING_RECOVERY"})]]

    def given_up():
        return all(len(recovering.control(f"/control/notifications?notificationUUID={missing}")["notifications"][0]["sendAttempts"]) == 6
                   for missing in missed)

    assert wait_for(given_up, seconds=30)
    time.sleep(5)  # longer than an hour of the schedule that recovery goes by
    recovering.control("/control/time-scale", {"scale": 360})
    recovering.service("start", "ingest")
    assert uuids(feed.wait_for(4, seconds=40)) == sorted(missed)
    found = wait_for(lambda: [recovery for recovery in outages(recovering, began, "Production")
                              if recovery.get("accepted", 0) > 0 and recovery["state"] == "completed"])
    assert sum(recovery["accepted"] for recovery in found) == 4, found
    results = {entry["result"]: entry for recovery in found for entry in recovery["sendAttemptResults"]}
    assert results["SOCKET_ISSUE"]["count"] >= 24 and "port" in results["SOCKET_ISSUE"]["diagnosis"], results
    assert feed.wait_for(1, seconds=1) == []


def test_a_single_missed_notification_is_brought_back_by_its_transaction(recovering, feed):
    began = time.time()
    lost = make(recovering, "DID_RENEW", "Sandbox", send=True, url="http://127.0.0.1:9/nobody")
    other = make(recovering, "DID_RENEW", "Sandbox", send=False)
    progress = ended(recovering, start(recovering, began - 60, time.time() + 60, "Sandbox", transactionId=lost["transactionId"]))
    assert (progress["state"], progress["pages"], progress["fetched"], progress["accepted"]) == ("completed", 1, 1, 1), progress
    assert uuids(feed.wait_for(1, settle=1)) == [lost["notificationUUID"]] != [other["notificationUUID"]]


def test_what_was_stored_though_apple_saw_a_500_is_counted_once(recovering, feed):
    """The intake took it, and what stands in front of it answered 500: Apple sends it again, and lists it as a failure."""
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


def test_what_comes_back_late_takes_its_place_in_the_subscriptions_life(recovering, feed):
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


def test_a_wrong_certificate_is_told_by_apples_own_attempts(recovering, feed, tmp_path):
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
    assert "certificate" in recovering.log("notification-recovery")
    assert uuids(feed.wait_for(1)) == [lost["notificationUUID"]]


def test_what_is_older_than_180_days_is_named_and_the_rest_comes(recovering, feed):
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


@contextlib.contextmanager
def talkative(system, environment: str, each: int):
    """An app of which so many notifications came in every five minutes of a week; yields when its last one was received, as Redis' key."""
    began = int(time.time() * 1000)
    make(system, "DID_RENEW", environment, send=True)
    last, = wait_for(lambda: redis_words(system, "--scan", "--pattern", f"*:ingest:last-arrival:{environment}:{APP}"))
    assert wait_for(lambda: int(redis_words(system, "GET", last)[0]) >= began)
    counts = last.replace(":last-arrival:", ":arrivals:")
    now = int(time.time() * 1000)
    fields = [f"p{(now - day * 86_400_000) // 300_000 + place}" for day in range(1, 8) for place in range(-8, 9)]
    redis_words(system, "HSET", counts, *(word for field in fields for word in (field, str(each))))
    try:
        yield last
    finally:
        # Or every pause of the tests to come would be an outage.
        redis_words(system, "HDEL", counts, *fields)


def silences(system) -> float:
    """How many silences were taken for outages. A heartbeat that is missed is another matter: a machine that stands still has one."""
    return metric(system, 'attribution_recovery_outages_total{evidence="silence"}')


def test_the_silence_of_a_talkative_app_starts_a_recovery(recovering, feed):
    """Ingest lives, and nothing reaches it: a name that points elsewhere, a proxy that answers in its place."""
    now = int(time.time() * 1000)
    # Before everything that the system itself did, such as being started.
    lost = make(recovering, "DID_RENEW", "Sandbox", send=False, signedDate=now - 900_000)["notificationUUID"]
    before = silences(recovering)
    with talkative(recovering, "Sandbox", 500) as last:
        redis_words(recovering, "SET", last, now - 1_200_000)
        came: list[str] = []
        assert wait_for(lambda: lost in came or came.extend(uuids(feed.pull(wait=1))) or lost in came)
    assert silences(recovering) > before
    found = outages(recovering, now / 1000 - 1202, "Sandbox")
    assert any(recovery["startDate"] < stamp(now / 1000 - 1190) for recovery in found), found


def test_a_stranger_s_posts_do_not_hide_a_silence(recovering, feed):
    """Forgeries that name the app are posted all the time, and nothing of Apple's comes."""
    example = make(recovering, "DID_RENEW", "Sandbox", send=False)["signedPayload"].rsplit(".", 1)[0]
    stop, answers = threading.Event(), []

    def stranger():
        while not stop.is_set():
            signature = base64.urlsafe_b64encode(os.urandom(64)).rstrip(b"=").decode()
            answers.append(recovering.post("/v1/app-store/notifications", {"signedPayload": f"{example}.{signature}"}).status)
            stop.wait(0.2)

    posting = threading.Thread(target=stranger)
    with talkative(recovering, "Sandbox", 5000) as last:
        began = int(redis_words(recovering, "GET", last)[0]) / 1000
        posting.start()
        try:
            lost = make(recovering, "DID_RENEW", "Sandbox", send=False)["notificationUUID"]
            came: list[str] = []
            assert wait_for(lambda: lost in came or came.extend(uuids(feed.pull(wait=1))) or lost in came, seconds=90)
            assert int(redis_words(recovering, "GET", last)[0]) / 1000 == began
            # It begins with the last one that was proved, whatever was posted since. A gap that was looked up may have brought that back before.
            assert wait_for(lambda: any(
                stamp(began - 1) <= recovery["startDate"] <= stamp(began + 1)
                for recovery in outages(recovering, began - 1, "Sandbox")), seconds=90)
        finally:
            stop.set()
            posting.join()
    assert len(answers) > 20 and set(answers) == {200}


def test_a_verifier_that_is_down_is_no_silence(recovering, feed):
    """Notifications arrive, and wait for their proof longer than any silence may be."""
    def arrives() -> str:
        time.sleep(1)
        return make(recovering, "SUBSCRIBED", "Sandbox", subtype="INITIAL_BUY", send=True)["notificationUUID"]

    with talkative(recovering, "Sandbox", 5000):
        before = silences(recovering)
        sent = [arrives()]
        recovering.service("kill", "verifier")
        try:
            sent += [arrives() for _ in range(30)]
            assert silences(recovering) == before
        finally:
            recovering.service("start", "verifier")
        came: list[str] = []
        until = time.monotonic() + 60
        while not set(sent) <= set(came):
            assert time.monotonic() < until, (len(sent), len(came))
            came += uuids(feed.pull(wait=1))
            arrives()
        # What was received meanwhile is no silence afterwards either.
        for _ in range(12):
            arrives()
        assert silences(recovering) == before


def record_outage(system, first: int, last: int) -> None:
    """As the first sign of life after it does."""
    instances, = redis_words(system, "--scan", "--pattern", "*:ingest:instances")
    redis_words(system, "ZADD", instances.replace(":instances", ":outages"), last, f"{first}-{last}")


def order_after_an_outage(system, feed, disturb=None) -> list[str]:
    """The types of an outage's notifications in the order of their events, each once. What is held back would come by itself after five
    minutes only. `disturb` is called when so many of them were taken in as its second part says."""
    first = int((time.time() - 6 * DAY - random.randrange(DAY)) * 1000)
    wanted = {}
    for place, (kind, more) in enumerate([("DID_CHANGE_RENEWAL_STATUS", {"subtype": "AUTO_RENEW_DISABLED"}), ("EXPIRED", {"subtype": "VOLUNTARY"}),
                                          ("DID_RENEW", {})]):
        for made in make(system, kind, "Sandbox", **more, count=200, brief=True, data=BARE, send=False, signedDate=first + place,
                         spreadMilliseconds=3_500_000)["notifications"]:
            wanted[made] = kind
    # Pages that take a while: there is something to come first to.
    system.control("/control/faults", {"route": "notificationHistory", "percentage": 100, "delayMilliseconds": 400})
    came: dict[str, str] = {}
    try:
        record_outage(system, first, first + 3_600_000)
        if disturb is not None:
            what, taken = disturb
            since = first / 1000 - 7200

            def far() -> bool:
                found = [one for one in outages(system, since, "Sandbox") if one["endDate"] <= stamp(first / 1000 + 7200)]
                return bool(found) and found[0].get("accepted", 0) >= taken

            assert wait_for(far, seconds=60, every=0.05)
            what()
        until = time.monotonic() + 90
        while len(came) < len(wanted) and time.monotonic() < until:
            for event in feed.pull(most=1000, wait=1):
                one = event["data"]["payload"]["notificationUUID"]
                if one in wanted:
                    assert one not in came or came[one] == event["id"]
                    came.setdefault(one, event["id"])
    finally:
        system.control("/control/faults", {"clear": True})
    assert len(came) == len(wanted)
    return [wanted[one] for one in came]


def quarters_of(order: list[str]) -> dict[str, list[float]]:
    """No kind comes wholly before the next: 256 shards are not worked in step."""
    return {kind: statistics.quantiles([place for place, one in enumerate(order) if one == kind]) for kind in set(order)}


@pytest.mark.parametrize("leader_dies", [False, True], ids=["undisturbed", "the leader dies"])
def test_after_an_outage_renewals_come_first_then_ends_then_the_rest(recovering, feed, leader_dies):
    def die():
        recovering.service("kill", "notification-recovery")
        recovering.service("start", "notification-recovery")

    quarters = quarters_of(order_after_an_outage(recovering, feed, (die, 150) if leader_dies else None))
    assert quarters["DID_RENEW"][2] < quarters["EXPIRED"][0], quarters
    assert quarters["EXPIRED"][1] < quarters["DID_CHANGE_RENEWAL_STATUS"][0], quarters


def test_what_is_held_after_an_outage_is_let_go_though_redis_dies_meanwhile(recovering, feed):
    def die():
        recovering.service("kill", "redis")
        recovering.service("start", "redis")

    assert len(order_after_an_outage(recovering, feed, (die, 590))) == 600


def started_one_by_one(system) -> None:
    """Of a system where one recovery of an app may run."""
    now = time.time()

    def begin(key: str, days: int):
        return system.rpc("Recovery", "StartRecovery", {"bundleId": APP, "environment": "Production", "startDate": stamp(now - days * DAY),
                                                        "endDate": stamp(now - days * DAY + 60)}, key=key)

    system.control("/control/faults", {"route": "notificationHistory", "percentage": 100, "delayMilliseconds": 20_000})
    # What the schedule began may still run.
    first = wait_for(lambda: answer if (answer := begin("a-key", 40)).status == 200 else None)
    assert first, begin("a-key", 40)
    refused = begin("another-key", 50)
    assert refused.status == 429 and "TOO_MANY_RECOVERIES" in refused.body.decode(), refused
    system.call("Recovery", "CancelRecovery", {"recoveryId": first.json["recoveryId"]})
    # The answers that are kept for a repeated key are forgotten after a day: then it is another recovery for another window.
    for name in redis_words(system, "--scan", "--pattern", "*:rpc:*"):
        redis_words(system, "DEL", name)
    second = wait_for(lambda: answer if (answer := begin("a-key", 60)).status == 200 else None)
    assert second, begin("a-key", 60)
    assert second.json["recoveryId"] != first.json["recoveryId"]


def test_no_more_is_held_than_may_be_and_no_more_recoveries_run(tmp_path_factory):
    with recovery_system(tmp_path_factory.mktemp("held"), more="  heldBacklog: 150\n  mostRunning: 1\n") as system:
        subscription = system.subscribe([VERIFIED])
        # Few can wait: the others are let go on the way, and the window is read to its end.
        assert len(order_after_an_outage(system, subscription)) == 600
        assert next(queue for queue in system.call("Queues", "ListQueues", {})["queues"] if queue["name"] == "intake").get("delayed", 0) == 0
        started_one_by_one(system)


def test_a_gap_in_an_outage_is_left_to_apples_retries_until_an_hour_after_its_end(recovering):
    end = int(time.time() * 1000)
    record_outage(recovering, end - 2500, end)
    story = recovering.control("/control/notifications/story", {
        "bundleId": APP, "environment": "Production", "send": True, "steps": ["buy", {"step": "cancel", "send": False}, "expire"]})

    def looked_up():
        calls = recovering.control("/control/app-store-calls?limit=1000000")["calls"]
        return [call["atMilliseconds"] for call in calls
                if call["path"].endswith("/inApps/v1/subscriptions/" + story["originalTransactionId"])]

    first, = wait_for(looked_up, seconds=60)
    # An hour of Apple's schedule is ten seconds.
    assert first >= end + 10_000, (first - end)


def test_a_filter_brings_its_type_and_subtype_alone(recovering, feed):
    day = time.time() - 20 * DAY
    kinds = [("DID_RENEW", None), ("DID_RENEW", "BILLING_RECOVERY"), ("EXPIRED", "VOLUNTARY"), ("EXPIRED", "BILLING_RETRY")]
    made = {(kind, subtype): make(recovering, kind, "Sandbox", **({"subtype": subtype} if subtype else {}), data=BARE, send=False,
                                  signedDate=int(day * 1000))["notificationUUID"] for kind, subtype in kinds}
    for kind, subtype in kinds[:3]:
        recovery = start(recovering, day - 60, day + 60, "Sandbox", notificationType=kind, **({"notificationSubtype": subtype} if subtype else {}))
        progress = ended(recovering, recovery)
        assert (progress["state"], progress["fetched"], progress["accepted"]) == ("completed", 1, 1), progress
        assert uuids(feed.wait_for(1, settle=0.5)) == [made[kind, subtype]]


def test_a_filter_that_brings_nothing_is_refused_before_apple_is_asked(recovering):
    now = time.time()
    for more, field in (({"notificationType": "DID_RENEW", "notificationSubtype": "VOLUNTARY"}, "notificationSubtype"),
                        ({"notificationType": "SUBSCRIBED"}, "notificationSubtype"), ({"notificationSubtype": "VOLUNTARY"}, "notificationSubtype"),
                        ({"notificationType": "DID_RENEW", "transactionId": "1"}, "transactionId")):
        answer = recovering.rpc("Recovery", "StartRecovery", {
            "bundleId": APP, "environment": "Sandbox", "startDate": stamp(now - 60), "endDate": stamp(now), **more}, key=uuid.uuid4().hex)
        assert answer.status == 400 and f'"{field}"' in answer.body.decode(), answer


def test_the_schedule_looks_back_by_itself_for_each_environment(recovering):
    """Often for what Apple could not deliver, once a day for everything of the last four days."""
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
        # As Deploy/up configures it.
        assert length(found[True]) == DAY and found[True]["endDate"][14:19] == "00:00", found[True]
