"""Processes are killed and Redis is unreachable: a delivery that was answered 200 is exactly one event."""

import os
import random
import signal
import threading
import time
import uuid

SEED = int(os.environ.get("ATTRIBUTION_SEED", "0")) or random.randrange(1 << 32)
SOAK = os.environ.get("ATTRIBUTION_SOAK") == "1"


def wait_for_redis(system):
    """A service refuses to start without its Redis; a running service waits for it."""
    until = time.monotonic() + 20
    while system.request("GET", system.url("Verifier") + "/readyz").status != 200 and time.monotonic() < until:
        time.sleep(0.1)


def test_no_accepted_delivery_is_lost_or_duplicated_when_services_and_redis_are_killed(system):
    """Seeded; prints its counts. Long form with ATTRIBUTION_SOAK=1."""
    print(f"seed {SEED}")
    dice = random.Random(SEED)
    deliveries, kills = (20_000, 50) if SOAK else (400, 5)
    feed = system.subscribe(["attribution.skadnetwork.postback.verified.v1"])
    acknowledged, lock, done = {}, threading.Lock(), threading.Event()
    bodies = [system.control("/control/skadnetwork/postbacks", {"version": "4.0", "send": False})["body"] for _ in range(deliveries)]

    def send(mine):
        for body in mine:
            for _attempt in range(60):
                try:
                    answer = system.post("/v1/postbacks", body)
                except OSError:
                    time.sleep(0.2)
                    continue
                if answer.status == 200:
                    with lock:
                        acknowledged[body if isinstance(body, str) else str(body)] = answer.json["id"]
                    break
                assert answer.status >= 500, answer
                time.sleep(0.2)

    threads = [threading.Thread(target=send, args=(bodies[start::4],)) for start in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(kills):
        time.sleep(dice.uniform(0.1, 0.8))
        name = dice.choice(["ingest", "verifier", "redis"])
        os.kill(system.pid(name), signal.SIGKILL)
        time.sleep(dice.uniform(0, 0.5))
        system.service("start", name)
        if name == "redis":
            wait_for_redis(system)
    for thread in threads:
        thread.join()
    done.set()
    assert len(acknowledged) == deliveries, f"seed {SEED}: senders gave up"
    events = feed.wait_for(deliveries, seconds=120, settle=3)
    ids = [event["id"] for event in events]
    transactions = [event["data"]["postback"]["transaction-id"] for event in events]
    assert len(set(transactions)) == deliveries, f"seed {SEED}: {deliveries - len(set(transactions))} lost"
    # The feed delivers at least once; the event itself exists once.
    assert len(set(ids)) == deliveries, f"seed {SEED}: {len(set(ids)) - deliveries} counted twice"
    print(f"survived: {deliveries} deliveries, {kills} kills, {len(ids) - len(set(ids))} redelivered by the feed, seed {SEED}")
    feed.delete()


def test_a_forged_copy_that_arrives_first_does_not_hide_the_genuine_postback(system):
    kinds = ["attribution.skadnetwork.postback.verified.v1", "attribution.skadnetwork.postback.rejected.v1"]
    feed = system.subscribe(kinds)
    body = system.control("/control/skadnetwork/postbacks", {"version": "3.0", "send": False})["body"]
    forged = (
        body.replace('"redownload":false', '"redownload":true')
        if '"redownload":false' in body
        else body.replace('"redownload":true', '"redownload":false')
    )
    assert forged != body
    assert system.post("/v1/postbacks", forged).json["status"] == "accepted"
    assert len(feed.wait_for(1)) == 1
    assert system.post("/v1/postbacks", body).json["status"] == "accepted"
    events = feed.wait_for(1)
    assert [event["type"] for event in events] == kinds[:1]
    feed.delete()


def test_without_redis_postbacks_get_500_notifications_get_503_and_nothing_crashes(system):
    made = system.control("/control/notifications", {"bundleId": "com.example.app", "environment": "Production",
                                                     "notificationType": "DID_RENEW", "send": False})
    body = system.control("/control/skadnetwork/postbacks", {"version": "4.0", "send": False})["body"]
    pids = {name: system.pid(name) for name in ("ingest", "verifier", "notification-recovery", "asa-token-broker")}
    system.service("stop", "redis")
    try:
        assert system.post("/v1/postbacks", body).status == 500
        refused = system.post("/v1/app-store/notifications", {"signedPayload": made["signedPayload"]})
        assert refused.status == 503 and int(refused.headers["Retry-After"]) >= 1
        until = time.monotonic() + 20
        while (ready := system.request("GET", system.url("Ingest") + "/readyz").status) != 503 and time.monotonic() < until:
            time.sleep(0.2)
        assert ready == 503
        assert system.request("GET", system.url("Ingest") + "/livez").status == 200
    finally:
        system.service("start", "redis")
    until = time.monotonic() + 20
    while system.post("/v1/postbacks", body).status != 200 and time.monotonic() < until:
        time.sleep(0.2)
    assert system.post("/v1/postbacks", body).json["status"] == "duplicate"
    for name, pid in pids.items():
        assert system.pid(name) == pid and system.is_alive(pid), name


def test_services_end_after_sigterm_and_start_again(system):
    for name in ("signer", "asa-token-broker"):
        pid = system.pid(name)
        os.kill(pid, signal.SIGTERM)
        until = time.monotonic() + 30
        while system.is_alive(pid) and time.monotonic() < until:
            time.sleep(0.1)
        assert not system.is_alive(pid), f"{name} did not end"
        system.service("start", name)
    assert system.call("Signer", "ListSigningKeys", {})["keys"]


def test_a_paused_queue_accepts_deliveries_and_processes_them_after_it_is_resumed(system):
    assert {queue["name"] for queue in system.call("Queues", "ListQueues", {})["queues"]} >= {"intake"}
    feed = system.subscribe(["attribution.skadnetwork.postback.verified.v1"])
    system.call("Queues", "PauseQueue", {"queue": "intake"})
    try:
        time.sleep(1.5)
        body = system.control("/control/skadnetwork/postbacks", {"version": "4.0", "send": False})["body"]
        assert system.post("/v1/postbacks", body).status == 200
        assert feed.wait_for(1, seconds=2) == []
        intake = next(queue for queue in system.call("Queues", "ListQueues", {})["queues"] if queue["name"] == "intake")
        assert int(intake["depth"]) >= 1
    finally:
        system.call("Queues", "ResumeQueue", {"queue": "intake"})
    assert len(feed.wait_for(1)) == 1
    feed.delete()
    assert uuid.UUID(body.split('"transaction-id":"')[1][:36])
