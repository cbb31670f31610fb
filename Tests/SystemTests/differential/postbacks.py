"""Postbacks for the differential test, and their reference verifier: Python's `cryptography` over a text that is built from
Apple's pages (Combining parameters for SKAdNetwork 3 postbacks; Verifying a postback)."""

import base64
import json
import random
import re
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from . import jws
from .expected_verdict import DEPTH, ExpectedVerdict, Fraction, Refused, extent, strict_json, whole_number
from .signatures import base64_strictly, derived_key, in_range, read_der, verifies

SEPARATOR = "\u2063"
LOOKALIKES = ("\u2060", "\u2061", "\u2062", "\u2064", "\u200b", "\u200c", "\u200d", "\ufeff", "\u00ad", "\u180e", "\u2028", "\u0000",
              "\u034f", "\u115f", "\u3164", "|", ",", " ", "")
# One character in two encodings: a reader that compares or normalises by canonical equivalence treats them as equal.
SAME_LOOK = (("\u00e9", "e\u0301"), ("\u212a", "K"), ("\u212b", "\u00c5"), ("\u037e", ";"), ("\u0344", "\u0308\u0301"))
VERSIONS = ("1.0", "2.0", "2.1", "2.2", "3.0", "4.0")
KIDS = ("apple-cas-identifier/0", "apple-development-identifier/0", "apple-development-identifier/1")

P192 = derived_key("test p192", ec.SECP192R1())
P192_OTHER = derived_key("another p192", ec.SECP192R1())
P256 = derived_key("test p256", ec.SECP256R1())
P256_OTHER = derived_key("another p256", ec.SECP256R1())
KID_KEYS = {kid: derived_key(f"test {kid}", ec.SECP256R1()) for kid in KIDS}


def subject_public_key_info(key: ec.EllipticCurvePrivateKey) -> str:
    return base64.b64encode(key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).decode()


CONFIGURATION = {"p192": subject_public_key_info(P192), "p256": subject_public_key_info(P256),
                 "kids": {kid: subject_public_key_info(key) for kid, key in KID_KEYS.items()}}


def signing_key(version: str) -> ec.EllipticCurvePrivateKey:
    return P192 if version in ("1.0", "2.0") else P256


class Fault(Exception):
    def __init__(self, field: str, reason: str = "malformed") -> None:
        self.field, self.reason = field, reason


INT64 = 2 ** 63 - 1


class Fields:
    """Reads the fields of a postback and records the names of the wrong ones. `lenient` also reads numbers and booleans that are
    strings."""

    def __init__(self, values: dict, lenient: bool) -> None:
        self.values, self.lenient, self.faults = values, lenient, []

    def _value(self, name: str, required: bool) -> Any:
        value = self.values.get(name)
        if value is None and required:
            self.faults.append(name)
        return value

    def text(self, name: str, required: bool = True, pattern: str | None = None) -> str | None:
        value = self._value(name, required)
        if value is None:
            return None
        # An empty text is invalid, because Apple always sends a value.
        if not isinstance(value, str) or not re.fullmatch(pattern or f"[^{SEPARATOR}]+", value, re.DOTALL):
            self.faults.append(name)
            return None
        return value

    def whole(self, name: str, low: int, high: int, required: bool = True) -> int | None:
        value = self._value(name, required)
        if value is None:
            return None
        if self.lenient and isinstance(value, (str, Fraction)):
            value = whole_number(value.text if isinstance(value, Fraction) else value)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            self.faults.append(name)
            return None
        return value

    def truth(self, name: str, required: bool = True) -> bool | None:
        value = self._value(name, required)
        if value is None or isinstance(value, bool):
            return value
        if self.lenient and isinstance(value, Fraction):
            value = whole_number(value.text)
        if self.lenient and value in (0, 1):
            return bool(value)
        if self.lenient and isinstance(value, str) and value.isascii() and value.lower() in ("true", "false"):
            return value.lower() == "true"
        self.faults.append(name)
        return None

    def source_identifier(self) -> str | None:
        """A text of two to four digits, or a number, whose leading zeros are lost."""
        value = self.values.get("source-identifier")
        number = whole_number(value.text) if isinstance(value, Fraction) else value
        if self.lenient and isinstance(number, int) and not isinstance(number, bool) and 10 <= number <= 9999:
            return str(number)
        return self.text("source-identifier", pattern="[0-9]{2,4}")


def unusable(body: dict, version: str | None) -> list[str]:
    """The names of the unsigned values of a postback that cannot be used. Before 4.0 there is no coarse value and no country, and a field with
    such a name is a partner's own. None stands for AdAttributionKit."""
    fields = Fields(body, lenient=True)
    if version != "1.0":
        fine = fields.whole("conversion-value", 0, 63, required=False)
    if version in ("4.0", None):
        coarse = fields.text("coarse-conversion-value", required=False, pattern="(?ai:low|medium|high)")
        if fine is not None and coarse is not None:
            fields.faults += ["conversion-value", "coarse-conversion-value"]
        fields.text("country-code", required=False, pattern="[A-Za-z]{2}")
    if version is None:
        fields.text("ad-interaction-type", required=False, pattern="(?ai:click|view)")
    return sorted(fields.faults)


