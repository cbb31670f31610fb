"""Every path through the services and one signature of each kind, against the running system. Run by Deploy/demo."""

import base64
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import uuid

sys.dont_write_bytecode = True
from client import ROOT, System  # noqa: E402

system = System(sys.argv[1], int(sys.argv[2]), sys.argv[3:] or None)
rows: list[tuple[str, str, str, bool]] = []


def row(path: str, step: str, outcome: str, right: bool) -> None:
    rows.append((path, step, outcome, right))
    print(f"  {'ok ' if right else 'NO '} {path}: {step}: {outcome}", flush=True)


def stamp(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def short(event_type: str) -> str:
    return ".".join(event_type.split(".")[-3:-1])


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


def openssl_verifies(pem: str, text: str, der: bytes) -> bool:
    """Judged by the openssl command alone: nothing of ours has a say."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in (("key.pem", pem.encode()), ("text", text.encode()), ("signature", der)):
            (pathlib.Path(folder) / name).write_bytes(content)
        run = subprocess.run(["openssl", "dgst", "-sha256", "-verify", "key.pem", "-signature", "signature", "text"], cwd=folder,
                             capture_output=True, text=True, check=False)
        return run.returncode == 0 and "Verified OK" in run.stdout


def jws_verifies(pem: str, jws: str) -> bool:
    text, _, signature = jws.rpartition(".")
    raw = base64.urlsafe_b64decode(signature + "==")
    numbers = b""
    for half in (raw[:32], raw[32:]):
        number = half.lstrip(b"\0")
        number = b"\0" + number if number[0] & 0x80 else number
        numbers += bytes((2, len(number))) + number
    return openssl_verifies(pem, text, bytes((0x30, len(numbers))) + numbers)


def signatures() -> None:
    path = "7 Signatures"
    listed = system.call("Signer", "ListSigningKeys")["keys"]
    pems = {(entry.get("adNetworkId") or entry.get("bundleId"), entry["keyId"]): entry["publicKey"] for entry in listed}
    network, app, item, source = "example123.skadnetwork", "com.example.app", 525463029, 1234567891
    for version in ("1.0", "2.0", "2.1", "2.2", "3.0", "4.0"):
        for fidelity in (1, 0) if version >= "2.2" else (None,):
            values = {"version": version, "adNetworkId": network, "itunesItemId": item}
            values["sourceIdentifier" if version == "4.0" else "campaignId"] = 5239 if version == "4.0" else 39
            if version != "1.0":
                values["sourceAppId"] = source
            if fidelity is not None:
                values["fidelityType"] = fidelity
            signed = system.call("Signer", "SignSKAdNetworkImpression", values)
            words = [network, 5239 if version == "4.0" else 39, item, signed["nonce"]]
            words = (words if version == "1.0" else [version, *words, source]) + ([] if fidelity is None else [fidelity])
            text = "\u2063".join(str(word) for word in [*words, signed["timestamp"]])
            good = openssl_verifies(pems[network, signed["keyId"]], text, base64.b64decode(signed["signature"]))
            shown = {1: ", StoreKit-rendered", 0: ", view-through", None: ""}[fidelity]
            row(path, f"SKAdNetwork {version}{shown}", f"openssl: {'Verified OK' if good else 'refused'}", good)

    items = [{"skadnetwork": {"version": "4.0", "adNetworkId": network, "sourceIdentifier": number, "itunesItemId": item,
                              "sourceAppId": source, "fidelityType": 1}} for number in range(1000, 1100)]
    items[50]["skadnetwork"]["itunesItemId"] = -1
    results = system.call("Signer", "SignImpressions", {"items": items})["results"]
    good = len(results) == 100 and results[50].get("error", {}).get("field") == "itunesItemId"
    for number, result in enumerate(results):
        if number != 50:
            signed = result["skadnetwork"]
            good = good and signed["sourceIdentifier"] == 1000 + number
    last = results[-1]["skadnetwork"]
    text = "\u2063".join(str(word) for word in ["4.0", network, 1099, item, last["nonce"], source, 1, last["timestamp"]])
    good = good and openssl_verifies(pems[network, last["keyId"]], text, base64.b64decode(last["signature"]))
    row(path, "a batch of 100, one of them wrong",
        f"{sum('error' not in result for result in results)} signed, {sum('error' in result for result in results)} refused by its field", good)

    kept = system.call("Signer", "SignSKAdNetworkWebImpression", {
        "version": "4.0", "adNetworkId": network, "sourceIdentifier": 5239, "itunesItemId": item, "deferred": True})
    answer = system.post("/.well-known/skadnetwork/get-signed-payload", {
        "version": "4.0", "source_domain": "example.com", "source_engagement_type": "click_to_App_Store",
        "source_nonce": kept["attributionSourceNonce"]})
    payload = answer.json
    text = "\u2063".join(str(word) for word in ["4.0", network, 5239, item, kept["nonce"], "example.com", 1, payload["timestamp"]])
    good = openssl_verifies(pems[network, kept["keyId"]], text, base64.b64decode(payload["signature"]))
    row(path, "SKAdNetwork 4.0, web ad, asked for by a device", f"{answer.status}, openssl: {'Verified OK' if good else 'refused'}", good)

    for id in ("example123.adattributionkit", network):
        signed = system.call("Signer", "SignAdAttributionKitImpression", {
            "adNetworkId": id, "sourceIdentifier": 5239, "advertisedItemId": item, "publisherItemId": source,
            "eligibleForReEngagement": id != network})
        good = jws_verifies(pems[id, signed["keyId"]], signed["jws"])
        row(path, f"AdAttributionKit, {id}", f"openssl: {'Verified OK' if good else 'refused'}", good)

    offer = {"bundleId": app, "productIdentifier": "pro", "offerIdentifier": "winter"}
    signed = system.call("Signer", "SignPromotionalOffer", offer)
    text = "\u2063".join([app, signed["keyId"], "pro", "winter", "", signed["nonce"], str(signed["timestamp"])])
    good = openssl_verifies(pems[app, signed["keyId"]], text, base64.b64decode(signed["signature"]))
    row(path, "promotional offer", f"openssl: {'Verified OK' if good else 'refused'}", good)
    request = {"operation": "CREATE_SUBSCRIPTION", "version": "1", "requestInfo": {"requestReferenceId": str(uuid.uuid4())}}
    for method, message, name in (
        ("CreateAppStoreServerToken", {}, "App Store Server API token"),
        ("SignPromotionalOfferJWS", {"productId": "pro", "offerIdentifier": "winter"}, "promotional offer, JWS"),
        ("SignIntroductoryOfferEligibility", {"productId": "pro", "allowIntroductoryOffer": True, "transactionId": "1"},
         "introductory offer eligibility"),
        ("SignAdvancedCommerceRequest", {"requestText": json.dumps(request)}, "Advanced Commerce request"),
    ):
        answer = system.call("Signer", method, {"bundleId": app, **message})
        jws = answer.get("jws") or answer["token"]
        kid = json.loads(base64.urlsafe_b64decode(jws.split(".")[0] + "=="))["kid"]
        good = jws_verifies(pems[app, kid], jws)
        row(path, name, f"openssl: {'Verified OK' if good else 'refused'}", good)


def retention() -> None:
    path = "8 Retention"
    app, offer, text = "com.example.app", "2c9a6a1e-6a0e-4c63-9d54-5f1b6f1f0001", "2c9a6a1e-6a0e-4c63-9d54-5f1b6f1f0002"
    url = system.retention_url(app)
    ask = {"bundleId": app, "environment": "Sandbox", "url": url}
    system.have_retention_messages(app, {offer: "Half the price for three months", text: "You keep what you saved"})
    heard: dict = {}
    for _ in range(100):  # ingest asks every two seconds what is approved
        heard = system.control("/control/retention/requests", ask).get("answer", {})
        if heard:
            break
        time.sleep(0.1)
    row(path, "messages are uploaded, and Apple approves them", f"shown: {', '.join(heard) or 'the default'}", "message" in heard)
    feed = system.subscribe(["appstore.retention.decided.v1"])
    # A subscription whose history is known: the rule for the offer goes by its state.
    story = system.control("/control/notifications/story", {"bundleId": app, "environment": "Sandbox", "steps": ["buy"], "send": True})
    customer = story["originalTransactionId"]
    state: dict = {}
    for _ in range(100):
        answer = system.rpc("Verifier", "GetSubscriptionState", {"originalTransactionId": customer, "environment": "Sandbox"})
        if answer.status == 200:
            state = answer.json
            break
        time.sleep(0.1)
    row(path, "a subscription begins", f"state {state.get('state')}, product {state.get('productId')}", state.get("state") == "active")
    made = system.control(
        "/control/retention/requests", {**ask, "originalTransactionId": customer, "fields": {"productId": state.get("productId")}})
    shown = made.get("answer", {}).get("promotionalOffer", {})
    jws = shown.get("promotionalOfferSignatureV2", "")
    row(path, "the App Store asks what to show", f"{made.get('status')} in {made['milliseconds']} ms, "
        f"{', '.join(made.get('answer', {})) or 'default'}; the App Store finds wrong: {', '.join(made['problems']) or 'nothing'}",
        shown.get("messageIdentifier") == offer and not made["problems"])
    head, claims = (json.loads(base64.urlsafe_b64decode(part + "==")) if part else {} for part in ([*jws.split("."), "", ""])[:2])
    pems = {entry["keyId"]: entry["publicKey"] for entry in system.call("Signer", "ListSigningKeys", {"bundleId": app})["keys"]}
    good = bool(jws) and jws_verifies(pems[head["kid"]], jws)
    row(
        path,
        "the offer's signature, for this very transaction",
        f"openssl: {'Verified OK' if good else 'refused'}, offer {claims.get('offerIdentifier')}",
        good and claims.get("transactionId") == customer,
    )
    again = system.post(f"/v1/app-store/retention/{app}", {"signedPayload": made["signedPayload"]})
    row(path, "the same request again", "the same answer" if again.json == made.get("answer") else "another answer", again.json == made.get("answer"))
    forged = system.control("/control/retention/requests", {**ask, "forge": "altered"})
    row(path, "one that was changed on its way", f"{forged.get('status')}", forged.get("status") == 401)
    stranger = system.control("/control/retention/requests", ask)
    row(path, "a subscription that nothing was heard of", ", ".join(stranger.get("answer", {})),
        stranger.get("answer", {}).get("message", {}).get("messageIdentifier") == text)
    events = feed.wait_for(2, seconds=10)
    mine = [event["data"] for event in events if event["data"]["originalTransactionId"] == customer]
    row(path, "the feed", f"{len(events)} events; rule {mine[0]['decision'].get('rule') if mine else '–'}",
        len(events) == 2 and len(mine) == 1 and mine[0]["answer"] == made.get("answer"))
    test = system.control("/control/retention/performance", {
        "bundleId": app, "originalTransactionId": customer, "url": url, "totalRequests": 40, "totalDuration": 1000})
    row(path, "Apple's performance test", f"{test['result']}: {test['successRate']} % in time, 99th percentile {test['responseTimes']['p99']} ms",
        test["result"] == "PASS")
    feed.delete()


for number, play in enumerate((skadnetwork, adattributionkit, notifications, recovery, adservices, att, signatures, retention), 1):
    try:
        play()
    except Exception as error:  # noqa: BLE001 the demo goes on and shows which path failed
        path = next((row[0] for row in rows if row[0].startswith(f"{number} ")), f"{number} {play.__name__}")
        row(path, "failed", f"{type(error).__name__}: {error}", False)

widths = [max(len(row[column]) for row in rows) for column in range(3)]
line = "+".join("-" * (width + 2) for width in widths)
print(f"\n{'path':{widths[0]}} | {'step':{widths[1]}} | {'what happened':{widths[2]}} | true\n{line}+------")
for path, step, outcome, right in rows:
    print(f"{path:{widths[0]}} | {step:{widths[1]}} | {outcome:{widths[2]}} | {'yes' if right else 'NO'}")
failed = [row for row in rows if not row[3]]
paths = {row[0] for row in rows}
print(f"\n{len(paths - {row[0] for row in failed})} of {len(paths)} paths true")
sys.exit(1 if failed else 0)
