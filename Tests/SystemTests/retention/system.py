"""A system for retention messages: ingest, verifier, signer and Redis, scripted servers for notification-recovery and a user's decision
service, and the App Store's requests, signed under a test authority."""

from __future__ import annotations

import base64
import http.server
import json
import pathlib
import random
import signal
import threading
import time
import uuid
from collections.abc import Callable
from types import MappingProxyType

import yaml
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from SystemTests.differential import certificates
from SystemTests.differential.app_store import signed_data as app_store
from SystemTests.differential.certificates import ROOT, Chain
from SystemTests.faults.load import Maker
from SystemTests.faults.process import TOKEN, Service
from SystemTests.faults.system import FaultSystem
from SystemTests.support.signer_process import make_key

APP, APPLE_ID = "com.example.app", 525463029
PATH = f"/v1/app-store/retention/{APP}"
OFFER, TEXT, GERMAN, PLAN, ADVANCED, PENDING = (f"2c9a6a1e-6a0e-4c63-9d54-5f1b6f1f00{number:02d}" for number in range(1, 7))
EVENT = "appstore.retention.decided.v1"
MODIFY = {"operation": "MODIFY_SUBSCRIPTION", "version": "1", "retainBillingCycle": True,
          "changeItems": [{"currentSKU": "sku", "SKU": "other", "displayName": "Other", "description": "Another plan", "price": 9990,
                           "effective": "NEXT_BILL_CYCLE", "reason": "UPGRADE"}]}


def chain(label: str = "one", trusted: bool = True) -> Chain:
    root = ROOT if trusted else certificates.certified("retention stranger root", start="2014-01-01", end="2045-01-01")
    authority = certificates.authority(f"retention authority {trusted}", root)
    leaf = certificates.leaf(f"retention leaf {label} {trusted}", authority)
    return Chain(label, [leaf.text, authority.text, root.text], leaf.key, trusted)


GENUINE, STRANGER = chain(), chain(trusted=False)


def realtime_request(**more: object) -> dict:
    payload = {"originalTransactionId": str(uuid.uuid4().int % 10 ** 15), "appAppleId": APPLE_ID, "productId": "com.example.monthly",
               "userLocale": "en-US", "requestIdentifier": str(uuid.uuid4()), "environment": "Sandbox", "signedDate": int(time.time() * 1000)}
    return {name: value for name, value in (payload | more).items() if value is not None}


def signed(payload: dict, by: Chain = GENUINE) -> bytes:
    return json.dumps({"signedPayload": app_store.signed_token(payload, by)}).encode()


class ScriptedServer:
    """An RPC server with fixed answers. `answers` has by method a message, a status with a message, or a function of the request that
    returns one of them. A call without an answer hangs. `calls` has the method, the message and the headers of each call."""

    def __init__(self, port: int = 0) -> None:
        self.answers: dict[str, object] = {}
        self.calls: list[tuple[str, dict, dict]] = []
        self.released = threading.Event()
        scripted = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                method = self.path.rsplit("/", 1)[1]
                scripted.calls.append((method, message, dict(self.headers)))
                answer = scripted.answers.get(method)
                if callable(answer):
                    answer = answer(message)
                if answer is None:
                    scripted.released.wait(60)
                    return
                status, body = answer if isinstance(answer, tuple) else (200, answer)
                text = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def is_running(self) -> bool:
        return self.thread.is_alive()

    def stop(self) -> None:
        self.released.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


