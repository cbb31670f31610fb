"""A postback that is repeated after its digest has expired, and after the feed has deleted its event."""

import json
import time
import uuid

import pytest

from SystemTests.support.running_system import redis_words, start_system, stop_system

NETWORK = "example123.skadnetwork"
TYPES = ["attribution.skadnetwork.postback.verified.v1", "attribution.skadnetwork.postback.rejected.v1"]
# The longest time for which bytes are remembered: two generations.
FORGOTTEN = 2.1


@pytest.fixture(scope="module")
def forgetful(tmp_path_factory):
    """A system that remembers idempotency keys for a second or two, and keeps digests of unsigned values."""
    folder = tmp_path_factory.mktemp("forgetful")
    system = start_system(folder)
    try:
        configuration = folder / "configuration.yaml"
        configuration.write_text(configuration.read_text() + "queues: { copyGeneration: 1s, unsignedDigests: true }\n")
        for name in ("ingest", "verifier"):
            system.service("stop", name)
            system.service("start", name)
        yield system
    finally:
        stop_system(system)


def posted(system, body: str) -> str:
    answer = system.post("/v1/postbacks", body)
    assert answer.status == 200 and answer.json["status"] == "accepted", answer
    return answer.json["id"]


def delivery(system, id: str, state: str, reason: str | None = None) -> dict:
    for _ in range(100):
        found = system.call("Ingest", "GetDelivery", {"id": id})
        if found["state"] == state and found.get("reason") == reason:
            return found
        time.sleep(0.1)
    raise AssertionError(found)


def made(system) -> dict:
    return json.loads(system.control("/control/skadnetwork/postbacks", {
        "transactionId": str(uuid.uuid4()), "adNetworkId": NETWORK, "send": False, "version": "4.0", "conversionValue": 10})["body"])


def duplicates(system) -> float:
    text = system.request("GET", system.url("Verifier") + "/metrics", headers={"Authorization": f"Bearer {system.token}"}).body.decode()
    lines = [line for line in text.splitlines() if line.startswith("attribution_queue_processed_total{") and 'queue="intake"' in line
             and 'outcome="duplicate"' in line]
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines)


def counted_as_duplicate(system, count: float) -> None:
    """Metrics are updated after the record is written."""
    for _ in range(100):
        if duplicates(system) == count:
            return
        time.sleep(0.1)
    raise AssertionError(duplicates(system))


def test_a_repeat_after_its_key_expired_is_a_duplicate(forgetful):
    feed = forgetful.subscribe(TYPES)
    body = json.dumps(made(forgetful))
    id = posted(forgetful, body)
    counted = delivery(forgetful, id, "verified")
    before = duplicates(forgetful)
    for more in (1, 2):
        time.sleep(FORGOTTEN)
        assert posted(forgetful, body) == id
        assert delivery(forgetful, id, "verified", "duplicate")["eventId"] == counted["eventId"]
        counted_as_duplicate(forgetful, before + more)
    assert [event["id"] for event in feed.wait_for(1)] == [counted["eventId"]]
    assert feed.wait_for(1, seconds=2) == []
    feed.delete()


def test_a_repeated_forgery_is_one_event_while_the_feed_stores_it(forgetful):
    feed = forgetful.subscribe(TYPES)
    body = json.dumps({**made(forgetful), "transaction-id": str(uuid.uuid4())})
    id = posted(forgetful, body)
    assert delivery(forgetful, id, "rejected", "bad_signature")
    assert [event["id"] for event in feed.wait_for(1)] == [f"rejected:{id}"]
    time.sleep(FORGOTTEN)
    assert posted(forgetful, body) == id
    assert delivery(forgetful, id, "rejected", "bad_signature")
    assert feed.wait_for(1, seconds=2) == []
    feed.delete()


def test_changed_unsigned_values_are_reported_after_the_event_was_deleted(forgetful):
    genuine = made(forgetful)
    id = posted(forgetful, json.dumps(genuine))
    counted = delivery(forgetful, id, "verified")
    # As if every subscription had acknowledged it and its retention had ended.
    shard = f"{{attr:{id[:3]}}}"
    redis_words(forgetful, "XTRIM", f"{shard}:events", "MAXLEN", 0)
    redis_words(forgetful, "DEL", f"{shard}:events:index")
    feed = forgetful.subscribe(TYPES)
    other = posted(forgetful, json.dumps({**genuine, "conversion-value": 63}))
    assert delivery(forgetful, other, "rejected", "conflicting_unsigned")
    [event] = feed.wait_for(1)
    assert event["type"] == "attribution.skadnetwork.postback.rejected.v1" and event["data"]["deliveryId"] == other
    assert event["data"]["countedEventId"] == counted["eventId"] and event["data"]["unsigned"]["conversion-value"] == 63
    assert "countedUnsigned" not in event["data"] and event["data"]["environment"] == "production"
    # Foreign members, and values that cannot be used, make no difference.
    for copy in (dict(reversed(genuine.items())), {**genuine, "ip": "198.51.100.1", "campaign-id": 5},
                 {**genuine, "conversion-value": "10.0", "coarse-conversion-value": "NULL"}):
        assert delivery(forgetful, posted(forgetful, json.dumps(copy)), "verified", "duplicate")["eventId"] == counted["eventId"]
    assert feed.wait_for(1, seconds=2) == []
    feed.delete()
