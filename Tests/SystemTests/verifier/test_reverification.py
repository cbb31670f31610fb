"""Rejected deliveries are judged again: by id, reason, kind and time, once for each call, whatever process ends meanwhile."""

import base64
import collections
import concurrent.futures
import contextlib
import json
import random
import signal
import time
import uuid

import pytest

from SystemTests.faults.load import NOTIFICATION, PATHS, Maker
from SystemTests.faults.system import FaultSystem
from SystemTests.queue.guarantee_steps import eventually
from SystemTests.support.running_system import VECTORS

VERIFIER, EVENTS, INGEST = "verifier.v1.VerifierService", "events.v1.EventsService", "ingest.v1.IngestService"
VERIFIED, REJECTED = "appstore.notification.verified.v1", "appstore.notification.rejected.v1"
QUEUES = "{ lease: 2s, workerTimeout: 2s }"


@pytest.fixture
def maker():
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    return Maker(random.Random(seed))


class Judged:
    """Ingest and verifier, whose configuration changes."""

    def __init__(self, folder, apple_key: str, queues: str = QUEUES) -> None:
        self.system, self.apple_key = FaultSystem(folder, apple_key, queues), apple_key
        self.file = folder / "configuration.yaml"
        self.ingest, self.verifier = self.system.service("ingest"), self.system.service("verifier")

    def configure(self, before: str, after: str) -> None:
        text = self.file.read_text()
        assert text.count(before) == 1, text
        self.file.write_text(text.replace(before, after))

    def restart(self) -> None:
        self.verifier.end()
        self.verifier.is_held = False
        eventually("it runs", self.verifier.is_running)
        self.system.wait_until_ready(self.verifier)

    def post(self, delivery) -> str:
        path = PATHS[NOTIFICATION] if delivery.kind == NOTIFICATION else "/v1/postbacks"
        status, _, body = self.ingest.post(path, delivery.body)
        assert status == 200, (status, body)
        return json.loads(body)["id"]

    def post_body(self, body: str) -> str:
        """Posts the body of a postback."""
        status, _, answer = self.ingest.post("/v1/postbacks", body)
        assert status == 200, (status, answer)
        return json.loads(answer)["id"]

    def ended(self, id: str) -> dict:
        return eventually("it is settled", lambda: (found := self.ingest.call(INGEST, "GetDelivery", {"id": id}))["state"] != "accepted" and found)

    def reverify(self, **fields) -> dict:
        return self.verifier.call(VERIFIER, "ReverifyDeliveries", fields)

    def all_pages(self, size: int, **fields) -> list[dict]:
        found, pages, token = [], 0, None
        while pages == 0 or token:
            page = self.reverify(**fields, maxDeliveries=size, **({"pageToken": token} if token else {}))
            deliveries = page.get("deliveries", [])
            assert len(deliveries) <= size and (len(deliveries) == size or "nextPageToken" not in page)
            found, pages, token = found + deliveries, pages + 1, page.get("nextPageToken")
        return found

    def counted(self, kind: str) -> dict[str, int]:
        """The deliveries of a kind in GetDeliveryCounts, by verdict."""
        counts: collections.Counter[str] = collections.Counter()
        for period in self.verifier.call(VERIFIER, "GetDeliveryCounts", {"period": "hour", "periods": 2})["periods"]:
            for one in period.get("counts", []):
                if one["kind"] == kind:
                    counts[one["verdict"]] += int(one["count"])
        return dict(counts)

    def events(self, type: str) -> list[dict]:
        return [event for event in self.system.events() if event["type"] == type]


