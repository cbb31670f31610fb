"""Creates and signs SKAdNetwork postbacks of every version."""

import base64
import json
import random
import uuid

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from SystemTests.differential.postbacks import (
    INT64,
    SEPARATOR,
    VERSIONS,
    signing_key,
)
from SystemTests.differential.signatures import der, signed


def pick(dice: random.Random, low: int, high: int) -> int:
    return dice.choice([low, high, dice.randint(low, high), dice.randint(low, min(high, low + 2000))])


def anycase_uuid(dice: random.Random) -> str:
    text = str(uuid.UUID(int=dice.getrandbits(128), version=4))
    return dice.choice([text, text.upper(), "".join(dice.choice((c, c.upper())) for c in text)])


def skadnetwork_fields(dice: random.Random, version: str) -> dict:
    at = VERSIONS.index(version)
    body = {"ad-network-id": dice.choice(["example123.skadnetwork", "com.example", "v4nxqhlyqp.skadnetwork", "a.adattributionkit"]),
            "transaction-id": anycase_uuid(dice), "app-id": pick(dice, 1, INT64)}
    if at or dice.random() < 0.3:
        body["version"] = version
    if at < 5:
        body["campaign-id"] = pick(dice, 1, 100)
    else:
        body["source-identifier"] = "".join(dice.choice("0123456789") for _ in range(dice.randint(2, 4)))
    if at or dice.random() < 0.2:
        body["redownload"] = dice.random() < 0.5
    if at:
        match dice.randrange(4):
            case 0:
                body["source-app-id"] = pick(dice, 0, INT64)
            case 1:
                body["source-app-id"] = 0
            case 2 if at == 5:
                body["source-domain"] = dice.choice(["example.com", "xn--bcher-kva.de", "a-b.co.uk"])
        match dice.randrange(4):
            case 0:
                body["conversion-value"] = pick(dice, 0, 63)
            case 1 if at == 5:
                body["coarse-conversion-value"] = dice.choice(["low", "medium", "high"])
    if at >= 3:
        body["fidelity-type"] = dice.randint(0, 1)
    if at >= 4:
        body["did-win"] = dice.random() < 0.7
    if at == 5:
        body["postback-sequence-index"] = dice.randint(0, 2)
        if dice.random() < 0.3:
            body["country-code"] = dice.choice(["US", "de", "JP"])
    return body


def signed_text(body: dict) -> str:
    """The signed text of valid fields, built independently of the reference verifier."""
    version = body.get("version", "1.0")
    order = ["ad-network-id", "source-identifier" if version == "4.0" else "campaign-id", "app-id", "transaction-id"]
    if version != "1.0":
        order = ["version", *order, "redownload", "source-app-id"]
    if version == "4.0":
        order.append("source-domain")
    if version in ("2.2", "3.0", "4.0"):
        order.append("fidelity-type")
    if version in ("3.0", "4.0"):
        order.append("did-win")
    if version == "4.0":
        order.append("postback-sequence-index")
    return SEPARATOR.join(json.dumps(body[name]) if isinstance(body[name], (bool, int)) else body[name] for name in order if name in body)


def signature_of(
    body: dict, key: ec.EllipticCurvePrivateKey | None = None, text: str | None = None, digest: hashes.HashAlgorithm | None = None
) -> tuple[int, int]:
    message = (signed_text(body) if text is None else text).encode("utf-8", "surrogatepass")
    return signed(key or signing_key(body.get("version", "1.0")), message, digest)


def base64_of(data: bytes) -> str:
    return base64.b64encode(data).decode()


def good_skadnetwork(dice: random.Random, version: str | None = None) -> dict:
    body = skadnetwork_fields(dice, version or dice.choice(VERSIONS))
    body["attribution-signature"] = base64_of(der(*signature_of(body)))
    return body


def written(dice: random.Random, body: dict) -> str:
    """As JSON, with random order and spacing."""
    items = list(body.items())
    dice.shuffle(items)
    text = json.dumps(dict(items), ensure_ascii=dice.random() < 0.5, indent=dice.choice([None, None, 1]),
                      separators=dice.choice([None, (",", ":"), (" , ", " : ")]))
    return text.replace("/", "\\/") if dice.random() < 0.3 else text
