"""The queue's guarantees under load, with the real executables: overload, a full Redis, SIGTERM, dead letters and operators' calls."""

import asyncio
import concurrent.futures
import json
import random
import signal
import threading
import time

import pytest

from SystemTests.faults.load import Ledger, Maker, send_many
from SystemTests.faults.system import FaultSystem

from .guarantee_steps import LOAD_FACTOR, QUEUES, check, eventually, owned, post, post_all, suspend_with_pending_messages


@pytest.fixture
def maker():
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    return Maker(random.Random(seed))


def test_overload_is_refused_at_the_limits_and_recovers(tmp_path, maker):
    limit = 2 * 256 * LOAD_FACTOR
    system = FaultSystem(tmp_path, maker.apple_key, f"{{ lease: 2s, workerTimeout: 2s, backlogBound: {limit} }}")
    ingest, verifier = system.service("ingest"), system.service("verifier")
    ledger = Ledger()
    with system:
        verifier.end()
        refused = []

        def send_one(delivery) -> tuple[int, dict[str, str]]:
            status, headers, body = ingest.post(delivery.path, delivery.body)
            if status == 200:
                ledger.acknowledge(delivery, json.loads(body)["id"])
            return status, headers

        def send(_) -> None:
            delivery = maker.postback()
            status, headers = send_one(delivery)
            if status != 200:
                refused.append((delivery, status, headers))

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            list(pool.map(send, range(2 * limit)))
        assert refused and {status for _, status, _ in refused} == {500}
        assert all(int(headers["retry-after"]) >= 1 for _, _, headers in refused)
        left = system.unfinished("intake")
        assert left["ready"] == ledger.count <= limit, left
        # The App Store repeats a notification after 503.
        answers = [ingest.post(one.path, one.body) for one in (maker.notification() for _ in range(200))]
        assert all(int(headers["retry-after"]) >= 1 for status, headers, _ in answers if status == 503)
        assert {status for status, _, _ in answers} <= {200, 503} and any(status == 503 for status, _, _ in answers)
        assert system.unfinished("intake")["ready"] <= limit
        # A repetition of an accepted delivery is reported as such, whether the queue is full or not.
        known = next(iter(ledger.deliveries.values()))
        assert json.loads(ingest.post(known.path, known.body)[2])["status"] == "duplicate"
        assert ingest.queue()["oldestAgeSeconds"] > 0
        verifier.is_held = False
        for delivery, _, _ in refused:
            eventually("a refused delivery is accepted", lambda delivery=delivery: send_one(delivery)[0] == 200)
        system.wait_until_worked()
        assert not ingest.queue().get("oldestAgeSeconds")
        # While more arrives than is processed, no message waits much longer than the queue's limit takes to be processed.
        refused.clear()
        before, began, ages = ledger.count, time.monotonic(), []

        def flood() -> None:
            while time.monotonic() < began + 8:
                send(None)

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            sending = [pool.submit(flood) for _ in range(16)]
            while not all(one.done() for one in sending):
                # The verifier runs only an eighth of the time.
                verifier.signal(signal.SIGSTOP)
                time.sleep(0.7)
                verifier.signal(signal.SIGCONT)
                time.sleep(0.1)
                ages.append(ingest.queue().get("oldestAgeSeconds", 0))
        for one in sending:
            one.result()
        assert refused
        rate = (ledger.count - before - int(ingest.queue().get("depth", 0))) / (time.monotonic() - began)
        print(f"{ledger.count - before} accepted, {len(refused)} refused, oldest {max(ages)} s, processed {rate:.0f} a second")
        assert rate > 0 and max(ages) <= 2 + 3 * limit / rate, (ages, rate)
        system.wait_until_worked()
        verified = [event for event in system.events() if event["type"] == "attribution.skadnetwork.postback.verified.v1"]
        assert len(verified) == ledger.count == len({event["id"] for event in verified})


def test_a_full_redis_refuses_deliveries_and_its_queues_are_drained(tmp_path, maker):
    system = FaultSystem(tmp_path, maker.apple_key)
    ingest, verifier = system.service("ingest"), system.service("verifier")
    ledger = Ledger()
    with system:
        verifier.call(QUEUES, "PauseQueue", {"queue": "intake"})
        time.sleep(1.5)
        post_all([ingest], [maker.postback() for _ in range(50)], ledger)
        assert system.event_count() == 0
        system.client.config_set("maxmemory", "1mb")
        # A call with a key needs memory for the key.
        assert system.client.delete("{attr:000}:q:intake:paused") == 1
        # There is no memory for new deliveries, but waiting messages become events.
        eventually("waiting messages are processed", lambda: system.event_count() == 50)
        late, notification = maker.postback(), maker.notification()
        assert ingest.post(late.path, late.body)[0] == 500
        assert ingest.post(notification.path, notification.body)[0] == 503
        system.client.config_set("maxmemory", "0")
        for one in (late, notification):
            eventually("refused deliveries are accepted", lambda one=one: ingest.post(one.path, one.body)[0] == 200)
            post(ingest, one, ledger)
        counts = check(system, ledger)
    assert counts["postbacks verified"] == 51 and counts["notifications"] == 1


