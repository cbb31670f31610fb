"""Regression cases: minimal inputs for which verifier and reference verifier once disagreed. Every run tests them."""

import json

from SystemTests.differential.app_store.reference_verifier import expected_verdict
from SystemTests.differential.app_store.signed_data import signed_token
from SystemTests.differential.skadnetwork.postbacks import base64_of, signature_of

from .certificates import MIDDLE, chains, milliseconds
from .expected_verdict import Case
from .postbacks import expect_skadnetwork
from .signatures import der

DATE = milliseconds(MIDDLE)
# Per name: kind of data, expectation in the request, signed payload, whether it is valid.
SIGNED_DATA = {
    "bundle id of another spelling": ("transaction", {"bundleId": "com.example.Kiosk", "environment": "Sandbox"},
                                      {"bundleId": "com.example.\u212aiosk", "environment": "Sandbox", "signedDate": DATE}, False),
    "two names that look alike": ("transaction", {}, {"bundleId": "com.example.app", "environment": "Sandbox", "signedDate": DATE, "K": 1,
                                                      "\u212a": 2}, True),
    "renewal info of no environment": ("renewalInfo", {}, {"environment": "anything", "signedDate": DATE}, False),
    "retention request of no environment": ("realtimeRequest", {}, {"environment": "anything", "signedDate": DATE}, False),
    "renewal info of Xcode's": ("renewalInfo", {}, {"environment": "Xcode", "signedDate": DATE}, False),
    "a token above its bound": ("transaction", {}, {"bundleId": "com.example.app", "environment": "Sandbox", "signedDate": DATE,
                                                    "filling": "x" * 200_000}, False),
    "another app's retention request": ("realtimeRequest", {"bundleId": "com.other.app"},
                                        {"environment": "Production", "appAppleId": 525463029, "signedDate": DATE}, False),
    "production without an app id to compare": (
        "appTransaction", {"bundleId": "com.other.app", "environment": "Production"},
        {"bundleId": "com.other.app", "receiptType": "Production", "appAppleId": 77, "receiptCreationDate": DATE}, False),
    "an environment that the app is not configured for": (
        "transaction", {"environment": "Production"},
        {"bundleId": "com.example.sandboxed", "environment": "Production", "signedDate": DATE}, False),
}


def notification_of_another_app_id() -> dict:
    """Its app transaction is signed, names the same bundle, and has another app id."""
    inner = {"bundleId": "com.example.app", "receiptType": "Production", "appAppleId": 1, "receiptCreationDate": DATE}
    return {"notificationUUID": "1", "notificationType": "RESCIND_CONSENT", "signedDate": DATE,
            "appData": {"bundleId": "com.example.app", "environment": "Production", "appAppleId": 525463029,
                        "signedAppTransactionInfo": signed_token(inner, chains()["plain"])}}


def postback_with_similar_names() -> dict:
    body = {"ad-network-id": "example123.skadnetwork", "campaign-id": 7, "app-id": 525463029,
            "transaction-id": "6aafb7a5-0170-41b5-bbe4-fe71dedf1e28"}
    return body | {"attribution-signature": base64_of(der(*signature_of(body))), "K": 1, "\u212a": 2}


def cases() -> list[Case]:
    made = []

    def signed_data(name: str, kind: str, requested: dict, payload: dict, expected: bool | None) -> None:
        token = signed_token(payload, chains()["plain"])
        item = json.dumps({"appStoreSignedData": {"signedData": token, "kind": kind, **requested}})
        made.append(Case("regressions", len(made), name, item, expected_verdict(token, kind, requested), expected))

    for name, (kind, requested, payload, expected) in SIGNED_DATA.items():
        signed_data(name, kind, requested, payload, expected)
    signed_data("a carried app transaction of another app id", "notification", {}, notification_of_another_app_id(), False)
    text = json.dumps(postback_with_similar_names())
    item = json.dumps({"skadnetworkPostback": {"postbackText": text}})
    made.append(Case("regressions", len(made), "a postback with two names that look alike", item, expect_skadnetwork(text), True))
    return made
