"""Signed data of the App Store for the differential test, under a test authority, judged by Apple's own library
(app-store-server-library for Python), offline. Where the specification asks for more than that library does, or for less, the rule
stands in `overruled` with its reason."""

import base64
import dataclasses
import functools
import json
import random
import time
import uuid

from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from . import jws
from .certificates import MIDDLE, ROOT, Chain, chains, milliseconds
from .judgement import Judgement, Refused
from .signatures import in_range, verifies

KINDS = ("transaction", "renewalInfo", "appTransaction", "notification", "realtimeRequest")
APPS = {"com.example.app": {"appAppleId": 525463029, "environments": ["Production", "Sandbox"]},
        # Its K is also U+212A to whoever compares by canonical equivalence.
        "com.example.Kiosk": {"appAppleId": 9876543210, "environments": ["Production", "Sandbox"]},
        "com.example.sandboxed": {"environments": ["Sandbox"]}}
NO_APP = -10 ** 30
CONFIGURATION = [{"bundleId": name, **app} for name, app in APPS.items()]


def some(dice: random.Random, value, chance=0.5):
    return value if dice.random() < chance else None


def without_none(value: dict) -> dict:
    return {name: one for name, one in value.items() if one is not None}


def when(dice) -> int:
    return milliseconds(MIDDLE) + dice.randint(-86_400_000, 86_400_000)


def identity(dice, environment=None) -> tuple[str, int | None, str]:
    bundle = dice.choice(list(APPS))
    environment = environment or dice.choice(APPS[bundle]["environments"])
    if environment not in APPS[bundle]["environments"]:
        bundle = "com.example.app"
    return bundle, APPS[bundle].get("appAppleId"), environment


def transaction(dice, bundle, _app, environment) -> dict:
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


def renewal_info(dice, _bundle, _app, environment) -> dict:
    return without_none({
        "originalTransactionId": str(dice.randint(1, 10 ** 15)), "productId": "com.example.gold", "autoRenewProductId": "com.example.gold",
        "autoRenewStatus": dice.randint(0, 1), "signedDate": when(dice), "environment": environment, "renewalDate": some(dice, when(dice)),
        "recentSubscriptionStartDate": some(dice, when(dice)), "expirationIntent": some(dice, dice.randint(1, 5), 0.2),
        "eligibleWinBackOfferIds": some(dice, ["a", "b"], 0.2)})


def app_transaction(dice, bundle, app, environment) -> dict:
    return without_none({
        "receiptType": environment, "appAppleId": app if environment == "Production" else some(dice, app, 0.3), "bundleId": bundle,
        "applicationVersion": "1.2", "versionExternalIdentifier": some(dice, 5), "receiptCreationDate": when(dice),
        "originalPurchaseDate": when(dice),
        "originalApplicationVersion": "1.0", "deviceVerification": "AA==",
        "deviceVerificationNonce": str(uuid.UUID(int=dice.getrandbits(128))),
        "appTransactionId": some(dice, "7"), "originalPlatform": some(dice, "iOS")})


def realtime_request(dice, _bundle, app, environment) -> dict:
    return without_none({
        "originalTransactionId": "99371282", "appAppleId": app or 5, "productId": "com.example.gold", "userLocale": "en-US",
        "requestIdentifier": str(uuid.UUID(int=dice.getrandbits(128))), "environment": environment, "signedDate": when(dice)})


def signed_token(payload: dict, chain: Chain) -> str:
    return jws.Maker({"alg": "ES256", "x5c": chain.x5c}, payload, chain.key, []).made()


def notification(dice, bundle, app, environment) -> dict:
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


PROOF = ("chain_invalid", "bad_signature", "malformed_signature", "malformed_certificate", "malformed", "malformed_jws")
STATUSES = {"INVALID_APP_IDENTIFIER": ("wrong_app", "malformed"), "INVALID_ENVIRONMENT": ("wrong_environment", "malformed"),
            "INVALID_CHAIN_LENGTH": ("chain_length",), "INVALID_CERTIFICATE": ("malformed_certificate",), "VERIFICATION_FAILURE": PROOF}
METHODS = {"transaction": "verify_and_decode_signed_transaction", "renewalInfo": "verify_and_decode_renewal_info",
           "appTransaction": "verify_and_decode_app_transaction", "notification": "verify_and_decode_notification",
           "realtimeRequest": "verify_and_decode_realtime_request"}


@functools.cache
def library(bundle: str | None, app: int | None, environment: str) -> SignedDataVerifier:
    return SignedDataVerifier([ROOT.der], False, Environment(environment), bundle, app)


def library_says(token: str, kind: str, bundle, app, environment) -> str:
    """Empty when it verifies, else the name of its status."""
    try:
        getattr(library(bundle, app, environment), METHODS[kind])(token)
        return ""
    except VerificationException as error:
        return error.status.name
    except Exception as error:  # noqa: BLE001 a payload that its models cannot hold leaves the library as some other exception
        return f"{type(error).__name__}"


