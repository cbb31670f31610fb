"""The demo's paths: what devices, the App Store and partners send, and what became of it."""

import pathlib
import time
import uuid

from client import ROOT
from demo_report import row, short, stamp, system


def skadnetwork() -> None:
    path = "1 SKAdNetwork"
    signed = system.call("Signer", "SignSKAdNetworkImpression", {
        "version": "4.0", "adNetworkId": "example123.skadnetwork", "sourceIdentifier": 5239, "itunesItemId": 525463029,
        "sourceAppId": 1234567891, "fidelityType": 1, "timestamp": int(time.time() * 1000)})
    check = system.call("Verifier", "VerifySKAdNetworkImpression", {
        name: signed[name] for name in ("version", "adNetworkId", "sourceIdentifier", "itunesItemId", "sourceAppId",
                                        "fidelityType", "nonce", "timestamp", "signature") if name in signed})
    row(path, "sign a 4.0 impression", f"key {signed['keyId']}, verifies: {check.get('valid')}", check.get("valid") is True)

    feed = system.subscribe(["attribution.skadnetwork.postback.verified.v1", "attribution.skadnetwork.postback.rejected.v1"])
    body = (pathlib.Path(ROOT) / "Deploy" / "genuine-postback.json").read_text()
    first, again = system.post("/v1/postbacks", body), system.post("/v1/postbacks", body)
    forged = system.post("/v1/postbacks", body.replace('"5239"', f'"{int(time.time() * 7) % 9000 + 1000}"'))
    events = feed.wait_for(2 if first.json["status"] == "accepted" else 1, seconds=10)
    kinds = sorted(short(event["type"]) for event in events)
    delivery = system.call("Ingest", "GetDelivery", {"id": first.json["id"]})
    if first.json["status"] == "accepted" and not kinds.count("postback.verified") and delivery["state"] == "verified":
        # Sent before with other white space, by curl say: other bytes, and the same conversion.
        row(path, "post a genuine postback", "200 accepted, counted in an earlier run: no second event", bool(delivery.get("eventId")))
    elif first.json["status"] == "accepted":
        row(path, "post a genuine postback", f"{first.status} {first.json['status']}, events: {kinds.count('postback.verified')}",
            kinds.count("postback.verified") == 1)
    else:
        row(path, "post a genuine postback", "seen in an earlier run: a duplicate, no event", kinds.count("postback.verified") == 0)
    row(path, "post it again", f"{again.status} {again.json['status']}", again.json["status"] == "duplicate")
    reasons = [event["data"]["reason"] for event in events if short(event["type"]) == "postback.rejected"]
    row(path, "post it with a digit changed", f"{forged.status} {forged.json['status']}, event: rejected, {', '.join(reasons)}",
        reasons == ["bad_signature"])
    feed.delete()


def adattributionkit() -> None:
    path = "2 AdAttributionKit"
    signed = system.call("Signer", "SignAdAttributionKitImpression", {
        "adNetworkId": "example123.adattributionkit", "sourceIdentifier": 5239, "advertisedItemId": 525463029,
        "publisherItemId": 5838492, "impressionType": "app-impression", "eligibleForReEngagement": True,
        "timestamp": int(time.time() * 1000)})
    check = system.call("Verifier", "VerifyAdAttributionKitImpression", {"jws": signed["jws"]})
    row(path, "sign an impression JWS", f"key {signed['keyId']}, verifies: {check.get('valid')}", check.get("valid") is True)
    feed = system.subscribe(["attribution.adattributionkit.postback.verified.v1", "attribution.adattributionkit.postback.rejected.v1"])
    made = system.control("/control/adattributionkit/postbacks", {"send": False})
    answer = system.post("/.well-known/appattribution/report-attribution/", made["body"])
    events = feed.wait_for(1, seconds=10)
    row(path, "a device posts a postback", f"{answer.status} {answer.json['status']}, event: {', '.join(short(e['type']) for e in events)}",
        [short(e["type"]) for e in events] == ["postback.verified"])
    feed.delete()


def notifications() -> None:
    path = "3 App Store"
    feed = system.subscribe(["appstore.notification.verified.v1", "appstore.notification.rejected.v1"])
    made = system.control("/control/notifications", {
        "bundleId": "com.example.app", "environment": "Production", "notificationType": "SUBSCRIBED",
        "subtype": "INITIAL_BUY", "send": True})
    data = [event["data"] for event in feed.wait_for(1, seconds=10)]
    right = (len(data) == 1 and data[0]["payload"]["notificationUUID"] == made["notificationUUID"]
             and bool(data[0]["transactionInfo"]["productId"]) and "autoRenewStatus" in data[0]["renewalInfo"])
    row(path, "the App Store sends SUBSCRIBED/INITIAL_BUY",
        f"event with product {data[0]['transactionInfo']['productId']}, renewal status {data[0]['renewalInfo']['autoRenewStatus']}"
        if data else "no event", right)
    feed.delete()