def test_notifications_of_an_app_that_was_not_configured_are_verified_once_it_is(tmp_path, maker):
    """The history gets them in their order, and each step of the way is an event of its own that names the one before."""
    judged = Judged(tmp_path, maker.apple_key)
    judged.configure("com.example.app", "com.example.other")
    order = str(10 ** 14 + 7)
    sent = [maker.notification(order) for _ in range(3)]
    with judged.system:
        ids = [judged.post(one) for one in sent]
        assert [judged.ended(id)["reason"] for id in ids] == ["wrong_app"] * 3
        stranger = f"017-{uuid.uuid4().hex}"
        # Nothing has changed: they are rejected again, which is no event.
        answer = judged.reverify(ids=[*ids, stranger, ids[0]])
        assert [one["state"] for one in answer["deliveries"]] == ["queued"] * 3 + ["not_found"] and answer["queued"] == 3
        assert [one["eventId"] for one in answer["deliveries"][:3]] == [f"rejected:{id}" for id in ids]
        for id in ids:
            found = judged.ended(id)
            assert (found["reason"], found["eventId"], found["reverificationOf"]) == ("wrong_app", f"rejected:{id}", f"rejected:{id}")
        assert len(judged.events(REJECTED)) == 3
        # Another reason is another event.
        judged.configure("com.example.other", "com.example.app")
        judged.configure("environments: [Production, Sandbox]", "environments: [Sandbox]")
        judged.restart()
        assert judged.reverify(kind="notification", reason="wrong_app")["queued"] == 3
        for id in ids:
            found = judged.ended(id)
            assert (found["reason"], found["eventId"], found["reverificationOf"]) == ("wrong_environment", f"rejected:{id}:2", f"rejected:{id}")
        second = [event["data"] for event in judged.events(REJECTED) if event["id"].endswith(":2")]
        assert sorted(data["reverificationOf"] for data in second) == sorted(f"rejected:{id}" for id in ids)
        judged.configure("environments: [Sandbox]", "environments: [Production, Sandbox]")
        judged.restart()
        # A fourth, which was not rejected, is first.
        fourth = maker.notification(order)
        assert judged.ended(judged.post(fourth))["state"] == "verified"
        assert judged.reverify(reason="wrong_environment", startTime="2020-01-01T00:00:00Z")["queued"] == 3
        for id, one in zip(ids, sent, strict=True):
            found = judged.ended(id)
            assert (found["state"], found["reverificationOf"]) == ("verified", f"rejected:{id}:2") and one.name in found["eventId"]
            assert "body" not in found
            story = judged.verifier.call(EVENTS, "GetDeliveryStory", {"id": id})
            assert [step["step"] for step in story["steps"]] == ["accepted", "rejected", "verified", "published"]
            assert f"rejected:{id}:2" in story["steps"][1]["detail"] and story["event"]["data"]["reverificationOf"] == f"rejected:{id}:2"
        verified = judged.events(VERIFIED)
        assert [event["data"]["notificationUUID"] for event in verified] == [fourth.name, *(one.name for one in sent)]
        assert all(event["data"]["lifecycle"]["state"] == "active" for event in verified)
        state = judged.verifier.call(VERIFIER, "GetSubscriptionState", {"environment": "Production", "originalTransactionId": order})
        assert all(one.name in json.dumps(state) for one in [*sent, fourth]), state
        # They are known now, whatever is sent or asked again.
        assert [one["state"] for one in judged.reverify(ids=ids)["deliveries"]] == ["not_rejected"] * 3
        assert [judged.ended(judged.post(one))["state"] for one in sent] == ["verified"] * 3
        assert len(judged.events(VERIFIED)) == 4 and len(judged.events(REJECTED)) == 6
        # However often they are judged, the three were rejected when they arrived; then the fourth, and the three repeats, arrived.
        expected = {"rejected": 3, "verified": 1, "duplicate": 3}
        eventually("they are counted", lambda: judged.counted("notification") == expected, 20)
        values = judged.verifier.call(VERIFIER, "GetValueCounts", {})
        assert [one["count"] for one in values["notifications"]] == [4], values