def named(kind: str, payload: dict) -> tuple:
    """The app and the environment that data names: bundle id, app id, environment."""
    if kind == "notification":
        held = next((payload[name] for name in OBJECTS if isinstance(payload.get(name), dict)), {})
        environment = held.get("environment")
        if held and held is payload.get("externalPurchaseToken"):
            environment = "Sandbox" if str(held.get("externalPurchaseId", "")).startswith("SANDBOX") else "Production"
        return held.get("bundleId"), held.get("appAppleId"), environment
    return payload.get("bundleId"), payload.get("appAppleId"), payload.get("receiptType" if kind == "appTransaction" else "environment")


def expected_of(kind: str, payload: dict, asked: dict) -> tuple:
    """What is expected, as asked, else as the configured app that the data names has it: bundle id, app id, environment; and which
    configured app is meant."""
    bundle, app, environment = named(kind, payload)
    if "environment" in asked:
        environment = asked["environment"]
    if environment not in ("Production", "Sandbox"):
        environment = "Sandbox"
    if kind in ("renewalInfo", "realtimeRequest"):
        # Nothing in it names a bundle.
        configured = (APPS.get(asked["bundleId"]) if "bundleId" in asked else
                      next((one for one in APPS.values() if one.get("appAppleId") == app), None)) or {}
        meant = APPS.get(asked.get("bundleId"))
        if meant and "environment" not in asked and environment not in meant["environments"]:
            environment = meant["environments"][0]
        return "none", asked.get("appAppleId") or configured.get("appAppleId") or NO_APP, environment, asked.get("bundleId")
    if "bundleId" in asked:
        bundle = asked["bundleId"]
    configured = APPS.get(bundle) if isinstance(bundle, str) else None
    meant = bundle if configured else None
    said = "bundleId" in asked and "environment" in asked  # then nothing is left to the configuration
    if not said and ((configured is None and "bundleId" not in asked) or (configured and environment not in configured["environments"])):
        bundle = "none"
    return bundle, asked.get("appAppleId") or (configured or {}).get("appAppleId") or NO_APP, environment, meant


LIMIT, NOTIFICATION_LIMIT = 64 << 10, 256 << 10
JWT_CLAIMS = ("exp", "nbf", "iat", "aud", "iss", "sub", "jti")


def judge(token: str, kind: str, asked: dict) -> Judgement:
    if len(token.encode()) > (NOTIFICATION_LIMIT if kind == "notification" else LIMIT):
        return Judgement.rejected("malformed_jws", rule="bounded size")
    try:
        form = jws.opened(token)
        payload = form.payload()
    except (Refused, UnicodeEncodeError):
        # The library skips foreign characters and padding in Base64URL and takes the last of a repeated name.
        return Judgement.rejected("malformed_jws", rule="strict form" if library_takes(token, kind, asked) else "")
    if "crit" in form.header:
        return Judgement.rejected("malformed_jws", "unexpected_algorithm", rule="crit")
    if form.header.get("alg") != "ES256":
        return Judgement.rejected("unexpected_algorithm")
    x5c = form.header.get("x5c")
    if not isinstance(x5c, list) or not all(isinstance(one, str) for one in x5c):
        return Judgement.rejected("malformed_jws")
    if len(x5c) != 3:
        return Judgement.rejected("chain_length")
    expected = expected_of(kind, payload, asked)
    return overruled(library_says(token, kind, *expected[:3]), kind, form, payload, expected)


def library_takes(token, kind, _asked) -> bool:
    return any(not library_says(token, kind, bundle, app.get("appAppleId", 1), environment)
               for bundle, app in APPS.items() for environment in app["environments"])


