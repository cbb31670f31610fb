"""The hosts of sessions: which one gets a session, what their answers mean, and the record of it."""

import contextlib
import email.utils
import time
import uuid

from .steps import holds, new_identifier, post, put, received, wait_for

ROUTED = "attribution.session.routed.v1"
UNDELIVERED = "attribution.session.undelivered.v1"


@contextlib.contextmanager
def settings(system, text: str):
    """Adds to the configuration of the system's ingest, and restores it afterwards."""
    configuration = system.data / "configuration.yaml"
    before = configuration.read_text()
    configuration.write_text(before + text)
    system.service("stop", "ingest")
    system.service("start", "ingest")
    try:
        yield
    finally:
        configuration.write_text(before)
        system.service("stop", "ingest")
        system.service("start", "ingest")


def dead_letter(system, id: str) -> dict:
    until = time.monotonic() + 30
    while time.monotonic() < until:
        letters = system.call("Queues", "ListDeadLetters", {"queue": "sessions", "maxLetters": 1000}).get("deadLetters", [])
        for letter in letters:
            if letter["id"] == id:
                return letter
        time.sleep(0.2)
    raise AssertionError("no dead letter")


def test_a_host_that_requests_immediate_retries_is_not_called_forever(system):
    """`Retry-After: 0` does not shorten the backoff, and a session that no host accepts becomes a dead letter, without the identifier."""
    install, idfa = f"never-{uuid.uuid4().hex[:8]}", new_identifier()
    with settings(system, "consentRouting: { patience: 3s }\n"):
        for host in ("consent.adjust.com", "consent.adjust.io"):
            system.control("/control/faults", {"route": host, "percentage": 100, "status": 503, "retryAfter": 0})
        feed = system.subscribe([UNDELIVERED])
        try:
            id = post(system, install, idfa, 3).json["id"]
            letter = dead_letter(system, id)
        finally:
            system.control("/control/faults", {"clear": True})
        event = feed.wait_for(1)[0]["data"]
        feed.delete()
        posts = len(received(system, install))
        assert event["deliveryId"] == id and event["attStatusAtReceipt"] == 3 and "503" in event["reason"]
        assert sum(one["count"] for one in event["tries"]) == posts and all(one["consent"] for one in event["tries"])
        assert posts == 2 * letter["attempts"] and 2 <= posts < 80, (posts, letter)
        assert "503" in letter["lastError"] and not holds(letter, idfa)
        assert system.call("Queues", "ReplayDeadLetters", {"queue": "sessions", "ids": [id]}, key=uuid.uuid4().hex)["replayed"] == 1
        entry = wait_for(system, install, posts + 1)[-1]
        assert entry["status"] == 200 and entry["host"] == "consent.adjust.com" and holds(entry, idfa)


def test_a_retry_after_as_a_date_counts_also_if_another_host_names_none(system):
    install, idfa = f"later-{uuid.uuid4().hex[:8]}", new_identifier()
    # A date has whole seconds, so the wait is more than three.
    named = email.utils.formatdate(time.time() + 4, usegmt=True)
    system.control("/control/faults", {"route": "consent.adjust.com", "count": 1, "status": 503, "retryAfter": named})
    system.control("/control/faults", {"route": "consent.adjust.io", "count": 1, "status": 503})
    started = time.monotonic()
    assert post(system, install, idfa, 3).status == 202
    entries = wait_for(system, install, 3)
    # Without it, the second attempt is within a second.
    assert time.monotonic() - started > 2.5
    assert [entry["status"] for entry in entries] == [503, 503, 200]


def test_only_refusals_of_the_session_itself_are_final(system):
    """An error that may be temporary at the host is retried, and the session arrives."""
    feed = system.subscribe([ROUTED])
    for status in (301, 401, 403, 404):
        install, idfa = f"passing-{uuid.uuid4().hex[:8]}", new_identifier()
        for host in ("consent.adjust.com", "consent.adjust.io"):
            system.control("/control/faults", {"route": host, "count": 1, "status": status})
        assert post(system, install, idfa, 3).status == 202
        entries = wait_for(system, install, 3)
        assert [entry["status"] for entry in entries] == [status, status, 200] and holds(entries[-1], idfa)
    for status in (400, 413, 422):
        install = f"final-{uuid.uuid4().hex[:8]}"
        system.control("/control/faults", {"route": "analytics.adjust.com", "count": 1, "status": status})
        assert post(system, install, new_identifier(), 2).status == 202
        assert [entry["status"] for entry in wait_for(system, install, 1)] == [status]
    events = [event["data"] for event in feed.wait_for(7, seconds=20)]
    feed.delete()
    assert sorted((event["httpStatus"], event["delivered"]) for event in events) == [
        *[(200, True)] * 4, (400, False), (413, False), (422, False)]


