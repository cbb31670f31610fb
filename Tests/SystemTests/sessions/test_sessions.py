"""Sessions and consent: what is sent, to which host, and in which order, under all failures."""

import os
import random
import signal
import time
import uuid

from .steps import holds, new_identifier, post, put, received, wait_for

SEED = int(os.environ.get("ATTRIBUTION_SEED", "0")) or random.randrange(1 << 32)
ROUTED = "attribution.session.routed.v1"


def test_only_att_status_3_is_consent(system):
    idfa = new_identifier()
    for status in (None, -1, 0, 1, 2, 4, 3):
        install = f"status-{uuid.uuid4().hex[:8]}"
        assert post(system, install, idfa, status).status == 202
        entry = wait_for(system, install, 1)[0]
        assert entry["host"] == ("consent" if status == 3 else "analytics") + ".adjust.com", (status, entry)
        assert holds(entry, idfa) == (status == 3), (status, entry)
        assert entry["body"]["att_status"] == (-1 if status is None else status)


def test_no_identifying_field_reaches_an_analytics_host(system):
    """Input that is nearly valid JSON or a nearly valid query: none of it contains the identifier that the session names."""
    hidden = new_identifier()
    install = f"partner-{uuid.uuid4().hex[:8]}"
    texts = [f'{{"idfa":"{hidden}","a":1,"a":2}}', "[" * 40 + f'{{"idfa":"{hidden}"}}' + "]" * 40, f'{{"idfa":"{hidden}"}};',
             f'json:{{"idfa":"{hidden}"}}', f"https://example.com/cb?idfa={hidden}", f"https://example.com/cb?i%64fa%3D{hidden}"]
    body = {"bundleId": "com.example.app", "installId": install, "attStatus": 2,
            "parameters": {f"partner{index}": text for index, text in enumerate(texts)}, "keep": "this"}
    assert system.post("/v1/sessions", body).status == 202
    entry = wait_for(system, install, 1)[0]
    assert entry["host"] == "analytics.adjust.com" and entry["body"]["keep"] == "this"
    assert not holds(entry, hidden), entry


def test_a_slow_session_does_not_delay_others(system):
    body = {"bundleId": "com.example.app", "installId": f"long-{uuid.uuid4().hex[:8]}", "attStatus": 2, "idfa": "a" * 80_000,
            "note": "a" * 160_000 + "%"}
    assert system.post("/v1/sessions", body).status == 202
    entry = wait_for(system, body["installId"], 1)[0]
    assert "idfa" not in entry["body"]


def test_held_sessions_are_sent_in_order_after_the_answer(system):
    install, idfa = f"asked-{uuid.uuid4().hex[:8]}", new_identifier()
    for event in ("a", "b", "c"):
        assert post(system, install, idfa, 0, event=event, attConsentWaitingInterval=60).status == 202
    time.sleep(1)
    assert received(system, install) == []
    assert put(system, install, 3).status == 200
    entries = wait_for(system, install, 3)
    assert [entry["body"]["event"] for entry in entries] == ["a", "b", "c"]
    assert all(entry["host"] == "consent.adjust.com" and entry["body"]["att_status"] == 3 for entry in entries)
    assert all(holds(entry, idfa) for entry in entries)


def test_a_session_without_a_readable_status_keeps_its_position_among_the_held_sessions(system):
    install, idfa = f"unread-{uuid.uuid4().hex[:8]}", new_identifier()
    statuses = {"a": 0, "b": None, "c": -1, "d": 7, "e": 0}
    for event, status in statuses.items():
        assert post(system, install, idfa, status, event=event, attConsentWaitingInterval=60).status == 202
    assert put(system, install, 3).status == 200
    entries = wait_for(system, install, 5)
    assert [entry["body"]["event"] for entry in entries] == list(statuses)
    for entry in entries:
        # Only a session that was read as "not determined" is sent with the answer.
        side = "consent" if statuses[entry["body"]["event"]] == 0 else "analytics"
        assert entry["host"] == f"{side}.adjust.com" and holds(entry, idfa) == (side == "consent"), entry


