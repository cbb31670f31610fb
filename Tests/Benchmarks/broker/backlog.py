"""An outage of Apple's AdServices endpoint in scaled time, and the backlog of tokens after it: for the broker's benchmark and,
with fewer tokens, for the system tests. Standard library only."""

from __future__ import annotations

import hashlib
import http.client
import json
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import uuid
from collections.abc import Callable

from Benchmarks.bench import TOKEN, Redis, Server, free_port, pinned

DAY = 24 * 3600 * 1000
APP = "com.example.app"
RESOLVED, FAILED = "attribution.adservices.resolved.v1", "attribution.adservices.failed.v1"


class Simulator:
    """A separate Apple simulator, with its control API in plain HTTP."""

    def __init__(self, binaries: pathlib.Path, core: str | None = None) -> None:
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="benchmark-simulator-"))
        self.port, self.control_port = free_port(), free_port()
        self.url = f"https://127.0.0.1:{self.port}/api/v1/"
        self.ca = self.folder / "tls-ca.pem"
        self.process = subprocess.Popen(
            pinned(core, [binaries / "apple-simulator", "--listen", f"127.0.0.1:{self.port}", "--state", self.folder,
                          "--control-listen", f"127.0.0.1:{self.control_port}"]),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(400):
            try:
                socket.create_connection(("127.0.0.1", self.control_port), 1).close()
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        self.__exit__()
        raise RuntimeError("the simulator did not start")

    def __enter__(self) -> Simulator:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def control(self, method: str, path: str, body: dict | None = None) -> dict:
        connection = http.client.HTTPConnection("127.0.0.1", self.control_port, timeout=120)
        connection.request(method, f"/control/{path}", None if body is None else json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        if answer.status >= 300:
            raise RuntimeError(f"{path}: {answer.status} {text[:300]!r}")
        return json.loads(text) if text else {}

    def answer(self, answer: dict) -> None:
        """Sets the answer for every token from now on."""
        self.control("POST", "adservices/default", answer)

    def calls(self) -> dict[str, list[dict]]:
        return {entry["token"]: entry["calls"] for entry in self.control("GET", "adservices/tokens")["tokens"]}


def call(server: Server, path: str, message: dict) -> dict:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("POST", f"/{path}", json.dumps(message),
                       {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}",
                        "Idempotency-Key": uuid.uuid4().hex})
    answer = connection.getresponse()
    body = json.loads(answer.read())
    connection.close()
    if answer.status != 200:
        raise RuntimeError(f"{path}: {answer.status} {body}")
    return body


def post_tokens(port: int, bodies: list, connections: int = 4, together: int = 32) -> None:
    """Posts tokens to ingest's public route, `together` requests on a connection before their answers are read. A body may be a function
    that returns it when it is sent. Every token must be accepted."""
    faults: list[BaseException] = []

    def work(part: list) -> None:
        try:
            with socket.create_connection(("127.0.0.1", port), 60) as connection:
                reader = connection.makefile("rb")
                for first in range(0, len(part), together):
                    batch = [body() if callable(body) else body for body in part[first:first + together]]
                    connection.sendall(b"".join(
                        b"POST /v1/adservices/tokens HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                        % (len(body), body) for body in batch))
                    for _ in batch:
                        status = reader.readline()
                        length = 0
                        while (line := reader.readline().strip()):
                            if line.lower().startswith(b"content-length:"):
                                length = int(line.split(b":")[1])
                        answer = reader.read(length)
                        if b" 202 " not in status:
                            raise RuntimeError(f"a token was not accepted: {status!r} {answer[:300]!r}")
        except BaseException as fault:  # noqa: BLE001 raised again by the caller
            faults.append(fault)

    threads = [threading.Thread(target=work, args=(bodies[index::connections],)) for index in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]


def stamp(milliseconds: float) -> str:
    whole, rest = divmod(int(milliseconds), 1000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)) + f".{rest:03d}Z"


def milliseconds_of(text: str) -> int:
    whole, _, rest = text.rstrip("Z").partition(".")
    return int(time.mktime(time.strptime(whole + " UTC", "%Y-%m-%dT%H:%M:%S %Z")) - time.timezone) * 1000 + int((rest + "000")[:3])


def all_events(verifier: Server, name: str, expected: int) -> list[dict]:
    """All events of tokens, in the order of the feed, with duplicates."""
    events: list[dict] = []
    while True:
        answer = call(verifier, "attribution.events.v1.EventsService/PullEvents",
                      {"subscription": name, "maxEvents": 1000, "waitMilliseconds": 1500, "leaseSeconds": 60})
        batch = answer.get("events", [])
        if not batch:
            return events
        call(verifier, "attribution.events.v1.EventsService/AcknowledgeEvents",
             {"subscription": name, "ackIds": [entry["ackId"] for entry in batch]})
        events += [entry["event"] for entry in batch]
        if len(events) > 2 * expected + 1000:
            raise RuntimeError("far more events than tokens")


COUNT_EVENTS = "local n = 0 for i = 0, 255 do n = n + redis.call('XLEN', string.format('{attr:%03d}:events', i)) end return n"


def count_events(redis: Redis) -> int:
    return int(redis.cli("EVAL", COUNT_EVENTS, "0"))


class Outage:
    """Tokens are accepted while Apple answers 500, with deadlines in random order. Then Apple recovers, one of two brokers is killed
    midway, and the other processes the rest."""

    def __init__(self, binaries: pathlib.Path, tokens: int, outage_seconds: float, spread_seconds: float, scale: float, rate: int = 100_000,
                 concurrency: int = 64, seed: int | None = None) -> None:
        self.binaries, self.tokens, self.scale = binaries, tokens, scale
        self.outage_seconds, self.spread_seconds, self.concurrency = outage_seconds, spread_seconds, concurrency
        self.seed = random.randrange(1 << 32) if seed is None else seed
        # A call must end within its lease. A token that a killed broker had leased is available after the end of its lease.
        self.lease, self.timeout, self.pause = 3, 2, 1
        self.configuration = (
            f"queues: {{ lease: {self.lease}s }}\n"
            f"adServices: {{ rate: {rate}, rateBurst: {max(1, rate // 10)}, concurrency: {concurrency}, timeout: {self.timeout}s,"
            f" breaker: {{ firstPause: 200ms, longestPause: {self.pause}s }} }}\n")

    def play(self, core: str | None = None, log: Callable[[str], None] = print) -> dict:
        chance = random.Random(self.seed)
        log(f"outage: seed {self.seed}")
        with Redis(core) as redis, Simulator(self.binaries) as apple:
            variables = {"ATTRIBUTION_REDIS_URL": redis.url, "ATTRIBUTION_TIME_SCALE": str(self.scale)}
            brokers = {**variables, "ATTRIBUTION_ADSERVICES_URL": apple.url, "ATTRIBUTION_CA_FILE": str(apple.ca)}
            public = free_port()
            first = Server(self.binaries, "asa-token-broker", self.configuration, core=None, **brokers)
            try:
                with Server(self.binaries, "asa-token-broker", self.configuration, core=None, **brokers) as second, \
                        Server(self.binaries, "verifier", self.configuration, core=None, **variables) as verifier, \
                        Server(self.binaries, "ingest", self.configuration, core=None, ATTRIBUTION_PUBLIC_LISTEN=f"127.0.0.1:{public}",
                               **variables):
                    return self.run(redis, apple, first, second, verifier, public, chance, log)
            finally:
                if first.process.poll() is None:
                    first.__exit__()
                else:
                    shutil.rmtree(first.folder, ignore_errors=True)

    def run(self, redis: Redis, apple: Simulator, first: Server, second: Server, verifier: Server, public: int, chance: random.Random,
            log: Callable[[str], None]) -> dict:
        call(verifier, "attribution.events.v1.EventsService/CreateSubscription",
             {"name": "outage", "types": [RESOLVED, FAILED], "start": "beginning"})
        apple.answer({"status": 500})
        began = time.time()
        end = began + self.outage_seconds
        # One token in fifty expires during the outage. Brokers that send the tokens with the nearest deadline first can save all others.
        doomed = self.tokens // 50
        bodies = []
        names = [f"{chance.getrandbits(256):064x}" for _ in range(self.tokens)]
        for index, name in enumerate(names):
            if index < doomed:
                deadline = began + chance.uniform(0.8, 0.9) * self.outage_seconds
            else:
                deadline = end + self.lease + 2 * self.pause + 3 + chance.uniform(0, self.spread_seconds)
            bodies.append(lambda name=name, deadline=deadline: self.body(name, deadline))
        # Tokens that expire within the outage come first: they must be accepted before they expire.
        expiring, rest = bodies[:doomed], bodies[doomed:]
        chance.shuffle(rest)
        post_tokens(public, expiring)
        post_tokens(public, rest)
        log(f"{self.tokens} tokens accepted within {time.time() - began:.0f} s of an outage of {self.outage_seconds:.0f} s")
        if time.time() > end:
            raise RuntimeError("the tokens were not accepted before the end of the outage")
        time.sleep(max(0.0, end - time.time()))
        before = second.resident()["RssAnon"]
        expired_before = count_events(redis)
        apple.answer({"status": 200, "body": {"attribution": True, "orgId": 1, "campaignId": 2, "adGroupId": 3, "claimType": "Click"}})
        back = time.time()
        killed = None
        peak = before
        while (done := count_events(redis)) < self.tokens:
            peak = max(peak, second.resident()["RssAnon"])
            if killed is None and done - expired_before >= (self.tokens - expired_before) // 2:
                first.process.send_signal(signal.SIGKILL)
                first.process.wait()
                killed = time.time()
            if time.time() > back + self.spread_seconds + 60:
                raise RuntimeError(f"{done} events of {self.tokens} tokens")
            time.sleep(0.1)
        drained = time.time()
        if killed is None:
            raise RuntimeError("the backlog was drained before a broker could be killed")
        after = second.resident()["RssAnon"]
        log(f"drained in {drained - back:.1f} s")
        events = all_events(verifier, "outage", self.tokens)
        return self.evaluate(events, apple.calls(), back, drained, doomed, killed,
                             {"before": before, "peak": peak, "after": after})

    def body(self, name: str, deadline: float) -> bytes:
        now = time.time()
        created = now * 1000 + self.scale * (deadline - now) * 1000 - DAY
        return json.dumps({"token": name, "bundleId": APP, "installId": name[:12], "requestedAt": stamp(created)}).encode()

    def evaluate(self, events: list[dict], calls: dict[str, list[dict]], back: float, drained: float, doomed: int, killed: float,
                 memory: dict) -> dict:
        tokens = {hashlib.sha256(token.encode()).hexdigest(): token for token in calls}
        outcomes: dict[str, int] = {}
        deadlines: dict[str, float] = {}
        seen: set[str] = set()
        twice = 0
        lost_expired = 0
        for event in events:
            data = event["data"]
            twice += data["tokenKey"] in seen
            seen.add(data["tokenKey"])
            outcomes[data["outcome"]] = outcomes.get(data["outcome"], 0) + 1
            received, created = milliseconds_of(data["receivedAt"]), milliseconds_of(data["tokenCreatedAt"])
            deadline = received + (created + DAY - received) / self.scale
            deadlines[data["tokenKey"]] = deadline
            # Tokens that could have been sent to Apple after its recovery and were not.
            lost_expired += data["outcome"] == "expired" and deadline > back * 1000
        late = answered_twice = 0
        order: list[tuple[int, float, bool]] = []
        for key, token in tokens.items():
            answered = [entry["atMilliseconds"] for entry in calls[token] if entry["status"] == 200]
            # A call that was sent before the deadline and recorded shortly after it is not late.
            late += any(entry["atMilliseconds"] > deadlines.get(key, 0) + 250 for entry in calls[token])
            answered_twice += len(answered) > 1
            if answered:
                order.append((answered[0], deadlines.get(key, 0), len(calls[token]) == 1))
        order.sort()
        ranks = sorted(range(len(order)), key=lambda index: order[index][1])
        # By how many positions each token was sent later than in the order of deadlines.
        # Tokens whose call failed are sent again when their broker has noticed that Apple works again, up to a pause later.
        behind = sorted(called - due for due, called in enumerate(ranks) if order[called][2])
        tried = [called - due for due, called in enumerate(ranks) if not order[called][2]]
        return {
            "tokens": self.tokens, "events": len(events), "repeated": twice, "outcomes": outcomes, "doomed": doomed,
            "expired_though_savable": lost_expired, "called_past_deadline": late, "answered_twice": answered_twice,
            # Tokens that the killed broker had leased waited for the end of their leases.
            "behind_median": behind[len(behind) // 2], "behind_most": behind[-1 - self.concurrency], "behind_held": behind[-1],
            "behind_tried": max(tried, default=0), "tried": len(tried), "seconds": drained - back,
            "rate": len(order) / (drained - back), "memory": memory, "seed": self.seed,
            "killed_after": killed - back,
        }
