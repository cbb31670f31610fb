"""The token broker while Apple fails: schedules in scaled time, several instances, the backlog after an outage."""

import http.client
import itertools
import os
import time
import uuid

import pytest

from Benchmarks.bench import TOKEN, Redis, Server
from Benchmarks.broker.backlog import APP, Outage, Simulator, call, stamp
from SystemTests.support.running_system import BUILD, ROOT

BINARIES = ROOT / ".build" / BUILD
BROKER = "attribution.asa.v1.TokenBrokerService"
ATTRIBUTED = {"status": 200, "body": {"attribution": True, "orgId": 1, "campaignId": 2, "adGroupId": 3}}
SCALE = 60


@pytest.fixture(scope="module")
def apple():
    with Simulator(BINARIES) as simulator:
        yield simulator


@pytest.fixture(scope="module")
def redis():
    with Redis() as running:
        yield running


def broker(redis, apple, configuration: str) -> Server:
    return Server(BINARIES, "asa-token-broker", configuration, core=None, ATTRIBUTION_REDIS_URL=redis.url,
                  ATTRIBUTION_ADSERVICES_URL=apple.url, ATTRIBUTION_CA_FILE=str(apple.ca), ATTRIBUTION_TIME_SCALE=str(SCALE))


@pytest.fixture(scope="module")
def fast(redis, apple):
    """One broker whose schedules are sixty times as fast, and which never stops calling after failures."""
    with broker(redis, apple, "adServices: { timeout: 2s, breaker: { leastCalls: 10000 } }\n") as server:
        yield server


def breaker(server: Server) -> float:
    """0 while Apple is called as usual."""
    return gauge(server, "attribution_adservices_breaker_state")


def gauge(server: Server, name: str) -> float:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    lines = connection.getresponse().read().decode().splitlines()
    connection.close()
    return float(next(line for line in lines if line.startswith(name + " ")).split()[1])


def exchange(server: Server, token: str, wait: int = 20000, **fields) -> dict:
    return call(server, f"{BROKER}/ExchangeToken", {
        "token": token, "bundleId": APP, "requestedAt": stamp(time.time() * 1000 - 60_000), "waitMilliseconds": wait, **fields})


@pytest.mark.parametrize("trouble", [{"status": 500}, {"status": 503}, {"malformed": True}, {"reset": True}, {"cut": True},
                                     {"status": 200, "delayMilliseconds": 4000}], ids=lambda trouble: "-".join(map(str, trouble)))
def test_a_token_that_failed_at_first_is_resolved_by_later_retries(fast, apple, trouble):
    token = uuid.uuid4().hex
    apple.control("POST", "adservices/tokens", {"token": token, "answers": [trouble, ATTRIBUTED]})
    answer = exchange(fast, token)
    assert answer["state"] == "attributed", answer
    # libcurl itself repeats a request if a kept connection was closed.
    assert answer["attempts"] == 2 or "reset" in trouble, answer
    assert len(apple.calls()[token]) == 2


def test_an_answer_of_200_is_no_failure_of_apple(apple):
    configuration = "adServices: { timeout: 2s, slowLaneAfterFailure: false, notFoundRetries: 1, breaker: { leastCalls: 2 } }\n"
    with Redis() as own, broker(own, apple, configuration) as server:
        for number in range(30):
            token = uuid.uuid4().hex
            body = {"malformed": True} if number % 2 else {"status": 200, "body": {"attribution": "true"}}
            apple.control("POST", "adservices/tokens", {"token": token, "answers": [body, body]})
            assert exchange(server, token)["state"] == "expired"
            assert breaker(server) == 0
        # They are retried.
        assert len(apple.calls()[token]) == 2


def test_all_instances_wait_for_retry_after(fast, apple):
    token, other = uuid.uuid4().hex, uuid.uuid4().hex
    apple.control("POST", "adservices/tokens", {"token": token, "answers": [{"status": 429, "retryAfter": "90"}, ATTRIBUTED]})
    apple.control("POST", "adservices/tokens", {"token": other, "answers": [ATTRIBUTED]})
    exchange(fast, token, wait=500)
    assert exchange(fast, other)["state"] == "attributed"
    assert exchange(fast, token)["state"] == "attributed"
    calls = apple.calls()
    first = calls[token][0]["atMilliseconds"]
    assert calls[token][0]["status"] == 429
    # Ninety seconds become one and a half.
    assert calls[token][1]["atMilliseconds"] - first >= 1400
    assert calls[other][0]["atMilliseconds"] - first >= 1400


