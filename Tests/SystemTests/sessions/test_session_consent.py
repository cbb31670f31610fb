"""Consent that changes or cannot be stored: withdrawals, waits, events of changed answers."""

import json
import time
import uuid

from SystemTests.support.ingest_process import IngestProcess
from SystemTests.support.running_system import redis_words

from .steps import holds, new_identifier, post, put, wait_for

CHANGED = "attribution.att.status_changed.v1"


# 2026-01-01T00:00:00Z, milliseconds since 1970.
BASE = 1_767_225_600_000


def kept_payloads(system) -> int:
    """The number of session bodies that Redis stores for longer than those of sent sessions."""
    names = redis_words(system, "--scan", "--pattern", "*:ingest:payload:*")
    return sum(int(redis_words(system, "TTL", name)[0]) > 86_400 for name in names)


def test_a_withdrawn_consent_is_stored_even_if_the_queue_is_full(system, tmp_path):
    """256 shards of ten: sessions fill the install's shard, then changes use as much again; the last change cannot even be reported."""
    install, idfa = f"withdrawn-{uuid.uuid4().hex[:8]}", new_identifier()
    identity = {"bundleId": "com.example.app", "installId": install}
    with IngestProcess(system, tmp_path, settings="queues: { backlogBound: 2560 }\n") as process:
        def say(status: int, time: int) -> int:
            body = {"bundleId": "com.example.app", "attStatus": status, "deviceTime": BASE + time}
            return process.post(f"/v1/sessions/{install}/att-status", json.dumps(body).encode(), method="PUT")[0]

        feed = system.subscribe([CHANGED])
        system.call("Queues", "PauseQueue", {"queue": "sessions"})
        try:
            # Queries that a worker sent before it saw the pause end first.
            time.sleep(3)
            answers, before = [], kept_payloads(system)
            for number in range(11):
                body = {**identity, "attStatus": 3, "deviceTime": BASE + 1000, "event": str(number), "idfa": idfa}
                answers.append(process.post("/v1/sessions", json.dumps(body).encode())[0])
            assert answers == [202] * 10 + [503]
            # Nothing of a refused request is stored.
            assert kept_payloads(system) == before + 10
            for number in range(10):
                assert say(2 + number % 2, 2000 + number) == 200
            assert say(2, 3000) == 503
            assert system.call("Ingest", "GetAttStatus", identity)["attStatus"] == 2
            # A change to consent is not accepted while the queue is full.
            assert say(3, 4000) == 503
            assert system.call("Ingest", "GetAttStatus", identity)["attStatus"] == 2
        finally:
            system.call("Queues", "ResumeQueue", {"queue": "sessions"})
        entries = wait_for(system, install, 10)
        assert len(entries) == 10
        assert all(entry["host"] == "analytics.adjust.com" and not holds(entry, idfa) for entry in entries)
        assert say(2, 5000) == 200
        assert say(2, 6000) == 200
        changes = [(event["data"]["from"], event["data"]["to"], event["data"]["determinedAt"])
                for event in feed.wait_for(11, seconds=20, settle=1)]
        feed.delete()
        assert sorted(changes, key=lambda change: change[2].removesuffix("Z")) == [
            (3 - number % 2, 2 + number % 2, "2026-01-01T00:00:02" + (f".00{number}Z" if number else "Z")) for number in range(10)
        ] + [(3, 2, "2026-01-01T00:00:03Z")]


