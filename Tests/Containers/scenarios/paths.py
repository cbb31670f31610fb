"""Scenario 1: each main function of the system, once, through the balancer."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import time
import uuid

from client import ROOT, SHORT, Subscription, System

from ..composition import wait_until
from . import Context

NUMBER, TITLE = "1", "One of everything, through the balancer"
PORT_OF = {"Signer": "signer", "Verifier": "verifier", "Events": "verifier", "Queues": "verifier", "Ingest": "ingest",
           "Recovery": "notification-recovery", "Broker": "asa-token-broker"}
LONG = {long: short for short, long in SHORT.items()}


class ComposedSystem(System):
    """The client of Deploy/demo, with the composed system's ports."""

    def __init__(self, context: Context) -> None:
        self.ports, self.token = context.access.ports, context.access.token
        self.public = f"http://127.0.0.1:{self.ports['public']}"
        self.simulator = f"https://127.0.0.1:{self.ports['simulator']}"
        # Its folder `simulator` has tls-ca.pem.
        self.data = context.folder

    def url(self, service: str) -> str:
        return f"http://127.0.0.1:{self.ports[PORT_OF[LONG.get(service, service)]]}"


def set_token_answers(context: Context) -> None:
    """Makes the simulator attribute every token, as in the fault tests. Call it again after each restart of the simulator."""
    system = ComposedSystem(context)

    def answers() -> bool:
        with contextlib.suppress(OSError):
            system.control("/control/adservices/default", {"status": 200, "body": {
                "attribution": True, "orgId": 1, "campaignId": 2, "conversionType": "Download", "adGroupId": 3, "countryOrRegion": "US",
                "keywordId": 4, "adId": 5}})
            return True
        return False
    wait_until("the simulator serves", answers, 30)


def short(event: dict) -> str:
    return ".".join(event["type"].split(".")[-3:-1])


async def run(context: Context) -> None:
    await asyncio.to_thread(play, context)


def play(context: Context) -> None:
    section = context.report.section(NUMBER, TITLE)
    system = ComposedSystem(context)

    def row(what: str, outcome: object, right: bool) -> None:
        section.add(what, outcome, "", right)

    def posted(what: str, path: str, body: bytes | str | dict, feed: Subscription, expected: str, most: float = 20) -> dict:
        answer = system.post(path, body)
        events = feed.wait_for(1, most)
        row(what, f"{answer.status}, {', '.join(map(short, events)) or 'no event'}",
            answer.status in (200, 202) and [short(event) for event in events] == [expected])
        return events[0]["data"] if events else {}

    feed = system.subscribe(["attribution.skadnetwork.postback.verified.v1", "attribution.skadnetwork.postback.rejected.v1"])
    genuine = (ROOT / "Deploy" / "genuine-postback.json").read_text()
    data = posted("a genuine postback, signed by Apple", "/v1/postbacks", genuine, feed, "postback.verified")
    again = system.post("/v1/postbacks", genuine)
    row("the same again", f"{again.status} {again.json['status']}", again.json["status"] == "duplicate")
    row("its event is of this postback", data.get("transactionId", "-")[:8] + "…",
        data.get("transactionId") == json.loads(genuine)["transaction-id"])
    posted("the same with a digit changed", "/v1/postbacks", genuine.replace('"5239"', '"5240"'), feed, "postback.rejected")
    feed.delete()

    signed = system.call("Signer", "SignSKAdNetworkImpression", {
        "version": "4.0", "adNetworkId": "example123.skadnetwork", "sourceIdentifier": 5239, "itunesItemId": 525463029,
        "sourceAppId": 1234567891, "fidelityType": 1, "timestamp": int(time.time() * 1000)}, key=uuid.uuid4().hex)
    verified = system.call("Verifier", "VerifySKAdNetworkImpression", {name: signed[name] for name in (
        "version", "adNetworkId", "sourceIdentifier", "itunesItemId", "sourceAppId", "fidelityType", "nonce", "timestamp", "signature")
        if name in signed})
    row("an impression signed, and verified by verifier", f"key {signed['keyId']}, valid: {verified.get('valid')}", verified.get("valid") is True)

    feed = system.subscribe(["attribution.adattributionkit.postback.verified.v1"])
    made = system.control("/control/adattributionkit/postbacks", {"send": False})
    posted("an AdAttributionKit postback of a simulated device", "/.well-known/appattribution/report-attribution/", made["body"], feed,
           "postback.verified")
    feed.delete()

    feed = system.subscribe(["appstore.notification.verified.v1"])
    made = system.control("/control/notifications", {
        "bundleId": "com.example.app", "environment": "Production", "notificationType": "SUBSCRIBED", "subtype": "INITIAL_BUY",
        "send": True})
    names = [event["data"]["payload"]["notificationUUID"] for event in feed.wait_for(1, 20)]
    row("the simulated App Store sends a notification", f"{len(names)} event", names == [made["notificationUUID"]])
    feed.delete()

    feed = system.subscribe(["attribution.adservices.resolved.v1", "attribution.adservices.failed.v1"])
    token = base64.b64encode(uuid.uuid4().bytes * 3).decode()
    data = posted("an AdServices token, exchanged with simulated Apple", "/v1/adservices/tokens", {
        "token": token, "bundleId": "com.example.app", "attStatus": 0, "installId": uuid.uuid4().hex,
        "requestedAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 60))}, feed, "adservices.resolved")
    exchanged = system.call("Broker", "GetExchange", {"exchangeId": data.get("exchangeId", "")}) if data else {}
    row("its outcome, asked for by RPC", exchanged.get("state", "-"), exchanged.get("state") == "attributed")
    feed.delete()

    feed = system.subscribe(["attribution.session.routed.v1"])
    data = posted("a session without consent", "/v1/sessions", {
        "bundleId": "com.example.app", "installId": uuid.uuid4().hex, "attStatus": 2, "idfa": str(uuid.uuid4()).upper(),
        "event": "containers test"}, feed, "session.routed")
    row("it went to the host for those without consent", data.get("host", "-"), data.get("host", "").startswith("analytics."))
    feed.delete()

    listed = system.call("Recovery", "ListRecoveries", {"bundleId": "com.example.app"})
    row("notification-recovery answers", f"{len(listed.get('recoveries', []))} recoveries", True)
