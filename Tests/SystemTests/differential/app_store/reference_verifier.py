"""The reference verifier for signed data of the App Store, under a test authority: Apple's own library
(app-store-server-library for Python), offline. If the specification requires more than that library, or less, the rule
is in `overruled` with its reason."""

import base64
import dataclasses
import functools
import json
import time
from typing import Any

from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from SystemTests.differential import jws
from SystemTests.differential.certificates import ROOT
from SystemTests.differential.expected_verdict import ExpectedVerdict, Refused
from SystemTests.differential.signatures import in_range, verifies

from .names import lacks_a_name, named, nested_parts, told, whole
from .signed_data import APPS, DATES, NO_APP

PROOF = ("chain_invalid", "bad_signature", "malformed_signature", "malformed_certificate", "malformed", "malformed_jws")
STATUSES = {"INVALID_APP_IDENTIFIER": ("wrong_app",), "INVALID_ENVIRONMENT": ("wrong_environment",),
            "INVALID_CHAIN_LENGTH": ("chain_length",), "INVALID_CERTIFICATE": ("malformed_certificate",), "VERIFICATION_FAILURE": PROOF}
METHODS = {"transaction": "verify_and_decode_signed_transaction", "renewalInfo": "verify_and_decode_renewal_info",
           "appTransaction": "verify_and_decode_app_transaction", "notification": "verify_and_decode_notification",
           "realtimeRequest": "verify_and_decode_realtime_request"}


@functools.cache
def library(bundle: str | None, app: int | None, environment: str) -> SignedDataVerifier:
    return SignedDataVerifier([ROOT.der], False, Environment(environment), bundle, app)


def library_verdict(token: str, kind: str, bundle: str, app: int | None, environment: str) -> str:
    """Empty if it is valid, otherwise the name of its status."""
    try:
        getattr(library(bundle, app, environment), METHODS[kind])(token)
        return ""
    except VerificationException as error:
        return error.status.name
    except Exception as error:  # noqa: BLE001 a payload that its models cannot hold leaves the library as some other exception
        return f"{type(error).__name__}"


def expected_of(kind: str, payload: dict, requested: dict) -> tuple:
    """The expected bundle id, app id and environment: those of the request, otherwise those of the configured app that the data names; and
    that configured app."""
    bundle, app, environment = named(kind, payload)[:3]
    if "environment" in requested:
        environment = requested["environment"]
    if environment not in ("Production", "Sandbox"):
        environment = "Sandbox"
    if kind in ("renewalInfo", "realtimeRequest"):
        # It contains no bundle id.
        configured = (APPS.get(requested["bundleId"]) if "bundleId" in requested else
                      next((one for one in APPS.values() if one.get("appAppleId") == app), None)) or {}
        meant = APPS.get(requested.get("bundleId"))
        if meant and "environment" not in requested and environment not in meant["environments"]:
            environment = meant["environments"][0]
        return "none", requested.get("appAppleId") or configured.get("appAppleId") or NO_APP, environment, requested.get("bundleId")
    if "bundleId" in requested:
        bundle = requested["bundleId"]
    configured = APPS.get(bundle) if isinstance(bundle, str) else None
    meant = bundle if configured else None
    # A request that names both does not use the configuration.
    names_app = "bundleId" in requested and "environment" in requested
    if not names_app and ((configured is None and "bundleId" not in requested) or (configured and environment not in configured["environments"])):
        bundle = "none"
    return bundle, requested.get("appAppleId") or (configured or {}).get("appAppleId") or NO_APP, environment, meant


LIMIT = 256 << 10
JWT_CLAIMS = ("exp", "nbf", "iat", "aud", "iss", "sub", "jti")


