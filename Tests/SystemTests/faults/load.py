"""Genuine and forged deliveries of devices, the App Store and apps, and a ledger of the answers."""

from __future__ import annotations

import asyncio
import base64
import collections
import dataclasses
import hashlib
import json
import random
import time
import uuid
from collections.abc import Callable

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from SystemTests.differential import certificates
from SystemTests.differential.app_store.signed_data import signed_token
from SystemTests.differential.certificates import ROOT, Chain

GENUINE, COPY, FORGED, NOTIFICATION, ADSERVICES, SESSION = "postback", "copy", "forged", "notification", "token", "session"
PATHS = {NOTIFICATION: "/v1/app-store/notifications", ADSERVICES: "/v1/adservices/tokens", SESSION: "/v1/sessions"}
# Seconds that sessions wait for the user's answer: short, because the test waits as long for answers that are lost. Some answers come
# later.
WAIT = 8


@dataclasses.dataclass(frozen=True)
class Delivery:
    kind: str
    # The transaction id, notificationUUID or token.
    name: str
    body: bytes
    # The original transaction id of a notification.
    order: str | None = None
    # The user's answer in a session; 0 is none.
    status: int = 0

    @property
    def path(self) -> str:
        """One of two URLs by chance, if the app has its own URL for this kind of delivery."""
        path = PATHS.get(self.kind, "/v1/postbacks")
        return path + "/com.example.app" if self.kind in (NOTIFICATION, ADSERVICES) and random.getrandbits(1) else path

    @property
    def content_type(self) -> str:
        return "application/json"


