"""The main paths through the system from end to end: SKAdNetwork, AdAttributionKit, App Store notifications, their recovery, AdServices
tokens and sessions with ATT. Web ads are in signer/test_web_ads.py, retention messages in retention/test_retention.py."""

import json
import time
import uuid

from .test_newest_fields import checked

VERIFIED = "attribution.skadnetwork.postback.verified.v1"
REJECTED = "attribution.skadnetwork.postback.rejected.v1"


def genuine(vectors, id):
    for file in ("attribution/postbacks.json", "attribution/genuine.json"):
        for case in vectors(file)["cases"]:
            if case["id"] == id:
                return case["body"]
    raise KeyError(id)


def test_skadnetwork_a_genuine_postback_is_one_event_its_repeat_none_and_a_changed_one_a_rejection(system, vectors):
    impression = system.call("Signer", "SignSKAdNetworkImpression", {
        "version": "4.0", "adNetworkId": "example123.skadnetwork", "sourceIdentifier": 5239, "itunesItemId": 525463029,
        "sourceAppId": 1234567891, "fidelityType": 1, "timestamp": int(time.time() * 1000)})
    assert impression["signature"] and impression["keyId"] == "dev-1"
    assert impression["nonce"] == impression["nonce"].lower()

    feed = system.subscribe([VERIFIED, REJECTED])
    body = genuine(vectors, "genuine-4.0-web-fine")
    first = system.post("/v1/postbacks", body)
    assert first.status == 200 and first.json["status"] == "accepted", first
    again = system.post("/v1/postbacks/", body)
    assert again.status == 200 and again.json == {"id": first.json["id"], "status": "duplicate"}
    changed = body.replace('"source-identifier": "5239"', '"source-identifier": "5238"')
    assert changed != body
    forged = system.post("/v1/postbacks", changed)
    assert forged.status == 200 and forged.json["status"] == "accepted"

    events = feed.wait_for(2)
    assert sorted(event["type"] for event in events) == [REJECTED, VERIFIED]
    verified = next(event for event in events if event["type"] == VERIFIED)
    rejected = next(event for event in events if event["type"] == REJECTED)
    assert verified["data"]["postback"]["transaction-id"] == "6aafb7a5-0170-41b5-bbe4-fe71dedf1e30"
    assert rejected["data"]["reason"] == "bad_signature"
    assert verified["specversion"] == "1.0" and verified["id"] != rejected["id"]
    delivery = system.call("Ingest", "GetDelivery", {"id": first.json["id"]})
    assert delivery["state"] == "verified" and delivery["eventId"] == verified["id"]
    assert system.call("Ingest", "GetDelivery", {"id": forged.json["id"]})["state"] == "rejected"
    assert system.call("Events", "GetEvent", {"id": verified["id"]})["event"]["id"] == verified["id"]
    feed.delete()


def test_skadnetwork_the_same_signed_postback_in_other_bytes_is_not_counted_twice(system, vectors):
    feed = system.subscribe([VERIFIED, REJECTED])
    body = json.loads(genuine(vectors, "genuine-3.0-won"))
    one = system.post("/v1/postbacks", body)
    two = system.post("/.well-known/skadnetwork/report-attribution", json.dumps(body, indent=3))
    assert one.json["status"] == two.json["status"] == "accepted" and one.json["id"] != two.json["id"]
    events = feed.wait_for(1, settle=2)
    assert [event["type"] for event in events] == [VERIFIED]
    feed.delete()


def test_adattributionkit_an_impression_is_signed_and_a_postback_becomes_an_event(system, vectors):
    impression = system.call("Signer", "SignAdAttributionKitImpression", {
        "adNetworkId": "example123.adattributionkit", "sourceIdentifier": 5239, "advertisedItemId": 525463029,
        "publisherItemId": 5838492, "impressionType": "app-impression", "eligibleForReEngagement": True,
        "timestamp": int(time.time() * 1000)})
    assert impression["jws"].count(".") == 2
    check = system.call("Verifier", "VerifyAdAttributionKitImpression", {"jws": impression["jws"]})
    assert check["valid"] is True, check

    kinds = ["attribution.adattributionkit.postback.verified.v1", "attribution.adattributionkit.postback.rejected.v1"]
    feed = system.subscribe(kinds)
    assert system.post("/v1/postbacks", genuine(vectors, "genuine-aak-development")).status == 200
    events = feed.wait_for(1)
    assert [event["type"] for event in events] == kinds[:1]
    assert events[0]["data"]["environment"] == "development"
    checked(events[0])
    feed.delete()


def test_app_store_a_notification_becomes_an_event_with_its_parts_decoded(system):
    feed = system.subscribe(["appstore.notification.verified.v1", "appstore.notification.rejected.v1"])
    made = system.control("/control/notifications", {
        "bundleId": "com.example.app", "environment": "Production", "notificationType": "SUBSCRIBED",
        "subtype": "INITIAL_BUY", "send": False})
    answer = system.post("/v1/app-store/notifications", {"signedPayload": made["signedPayload"]})
    assert answer.status == 200 and answer.json["status"] == "accepted"
    events = feed.wait_for(1)
    assert [event["type"] for event in events] == ["appstore.notification.verified.v1"], events
    data = events[0]["data"]
    assert data["payload"]["notificationUUID"] == made["notificationUUID"]
    assert data["transactionInfo"]["bundleId"] == "com.example.app"
    assert data["renewalInfo"]["originalTransactionId"] == data["transactionInfo"]["originalTransactionId"]
    feed.delete()


