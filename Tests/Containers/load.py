"""Senders and RPC callers. They know only the load balancer's ports. Answers are recorded in a ledger, which is compared
with the feed and with the states of the deliveries at the end."""

from __future__ import annotations

import asyncio
import base64
import collections
import dataclasses
import json
import pathlib
import random
import time
import uuid
from collections.abc import AsyncIterator, Callable

from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key
from cryptography.x509 import load_pem_x509_certificate

from SystemTests.differential.certificates import Chain
from SystemTests.faults.load import Connection, Delivery, Ledger, Maker

from .rpc_caller import Access, Caller, Work, anything


class SimulatorsMaker(Maker):
    """Signs with the Apple simulator's keys, which the composed system is configured to accept."""

    def __init__(self, dice: random.Random, state: pathlib.Path) -> None:
        super().__init__(dice)
        self.key = load_pem_private_key((state / "device-p256-key.pem").read_bytes(), None)
        certificates = [load_pem_x509_certificate((state / f"app-store-{name}.pem").read_bytes())
                        for name in ("leaf", "intermediate", "root")]
        leaf = load_pem_private_key((state / "app-store-leaf-key.pem").read_bytes(), None)
        self.chain = Chain("simulator", [base64.b64encode(one.public_bytes(Encoding.DER)).decode() for one in certificates], leaf, True)


@dataclasses.dataclass
class Tally:
    """The results of callers or senders."""

    sent: int = 0
    answered: int = 0
    # Unexpected results, by status or by error.
    failures: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    retried: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    slowest: float = 0.0
    first_failure: str = ""

    def fail(self, what: str, detail: object = "") -> None:
        self.failures[what] += 1
        if not self.first_failure:
            self.first_failure = f"{time.strftime('%H:%M:%S', time.gmtime())} {what} {detail}"[:400]

    @property
    def failed(self) -> int:
        return sum(self.failures.values())


class OpenConnection(Connection):
    """A connection that is opened again without a failure if the peer closed it while it was idle."""

    async def post(self, delivery: Delivery) -> tuple[int, dict | None]:
        if self.writer and self.reader.at_eof():
            self.close()
        return await super().post(delivery)


class Pace:
    """Spreads this number of turns evenly over each second; turns that were missed are not made up for."""

    def __init__(self, rate: float) -> None:
        self.rate, self.next = rate, time.monotonic()

    async def turn(self) -> None:
        now = time.monotonic()
        self.next = max(self.next + 1 / self.rate, now - 0.1)
        if self.next > now:
            await asyncio.sleep(self.next - now)


