"""The queue's guarantees one by one, with the real executables: a forgery hides no genuine delivery, a stale worker settles nothing, a
delayed message is processed when due, a lost reply delays no message, and at replicated durability a replica has what is acknowledged.

Overload, a full Redis, SIGTERM, dead letters and operators' calls are in test_guarantees_under_load.py, the order of notifications in
test_guarantees_of_order.py and test_order.py."""

import asyncio
import concurrent.futures
import json
import os
import random
import signal
import threading
import time

import pytest
import redis

from SystemTests.faults.load import Ledger, Maker
from SystemTests.faults.process import Process, Proxy
from SystemTests.faults.system import FaultSystem
from SystemTests.support.free_ports import free_port

from .guarantee_steps import LOAD_FACTOR, answers, check, eventually, owned, post, post_all, suspend_with_pending_messages


@pytest.fixture
def maker():
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    return Maker(random.Random(seed))


def test_a_forgery_hides_no_genuine_delivery_in_any_order(tmp_path, maker):
    system = FaultSystem(tmp_path, maker.apple_key, "{ lease: 2s, workerTimeout: 2s, maxDeliveries: 1000 }")
    ingests = [system.service("ingest"), system.service("ingest")]
    verifiers = [system.service("verifier"), system.service("verifier")]
    ledger = Ledger()
    with system:
        pairs = [(genuine := maker.postback(), maker.forged(genuine), maker.forged(genuine)) for _ in range(60)]
        for genuine, forged, other in pairs[:20]:
            for delivery in (forged, genuine, other):
                post(ingests[0], delivery, ledger)
        for genuine, forged, _ in pairs[20:40]:
            post(ingests[0], genuine, ledger)
            post(ingests[1], forged, ledger)
        # All deliveries of a postback at the same time, at two instances.
        together = [(ingests[number % 2], delivery) for pair in pairs[40:] for number, delivery in enumerate(pair)]
        maker.dice.shuffle(together)
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            list(pool.map(lambda one: post(*one, ledger), together))
        # The forgery comes before a restart of all processes and the genuine one after it, and the reverse.
        before = [(genuine := maker.postback(), maker.forged(genuine)) for _ in range(20)]
        for number, pair in enumerate(before):
            post(ingests[0], pair[number % 2], ledger)
        for one in [*ingests, *verifiers, system.redis]:
            one.signal(signal.SIGKILL)
        for one in ingests:
            eventually("started again", lambda one=one: one.starts > 1)
            system.wait_until_ready(one)
        for number, pair in enumerate(before):
            post(ingests[1], pair[1 - number % 2], ledger)
        counts = check(system, ledger)
    assert counts["postbacks verified"] == 80 and counts["forgeries rejected"] == 120, counts


def test_a_stale_worker_cannot_settle_messages_of_the_new_owner(tmp_path, maker):
    system = FaultSystem(tmp_path, maker.apple_key, "{ lease: 1s, workerTimeout: 1s, maxDeliveries: 1000 }")
    ingest, stale, other = system.service("ingest"), system.service("verifier"), system.service("verifier")
    stale.is_held = other.is_held = True
    ledger = Ledger()
    with system:
        stale.end()
        other.end()
        deliveries = [maker.postback() for _ in range(300 * LOAD_FACTOR)]
        deliveries += [maker.notification(str(10 ** 14 + number % 7)) for number in range(60)]
        forged = [maker.forged(one) for one in deliveries[:60]]
        for one in deliveries[300 * LOAD_FACTOR:]:
            post(ingest, one, ledger)
        post_all([ingest], deliveries[:300 * LOAD_FACTOR] + forged, ledger)
        stale.start()
        unsettled, shards = suspend_with_pending_messages(system, stale), len(owned(system))
        other.start()
        system.wait_until_worked()
        taken_over = other.metric("attribution_queue_reclaimed_total")
        before = system.event_count()
        stale.signal(signal.SIGCONT)
        lost = eventually("the stale worker finds its shards lost", lambda: stale.metric("attribution_queue_lease_lost_total"))
        time.sleep(1)
        assert system.event_count() == before
        counts = check(system, ledger)
        assert taken_over >= shards, (taken_over, shards)
        print(f"unsettled when suspended: {unsettled} in {shards} shards, taken over: {taken_over:.0f}, found lost: {lost:.0f}, {counts}")