def test_the_session_with_the_answer_is_sent_after_the_held_sessions(system):
    install, idfa = f"brought-{uuid.uuid4().hex[:8]}", new_identifier()
    events = [f"e{number:02d}" for number in range(30)]
    for event in events:
        assert post(system, install, idfa, 0, event=event, attConsentWaitingInterval=60).status == 202
    assert post(system, install, idfa, 3, event="answer").status == 202
    entries = wait_for(system, install, 31)
    assert [entry["body"]["event"] for entry in entries] == [*events, "answer"]
    assert all(entry["host"] == "consent.adjust.com" and holds(entry, idfa) for entry in entries)


def test_waiting_in_the_order_line_counts_no_attempt(system):
    """The first session fails three times. The sessions after it are then sent in order, each at its first attempt."""
    install, idfa = f"turn-{uuid.uuid4().hex[:8]}", new_identifier()
    feed = system.subscribe([ROUTED])
    for event in ("a", "b", "c"):
        assert post(system, install, idfa, 0, event=event, attConsentWaitingInterval=60).status == 202
    for host in ("consent.adjust.com", "consent.adjust.io"):
        system.control("/control/faults", {"route": host, "count": 3, "status": 503, "retryAfter": 1})
    assert put(system, install, 3).status == 200
    entries = wait_for(system, install, 9, seconds=30)
    assert [entry["body"]["event"] for entry in entries] == ["a"] * 7 + ["b", "c"]
    attempts = [event["data"]["attempt"] for event in feed.wait_for(3, seconds=10)]
    feed.delete()
    assert attempts == [4, 1, 1]


def test_without_an_answer_before_the_deadline_there_is_no_consent_and_no_second_wait(system):
    install, idfa = f"silent-{uuid.uuid4().hex[:8]}", new_identifier()
    started = time.monotonic()
    for event in ("a", "b"):
        post(system, install, idfa, 0, event=event, attConsentWaitingInterval=2)
    entries = wait_for(system, install, 2)
    assert time.monotonic() - started >= 1.8
    assert [entry["body"]["event"] for entry in entries] == ["a", "b"]
    assert all(entry["host"] == "analytics.adjust.com" and not holds(entry, idfa) for entry in entries)
    post(system, install, idfa, 0, event="c", attConsentWaitingInterval=60)
    assert wait_for(system, install, 3, seconds=5)[-1]["host"] == "analytics.adjust.com"


def test_the_deadline_of_a_wait_survives_a_restart_and_a_later_session_does_not_extend_it(system):
    install, idfa = f"killed-{uuid.uuid4().hex[:8]}", new_identifier()
    assert post(system, install, idfa, 0, event="a", attConsentWaitingInterval=6).status == 202
    started = time.monotonic()
    identity = {"bundleId": "com.example.app", "installId": install}
    until = system.call("Ingest", "GetAttStatus", identity)["heldUntil"]
    time.sleep(0.5)
    os.kill(system.pid("ingest"), signal.SIGKILL)
    system.service("start", "ingest")
    for _ in range(100):
        try:
            assert post(system, install, idfa, 0, event="b", attConsentWaitingInterval=6).status == 202
            break
        except OSError:
            time.sleep(0.1)
    if time.monotonic() - started < 5:
        assert system.call("Ingest", "GetAttStatus", identity)["heldUntil"] == until
    # The shards of a killed worker are taken over within ten seconds.
    entries = wait_for(system, install, 2, seconds=30)
    assert time.monotonic() - started > 5.5
    assert [entry["body"]["event"] for entry in entries] == ["a", "b"]
    assert all(entry["host"] == "analytics.adjust.com" and not holds(entry, idfa) for entry in entries)


