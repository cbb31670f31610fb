"""A small client of a running system, for Deploy/demo and the system tests. Standard library only."""

from __future__ import annotations

import argparse
import http.client
import json
import pathlib
import ssl
import subprocess
import time
import urllib.parse
import uuid
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent

SERVICES = {  # RPC service → (executable, offset of its internal port)
    "attribution.ingest.v1.IngestService": ("ingest", 10),
    "attribution.signer.v1.SignerService": ("signer", 11),
    "attribution.verifier.v1.VerifierService": ("verifier", 12),
    "attribution.events.v1.EventsService": ("verifier", 12),
    "attribution.queues.v1.QueuesService": ("verifier", 12),
    # Of every service; asked of this one where none is named.
    "attribution.diagnostics.v1.DiagnosticsService": ("verifier", 12),
    "attribution.recovery.v1.NotificationRecoveryService": ("notification-recovery", 13),
    "attribution.retention.v1.RetentionService": ("notification-recovery", 13),
    "attribution.advancedcommerce.v1.AdvancedCommerceService": ("notification-recovery", 13),
    "attribution.externalpurchase.v1.ExternalPurchaseService": ("notification-recovery", 13),
    "attribution.asa.v1.TokenBrokerService": ("asa-token-broker", 14),
}
SHORT = {"Signer": "attribution.signer.v1.SignerService", "Verifier": "attribution.verifier.v1.VerifierService",
         "Events": "attribution.events.v1.EventsService", "Queues": "attribution.queues.v1.QueuesService",
         "Ingest": "attribution.ingest.v1.IngestService",
         "Recovery": "attribution.recovery.v1.NotificationRecoveryService",
         "Retention": "attribution.retention.v1.RetentionService",
         "AdvancedCommerce": "attribution.advancedcommerce.v1.AdvancedCommerceService",
         "ExternalPurchase": "attribution.externalpurchase.v1.ExternalPurchaseService",
         "Broker": "attribution.asa.v1.TokenBrokerService"}


def address(text: str) -> str:
    """An argument that is a service's address, without a slash at its end."""
    try:
        parts = urllib.parse.urlsplit(text)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return text.rstrip("/")
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"{text!r} is no address such as http://host:8093")


def token_file(text: str) -> str:
    """An argument that is a file with a token in it: the token."""
    try:
        token = pathlib.Path(text).read_text("ascii").strip()
    except (OSError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"{text!r} cannot be read: {error}") from None
    if not token or not token.isprintable() or " " in token:
        raise argparse.ArgumentTypeError(f"{text!r} holds no token")
    return token


