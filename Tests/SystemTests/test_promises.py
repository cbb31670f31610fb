"""The queue's promises one by one, with the real executables: forgeries shadow nothing, a stale worker can do nothing, poison ends as
dead letters, what is delayed comes when it is due, order holds, overload is refused and passes, a SIGTERM loses nothing."""

import asyncio
import concurrent.futures
import json
import os
import random
import signal
import socket
import threading
import time

import pytest
import redis
from cryptography import x509
from cryptography.x509.oid import AuthorityInformationAccessOID
from differential import certificates
from differential.certificates import ROOT, Chain
from fault_load import Connection, Ledger, Maker, account, deliver, send_many
from fault_system import SHARDS, FaultSystem, Process, Proxy
from free_ports import free_port

QUEUES = "queues.v1.QueuesService"
SOAK = os.environ.get("ATTRIBUTION_SOAK") == "1"
# How much more the long form does.
MUCH = 4 if SOAK else 1


@pytest.fixture
def maker():
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    return Maker(random.Random(seed))


def post(service, delivery, ledger: Ledger | None = None) -> str:
    status, _, body = service.post(delivery.path, delivery.body)
    assert status in (200, 202), (status, body)
    if ledger:
        ledger.acknowledge(delivery, json.loads(body)["id"])
    return json.loads(body)["id"]


def post_all(services, deliveries, ledger: Ledger) -> None:
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda pair: post(services[pair[0] % len(services)], pair[1], ledger), enumerate(deliveries)))


def eventually(what: str, condition, seconds: float = 60):
    until = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < until, f"not in time: {what}"
        time.sleep(0.05)
    return found


def owned(system: FaultSystem, queue: str = "intake") -> list[int]:
    """Shards that a worker owns: it has said who it is, and not that it has ended."""
    owners = [system.client.get(f"{{attr:{shard:03d}}}:q:{queue}:owner") for shard in SHARDS]
    return [shard for shard, owner in zip(SHARDS, owners, strict=True) if owner and not owner.endswith(b" -")]


def pending(system: FaultSystem, queue: str = "intake") -> int:
    """Messages of shards that a worker owns, which are not settled."""
    return sum(system.client.xlen(f"{{attr:{shard:03d}}}:q:{queue}") for shard in owned(system, queue))


def stop_while_it_holds(system: FaultSystem, verifier, least: int = 1) -> int:
    """Stops the one verifier that runs at a moment when it has messages to settle; answers how many."""
    for _ in range(200):
        verifier.signal(signal.SIGSTOP)
        # What it had sent is done by Redis nevertheless.
        time.sleep(0.1)
        if (held := pending(system)) >= least:
            return held
        verifier.signal(signal.SIGCONT)
        time.sleep(random.uniform(0, 0.02))
    raise AssertionError("it never held anything")


def check(system: FaultSystem, ledger: Ledger) -> dict[str, int]:
    system.wait_until_worked()
    return account(system.events(), system.states(list(ledger.deliveries)), ledger)


def test_a_forgery_shadows_nothing_whichever_comes_first(tmp_path, maker):
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
        # At the same moment, at several instances.
        together = [(ingests[number % 2], delivery) for pair in pairs[40:] for number, delivery in enumerate(pair)]
        maker.dice.shuffle(together)
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            list(pool.map(lambda one: post(*one, ledger), together))
        # Forged before a restart of all, genuine after it; and the other way round.
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


def test_a_stale_worker_can_not_settle_what_another_has_taken_over(tmp_path, maker):
    system = FaultSystem(tmp_path, maker.apple_key, "{ lease: 1s, workerTimeout: 1s, maxDeliveries: 1000 }")
    ingest, stale, other = system.service("ingest"), system.service("verifier"), system.service("verifier")
    stale.is_held = other.is_held = True
    ledger = Ledger()
    with system:
        stale.end()
        other.end()
        deliveries = [maker.postback() for _ in range(300 * MUCH)]
        deliveries += [maker.notification(str(10 ** 14 + number % 7)) for number in range(60)]
        forged = [maker.forged(one) for one in deliveries[:60]]
        for one in deliveries[300 * MUCH:]:
            post(ingest, one, ledger)
        post_all([ingest], deliveries[:300 * MUCH] + forged, ledger)
        stale.start()
        held, shards = stop_while_it_holds(system, stale), len(owned(system))
        other.start()
        system.wait_until_worked()
        taken = other.metric("attribution_queue_reclaimed_total")
        before = system.event_count()
        stale.signal(signal.SIGCONT)
        lost = eventually("the stale worker finds its shards lost", lambda: stale.metric("attribution_queue_lease_lost_total"))
        time.sleep(1)
        assert system.event_count() == before
        counts = check(system, ledger)
        assert taken >= shards, (taken, shards)
        print(f"held when stopped: {held} in {shards} shards, taken over: {taken:.0f}, found lost: {lost:.0f}, {counts}")