def expected_verdict(token: str, kind: str, requested: dict, *, nested: bool = False) -> ExpectedVerdict:
    """`nested`: the token is inside a notification, which tells the app and the environment that the token does not name."""
    if len(token.encode()) > LIMIT:
        return ExpectedVerdict.rejected("malformed_jws", rule="bounded size")
    try:
        parsed = jws.parse(token)
        payload = parsed.payload()
    except (Refused, UnicodeEncodeError):
        # The library skips foreign characters and padding in Base64URL and uses the last of repeated names.
        return ExpectedVerdict.rejected("malformed_jws", rule="strict form" if library_accepts(token, kind, requested) else "")
    if "crit" in parsed.header:
        return ExpectedVerdict.rejected("malformed_jws", "unexpected_algorithm", rule="crit")
    if parsed.header.get("alg") != "ES256":
        return ExpectedVerdict.rejected("unexpected_algorithm")
    x5c = parsed.header.get("x5c")
    if not isinstance(x5c, list) or not all(isinstance(one, str) for one in x5c):
        return ExpectedVerdict.rejected("malformed_jws")
    if len(x5c) != 3:
        return ExpectedVerdict.rejected("chain_length")
    expected = expected_of(kind, payload, requested)
    return overruled(library_verdict(token, kind, *expected[:3]), kind, parsed, payload, expected, requested, nested=nested)


def library_accepts(token: str, kind: str, _asked: dict) -> bool:
    return any(not library_verdict(token, kind, bundle, app.get("appAppleId", 1), environment)
               for bundle, app in APPS.items() for environment in app["environments"])