def test_instances_share_one_rate_limit(redis, apple):
    rate, count = 40, 120
    configuration = f"adServices: {{ rate: {rate}, rateBurst: 1 }}\n"
    tokens = [uuid.uuid4().hex for _ in range(count)]
    for token in tokens:
        apple.control("POST", "adservices/tokens", {"token": token, "answers": [ATTRIBUTED]})
    with Redis() as own, broker(own, apple, configuration) as one, broker(own, apple, configuration) as other:
        for index, token in enumerate(tokens):
            exchange((one, other)[index % 2], token, wait=0)
        for token in tokens:
            assert exchange(one, token)["state"] == "attributed"
    calls = apple.calls()
    at = sorted(entry["atMilliseconds"] for token in tokens for entry in calls[token])
    assert len(at) == count
    assert at[-1] - at[0] >= (count - 2) * 1000 / rate * 0.95


def test_after_an_outage_tokens_nearest_their_deadline_come_first_and_each_ends_once():
    long = os.environ.get("ATTRIBUTION_SOAK") == "1"
    outage = Outage(BINARIES, 50_000, 60, 100, scale=60, concurrency=64) if long else Outage(
        BINARIES, 600, 15, 16, scale=360, rate=100, concurrency=16)
    result = outage.play()
    print(result)
    assert result["events"] == result["tokens"] and result["repeated"] == 0
    assert result["expired_though_savable"] == 0
    assert result["outcomes"] == {"expired": result["doomed"], "attributed": result["tokens"] - result["doomed"]}
    assert result["called_past_deadline"] == 0
    assert result["answered_twice"] <= outage.concurrency
    assert result["behind_most"] <= 3 * outage.concurrency


def test_failed_tokens_are_retried_early_when_apple_recovers(apple):
    # In a Redis without another broker. The broker's own schedule would retry hours later; it accepts half a second from Apple (a minute,
    # scaled, becomes one second).
    configuration = ("adServices: { timeout: 2s, slowLane: [24h], longestRetryAfter: 30s,"
                     " breaker: { leastCalls: 4, firstPause: 100ms, longestPause: 500ms } }\n")
    apple.answer({"status": 503, "retryAfter": "2592000"})
    try:
        with Redis() as own, broker(own, apple, configuration) as server:
            tokens = [uuid.uuid4().hex for _ in range(8)]
            exchanges = [exchange(server, token, wait=300) for token in tokens]
            assert {one["state"] for one in exchanges} == {"pending"}
            # All of them, because no other token is left that would detect Apple's recovery.
            until = time.monotonic() + 60
            while breaker(server) == 0 or any(not apple.calls().get(token) for token in tokens):
                assert time.monotonic() < until, "they are not asked about"
                time.sleep(0.1)
            # A month is not accepted; thirty seconds are, scaled.
            apple.answer(ATTRIBUTED)
            until = time.monotonic() + 60
            while any(call(server, f"{BROKER}/GetExchange", {"exchangeId": one["exchangeId"]})["state"] == "pending" for one in exchanges):
                assert time.monotonic() < until, "they wait for their own schedule"
                time.sleep(0.2)
            for one in exchanges:
                assert call(server, f"{BROKER}/GetExchange", {"exchangeId": one["exchangeId"]})["state"] == "attributed"
    finally:
        apple.answer(ATTRIBUTED)


def open_breaker(one: Server, other: Server) -> tuple[list[str], object]:
    """Sends tokens to both until neither calls Apple as usual; returns those tokens, and a function that sends one more."""
    tokens: list[str] = []

    def come():
        tokens.append(uuid.uuid4().hex)
        exchange((one, other)[len(tokens) % 2], tokens[-1], wait=0)

    until = time.monotonic() + 60
    while breaker(one) == 0 or breaker(other) == 0:
        assert time.monotonic() < until, "the breaker stays closed"
        come()
    return tokens, come


SHARED = ("queues: { lease: 3s }\nadServices: { timeout: 2s, firstCallDelay: 0s,"
          " breaker: { leastCalls: 4, firstPause: 1s, longestPause: 1s, jitter: 0 } }\n")