def test_the_record_of_a_session_names_every_host_that_may_have_read_it(system):
    """The session was sent with consent to two hosts, which failed; then the user refused."""
    install, idfa = f"record-{uuid.uuid4().hex[:8]}", new_identifier()
    for host in ("consent.adjust.com", "consent.adjust.io"):
        system.control("/control/faults", {"route": host, "count": 1, "status": 503, "retryAfter": 2})
    feed = system.subscribe([ROUTED])
    id = post(system, install, idfa, 3).json["id"]
    assert len(wait_for(system, install, 2)) == 2
    system.control("/control/faults", {"route": "analytics.adjust.com", "count": 1, "status": 500})
    assert put(system, install, 2).status == 200
    assert len(wait_for(system, install, 4)) == 4
    event = feed.wait_for(1)[0]
    feed.delete()
    data = dict(event["data"])
    tries = data.pop("tries")
    # To the second, because a time without milliseconds is written without a fraction.
    times = [data.pop(name)[:19] for name in ("receivedAt", "sentAt")]
    assert times[0] < times[1] and len(data.pop("installHash")) == 32
    assert data == {
        "deliveryId": id, "bundleId": "com.example.app", "attStatus": 2, "attStatusAtReceipt": 3, "statusSource": "install",
        "consent": False, "host": "analytics.adjust.io", "strategy": "default", "isDataResidency": False, "held": False,
        "removedNames": ["copy", "idfa", "link", "started_at"], "delivered": True, "httpStatus": 200, "attempt": 2}
    assert [(one["host"], one["attStatus"], one["consent"], one["count"], one["lastResult"]) for one in tries] == [
        ("consent.adjust.com", 3, True, 1, "answered 503"), ("consent.adjust.io", 3, True, 1, "answered 503"),
        ("analytics.adjust.com", 2, False, 1, "answered 500")]
    assert all(times[0] <= one["firstAt"][:19] <= one["lastAt"][:19] <= times[1] for one in tries)
    assert not holds(event, idfa)


DOMAINS = {"default": "adjust.com", "ADJDataResidencyEU": "eu.adjust.com", "ADJDataResidencyTR": "tr.adjust.com",
           "ADJDataResidencyUS": "us.adjust.com", "ADJUrlStrategyChina": "adjust.world", "ADJUrlStrategyCn": "adjust.cn",
           "ADJUrlStrategyIndia": "adjust.net.in"}


def test_a_url_strategy_applies_to_all_requests_and_an_unknown_one_is_refused(system):
    """In each region, on both sides of the split, and when a host fails; a residency strategy never uses another region."""
    for strategy, domain in DOMAINS.items():
        for status, side in ((3, "consent."), (2, "analytics.")):
            install, idfa = f"strategy-{uuid.uuid4().hex[:8]}", new_identifier()
            system.control("/control/faults", {"route": side + domain, "count": 1, "status": 503})
            assert post(system, install, idfa, status, urlStrategy=strategy).status == 202
            entries = wait_for(system, install, 2)
            hosts = [entry["host"] for entry in entries]
            assert hosts[0] == side + domain and len(hosts) == 2, (strategy, hosts)
            assert all(host.startswith(side) for host in hosts), (strategy, hosts)
            assert all(holds(entry, idfa) == (status == 3) for entry in entries)
            if strategy.startswith("ADJDataResidency"):
                assert hosts == [side + domain] * 2, (strategy, hosts)
    install = f"unknown-{uuid.uuid4().hex[:8]}"
    unknown = post(system, install, new_identifier(), 3, urlStrategy="ADJDataResidencyXX")
    assert unknown.status == 400 and "urlStrategy" in unknown.body.decode()