def test_deliveries_are_selected_by_reason_kind_and_time_and_a_repeated_call_does_nothing_twice(tmp_path, maker):
    judged = Judged(tmp_path, Maker(maker.dice).apple_key)
    judged.configure("com.example.app", "com.example.other")
    with judged.system:
        early = [judged.post(maker.postback()) for _ in range(5)]
        notifications = [judged.post(maker.notification()) for _ in range(5)]
        for id in early + notifications:
            judged.ended(id)
        time.sleep(1.1)
        middle = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        late = [judged.post(maker.postback()) for _ in range(25)]
        malformed = judged.post_body(json.dumps({**json.loads(maker.postback().body), "fidelity-type": 7}))
        assert [judged.ended(id)["reason"] for id in early + late] == ["bad_signature"] * 30
        assert [judged.ended(id)["reason"] for id in notifications] == ["wrong_app"] * 5 and judged.ended(malformed)["reason"] == "malformed"
        judged.configure(judged.apple_key, maker.apple_key)
        judged.restart()

        def ids(found: list[dict]) -> list[str]:
            assert {one["state"] for one in found} <= {"queued"}
            return sorted(one["id"] for one in found)

        assert ids(judged.all_pages(2, kind="adattributionkit-postback")) == []
        assert ids(judged.all_pages(2, kind="skadnetwork-postback", reason="wrong_app")) == []
        assert ids(judged.all_pages(2, kind="skadnetwork-postback", reason="malformed")) == [malformed]
        assert ids(judged.all_pages(3, kind="notification", startTime="2020-01-01T00:00:00Z", endTime=middle)) == sorted(notifications)
        assert ids(judged.all_pages(2, kind="skadnetwork-postback", reason="bad_signature", endTime=middle)) == sorted(early)
        assert {judged.ended(id)["state"] for id in early} == {"verified"}
        # A repeat with the same key is answered with the same page, and queues nothing; a new call gets the rest.
        key, page = uuid.uuid4().hex, {"kind": "skadnetwork-postback", "reason": "bad_signature", "maxDeliveries": 10}
        first = judged.verifier.rpc(VERIFIER, "ReverifyDeliveries", page, key)
        assert first[0] == 200 and first[1]["queued"] == 10
        assert judged.verifier.rpc(VERIFIER, "ReverifyDeliveries", page, key) == first
        rest = judged.all_pages(10, kind="skadnetwork-postback", reason="bad_signature", startTime=middle)
        assert ids(first[1]["deliveries"] + rest) == sorted(late)
        assert {judged.ended(id)["state"] for id in late} == {"verified"}
        # The others were rejected again, for the same reason, and have one event each.
        assert judged.ended(malformed)["reason"] == "malformed"
        assert {judged.ended(id)["reason"] for id in notifications} == {"wrong_app"}
        rejected = [event["data"]["deliveryId"] for event in judged.system.events() if ".rejected." in event["type"]]
        assert sorted(rejected) == sorted(early + late + notifications + [malformed])
        verified = [event["data"] for event in judged.system.events() if ".verified." in event["type"]]
        assert sorted(data["reverificationOf"] for data in verified) == sorted(f"rejected:{id}" for id in early + late)
        assert all(data["deliveryId"] == data["reverificationOf"].removeprefix("rejected:") for data in verified)


def test_postbacks_of_a_key_that_was_not_known_are_verified_once_it_is(tmp_path, maker):
    """An AdAttributionKit postback, repeated meanwhile in other bytes: it counts once."""
    vectors = json.loads((VECTORS / "attribution" / "postbacks.json").read_text())
    body = next(case["body"] for case in vectors["cases"] if case["id"] == "aak-plain")
    judged = Judged(tmp_path, maker.apple_key)
    judged.configure("appleKeys: {", f'appleKeys: {{ kids: {{ "another/0": {maker.apple_key} }},')
    with judged.system:
        first = judged.post_body(body)
        assert judged.ended(first)["reason"] == "unknown_key"
        assert base64.b64decode(judged.ended(first)["body"]).decode() == body
        key = vectors["publicKeys"]["test"]["P-256"]
        judged.configure(f'"another/0": {maker.apple_key}', f'"apple-cas-identifier/0": {key}')
        judged.restart()
        assert judged.reverify(kind="adattributionkit-postback", reason="unknown_key")["queued"] == 1
        found = judged.ended(first)
        assert (found["state"], found["reverificationOf"]) == ("verified", f"rejected:{first}")
        second = judged.post_body(body + " ")
        assert judged.ended(second)["reason"] == "duplicate" and "reverificationOf" not in judged.ended(second)
        events = judged.system.events()
        assert sorted(event["type"] for event in events) == [
            "attribution.adattributionkit.postback.rejected.v1", "attribution.adattributionkit.postback.verified.v1"]
        assert next(event["data"]["reverificationOf"] for event in events if ".verified." in event["type"]) == f"rejected:{first}"