class HangingResponder:
    """A certificate's responder that takes connections and never answers."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.connections: list[socket.socket] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                self.connections.append(self.socket.accept()[0])
            except OSError:
                return

    def is_asked(self) -> bool:
        """Whether somebody waits for an answer now: a process that died has closed its connection."""
        for one in list(self.connections):
            try:
                while one.recv(4096, socket.MSG_DONTWAIT):
                    pass
            except BlockingIOError:
                return True
            except OSError:
                pass
            self.connections.remove(one)
        return False

    def close(self) -> None:
        self.socket.close()
        for one in self.connections:
            one.close()


def hanging_chain(port: int) -> Chain:
    """A chain whose leaf names that responder."""
    access = x509.AuthorityInformationAccess([x509.AccessDescription(
        AuthorityInformationAccessOID.OCSP, x509.UniformResourceIdentifier(f"http://127.0.0.1:{port}/"))])
    authority = certificates.authority(f"promise authority {port}", extra=[(access, False)])
    leaf = certificates.leaf(f"promise leaf {port}", authority, extra=[(access, False)])
    return Chain("hanging", [leaf.text, authority.text, ROOT.text], leaf.key, True)


def test_a_message_whose_workers_die_while_a_responder_is_asked_is_kept_and_the_next_of_its_order_key_waits(tmp_path, maker):
    responder = HangingResponder()
    system = FaultSystem(tmp_path, maker.apple_key, "{ lease: 1s, workerTimeout: 1s, maxDeliveries: 3 }")
    configuration = tmp_path / "configuration.yaml"
    configuration.write_text(configuration.read_text().replace("rootCertificates:", "revocation: required, rootCertificates:"))
    ingest, verifier = system.service("ingest"), system.service("verifier")
    ledger = Ledger()
    plain, maker.chain = maker.chain, hanging_chain(responder.port)
    with system:
        first = post(ingest, maker.notification("777"))
        maker.chain = plain
        behind = post(ingest, maker.notification("777"))
        # Asking is no work that a worker could have died of: it is done beside, more often than a message may be taken over.
        for _ in range(4):
            pid = verifier.pid
            eventually("the responder is asked", responder.is_asked)
            verifier.signal(signal.SIGKILL)
            verifier.process.wait()
            eventually("another verifier starts", lambda pid=pid: verifier.is_running() and verifier.pid != pid)
            for _ in range(4):
                post(ingest, maker.postback(), ledger)
        eventually("all others are worked", lambda: set(system.states(list(ledger.deliveries)).values()) == {"verified"})
        assert system.states([first, behind]) == {first: "accepted", behind: "accepted"}
        system.wait_until_ready(verifier)
        assert not verifier.call(QUEUES, "ListDeadLetters", {"queue": "intake"}).get("deadLetters")
        # Both wait: the first for an answer, the other for its turn, or with it, since `required` accepts none that has no responder.
        delayed = f"{{attr:{first[:3]}}}:q:intake:delayed"
        eventually("both wait", lambda: system.client.zcard(delayed) == 2)
    responder.close()


def test_what_is_delayed_comes_when_it_is_due_and_an_idle_system_does_not_look_for_it(tmp_path, maker):
    system = FaultSystem(tmp_path, maker.apple_key)
    broker = system.service("asa-token-broker", **system.start_simulator())
    other = system.service("asa-token-broker", **broker_variables(broker))
    ingest = system.service("ingest")
    system.service("verifier")
    with system, redis.Redis(port=system.redis_port).monitor() as monitor:
        seen = []
        threading.Thread(target=watch, args=(monitor, seen), daemon=True).start()
        # Each service looks at all shards once when it starts.
        eventually("what starts has looked", lambda: quiet_for(1, seen))
        token = maker.token()
        body = json.loads(token.body) | {"requestedAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
        id = json.loads(ingest.post(token.path, json.dumps(body))[2])["id"]
        due = system.client.zscore(f"{{attr:{id[:3]}}}:q:tokens:delayed", id) / 1000
        assert due > time.time() + 2, due - time.time()
        # Both look when they hear of it, and then wait for the moment.
        eventually("it is known when it is due", lambda: quiet_for(0.5, seen))
        listened = time.time()
        assert listened < due - 1, "too slow a machine for this test"
        first = len(seen)
        # One of the two that wait for it ends before it is due.
        other.is_held = True
        other.signal(signal.SIGKILL)
        time.sleep(due - 0.5 - time.time())
        commands, span = seen[first:], time.time() - listened
        looks = [command for command in commands if is_look(command)]
        assert time.time() >= due or not looks, [len(commands), *looks]
        print(f"{len(commands)} commands of two brokers, an ingest and a verifier in {span:.1f} idle s, {len(looks)} for what is delayed")
        eventually("it is worked", lambda: system.states([id])[id] == "done", 60)
        event = next(event for event in system.events() if event["data"].get("exchangeId") == id)
        assert event["type"] == "attribution.adservices.resolved.v1"
        assert time.time() >= due


def test_a_token_whose_answer_was_cut_off_between_redis_and_ingest_is_worked_soon(tmp_path, maker):
    """And does not wait until the broker looks at every shard, as it does once a minute."""
    system = FaultSystem(tmp_path, maker.apple_key)
    system.service("asa-token-broker", **system.start_simulator())
    proxy = Proxy(system.redis_port, random.Random())
    ingest = system.service("ingest", proxy.port)

    def accepted() -> int:
        return sum(1 for _ in system.client.scan_iter("{attr:*}:r:*", 1000))

    def is_worked() -> bool:
        return len(system.events()) == accepted() and not any(system.unfinished("tokens").values())

    async def play() -> None:
        await proxy.start()
        await asyncio.to_thread(system.start)
        # Redis knows the script afterwards: the next token is accepted by what is sent first.
        await asyncio.to_thread(post, ingest, maker.token())
        token = maker.token()
        proxy.unanswered = token.name.encode()
        status, _, body = await asyncio.to_thread(ingest.post, "/v1/adservices/tokens", token.body)
        # Ingest has asked again by itself where it takes a new token for a repeated one.
        assert proxy.cuts == 1 and accepted() == 2 and (status == 503 or json.loads(body)["status"] == "duplicate"), (status, body)
        await asyncio.to_thread(eventually, "it is worked", is_worked, 30)

    async def play_and_stop() -> None:
        try:
            await play()
        finally:
            await asyncio.to_thread(system.stop)
            await proxy.stop()

    asyncio.run(play_and_stop())


def test_at_replicated_durability_neither_a_delivery_nor_a_users_answer_is_acknowledged_before_a_replica_has_it(tmp_path, maker):
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
            # What was taken and not confirmed is no reason to say yes to its repeat.
            assert send() == [500, 503, 503]
            replica.start()
            eventually("the replica runs", lambda: answers(follower))
            # By itself it waits for some seconds for more replicas.
            system.client.config_set("repl-diskless-sync-delay", 0)
            follower.replicaof("127.0.0.1", system.redis_port)
            eventually("all are acknowledged", lambda: send() == [200, 202, 200])
            key = next(iter(follower.scan_iter("*:install:*", 1000)))
            assert follower.get(key) == system.client.get(key) is not None
            # Not by SIGTERM: it would write its whole log first.
            replica.signal(signal.SIGKILL)
            assert send() == [500, 503, 503]
    finally:
        replica.end()


def answers(client: redis.Redis) -> bool:
    try:
        return client.ping()
    except redis.RedisError:
        return False


def is_look(command: str) -> bool:
    """Whether it looks for what is delayed."""
    return ":delayed" in command or ":schedule" in command


def quiet_for(seconds: float, seen: list[str]) -> bool:
    """Whether nothing is looked for in the seconds from now."""
    first = len(seen)
    time.sleep(seconds)
    return not any(map(is_look, seen[first:]))


def watch(monitor, seen: list[str]) -> None:
    """What clients, not scripts, send to Redis, until the monitor is closed."""
    try:
        for one in monitor.listen():
            if one["client_type"] != "lua":
                seen.append(one["command"])
    except (ValueError, OSError, redis.RedisError):
        return


def broker_variables(broker) -> dict[str, str]:
    return {name: broker.environment[name] for name in ("ATTRIBUTION_ADSERVICES_URL", "ATTRIBUTION_CA_FILE")}


def test_notifications_of_a_subscription_become_events_in_their_order_across_several_verifiers(tmp_path, maker):
    system = FaultSystem(tmp_path, maker.apple_key, "{ lease: 1s, workerTimeout: 1s, maxDeliveries: 1000 }")
    ingests = [system.service("ingest"), system.service("ingest")]
    verifiers = [system.service("verifier") for _ in range(3)]
    ledger = Ledger()

    async def send(order: str, count: int, dice: random.Random) -> None:
        connection = Connection([ingest.public_port for ingest in ingests], dice)
        for _ in range(count):
            connection.close()
            await deliver(connection, maker.notification(order), ledger)
        connection.close()

    async def disturb(dice: random.Random) -> None:
        for _ in range(2 * MUCH):
            one = dice.choice(verifiers)
            one.signal(number := dice.choice([signal.SIGSTOP, signal.SIGKILL]))
            await asyncio.sleep(1.5 if number == signal.SIGSTOP else 0.5)
            one.signal(signal.SIGCONT)

    async def play() -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(6):
                group.create_task(send(str(10 ** 14 + number), 25 * MUCH, random.Random(maker.dice.random())))
            group.create_task(disturb(random.Random(maker.dice.random())))

    with system:
        asyncio.run(play())
        counts = check(system, ledger)
    assert counts["notifications"] == 150 * MUCH and counts["subscriptions in order"] == 6, counts


def test_overload_is_refused_before_its_bounds_and_passes_by_itself(tmp_path, maker):
    bound = 2 * 256 * MUCH
    system = FaultSystem(tmp_path, maker.apple_key, f"{{ lease: 2s, workerTimeout: 2s, backlogBound: {bound} }}")
    ingest, verifier = system.service("ingest"), system.service("verifier")
    ledger = Ledger()
    with system:
        verifier.end()
        refused = []

        def take(delivery) -> tuple[int, dict[str, str]]:
            status, headers, body = ingest.post(delivery.path, delivery.body)
            if status == 200:
                ledger.acknowledge(delivery, json.loads(body)["id"])
            return status, headers

        def send(_) -> None:
            delivery = maker.postback()
            status, headers = take(delivery)
            if status != 200:
                refused.append((delivery, status, headers))

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            list(pool.map(send, range(2 * bound)))
        assert refused and {status for _, status, _ in refused} == {500}
        assert all(int(headers["retry-after"]) >= 1 for _, _, headers in refused)
        left = system.unfinished("intake")
        assert left["ready"] == ledger.count <= bound, left
        # Where 503 is understood it is 503.
        answers = [ingest.post(one.path, one.body) for one in (maker.notification() for _ in range(200))]
        assert all(int(headers["retry-after"]) >= 1 for status, headers, _ in answers if status == 503)
        assert {status for status, _, _ in answers} <= {200, 503} and any(status == 503 for status, _, _ in answers)
        assert system.unfinished("intake")["ready"] <= bound
        # A repeat of what was taken is told to be that, full or not.
        known = next(iter(ledger.deliveries.values()))
        assert json.loads(ingest.post(known.path, known.body)[2])["status"] == "duplicate"
        assert ingest.queue()["oldestAgeSeconds"] > 0
        verifier.is_held = False
        for delivery, _, _ in refused:
            eventually("taken at last", lambda delivery=delivery: take(delivery)[0] == 200)
        system.wait_until_worked()
        assert not ingest.queue().get("oldestAgeSeconds")
        # While more comes than is worked, nothing waits much longer than it takes to work what the bound lets in.
        refused.clear()
        before, began, ages = ledger.count, time.monotonic(), []

        def flood() -> None:
            while time.monotonic() < began + 8:
                send(None)

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            sending = [pool.submit(flood) for _ in range(16)]
            while not all(one.done() for one in sending):
                # A verifier that has little time to work.
                verifier.signal(signal.SIGSTOP)
                time.sleep(0.7)
                verifier.signal(signal.SIGCONT)
                time.sleep(0.1)
                ages.append(ingest.queue().get("oldestAgeSeconds", 0))
        for one in sending:
            one.result()
        assert refused
        rate = (ledger.count - before - bound) / (time.monotonic() - began)
        print(f"{ledger.count - before} taken, {len(refused)} refused, oldest {max(ages)} s, worked at least {rate:.0f} a second")
        assert max(ages) <= 2 + 3 * bound / rate, (ages, rate)
        system.wait_until_worked()
        verified = [event for event in system.events() if event["type"] == "attribution.skadnetwork.postback.verified.v1"]
        assert len(verified) == ledger.count == len({event["id"] for event in verified})


def test_a_redis_without_memory_refuses_and_what_it_has_is_worked_off(tmp_path, maker):
    system = FaultSystem(tmp_path, maker.apple_key)
    ingest, verifier = system.service("ingest"), system.service("verifier")
    ledger = Ledger()
    with system:
        verifier.call(QUEUES, "PauseQueue", {"queue": "intake"})
        time.sleep(1.5)
        post_all([ingest], [maker.postback() for _ in range(50)], ledger)
        assert system.event_count() == 0
        system.client.config_set("maxmemory", "1mb")
        # A call under a key needs room for the key.
        assert system.client.delete("{attr:000}:q:intake:paused") == 1
        # There is no room for more, and yet what waits becomes events.
        eventually("what waits is worked", lambda: system.event_count() == 50)
        late, notification = maker.postback(), maker.notification()
        assert ingest.post(late.path, late.body)[0] == 500
        assert ingest.post(notification.path, notification.body)[0] == 503
        system.client.config_set("maxmemory", "0")
        for one in (late, notification):
            eventually("taken again", lambda one=one: ingest.post(one.path, one.body)[0] == 200)
            post(ingest, one, ledger)
        counts = check(system, ledger)
    assert counts["postbacks verified"] == 51 and counts["notifications"] == 1


def test_a_sigterm_under_load_loses_nothing_and_returns_all_leases(tmp_path, maker):
    # A lease that is not returned would hold its message for longer than this test waits.
    system = FaultSystem(tmp_path, maker.apple_key, "{ lease: 300s, workerTimeout: 300s }")
    ingests = [system.service("ingest"), system.service("ingest")]
    verifiers = [system.service("verifier"), system.service("verifier")]
    ledger = Ledger()

    async def terminate() -> None:
        for number in range(6):
            while ledger.count < 120 * MUCH * (number + 1):
                await asyncio.sleep(0.01)
            one = [*verifiers, *ingests][number % 4]
            # One that has not begun yet has nothing to return.
            await asyncio.to_thread(system.wait_until_ready, one)
            process = one.process
            one.signal(signal.SIGTERM)
            assert await asyncio.to_thread(process.wait, 60) == 0, one.log()[-2000:]

    async def play() -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(16):
                group.create_task(send_many(maker, [one.public_port for one in ingests], ledger, 900 * MUCH, number, tokens=False))
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
        # Whose worker died once is given up here: good messages become dead letters.
        post_all([ingest], [maker.postback() for _ in range(300 * MUCH)], ledger)
        verifier.start()
        held = stop_while_it_holds(system, verifier, least=2)
        verifier.signal(signal.SIGKILL)
        verifier.process.wait()
        verifier.is_held = False
        system.wait_until_worked()
        letters = {tuple(sorted(letter["id"] for letter in service.call(QUEUES, "ListDeadLetters", {
            "queue": "intake", "maxLetters": 1000})["deadLetters"])) for service in (ingest, verifier, broker)}
        assert len(letters) == 1
        ids = list(letters.pop())
        assert len(ids) == held, (len(ids), held)
        assert set(system.states(ids).values()) == {"dead"}
        thread = threading.Thread(target=load)
        thread.start()
        try:
            for service in (ingest, verifier, broker):
                assert service.call(QUEUES, "PauseQueue", {"queue": "intake"})["queue"]["paused"]
                # What was begun before, or asked for within the second before, is finished.
                time.sleep(1.5)
                count, taken = system.event_count(), ledger.count
                eventually("more is taken in", lambda taken=taken: ledger.count > taken + 20)
                assert system.event_count() == count
                state = service.queue()
                assert state["paused"] and int(state["depth"]) >= 20, state
                assert not service.call(QUEUES, "ResumeQueue", {"queue": "intake"})["queue"].get("paused")
                eventually("it is worked again", lambda count=count: system.event_count() > count)
            again, gone = ids[:len(ids) // 2], ids[len(ids) // 2:]
            assert broker.call(QUEUES, "ReplayDeadLetters", {"queue": "intake", "ids": again})["replayed"] == len(again)
            assert ingest.call(QUEUES, "PurgeDeadLetters", {"queue": "intake", "ids": gone})["purged"] == len(gone)
            eventually("the replayed are verified", lambda: set(system.states(again).values()) == {"verified"})
        finally:
            ending.set()
            thread.join()
        for id in gone:
            del ledger.deliveries[id]
        counts = check(system, ledger)
        assert counts["postbacks verified"] == ledger.count - len(gone)
        assert not verifier.call(QUEUES, "ListDeadLetters", {"queue": "intake"}).get("deadLetters")