class Answer:
    def __init__(self, status: int, headers: http.client.HTTPMessage, body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def __repr__(self) -> str:
        return f"<{self.status} {self.body[:300]!r}>"


class System:
    """One system that Deploy/up started with this data directory and port base, or a composed one on the ports that
    docker-compose.yml publishes (`compose`: the words of the command that runs it)."""

    def __init__(self, data: str | pathlib.Path, port_base: int, compose: list[str] | None = None) -> None:
        self.data, self.port_base, self.compose = pathlib.Path(data).resolve(), port_base, compose
        token = self.data / "token"
        self.token = token.read_text().strip() if token.exists() else None
        self.public = f"http://127.0.0.1:{port_base}"
        self.simulator = f"https://127.0.0.1:{port_base + 19}"

    # --- HTTP ---------------------------------------------------------------------------------------------------

    def request(self, method: str, url: str, body: bytes | None = None, headers: dict[str, str] | None = None,
                timeout: float = 70) -> Answer:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme == "https":
            context = ssl.create_default_context(cafile=str(self.data / "simulator" / "tls-ca.pem"))
            connection = http.client.HTTPSConnection(parts.hostname, parts.port, timeout=timeout, context=context)
        else:
            connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout)
        try:
            connection.request(method, (parts.path or "/") + (f"?{parts.query}" if parts.query else ""), body, headers or {})
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        finally:
            connection.close()

    def url(self, service: str) -> str:
        return f"http://127.0.0.1:{self.port_base + SERVICES[SHORT.get(service, service)][1]}"

    def rpc(self, service: str, method: str, message: dict | bytes | None = None, *, key: str | None = None,
            headers: dict[str, str] | None = None, token: str | None = "", timeout: float = 70, base: str | None = None) -> Answer:
        """One RPC: `rpc("Signer", "ListSigningKeys", {})`. `key` is the Idempotency-Key."""
        name = SHORT.get(service, service)
        sent = {"Content-Type": "application/json"}
        if token == "":
            token = self.token
        if token:
            sent["Authorization"] = f"Bearer {token}"
        if key:
            sent["Idempotency-Key"] = key
        sent.update(headers or {})
        body = message if isinstance(message, bytes) else json.dumps(message or {}).encode()
        return self.request("POST", f"{base or self.url(name)}/{name}/{method}", body, sent, timeout)

    def call(self, service: str, method: str, message: dict | None = None, **options: Any) -> dict:
        """Like `rpc`, but anything other than success is an error."""
        answer = self.rpc(service, method, message, **options)
        if answer.status != 200:
            raise RuntimeError(f"{method}: {answer.status} {answer.body.decode(errors='replace')[:500]}")
        return answer.json

    def post(self, path: str, body: dict | bytes | str, *, method: str = "POST", content_type: str = "application/json") -> Answer:
        """What a device, the App Store or an SDK sends to the public port."""
        if isinstance(body, str):
            body = body.encode()
        elif not isinstance(body, bytes):
            body = json.dumps(body).encode()
        return self.request(method, self.public + path, body, {"Content-Type": content_type})

    def retention_url(self, app: str) -> str:
        """Where the simulator reaches the route of an app's retention messages: by name where both are composed."""
        base = "http://balancer:8080" if self.compose else self.public
        return f"{base}/v1/app-store/retention/{app}"

    def have_retention_messages(self, app: str, texts: dict[str, str], environment: str = "Sandbox", seconds: float = 20) -> None:
        """Uploads messages (texts by identifier) that Apple does not have yet, and waits until they are approved."""
        asked = {"bundleId": app, "environment": environment}
        known = {one["messageIdentifier"] for one in self.call("Retention", "ListRetentionMessages", asked).get("messages", [])}
        for identifier, text in texts.items():
            if identifier not in known:
                self.call("Retention", "UploadRetentionMessage", {
                    **asked, "messageIdentifier": identifier, "message": {"header": "Stay", "body": text}}, key=str(uuid.uuid4()))
        until = time.monotonic() + seconds
        while not set(texts) <= {one["messageIdentifier"] for one in self.call("Retention", "ListRetentionMessages", asked).get("messages", [])
                                 if one["messageState"] == "APPROVED"}:
            if time.monotonic() > until:
                raise RuntimeError("Apple does not approve the retention messages")
            time.sleep(0.2)

    def control(self, path: str, body: dict | None = None, method: str | None = None) -> dict:
        """The simulator's control API."""
        answer = self.request(method or ("GET" if body is None else "POST"), self.simulator + path,
                              None if body is None else json.dumps(body).encode(), {"Content-Type": "application/json"})
        if answer.status >= 300:
            raise RuntimeError(f"simulator {path}: {answer.status} {answer.body.decode(errors='replace')[:500]}")
        return answer.json if answer.body else {}

    # --- events -------------------------------------------------------------------------------------------------

    def subscribe(self, types: list[str] | None = None, start: str = "now") -> Subscription:
        name = f"s-{uuid.uuid4().hex[:12]}"
        message: dict = {"name": name, "start": start}
        if types:
            message["types"] = types
        self.call("Events", "CreateSubscription", message)
        return Subscription(self, name)

    # --- processes ----------------------------------------------------------------------------------------------

    def service(self, action: str, name: str) -> None:
        if self.compose:
            subprocess.run([*self.compose, action, name], cwd=ROOT, check=True, capture_output=True, text=True)
            if action == "start":
                self._wait_for_balancer(name)
            return
        subprocess.run([ROOT / "Deploy" / "service", action, name, "--data", self.data, "--port-base", str(self.port_base)],
                       check=True, capture_output=True, text=True)

    def _wait_for_balancer(self, name: str, seconds: float = 60) -> None:
        """Until the balancer's port of the service is answered by an instance."""
        port = next(self.port_base + offset for executable, offset in SERVICES.values() if executable == name)
        until = time.monotonic() + seconds
        while self.request("GET", f"http://127.0.0.1:{port}/readyz").status != 200:
            if time.monotonic() > until:
                raise RuntimeError(f"{name} does not come back behind the balancer")
            time.sleep(0.2)

    def pid(self, name: str) -> int:
        return int((self.data / f"run-{self.port_base}" / f"{name}.pid").read_text())

    @staticmethod
    def is_alive(pid: int) -> bool:
        try:
            return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
        except OSError:
            return False

    def log(self, name: str) -> str:
        return (self.data / f"run-{self.port_base}" / f"{name}.log").read_text(errors="replace")


class Subscription:
    def __init__(self, system: System, name: str) -> None:
        self.system, self.name = system, name

    def pull(self, most: int = 100, wait: float = 1) -> list[dict]:
        """Pulls and acknowledges what there is, waiting up to `wait` seconds for a first event."""
        answer = self._call("PullEvents", {
            "subscription": self.name, "maxEvents": most, "waitMilliseconds": int(wait * 1000), "leaseSeconds": 30})
        received = answer.get("events", [])
        if received:
            self._call("AcknowledgeEvents", {"subscription": self.name, "ackIds": [item["ackId"] for item in received]})
        return [item["event"] for item in received]

    def _call(self, method: str, message: dict, seconds: float = 30) -> dict:
        """Comes again when it is told to: the store may be away for a moment."""
        until = time.monotonic() + seconds
        while True:
            answer = self.system.rpc("Events", method, message)
            if answer.status == 200:
                return answer.json
            if answer.status != 503 or time.monotonic() > until:
                raise RuntimeError(f"{method}: {answer.status} {answer.body.decode(errors='replace')[:500]}")
            time.sleep(float(answer.headers.get("Retry-After") or 1))

    def wait_for(self, count: int, seconds: float = 20, settle: float = 0.5) -> list[dict]:
        """All events that come until there are `count` of them and, after that, for `settle` seconds."""
        events: list[dict] = []
        until = time.monotonic() + seconds
        while len(events) < count and time.monotonic() < until:
            events += self.pull(wait=min(2, max(0.05, until - time.monotonic())))
        # A pull that waits looks for events several times, and ends with the first ones.
        time.sleep(settle)
        return events + self.pull(wait=0)

    def delete(self) -> None:
        self.system.call("Events", "DeleteSubscription", {"name": self.name}, key=uuid.uuid4().hex)