def test_a_denied_consent_applies_to_queued_and_old_sessions(system):
    install, idfa = f"refused-{uuid.uuid4().hex[:8]}", new_identifier()
    for host in ("consent.adjust.com", "consent.adjust.io"):
        system.control("/control/faults", {"route": host, "count": 1, "status": 503, "retryAfter": 2})
    assert post(system, install, idfa, 3, event="queued").status == 202
    assert len(wait_for(system, install, 2)) == 2
    assert put(system, install, 2).status == 200
    assert post(system, install, idfa, 3, event="old").status == 202
    entries = wait_for(system, install, 4)
    delivered = [entry for entry in entries if entry["status"] == 200]
    assert sorted(entry["body"]["event"] for entry in delivered) == ["old", "queued"]
    assert all(entry["host"] == "analytics.adjust.com" and not holds(entry, idfa) for entry in delivered)
    assert put(system, install, 2).json["status"] == "duplicate"
    assert put(system, install, 3).json["status"] == "accepted"
    post(system, install, idfa, 3, event="new")
    assert wait_for(system, install, 5)[-1]["host"] == "consent.adjust.com"


def test_no_identifier_reaches_an_analytics_host_under_failures_flips_and_kills(system):
    """Seeded; prints its counts."""
    print(f"seed {SEED}")
    dice = random.Random(SEED)
    feed = system.subscribe([ROUTED])
    mark = uuid.uuid4().hex[:8]
    identifiers = {f"soak-{mark}-{number}": new_identifier() for number in range(20)}
    system.control("/control/faults", {"route": "consent", "percentage": 25, "seed": SEED % 1000, "status": 503})
    accepted, statuses, kills = {}, {}, 0
    try:
        for number in range(300):
            install = dice.choice(list(identifiers))
            status = dice.choice([None, 0, 1, 2, 3, 3, 3])
            more = {"attConsentWaitingInterval": dice.choice([1, 2])} if status == 0 else {}
            for _ in range(100):
                try:
                    if dice.random() < 0.2:
                        put(system, install, dice.choice([1, 2, 3]))
                    answer = post(system, install, identifiers[install], status, event=f"e{number}", **more)
                except OSError:
                    time.sleep(0.1)
                    continue
                if answer.status == 202:
                    accepted[answer.json["id"]] = status
                    statuses[f"e{number}"] = status
                    break
                assert answer.status == 503, answer
                time.sleep(0.1)
            if number % 75 == 40:
                os.kill(system.pid("ingest"), signal.SIGKILL)
                kills += 1
                time.sleep(dice.uniform(0, 0.3))
                system.service("start", "ingest")
    finally:
        system.control("/control/faults", {"clear": True})
        system.service("start", "ingest")
    assert len(accepted) == 300
    events = {event["data"]["deliveryId"]: event for event in feed.wait_for(300, seconds=120, settle=2)}
    assert set(events) >= set(accepted), f"seed {SEED}: {len(set(accepted) - set(events))} sessions without an event"
    for id, status in accepted.items():
        data = events[id]["data"]
        assert data["host"].startswith("consent." if data["consent"] else "analytics."), (SEED, data)
        assert not data["consent"] or status in (0, 3), (SEED, data)
    entries = [entry for entry in system.control("/control/sessions?limit=100000")["sessions"]
               if entry["body"].get("installId") in identifiers]
    for entry in entries:
        if entry["host"].startswith("analytics."):
            assert not holds(entry, identifiers[entry["body"]["installId"]]), (SEED, entry)
            assert "started_at" not in entry["body"]
        else:
            assert statuses[entry["body"]["event"]] in (0, 3), (SEED, entry)
    for idfa in identifiers.values():
        assert not any(holds({"log": system.log(name)}, idfa) for name in ("ingest", "verifier"))
        assert not any(holds(event, idfa) for event in events.values())
    print(f"survived: 300 sessions, {len(entries)} posts to hosts, {kills} kills, seed {SEED}")
    feed.delete()