class Maker:
    """Creates deliveries that verify, with keys that the system under test is configured to accept as Apple's."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.apple_key = base64.b64encode(
            self.key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).decode()
        authority = certificates.authority("fault authority")
        leaf = certificates.leaf("fault leaf", authority)
        self.chain = Chain("fault", [leaf.text, authority.text, ROOT.text], leaf.key, True)

    def uuid(self) -> str:
        return str(uuid.UUID(int=self.dice.getrandbits(128), version=4))

    def postback(self) -> Delivery:
        transaction = self.uuid()
        words = ["4.0", "example123.skadnetwork", "5239", "525463029", transaction, "false", "1234567891", "1", "true", "0"]
        signature = self.key.sign("\u2063".join(words).encode(), ec.ECDSA(hashes.SHA256()))
        return Delivery(GENUINE, transaction, json.dumps({
            "version": "4.0", "ad-network-id": "example123.skadnetwork", "source-identifier": "5239", "app-id": 525463029,
            "transaction-id": transaction, "redownload": False, "source-app-id": 1234567891, "fidelity-type": 1, "did-win": True,
            "postback-sequence-index": 0, "conversion-value": 63,
            "attribution-signature": base64.b64encode(signature).decode()}, separators=(",", ":")).encode())

    def copy(self, genuine: Delivery) -> Delivery:
        """The same postback with other white space: a new delivery of the same event."""
        return Delivery(COPY, genuine.name, json.dumps(json.loads(genuine.body), indent=self.dice.randint(1, 9)).encode())

    def forged(self, genuine: Delivery) -> Delivery:
        """A forgery that claims to be the genuine postback and has another signed value."""
        return Delivery(FORGED, genuine.name, json.dumps(
            {**json.loads(genuine.body), "source-identifier": str(self.dice.randint(1000, 5000))}).encode())

    def notification(self, order: str | None = None) -> Delivery:
        name = self.uuid()
        now = int(time.time() * 1000)
        order = order or str(self.dice.randint(10 ** 14, 10 ** 15))
        transaction = {
            "transactionId": str(self.dice.randint(10 ** 14, 10 ** 15)), "originalTransactionId": order, "bundleId": "com.example.app",
            "productId": "com.example.gold", "purchaseDate": now, "originalPurchaseDate": now, "expiresDate": now + 2_592_000_000,
            "quantity": 1, "type": "Auto-Renewable Subscription", "inAppOwnershipType": "PURCHASED", "signedDate": now,
            "environment": "Production", "transactionReason": "RENEWAL", "storefront": "USA", "storefrontId": "143441", "price": 9990,
            "currency": "USD"}
        payload = {
            "notificationType": "DID_RENEW", "version": "2.0", "notificationUUID": name, "signedDate": now,
            "data": {"environment": "Production", "appAppleId": 525463029, "bundleId": "com.example.app", "bundleVersion": "1", "status": 1,
                     "signedTransactionInfo": signed_token(transaction, self.chain)}}
        return Delivery(NOTIFICATION, name, json.dumps({"signedPayload": signed_token(payload, self.chain)}).encode(), order)

    def story(self) -> list[Delivery]:
        """Sessions of one install: some before the user's answer, the one with the answer, and another one. Their name is the install's
        hash. Each contains the advertising identifier twice."""
        install, identifier, answer = self.uuid(), self.uuid().upper(), self.dice.choice([1, 2, 3, 3])
        name = hashlib.sha256(f"install\0com.example.app\0{install}".encode()).hexdigest()[:32]
        return [Delivery(SESSION, name, json.dumps({
            "bundleId": "com.example.app", "installId": install, "attStatus": status, "attConsentWaitingInterval": WAIT, "event": number,
            "idfa": identifier, "parameters": {"copy": identifier.lower()}}).encode(), status=status)
            for number, status in enumerate([0] * self.dice.randint(1, 4) + [answer] * 2)]

    def token(self) -> Delivery:
        name = base64.b64encode(self.dice.randbytes(60)).decode()
        return Delivery(ADSERVICES, name, json.dumps({
            "token": name, "bundleId": "com.example.app", "attStatus": 0, "installId": self.uuid(),
            "requestedAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 30))}).encode())


class Ledger:
    """The acknowledged deliveries by id."""

    def __init__(self) -> None:
        self.ids: dict[bytes, str] = {}
        self.deliveries: dict[str, Delivery] = {}
        self.order: dict[str, list[str]] = collections.defaultdict(list)
        # Ports of instances that are not expected to keep the order of notifications, and the original transaction ids that were sent to
        # them.
        self.unordered_ports: set[int] = set()
        self.unordered: set[str] = set()
        # The user's answer by the hash of the install.
        self.answers: dict[str, int] = {}
        self.posts, self.refusals, self.breaks = 0, collections.Counter(), 0

    @property
    def count(self) -> int:
        return len(self.ids)

    def acknowledge(self, delivery: Delivery, id: str) -> None:
        known = self.ids.setdefault(delivery.body, id)
        assert known == id, f"one body has two ids: {known}, {id}"
        if id not in self.deliveries:
            self.deliveries[id] = delivery
            if delivery.status:
                self.answers[delivery.name] = delivery.status
            if delivery.order:
                self.order[delivery.order].append(delivery.name)


class Connection:
    """HTTP/1.1 to one of several ports, or hosts and ports; a broken connection is opened again at another one."""

    def __init__(self, ports: list[int | tuple[str, int]], dice: random.Random) -> None:
        self.ports, self.dice, self.writer, self.left = ports, dice, None, 0
        self.at: int | tuple[str, int] | None = None

    async def post(self, delivery: Delivery) -> tuple[int, dict | None]:
        try:
            async with asyncio.timeout(30):
                # Each connection is replaced after some requests; otherwise all would use the instance that failed least.
                if self.left == 0:
                    self.close()
                self.left -= 1
                if self.writer is None:
                    self.left = self.dice.randrange(20, 60)
                    self.at = at = self.dice.choice(self.ports)
                    self.reader, self.writer = await asyncio.open_connection(*(at if isinstance(at, tuple) else ("127.0.0.1", at)))
                self.writer.write(
                    f"POST {delivery.path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {delivery.content_type}\r\n"
                    f"Content-Length: {len(delivery.body)}\r\n\r\n".encode() + delivery.body)
                head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
                length = int(head.split("content-length:", 1)[1].split("\r\n", 1)[0])
                body = await self.reader.readexactly(length)
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            self.close()
            raise
        status = int(head[9:12])
        if "connection: close" in head:
            self.close()
        return status, json.loads(body) if status in (200, 202) else None

    def close(self) -> None:
        if self.writer:
            self.writer.transport.abort()
        self.writer = None


async def deliver(connection: Connection, delivery: Delivery, ledger: Ledger, timeout: float = 120) -> str:
    """Sends until it is acknowledged, as Apple would, but faster; returns the id in the answer."""
    until = time.monotonic() + timeout
    while time.monotonic() < until:
        ledger.posts += 1
        try:
            status, answer = await connection.post(delivery)
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            ledger.breaks += 1
            await asyncio.sleep(connection.dice.uniform(0, 0.2))
            continue
        finally:
            if delivery.order and connection.at in ledger.unordered_ports:
                ledger.unordered.add(delivery.order)
        if answer is not None:
            ledger.acknowledge(delivery, answer["id"])
            return answer["id"]
        assert status == (500 if delivery.path == "/v1/postbacks" else 503), (status, delivery.path)
        ledger.refusals[status] += 1
        await asyncio.sleep(connection.dice.uniform(0.05, 0.4))
    raise AssertionError(f"not acknowledged in {timeout} s: {delivery.kind}")


async def send_many(maker: Maker, ports: list[int], ledger: Ledger, target: int, seed: int, tokens: bool = True, sessions: bool = False,
                    faults_done: Callable[[], float] = lambda: 1.0) -> None:
    """One sender: mostly postbacks, with repeats, copies, forgeries before and after, notifications of its own subscriptions, tokens,
    sessions. Continues until the faults are finished too, and slower if it is ahead of them."""
    dice = random.Random(seed)
    connection = Connection(ports, dice)
    subscriptions = [str(dice.randint(10 ** 14, 10 ** 15)) for _ in range(2)]
    recent: collections.deque[Delivery] = collections.deque(maxlen=64)
    try:
        while ledger.count < target or faults_done() < 1:
            if ledger.count > target * (faults_done() + 0.1):
                await asyncio.sleep(0.1)
            roll = dice.random()
            if roll < 0.03:
                await deliver(connection, maker.notification(dice.choice(subscriptions)), ledger)
                continue
            if roll < 0.04 and tokens:
                await deliver(connection, maker.token(), ledger)
                continue
            if roll < 0.08 and recent:
                await deliver(connection, dice.choice(recent), ledger)
                continue
            if roll < 0.10 and recent:
                await deliver(connection, maker.copy(dice.choice(recent)), ledger)
                continue
            if roll > 0.99 and sessions:
                for session in maker.story():
                    await deliver(connection, session, ledger)
                    # An SDK that got no answer sends it again.
                    if dice.random() < 0.2:
                        await deliver(connection, session, ledger)
                continue
            genuine = maker.postback()
            if 0.10 <= roll < 0.12:
                await deliver(connection, maker.forged(genuine), ledger)
            await deliver(connection, genuine, ledger)
            if 0.12 <= roll < 0.14:
                await deliver(connection, maker.forged(genuine), ledger)
            recent.append(genuine)
    finally:
        connection.close()
