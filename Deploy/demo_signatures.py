"""The demo's signatures, one of each kind, verified by the openssl command."""

import base64
import json
import pathlib
import subprocess
import tempfile
import uuid

from demo_report import row, system


def openssl_verifies(pem: str, text: str, der: bytes) -> bool:
    """Verified by the openssl command alone, without code of this project."""
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