def recovery() -> None:
    path = "4 Recovery"
    feed = system.subscribe(["appstore.notification.verified.v1"])
    start, count = time.time() - 5, 45
    system.service("stop", "ingest")
    try:
        missed = {system.control("/control/notifications", {
            "bundleId": "com.example.app", "environment": "Sandbox", "notificationType": "DID_RENEW",
            "send": True})["notificationUUID"] for _ in range(count)}
        time.sleep(1)
    finally:
        system.service("start", "ingest")
    row(path, f"ingest is down while {count} notifications are sent", f"{len(feed.pull(wait=0.5))} events", True)
    started = system.call("Recovery", "StartRecovery", {
        "bundleId": "com.example.app", "environment": "Sandbox", "startDate": stamp(start), "endDate": stamp(time.time() + 5)},
        key=uuid.uuid4().hex)
    progress: dict = {}
    for _ in range(150):
        progress = system.call("Recovery", "GetRecovery", {"recoveryId": started["recoveryId"]})
        if progress["state"] in ("completed", "failed", "cancelled"):
            break
        time.sleep(0.2)
    row(path, "StartRecovery over the window", f"{progress['state']}: {progress.get('pages')} pages, {progress.get('fetched')} fetched, "
        f"{progress.get('accepted')} accepted", progress["state"] == "completed")
    came = [event["data"]["payload"]["notificationUUID"] for event in feed.wait_for(count, seconds=20, settle=1)]
    row(path, "the feed", f"{len(missed & set(came))} of {count} back, {len(came) - len(set(came))} twice",
        sorted(missed) == sorted(came))
    feed.delete()


def adservices() -> None:
    path = "5 AdServices"
    feed = system.subscribe(["attribution.adservices.resolved.v1", "attribution.adservices.failed.v1"])
    record = {"attribution": True, "orgId": 40669820, "campaignId": 542370539, "conversionType": "Download",
              "claimType": "Click", "adGroupId": 542317095, "countryOrRegion": "US", "keywordId": 87675432, "adId": 542317136}
    now = time.time()
    cases = (
        ("a token is exchanged", [{"status": 200, "body": record}], now - 60, "attributed"),
        ("404, then found: retried after five seconds", [{"status": 404}, {"status": 200, "body": record}], now - 60, "attributed"),
        ("404 until 24 hours have passed", [{"status": 404}] * 6, now - 86400 + 8, "expired"),
    )
    for step, answers, created, expected in cases:
        token = f"demo{uuid.uuid4().hex}="
        system.control("/control/adservices/tokens", {"token": token, "answers": answers})
        result = system.call("Broker", "ExchangeToken", {
            "token": token, "bundleId": "com.example.app", "attStatus": 0, "requestedAt": stamp(created),
            "installId": "demo", "waitMilliseconds": 30000})
        row(path, step, result["state"] + (f", campaign {result['record']['campaignId']}" if "record" in result else ""),
            result["state"] == expected)
    events = feed.wait_for(3, seconds=10)
    row(path, "the feed", ", ".join(event["type"].split(".")[-2] for event in events), len(events) == 3)
    feed.delete()


def att() -> None:
    path = "6 ATT"
    feed = system.subscribe(["attribution.session.routed.v1"])
    idfa = str(uuid.uuid4()).upper()
    for status, word in ((2, "denied"), (3, "authorized")):
        system.post("/v1/sessions", {
            "bundleId": "com.example.app", "installId": f"demo-{word}-{uuid.uuid4().hex[:6]}", "attStatus": status, "idfa": idfa,
            "started_at": "2026-09-10T08:00:00Z", "event": "session"})
    events = feed.wait_for(2, seconds=15)
    sessions = system.control("/control/sessions")["sessions"][-10:]
    for host, word, whole in (("analytics.adjust.com", "without consent", False), ("consent.adjust.com", "with consent", True)):
        mine = [entry["body"] for entry in sessions if entry["host"] == host and (not whole or entry["body"].get("idfa") == idfa)]
        has = bool(mine) and "idfa" in mine[-1] and "started_at" in mine[-1]
        clean = bool(mine) and "idfa" not in mine[-1] and "started_at" not in mine[-1]
        row(path, f"a session {word}", f"went to {host}, " + ("whole" if has else "without idfa and started_at" if clean else "not as expected"),
            has if whole else clean)
    row(path, "the feed", f"{len(events)} routed events", len(events) == 2)
    feed.delete()