def test_recovery_notifications_sent_while_ingest_was_down_are_recovered_exactly_once(system):
    feed = system.subscribe(["appstore.notification.verified.v1"])
    before = int(time.time()) - 60
    system.service("stop", "ingest")
    try:
        missed = {system.control("/control/notifications", {
            "bundleId": "com.example.app", "environment": "Sandbox", "notificationType": "DID_RENEW",
            "send": True})["notificationUUID"] for _ in range(45)}
    finally:
        system.service("start", "ingest")
    key = uuid.uuid4().hex
    window = {"bundleId": "com.example.app", "environment": "Sandbox",
              "startDate": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(before)),
              "endDate": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 60))}
    started = system.call("Recovery", "StartRecovery", window, key=key)
    assert system.call("Recovery", "StartRecovery", window, key=key) == started
    for _ in range(100):
        progress = system.call("Recovery", "GetRecovery", {"recoveryId": started["recoveryId"]})
        if progress["state"] in ("completed", "failed", "cancelled"):
            break
        time.sleep(0.2)
    assert progress["state"] == "completed" and progress["progress"] == 1, json.dumps(progress)
    assert progress["fetched"] >= 45 and progress["pages"] >= 3
    # A test notification that another test requested from Apple and that was not delivered is recovered as well.
    events = [event for event in feed.wait_for(45, settle=1) if event["data"]["notificationType"] != "TEST"]
    assert sorted(event["data"]["payload"]["notificationUUID"] for event in events) == sorted(missed)

    again = system.call("Recovery", "StartRecovery", window, key=uuid.uuid4().hex)
    for _ in range(100):
        progress = system.call("Recovery", "GetRecovery", {"recoveryId": again["recoveryId"]})
        if progress["state"] == "completed":
            break
        time.sleep(0.2)
    assert feed.wait_for(1, seconds=2) == []
    feed.delete()


def test_adservices_a_token_is_attributed_a_404_is_retried_and_an_old_token_expires(system):
    feed = system.subscribe(["attribution.adservices.resolved.v1", "attribution.adservices.failed.v1"])
    record = {"attribution": True, "orgId": 40669820, "campaignId": 542370539, "conversionType": "Download",
              "claimType": "Click", "adGroupId": 542317095, "countryOrRegion": "US", "keywordId": 87675432, "adId": 542317136}
    direct, late, old = (f"{name}{uuid.uuid4().hex}=" for name in ("direct", "late", "old"))
    system.control("/control/adservices/tokens", {"token": direct, "answers": [{"status": 200, "body": record}]})
    system.control("/control/adservices/tokens", {"token": late, "answers": [{"status": 404}, {"status": 200, "body": record}]})
    now = time.time()
    stamp = lambda seconds: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))  # noqa: E731
    posted = system.post("/v1/adservices/tokens", {"token": direct, "bundleId": "com.example.app", "attStatus": 0,
                                                   "requestedAt": stamp(now - 30), "installId": "install-1"})
    assert posted.status == 202, posted
    exchange = system.call("Broker", "ExchangeToken", {"token": direct, "bundleId": "com.example.app", "attStatus": 0,
                                                       "requestedAt": stamp(now - 30), "waitMilliseconds": 15000})
    assert exchange["state"] == "attributed" and exchange["exchangeId"] == posted.json["id"], exchange
    assert exchange["record"]["campaignId"] == 542370539 and exchange["detail"] == "standard"

    retried = system.call("Broker", "ExchangeToken", {"token": late, "bundleId": "com.example.app", "attStatus": 0,
                                                      "requestedAt": stamp(now - 30), "waitMilliseconds": 20000})
    assert retried["state"] == "attributed", retried
    calls = next(entry for entry in system.control("/control/adservices/tokens")["tokens"] if entry["token"] == late)["calls"]
    assert len(calls) == 2 and calls[1]["atMilliseconds"] - calls[0]["atMilliseconds"] >= 5000

    refused = system.rpc("Broker", "ExchangeToken", {"token": old, "bundleId": "com.example.app", "attStatus": 0,
                                                     "requestedAt": stamp(now - 25 * 3600)})
    assert refused.status == 400 and b"requestedAt" in refused.body, refused
    events = feed.wait_for(2)
    assert [event["type"] for event in events] == ["attribution.adservices.resolved.v1"] * 2
    assert direct not in json.dumps(events) and late not in json.dumps(events)
    feed.delete()


def test_att_the_identifier_is_sent_only_with_consent(system):
    feed = system.subscribe(["attribution.session.routed.v1"])
    idfa = str(uuid.uuid4()).upper()
    for install, status in (("no-consent", 2), ("consent", 3)):
        answer = system.post("/v1/sessions", {
            "bundleId": "com.example.app", "installId": install, "attStatus": status, "idfa": idfa,
            "started_at": "2026-09-10T08:00:00Z", "event": "session", "custom": {"copy": idfa}})
        assert answer.status == 202, answer
    events = feed.wait_for(2)
    assert sorted(event["data"]["host"] for event in events) == ["analytics.adjust.com", "consent.adjust.com"]
    assert idfa.lower() not in json.dumps(events).lower()
    sessions = system.control("/control/sessions")["sessions"]
    without = [entry for entry in sessions if entry["host"].startswith("analytics.")]
    whole = [entry for entry in sessions if entry["host"].startswith("consent.") and idfa in json.dumps(entry)]
    assert without and all("started_at" not in entry["body"] for entry in without)
    assert idfa.lower() not in json.dumps(without).lower()
    assert len(whole) == 1 and whole[0]["body"]["started_at"] == "2026-09-10T08:00:00Z"
    for name in ("ingest", "verifier"):
        assert idfa.lower() not in system.log(name).lower()
    feed.delete()