def test_delayed_messages_are_processed_when_due_without_polling(tmp_path, maker):
    system = FaultSystem(tmp_path, maker.apple_key)
    broker = system.service("asa-token-broker", **system.start_simulator())
    other = system.service("asa-token-broker", **broker_variables(broker))
    ingest = system.service("ingest")
    system.service("verifier")
    with system, redis.Redis(port=system.redis_port).monitor() as monitor:
        seen = []
        threading.Thread(target=watch, args=(monitor, seen), daemon=True).start()
        # Each service queries all shards once when it starts.
        eventually("all started services have queried their shards", lambda: no_query_for(1, seen))
        token = maker.token()
        body = json.loads(token.body) | {"requestedAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
        id = json.loads(ingest.post(token.path, json.dumps(body))[2])["id"]
        due = system.client.zscore(f"{{attr:{id[:3]}}}:q:tokens:delayed", id) / 1000
        assert due > time.time() + 2, due - time.time()
        # Both brokers query when they are notified, and then wait until the message is due.
        eventually("both brokers wait until the message is due", lambda: no_query_for(0.5, seen))
        listened = time.time()
        assert listened < due - 1, "the machine is too slow for this test"
        first = len(seen)
        # One of the two waiting brokers is killed before the message is due.
        other.is_held = True
        other.signal(signal.SIGKILL)
        time.sleep(due - 0.5 - time.time())
        commands, span = seen[first:], time.time() - listened
        queries = [command for command in commands if is_query(command)]
        assert time.time() >= due or not queries, [len(commands), *queries]
        print(f"{len(commands)} commands of two brokers, an ingest and a verifier in {span:.1f} idle s, {len(queries)} for delayed messages")
        eventually("the delayed message is processed", lambda: system.states([id])[id] == "done", 60)
        event = next(event for event in system.events() if event["data"].get("exchangeId") == id)
        assert event["type"] == "attribution.adservices.resolved.v1"
        assert time.time() >= due


def test_a_token_whose_accept_lost_its_reply_is_processed_soon(tmp_path, maker):
    """The token does not wait until the broker queries all shards, which it does once a minute."""
    system = FaultSystem(tmp_path, maker.apple_key)
    system.service("asa-token-broker", **system.start_simulator())
    proxy = Proxy(system.redis_port, random.Random())
    ingest = system.service("ingest", proxy.port)

    def accepted() -> int:
        return sum(1 for _ in system.client.scan_iter("{attr:*}:r:*", 1000))

    def is_processed() -> bool:
        return len(system.events()) == 2 and not any(system.unfinished("tokens").values())

    async def play() -> None:
        await proxy.start()
        await asyncio.to_thread(system.start)
        # After this token Redis has the script, so that the next token needs only one command.
        await asyncio.to_thread(post, ingest, maker.token())
        token = maker.token()
        proxy.unanswered = token.name.encode()
        status, _, body = await asyncio.to_thread(ingest.post, "/v1/adservices/tokens", token.body)
        # Ingest repeats the command whose reply was cut, and may take its own token for a duplicate. Then it also accepts what this submission
        # could add, which is nothing.
        expected = 2 if status == 503 else 3
        assert proxy.cuts == 1 and (status == 503 or json.loads(body)["status"] == "duplicate"), (status, body)
        await asyncio.to_thread(eventually, "Redis has executed what it was sent", lambda: accepted() == expected)
        await asyncio.to_thread(eventually, "the token is processed", is_processed, 30)

    async def play_and_stop() -> None:
        try:
            await play()
        finally:
            await asyncio.to_thread(system.stop)
            await proxy.stop()

    asyncio.run(play_and_stop())


def test_at_replicated_durability_nothing_is_acknowledged_before_a_replica_has_it(tmp_path, maker):
    system = FaultSystem(tmp_path, maker.apple_key, "{ durability: replicated, replicationTimeout: 300ms }")
    ingest = system.service("ingest")
    port = free_port()
    replica = Process("replica", ["redis-server", "--port", port, "--bind", "127.0.0.1", "--dir", tmp_path, "--save", "", "--appendonly", "yes"],
                      dict(os.environ), tmp_path / "replica.log")
    postback, session = maker.postback(), maker.story()[0]
    install = json.loads(session.body)["installId"]
    answer = json.dumps({"bundleId": "com.example.app", "attStatus": 2})

    def send() -> list[int]:
        return [ingest.post("/v1/postbacks", postback.body)[0], ingest.post("/v1/sessions", session.body)[0],
                ingest.post(f"/v1/sessions/{install}/att-status", answer, method="PUT")[0]]

    try:
        with system, redis.Redis(port=port) as follower:
            assert send() == [500, 503, 503]
            # A repetition of an unconfirmed accept must not be answered with success.
            assert send() == [500, 503, 503]
            replica.start()
            eventually("the replica runs", lambda: answers(follower))
            # By default Redis waits some seconds for more replicas before it sends its data.
            system.client.config_set("repl-diskless-sync-delay", 0)
            follower.replicaof("127.0.0.1", system.redis_port)
            eventually("all are acknowledged", lambda: send() == [200, 202, 200])
            key = next(iter(follower.scan_iter("*:install:*", 1000)))
            assert follower.get(key) == system.client.get(key) is not None
            # After SIGTERM it would first write its log to the disk.
            replica.signal(signal.SIGKILL)
            assert send() == [500, 503, 503]
    finally:
        replica.end()


def is_query(command: str) -> bool:
    """Whether the command queries delayed messages."""
    return ":delayed" in command or ":schedule" in command


def no_query_for(seconds: float, seen: list[str]) -> bool:
    """Whether no query is sent within these seconds."""
    first = len(seen)
    time.sleep(seconds)
    return not any(map(is_query, seen[first:]))


def watch(monitor, seen: list[str]) -> None:
    """Appends to `seen` the commands that clients, and not scripts, send to Redis, until the monitor is closed."""
    try:
        for one in monitor.listen():
            if one["client_type"] != "lua":
                seen.append(one["command"])
    except (ValueError, OSError, redis.RedisError):
        return


def broker_variables(broker) -> dict[str, str]:
    return {name: broker.environment[name] for name in ("ATTRIBUTION_ADSERVICES_URL", "ATTRIBUTION_CA_FILE")}
