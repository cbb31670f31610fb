"""Signed data of the App Store for the differential test, under a test authority."""

import random
import uuid
from typing import Any

from SystemTests.differential import jws
from SystemTests.differential.certificates import MIDDLE, Chain, chains, milliseconds

KINDS = ("transaction", "renewalInfo", "appTransaction", "notification", "realtimeRequest")
APPS = {"com.example.app": {"appAppleId": 525463029, "environments": ["Production", "Sandbox"]},
        # Its K is equal to U+212A in a comparison by canonical equivalence.
        "com.example.Kiosk": {"appAppleId": 9876543210, "environments": ["Production", "Sandbox"]},
        "com.example.sandboxed": {"environments": ["Sandbox"]}}
NO_APP = -10 ** 30
CONFIGURATION = [{"bundleId": name, **app} for name, app in APPS.items()]


def some(dice: random.Random, value: Any, chance: float = 0.5) -> Any:
    return value if dice.random() < chance else None


def without_none(value: dict) -> dict:
    return {name: one for name, one in value.items() if one is not None}


def when(dice: random.Random) -> int:
    return milliseconds(MIDDLE) + dice.randint(-86_400_000, 86_400_000)


def identity(dice: random.Random, environment: str | None = None) -> tuple[str, int | None, str]:
    bundle = dice.choice(list(APPS))
    environment = environment or dice.choice(APPS[bundle]["environments"])
    if environment not in APPS[bundle]["environments"]:
        bundle = "com.example.app"
    return bundle, APPS[bundle].get("appAppleId"), environment


def transaction(dice: random.Random, bundle: str, _app: int | None, environment: str) -> dict:
    number = str(dice.randint(1, 10 ** 15))
    return without_none({
        "transactionId": number, "originalTransactionId": number, "bundleId": bundle, "productId": "com.example.gold",
        "purchaseDate": when(dice),
        "originalPurchaseDate": when(dice), "expiresDate": some(dice, when(dice)), "quantity": 1,
        "type": dice.choice(["Auto-Renewable Subscription", "Non-Consumable", "Consumable", "Non-Renewing Subscription", "A New Type"]),
        "appAccountToken": some(dice, str(uuid.UUID(int=dice.getrandbits(128)))),
        "inAppOwnershipType": dice.choice(["PURCHASED", "FAMILY_SHARED", "ASSIGNED"]),
        "signedDate": when(dice), "environment": environment, "transactionReason": some(dice, "PURCHASE"), "storefront": "USA",
        "storefrontId": "143441",
        "price": some(dice, dice.randint(0, 2 ** 40)), "currency": some(dice, "USD"), "offerType": some(dice, dice.randint(1, 5), 0.2),
        "revocationDate": some(dice, when(dice), 0.1), "isUpgraded": some(dice, True, 0.1),
        "newField": some(dice, {"a": [1, None, "\u00e9"]}, 0.2)})


def renewal_info(dice: random.Random, _bundle: str, _app: int | None, environment: str) -> dict:
    return without_none({
        "originalTransactionId": str(dice.randint(1, 10 ** 15)), "productId": "com.example.gold", "autoRenewProductId": "com.example.gold",
        "autoRenewStatus": dice.randint(0, 1), "signedDate": when(dice), "environment": environment, "renewalDate": some(dice, when(dice)),
        "recentSubscriptionStartDate": some(dice, when(dice)), "expirationIntent": some(dice, dice.randint(1, 5), 0.2),
        "eligibleWinBackOfferIds": some(dice, ["a", "b"], 0.2)})


def app_transaction(dice: random.Random, bundle: str, app: int | None, environment: str) -> dict:
    return without_none({
        "receiptType": environment, "appAppleId": app if environment == "Production" else some(dice, app, 0.3), "bundleId": bundle,
        "applicationVersion": "1.2", "versionExternalIdentifier": some(dice, 5), "receiptCreationDate": when(dice),
        "originalPurchaseDate": when(dice),
        "originalApplicationVersion": "1.0", "deviceVerification": "AA==",
        "deviceVerificationNonce": str(uuid.UUID(int=dice.getrandbits(128))),
        "appTransactionId": some(dice, "7"), "originalPlatform": some(dice, "iOS")})


def realtime_request(dice: random.Random, _bundle: str, app: int | None, environment: str) -> dict:
    return without_none({
        "originalTransactionId": "99371282", "appAppleId": app or 5, "productId": "com.example.gold", "userLocale": "en-US",
        "requestIdentifier": str(uuid.UUID(int=dice.getrandbits(128))), "environment": environment, "signedDate": when(dice)})


def signed_token(payload: dict, chain: Chain) -> str:
    return jws.Maker({"alg": "ES256", "x5c": chain.x5c}, payload, chain.key, []).made()


def notification(dice: random.Random, bundle: str, app: int | None, environment: str) -> dict:
    payload = {"notificationType": dice.choice(["SUBSCRIBED", "DID_RENEW", "TEST", "A_NEW_TYPE"]), "subtype": "INITIAL_BUY",
               "version": "2.0",
               "notificationUUID": str(uuid.UUID(int=dice.getrandbits(128))), "signedDate": when(dice)}
    common = without_none({"environment": environment, "appAppleId": app if environment == "Production" else None, "bundleId": bundle})
    what = dice.choice(["data", "data", "data", "summary", "externalPurchaseToken", "appData"])
    plain = chains()[dice.choice(["plain", "plain-two", "second-intermediate"])]
    if what == "data":
        payload["data"] = {**common, "bundleVersion": "1", "status": 1}
        if dice.random() < 0.7:
            payload["data"]["signedTransactionInfo"] = signed_token(transaction(dice, bundle, app, environment), plain)
        if dice.random() < 0.5:
            payload["data"]["signedRenewalInfo"] = signed_token(renewal_info(dice, bundle, app, environment), plain)
    elif what == "summary":
        payload["summary"] = {**common, "productId": "p", "requestIdentifier": "r", "storefrontCountryCodes": ["USA"], "succeededCount": 5,
                              "failedCount": 0}
    elif what == "externalPurchaseToken":
        payload["externalPurchaseToken"] = without_none({
            "externalPurchaseId": ("SANDBOX_" if environment == "Sandbox" else "") + str(uuid.UUID(int=dice.getrandbits(128))),
            "tokenCreationDate": when(dice), "appAppleId": app, "bundleId": bundle})
    else:
        payload["appData"] = {**common, "signedAppTransactionInfo": signed_token(app_transaction(dice, bundle, app, environment), plain)}
    return payload


PAYLOADS = dict(zip(KINDS, (transaction, renewal_info, app_transaction, notification, realtime_request), strict=True))
OBJECTS = ("data", "summary", "externalPurchaseToken", "appData")
NESTED = {"signedTransactionInfo": "transaction", "signedRenewalInfo": "renewalInfo", "signedAppTransactionInfo": "appTransaction"}
DATES = {kind: "receiptCreationDate" if kind == "appTransaction" else "signedDate" for kind in KINDS}