def expect_skadnetwork(text: str) -> ExpectedVerdict:
    try:
        body = strict_json(text)
    except ValueError:
        return ExpectedVerdict.rejected("malformed")
    if not isinstance(body, dict):
        return ExpectedVerdict.rejected("malformed")
    version = body.get("version")
    if version is None:
        version = "1.0"
    if not isinstance(version, str):
        return ExpectedVerdict.rejected("malformed", field="version")
    if version not in VERSIONS:
        return ExpectedVerdict.rejected("unsupported_version", "malformed", field="version")
    at = VERSIONS.index(version)
    fields = Fields(body, lenient=True)
    network = fields.text("ad-network-id")
    campaign = fields.whole("campaign-id", 1, 100) if at < 5 else fields.source_identifier()
    app = fields.whole("app-id", 0, INT64)
    transaction = fields.text("transaction-id")
    words = [network, campaign, app, transaction]
    if at >= 1:
        words = [version, *words, fields.truth("redownload")]
        source = fields.whole("source-app-id", 0, INT64, required=False)
        domain = fields.text("source-domain", required=False) if version == "4.0" else None
        if source is not None and domain is not None:
            fields.faults += ["source-app-id", "source-domain"]
        words += [value for value in (source, domain) if value is not None]
    if at >= 3:
        words.append(fields.whole("fidelity-type", 0, 1))
    if at >= 4:
        words.append(fields.truth("did-win"))
    if at >= 5:
        words.append(fields.whole("postback-sequence-index", 0, 2))
    signature = fields.text("attribution-signature")
    if fields.faults:
        reasons = {"malformed"}
        if fields.faults == ["attribution-signature"] and body.get("attribution-signature") is not None:
            reasons.add("malformed_signature")
        return ExpectedVerdict(False, frozenset(reasons), frozenset(fields.faults))
    key = signing_key(version).public_key()
    try:
        r, s = read_der(base64_strictly(signature))
    except Refused:
        return ExpectedVerdict.rejected("malformed_signature")
    if not in_range(r, s, key.curve.name):
        # Numbers that are only possible on the wider curve are a signature by Apple's other key, as in the vector 2.0-signed-with-p256.
        wider = version in ("1.0", "2.0") and in_range(r, s, "secp256r1") and max(r, s) >= 1 << 192
        return ExpectedVerdict.rejected("malformed_signature", *(["bad_signature"] if wider else []))
    spelt = [str(word).lower() if isinstance(word, bool) else str(word) for word in words]
    message = SEPARATOR.join(spelt).encode()
    if not verifies(key, r, s, message):
        return ExpectedVerdict.rejected("bad_signature")
    return ExpectedVerdict(True, says={
        "version": version, "transactionId": transaction, "environment": "production", "unusable": unusable(body, version)})


def expect_ad_attribution_kit(text: str) -> ExpectedVerdict:
    try:
        body = strict_json(text)
    except ValueError:
        return ExpectedVerdict.rejected("malformed")
    if not isinstance(body, dict):
        return ExpectedVerdict.rejected("malformed")
    token = body.get("jws-string")
    if not isinstance(token, str):
        return ExpectedVerdict.rejected("malformed", field="jws-string")
    try:
        parsed = jws.parse(token)
    except Refused:
        return ExpectedVerdict.rejected("malformed_jws")
    if "crit" in parsed.header:
        # RFC 7515, 4.1.11: no extension is supported here, and an empty list is not allowed either.
        return ExpectedVerdict.rejected("malformed_jws", "unexpected_algorithm")
    if parsed.header.get("alg") != "ES256":
        return ExpectedVerdict.rejected("unexpected_algorithm", "malformed_jws" if not isinstance(parsed.header.get("alg"),
                                                                                            str) else "unexpected_algorithm")
    kid = parsed.header.get("kid")
    if not isinstance(kid, str) or kid not in KID_KEYS:
        return ExpectedVerdict.rejected("unknown_key", *([] if isinstance(kid, str) else ["malformed_jws"]))
    if len(parsed.signature) != 64:
        return ExpectedVerdict.rejected("malformed_signature")
    r, s = int.from_bytes(parsed.signature[:32], "big"), int.from_bytes(parsed.signature[32:], "big")
    if not in_range(r, s, "secp256r1"):
        return ExpectedVerdict.rejected("malformed_signature")
    try:
        claims = parsed.payload()
    except Refused:
        return ExpectedVerdict.rejected("malformed_jws")
    if not verifies(KID_KEYS[kid].public_key(), r, s, parsed.signing_input):
        return ExpectedVerdict.rejected("bad_signature")
    fields = Fields(claims, lenient=True)
    fields.text("postback-identifier")
    fields.text("ad-network-identifier")
    fields.whole("advertised-item-identifier", 0, INT64)
    fields.whole("publisher-item-identifier", 0, INT64, required=False)
    fields.text("marketplace-identifier", required=False)
    fields.text("impression-type")
    fields.source_identifier()
    fields.text("conversion-type")
    fields.truth("did-win")
    fields.whole("postback-sequence-index", 0, 2)
    if fields.faults:
        return ExpectedVerdict(False, frozenset(["malformed"]), frozenset(fields.faults))
    return ExpectedVerdict(True, says={
        "environment": "production" if kid == KIDS[0] else "development", "keyId": kid, "unusable": unusable(body, None)})


def item(dice: random.Random, kind: str, text: str) -> str:
    """The item of a batch: the body as text or, if it is an object within the limits of a batch, sometimes as that object, digit by
    digit."""
    if dice.random() < 0.3:
        try:
            value = strict_json(text)
            levels, values = extent(value)
            if isinstance(value, dict) and levels < DEPTH - 5 and values < 500:
                return f'{{"{kind}":{{"postback":{text}}}}}'
        except ValueError:
            pass
    return f'{{"{kind}":{{"postbackText":{json.dumps(text)}}}}}'