def overruled(status: str, kind: str, form, payload: dict, expected: tuple) -> Judgement:
    """The library's word, or the documented rules by which it does not stand."""
    date = DATES[kind]
    effective = payload.get(date)
    read = payload.get("signedDate") if payload.get("signedDate") is not None else payload.get("receiptCreationDate")
    rule = ""
    if effective != read and (effective is None or is_whole(effective)):
        # The library looks for either date in any kind of data; each kind has its own, and now where that is absent.
        rule = "the date of its kind"
    elif status and status not in STATUSES:
        # What the library's models cannot hold is no part of the proof: fields may change, and unknown ones are kept.
        rule = "no models"
    elif status == "VERIFICATION_FAILURE" and (any(name in payload for name in JWT_CLAIMS) or "kid" in form.header or "b64" in form.header):
        # The library reads signed data as a JWT, and checks its claims, kid and b64. It is none: nothing is said by them, and a
        # header's parameters that are not understood are passed over (RFC 7515, 4).
        rule = "no JWT"
    if rule:
        status = says_plainly(form, kind, payload, expected, time.time() if not is_whole(effective) else effective // 1000)
    if status:
        # Where app and environment are both wrong, either may be named: an app is configured for environments.
        configured = APPS.get(expected[3])
        both = status == "INVALID_APP_IDENTIFIER" and (
            named(kind, payload)[2] != expected[2] or (configured is not None and expected[2] not in configured["environments"]))
        # A request names no bundle: that the asked app is not configured for its environment can be said of either.
        either = kind == "realtimeRequest" and status == "INVALID_ENVIRONMENT" and expected[3] is not None
        return Judgement.rejected(*STATUSES[status], *(["wrong_environment"] if both else []), *(["wrong_app"] if either else []), rule=rule)
    if any(base64_is_loose(one) for one in form.header["x5c"][:2]):
        return Judgement.rejected("malformed_certificate", rule="strict Base64 in x5c")
    leaf, intermediate = (base64.b64decode(one) for one in form.header["x5c"][:2])
    if has_trailing_bytes(leaf) or has_trailing_bytes(intermediate):
        return Judgement.rejected("malformed_certificate", rule="strict DER in x5c")
    fault = chain_fault(x509.load_der_x509_certificate(leaf), x509.load_der_x509_certificate(intermediate))
    if fault:
        return Judgement.rejected("chain_invalid", rule=fault)
    if effective is not None and not is_whole(effective):
        return Judgement.rejected("malformed", "chain_invalid", rule="dates are whole milliseconds")
    if effective is not None and effective > time.time() * 1000 + 300_000:
        return Judgement.rejected("chain_invalid", "malformed", rule="signed in the future")
    status = identity_says(kind, payload, expected)
    if status:
        return Judgement.rejected(*STATUSES[status], rule="identity is not coerced")
    if kind == "notification":
        if not isinstance(payload.get("notificationUUID"), str) or not payload["notificationUUID"]:
            # The library asks for no field; this one is what tells a notification from its repetition.
            return Judgement.rejected("malformed", rule="a notification has its UUID")
        token = payload.get("externalPurchaseToken")
        if isinstance(token, dict) and not isinstance(token.get("externalPurchaseId"), str):
            # The library takes that for Production; nothing else in it says an environment.
            return Judgement.rejected("malformed", rule="the id says the environment")
        present = [payload[name] for name in OBJECTS if isinstance(payload.get(name), dict)]
        if len(present) != 1:
            return Judgement.rejected("malformed", "wrong_app", rule="exactly one object")
        for field, nested_kind in NESTED.items():
            value = present[0].get(field)
            if value is not None:
                inner = (judge(value, nested_kind, {"bundleId": expected[0], "appAppleId": expected[1], "environment": expected[2]})
                         if isinstance(value, str) else Judgement.rejected("malformed"))
                if not inner.valid:
                    return dataclasses.replace(inner, rule="nested data is verified too", fields=frozenset())
    return Judgement(True, rule=rule, says={"environment": expected[2],
                                            "payload": json.loads(base64.urlsafe_b64decode(form.payload_part + "==="))})


def is_whole(value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def has_trailing_bytes(data: bytes) -> bool:
    """More than one DER element."""
    length, start = data[1], 2
    if length > 128:
        start = 2 + length - 128
        length = int.from_bytes(data[2:start], "big")
    return len(data) != start + length


def extension(certificate: x509.Certificate, kind):
    try:
        return certificate.extensions.get_extension_for_class(kind)
    except x509.ExtensionNotFound:
        return None


def chain_fault(leaf: x509.Certificate, intermediate: x509.Certificate) -> str:
    """What RFC 5280 asks for in step 5 and the library's OpenSSL, asked about no purpose, does not look at."""
    constraints, usage = extension(leaf, x509.BasicConstraints), extension(leaf, x509.KeyUsage)
    if constraints and constraints.value.ca:
        return "a leaf is no authority"
    if usage and not usage.value.digital_signature:
        return "a leaf's key usage allows signatures"
    above = extension(intermediate, x509.BasicConstraints)
    if above and not above.critical:
        return "an authority's constraints are critical"
    return ""


def identity_says(kind: str, payload: dict, expected: tuple) -> str:
    """Step 7, with nothing coerced."""
    bundle, app, environment = named(kind, payload)
    if kind not in ("renewalInfo", "realtimeRequest") and bundle != expected[0]:
        return "INVALID_APP_IDENTIFIER"
    if kind not in ("transaction", "renewalInfo") and expected[2] == "Production" and (not is_whole(app) or app != expected[1]):
        return "INVALID_APP_IDENTIFIER"
    return "" if environment == expected[2] else "INVALID_ENVIRONMENT"


def says_plainly(form, kind: str, payload: dict, expected: tuple, seconds) -> str:
    """The library's word on the chain at that time, `cryptography`'s on the signature, and step 7."""
    try:
        pem = library(*expected[:3])._chain_verifier.verify_chain(form.header["x5c"], False, seconds)
    except VerificationException as error:
        return error.status.name
    except (ValueError, OverflowError, OSError):  # a time that the library cannot hold
        return "VERIFICATION_FAILURE"
    key = load_pem_public_key(pem.encode())
    if not isinstance(key, ec.EllipticCurvePublicKey) or key.curve.name != "secp256r1" or len(form.signature) != 64:
        return "VERIFICATION_FAILURE"
    r, s = int.from_bytes(form.signature[:32], "big"), int.from_bytes(form.signature[32:], "big")
    if not in_range(r, s, "secp256r1") or not verifies(key, r, s, form.signing_input):
        return "VERIFICATION_FAILURE"
    return identity_says(kind, payload, expected)


def base64_is_loose(text: str) -> bool:
    return base64.b64encode(base64.b64decode(text)).decode() != text