class Load:
    """`retries`: whether senders repeat refused requests and RPC callers retry a failure once. Without it, each failure counts."""

    def __init__(self, access: Access, maker: Maker, ledger: Ledger, rate: float, senders: int = 24, retries: bool = False,
                 callers: bool = True) -> None:
        self.access, self.maker, self.ledger, self.retries = access, maker, ledger, retries
        self.pace, self.senders, self.stopping = Pace(rate), senders, asyncio.Event()
        self.deliveries, self.calls = Tally(), collections.defaultdict(Tally)
        self.known = collections.deque(ledger.deliveries, maxlen=2000)
        self.works = (self.sign, self.sign, self.verify, self.verify, self.look_up, self.look_up, self.ask_recovery,
                      self.ask_broker) if callers else ()
        self.tasks: list[asyncio.Task] = []

    async def __aenter__(self) -> Load:
        dice = self.maker.dice
        self.tasks = [asyncio.create_task(self._send(random.Random(dice.getrandbits(60)))) for _ in range(self.senders)]
        self.tasks += [asyncio.create_task(self._call(work)) for work in self.works]
        return self

    async def __aexit__(self, *_: object) -> None:
        self.stopping.set()
        for outcome in await asyncio.gather(*self.tasks, return_exceptions=True):
            if isinstance(outcome, BaseException):
                self.deliveries.fail(type(outcome).__name__, outcome)

    # --- the public port ---------------------------------------------------------------------------------------------

    async def _send(self, dice: random.Random) -> None:
        connection = OpenConnection([self.access.ports["public"]], dice)
        try:
            async for delivery in self._mix(dice):
                await self._deliver(connection, delivery)
        finally:
            connection.close()

    async def _mix(self, dice: random.Random) -> AsyncIterator[Delivery]:
        """Mostly postbacks; repetitions, copies with other white space, forgeries, notifications of two subscriptions, tokens, and
        sessions."""
        subscriptions = [str(dice.randint(10 ** 14, 10 ** 15)) for _ in range(2)]
        recent: collections.deque[Delivery] = collections.deque(maxlen=64)
        while not self.stopping.is_set():
            await self.pace.turn()
            roll = dice.random()
            if roll < 0.02:
                yield self.maker.notification(dice.choice(subscriptions))
            elif roll < 0.03:
                yield self.maker.token()
            elif roll < 0.06 and recent:
                yield dice.choice(recent)
            elif roll < 0.08 and recent:
                yield self.maker.copy(dice.choice(recent))
            elif roll < 0.10 and recent:
                yield self.maker.forged(dice.choice(recent))
            elif roll > 0.998:
                for session in self.maker.story():
                    yield session
            else:
                recent.append(self.maker.postback())
                yield recent[-1]

    async def _deliver(self, connection: Connection, delivery: Delivery, timeout: float = 60) -> None:
        until = time.monotonic() + timeout
        while True:
            self.deliveries.sent += 1
            began = time.monotonic()
            try:
                status, answer = await connection.post(delivery)
            except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
                # A failure, because the balancer itself stays up. The request may have been accepted, so it is sent again.
                self.deliveries.fail(type(error).__name__, delivery.path)
                status, answer = 0, None
            self.deliveries.slowest = max(self.deliveries.slowest, time.monotonic() - began)
            if answer is not None:
                self.deliveries.answered += 1
                self.ledger.posts += 1
                self.ledger.acknowledge(delivery, answer["id"])
                self.known.append(answer["id"])
                return
            expected = 500 if delivery.path == "/v1/postbacks" else 503
            if status and (not self.retries or status != expected):
                self.deliveries.fail(str(status), delivery.path)
            elif status:
                self.deliveries.retried[str(status)] += 1
            if time.monotonic() > until:
                raise TimeoutError(f"not acknowledged in {timeout:g} s: {delivery.kind}")
            await asyncio.sleep(connection.dice.uniform(0.05, 0.3))

    # --- RPC ---------------------------------------------------------------------------------------------------------

    async def _call(self, work: Callable[[], Work]) -> None:
        callers: dict[str, Caller] = {}
        try:
            while not self.stopping.is_set():
                await asyncio.sleep(0.08)
                port, service, method, message, is_right = work()
                caller = callers.setdefault(port, self.access.caller(port))
                await self._call_with_one_retry(caller, self.calls[port], service, method, message, is_right)
        finally:
            for caller in callers.values():
                caller.close()

    async def _call_with_one_retry(self, caller: Caller, tally: Tally, service: str, method: str, message: dict,
                                   is_right: Callable[[dict], bool]) -> None:
        key = uuid.uuid4().hex
        tally.sent += 1
        for attempt in (1, 2):
            began = time.monotonic()
            try:
                status, answer = await caller.call(service, method, message, key)
                seen = "wrong answer" if status == 200 and not is_right(answer) else str(status)
            except (OSError, asyncio.IncompleteReadError, TimeoutError) as error:
                seen, answer = type(error).__name__, {}
            tally.slowest = max(tally.slowest, time.monotonic() - began)
            if seen == "200":
                tally.answered += 1
                return
            if attempt == 2 or not self.retries or seen == "wrong answer":
                tally.fail(seen, f"{method} {json.dumps(answer)[:200]}")
                return
            tally.retried[seen] += 1
            # The client's one retry: it waits briefly, as gRPC's and Connect's retry policies do.
            await asyncio.sleep(RETRY_AFTER)

    def sign(self) -> Work:
        return "signer", "signer", "SignSKAdNetworkImpression", IMPRESSION, lambda answer: bool(answer.get("signature"))

    def verify(self) -> Work:
        if self.maker.dice.random() < 0.3:
            return "verifier", "events", "ListSubscriptions", {}, anything
        postback = json.loads(self.maker.postback().body)
        return "verifier", "verifier", "VerifySKAdNetworkPostback", {"postback": postback}, lambda answer: answer.get("valid") is True

    def look_up(self) -> Work:
        if not self.known:
            return "ingest", "queues", "ListQueues", {}, anything
        id = self.maker.dice.choice(self.known)
        return "ingest", "ingest", "GetDelivery", {"id": id}, lambda answer: answer.get("id") == id

    def ask_recovery(self) -> Work:
        return "notification-recovery", "recovery", "ListRecoveries", {"bundleId": "com.example.app"}, anything

    def ask_broker(self) -> Work:
        return "asa-token-broker", "queues", "ListQueues", {}, lambda answer: bool(answer.get("queues"))


# Seconds until an RPC caller's one retry.
RETRY_AFTER = 0.5
IMPRESSION = {"version": "4.0", "adNetworkId": "example123.skadnetwork", "sourceIdentifier": 5239, "itunesItemId": 525463029,
              "sourceAppId": 1234567891, "fidelityType": 1}