class RetentionSystem(FaultSystem):
    # Long, because the machine may be busy: only the tests of TimedSystem use the App Store's limit.
    LONG_TIMEOUTS = MappingProxyType({"budget": "5s", "signerTimeout": "4s", "historyTimeout": "4s", "storeTimeout": "4s"})

    def __init__(self, folder: pathlib.Path, rules: list[dict], settings: dict | None = None, ingests: int = 1, **app: object) -> None:
        super().__init__(folder, Maker(random.Random(26)).apple_key)
        self.key_path = make_key(folder / "offers.pem")
        self.configuration = folder / "configuration.yaml"
        self.recovery, self.decision_service = ScriptedServer(), ScriptedServer()
        self.approve(OFFER, TEXT, GERMAN, PLAN, ADVANCED)
        self.app = {"offers": {"issuerId": "57246542-96fe-1a63-e053-0824d011072a", "keyId": "K1", "privateKey": str(self.key_path)}, **app}
        self.settings = {"messagesRefresh": "200ms", **self.LONG_TIMEOUTS, **(settings or {})}
        self.write(rules)
        self.signer = self.service("signer")
        self.verifier = self.service("verifier")
        variables = {"ATTRIBUTION_SIGNER_URL": f"http://127.0.0.1:{self.signer.port}",
                     "ATTRIBUTION_VERIFIER_URL": f"http://127.0.0.1:{self.verifier.port}",
                     "ATTRIBUTION_NOTIFICATION_RECOVERY_URL": self.recovery.url, "ATTRIBUTION_SERVICE_TOKEN_FILE": str(folder / "token")}
        (folder / "token").touch(0o600)
        (folder / "token").write_text(TOKEN)
        self.ingests = [self.service("ingest", **variables) for _ in range(ingests)]

    @property
    def ingest(self) -> Service:
        return self.ingests[0]

    def write(self, rules: list[dict], decisions: dict | None = None) -> None:
        """Writes the configuration with these rules."""
        known = yaml.safe_load(self.configuration.read_text())
        retention = {"rules": rules} | ({"decisionService": decisions} if decisions else {})
        known["apps"] = [{"bundleId": APP, "appAppleId": APPLE_ID, "environments": ["Production", "Sandbox"], **self.app, "retention": retention}]
        known["retention"] = self.settings
        self.configuration.write_text(yaml.safe_dump(known))

    def reload(self, rules: list[dict], decisions: dict | None = None, outcome: str = "applied") -> None:
        """Writes the configuration, and waits until every ingest has reloaded or refused it."""
        self.write(rules, decisions)
        # Reading the log often is cheaper than reading the metrics, because these count the messages of every queue.
        words = {"applied": "the configuration was reloaded", "refused": "the changed configuration was refused"}[outcome]
        for ingest in self.ingests:
            before = ingest.log().count(words)
            ingest.signal(signal.SIGHUP)
            wait(lambda ingest=ingest, before=before: ingest.log().count(words) > before)

    def approve(self, *messages: str, pending: tuple[str, ...] = (PENDING,)) -> None:
        self.recovery.answers["ListRetentionMessages"] = {"environment": "Sandbox", "messages": [
            {"messageIdentifier": one, "messageState": "APPROVED"} for one in messages] + [
            {"messageIdentifier": one, "messageState": "PENDING"} for one in pending]}

    def refreshed(self) -> None:
        """Waits until every ingest has queried the approved messages of every environment again."""
        before = len(self.recovery.calls)
        wait(lambda: len(self.recovery.calls) >= before + 4 * len(self.ingests))

    def start(self) -> None:
        super().start()
        if self.recovery.is_running():
            self.refreshed()

    def stop(self) -> None:
        super().stop()
        self.recovery.stop()
        self.decision_service.stop()

    def ask(self, payload: dict | None = None, by: Chain = GENUINE, ingest: Service | None = None) -> tuple[int, dict, float]:
        """Sends a request as the App Store does; returns the status, the answer, and the duration in seconds."""
        body = signed(payload or realtime_request(), by)
        begun = time.monotonic()
        status, _, text = (ingest or self.ingest).post(PATH, body)
        return status, json.loads(text), time.monotonic() - begun

    def decided(self, identifier: str | None = None) -> list[dict]:
        """Events of retention requests."""
        return [event for event in self.events() if event["type"] == EVENT
                and (identifier is None or event["data"]["requestIdentifier"] == identifier)]

    def notify(self, transaction: str, **more: object) -> None:
        """Reports a first purchase as the App Store does, and waits until it is in the subscription's history."""
        now = int(time.time() * 1000)
        day = 86_400_000
        bought = {"transactionId": transaction, "originalTransactionId": transaction, "bundleId": APP, "productId": "com.example.monthly",
                  "subscriptionGroupIdentifier": "21345678", "storefront": "DEU", "price": 9990, "currency": "EUR", "quantity": 1,
                  "purchaseDate": now - day, "originalPurchaseDate": now - 100 * day, "expiresDate": now + 29 * day, "signedDate": now,
                  "environment": "Sandbox", "type": "Auto-Renewable Subscription", "inAppOwnershipType": "PURCHASED", **more}
        renewal = {"originalTransactionId": transaction, "autoRenewProductId": "com.example.monthly", "productId": "com.example.monthly",
                   "autoRenewStatus": 1, "signedDate": now, "environment": "Sandbox"}
        payload = {"notificationType": "SUBSCRIBED", "subtype": "INITIAL_BUY", "notificationUUID": str(uuid.uuid4()), "version": "2.0",
                   "signedDate": now, "data": {
                       "environment": "Sandbox", "bundleId": APP, "status": 1, "signedTransactionInfo": app_store.signed_token(bought, GENUINE),
                       "signedRenewalInfo": app_store.signed_token(renewal, GENUINE)}}
        status, _, text = self.ingest.post("/v1/app-store/notifications", signed(payload))
        assert status == 200, text
        wait(lambda: self.verifier.rpc("verifier.v1.VerifierService", "GetSubscriptionState", {
            "originalTransactionId": transaction, "environment": "Sandbox"})[0] == 200)

    def event(self, identifier: str) -> dict:
        """The one event of a request."""
        wait(lambda: self.decided(identifier))
        self.wait_until_worked()
        found = self.decided(identifier)
        assert len(found) == 1, found
        return found[0]

    def public_key(self) -> ec.EllipticCurvePublicKey:
        return load_pem_private_key(self.key_path.read_bytes(), None).public_key()

    def claims(self, jws: str) -> dict:
        """The payload of a JWS that signer's key signed."""
        head, payload, signature = jws.split(".")
        raw = base64.urlsafe_b64decode(signature + "==")
        der = utils.encode_dss_signature(int.from_bytes(raw[:32]), int.from_bytes(raw[32:]))
        self.public_key().verify(der, f"{head}.{payload}".encode(), ec.ECDSA(hashes.SHA256()))
        assert json.loads(base64.urlsafe_b64decode(head + "==")) == {"alg": "ES256", "kid": "K1", "typ": "JWT"}
        return json.loads(base64.urlsafe_b64decode(payload + "=="))


def metric(service: Service, name: str) -> float:
    """The value of one series, with its labels as a part of the name; 0 if there is none."""
    for line in service.get("/metrics")[1].decode().splitlines():
        if line.startswith(name + " "):
            return float(line.rsplit(" ", 1)[1])
    return 0


def wait(until: Callable[[], object], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not until():
        assert time.monotonic() < end, "not in time"
        time.sleep(0.02)