def test_a_changed_consent_is_an_event_and_can_be_queried(system):
    install = f"changed-{uuid.uuid4().hex[:8]}"
    identity = {"bundleId": "com.example.app", "installId": install}
    assert system.rpc("Ingest", "GetAttStatus", identity).status == 404
    feed = system.subscribe([CHANGED])
    put(system, install, 0, deviceTime=BASE + 1_000)
    put(system, install, 3, deviceTime=BASE + 2_000)
    put(system, install, 3, deviceTime=BASE + 2_500)  # equal: no effect
    put(system, install, 1, deviceTime=BASE + 1_500)  # older: not applied
    status = system.call("Ingest", "GetAttStatus", identity)
    assert status["attStatus"] == 3 and status["consent"] and status["ageSeconds"] >= 0 and "heldUntil" not in status
    assert post(system, install, new_identifier(), 2, deviceTime=BASE + 3_000).status == 202
    events = [event["data"] for event in feed.wait_for(2, seconds=20, settle=1)]
    feed.delete()
    assert [(event["from"], event["to"], event["source"]) for event in events] == [(0, 3, "update"), (3, 2, "session")]
    assert all(event["bundleId"] == "com.example.app" and install not in json.dumps(event) for event in events)
    status = system.call("Ingest", "GetAttStatus", identity)
    assert status["attStatus"] == 2 and status["determinedAt"].startswith("2026-01-01T00:00:03")
    assert system.rpc("Ingest", "GetAttStatus", {"bundleId": "com.example.app"}).status == 400


def test_a_contradictory_status_ends_a_consent_and_applies_to_queued_sessions(system):
    install, idfa = f"unclear-{uuid.uuid4().hex[:8]}", new_identifier()
    identity = {"bundleId": "com.example.app", "installId": install}
    for host in ("consent.adjust.com", "consent.adjust.io"):
        system.control("/control/faults", {"route": host, "count": 1, "status": 503, "retryAfter": 2})
    feed = system.subscribe([CHANGED])
    assert post(system, install, idfa, 3).status == 202
    assert len(wait_for(system, install, 2)) == 2
    assert put(system, install, 2, att_status=3).json["effect"] == "changed"
    status = system.call("Ingest", "GetAttStatus", identity)
    assert status["attStatus"] == -1 and not status.get("consent")
    last = wait_for(system, install, 3)[-1]
    assert last["host"] == "analytics.adjust.com" and last["status"] == 200 and not holds(last, idfa)
    # Without a consent there is nothing to end.
    assert put(system, install, 7).json["effect"] == "ignored"
    assert put(system, install, 3).json["effect"] == "changed"
    events = [event["data"] for event in feed.wait_for(2, seconds=20, settle=1)]
    feed.delete()
    assert [(event["from"], event["to"], event["consent"]) for event in events] == [(3, -1, False), (-1, 3, True)]


def test_a_status_of_an_app_that_is_not_configured_is_refused_like_its_session(system):
    app, install = "com.example.nobody", f"nobody-{uuid.uuid4().hex[:8]}"
    identity = {"bundleId": app, "installId": install}
    session = system.post("/v1/sessions", {**identity, "attStatus": 2})
    for more in ({}, {"urlStrategy": None}):
        refused = put(system, install, 2, bundleId=app, **more)
        assert refused.status == session.status == 400
        assert refused.json == session.json and "bundleId" in refused.body.decode(), refused
    # Also in the query; and nothing of it is stored.
    assert system.post(f"/v1/sessions/{install}/att-status?bundleId={app}", {"attStatus": 2}, method="PUT").status == 400
    assert put(system, install, 2, bundleId=app, urlStrategy="nowhere").status == 400
    assert put(system, install, 2, bundleId="com.example.app").status == 200
    assert system.rpc("Ingest", "GetAttStatus", identity).status == 404


def test_a_withdrawal_is_accepted_for_every_app_whose_sessions_are_accepted(system):
    """A session may name its strategy itself; then its app need not be configured."""
    app, idfa = "com.example.nobody", new_identifier()
    install, other = (f"own-{uuid.uuid4().hex[:8]}" for _ in range(2))
    assert post(system, install, idfa, 3, bundleId=app, urlStrategy="default").status == 202
    assert put(system, install, 2, bundleId=app).status == 200
    assert system.call("Ingest", "GetAttStatus", {"bundleId": app, "installId": install})["attStatus"] == 2
    # Before its first session, the status names the strategy.
    assert put(system, other, 3, bundleId=app, urlStrategy="default").status == 200
    assert put(system, other, 2, bundleId=app).status == 200
    # The strategy in the request is ignored for a known install, and for an app that is configured.
    for strategy in ("gone", ["default"], 7):
        assert put(system, install, 2, bundleId=app, urlStrategy=strategy).status == 200
        assert put(system, install, 2, bundleId="com.example.app", urlStrategy=strategy).status == 200
        assert put(system, f"{install}-new", 2, bundleId=app, urlStrategy=strategy).status == 400
    # The same install of another app is another install.
    assert put(system, install, 2, bundleId="com.example.nobody.else").status == 400


