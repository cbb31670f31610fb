"""The demo's retention messages: approved, asked for by the App Store, offered with a signature."""

import base64
import json
import time

from demo_report import row, system
from demo_signatures import jws_verifies


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
