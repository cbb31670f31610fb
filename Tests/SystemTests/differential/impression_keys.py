"""Ad networks whose impressions the differential test signs, and their keys."""

import pathlib
import random

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from SystemTests.differential.skadnetwork.postbacks import base64_of

from .postbacks import SEPARATOR, VERSIONS
from .signatures import (
    ORDERS,
    der,
    derived_key,
    signed,
    verifies,
)

# By ad network: key id → state. Verifier knows all of them except one that is revoked.
NETWORKS = {"example123.skadnetwork": {"2026-01": "retiring", "2026-07": "active", "2027-01": "pending", "2025-01": "revoked"},
            "example456.adattributionkit": {"only": "active"}}
KEYS = {network: {key: derived_key(f"{network} {key}", ec.SECP256R1()) for key in keys} for network, keys in NETWORKS.items()}
STRANGER = derived_key("nobody's key", ec.SECP256R1())
N = ORDERS["secp256r1"]
UUID = "[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"


def configuration(directory: pathlib.Path) -> list[dict]:
    """The networks for the services, with their private keys in files."""
    networks = []
    for network, keys in NETWORKS.items():
        entry = {"id": network, "keys": []}
        for key, state in keys.items():
            path = directory / f"{network}-{key}.pem"
            path.touch(mode=0o600)
            path.write_bytes(KEYS[network][key].private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
            entry["keys"].append({"id": key, "path": str(path), "state": state})
        networks.append(entry)
    return networks


def signer_of(network: str, r: int, s: int, message: bytes) -> str | None:
    """The id of the key that signed."""
    known = [key for key, state in NETWORKS[network].items() if state != "revoked"]
    return next((key for key in known if verifies(KEYS[network][key].public_key(), r, s, message)), None)


def any_key(dice: random.Random, network: str) -> ec.EllipticCurvePrivateKey:
    return KEYS[network][dice.choice([key for key, state in NETWORKS[network].items() if state != "revoked"])]


def signed_words(body: dict) -> list:
    """The signed values of a valid impression, in order."""
    version = body["version"]
    at = VERSIONS.index(version)
    words = [] if at == 0 else [version]
    words += [body["adNetworkId"], body["sourceIdentifier" if at == 5 else "campaignId"], body["itunesItemId"], body["nonce"].lower()]
    if at > 0:
        words.append(body["sourceDomain"] if "sourceDomain" in body else body["sourceAppId"])
    if at > 2:
        words.append(1 if "sourceDomain" in body else body["fidelityType"])
    return [*words, body["timestamp"]]


def message_of(body: dict) -> bytes:
    return SEPARATOR.join(str(word) for word in signed_words(body)).encode()


def sign(body: dict, key: ec.EllipticCurvePrivateKey, text: bytes | None = None, digest: hashes.HashAlgorithm | None = None) -> dict:
    body["signature"] = base64_of(der(*signed(key, message_of(body) if text is None else text, digest)))
    return body


def plain(dice: random.Random, body: dict) -> tuple[str, dict, bool | None]:
    return "plain", sign(body, any_key(dice, body["adNetworkId"])), True