def test_while_apple_is_down_one_instance_probes_for_all_instances(apple):
    apple.answer({"status": 503})
    try:
        with Redis() as own, broker(own, apple, SHARED) as one, broker(own, apple, SHARED) as other:
            tokens, come = open_breaker(one, other)
            opened = max(call["atMilliseconds"] for token in tokens for call in apple.calls().get(token, []))
            until = time.monotonic() + 60
            # Each of both always has a token to send.
            while len(probes := sorted(call["atMilliseconds"] for token in tokens for call in apple.calls().get(token, [])
                                       if call["atMilliseconds"] > opened)) < 5:
                assert time.monotonic() < until, probes
                come()
                time.sleep(0.05)
            # As many as a single broker would send: there is a pause between each and the next.
            assert all(later - earlier >= 950 for earlier, later in itertools.pairwise(probes)), probes
            assert breaker(one) > 0 and breaker(other) > 0
            apple.answer(ATTRIBUTED)
            until = time.monotonic() + 60
            while breaker(one) + breaker(other) > 0:
                assert time.monotonic() < until, "Apple is back and not all have noticed"
                time.sleep(0.05)
            for token in tokens:
                assert exchange(one, token)["state"] == "attributed"
    finally:
        apple.answer(ATTRIBUTED)


def test_if_the_probing_instance_dies_another_one_probes(apple):
    apple.answer({"status": 503})
    try:
        with Redis() as own, broker(own, apple, SHARED) as one, broker(own, apple, SHARED) as other:
            tokens, come = open_breaker(one, other)
            # The next call is a probe that hangs.
            apple.answer({"status": 503, "delayMilliseconds": 1900})
            until = time.monotonic() + 60
            while not (probing := [server for server in (one, other) if gauge(server, "attribution_adservices_in_flight") > 0]):
                assert time.monotonic() < until, "nobody probes"
                come()
            probing[0].process.kill()
            probing[0].process.wait()
            left = other if probing[0] is one else one
            apple.answer(ATTRIBUTED)
            until = time.monotonic() + 60
            while breaker(left) > 0:
                assert time.monotonic() < until, "the dead one's probe is waited for"
                exchange(left, uuid.uuid4().hex, wait=0)
                time.sleep(0.05)
            for token in tokens:
                assert exchange(left, token)["state"] == "attributed"
    finally:
        apple.answer(ATTRIBUTED)


def test_a_replayed_dead_letter_of_a_token_is_exchanged_in_an_idle_system(redis, apple):
    """As if its worker had been killed each time: a dead letter with its body, in a system without other work."""
    token = uuid.uuid4().hex
    queues = "attribution.queues.v1.QueuesService"
    apple.control("POST", "adservices/tokens", {"token": token, "answers": [ATTRIBUTED]})
    with broker(redis, apple, "queues: { lease: 3s }\nadServices: { timeout: 2s }\n") as server:
        call(server, f"{queues}/PauseQueue", {"queue": "tokens"})
        # An idle worker polls once a second.
        time.sleep(1.5)
        pending = exchange(server, token, wait=0)
        id = pending["exchangeId"]
        shard = id[:3]
        assert pending["state"] == "pending"
        # It is removed from its set, as a worker that was killed too often would leave it.
        body = redis.cli("EVAL", f"""
            local packed = redis.call('HGET', '{{attr:{shard}}}:q:tokens:payloads', '{id}')
            local m = cmsgpack.unpack(packed)
            redis.call('ZREM', '{{attr:{shard}}}:q:tokens:deadlines', '{id}')
            redis.call('HDEL', '{{attr:{shard}}}:q:tokens:payloads', '{id}')
            return redis.call('XADD', '{{attr:{shard}}}:q:tokens:dead', '*', 'i', '{id}', 'k', m[1], 'b', m[2], 'a', m[3], 'n', 1,
              'h', '', 'x', 'its worker ended', 'd', 1, 'r', m[7])""", "0")
        assert body.strip().replace("-", "").isdigit(), body
        call(server, f"{queues}/ResumeQueue", {"queue": "tokens"})
        assert call(server, f"{queues}/ReplayDeadLetters", {"queue": "tokens"})["replayed"] == 1
        until = time.monotonic() + 30
        while call(server, f"{BROKER}/GetExchange", {"exchangeId": id})["state"] == "pending":
            assert time.monotonic() < until, "it is not asked about"
            time.sleep(0.1)
    assert len(apple.calls()[token]) == 1