def overruled(status: str, kind: str, parsed: jws.Parsed, payload: dict, expected: tuple, requested: dict, *, nested: bool) -> ExpectedVerdict:
    """The verdict of the library, or of the documented rules that overrule it."""
    date = payload.get(DATES[kind])
    # A date that is no integer says nothing.
    effective = whole(date)
    read = payload.get("signedDate") if payload.get("signedDate") is not None else payload.get("receiptCreationDate")
    lacks = lacks_a_name(kind, payload)
    rule = ""
    if lacks:
        # The library requires that the data itself names its app and environment. A member that is missing costs nothing if these are told
        # by something else that Apple signed, or by the caller.
        rule = "a missing or new member"
    elif date is not None and effective is None:
        rule = "a date that is no integer is none"
    elif effective != whole(read):
        # The library reads either date in any kind of data; each kind has its own, and the current time is used if it is absent.
        rule = "the date of its kind"
    elif status and status not in STATUSES:
        # Fields that the library's models do not accept are not part of the verification: they may change, and unknown ones are kept.
        rule = "no models"
    elif status == "VERIFICATION_FAILURE" and (any(name in payload for name in JWT_CLAIMS) or "kid" in parsed.header or "b64" in parsed.header):
        # The library reads signed data as a JWT, and checks its claims, kid and b64. It is not a JWT: these say nothing, and unknown
        # header parameters are ignored (RFC 7515, 4).
        rule = "no JWT"
    if rule:
        status = proof(parsed, expected, time.time() if effective is None else effective // 1000)
        if not status and not lacks:
            status = identity_verdict(kind, payload, expected)
    if status:
        # If app and environment are both wrong, either may be named, because an app is configured for environments.
        configured = APPS.get(expected[3])
        both = status == "INVALID_APP_IDENTIFIER" and (
            named(kind, payload).environment != expected[2] or (configured is not None and expected[2] not in configured["environments"]))
        # A request names no bundle, so it may also be reported that the app is not configured for its environment.
        either = kind == "realtimeRequest" and status == "INVALID_ENVIRONMENT" and expected[3] is not None
        return ExpectedVerdict.rejected(*STATUSES[status], *(["wrong_environment"] if both else []), *(["wrong_app"] if either else []), rule=rule)
    if any(base64_is_loose(one) for one in parsed.header["x5c"][:2]):
        return ExpectedVerdict.rejected("malformed_certificate", rule="strict Base64 in x5c")
    leaf, intermediate = (base64.b64decode(one) for one in parsed.header["x5c"][:2])
    if has_trailing_bytes(leaf) or has_trailing_bytes(intermediate):
        return ExpectedVerdict.rejected("malformed_certificate", rule="strict DER in x5c")
    fault = chain_fault(x509.load_der_x509_certificate(leaf), x509.load_der_x509_certificate(intermediate))
    if fault:
        return ExpectedVerdict.rejected("chain_invalid", rule=fault)
    if effective is not None and effective > time.time() * 1000 + 300_000:
        return ExpectedVerdict.rejected("chain_invalid", rule="signed in the future")
    inside = {"bundleId": expected[0], "appAppleId": expected[1], "environment": expected[2]}
    if lacks:
        reasons, inside = told(kind, payload, requested, nested=nested)
        if reasons:
            # The JWS inside a notification are verified before its app is told by them.
            before = ("unexpected_algorithm", "chain_length", *PROOF) if kind == "notification" else ()
            return ExpectedVerdict.rejected(*reasons, *before, rule=rule)
    else:
        status = identity_verdict(kind, payload, expected)
        if status:
            return ExpectedVerdict.rejected(*STATUSES[status], rule="identity is not coerced")
    for nested_kind, value in nested_parts(payload) if kind == "notification" else ():
        inner = expected_verdict(value, nested_kind, inside, nested=True)
        if not inner.valid:
            return dataclasses.replace(inner, rule="nested data is verified too", fields=frozenset())
    return ExpectedVerdict(True, rule=rule, says={"environment": inside.get("environment"),
                                            "payload": json.loads(base64.urlsafe_b64decode(parsed.payload_part + "==="))})


def has_trailing_bytes(data: bytes) -> bool:
    """More than one DER element."""
    length, start = data[1], 2
    if length > 128:
        start = 2 + length - 128
        length = int.from_bytes(data[2:start], "big")
    return len(data) != start + length


def extension(certificate: x509.Certificate, kind: type[x509.ExtensionType]) -> x509.Extension | None:
    try:
        return certificate.extensions.get_extension_for_class(kind)
    except x509.ExtensionNotFound:
        return None


def chain_fault(leaf: x509.Certificate, intermediate: x509.Certificate) -> str:
    """Checks of step 5 that RFC 5280 requires and that the library's OpenSSL omits, because it is called without a purpose."""
    constraints, usage = extension(leaf, x509.BasicConstraints), extension(leaf, x509.KeyUsage)
    if constraints and constraints.value.ca:
        return "a leaf is no authority"
    if usage and not usage.value.digital_signature:
        return "a leaf's key usage allows signatures"
    above = extension(intermediate, x509.BasicConstraints)
    if above and not above.critical:
        return "an authority's constraints are critical"
    return ""


def identity_verdict(kind: str, payload: dict, expected: tuple) -> str:
    """Step 7, without conversions."""
    bundle, app, environment = named(kind, payload)[:3]
    if kind not in ("renewalInfo", "realtimeRequest") and bundle != expected[0]:
        return "INVALID_APP_IDENTIFIER"
    if kind not in ("transaction", "renewalInfo") and expected[2] == "Production" and (whole(app) is None or whole(app) != expected[1]):
        return "INVALID_APP_IDENTIFIER"
    return "" if environment == expected[2] else "INVALID_ENVIRONMENT"


def proof(parsed: jws.Parsed, expected: tuple, seconds: Any) -> str:
    """The library verifies the chain at that time, `cryptography` the signature."""
    try:
        pem = library(*expected[:3])._chain_verifier.verify_chain(parsed.header["x5c"], False, seconds)
    except VerificationException as error:
        return error.status.name
    except (ValueError, OverflowError, OSError):  # a time that the library cannot represent
        return "VERIFICATION_FAILURE"
    key = load_pem_public_key(pem.encode())
    if not isinstance(key, ec.EllipticCurvePublicKey) or key.curve.name != "secp256r1" or len(parsed.signature) != 64:
        return "VERIFICATION_FAILURE"
    r, s = int.from_bytes(parsed.signature[:32], "big"), int.from_bytes(parsed.signature[32:], "big")
    return "" if in_range(r, s, "secp256r1") and verifies(key, r, s, parsed.signing_input) else "VERIFICATION_FAILURE"


def base64_is_loose(text: str) -> bool:
    return base64.b64encode(base64.b64decode(text)).decode() != text
