"""The silence of an app starts a recovery, and other pauses do not."""

import base64
import contextlib
import os
import threading
import time

import pytest

from SystemTests.support.running_system import redis_words

from .system import APP, VERIFIED, make, metric, outages, stamp, uuids, wait_for


@pytest.fixture
def feed(recovering):
    subscription = recovering.subscribe([VERIFIED])
    yield subscription
    subscription.delete()


@contextlib.contextmanager
def active_app(system, environment: str, each: int):
    """An app that received this number of notifications in every five minutes of a week; yields the Redis key with the time of the last
    one."""
    began = int(time.time() * 1000)
    make(system, "DID_RENEW", environment, send=True)
    last, = wait_for(lambda: redis_words(system, "--scan", "--pattern", f"*:ingest:last-arrival:{environment}:{APP}"))
    assert wait_for(lambda: int(redis_words(system, "GET", last)[0]) >= began)
    counts = last.replace(":last-arrival:", ":arrivals:")
    now = int(time.time() * 1000)
    fields = [f"p{(now - day * 86_400_000) // 300_000 + offset}" for day in range(1, 8) for offset in range(-8, 9)]
    redis_words(system, "HSET", counts, *(word for field in fields for word in (field, str(each))))
    try:
        yield last
    finally:
        # Otherwise every pause of the following tests would be an outage.
        redis_words(system, "HDEL", counts, *fields)


def silences(system) -> float:
    """The number of silences that were treated as outages. A missed heartbeat is different: a suspended machine causes one."""
    return metric(system, 'attribution_recovery_outages_total{evidence="silence"}')


def test_silence_of_an_active_app_starts_a_recovery(recovering, feed):
    """Ingest works, but nothing reaches it: a name that resolves to another host, or a proxy that answers instead."""
    now = int(time.time() * 1000)
    # Before everything that the system itself did, such as its start.
    lost = make(recovering, "DID_RENEW", "Sandbox", send=False, signedDate=now - 900_000)["notificationUUID"]
    before = silences(recovering)
    with active_app(recovering, "Sandbox", 500) as last:
        redis_words(recovering, "SET", last, now - 1_200_000)
        came: list[str] = []
        assert wait_for(lambda: lost in came or came.extend(uuids(feed.pull(wait=1))) or lost in came)
    assert silences(recovering) > before
    found = outages(recovering, now / 1000 - 1202, "Sandbox")
    assert any(recovery["startDate"] < stamp(now / 1000 - 1190) for recovery in found), found


def test_unverified_posts_do_not_hide_a_silence(recovering, feed):
    """Forgeries that name the app are posted continuously, and nothing comes from Apple."""
    example = make(recovering, "DID_RENEW", "Sandbox", send=False)["signedPayload"].rsplit(".", 1)[0]
    stop, answers = threading.Event(), []

    def stranger():
        while not stop.is_set():
            signature = base64.urlsafe_b64encode(os.urandom(64)).rstrip(b"=").decode()
            answers.append(recovering.post("/v1/app-store/notifications", {"signedPayload": f"{example}.{signature}"}).status)
            stop.wait(0.2)

    posting = threading.Thread(target=stranger)
    with active_app(recovering, "Sandbox", 5000) as last:
        began = int(redis_words(recovering, "GET", last)[0]) / 1000
        posting.start()
        try:
            lost = make(recovering, "DID_RENEW", "Sandbox", send=False)["notificationUUID"]
            came: list[str] = []
            assert wait_for(lambda: lost in came or came.extend(uuids(feed.pull(wait=1))) or lost in came, seconds=90)
            assert int(redis_words(recovering, "GET", last)[0]) / 1000 == began
            # It begins with the last verified notification, whatever was posted since. A look-up of a gap may have fetched that one before.
            assert wait_for(lambda: any(
                stamp(began - 1) <= recovery["startDate"] <= stamp(began + 1)
                for recovery in outages(recovering, began - 1, "Sandbox")), seconds=90)
        finally:
            stop.set()
            posting.join()
    assert len(answers) > 20 and set(answers) == {200}


def test_an_outage_of_verifier_does_not_count_as_silence(recovering, feed):
    """Notifications arrive, and wait for their verification longer than the limit of a silence."""
    def arrives() -> str:
        time.sleep(1)
        return make(recovering, "SUBSCRIBED", "Sandbox", subtype="INITIAL_BUY", send=True)["notificationUUID"]

    with active_app(recovering, "Sandbox", 5000):
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
        # Notifications that were received meanwhile are not part of a silence later.
        for _ in range(12):
            arrives()
        assert silences(recovering) == before
