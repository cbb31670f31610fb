"""Configurations of signer's keys, and what it signs with them."""

import base64

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import load_pem_public_key

NETWORK = "example123.skadnetwork"
IMPRESSION = {"version": "3.0", "adNetworkId": NETWORK, "campaignId": 7, "itunesItemId": 525463029, "sourceAppId": 1234567891,
              "fidelityType": 1}


def configuration(*keys: str, more: str = "") -> str:
    return f"adNetworks: [ {{ id: {NETWORK}, keys: [ {', '.join(keys)} ] }} ]\n{more}"


def key(name: str, state: str = "active", **members: str) -> str:
    members = {"path": f"{name}.pem", **members} if "uri" not in members else members
    rest = "".join(f', {member}: "{value}"' for member, value in members.items())
    return f'{{ id: "{name}", state: {state}{rest} }}'


def signed_text(answer: dict) -> bytes:
    values = [answer["version"], answer["adNetworkId"], answer["campaignId"], answer["itunesItemId"], answer["nonce"],
              answer["sourceAppId"], answer["fidelityType"], answer["timestamp"]]
    return "\u2063".join(str(value) for value in values).encode()


def verifies(answer: dict, pem: str) -> bool:
    try:
        load_pem_public_key(pem.encode()).verify(
            base64.b64decode(answer["signature"], validate=True), signed_text(answer), ec.ECDSA(hashes.SHA256()))
        return True
    except InvalidSignature:
        return False