@pytest.mark.parametrize("request_fields, field", [
    ({}, "ids"), ({"maxDeliveries": 5}, "ids"), ({"ids": ["017-x"]}, "ids[0]"), ({"ids": [f"017-{'a' * 32}"], "reason": "malformed"}, "reason"),
    ({"ids": [f"017-{'a' * 32}"], "startTime": "2026-01-01T00:00:00Z"}, "startTime"), ({"ids": [f"017-{'a' * 32}"] * 1001}, "ids"),
    ({"ids": [f"017-{'a' * 32}"], "pageToken": "x"}, "pageToken"), ({"reason": "malformd"}, "reason"), ({"kind": "session"}, "kind"),
    ({"kind": "notification", "maxDeliveries": 0}, "maxDeliveries"), ({"kind": "notification", "maxDeliveries": 1001}, "maxDeliveries"),
    ({"kind": "notification", "pageToken": "1-256-YQ"}, "pageToken"),
    ({"startTime": "2026-01-02T00:00:00Z", "endTime": "2026-01-01T00:00:00Z"}, "endTime"),
])
def test_an_invalid_selection_names_its_field(system, request_fields, field):
    answer = system.rpc("Verifier", "ReverifyDeliveries", request_fields, key=uuid.uuid4().hex)
    assert answer.status == 400 and field in answer.body.decode(), answer
    violations = [one["field"] for detail in answer.json["details"] for one in detail.get("debug", {}).get("fieldViolations", [])]
    assert violations == [field], answer


def test_bodies_beyond_the_limit_are_not_kept(tmp_path, maker):
    """Each shard keeps about 20,000 bytes: one of these bodies. Those of genuine deliveries of another app are not pushed out."""
    judged = Judged(tmp_path, maker.apple_key, f"{{ lease: 2s, workerTimeout: 2s, rejectedBytes: {256 * 20_000} }}")
    judged.configure("com.example.app", "com.example.other")
    with judged.system:
        genuine = judged.post(maker.notification())
        assert judged.ended(genuine)["reason"] == "wrong_app"

        def post(size: int) -> str:
            return judged.post_body(json.dumps({**json.loads(maker.postback().body), "app-id": 1, "x": "x" * size}))

        large = post(20_000)
        assert "body" not in judged.ended(large)
        flood = [post(14_000) for _ in range(400)]
        judged.system.wait_until_worked()
        newest = {id[:3]: id for id in flood}
        shared = newest.pop(genuine[:3], None)
        kept = {id for id in flood if "body" in judged.ingest.call(INGEST, "GetDelivery", {"id": id})}
        assert kept - {shared} == set(newest.values())
        assert base64.b64decode(judged.ingest.call(INGEST, "GetDelivery", {"id": genuine})["body"])
        dropped = judged.verifier.metric("attribution_queue_rejected_dropped_total")
        assert dropped == len(flood) + 1 - len(kept)
        results = {one["id"]: one["state"] for one in judged.reverify(ids=[large, *flood])["deliveries"]}
        assert {id for id, state in results.items() if state == "queued"} == kept
        assert {state for id, state in results.items() if id not in kept} == {"not_kept"}


def test_a_verifier_that_is_killed_meanwhile_loses_and_doubles_nothing(tmp_path, maker):
    judged = Judged(tmp_path, Maker(maker.dice).apple_key, "{ lease: 1s, workerTimeout: 1s }")
    dice = maker.dice
    with judged.system:
        sent = [maker.postback() for _ in range(400)]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            ids = list(pool.map(judged.post, sent))
        judged.system.wait_until_worked()
        assert set(judged.system.states(ids).values()) == {"rejected"}
        judged.configure(judged.apple_key, maker.apple_key)
        judged.restart()
        kills = 0
        until = time.monotonic() + 90
        while set(judged.system.states(ids).values()) != {"verified"} and time.monotonic() < until:
            def call() -> None:
                with contextlib.suppress(OSError, ValueError):
                    judged.verifier.rpc(VERIFIER, "ReverifyDeliveries", {"kind": "skadnetwork-postback", "maxDeliveries": 60})

            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                calls = [pool.submit(call) for _ in range(2)]
                if kills < 6:
                    time.sleep(dice.uniform(0, 0.08))
                    judged.verifier.signal(signal.SIGKILL)
                    kills += 1
                concurrent.futures.wait(calls)
            eventually("it is ready again", judged.verifier.is_ready)
        print(f"{kills} kills")
        assert kills >= 3 and set(judged.system.states(ids).values()) == {"verified"}
        judged.system.wait_until_worked()
        events = judged.system.events()
        assert len({event["id"] for event in events}) == len(events) == 2 * len(ids)
        verified = [event["data"] for event in events if ".verified." in event["type"]]
        assert sorted(data["reverificationOf"] for data in verified) == sorted(f"rejected:{id}" for id in ids)
        assert not [key for shard in range(256) for key in judged.system.client.keys(f"{{attr:{shard:03d}}}:rejected:*")]