def test_sigterm_under_load_loses_no_delivery_and_releases_all_leases(tmp_path, maker):
    # A lease that is not returned would hold its message for longer than this test waits.
    system = FaultSystem(tmp_path, maker.apple_key, "{ lease: 300s, workerTimeout: 300s }")
    ingests = [system.service("ingest"), system.service("ingest")]
    verifiers = [system.service("verifier"), system.service("verifier")]
    ledger = Ledger()

    async def terminate() -> None:
        for number in range(6):
            while ledger.count < 120 * LOAD_FACTOR * (number + 1):
                await asyncio.sleep(0.01)
            one = [*verifiers, *ingests][number % 4]
            # A worker that has not started yet has no leases to return.
            await asyncio.to_thread(system.wait_until_ready, one)
            process = one.process
            one.signal(signal.SIGTERM)
            assert await asyncio.to_thread(process.wait, 60) == 0, one.log()[-2000:]

    async def play() -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(16):
                group.create_task(send_many(maker, [one.public_port for one in ingests], ledger, 900 * LOAD_FACTOR, number, tokens=False))
            group.create_task(terminate())

    with system:
        asyncio.run(play())
        for one in verifiers:
            system.wait_until_ready(one)
            one.is_held = True
        for one in verifiers:
            one.signal(signal.SIGTERM)
        for one in verifiers:
            assert one.process.wait(60) == 0
        assert not owned(system)
        assert not ledger.refusals, ledger.refusals
        for one in verifiers:
            one.is_held = False
        counts = check(system, ledger)
    print(f"{counts}, broken connections: {ledger.breaks}")


def test_queues_are_paused_listed_replayed_and_purged_by_every_service_that_works_one_under_load(tmp_path, maker):
    system = FaultSystem(tmp_path, maker.apple_key, "{ lease: 1s, workerTimeout: 1s, maxDeliveries: 1 }")
    ingest, verifier = system.service("ingest"), system.service("verifier")
    broker = system.service("asa-token-broker", **system.start_simulator())
    ledger, ending = Ledger(), threading.Event()

    def load() -> None:
        while not ending.is_set():
            post(ingest, maker.postback(), ledger)

    with system:
        verifier.end()
        # Messages whose worker was killed once are given up here, so good messages become dead letters.
        post_all([ingest], [maker.postback() for _ in range(300 * LOAD_FACTOR)], ledger)
        verifier.start()
        unsettled = suspend_with_pending_messages(system, verifier, least=2)
        verifier.signal(signal.SIGKILL)
        verifier.process.wait()
        verifier.is_held = False
        system.wait_until_worked()
        letters = {tuple(sorted(letter["id"] for letter in service.call(QUEUES, "ListDeadLetters", {
            "queue": "intake", "maxLetters": 1000})["deadLetters"])) for service in (ingest, verifier, broker)}
        assert len(letters) == 1
        ids = list(letters.pop())
        assert len(ids) == unsettled, (len(ids), unsettled)
        assert set(system.states(ids).values()) == {"dead"}
        thread = threading.Thread(target=load)
        thread.start()
        try:
            for service in (ingest, verifier, broker):
                assert service.call(QUEUES, "PauseQueue", {"queue": "intake"})["queue"]["paused"]
                # The verifier finishes messages that it has leased already, and may lease more during the next second.
                time.sleep(1.5)
                count, accepted = system.event_count(), ledger.count
                eventually("more deliveries are accepted", lambda accepted=accepted: ledger.count > accepted + 20)
                assert system.event_count() == count
                state = service.queue()
                assert state["paused"] and int(state["depth"]) >= 20, state
                assert not service.call(QUEUES, "ResumeQueue", {"queue": "intake"})["queue"].get("paused")
                eventually("messages are processed again", lambda count=count: system.event_count() > count)
            again, gone = ids[:len(ids) // 2], ids[len(ids) // 2:]
            assert broker.call(QUEUES, "ReplayDeadLetters", {"queue": "intake", "ids": again})["replayed"] == len(again)
            assert ingest.call(QUEUES, "PurgeDeadLetters", {"queue": "intake", "ids": gone})["purged"] == len(gone)
            eventually("the replayed messages are verified", lambda: set(system.states(again).values()) == {"verified"})
        finally:
            ending.set()
            thread.join()
        for id in gone:
            del ledger.deliveries[id]
        counts = check(system, ledger)
        assert counts["postbacks verified"] == ledger.count - len(gone)
        assert not verifier.call(QUEUES, "ListDeadLetters", {"queue": "intake"}).get("deadLetters")
