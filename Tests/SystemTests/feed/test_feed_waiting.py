"""Readers that leave while they wait for events, a verifier that ends while readers wait, and calls whose deadline passes while Redis
hangs."""

import http.client
import json
import random
import signal
import socket
import struct
import time

import pytest

from SystemTests.faults.load import Maker
from SystemTests.faults.process import TOKEN

from .readers import EVENTS, POSTBACK, feed_system, named, post, wait_for_events


def begin_pull(service, name: str, **fields) -> http.client.HTTPConnection:
    """A pull over HTTP/1.1 that waits."""
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=40)
    message = {"subscription": name, "waitMilliseconds": 30_000, "leaseSeconds": 3600, **fields}
    connection.request("POST", f"/attribution.{EVENTS}/PullEvents", json.dumps(message), {
        "Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}", "Connect-Timeout-Ms": "35000"})
    time.sleep(0.4)
    return connection


@pytest.mark.parametrize("how", ["closes", "resets", "closes its side"])
def test_events_are_not_leased_to_a_reader_that_has_left(tmp_path, how):
    maker = Maker(random.Random(11))
    with feed_system(tmp_path, maker) as system:
        verifier = named(system, "verifier")[0]
        verifier.call(EVENTS, "CreateSubscription", {"name": "left", "types": [POSTBACK]})
        connection = begin_pull(verifier, "left")
        if how == "closes its side":
            connection.sock.shutdown(socket.SHUT_WR)
            answer = connection.getresponse()
            assert answer.status == 200 and not json.loads(answer.read()).get("events")
        else:
            if how == "resets":
                connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()
        time.sleep(0.3)
        post(system, maker.postback())
        wait_for_events(system, 1)
        pulled = verifier.call(EVENTS, "PullEvents", {"subscription": "left", "waitMilliseconds": 3000})
        assert len(pulled.get("events", [])) == 1


def test_a_pull_that_waits_ends_when_the_verifier_ends(tmp_path):
    with feed_system(tmp_path, Maker(random.Random(12))) as system:
        verifier = named(system, "verifier")[0]
        verifier.call(EVENTS, "CreateSubscription", {"name": "waits", "types": [POSTBACK]})
        connection = begin_pull(verifier, "waits")
        verifier.is_held = True
        begin = time.monotonic()
        verifier.signal(signal.SIGTERM)
        answer = connection.getresponse()
        assert answer.status == 200 and not json.loads(answer.read()).get("events")
        assert verifier.process.wait(20) == 0
        assert time.monotonic() - begin < 10


def test_a_call_is_answered_at_its_deadline_while_redis_hangs(tmp_path):
    with feed_system(tmp_path, Maker(random.Random(13))) as system:
        verifier = named(system, "verifier")[0]
        system.redis.signal(signal.SIGSTOP)
        try:
            connection = http.client.HTTPConnection("127.0.0.1", verifier.port, timeout=20)
            begin = time.monotonic()
            connection.request("POST", f"/attribution.{EVENTS}/GetEvent", json.dumps({"id": "none"}), {
                "Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}", "Connect-Timeout-Ms": "300",
                "X-Request-Id": "hanging-1"})
            answer = connection.getresponse()
            time_taken = time.monotonic() - begin
            assert answer.status == 504 and json.loads(answer.read())["code"] == "deadline_exceeded"
            assert 0.25 < time_taken < 1.5, time_taken
            line = next(json.loads(line) for line in verifier.log().splitlines() if '"hanging-1"' in line)
            assert line["level"] == "warning" and line["code"] == "deadline_exceeded" and len(line["traceId"]) == 32
            assert TOKEN not in verifier.log()
        finally:
            system.redis.signal(signal.SIGCONT)


def test_a_retry_gets_the_result_of_a_call_that_ended_after_its_deadline(tmp_path):
    with feed_system(tmp_path, Maker(random.Random(14))) as system:
        verifier = named(system, "verifier")[0]

        def resume(milliseconds: int) -> http.client.HTTPResponse:
            connection = http.client.HTTPConnection("127.0.0.1", verifier.port, timeout=20)
            connection.request("POST", "/attribution.queues.v1.QueuesService/ResumeQueue", json.dumps({"queue": "intake"}), {
                "Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}", "Connect-Timeout-Ms": str(milliseconds),
                "Idempotency-Key": "one-key"})
            return connection.getresponse()

        system.redis.signal(signal.SIGSTOP)
        try:
            assert resume(300).status == 504
        finally:
            system.redis.signal(signal.SIGCONT)
        # Meanwhile the work ends, and its answer is stored.
        time.sleep(1)
        again = resume(5000)
        assert again.status == 200 and again.headers["Idempotency-Replayed"] == "true"