def test_statuses_that_cannot_be_read_are_counted(system, tmp_path):
    install = f"unpublished-{uuid.uuid4().hex[:8]}"
    feed = system.subscribe(["attribution.adservices.resolved.v1", "attribution.adservices.failed.v1"])
    with IngestProcess(system, tmp_path) as process:
        def count() -> float:
            return process.metric("attribution_att_status_unknown_total")

        def say(path: str, method: str = "POST", **body: object) -> None:
            assert process.post(path, json.dumps({"bundleId": "com.example.app", **body}).encode(), method=method)[0] in (200, 202)

        for known in (-1, 0, 3, None):
            say("/v1/sessions", installId=install, attStatus=known)
        say(f"/v1/sessions/{install}/att-status", "PUT", attStatus=-1)
        assert count() == 0
        say("/v1/sessions", installId=install, attStatus=4)
        assert count() == 1
        say(f"/v1/sessions/{install}/att-status", "PUT", attStatus=-2)
        assert count() == 2
        say("/v1/adservices/tokens", token=uuid.uuid4().hex, attStatus=7, requestedAt=int((time.time() - 30) * 1000))
        assert count() == 3
        say("/v1/sessions", installId=install, attStatus="?")
        assert count() == 4
        body = json.dumps({"bundleId": "com.example.app", "attStatus": "?"}).encode()
        assert process.post(f"/v1/sessions/{install}/att-status", body, method="PUT")[0] == 400
        assert count() == 5
    assert len(wait_for(system, install, 6)) == 6
    # The token's event must not come in the middle of another test.
    assert feed.wait_for(1, seconds=60)
    feed.delete()


def test_a_session_waits_no_longer_than_the_configured_maximum(system, tmp_path):
    with IngestProcess(system, tmp_path, settings="consentRouting: { maximumWait: 2s }\n") as process:
        install = f"wait-{uuid.uuid4().hex[:8]}"
        body = {"bundleId": "com.example.app", "installId": install, "attStatus": 0, "attConsentWaitingInterval": 3600, "event": "a"}
        assert process.post("/v1/sessions", json.dumps(body).encode())[0] == 202
        state = system.call("Ingest", "GetAttStatus", {"bundleId": "com.example.app", "installId": install})
        assert state["attStatus"] == 0 and "heldUntil" in state
        assert wait_for(system, install, 1)[0]["host"] == "analytics.adjust.com"


def test_sessions_that_cannot_be_held_are_sent_without_consent(system, tmp_path):
    """256 shards of ten messages: nine of them may be held sessions, the tenth is for sessions that are sent immediately."""
    with IngestProcess(system, tmp_path, settings="queues: { backlogBound: 2560 }\n") as process:
        install = f"room-{uuid.uuid4().hex[:8]}"
        idfa = new_identifier()
        for number in range(10):
            body = {"bundleId": "com.example.app", "installId": install, "attStatus": 0, "attConsentWaitingInterval": 60,
                    "event": str(number), "idfa": idfa}
            status, answer = process.post("/v1/sessions", json.dumps(body).encode())
            assert status == 202, answer
        # Sessions that are sent immediately leave the queue; held sessions stay.
        entry = wait_for(system, install, 1)[0]
        assert entry["body"]["event"] == "9" and entry["host"] == "analytics.adjust.com" and not holds(entry, idfa)
        assert process.metric("attribution_sessions_not_held_total") == 1
        assert put(system, install, 3).status == 200
        entries = wait_for(system, install, 10)
        assert [entry["body"]["event"] for entry in entries] == ["9", *map(str, range(9))]
        assert all(entry["host"] == "consent.adjust.com" for entry in entries[1:])
